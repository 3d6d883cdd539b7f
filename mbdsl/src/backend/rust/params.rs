//! Parameters as a struct with named fields, their units in its documentation and their defaults in its `Default`.

use proc_macro2::{Ident, Literal, TokenStream};
use quote::{format_ident, quote};

use super::expr::Expr;
use super::family::Context;
use super::names::{Names, ident, snake};
use super::probe;
use crate::ir::program::{Param, Probe, Program};
use crate::ir::{Input, Op, VerifiedKernel};

/// A parameter or input with its Rust names.
#[derive(Debug)]
pub(super) struct Field<'a> {
    pub param: &'a Param,
    number: usize,
    /// Name of the field.
    pub name: Ident,
    /// Name of the method that sets it.
    setter: Ident,
    /// Module that computes the default, unless it is constant.
    module: Option<Ident>,
}

/// Names of some parameters or inputs.
pub(super) fn fields<'a>(params: &'a [Param], modules: &mut Names) -> Vec<Field<'a>> {
    let (mut names, mut setters) = (Names::default(), Names::default());
    let mut out = Vec::new();
    for (number, param) in params.iter().enumerate() {
        let name = names.take(&param.name);
        let setter = setters.take(&format!("with_{}", snake(&param.name)));
        let module =
            probe::constant(&param.default).is_none().then(|| modules.take_snake(&format!("default_{}", param.name)));
        out.push(Field { param, number, name, setter, module });
    }
    out
}

impl Field<'_> {
    /// Name in the model.
    pub(super) fn model_name(&self) -> &str {
        &self.param.name
    }

    /// Its range among the scalars of all parameters.
    pub(super) fn range(&self) -> TokenStream {
        let (start, end) = (self.param.offset, self.param.offset + self.param.len);
        let (start, end) = (Literal::usize_unsuffixed(start), Literal::usize_unsuffixed(end));
        quote!(#start..#end)
    }

    pub(super) fn ty(&self) -> TokenStream {
        match self.param.len {
            1 => quote!(f64),
            9 => quote!([[f64; 3]; 3]),
            len => {
                let len = Literal::usize_unsuffixed(len);
                quote!([f64; #len])
            }
        }
    }

    /// Writes the default, from the scalars `params`, to a list of scalars.
    pub(super) fn assign_default(&self, list: &Ident) -> TokenStream {
        let at = Literal::usize_unsuffixed(self.param.offset);
        match (&self.module, probe::constant(&self.param.default)) {
            (Some(module), _) => {
                quote!(*rt::block_mut(&mut #list, #at) = #module::Data::new(&params).evaluate(&rt::Point::NONE);)
            }
            (None, Some(values)) if values.len() == 1 => {
                let value = Expr::number(values[0]);
                quote!(#list[#at] = #value;)
            }
            (None, values) => {
                let values = values.unwrap_or_default().into_iter().map(Expr::number).collect::<Vec<_>>();
                quote!(*rt::block_mut(&mut #list, #at) = [#(#values),*];)
            }
        }
    }

    /// `name: value` from a list of scalars.
    pub(super) fn read(&self, list: &Ident) -> TokenStream {
        let name = &self.name;
        let at = |k: usize| {
            let k = Literal::usize_unsuffixed(self.param.offset + k);
            quote!(#list[#k])
        };
        match self.param.len {
            1 => {
                let value = at(0);
                quote!(#name: #value)
            }
            9 => {
                let rows = (0..3).map(|i| {
                    let row = (0..3).map(|j| at(3 * i + j));
                    quote!([#(#row),*])
                });
                quote!(#name: [#(#rows),*])
            }
            len => {
                let values = (0..len).map(at);
                quote!(#name: [#(#values),*])
            }
        }
    }

    /// The scalars of `self`, with commas between them.
    pub(super) fn scalars(&self) -> TokenStream {
        let name = &self.name;
        let scalars: Vec<TokenStream> = match self.param.len {
            1 => vec![quote!(self.#name)],
            9 => (0..9)
                .map(|k| {
                    let (i, j) = (Literal::usize_unsuffixed(k / 3), Literal::usize_unsuffixed(k % 3));
                    quote!(self.#name[#i][#j])
                })
                .collect(),
            len => (0..len)
                .map(|k| {
                    let k = Literal::usize_unsuffixed(k);
                    quote!(self.#name[#k])
                })
                .collect(),
        };
        quote!(#(#scalars),*)
    }

    /// The module that computes the default, unless it is constant.
    pub(super) fn default_module(&self, context: Context<'_>) -> Option<TokenStream> {
        let module = self.module.as_ref()?;
        let docs = [format!(" Default of `{}`.", self.param.name)];
        Some(probe::module(context, &self.param.default, module, &docs))
    }

    pub(super) fn docs(&self) -> Vec<String> {
        let mut docs: Vec<String> = self.param.docs.iter().map(|line| format!(" {}", line.trim())).collect();
        let unit = if self.param.unit.is_empty() || self.param.unit == "1" { "1" } else { &self.param.unit };
        let default = match probe::constant(&self.param.default) {
            Some(values) if values.len() == 1 => format!("default {:?}", values[0]),
            Some(values) => format!("default {values:?}"),
            None => "default computed from parameters".to_owned(),
        };
        if !docs.is_empty() {
            docs.push(String::new());
        }
        docs.push(format!(" Unit: {unit}; {default}."));
        docs
    }
}

/// The struct, its implementations, and the modules that compute defaults.
pub(super) fn items(context: Context<'_>, fields: &[Field<'_>], model: &str) -> TokenStream {
    let program = context.program;
    let count = Literal::usize_unsuffixed(program.param_len());
    let (names, types): (Vec<_>, Vec<_>) = fields.iter().map(|f| (&f.name, f.ty())).unzip();
    let docs = fields.iter().map(Field::docs);
    // Structural constants stand after the parameters.
    let first_const = program.param_len() - program.consts.len();
    let consts: Vec<_> = program.consts.iter().map(|&x| Expr::number(x)).collect();
    let set_consts: Vec<_> = (first_const..)
        .zip(&consts)
        .map(|(k, x)| {
            let k = Literal::usize_unsuffixed(k);
            quote!(params[#k] = #x;)
        })
        .collect();
    let defaults: Vec<_> = program.param_order.iter().map(|&k| fields[k].assign_default(&ident("params"))).collect();
    let mut to_scalars: Vec<_> = fields.iter().map(Field::scalars).collect();
    to_scalars.extend(consts.iter().map(|x| quote!(#x)));
    let list = ident("params");
    let from_scalars = fields.iter().map(|f| f.read(&list));
    let setters = fields.iter().map(|f| setter(f, fields, program));
    let modules = fields.iter().filter_map(|f| f.default_module(context));
    let is_written = program.param_len() > 0;
    let declare =
        if is_written { quote!(let mut params = [0.0; #count];) } else { quote!(let params = [0.0; #count];) };
    let taken = if fields.is_empty() { format_ident!("_params") } else { ident("params") };
    let title = format!(" Parameters of [`{model}`], SI units.");
    quote! {
        #[doc = #title]
        #[derive(Clone, Copy, Debug, PartialEq)]
        pub struct Params {
            #(#(#[doc = #docs])* pub #names: #types,)*
        }

        #[automatically_derived]
        impl Default for Params {
            fn default() -> Self {
                #declare
                #(#set_consts)*
                #(#defaults)*
                Self::from_scalars(&params)
            }
        }

        impl Params {
            #(#setters)*

            /// All numbers, one parameter after another, matrices row by row, then the structural constants.
            fn scalars(&self) -> [f64; #count] {
                [#(#to_scalars),*]
            }

            /// The inverse of `scalars`.
            fn from_scalars(#taken: &[f64; #count]) -> Self {
                Self { #(#from_scalars),* }
            }
        }

        #(#modules)*
    }
}

/// `with_m(value)`: sets a parameter and computes the defaults that depend on it.
fn setter(field: &Field<'_>, fields: &[Field<'_>], program: &Program) -> TokenStream {
    let (name, setter, ty) = (&field.name, &field.setter, field.ty());
    // In order of evaluation, so that one pass finds all.
    let mut stale = vec![field.number];
    for &k in &program.param_order {
        let reads = |p: &usize| {
            let param = &program.params[*p];
            reads_param(&program.params[k].default, param.offset..param.offset + param.len)
        };
        if k != field.number && stale.iter().any(reads) {
            stale.push(k);
        }
    }
    let title = format!(" Sets `{}`.", field.param.name);
    if stale.len() == 1 {
        return quote! {
            #[doc = #title]
            #[must_use]
            pub fn #setter(mut self, #name: #ty) -> Self {
                self.#name = #name;
                self
            }
        };
    }
    let list: Vec<String> = stale[1..].iter().map(|&k| format!("`{}`", program.params[k].name)).collect();
    let note = format!(" Gives {} the default that follows from it: set those later.", list.join(", "));
    let defaults = stale[1..].iter().map(|&k| fields[k].assign_default(&ident("params")));
    quote! {
        #[doc = #title]
        #[doc = #note]
        #[must_use]
        pub fn #setter(mut self, #name: #ty) -> Self {
            self.#name = #name;
            let mut params = self.scalars();
            #(#defaults)*
            Self::from_scalars(&params)
        }
    }
}

/// Whether a probe loads one of some scalars of the parameters.
fn reads_param(probe: &Probe, range: std::ops::Range<usize>) -> bool {
    let loads = |kernel: &VerifiedKernel| {
        kernel.get().ops.iter().any(|op| matches!(op, Op::Load(Input::Param(k)) if range.contains(&(*k as usize))))
    };
    let family = &probe.family;
    [&family.uniforms, &family.columns, &probe.value].into_iter().any(loads)
        || probe.reductions.iter().any(|r| reads_param(&r.terms, range.clone()))
}
