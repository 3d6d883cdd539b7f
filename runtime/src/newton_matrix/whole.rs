//! The Newton matrix with all its unknowns, as blocks of bodies and constraint elements.

use alloc::vec::Vec;

use nalgebra::{Matrix3, Vector3};

use super::{Form, Point, add, attitude_block, coupled, times_tangent};
use crate::linalg::block_lu::{BlockLu, SingularBlock};
use crate::linalg::rows;
use crate::topology::{BodyKind, ElementSet, Topology};

/// Matrix with its pattern, factors and the places of all element blocks.
#[derive(Clone, Debug)]
pub(crate) struct Whole {
    form: Form,
    lu: BlockLu,
    bodies: Vec<BodyBlocks>,
    slots: Vec<SlotBlocks>,
    elements: Vec<usize>,
    constraint_parts: Vec<Part>,
    force_parts: Vec<Part>,
}

/// Offsets of the blocks of one body by rows and columns; those with `v` are zero and unused without `mu`.
#[derive(Clone, Copy, Debug)]
struct BodyBlocks {
    dim: usize,
    uv: usize,
    vu: usize,
    vv: usize,
}

/// One slot of a constraint element: offsets of its blocks with the element, columns of its Jacobian block.
#[derive(Clone, Copy, Debug)]
struct SlotBlocks {
    body: usize,
    dim: usize,
    at: usize,
    stride: usize,
    row: usize,
    rows: usize,
    ue: usize,
    ve: usize,
    eu: usize,
    ev: usize,
}

/// A stored part of a square block of an element, and where it goes.
#[derive(Clone, Copy, Debug)]
struct Part {
    at: usize,
    /// Body whose tangent operator applies to the displacement that it multiplies.
    turning: Option<usize>,
    /// Row `u`, column `u`.
    uu: usize,
    /// Row `u`, column `V`.
    uv: usize,
    stride: usize,
}

impl Whole {
    pub(crate) fn new(topology: &Topology, form: Form) -> Self {
        let (nb, ne) = (topology.bodies.len(), topology.constraints.elements.len());
        let both = form == Form::Both;
        let copies = if both { 2 } else { 1 };
        let mut sizes: Vec<usize> = topology.bodies.iter().map(|b| b.kind.dim()).collect();
        sizes.extend(topology.constraints.elements.iter().map(|e| copies * e.rows));
        if both {
            sizes.extend(topology.bodies.iter().map(|b| b.kind.dim()));
        }
        // Without mu the node of V is that of u.
        let v_node = |body: usize| if both { nb + ne + body } else { body };
        let (edges, after) = graph(topology, both, v_node);
        let lu = BlockLu::new(&sizes, &edges, &after);
        let block = |i, j| lu.block(i, j).expect("the graph has an edge for every block");

        let bodies = (0..nb)
            .map(|b| BodyBlocks {
                dim: sizes[b],
                uv: block(b, v_node(b)),
                vu: block(v_node(b), b),
                vv: block(v_node(b), v_node(b)),
            })
            .collect();
        let mut slots = Vec::new();
        for (number, e) in topology.constraints.elements.iter().enumerate() {
            let mut at = e.jac;
            for &body in topology.constraints.bodies(e) {
                let body = body as usize;
                slots.push(SlotBlocks {
                    body,
                    dim: sizes[body],
                    at,
                    stride: e.dim,
                    row: e.row,
                    rows: e.rows,
                    ue: block(body, nb + number),
                    ve: block(v_node(body), nb + number),
                    eu: block(nb + number, body),
                    ev: block(nb + number, v_node(body)),
                });
                at += sizes[body];
            }
        }
        Self {
            form,
            elements: (nb..nb + ne).map(|node| block(node, node)).collect(),
            constraint_parts: parts(topology, &topology.constraints, |i, j| (block(i, j), 0)),
            force_parts: parts(topology, &topology.forces, |i, j| (block(i, j), block(i, v_node(j)))),
            bodies,
            slots,
            lu,
        }
    }

    /// Length of right-hand sides and solutions.
    pub(crate) fn rows(&self) -> usize {
        self.lu.rows()
    }

    /// First entry of an element in vectors: `lam`, then `m`. (Bodies come first: `u` is laid out like `V`.)
    pub(crate) fn element_offset(&self, element: usize) -> usize {
        self.lu.offset(self.bodies.len() + element)
    }

    /// First entry of the `V` of the first body in vectors.
    pub(crate) fn v_offset(&self) -> usize {
        match self.form {
            Form::Both => self.lu.offset(self.bodies.len() + self.elements.len()),
            Form::Position | Form::Velocity => 0,
        }
    }

    /// Smallest pivot of a constraint element in the last factorisation.
    pub(crate) fn smallest_pivot(&self, element: usize) -> f64 {
        self.lu.smallest_pivot(self.bodies.len() + element)
    }

    /// Fills and factors the matrix.
    pub(crate) fn factor(&mut self, topology: &Topology, p: &Point<'_>) -> Result<(), SingularBlock> {
        self.lu.clear();
        self.fill_bodies(topology, p);
        self.fill_squares(p);
        self.fill_constraints(p);
        self.fill_inactive(topology, p.active);
        self.lu.factor()
    }

    /// Solves in place.
    pub(crate) fn solve(&self, x: &mut [f64]) {
        self.lu.solve(x);
    }

    /// `M` and the gyroscopic terms, and the unit blocks of the `V` rows.
    fn fill_bodies(&mut self, topology: &Topology, p: &Point<'_>) {
        let values = self.lu.values_mut();
        for (number, b) in self.bodies.iter().enumerate() {
            let n = b.dim;
            let (mass, _) = p.inertia.mass(number);
            for k in 0..3 {
                values[b.uv + k * (n + 1)] += mass;
            }
            if topology.bodies[number].kind == BodyKind::Rigid {
                let block = attitude_block(p, number, topology.dof[number]);
                for i in 0..3 {
                    for j in 0..3 {
                        values[b.uv + (3 + i) * n + 3 + j] += block[(i, j)];
                    }
                }
            }
            if self.form == Form::Both {
                for k in 0..n {
                    values[b.vu + k * (n + 1)] += 1.0;
                    values[b.vv + k * (n + 1)] -= 1.0;
                }
            }
        }
    }

    /// Stiffness of the multipliers and derivatives of the forces.
    fn fill_squares(&mut self, p: &Point<'_>) {
        let (h, h_v) = (p.h, p.h_v);
        let values = self.lu.values_mut();
        for part in &self.constraint_parts {
            let tangent = part.turning.map(|body| &p.tangents[body]);
            part.add(values, part.uu, &p.constraint.k_lam, h, tangent);
        }
        for part in &self.force_parts {
            let tangent = part.turning.map(|body| &p.tangents[body]);
            part.add(values, part.uu, &p.force.q_q, -h * h_v, tangent);
            part.add(values, part.uv, &p.force.q_v, -h_v, None);
        }
    }

    /// Jacobians and their transposes.
    fn fill_constraints(&mut self, p: &Point<'_>) {
        let values = self.lu.values_mut();
        let both = self.form == Form::Both;
        for s in &self.slots {
            let width = if both { 2 * s.rows } else { s.rows };
            for r in (0..s.rows).filter(|r| p.active[s.row + r]) {
                let range = s.at + r * s.stride..s.at + r * s.stride + s.dim;
                let b = &p.jac.b[range.clone()];
                let tangent = &p.tangents[s.body];
                for (k, b) in b.iter().enumerate() {
                    values[s.ue + k * width + r] += b;
                }
                let bh = times_tangent(b, Some(tangent), 1.0);
                let upper = s.eu + r * s.dim;
                match self.form {
                    Form::Position => add(&mut values[upper..], &bh[..s.dim]),
                    Form::Velocity => {
                        add(&mut values[upper..], b);
                        let turn = times_tangent(&p.constraint.bv_q[range], Some(tangent), p.h);
                        add(&mut values[upper..], &turn[..s.dim]);
                    }
                    Form::Both => {
                        add(&mut values[upper..], &bh[..s.dim]);
                        let lower = s.eu + (s.rows + r) * s.dim;
                        let turn = times_tangent(&p.constraint.bv_q[range], Some(tangent), p.h);
                        for k in 0..s.dim {
                            values[lower + k] += turn[k] - bh[k];
                        }
                        add(&mut values[s.ev + (s.rows + r) * s.dim..], b);
                        let w = weighted(b, s.body, p);
                        for (k, w) in w[..s.dim].iter().enumerate() {
                            values[s.ve + k * width + s.rows + r] += w;
                        }
                    }
                }
            }
        }
    }

    /// Rows that are left out keep their unknowns at zero.
    fn fill_inactive(&mut self, topology: &Topology, active: &[bool]) {
        let values = self.lu.values_mut();
        for (e, &at) in topology.constraints.elements.iter().zip(&self.elements) {
            for r in (0..e.rows).filter(|r| !active[e.row + r]) {
                match self.form {
                    Form::Both => {
                        values[at + r * (2 * e.rows + 1)] = 1.0;
                        values[at + (e.rows + r) * (2 * e.rows + 1)] = 1.0;
                    }
                    Form::Position | Form::Velocity => values[at + r * (e.rows + 1)] = 1.0,
                }
            }
        }
    }
}

/// Pairs of nodes.
type Edges = Vec<(usize, usize)>;

/// Edges of the blocks, and which node waits for which.
fn graph(topology: &Topology, both: bool, v_node: impl Fn(usize) -> usize) -> (Edges, Edges) {
    let nb = topology.bodies.len();
    let (mut edges, mut after) = (Vec::new(), Vec::new());
    if both {
        for body in 0..nb {
            edges.push((body, v_node(body)));
            after.push((body, v_node(body)));
        }
    }
    for (number, e) in topology.constraints.elements.iter().enumerate() {
        for &a in topology.constraints.bodies(e) {
            let a = a as usize;
            let mut nodes = vec![a];
            if both {
                nodes.push(v_node(a));
            }
            for node in nodes {
                edges.push((nb + number, node));
                after.push((nb + number, node));
            }
        }
    }
    for (a, b) in coupled(topology, &topology.constraints) {
        edges.push((a, b));
    }
    for (a, b) in coupled(topology, &topology.forces) {
        edges.extend([(a, b), (a, v_node(b))]);
    }
    (edges, after)
}

/// All stored parts of the square blocks of a set; `targets` has the places of blocks of two bodies.
fn parts(topology: &Topology, set: &ElementSet, targets: impl Fn(usize, usize) -> (usize, usize)) -> Vec<Part> {
    let dim = |body: usize| topology.bodies[body].kind.dim();
    let mut out = Vec::new();
    for e in &set.elements {
        for (coupling, at) in set.parts(e) {
            let [(i, row), (j, col)] = coupling.map(|number| rows::vector(set, &topology.dof, e, number));
            let (uu, uv) = targets(i, j);
            let (stride, turning) = (dim(j), (col > 0).then_some(j));
            let place = row * stride + col;
            out.push(Part { at, turning, uu: uu + place, uv: uv + place, stride });
        }
    }
    out
}

impl Part {
    /// Adds `factor` times the part, times `T` where a tangent operator is given.
    #[inline]
    fn add(&self, values: &mut [f64], target: usize, square: &[f64], factor: f64, tangent: Option<&Matrix3<f64>>) {
        let part = Matrix3::from_row_slice(&square[self.at..self.at + 9]);
        let part = tangent.map_or(part, |t| part * t);
        for i in 0..3 {
            for (k, to) in values[target + i * self.stride..][..3].iter_mut().enumerate() {
                *to += factor * part[(i, k)];
            }
        }
    }
}

/// `G` times one row of `B^T` of one slot.
fn weighted(b: &[f64], body: usize, p: &Point<'_>) -> [f64; 6] {
    let mut out = [0.0; 6];
    out[..b.len()].copy_from_slice(b);
    if p.hamiltonian {
        let (mass, inverse) = p.inertia.inverse(body);
        for x in &mut out[..3] {
            *x *= mass;
        }
        if b.len() == 6 {
            let w = inverse * Vector3::from_column_slice(&b[3..]);
            out[3..].copy_from_slice(w.as_slice());
        }
    }
    out
}
