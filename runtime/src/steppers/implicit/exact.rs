//! Newton's method with the derivatives of forces and constraints, one stage after the other, for stiff models.
//!
//! All stages at once would have a matrix of as many blocks as stages, or complex numbers. Instead `L` of `a = L U`, lower triangular beside a `U` with a unit
//! diagonal, takes the place of `a` in the derivative. With `l = h L_ii`, stage `i` then asks for the Newton matrix of an implicit Euler step of size `l`:
//!
//! ```text
//! e = h sum_{j<i} L_ij dA_j,   p = r + h sum_{j<i} L_ij dV_j          r = h sum_j a_ij T(d_j)^-1 V_j - d_i
//! (M - l Q_V + l^2 (K - Q_q)) dV_i + B^T l dlambda_i = l M f + M e - l (K - Q_q) p
//! (B + l (B V)_q) dV_i                               = -g - (B V)_q p
//! dA_i = (dV_i - e)/l,   dd_i = l dV_i + p
//! ```
//!
//! with the defects `f` and `g` of the stage. What is left out multiplies errors of stiff parts and of constraints by `1 - U`, whose power of as many factors as
//! stages is zero. Source: P. J. van der Houwen and J. J. B. de Swart, Triangularly implicit iteration methods for ODE-IVP solvers, SIAM J. Sci. Comput. 18
//! (1997) 41.

use alloc::vec::Vec;

use nalgebra::Matrix3;

use super::collocation::{MOST, Square};
use super::{Stages, add, combine, larger};
use crate::consistent::Failure;
use crate::inertia::Inertia;
use crate::linalg::rows;
use crate::newton_matrix::{self, Form, NewtonMatrix, Owner, Point};
use crate::state::State;
use crate::system::{ConstraintDerivatives, ForceDerivatives, Jacobian, System};
use crate::topology::Topology;
use crate::velocity;

/// The matrices of all stages with their workspaces.
#[derive(Clone, Debug)]
pub(super) struct Exact {
    topology: Topology,
    inertia: Inertia,
    lower: Square,
    stages: Vec<Stage>,
    /// `T = 1`: directions are those at the stage, not those of the chart.
    tangents: Vec<Matrix3<f64>>,
    active: Vec<bool>,
    /// Updates of velocities.
    dv: Vec<Vec<f64>>,
    q: Vec<f64>,
    e: Vec<f64>,
    p: Vec<f64>,
    rhs: Vec<f64>,
    rows: Vec<f64>,
}

/// One stage, with what its matrix was made of.
#[derive(Clone, Debug)]
struct Stage {
    matrix: NewtonMatrix,
    jac: Jacobian,
    constraint: ConstraintDerivatives,
    force: ForceDerivatives,
}

impl Exact {
    /// Symbolic phase for the stages of a method.
    pub(super) fn new(topology: &Topology, inertia: &Inertia, a: &Square, count: usize) -> Self {
        let (nv, nc) = (topology.nv(), topology.nc());
        let (set, forces) = (&topology.constraints, topology.forces.square_len);
        let stage = Stage {
            matrix: NewtonMatrix::new(topology, Form::Velocity),
            jac: Jacobian { phi: vec![0.0; nc], phi_t: vec![0.0; nc], b: vec![0.0; set.jac_len] },
            constraint: ConstraintDerivatives { bv_q: vec![0.0; set.jac_len], k_lam: vec![0.0; set.square_len] },
            force: ForceDerivatives { q_q: vec![0.0; forces], q_v: vec![0.0; forces] },
        };
        Self {
            lower: lower(a, count),
            stages: vec![stage; count],
            tangents: vec![Matrix3::identity(); topology.bodies.len()],
            active: vec![true; nc],
            dv: vec![vec![0.0; nv]; count],
            q: vec![0.0; nv],
            e: vec![0.0; nv],
            p: vec![0.0; nv],
            rhs: vec![0.0; nv + nc],
            rows: vec![0.0; nc],
            inertia: inertia.clone(),
            topology: topology.clone(),
        }
    }

    /// Evaluates the derivatives of stage `i` at its state and multipliers, and factors its matrix on the rows that are `active`.
    pub(super) fn factor<S: System + ?Sized>(
        &mut self,
        sys: &mut S,
        i: usize,
        s: &State,
        lambda: &[f64],
        h: f64,
        active: &[bool],
    ) -> Result<(), Failure> {
        let topology = &self.topology;
        let l = h * self.lower[i][i];
        let Stage { matrix, jac, constraint, force } = &mut self.stages[i];
        for (impulse, lambda) in self.rows.iter_mut().zip(lambda) {
            *impulse = l * lambda;
        }
        if topology.nc() > 0 {
            sys.constraint_newton(s, &self.rows, jac, constraint);
        }
        sys.force_newton(s, &mut self.q, force);
        velocity::read(topology, s, &mut self.p);
        self.active.copy_from_slice(active);
        let point = Point {
            h: l,
            inertia: &self.inertia,
            hamiltonian: true,
            tangents: &self.tangents,
            v: &self.p,
            jac,
            constraint,
            force,
            active: &self.active,
        };
        matrix.factor(topology, &point).map_err(|block| match newton_matrix::owner(topology, block.node) {
            _ if block.non_finite => Failure::NonFinite,
            Owner::Element(element) => Failure::Singular(element),
            Owner::Body(body) => Failure::Undetermined(body),
        })
    }

    /// Replaces the defects of all stages by the updates of their accelerations, and applies those of multipliers and of the chart. Returns the largest speeds
    /// among updates of velocities and of the chart, the latter by `h`.
    pub(super) fn solve(&mut self, a: &Square, stages: &mut Stages, h: f64) -> [f64; 2] {
        let (topology, inertia) = (&self.topology, &self.inertia);
        let (set, dof, nv) = (&topology.constraints, &topology.dof[..], topology.nv());
        let Stages { lambda, d, rate, defect, open, .. } = stages;
        let mut sizes = [0.0; 2];
        for i in 0..self.stages.len() {
            let Stage { matrix, jac, constraint, force } = &mut self.stages[i];
            let (row, l) = (&self.lower[i][..i], h * self.lower[i][i]);
            // `p`, with the old chart vector in `q`
            combine(row, &self.dv, h, &mut self.p);
            combine(&a[i], rate, h, &mut self.q);
            for ((p, new), old) in self.p.iter_mut().zip(&self.q).zip(&d[i]) {
                *p += new - old;
            }
            combine(row, defect, h, &mut self.e);
            for ((q, f), e) in self.q.iter_mut().zip(&defect[i]).zip(&self.e) {
                *q = l * f + e;
            }
            let (of_bodies, of_rows) = self.rhs.split_at_mut(nv);
            inertia.apply(&self.q, of_bodies);
            rows::add_square(set, dof, &constraint.k_lam, &self.p, -1.0, of_bodies);
            rows::add_square(&topology.forces, dof, &force.q_q, &self.p, l, of_bodies);
            rows::apply(set, dof, &constraint.bv_q, &self.p, of_rows);
            for ((r, open), &kept) in of_rows.iter_mut().zip(&open[i]).zip(&self.active) {
                *r = if kept { -(open + *r) } else { 0.0 };
            }
            matrix.solve(topology, jac, &mut self.rhs);
            let (of_bodies, of_rows) = self.rhs.split_at(nv);
            self.dv[i].copy_from_slice(of_bodies);
            for (lambda, impulse) in lambda[i].iter_mut().zip(of_rows) {
                *lambda += impulse / l;
            }
            for ((da, dv), e) in defect[i].iter_mut().zip(of_bodies).zip(&self.e) {
                *da = (dv - e) / l;
            }
            for (p, dv) in self.p.iter_mut().zip(of_bodies) {
                *p += l * dv;
            }
            add(&self.p, &mut d[i]);
            for p in &mut self.p {
                *p /= h;
            }
            for (size, update) in sizes.iter_mut().zip([&self.dv[i], &self.p]) {
                *size = larger(*size, inertia.largest_speed(update));
            }
        }
        sizes
    }
}

/// `L` of `a = L U` with a unit diagonal of `U`, by Crout's elimination.
fn lower(a: &Square, count: usize) -> Square {
    let (mut l, mut u) = ([[0.0; MOST]; MOST], [[0.0; MOST]; MOST]);
    for k in 0..count {
        for i in k..count {
            l[i][k] = a[i][k] - (0..k).map(|m| l[i][m] * u[m][k]).sum::<f64>();
        }
        for j in k + 1..count {
            u[k][j] = (a[k][j] - (0..k).map(|m| l[k][m] * u[m][j]).sum::<f64>()) / l[k][k];
        }
    }
    l
}
