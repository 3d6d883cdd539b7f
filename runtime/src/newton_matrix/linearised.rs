//! The equations of velocities and multipliers of an implicit step, linearised at a state and solved for their updates.
//!
//! With `h` and `h_v` of [`Point`], for a displacement `p` that is made besides `T h dV`:
//!
//! ```text
//! (M - h_v Q_V + h h_v (K - Q_q) T) dV + B^T h_v dlambda = h_v r_V - h_v (K - Q_q) p
//! (B + h (B V)_q T) dV                                   = -r_B - (B V)_q p
//! ```

use alloc::vec::Vec;

use nalgebra::Matrix3;

use super::{Form, NewtonMatrix, Owner, Point, owner};
use crate::consistent::Failure;
use crate::inertia::Inertia;
use crate::linalg::rows;
use crate::state::State;
use crate::system::{ConstraintDerivatives, ForceDerivatives, Jacobian, System};
use crate::topology::Topology;
use crate::velocity;

/// The factors of the matrix, and what it was made of. Only the constructor allocates.
#[derive(Clone, Debug)]
pub(crate) struct Linearised {
    topology: Topology,
    inertia: Inertia,
    matrix: NewtonMatrix,
    jac: Jacobian,
    constraint: ConstraintDerivatives,
    force: ForceDerivatives,
    /// `T` of `dq = T h dV`: 1 unless another one is set before the matrix is factored.
    pub(crate) tangents: Vec<Matrix3<f64>>,
    active: Vec<bool>,
    h_v: f64,
    v: Vec<f64>,
    q: Vec<f64>,
    rows: Vec<f64>,
}

impl Linearised {
    pub(crate) fn new(topology: &Topology, inertia: &Inertia) -> Self {
        let (nv, nc) = (topology.nv(), topology.nc());
        let (set, forces) = (&topology.constraints, topology.forces.square_len);
        Self {
            matrix: NewtonMatrix::new(topology, Form::Velocity),
            jac: Jacobian { phi: vec![0.0; nc], phi_t: vec![0.0; nc], b: vec![0.0; set.jac_len] },
            constraint: ConstraintDerivatives { bv_q: vec![0.0; set.jac_len], k_lam: vec![0.0; set.square_len] },
            force: ForceDerivatives { q_q: vec![0.0; forces], q_v: vec![0.0; forces] },
            tangents: vec![Matrix3::identity(); topology.bodies.len()],
            active: vec![true; nc],
            h_v: f64::NAN,
            v: vec![0.0; nv],
            q: vec![0.0; nv],
            rows: vec![0.0; nc],
            inertia: inertia.clone(),
            topology: topology.clone(),
        }
    }

    /// Evaluates the derivatives at a state and its multipliers, and factors the matrix on the rows that are `active`; `[h, h_v]` as in [`Point`].
    pub(crate) fn factor<S: System + ?Sized>(
        &mut self,
        sys: &mut S,
        s: &State,
        lambda: &[f64],
        [h, h_v]: [f64; 2],
        active: &[bool],
    ) -> Result<(), Failure> {
        let topology = &self.topology;
        for (impulse, lambda) in self.rows.iter_mut().zip(lambda) {
            *impulse = h_v * lambda;
        }
        if topology.nc() > 0 {
            sys.constraint_newton(s, &self.rows, &mut self.jac, &mut self.constraint);
        }
        sys.force_newton(s, &mut self.q, &mut self.force);
        velocity::read(topology, s, &mut self.v);
        self.active.copy_from_slice(active);
        self.h_v = h_v;
        let point = Point {
            h,
            h_v,
            inertia: &self.inertia,
            hamiltonian: true,
            tangents: &self.tangents,
            v: &self.v,
            jac: &self.jac,
            constraint: &self.constraint,
            force: &self.force,
            active: &self.active,
        };
        self.matrix.factor(topology, &point).map_err(|block| match owner(topology, block.node) {
            _ if block.non_finite => Failure::NonFinite,
            Owner::Element(element) => Failure::Singular(element),
            Owner::Body(body) => Failure::Undetermined(body),
        })
    }

    /// Solves in place: `h_v r_V` and `r_B`, one after the other, become `dV` and `h_v dlambda`.
    pub(crate) fn solve(&mut self, p: &[f64], rhs: &mut [f64]) {
        let topology = &self.topology;
        let (set, dof) = (&topology.constraints, &topology.dof[..]);
        let (of_bodies, of_rows) = rhs.split_at_mut(topology.nv());
        rows::add_square(set, dof, &self.constraint.k_lam, p, -1.0, of_bodies);
        rows::add_square(&topology.forces, dof, &self.force.q_q, p, self.h_v, of_bodies);
        rows::apply(set, dof, &self.constraint.bv_q, p, &mut self.rows);
        for ((r, turn), &kept) in of_rows.iter_mut().zip(&self.rows).zip(&self.active) {
            *r = if kept { -(*r + turn) } else { 0.0 };
        }
        self.matrix.solve(topology, &self.jac, rhs);
    }
}
