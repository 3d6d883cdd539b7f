//! Inputs as a struct with named fields: what the model reads at every evaluation and the program sets between steps.

use proc_macro2::{Literal, TokenStream};
use quote::quote;

use super::family::Context;
use super::names::ident;
use super::params::Field;

/// The struct, its values from parameters, and the modules that compute defaults; nothing for a model without inputs.
pub(super) fn items(context: Context<'_>, fields: &[Field<'_>], model: &str) -> TokenStream {
    if fields.is_empty() {
        return TokenStream::new();
    }
    let count = Literal::usize_unsuffixed(context.program.signal_len());
    let (names, types): (Vec<_>, Vec<_>) = fields.iter().map(|f| (&f.name, f.ty())).unzip();
    let docs = fields.iter().map(Field::docs);
    let list = ident("signals");
    let defaults: TokenStream = fields.iter().map(|f| f.assign_default(&list)).collect();
    let (read, scalars) = (fields.iter().map(|f| f.read(&list)), fields.iter().map(Field::scalars));
    let modules = fields.iter().filter_map(|f| f.default_module(context));
    let has_params = super::kernel::mentions(&defaults, &ident("params"));
    let (params, scalars_of_params) = if has_params {
        (ident("params"), Some(quote!(let params = params.scalars();)))
    } else {
        (ident("_params"), None)
    };
    let title = format!(" Inputs of [`{model}`], SI units.");
    quote! {
        #[doc = #title]
        ///
        /// They are constant within a step and may be set to anything between steps.
        #[derive(Clone, Copy, Debug, PartialEq)]
        pub struct Inputs {
            #(#(#[doc = #docs])* pub #names: #types,)*
        }

        impl Inputs {
            /// The inputs that the model starts with for some values of its parameters.
            #[must_use]
            pub fn new(#params: &Params) -> Self {
                #scalars_of_params
                let mut signals = [0.0; #count];
                #defaults
                Self { #(#read),* }
            }

            /// All numbers, one input after another, matrices row by row.
            fn scalars(&self) -> [f64; #count] {
                [#(#scalars),*]
            }
        }

        #(#modules)*
    }
}

/// Access to the inputs of a model.
pub(super) fn accessors(fields: &[Field<'_>]) -> TokenStream {
    if fields.is_empty() {
        return TokenStream::new();
    }
    quote! {
        /// The inputs.
        #[must_use]
        pub fn inputs(&self) -> &Inputs { &self.inputs }

        /// The inputs, to be set between steps: the next step holds them.
        pub fn inputs_mut(&mut self) -> &mut Inputs { &mut self.inputs }
    }
}

/// Statements that make the point `at` of a state, with the inputs of `self` where the model has any. `more` are fields of
/// the point beside them.
pub(super) fn point(context: Context<'_>, state: &TokenStream, more: &TokenStream) -> TokenStream {
    match (context.program.inputs.is_empty(), more.is_empty()) {
        (true, true) => quote!(let at = rt::Point::of(#state);),
        (true, false) => quote!(let at = rt::Point { #more ..rt::Point::of(#state) };),
        (false, _) => quote! {
            let signals = self.inputs.scalars();
            let at = rt::Point { #more signals: &signals, ..rt::Point::of(#state) };
        },
    }
}
