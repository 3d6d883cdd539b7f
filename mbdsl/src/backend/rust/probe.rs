//! A probe as a module: the reductions that it needs, then its values; what it needs of other times is recorded before.

use proc_macro2::{Ident, Literal, TokenStream};
use quote::{format_ident, quote};

use super::family::{Context, Field, Writer};
use super::kernel::{Destination, Head, mentions};
use super::names::ident;
use super::table;
use crate::ir::program::{Fold, Probe, Reduction};
use crate::ir::{Input, Op, VerifiedKernel};

/// The values of a probe of a single instance that depend on nothing at all.
pub(super) fn constant(probe: &Probe) -> Option<Vec<f64>> {
    let kernel = probe.value.get();
    let mut out = vec![0.0; kernel.size];
    for &(offset, value) in &kernel.outputs {
        let Op::Const(bits) = kernel.ops[value.0 as usize] else { return None };
        out[offset as usize] = f64::from_bits(bits);
    }
    (probe.family.interface.indices == 0).then_some(out)
}

/// Whether something in a probe is fixed at the start.
pub(super) fn has_start(probe: &Probe) -> bool {
    probe.family.interface.starts > 0
        || probe.reductions.iter().any(|r| has_start(&r.terms))
        || probe.recordings.iter().any(|r| has_start(&r.value))
}

/// Whether a kernel of a probe loads something.
pub(super) fn any_load(probe: &Probe, wanted: &dyn Fn(Input) -> bool) -> bool {
    let loads =
        |kernel: &VerifiedKernel| kernel.get().ops.iter().any(|op| matches!(op, Op::Load(input) if wanted(*input)));
    loads(&probe.value)
        || loads(&probe.family.starts)
        || probe.reductions.iter().any(|r| any_load(&r.terms, wanted))
        || probe.recordings.iter().any(|r| any_load(&r.value, wanted))
}

/// The module of a probe, with `evaluate` for its values.
pub(super) fn module(context: Context<'_>, probe: &Probe, name: &Ident, docs: &[String]) -> TokenStream {
    let mut writer = Writer::new(context, &probe.family);
    let len = probe.value.get().size;
    let size = Literal::usize_unsuffixed(len);
    let count = Literal::usize_unsuffixed(probe.reductions.len());
    let has_reductions = !probe.reductions.is_empty();
    let head = Head {
        name: if has_reductions { "value" } else { "evaluate" }.to_owned(),
        docs: "The values".to_owned(),
        inputs: if has_reductions { vec![(ident("reduced"), quote!(&[f64; #count]))] } else { Vec::new() },
        result: Some(quote!([f64; #size])),
        ..Head::default()
    };
    writer.method(&probe.value, head, None, &[Destination::Array(0..len)]);
    let mut nested = TokenStream::new();
    let mut fields = Vec::new();
    if has_reductions {
        let mut folds = Vec::new();
        for (number, reduction) in probe.reductions.iter().enumerate() {
            let inner = format_ident!("reduced{number}");
            nested.extend(module(context, &reduction.terms, &inner, &[format!(" Terms of reduction {number}.")]));
            fields.push(Field {
                name: inner.clone(),
                ty: quote!(#inner::Data),
                value: quote!(#inner::Data::new(params)),
            });
            folds.push(fold(reduction, &inner, number, &mut fields));
            if has_start(&reduction.terms) {
                writer.at_start(quote!(self.#inner.set_start(at);));
            }
        }
        let k = writer.instance();
        let parameter = (!writer.is_single).then(|| quote!(k: usize,));
        writer.code(quote! {
            /// The values, after the reductions that they need.
            pub(super) fn evaluate(&self, #parameter at: &rt::Point<'_>) -> [f64; #size] {
                let reduced = [#(#folds),*];
                self.value(#k at, &reduced)
            }
        });
    }
    if probe.has_recordings() {
        record(&mut writer, context, probe, &mut nested, &mut fields);
    }
    writer.finish(name, docs, &nested, &fields)
}

/// Adds what takes values at given times: `record`, and `is_complete` for whether an instance has all that it needs.
fn record(
    writer: &mut Writer<'_>,
    context: Context<'_>,
    probe: &Probe,
    nested: &mut TokenStream,
    fields: &mut Vec<Field>,
) {
    let (is_single, k) = (writer.is_single, writer.instance());
    let (mut steps, mut complete) = (TokenStream::new(), Vec::new());
    for (number, reduction) in probe.reductions.iter().enumerate().filter(|(_, r)| r.terms.has_recordings()) {
        let inner = format_ident!("reduced{number}");
        steps.extend(quote!(self.#inner.record(at, step);));
        complete.push(if reduction.terms.family.interface.indices == 0 {
            quote!(self.#inner.is_complete())
        } else {
            let range = terms(reduction, number);
            quote!((#range).all(|k| self.#inner.is_complete(k)))
        });
    }
    for (number, recording) in probe.recordings.iter().enumerate() {
        let (inner, recorder) = (format_ident!("recording{number}"), format_ident!("recorder{number}"));
        let docs = [" The time that a value is asked for, and the value.".to_owned()];
        nested.extend(module(context, &recording.value, &inner, &docs));
        let count = if is_single { quote!(1) } else { quote!(COUNT) };
        fields.push(Field { name: inner.clone(), ty: quote!(#inner::Data), value: quote!(#inner::Data::new(params)) });
        fields.push(Field {
            name: recorder.clone(),
            ty: quote!(rt::Recorder),
            value: quote!(rt::Recorder::new(#count)),
        });
        if has_start(&recording.value) {
            writer.at_start(quote!(self.#inner.set_start(at);));
        }
        if recording.value.has_recordings() {
            steps.extend(quote!(self.#inner.record(at, step);));
        }
        let (place, row) = if is_single { (quote!(0), quote!()) } else { (quote!(k), quote!([k])) };
        let (first, last) = (recording.offset, recording.offset + recording.len);
        let (first, last) = (Literal::usize_unsuffixed(first), Literal::usize_unsuffixed(last));
        let take = quote! {
            let values = self.#inner.evaluate(#k at);
            if self.#recorder.takes(#place, values[0], at.t, step) {
                self.recorded #row [#first..#last].copy_from_slice(&values[1..]);
            }
        };
        steps.extend(if is_single { quote!({ #take }) } else { quote!(for k in 0..COUNT { #take }) });
        complete.push(quote!(self.#recorder.is_complete(#place)));
    }
    let len = probe.family.interface.recorded;
    if len > 0 {
        let len = Literal::usize_unsuffixed(len);
        let (ty, value) = if is_single {
            (quote!([f64; #len]), quote!([f64::NAN; #len]))
        } else {
            (quote!(rt::Vec<[f64; #len]>), quote!(rt::vec![[f64::NAN; #len]; COUNT]))
        };
        fields.push(Field { name: ident("recorded"), ty, value });
    }
    let all = quote!(#(#complete)&&*);
    let parameter = (!is_single).then(|| {
        let name = if mentions(&all, &ident("k")) { ident("k") } else { ident("_k") };
        quote!(, #name: usize)
    });
    writer.code(quote! {
        /// Takes the values whose times are nearest to this one.
        pub(super) fn record(&mut self, at: &rt::Point<'_>, step: f64) { #steps }

        /// Whether everything that is asked for at other times has been recorded.
        pub(super) fn is_complete(&self #parameter) -> bool { #all }
    });
}

/// The numbers of the terms of a reduction.
fn terms(reduction: &Reduction, number: usize) -> TokenStream {
    if reduction.is_shared() {
        let count = Literal::usize_unsuffixed(reduction.starts[1]);
        return quote!(0..#count);
    }
    let name = format_ident!("terms{number}");
    quote!(self.#name[k]..self.#name[k + 1])
}

/// The value of a reduction.
fn fold(reduction: &Reduction, inner: &Ident, number: usize, fields: &mut Vec<Field>) -> TokenStream {
    let is_single = reduction.terms.family.interface.indices == 0;
    let range = terms(reduction, number);
    if !reduction.is_shared() {
        let name = format_ident!("terms{number}");
        let starts: Vec<i64> = reduction.starts.iter().map(|&k| k as i64).collect();
        let runs = table::runs(&starts, 1, 0);
        fields.push(Field {
            name: name.clone(),
            ty: quote!(rt::Vec<usize>),
            value: quote!(rt::column(#runs).map(|k| k as usize).collect()),
        });
    }
    let term =
        if is_single { quote!(|_| self.#inner.evaluate(at)[0]) } else { quote!(|k| self.#inner.evaluate(k, at)[0]) };
    let join = match reduction.fold {
        Fold::Sum | Fold::Mean => quote!(|a, b| a + b),
        Fold::Min => quote!(rt::min),
        Fold::Max => quote!(rt::max),
    };
    let total = quote!(rt::fold((#range).map(#term), #join));
    match reduction.fold {
        Fold::Mean => quote!(#total / (#range).len() as f64),
        Fold::Sum | Fold::Min | Fold::Max => total,
    }
}
