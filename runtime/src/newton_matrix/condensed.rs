//! The Newton matrix where every body is coupled with itself alone: bodies are eliminated in closed form.
//!
//! ```text
//! [D  B^T] (dV  )   (r_V)          S dlam = C D^-1 r_V - r_e,     S = C D^-1 B^T
//! [C   0 ] (dlam) = (r_e)          dV     = D^-1 (r_V - B^T dlam)
//! ```
//!
//! `D` is block-diagonal, a `3 x 3` block for positions and one for the attitude of each body, and `C` stands for `B H` or `B + h (B V)_q H`. `S` couples
//! constraints that share a body, as `B M^-1 B^T` does; without its symmetry.

use alloc::vec::Vec;

use nalgebra::{Matrix3, RowVector3, Vector3};

use super::{Form, Point, add, attitude_block, times_tangent};
use crate::linalg::between::Between;
use crate::linalg::block_lu::SingularBlock;
use crate::linalg::rows;
use crate::system::Jacobian;
use crate::topology::{BodyKind, ElementSet, Topology};

/// Factors of the matrix.
#[derive(Clone, Debug)]
pub(crate) struct Condensed {
    form: Form,
    schur: Between,
    /// `C` of velocities, laid out like `B`. That of positions is `B H`, so that `H` goes with `D^-1`.
    c: Vec<f64>,
    bodies: Vec<Block>,
    constraint_parts: Vec<Part>,
    force_parts: Vec<Part>,
    /// Whether `D` is the mass for positions, so that its inverse is known.
    is_isotropic: bool,
    rows: Vec<f64>,
}

/// The blocks of one body: `D`, then its inverse.
#[derive(Clone, Copy, Debug)]
struct Block {
    kind: BodyKind,
    dof: usize,
    position: Matrix3<f64>,
    attitude: Matrix3<f64>,
    /// The inverse of `attitude`, from the left times `T` in the form of positions.
    turned: Matrix3<f64>,
}

/// A stored part of a square block: where it is, and to which block of which body it belongs.
#[derive(Clone, Copy, Debug)]
struct Part {
    at: usize,
    body: usize,
    is_attitude: bool,
}

impl Condensed {
    /// `None` if something couples bodies, or positions with attitudes.
    pub(super) fn new(topology: &Topology, form: Form) -> Option<Self> {
        let constraint_parts = parts(topology, &topology.constraints)?;
        let force_parts = parts(topology, &topology.forces)?;
        let set = &topology.constraints;
        let block = |(body, &dof): (&crate::topology::Body, &usize)| Block {
            kind: body.kind,
            dof,
            position: Matrix3::zeros(),
            attitude: Matrix3::zeros(),
            turned: Matrix3::zeros(),
        };
        Some(Self {
            form,
            schur: Between::new(topology, set),
            c: vec![0.0; set.jac_len],
            bodies: topology.bodies.iter().zip(&topology.dof).map(block).collect(),
            is_isotropic: constraint_parts.iter().chain(&force_parts).all(|part| part.is_attitude),
            constraint_parts,
            force_parts,
            rows: vec![0.0; set.rows],
        })
    }

    pub(super) fn smallest_pivot(&self, element: usize) -> f64 {
        self.schur.smallest_pivot(element)
    }

    pub(super) fn factor(&mut self, topology: &Topology, p: &Point<'_>) -> Result<(), SingularBlock> {
        self.fill(p);
        self.invert(p)?;
        self.schur.independent.copy_from_slice(p.active);
        let c = match self.form {
            Form::Position => &p.jac.b,
            Form::Velocity | Form::Both => {
                self.fill_rows(topology, p);
                &self.c
            }
        };
        let (bodies, is_isotropic) = (&self.bodies, self.is_isotropic);
        let outcome = self.schur.factor(c, &p.jac.b, |body, row| {
            let block = &bodies[body];
            if is_isotropic {
                row[..3].iter_mut().for_each(|x| *x *= block.position[(0, 0)]);
            } else {
                times(&mut row[..3], &block.position);
            }
            if let [_, _, _, theta @ ..] = row
                && theta.len() == 3
            {
                times(theta, &block.turned);
            }
        });
        outcome.map_err(|block| SingularBlock { node: topology.bodies.len() + block.node, ..block })
    }

    pub(super) fn solve(&mut self, topology: &Topology, jac: &Jacobian, x: &mut [f64]) {
        let (set, dof) = (&topology.constraints, &topology.dof[..]);
        let (of_bodies, of_rows) = x.split_at_mut(topology.nv());
        rows::apply(set, dof, self.schur.weighted(), of_bodies, &mut self.rows);
        for (to, r) in of_rows.iter_mut().zip(&self.rows) {
            *to = r - *to;
        }
        self.schur.solve(of_rows);
        rows::add_transposed(set, dof, &jac.b, of_rows, -1.0, of_bodies);
        for block in &self.bodies {
            let (x, theta) = of_bodies[block.dof..].split_at_mut(3);
            if self.is_isotropic {
                x.iter_mut().for_each(|x| *x *= block.position[(0, 0)]);
            } else {
                multiply(&block.position, x);
            }
            if block.kind == BodyKind::Rigid {
                multiply(&block.attitude, theta);
            }
        }
    }

    /// Fills `D`.
    fn fill(&mut self, p: &Point<'_>) {
        for (number, block) in self.bodies.iter_mut().enumerate() {
            block.position = Matrix3::from_diagonal_element(p.inertia.mass(number).0);
            if block.kind == BodyKind::Rigid {
                block.attitude = attitude_block(p, number, block.dof);
            }
        }
        let (h, h_v) = (p.h, p.h_v);
        for part in &self.constraint_parts {
            *part.of(&mut self.bodies) += part.turned(&p.constraint.k_lam, p) * h;
        }
        for part in &self.force_parts {
            let by_velocity = part.read(&p.force.q_v);
            *part.of(&mut self.bodies) -= part.turned(&p.force.q_q, p) * (h * h_v) + by_velocity * h_v;
        }
    }

    /// `D` to its inverse.
    fn invert(&mut self, p: &Point<'_>) -> Result<(), SingularBlock> {
        let (is_isotropic, form) = (self.is_isotropic, self.form);
        for (node, block) in self.bodies.iter_mut().enumerate() {
            let singular = |m: &Matrix3<f64>| SingularBlock { node, non_finite: !m.iter().all(|x| x.is_finite()) };
            if is_isotropic {
                let mass = block.position[(0, 0)];
                if mass == 0.0 || !mass.is_finite() {
                    return Err(singular(&block.position));
                }
                block.position[(0, 0)] = 1.0 / mass;
            } else {
                block.position = block.position.try_inverse().ok_or_else(|| singular(&block.position))?;
            }
            if block.kind == BodyKind::Rigid {
                block.attitude = block.attitude.try_inverse().ok_or_else(|| singular(&block.attitude))?;
                block.turned = match form {
                    Form::Position => p.tangents[node] * block.attitude,
                    Form::Velocity | Form::Both => block.attitude,
                };
            }
        }
        Ok(())
    }

    /// Fills `C` of velocities.
    fn fill_rows(&mut self, topology: &Topology, p: &Point<'_>) {
        let (set, dof) = (&topology.constraints, &topology.dof);
        self.c.copy_from_slice(&p.jac.b);
        for e in &set.elements {
            for r in 0..e.rows {
                let mut at = e.jac + r * e.dim;
                for &body in set.bodies(e) {
                    let body = body as usize;
                    let (to, turn, tangent) = (&mut self.c[at..], &p.constraint.bv_q[at..], &p.tangents[body]);
                    let dim = dof[body + 1] - dof[body];
                    match dim {
                        6 => add(&mut to[..6], &times_tangent(&turn[..6], Some(tangent), p.h)),
                        _ => add(&mut to[..3], &times_tangent(&turn[..3], None, p.h)),
                    }
                    at += dim;
                }
            }
        }
    }
}

impl Part {
    fn of<'a>(&self, bodies: &'a mut [Block]) -> &'a mut Matrix3<f64> {
        let block = &mut bodies[self.body];
        if self.is_attitude { &mut block.attitude } else { &mut block.position }
    }

    fn read(&self, square: &[f64]) -> Matrix3<f64> {
        Matrix3::from_row_slice(&square[self.at..self.at + 9])
    }

    /// The part times the tangent operator, if what it multiplies turns.
    fn turned(&self, square: &[f64], p: &Point<'_>) -> Matrix3<f64> {
        let part = self.read(square);
        if self.is_attitude { part * p.tangents[self.body] } else { part }
    }
}

/// The stored parts of a set, if each of them couples a vector of a body with itself.
fn parts(topology: &Topology, set: &ElementSet) -> Option<Vec<Part>> {
    let parts = set.elements.iter().flat_map(|e| set.parts(e).map(move |part| (e, part)));
    let part = |(e, (coupling, at)): (&crate::topology::Element, ([u32; 2], usize))| {
        let [row, col] = coupling.map(|number| rows::vector(set, &topology.dof, e, number));
        (row == col).then_some(Part { at, body: row.0, is_attitude: row.1 > 0 })
    };
    parts.map(part).collect()
}

/// `row <- row m`
#[inline(always)]
fn times(row: &mut [f64], m: &Matrix3<f64>) {
    let row = row.first_chunk_mut::<3>().expect("a vector of a tangent space");
    let turned = RowVector3::from(*row) * m;
    *row = [turned[0], turned[1], turned[2]];
}

/// `x <- m x`
#[inline(always)]
fn multiply(m: &Matrix3<f64>, x: &mut [f64]) {
    let x = x.first_chunk_mut::<3>().expect("a vector of a tangent space");
    *x = (m * Vector3::from(*x)).into();
}
