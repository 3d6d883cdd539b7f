//! The equations of a model: a module for each family, and the loops over their instances that `System` asks for.

use proc_macro2::{Ident, Literal, TokenStream};
use quote::{format_ident, quote};

use super::Notes;
use super::family::{self, Context, Writer};
use super::inputs;
use super::kernel::{Destination, Head, mentioned};
use super::names::{Names, ident};
use super::pairs;
use super::table::{self, offset};
use super::unrolled;
use crate::ir::program::{BodyFamily, Condition, Constraint, Coupling, Family, Force, Pair};

/// A family with its Rust name.
#[derive(Debug)]
pub(super) struct Named<'a, T> {
    /// The family.
    pub of: &'a T,
    /// Name of its module and of the field of the model.
    pub name: Ident,
    /// Its code.
    pub module: TokenStream,
    has_start: bool,
    is_single: bool,
}

/// The modules of all equations.
#[derive(Debug)]
pub(super) struct Equations<'a> {
    pub constraints: Vec<Named<'a, Constraint>>,
    pub forces: Vec<Named<'a, Force>>,
    pub pairs: Vec<Named<'a, Pair>>,
    pub angles: Vec<Named<'a, crate::ir::program::Angle>>,
    pub positions: Vec<Named<'a, Condition>>,
    pub velocities: Vec<Named<'a, Condition>>,
    unrolled: Option<unrolled::Code>,
}

/// Offsets in the arrays of a set.
#[derive(Clone, Copy, Debug, Default)]
struct Offsets {
    row: usize,
    jac: usize,
    square: usize,
}

/// Emits the modules of all equations.
pub(super) fn equations<'a>(context: Context<'a>, notes: &Notes, names: &mut Names) -> Equations<'a> {
    let program = context.program;
    let mut at = Offsets::default();
    let constraints = program.constraints.iter().map(|c| constraint(context, notes, names, c, &mut at)).collect();
    let mut at = Offsets::default();
    let forces = program.forces.iter().map(|f| force(context, notes, names, f, &mut at)).collect();
    let pairs = program.pairs.iter().map(|p| pairs::pair(context, notes, names, p)).collect();
    let angles = program.angles.iter().map(|a| {
        let mut w = Writer::new(context, &a.family);
        let head = head("value", "The angle next to the remembered one", &[], &[], Some(quote!(f64)));
        w.method(&a.value, head, None, &[Destination::Number(0)]);
        named(w, notes, names, a, &a.family, "angle")
    });
    let angles = angles.collect();
    let mut conditions = |is_velocity: bool| {
        let mut at = Offsets::default();
        let list = program.conditions.iter().filter(|c| c.is_velocity == is_velocity);
        list.map(|c| condition(context, notes, names, c, &mut at)).collect::<Vec<_>>()
    };
    let (positions, velocities) = (conditions(false), conditions(true));
    let unrolled = program.unrolled.as_ref().map(|u| unrolled::unrolled(context, u, names.take("step")));
    Equations { constraints, forces, pairs, angles, positions, velocities, unrolled }
}

fn named<'a, T>(
    writer: Writer<'a>,
    notes: &Notes,
    names: &mut Names,
    of: &'a T,
    family: &Family,
    kind: &str,
) -> Named<'a, T> {
    let name = names.take_snake(&if kind == "angle" { format!("{} angle", family.name) } else { family.name.clone() });
    let is_single = writer.is_single;
    let docs = notes.title(kind, &family.name);
    let module = writer.finish(&name, &docs, &TokenStream::new(), &[]);
    Named { of, name, module, has_start: family.interface.starts > 0, is_single }
}

pub(super) type Parameters<'a> = &'a [(&'a str, TokenStream)];

pub(super) fn head(
    name: &str,
    docs: &str,
    inputs: Parameters<'_>,
    outputs: Parameters<'_>,
    result: Option<TokenStream>,
) -> Head {
    let owned = |list: Parameters<'_>| list.iter().map(|(name, ty)| (ident(name), ty.clone())).collect();
    Head {
        name: name.to_owned(),
        docs: docs.to_owned(),
        has_self: true,
        inputs: owned(inputs),
        outputs: owned(outputs),
        result,
    }
}

fn store(list: TokenStream, at: &TokenStream, start: usize, len: usize) -> Destination {
    Destination::Store { list, at: at.clone(), range: start..start + len }
}

/// The first `rows` outputs, as many rates, and a Jacobian block, into a `Jacobian`.
fn jacobian(rows: usize, dim: usize, row: &TokenStream, jac: &TokenStream) -> Vec<Destination> {
    vec![
        store(quote!(&mut jac.phi), row, 0, rows),
        store(quote!(&mut jac.phi_t), row, rows, rows),
        store(quote!(&mut jac.b), jac, 2 * rows, rows * dim),
    ]
}

/// Pairs of numbers.
fn couplings(list: &[Coupling]) -> TokenStream {
    let pairs = list.iter().map(|[row, col]| {
        let (row, col) = (Literal::u32_unsuffixed(*row), Literal::u32_unsuffixed(*col));
        quote!([#row, #col])
    });
    quote!(#(#pairs),*)
}

fn constraint<'a>(
    context: Context<'a>,
    notes: &Notes,
    names: &mut Names,
    c: &'a Constraint,
    at: &mut Offsets,
) -> Named<'a, Constraint> {
    let mut w = Writer::new(context, &c.family);
    let (rows, dim) = (c.rows, c.dim);
    let (block, square) = (rows * dim, 9 * c.couplings.len());
    let row = offset(at.row, rows, w.is_single);
    let jac = offset(at.jac, block, w.is_single);
    let squares = offset(at.square, square, w.is_single);
    let slice = quote!(&mut [f64]);
    let jac_out = ("jac", quote!(&mut rt::Jacobian));

    w.bodies();
    let values = head("value", "`Phi`", &[], &[("phi", slice.clone())], None);
    w.method(&c.value, values, None, &[store(quote!(phi), &row, 0, rows)]);
    let rates = head("jacobian", "`Phi`, `Phi_t` and `B`", &[], std::slice::from_ref(&jac_out), None);
    w.method(&c.jacobian, rates, None, &jacobian(rows, dim, &row, &jac));

    let count = Literal::usize_unsuffixed(rows);
    let derivatives = head(
        "newton",
        "`Phi`, `Phi_t`, `B`, `d(B V + Phi_t)/dq` and `d(B^T lambda)/dq`",
        &[("lam", quote!(&[f64]))],
        &[jac_out, ("out", quote!(&mut rt::ConstraintDerivatives))],
        None,
    );
    let mut places = jacobian(rows, dim, &row, &jac);
    places.push(store(quote!(&mut out.bv_q), &jac, 2 * rows + block, block));
    places.extend((square > 0).then(|| store(quote!(&mut out.k_lam), &squares, 2 * (rows + block), square)));
    w.method(&c.newton, derivatives, Some(quote!(rt::block::<#count>(lam, #row))), &places);

    let convective = head("convective", "`Bdot V + 2 B_t V + Phi_tt`", &[], &[("gamma", slice)], None);
    w.method(&c.convective, convective, None, &[store(quote!(gamma), &row, 0, rows)]);

    let instances = c.family.table.count;
    at.row += instances * rows;
    at.jac += instances * block;
    at.square += instances * square;
    named(w, notes, names, c, &c.family, "constraint")
}

fn force<'a>(
    context: Context<'a>,
    notes: &Notes,
    names: &mut Names,
    f: &'a Force,
    at: &mut Offsets,
) -> Named<'a, Force> {
    let mut w = Writer::new(context, &f.family);
    let (dim, square) = (f.dim, 9 * f.couplings.len());
    let squares = offset(at.square, square, w.is_single);
    let list = ("q", quote!(&mut [f64]));

    w.bodies();
    let potential = head("potential", "Potential energy, J", &[], &[], Some(quote!(f64)));
    w.method(&f.energy, potential, None, &[Destination::Number(0)]);
    let slots = if f.family.table.count > 0 { f.family.slots(0) } else { &[] };
    let declarations: Vec<_> = slots.iter().map(|&body| family::declaration(context.program, body)).collect();
    let sums = add_to_bodies(context, &declarations, w.is_single.then_some(slots));
    w.method(&f.force, head("force", "`Q`", &[], std::slice::from_ref(&list), None), None, &sums);
    let derivatives =
        head("newton", "`Q`, `dQ/dq` and `dQ/dV`", &[], &[list, ("out", quote!(&mut rt::ForceDerivatives))], None);
    let mut places = sums;
    if square > 0 {
        places.push(store(quote!(&mut out.q_q), &squares, dim, square));
        places.push(store(quote!(&mut out.q_v), &squares, dim + square, square));
    }
    w.method(&f.newton, derivatives, None, &places);

    at.square += f.family.table.count * square;
    named(w, notes, names, f, &f.family, "force")
}

/// Adds the generalised force to the velocities of each body. `single` are the bodies of the only instance, if it is one.
pub(super) fn add_to_bodies(
    context: Context<'_>,
    declarations: &[&BodyFamily],
    single: Option<&[u32]>,
) -> Vec<Destination> {
    let program = context.program;
    let dim = |is_rigid: bool| if is_rigid { 6 } else { 3 };
    let mut start = 0;
    let mut out = Vec::new();
    for (k, declaration) in declarations.iter().enumerate() {
        let own = dim(declaration.is_rigid);
        let before = program.bodies.iter().filter(|b| b.first < declaration.first);
        let first: usize = before.map(|b| b.setup.family.table.count * dim(b.is_rigid)).sum();
        let step = Literal::usize_unsuffixed(own);
        let slot = Literal::usize_unsuffixed(k);
        let body_number = quote!(self.bodies[k][#slot] as usize);
        let at = if let Some(bodies) = single {
            let dof = Literal::usize_unsuffixed(first + own * (bodies[k] as usize - declaration.first));
            quote!(#dof)
        } else if first == own * declaration.first {
            quote!(#step * #body_number)
        } else {
            let (dof, number) = (Literal::usize_unsuffixed(first), Literal::usize_unsuffixed(declaration.first));
            quote!(#dof + #step * (#body_number - #number))
        };
        out.push(Destination::Add { list: quote!(q), at, range: start..start + own });
        start += own;
    }
    out
}

fn condition<'a>(
    context: Context<'a>,
    notes: &Notes,
    names: &mut Names,
    c: &'a Condition,
    at: &mut Offsets,
) -> Named<'a, Condition> {
    let mut w = Writer::new(context, &c.family);
    let (rows, dim) = (c.rows, c.dim);
    let row = offset(at.row, rows, w.is_single);
    let jac = offset(at.jac, rows * dim, w.is_single);
    w.bodies();
    let docs = "Value, rate and derivative";
    let all = head("value", docs, &[], &[("jac", quote!(&mut rt::Jacobian))], None);
    w.method(&c.value, all, None, &jacobian(rows, dim, &row, &jac));
    at.row += c.family.table.count * rows;
    at.jac += c.family.table.count * rows * dim;
    named(w, notes, names, c, &c.family, "condition")
}

impl<'a, T> Named<'a, T> {
    /// Of pairs that are found during a run.
    pub(super) fn of_pairs(of: &'a T, name: Ident, module: TokenStream) -> Self {
        Self { of, name, module, has_start: false, is_single: false }
    }

    /// A statement for each instance; `call` gets the arguments that name it.
    fn each(&self, call: impl Fn(&Ident, TokenStream) -> TokenStream) -> TokenStream {
        let name = &self.name;
        if self.is_single {
            return call(name, TokenStream::new());
        }
        let statement = call(name, quote!(k,));
        quote!(for k in 0..#name::COUNT { #statement })
    }

    /// Field of the model and its value.
    fn field(&self) -> (TokenStream, TokenStream) {
        let name = &self.name;
        (quote!(#name: #name::Data,), quote!(#name: #name::Data::new(&scalars),))
    }
}

impl Equations<'_> {
    /// Code of all modules.
    pub(super) fn modules(&self) -> TokenStream {
        let mut out = TokenStream::new();
        out.extend(self.constraints.iter().map(|n| n.module.clone()));
        out.extend(self.forces.iter().map(|n| n.module.clone()));
        out.extend(self.pairs.iter().map(|n| n.module.clone()));
        out.extend(self.angles.iter().map(|n| n.module.clone()));
        out.extend(self.positions.iter().chain(&self.velocities).map(|n| n.module.clone()));
        out.extend(self.unrolled.iter().map(|u| u.module.clone()));
        out
    }

    /// Fields of the model, and their values from `scalars`.
    pub(super) fn fields(&self) -> (TokenStream, TokenStream) {
        let mut all = Vec::new();
        all.extend(self.constraints.iter().map(Named::field));
        all.extend(self.forces.iter().map(Named::field));
        all.extend(self.pairs.iter().map(Named::field));
        all.extend(self.angles.iter().map(Named::field));
        all.extend(self.positions.iter().chain(&self.velocities).map(Named::field));
        all.extend(self.unrolled.iter().map(|u| {
            let name = &u.name;
            (quote!(#name: #name::Data,), quote!(#name: #name::Data::new(&scalars),))
        }));
        all.into_iter().unzip()
    }

    /// Statements that compute what is fixed at the start, from the point `at`.
    pub(super) fn starts(&self) -> TokenStream {
        let mut all: Vec<&Ident> = Vec::new();
        all.extend(self.constraints.iter().filter(|n| n.has_start).map(|n| &n.name));
        all.extend(self.forces.iter().filter(|n| n.has_start).map(|n| &n.name));
        all.extend(self.angles.iter().filter(|n| n.has_start).map(|n| &n.name));
        all.extend(self.positions.iter().chain(&self.velocities).filter(|n| n.has_start).map(|n| &n.name));
        all.extend(self.unrolled.iter().filter(|u| u.has_start).map(|u| &u.name));
        // Steps then find a list of pairs that has room.
        let pairs = self.pairs.iter().map(|n| &n.name);
        quote!(#(self.#all.set_start(&at);)* #(self.#pairs.find(&at);)*)
    }

    /// Statements that tell a builder which bodies the elements touch.
    pub(super) fn topology(&self) -> TokenStream {
        let mut out = TokenStream::new();
        for Named { of, name, .. } in &self.constraints {
            let (rows, couplings) = (Literal::usize_unsuffixed(of.rows), couplings(&of.couplings));
            out.extend(quote!(builder.constraints(&#name::Data::bodies(), #rows, &[#couplings]);));
        }
        for Named { of, name, .. } in &self.forces {
            let couplings = couplings(&of.couplings);
            out.extend(quote!(builder.forces(&#name::Data::bodies(), &[#couplings]);));
        }
        if !self.pairs.is_empty() {
            out.extend(quote!(builder.pairs();));
        }
        for (list, method) in [(&self.positions, "position_conditions"), (&self.velocities, "velocity_conditions")] {
            let method = ident(method);
            for Named { of, name, .. } in list {
                let (rows, is_fixed) = (Literal::usize_unsuffixed(of.rows), of.is_fixed);
                out.extend(quote!(builder.#method(&#name::Data::bodies(), #rows, #is_fixed);));
            }
        }
        out
    }

    /// The implementation of `System` for a model.
    pub(super) fn system(&self, context: Context<'_>, model: &Ident) -> TokenStream {
        let sum = |list: &[Named<'_, Constraint>], call: &dyn Fn(&Ident, TokenStream) -> TokenStream| -> TokenStream {
            list.iter().map(|n| n.each(call)).collect()
        };
        let constraints = &self.constraints;
        let residual = sum(constraints, &|f, k| quote!(self.#f.value(#k &at, phi);));
        let jacobian = sum(constraints, &|f, k| quote!(self.#f.jacobian(#k &at, jac);));
        let newton = sum(constraints, &|f, k| quote!(self.#f.newton(#k &at, lam, jac, out);));
        let convective = sum(constraints, &|f, k| quote!(self.#f.convective(#k &at, gamma);));
        let pairs = self.pairs.iter().map(|n| &n.name);
        let pairs = quote!(#(self.#pairs.add_forces(&at, q);)*);
        let forces: TokenStream =
            self.forces.iter().map(|n| n.each(|f, k| quote!(self.#f.force(#k &at, q);))).collect();
        let force_newton: TokenStream =
            self.forces.iter().map(|n| n.each(|f, k| quote!(self.#f.newton(#k &at, q, out);))).collect();
        let conditions = |list: &[Named<'_, Condition>]| -> TokenStream {
            list.iter().map(|n| n.each(|f, k| quote!(self.#f.value(#k &at, jac);))).collect()
        };
        let (positions, velocities) = (conditions(&self.positions), conditions(&self.velocities));
        let accept: TokenStream = self
            .angles
            .iter()
            .map(|n| {
                let cell = offset(n.of.first_cell, 1, n.is_single);
                n.each(|f, k| quote!(self.memory[#cell] = self.#f.value(#k &at);))
            })
            .collect();
        let accept = if accept.is_empty() {
            accept
        } else {
            let point = inputs::point(context, &quote!(s), &TokenStream::new());
            quote!(#point #accept s.memory.copy_from_slice(&self.memory);)
        };
        let has_forces = !(self.forces.is_empty() && self.pairs.is_empty());
        let potential = if has_forces { self.potential() } else { quote!(0.0) };
        let s = || ("s", quote!(&rt::State));
        let slice = || quote!(&mut [f64]);
        let jac = || ("jac", quote!(&mut rt::Jacobian));
        let methods = [
            method(context, "residual", &[s(), ("phi", slice())], None, residual),
            method(
                context,
                "jacobian",
                &[s(), jac()],
                None,
                quote!(rt::fit_jacobian(jac, &self.base.topology.constraints); #jacobian),
            ),
            method(
                context,
                "constraint_newton",
                &[s(), ("lam", quote!(&[f64])), jac(), ("out", quote!(&mut rt::ConstraintDerivatives))],
                None,
                quote! {
                    rt::fit_jacobian(jac, &self.base.topology.constraints);
                    rt::fit_constraints(out, &self.base.topology.constraints);
                    #newton
                },
            ),
            method(context, "convective", &[s(), ("gamma", slice())], None, convective),
            method(context, "forces", &[s(), ("q", slice())], None, quote!(q.fill(0.0); #forces #pairs)),
            method(
                context,
                "force_newton",
                &[s(), ("q", slice()), ("out", quote!(&mut rt::ForceDerivatives))],
                None,
                quote!(q.fill(0.0); rt::fit_forces(out, &self.base.topology.forces); #force_newton #pairs),
            ),
            method(context, "potential", &[s()], Some(quote!(f64)), potential),
            method(
                context,
                "position_conditions",
                &[s(), jac()],
                None,
                quote!(rt::fit_jacobian(jac, &self.base.topology.position_conditions); #positions),
            ),
            method(
                context,
                "velocity_conditions",
                &[s(), jac()],
                None,
                quote!(rt::fit_jacobian(jac, &self.base.topology.velocity_conditions); #velocities),
            ),
            method(context, "accept", &[("s", quote!(&mut rt::State))], None, accept),
        ];
        let has_inputs = !context.program.inputs.is_empty();
        let has_velocity_forces = self.forces.iter().any(|n| n.of.depends_on_velocity());
        let unrolled = self.unrolled.as_ref().map(|u| &u.methods);
        let bodies: Vec<&Family> = context.program.bodies.iter().map(|b| &b.setup.family).collect();
        let names = [
            name_method("body_name", "body", &bodies),
            name_method("constraint_name", "element", &families(constraints, |c| &c.family)),
            row_names(constraints),
            name_method("position_condition_name", "element", &families(&self.positions, |c| &c.family)),
            name_method("velocity_condition_name", "element", &families(&self.velocities, |c| &c.family)),
        ];
        quote! {
            #[automatically_derived]
            impl rt::System for #model {
                fn topology(&self) -> &rt::Topology { &self.base.topology }
                #(#methods)*
                fn has_forces(&self) -> bool { #has_forces }
                fn has_velocity_forces(&self) -> bool { #has_velocity_forces }
                fn has_inputs(&self) -> bool { #has_inputs }
                #unrolled
                #(#names)*
            }
        }
    }

    /// The sum of the potential energies, in order from zero.
    fn potential(&self) -> TokenStream {
        let terms: TokenStream =
            self.forces.iter().map(|n| n.each(|f, k| quote!(energy += self.#f.potential(#k &at);))).collect();
        let pairs = self.pairs.iter().map(|n| &n.name);
        quote!(let mut energy = 0.0; #terms #(self.#pairs.add_energy(&at, &mut energy);)* energy)
    }

    /// Access to the multipliers of each constraint by its name.
    pub(super) fn multipliers(&self, names: &mut Names) -> TokenStream {
        let mut out = TokenStream::new();
        let mut row = 0;
        for Named { of, is_single, .. } in &self.constraints {
            let rows = Literal::usize_unsuffixed(of.rows);
            let at = offset(row, of.rows, *is_single);
            row += of.rows * of.family.table.count;
            let method = names.take_snake(&of.family.name);
            let parameter = (!is_single).then(|| quote!(k: usize,));
            let docs = format!(
                " Multipliers of `{}` (rows: {}), from those of all constraints.",
                of.family.name,
                of.row_names.join(", ")
            );
            out.extend(quote! {
                #[doc = #docs]
                #[must_use]
                pub fn #method<'a>(&self, #parameter lambda: &'a [f64]) -> &'a [f64; #rows] {
                    rt::block(lambda, #at)
                }
            });
        }
        out
    }
}

fn families<'a, T>(list: &[Named<'a, T>], family: impl Fn(&'a T) -> &'a Family) -> Vec<&'a Family> {
    list.iter().map(|n| family(n.of)).collect()
}

/// A method of the trait; parameters that the body does not mention get an underscore, and `at` is made where it is used.
fn method(
    context: Context<'_>,
    name: &str,
    parameters: Parameters<'_>,
    result: Option<TokenStream>,
    body: TokenStream,
) -> TokenStream {
    let name = ident(name);
    let names: Vec<&str> = parameters.iter().map(|(name, _)| *name).chain(["at", "memory"]).collect();
    let used = mentioned(&body, &names);
    let has_point = used.contains(&"at") && !used.contains(&"memory");
    let point = has_point.then(|| inputs::point(context, &quote!(s), &TokenStream::new()));
    let body = quote!(#point #body);
    let parameters = parameters.iter().map(|(name, ty)| {
        let is_used = used.contains(name) || (has_point && *name == "s");
        let name = if is_used { ident(name) } else { format_ident!("_{name}") };
        quote!(#name: #ty)
    });
    let result = result.map(|ty| quote!(-> #ty));
    quote!(fn #name(&mut self, #(#parameters),*) #result { #body })
}

/// The name of an instance of a family: an expression of `k`.
pub(super) fn instance_name(family: &Family) -> TokenStream {
    let name = &family.name;
    if family.interface.indices == 0 {
        return quote!(rt::String::from(#name));
    }
    let width = family.interface.indices;
    let columns = (0..width).map(|k| table::runs(&family.table.indices, width, k));
    quote!(rt::name(#name, &[#(#columns),*], k))
}

/// A method that names an instance counted through families.
fn name_method(name: &str, parameter: &str, families: &[&Family]) -> TokenStream {
    let (name, parameter) = (ident(name), ident(parameter));
    if families.is_empty() {
        let parameter = format_ident!("_{parameter}");
        return quote!(fn #name(&self, #parameter: usize) -> rt::String { rt::String::new() });
    }
    let counts = families.iter().map(|f| Literal::usize_unsuffixed(f.table.count));
    let arms = families.iter().enumerate().map(|(number, family)| {
        let number = Literal::usize_unsuffixed(number);
        let value = instance_name(family);
        let k = if mentioned(&value, &["k"]).is_empty() { quote!(_) } else { quote!(k) };
        quote!(Some((#number, #k)) => #value,)
    });
    quote! {
        fn #name(&self, #parameter: usize) -> rt::String {
            match rt::locate(&[#(#counts),*], #parameter) {
                #(#arms)*
                _ => rt::String::new(),
            }
        }
    }
}

fn row_names(constraints: &[Named<'_, Constraint>]) -> TokenStream {
    if constraints.is_empty() {
        return quote!(
            fn row_name(&self, _element: usize, _row: usize) -> rt::String {
                rt::String::new()
            }
        );
    }
    let counts = constraints.iter().map(|n| Literal::usize_unsuffixed(n.of.family.table.count));
    let arms = constraints.iter().enumerate().map(|(number, n)| {
        let number = Literal::usize_unsuffixed(number);
        let names = &n.of.row_names;
        quote!(Some((#number, _)) => &[#(#names),*],)
    });
    quote! {
        fn row_name(&self, element: usize, row: usize) -> rt::String {
            let names: &[&str] = match rt::locate(&[#(#counts),*], element) {
                #(#arms)*
                _ => &[],
            };
            names.get(row).copied().unwrap_or_default().into()
        }
    }
}
