//! A probe as a module: the reductions that it needs, then its values.

use proc_macro2::{Ident, Literal, TokenStream};
use quote::{format_ident, quote};

use super::family::{Context, Field, Writer};
use super::kernel::{Destination, Head};
use super::names::ident;
use super::table;
use crate::ir::Op;
use crate::ir::program::{Fold, Probe, Reduction};

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
    probe.family.interface.starts > 0 || probe.reductions.iter().any(|r| has_start(&r.terms))
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
    writer.finish(name, docs, &nested, &fields)
}

/// The value of a reduction.
fn fold(reduction: &Reduction, inner: &Ident, number: usize, fields: &mut Vec<Field>) -> TokenStream {
    let is_single = reduction.terms.family.interface.indices == 0;
    let range = if reduction.is_shared() {
        let count = Literal::usize_unsuffixed(reduction.starts[1]);
        quote!(0..#count)
    } else {
        let name = format_ident!("terms{number}");
        let starts: Vec<i64> = reduction.starts.iter().map(|&k| k as i64).collect();
        let runs = table::runs(&starts, 1, 0);
        fields.push(Field {
            name: name.clone(),
            ty: quote!(rt::Vec<usize>),
            value: quote!(rt::column(#runs).map(|k| k as usize).collect()),
        });
        quote!(self.#name[k]..self.#name[k + 1])
    };
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
