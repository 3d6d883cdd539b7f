//! Whole iterations of a small model as methods, and the step that is made of them.

use proc_macro2::{Ident, Literal, TokenStream};
use quote::quote;

use super::family::{Context, Writer};
use super::kernel::{Destination, Head};
use super::names::ident;
use crate::ir::VerifiedKernel;
use crate::ir::program::{NewtonKernel, Unrolled, UnrolledRattle};

/// Code for the iterations of a model.
#[derive(Debug)]
pub(super) struct Code {
    /// Name of the module and of the field of the model.
    pub name: Ident,
    /// The module.
    pub module: TokenStream,
    /// The methods of `System` that make steps.
    pub methods: TokenStream,
    /// Whether something is fixed at the start.
    pub has_start: bool,
}

/// One form of the equations: its name, its kernels, what they are about.
struct Form<'a> {
    name: &'static str,
    newton: &'a NewtonKernel,
    advance: &'static str,
    accelerate: Option<&'a VerifiedKernel>,
}

/// Emits the iterations of a model.
pub(super) fn unrolled(context: Context<'_>, u: &Unrolled, name: Ident) -> Code {
    // One function for each kernel: what is live between pieces would have to be stored.
    let mut w = Writer::new(Context { limit: usize::MAX, ..context }, &u.family);
    let (nv, nc) = (u.velocities, u.rows);
    let mut forms = vec![Form { name: "Position", newton: &u.position, advance: "advance", accelerate: None }];
    method(&mut w, &u.advance, "State of all bodies after the step, then `(V1 - V0)/h`", 1 + nv + nc);
    if let Some(c) = &u.constrained {
        let [l, h] = &c.stabilised;
        let [a_l, a_h] = &c.accelerate;
        let advance = "advance_stabilised";
        forms.extend([
            Form { name: "Velocity", newton: &c.velocity, advance: "advance", accelerate: None },
            Form { name: "Lagrangian", newton: l, advance, accelerate: Some(a_l) },
            Form { name: "Hamiltonian", newton: h, advance, accelerate: Some(a_h) },
        ]);
        method(&mut w, &c.advance, "State of all bodies after the step, then `(V1 - V0)/h`", 1 + 2 * (nv + nc));
    }
    let (signals, at) = if context.program.inputs.is_empty() {
        (None, quote!(at))
    } else {
        (Some(quote!(let signals = self.inputs.scalars();)), quote!(&rt::Point { signals: &signals, ..*at }))
    };
    let mut arms = TokenStream::new();
    for form in &forms {
        let len = 1 + (nv + nc) * if form.accelerate.is_some() { 2 } else { 1 };
        method(&mut w, &form.newton.kernel, "Update of the unknowns, its sizes, pivots", len);
        let accelerate = match form.accelerate {
            Some(kernel) => {
                method(&mut w, kernel, "Accelerations that fulfil the constraints, from `(V1 - V0)/h`", nv);
                let method = ident(&kernel.get().name);
                quote!(|at, y, out| step.#method(#at, rt::block(y, 0), out))
            }
            None => quote!(|_, _, _| ()),
        };
        let (variant, newton, advance) = (ident(form.name), ident(&form.newton.kernel.get().name), ident(form.advance));
        let sizes = sizes(u, form.newton.pivots);
        arms.extend(quote! {
            rt::UnrolledForm::#variant => work.step(
                delivered,
                #sizes,
                (s, h, t1),
                |at, y, out| step.#newton(#at, rt::block(y, 0), out),
                |at, y, out| step.#advance(#at, rt::block(y, 0), out),
                #accelerate,
            ),
        });
    }
    if u.constrained.is_none() {
        arms.extend(quote!(_ => None,));
    }
    let rattle = u.constrained.as_ref().map(|c| rattle(&mut w, u, &c.rattle, (&name, &signals, &at)));
    let methods = quote! {
        fn unrolled_step(
            &mut self,
            work: &mut rt::Unrolled,
            delivered: rt::Delivered<'_>,
            s: &mut rt::State,
            h: f64,
            t1: f64,
        ) -> Option<usize> {
            let step = &self.#name;
            #signals
            match work.form() { #arms }
        }
        #rattle
    };
    let has_start = u.family.interface.starts > 0;
    let docs = [" Whole iterations of the steppers, written out.".to_owned()];
    Code { module: w.finish(&name, &docs, &TokenStream::new(), &[]), name, methods, has_start }
}

/// Emits the kernels of RATTLE; the methods of `System` that call them.
fn rattle(
    w: &mut Writer<'_>,
    u: &Unrolled,
    r: &UnrolledRattle,
    (name, signals, at): (&Ident, &Option<TokenStream>, &TokenStream),
) -> TokenStream {
    method(w, &r.kick, "Kick by impulses at the start of a stage", u.rows);
    method(w, &r.newton.kernel, "Updates of impulses, momenta, positions; their sizes; pivots", r.drifted);
    method(w, &r.end.kernel, "Kick at the end of a step, accelerations, multipliers; pivots", 2 * u.velocities);
    let sizes = |pivots: usize| sizes(u, pivots);
    let (stage, end) = (sizes(r.newton.pivots), sizes(r.end.pivots));
    quote! {
        fn unrolled_stage(&mut self, work: &mut rt::UnrolledRattle, stage: rt::Stage<'_>) -> Option<usize> {
            let step = &self.#name;
            #signals
            work.stage(
                stage,
                #stage,
                |at, y, out| step.rattle_kick(#at, rt::block(y, 0), out),
                |at, y, out| step.rattle_newton(#at, rt::block(y, 0), out),
            )
        }
        fn unrolled_end(&mut self, work: &mut rt::UnrolledRattle, end: rt::StepEnd<'_>) -> Option<()> {
            let step = &self.#name;
            #signals
            work.end(end, #end, |at, y, out| step.rattle_end(#at, rt::block(y, 0), out))
        }
    }
}

/// Sizes of the model and of a kernel.
fn sizes(u: &Unrolled, pivots: usize) -> TokenStream {
    let all = [u.family.interface.slots, u.velocities, u.rows, pivots].map(Literal::usize_unsuffixed);
    let [bodies, velocities, rows, pivots] = all;
    quote!(rt::UnrolledSizes { bodies: #bodies, velocities: #velocities, rows: #rows, pivots: #pivots })
}

/// A kernel as a method that gets `len` numbers of the iterate.
fn method(w: &mut Writer<'_>, kernel: &VerifiedKernel, docs: &str, len: usize) {
    let kernel_name = &kernel.get().name;
    let size = kernel.get().size;
    let len = Literal::usize_unsuffixed(len);
    let head = Head {
        name: kernel_name.clone(),
        docs: docs.to_owned(),
        has_self: true,
        inputs: vec![(ident("y"), quote!(&[f64; #len]))],
        outputs: vec![(ident("out"), quote!(&mut [f64]))],
        result: None,
    };
    w.method(kernel, head, None, &[Destination::Store { list: quote!(out), at: quote!(0), range: 0..size }]);
}
