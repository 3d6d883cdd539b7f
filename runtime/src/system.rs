//! The equations of a model as the steppers see them: what generated code, the interpreter and the JIT implement.
//!
//! `M dV/dt + B^T lambda = Q`, `Phi(q, t) = 0`. Every array of blocks is laid out by the [`Topology`]: Jacobian blocks
//! `rows x dim`, row-major, one per element instance, and square blocks as those `3 x 3` parts that are not always zero. Derivatives are with respect to
//! the left-trivialised tangent `(dx, dtheta)`, `dR = R skew(dtheta)`. A call overwrites the whole of its outputs.
//! The gyroscopic force `-Omega x J Omega` is the runtime's; everything else is in `forces`.

use alloc::string::String;
use alloc::vec::Vec;

use crate::state::State;
use crate::steppers::euler::unrolled::{Delivered, Unrolled};
use crate::steppers::rattle::unrolled::{Stage, StepEnd, UnrolledRattle};
use crate::topology::Topology;

/// Values and first derivatives of a set of equations.
#[derive(Clone, Debug, Default)]
pub struct Jacobian {
    /// `Phi`, one number a row. For velocity conditions: the value of the condition at the current velocities.
    pub phi: Vec<f64>,
    /// Partial derivative by time. (Zero for velocity conditions.)
    pub phi_t: Vec<f64>,
    /// Jacobian blocks `B`. For velocity conditions: the derivative by `V`.
    pub b: Vec<f64>,
}

/// What Newton needs of the constraints beyond [`Jacobian`].
#[derive(Clone, Debug, Default)]
pub struct ConstraintDerivatives {
    /// Jacobian blocks `d(B V + Phi_t)/dq` at constant `V`.
    pub bv_q: Vec<f64>,
    /// Square blocks `d(B^T lambda)/dq` at constant `lambda`.
    pub k_lam: Vec<f64>,
}

/// Forces and their derivatives.
#[derive(Clone, Debug, Default)]
pub struct ForceDerivatives {
    /// Square blocks `dQ/dq`.
    pub q_q: Vec<f64>,
    /// Square blocks `dQ/dV`.
    pub q_v: Vec<f64>,
}

/// One model with its parameters bound. Methods take `&mut self` for scratch space only.
pub trait System {
    /// The static structure.
    fn topology(&self) -> &Topology;
    /// `Phi(q, t)`, `nc` numbers.
    fn residual(&mut self, s: &State, phi: &mut [f64]);
    /// `Phi`, `Phi_t` and `B`.
    fn jacobian(&mut self, s: &State, out: &mut Jacobian);
    /// `Phi`, `Phi_t`, `B` and the derivatives for Newton. `lam` has `nc` numbers.
    fn constraint_newton(&mut self, s: &State, lam: &[f64], jac: &mut Jacobian, out: &mut ConstraintDerivatives);
    /// Convective acceleration of the constraints: `Bdot V + 2 B_t V + Phi_tt`, `nc` numbers.
    fn convective(&mut self, s: &State, gamma: &mut [f64]);
    /// Generalised forces `Q(q, V, t)` of potentials, dissipation and loads, `nv` numbers, without gyroscopic terms.
    fn forces(&mut self, s: &State, q: &mut [f64]);
    /// Whether [`System::forces`] may be other than zero. Where they are not, bodies without constraints move from one state to the
    /// next in one go.
    fn has_forces(&self) -> bool {
        true
    }
    /// Whether [`System::forces`] may depend on velocities. Where it does not, splitting steppers need no solve after a kick.
    fn has_velocity_forces(&self) -> bool {
        true
    }
    /// Whether the equations may change between steps other than by time: inputs that somebody sets. Where they do not, the
    /// end of a step is evaluated once, for it and for the start of the next.
    fn has_inputs(&self) -> bool {
        true
    }
    /// Generalised forces and their derivatives; of pairs that are found during a run the forces only.
    fn force_newton(&mut self, s: &State, q: &mut [f64], out: &mut ForceDerivatives);
    /// Potential energy, J.
    fn potential(&mut self, s: &State) -> f64;
    /// Conditions on initial positions: value, `B`.
    fn position_conditions(&mut self, s: &State, out: &mut Jacobian);
    /// Conditions on initial velocities: value at the current velocities, derivative by `V`.
    fn velocity_conditions(&mut self, s: &State, out: &mut Jacobian);
    /// A step by kernels written out for the whole model, where there are any: the state after it and what belongs to
    /// it, but for time and continuous angles, and the number of iterations. `None` if there are none for this model, or if
    /// they do not converge: nothing has changed then.
    fn unrolled_step(
        &mut self,
        work: &mut Unrolled,
        delivered: Delivered<'_>,
        s: &mut State,
        h: f64,
        t1: f64,
    ) -> Option<usize> {
        let _ = (work, delivered, s, h, t1);
        None
    }
    /// A stage of RATTLE by kernels written out for the whole model, where there are any, and the number of its updates. `None` if there are
    /// none for this model, or if they do not converge: nothing has changed then.
    fn unrolled_stage(&mut self, work: &mut UnrolledRattle, stage: Stage<'_>) -> Option<usize> {
        let _ = (work, stage);
        None
    }
    /// The same for the end of a step by RATTLE.
    fn unrolled_end(&mut self, work: &mut UnrolledRattle, end: StepEnd<'_>) -> Option<()> {
        let _ = (work, end);
        None
    }
    /// Stores the continuous angles of an accepted state in its memory.
    fn accept(&mut self, s: &mut State);
    /// Name of a body, as in the model: `link[3]`.
    fn body_name(&self, body: usize) -> String;
    /// Name of a constraint element: `pivot`, `pin[3]`.
    fn constraint_name(&self, element: usize) -> String;
    /// What a row of a constraint element measures: `x`, `angle about z`, ...
    fn row_name(&self, element: usize, row: usize) -> String;
    /// Name of the declaration that a position condition comes from: `top.pos`, `hinge.angle`.
    fn position_condition_name(&self, element: usize) -> String;
    /// Name of the declaration that a velocity condition comes from.
    fn velocity_condition_name(&self, element: usize) -> String;
}
