//! Explicit Runge-Kutta-Munthe-Kaas methods on the accelerations that fulfil the constraints, with the end of each step projected.
//!
//! ```text
//! stage i:  d = h sum_j a_ij kd_j,  V_i = V0 + h sum_j a_ij A_j,  q_i = q0 (+) d,  kd_i = T(d)^-1 V_i
//!           [M B^T; B 0] (A_i, lambda_i) = (Q, -gamma)  at (q_i, V_i, t0 + c_i h)
//! end:      the same sums with b_j, then
//!           q1 <- q1 (+) -M^-1 B^T mu        until Phi(q1, t1) = 0
//!           V1 <- V1 - M^-1 B^T nu           with B V1 + Phi_t = 0
//!           (A1, lambda1) at (q1, V1, t1)
//! ```
//!
//! All three levels of the constraints are at round-off at the end of each step, and `A1`, `lambda1` have the order of the state. `A1` is also the first
//! stage of the next step. `(+)` and `T` as in [`crate::so3`]; the chart is that of the start of the step.
//!
//! A step costs as many evaluations and factorisations of `B M^-1 B^T` as the method has stages (6 and 12), and a few solves. No
//! derivatives of constraints and forces are needed, but steps must resolve all vibrations and decays: stiff models ask for implicit methods.
//!
//! Rows that follow from others are told apart at the end of a step, on the constraints, and kept apart in the stages, which are off them. Source of the
//! projection: E. Hairer, Geometric integration of ordinary differential equations on manifolds, BIT 41 (2001) 996.

use nalgebra::Vector3;

mod dense;
mod embedded;
mod pair;
mod stages;

pub(crate) use embedded::EmbeddedPair;
pub(crate) use stages::{chart_rate, check_turns};

pub use pair::{Pair, Tableau};

use super::euler::StepReport;
use crate::consistent::Failure;
use crate::error::StepError;
use crate::so3::exp_increment;
use crate::state::State;
use crate::system::System;
use crate::topology::{BodyKind, Topology};
use stages::Stages;

/// One method with its workspaces for one model. Nothing is allocated in [`Explicit::step`] but for errors.
#[derive(Clone, Debug)]
pub struct Explicit {
    stages: Stages,
    /// Where the last step has ended, whose accelerations `stages` holds; at no time (NaN) before the first step and after an error.
    end: State,
}

impl Explicit {
    /// Symbolic phase for a model.
    #[must_use]
    pub fn new(topology: &Topology, pair: Pair) -> Self {
        let end = State { t: f64::NAN, ..State::new(topology.bodies.len(), topology.memory) };
        Self { stages: Stages::new(topology, pair, 0), end }
    }

    /// The method.
    #[must_use]
    pub const fn pair(&self) -> Pair {
        self.stages.pair
    }

    /// Multipliers `lambda` at the end of the last step, a force or torque a row (`nc`); of least norm where rows are dependent.
    #[must_use]
    pub fn lambda(&self) -> &[f64] {
        &self.stages.lambda
    }

    /// Acceleration at the end of the last step (`nv`; m/s^2, rad/s^2).
    #[must_use]
    pub fn acceleration(&self) -> &[f64] {
        &self.stages.acceleration
    }

    /// One step of size `h` (s) from `s` to the time `t1` (s, `n h`: the caller does not accumulate it).
    ///
    /// # Errors
    /// [`StepError`]; the state, multipliers and accelerations are then as before the call.
    pub fn step<S: System + ?Sized>(
        &mut self,
        sys: &mut S,
        s: &mut State,
        h: f64,
        t1: f64,
    ) -> Result<StepReport, StepError> {
        match self.advance(sys, s, h, t1) {
            Ok(iterations) => {
                s.z.copy_from_slice(&self.stages.trial.z);
                s.t = t1;
                sys.accept(s);
                self.end.clone_from(s);
                Ok(StepReport { iterations })
            }
            Err(failure) => {
                self.end.t = f64::NAN;
                Err(self.stages.failed(sys, &failure, h, t1))
            }
        }
    }

    /// The state at the end of the step in `trial` of the stages; how often positions were projected.
    fn advance<S: System + ?Sized>(&mut self, sys: &mut S, s: &State, h: f64, t1: f64) -> Result<usize, Failure> {
        // Another state or other inputs than those of the last end have other accelerations.
        if *s != self.end || sys.has_inputs() {
            self.stages.start(sys, s)?;
        } else {
            self.stages.start_evaluated(s);
        }
        let count = self.stages.step(sys, s, h, t1)?;
        self.stages.deliver();
        Ok(count)
    }
}

/// `to = q (+) d`: `x + d_x`, `R exp(d_theta)`.
pub(crate) fn displace(topology: &Topology, from: &State, d: &[f64], to: &mut State) {
    for (b, body) in topology.bodies.iter().enumerate() {
        let d = &d[topology.dof[b]..topology.dof[b + 1]];
        to.set_x(b, &(from.x(b) + Vector3::from_column_slice(&d[..3])));
        let r = from.r(b);
        if body.kind == BodyKind::Rigid {
            to.set_r(b, &(r + r * exp_increment(&Vector3::from_column_slice(&d[3..]))));
        } else {
            to.set_r(b, &r);
        }
    }
}
