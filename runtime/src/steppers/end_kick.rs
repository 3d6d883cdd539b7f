//! The kick at the end of a step where forces depend on velocities: implicit, the adjoint of the explicit one at the start.
//!
//! ```text
//! start of a step     P = P0 + h/2 Q(q0, V0, t0)
//! end of a step       P1 = P + h/2 Q(q1, V1, t1) - B1^T mu,     B1 V1 + Phi_t = 0
//! ```
//!
//! A map, then its adjoint: the step stays symmetric, so it is of order 2 and compositions raise the order as without such
//! forces. For drag alone this is the trapezoidal rule. It is solved by Newton's method with `M - h/2 dQ/dV`; positions do
//! not move, so nothing else depends on the unknowns.

use alloc::vec::Vec;

use nalgebra::Matrix3;

use super::motion::Bodies;
use super::rattle::Failure;
use crate::linalg::rows;
use crate::newton_matrix::{self, Form, NewtonMatrix, Owner, Point};
use crate::state::State;
use crate::system::{ConstraintDerivatives, ForceDerivatives, Jacobian, System};
use crate::velocity;

/// Iterations before giving up.
const LIMIT: usize = 30;

/// Updates of so many units of the round-off of the speed are zero.
const SETTLED: f64 = 4.0;

/// Below so many units updates that do not halve any more are noise.
const NOISE: f64 = 1e4;

/// Workspaces of the solve.
#[derive(Clone, Debug)]
pub(super) struct EndKick {
    matrix: NewtonMatrix,
    force: ForceDerivatives,
    /// No second derivatives of constraints: positions do not move.
    constraint: ConstraintDerivatives,
    tangents: Vec<Matrix3<f64>>,
    /// Stands for the Jacobian where there are no constraints.
    nothing: Jacobian,
    /// No gyroscopic terms: they belong to the drift.
    rest: Vec<f64>,
    v0: Vec<f64>,
    v: Vec<f64>,
    mu: Vec<f64>,
    rhs: Vec<f64>,
    momentum: Vec<f64>,
    change: Vec<f64>,
    rows: Vec<f64>,
}

/// The end of a step before its kick.
pub(super) struct End<'a> {
    /// The positions; afterwards the velocities as well.
    pub(super) trial: &'a mut State,
    /// A guess of the forces, and then those at the end.
    pub(super) force: &'a mut [f64],
    /// The Jacobian and the independent rows of the constraints, if there are any.
    pub(super) constraints: Option<(&'a Jacobian, &'a [bool])>,
}

impl EndKick {
    pub(super) fn new(bodies: &Bodies) -> Self {
        let topology = &bodies.topology;
        let (nv, nc) = (topology.nv(), topology.nc());
        let matrix = NewtonMatrix::new(topology, Form::Velocity);
        let square = topology.forces.square_len;
        Self {
            force: ForceDerivatives { q_q: vec![0.0; square], q_v: vec![0.0; square] },
            constraint: ConstraintDerivatives {
                bv_q: vec![0.0; topology.constraints.jac_len],
                k_lam: vec![0.0; topology.constraints.square_len],
            },
            tangents: vec![Matrix3::identity(); topology.bodies.len()],
            nothing: Jacobian::default(),
            rest: vec![0.0; nv],
            v0: vec![0.0; nv],
            v: vec![0.0; nv],
            mu: vec![0.0; nc],
            rhs: vec![0.0; nv + nc],
            momentum: vec![0.0; nv],
            change: vec![0.0; nv],
            rows: vec![0.0; nc],
            matrix,
        }
    }

    /// Velocities before the kick (`nv`).
    pub(super) fn velocities(&mut self) -> &mut [f64] {
        &mut self.v0
    }

    /// Impulses of constraints in the kick (`nv`).
    pub(super) fn impulses(&self) -> &[f64] {
        &self.momentum
    }

    /// Finds the forces and impulses of a kick by `h/2`, and returns the number of iterations. The caller has written
    /// [`EndKick::velocities`], and adds both to the momenta.
    pub(super) fn kick<S: System + ?Sized>(
        &mut self,
        bodies: &Bodies,
        sys: &mut S,
        end: End<'_>,
        h: f64,
    ) -> Result<usize, Failure> {
        let End { trial, force: q, constraints } = end;
        let (jac, independent) = constraints.unwrap_or((&self.nothing, &[]));
        let (topology, inertia) = (&bodies.topology, &bodies.inertia);
        let (set, dof) = (&topology.constraints, &topology.dof[..]);
        let nv = topology.nv();
        let half = 0.5 * h;
        inertia.apply_inverse(q, &mut self.change);
        for k in 0..nv {
            self.v[k] = self.v0[k] + half * self.change[k];
        }
        let speed = inertia.largest_speed(&self.v0).max(half.abs() * inertia.largest_speed(&self.change));
        self.mu.fill(0.0);
        let mut last = f64::INFINITY;
        for count in 1..=LIMIT {
            velocity::write(topology, &self.v, trial);
            sys.force_newton(trial, q, &mut self.force);
            self.force.q_q.fill(0.0);
            // -r_V = h/2 Q - M (V - V0) - B^T mu
            for k in 0..nv {
                self.change[k] = self.v[k] - self.v0[k];
            }
            inertia.apply(&self.change, &mut self.momentum);
            self.rhs.fill(0.0);
            for ((rhs, q), momentum) in self.rhs.iter_mut().zip(&*q).zip(&self.momentum) {
                *rhs = half * q - momentum;
            }
            rows::add_transposed(set, dof, &jac.b, &self.mu, -1.0, &mut self.rhs[..nv]);
            rows::apply(set, dof, &jac.b, &self.v, &mut self.rows);
            for (row, _) in independent.iter().enumerate().filter(|(_, kept)| **kept) {
                self.rhs[nv + row] = -(self.rows[row] + jac.phi_t[row]);
            }
            let point = Point {
                h: half,
                h_v: half,
                inertia,
                hamiltonian: false,
                tangents: &self.tangents,
                v: &self.rest,
                jac,
                constraint: &self.constraint,
                force: &self.force,
                active: independent,
            };
            self.matrix.factor(topology, &point).map_err(|block| match newton_matrix::owner(topology, block.node) {
                _ if block.non_finite => Failure::NonFinite,
                Owner::Body(body) => Failure::SingularBody(body),
                Owner::Element(element) => Failure::Singular(element),
            })?;
            self.matrix.solve(topology, jac, &mut self.rhs);
            for k in 0..nv {
                self.v[k] += self.rhs[k];
            }
            for (mu, update) in self.mu.iter_mut().zip(&self.rhs[nv..]) {
                *mu += update;
            }
            let update = inertia.largest_speed(&self.rhs[..nv]);
            let units = update / (f64::EPSILON * speed.max(inertia.largest_speed(&self.v)));
            if update.is_nan() {
                return Err(Failure::NonFinite);
            }
            if update == 0.0 || units <= SETTLED || (units < NOISE && units > 0.5 * last) {
                // The forces of the last evaluation belong to these velocities up to round-off.
                self.momentum.fill(0.0);
                rows::add_transposed(set, dof, &jac.b, &self.mu, -1.0, &mut self.momentum);
                return Ok(count);
            }
            last = units;
        }
        Err(Failure::NoConvergence)
    }
}
