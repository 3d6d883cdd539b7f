//! Forces between pairs that are found during a run as a module: the points of the bodies, the list of pairs with what
//! their kernels load, and loops over those that are near.

use proc_macro2::{Literal, TokenStream};
use quote::quote;

use super::Notes;
use super::family::{Context, Field, Writer};
use super::kernel::Destination;
use super::names::{Names, ident};
use super::system::{Named, add_to_bodies, head};
use super::{probe, table};
use crate::ir::program::{BodyFamily, Pair};
use crate::ir::{Op, VerifiedKernel};

/// Of either body of a pair: the list of index values, the module of its point, a short name of the list, the number of the body.
const SIDES: [[&str; 4]; 2] = [["first_tuples", "first", "p", "a"], ["second_tuples", "second", "q", "b"]];

/// The value of a condition that is the same for all pairs.
fn constant(kernel: &VerifiedKernel) -> Option<bool> {
    let kernel = kernel.get();
    match kernel.outputs.first() {
        None => Some(false),
        Some((_, value)) => match kernel.ops[value.0 as usize] {
            Op::Const(bits) => Some(f64::from_bits(bits) != 0.0),
            Op::Load(_) | Op::Un(..) | Op::Bin(..) | Op::Select(..) => None,
        },
    }
}

/// Emits the pairs of a declaration.
pub(super) fn pair<'a>(context: Context<'a>, notes: &Notes, names: &mut Names, p: &'a Pair) -> Named<'a, Pair> {
    let bodies = p.bodies.map(|body| &context.program.bodies[body]);
    let mut w = Writer::of_pairs(context, &p.family, &bodies);
    let energy = head("energy", "Potential energy, J", &[], &[], Some(quote!(f64)));
    w.method(&p.energy, energy, None, &[Destination::Number(0)]);
    let sums = add_to_bodies(context, &bodies, None);
    w.method(&p.force, head("force", "`Q`", &[], &[("q", quote!(&mut [f64]))], None), None, &sums);

    let mut fields = Vec::new();
    let docs = [" The distance below which a pair counts.".to_owned()];
    let mut nested = probe::module(context, &p.distance, &ident("distance"), &docs);
    let sides = ["first", "second"].map(ident);
    for (points, name) in p.points.iter().zip(&sides) {
        let docs = [format!(" The point of the {name} body of a pair.")];
        nested.extend(probe::module(context, points, name, &docs));
        fields.push(Field { name: name.clone(), ty: quote!(#name::Data), value: quote!(#name::Data::new(params)) });
    }
    fields.push(Field {
        name: ident("neighbours"),
        ty: quote!(rt::Neighbours),
        value: quote!(rt::Neighbours::new(
            [first::COUNT, second::COUNT],
            distance::Data::new(params).evaluate(&rt::Point::NONE)[0]
        )),
    });
    let find = find(&mut w, context, p, &bodies, &mut fields);
    w.code(quote! {
        #find

        /// Adds the forces of the pairs that are near.
        pub(super) fn add_forces(&mut self, at: &rt::Point<'_>, q: &mut [f64]) {
            self.find(at);
            for k in 0..self.bodies.len() {
                if self.neighbours.is_near(k) {
                    self.force(k, at, q);
                }
            }
        }

        /// Adds the energies of the pairs that are near.
        pub(super) fn add_energy(&mut self, at: &rt::Point<'_>, sum: &mut f64) {
            self.find(at);
            for k in 0..self.bodies.len() {
                if self.neighbours.is_near(k) {
                    *sum += self.energy(k, at);
                }
            }
        }
    });
    let name = names.take_snake(&p.family.name);
    let module = w.finish(&name, &notes.title("potential", &p.family.name), &nested, &fields);
    Named::of_pairs(p, name, module)
}

/// The method that finds the pairs at a point and keeps what their kernels load.
fn find(
    w: &mut Writer<'_>,
    context: Context<'_>,
    p: &Pair,
    bodies: &[&BodyFamily; 2],
    fields: &mut Vec<Field>,
) -> TokenStream {
    let chosen = constant(&p.admits);
    let has_own = p.family.interface.columns > 0;
    let has_index = p.loads_indices();
    let (mut tuple, mut borrows) = (TokenStream::new(), TokenStream::new());
    if has_own || has_index || chosen.is_none() {
        let scalars = Literal::usize_unsuffixed(context.program.param_len());
        fields.push(Field { name: ident("params"), ty: quote!([f64; #scalars]), value: quote!(*params) });
        borrows.extend(quote!(let params = &self.params;));
        let is_one = p.bodies[0] == p.bodies[1];
        for (number, (body, names)) in bodies.iter().zip(SIDES).enumerate() {
            let [field, side, p, k] = names.map(ident);
            let places = (0..body.setup.family.interface.indices).map(Literal::usize_unsuffixed);
            tuple.extend(quote!(#(#p[#k as usize][#places],)*));
            if number == 1 && is_one {
                borrows.extend(quote!(let #p = p;));
                continue;
            }
            let indices = &body.setup.family.table.indices;
            let width = body.setup.family.interface.indices;
            let columns = (0..width).map(|k| table::runs(indices, width, k));
            let len = Literal::usize_unsuffixed(width);
            fields.push(Field {
                name: field.clone(),
                ty: quote!(rt::Vec<[f64; #len]>),
                value: quote!(rt::indices(#side::COUNT, [#(#columns),*])),
            });
            borrows.extend(quote!(let #p = &self.#field;));
        }
    }
    let admits = match chosen {
        Some(chosen) => quote!(|_, _| #chosen),
        None => {
            w.constant_of_index("admits", "Whether a pair counts at all", &p.admits);
            quote!(|a, b| Self::admits(params, &[#tuple])[0] != 0.0)
        }
    };
    let [first, second] = bodies.map(|body| Literal::usize_unsuffixed(body.first));
    let mut lists = vec![(ident("bodies"), quote!([#first + a, #second + b]))];
    if has_own {
        lists.push((ident("own"), quote!(Self::own_of(params, &[#tuple]))));
    }
    if has_index {
        lists.push((ident("index"), quote!([#tuple])));
    }
    let (lists, values): (Vec<_>, Vec<_>) = lists.into_iter().unzip();
    quote! {
        /// Finds the pairs, and computes what is constant of them where they are others than before.
        pub(super) fn find(&mut self, at: &rt::Point<'_>) {
            for k in 0..first::COUNT {
                self.neighbours.place(0, k, self.first.evaluate(k, at));
            }
            for k in 0..second::COUNT {
                self.neighbours.place(1, k, self.second.evaluate(k, at));
            }
            #borrows
            if !self.neighbours.update(#admits) {
                return;
            }
            let room = self.neighbours.capacity();
            #(self.#lists.clear(); self.#lists.reserve(room);)*
            for &[a, b] in self.neighbours.pairs() {
                #(self.#lists.push(#values);)*
            }
        }
    }
}
