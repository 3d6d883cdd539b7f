//! Models written by hand, from their equations to the interpreter: derivatives against differences on the group.

mod derivatives;
mod models;
mod observers;
mod physics;
mod scale;
mod validity;

use mbdsl_runtime::nalgebra::Vector3;
use mbdsl_runtime::so3;
use mbdsl_runtime::state::State;
use mbdsl_runtime::system::System;
use mbdsl_runtime::topology::{BodyKind, ElementSet, Topology};

use crate::formulate::formulate;
use crate::ir::program::Program;
use crate::lower::program::lower;
use crate::model::Model;

/// The program of a model that is known to be good.
fn program(model: &Model) -> Program {
    let equations = formulate(model).expect("the model is good");
    lower(model, &equations).expect("the equations are good")
}

/// Numbers between -1 and 1, always the same.
struct Noise(u64);

impl Noise {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    }

    fn vector(&mut self) -> Vector3<f64> {
        Vector3::new(self.next(), self.next(), self.next())
    }

    fn list(&mut self, len: usize) -> Vec<f64> {
        (0..len).map(|_| self.next()).collect()
    }

    /// Any state, far from symmetric.
    fn state(&mut self, topology: &Topology) -> State {
        let mut s = State::new(topology.bodies.len(), topology.memory);
        s.t = 0.3;
        for (k, body) in topology.bodies.iter().enumerate() {
            s.set_x(k, &(self.vector() * 2.0));
            s.set_v(k, &self.vector());
            if body.kind == BodyKind::Rigid {
                s.set_r(k, &so3::exp(&(self.vector() * 1.5)));
                s.set_omega(k, &self.vector());
            }
        }
        s
    }
}

/// The velocities of a state, laid out as rows of Jacobians want them.
fn velocities(topology: &Topology, s: &State) -> Vec<f64> {
    let mut v = Vec::new();
    for (k, body) in topology.bodies.iter().enumerate() {
        v.extend(s.v(k).iter());
        if body.kind == BodyKind::Rigid {
            v.extend(s.omega(k).iter());
        }
    }
    v
}

/// The state displaced by `d` (positions) or with `d` added to its velocities.
fn moved(topology: &Topology, s: &State, d: &[f64], positions: bool) -> State {
    let mut out = s.clone();
    for (k, body) in topology.bodies.iter().enumerate() {
        let at = topology.dof[k];
        let first = Vector3::from_column_slice(&d[at..at + 3]);
        if positions {
            out.set_x(k, &(s.x(k) + first));
        } else {
            out.set_v(k, &(s.v(k) + first));
        }
        if body.kind == BodyKind::Rigid {
            let second = Vector3::from_column_slice(&d[at + 3..at + 6]);
            if positions {
                out.set_r(k, &(s.r(k) * so3::exp(&second)));
            } else {
                out.set_omega(k, &(s.omega(k) + second));
            }
        }
    }
    out
}

/// `rows x nv` matrix, row-major, of Jacobian blocks.
fn dense_rows(topology: &Topology, set: &ElementSet, blocks: &[f64]) -> Vec<f64> {
    let nv = topology.nv();
    let mut out = vec![0.0; set.rows * nv];
    for e in &set.elements {
        for row in 0..e.rows {
            let mut column = 0;
            for &body in set.bodies(e) {
                let body = body as usize;
                for c in 0..topology.bodies[body].kind.dim() {
                    out[(e.row + row) * nv + topology.dof[body] + c] += blocks[e.jac + row * e.dim + column];
                    column += 1;
                }
            }
        }
    }
    out
}

/// `nv x nv` matrix, row-major, of square blocks.
fn dense_square(topology: &Topology, set: &ElementSet, blocks: &[f64]) -> Vec<f64> {
    let nv = topology.nv();
    let mut out = vec![0.0; nv * nv];
    for e in &set.elements {
        let mut places = Vec::new();
        for &body in set.bodies(e) {
            let body = body as usize;
            places.extend(topology.dof[body]..topology.dof[body + 1]);
        }
        for (part, at) in set.parts(e) {
            let [row, column] = part.map(|k| 3 * k as usize);
            for k in 0..9 {
                out[places[row + k / 3] * nv + places[column + k % 3]] += blocks[at + k];
            }
        }
    }
    out
}

/// Matrix times vector.
fn times(matrix: &[f64], v: &[f64]) -> Vec<f64> {
    matrix.chunks(v.len()).map(|row| row.iter().zip(v).map(|(a, b)| a * b).sum()).collect()
}

/// Transposed `rows x nv` matrix times vector of `rows`.
fn times_transposed(matrix: &[f64], nv: usize, lam: &[f64]) -> Vec<f64> {
    let mut out = vec![0.0; nv];
    for (row, l) in matrix.chunks(nv).zip(lam) {
        for (o, b) in out.iter_mut().zip(row) {
            *o += b * l;
        }
    }
    out
}

/// All names of a system's constraints with their rows.
fn row_names(system: &impl System, elements: usize, rows: usize) -> Vec<String> {
    let name = |e, r| format!("{} {}", system.constraint_name(e), system.row_name(e, r));
    (0..elements).flat_map(|e| (0..rows).map(move |r| name(e, r))).collect()
}
