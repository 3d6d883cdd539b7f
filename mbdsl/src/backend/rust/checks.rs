//! The checks of a model: those of parameters where it is made, the others as a set that a run can watch.

use proc_macro2::{Ident, Literal, TokenStream};
use quote::quote;

use super::family::Context;
use super::kernel::mentions;
use super::names::{Names, ident};
use super::{probe, system};
use crate::ir::Input;
use crate::ir::program::{Check, CheckTime};

/// The checks that depend on parameters only.
pub(super) struct Bound {
    /// Statements that show them to a builder.
    pub build: TokenStream,
    /// Their modules.
    pub code: TokenStream,
}

/// Emits the checks that depend on parameters only.
pub(super) fn bound(context: Context<'_>, names: &mut Names) -> Bound {
    let (mut build, mut code) = (TokenStream::new(), TokenStream::new());
    for check in context.program.checks.iter().filter(|c| c.time == CheckTime::Bound) {
        let family = &check.probe.family;
        let module = module(context, check, names, &mut code);
        let name = system::instance_name(family);
        build.extend(if family.interface.indices == 0 {
            quote!(builder.check(&#module::Data::new(&scalars).evaluate(&rt::Point::NONE), || #name);)
        } else {
            quote! {
                let check = #module::Data::new(&scalars);
                for k in 0..#module::COUNT {
                    builder.check(&check.evaluate(k, &rt::Point::NONE), || #name);
                }
            }
        });
    }
    Bound { build, code }
}

fn module(context: Context<'_>, check: &Check, names: &mut Names, code: &mut TokenStream) -> Ident {
    let name = &check.probe.family.name;
    let module = names.take_snake(&format!("check {name}"));
    code.extend(probe::module(context, &check.probe, &module, &[format!(" The check `{name}`.")]));
    module
}

/// Emits the checks that look at a run, and what a run needs of the model to watch them.
pub(super) fn watched(context: Context<'_>, model: &Ident, names: &mut Names) -> TokenStream {
    let (mut code, mut fields) = (TokenStream::new(), Vec::new());
    let (mut starts, mut records) = (TokenStream::new(), TokenStream::new());
    let (mut always, mut once) = (TokenStream::new(), TokenStream::new());
    let mut reads_globals = false;
    for (number, check) in context.program.checks.iter().enumerate() {
        let looks = match check.time {
            CheckTime::Bound => continue,
            CheckTime::Always => &mut always,
            CheckTime::Once => &mut once,
        };
        let field = module(context, check, names, &mut code);
        looks.extend(look(number, check, &field));
        if probe::has_start(&check.probe) {
            starts.extend(quote!(self.#field.set_start(at);));
        }
        if check.probe.has_recordings() {
            records.extend(quote!(self.#field.record(at, step);));
        }
        reads_globals |= probe::any_load(&check.probe, &|i| matches!(i, Input::Global(_)));
        fields.push(field);
    }
    let set_start = method(quote!(&mut self), "set_start", &[("at", quote!(&rt::Point<'_>))], &starts);
    let record =
        method(quote!(&mut self), "record", &[("at", quote!(&rt::Point<'_>)), ("step", quote!(f64))], &records);
    let parameters = [("at", quote!(&rt::Point<'_>)), ("failures", quote!(&mut rt::Failures))];
    let (always, once) =
        (method(quote!(&self), "always", &parameters, &always), method(quote!(&self), "once", &parameters, &once));
    let count = Literal::usize_unsuffixed(context.program.signal_len());
    let signals = if context.program.inputs.is_empty() { quote!([]) } else { quote!(self.inputs.scalars()) };
    let scalars = (!fields.is_empty()).then(|| quote!(let scalars = self.params.scalars();));
    quote! {
        /// The checks of a run with their constants and recorded values, watched by `rt::Checks`.
        #[derive(Clone, Debug)]
        pub struct CheckData { #(#fields: #fields::Data,)* }

        #[automatically_derived]
        impl rt::CheckSet for CheckData {
            const READS_GLOBALS: bool = #reads_globals;
            #set_start
            #record
            #always
            #once
        }

        #[automatically_derived]
        impl rt::Checked for #model {
            type Signals = [f64; #count];
            type Set = CheckData;
            fn signals(&self) -> [f64; #count] { #signals }
            fn check_set(&self) -> CheckData {
                #scalars
                CheckData { #(#fields: #fields::Data::new(&scalars),)* }
            }
        }

        #code
    }
}

/// Statements that look at the instances of a check.
fn look(number: usize, check: &Check, field: &Ident) -> TokenStream {
    let family = &check.probe.family;
    let is_single = family.interface.indices == 0;
    let name = system::instance_name(family);
    let number = Literal::usize_unsuffixed(number);
    let sign = check.comparison.map_or("", |c| c.sign());
    let unit = if check.unit == "1" { "" } else { &check.unit };
    let (k, instance) = if is_single { (quote!(), quote!()) } else { (quote!(k,), quote!(k)) };
    let complete = if check.probe.has_recordings() { quote!(self.#field.is_complete(#instance)) } else { quote!(true) };
    let look = quote! {
        failures.look(
            rt::About { check: #number, sign: #sign, unit: #unit },
            &self.#field.evaluate(#k at),
            #complete,
            || #name,
        );
    };
    if is_single { look } else { quote!(for k in 0..#field::COUNT { #look }) }
}

/// A method whose parameters have an underscore where its body does not mention them.
fn method(receiver: TokenStream, name: &str, parameters: &[(&str, TokenStream)], body: &TokenStream) -> TokenStream {
    let name = ident(name);
    let parameters = parameters.iter().map(|(name, ty)| {
        let name = if mentions(body, &ident(name)) { ident(name) } else { ident(&format!("_{name}")) };
        quote!(#name: #ty)
    });
    quote!(fn #name(#receiver, #(#parameters),*) { #body })
}
