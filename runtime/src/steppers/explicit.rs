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

use alloc::vec::Vec;

use nalgebra::Vector3;

mod pair;

pub use pair::{Pair, Tableau};

use super::euler::StepReport;
use crate::consistent::{Consistent, Failure};
use crate::error::{StepError, StepErrorKind, largest_rows};
use crate::so3::{dexp_inverse, exp_increment, polish};
use crate::state::State;
use crate::system::System;
use crate::topology::{BodyKind, Topology};
use crate::velocity;

/// Largest turn of a body in a step, rad.
const FARTHEST: f64 = core::f64::consts::PI;

/// One method with its workspaces for one model. Nothing is allocated in [`Explicit::step`] but for errors.
#[derive(Clone, Debug)]
pub struct Explicit {
    pair: Pair,
    topology: Topology,
    consistent: Consistent,
    /// Where the last step has ended, whose accelerations `consistent` holds; at no time (NaN) before the first step and after an error.
    end: State,
    trial: State,
    v0: Vec<f64>,
    v: Vec<f64>,
    d: Vec<f64>,
    /// Slopes of the stages.
    slopes: Vec<Slope>,
    acceleration: Vec<f64>,
    lambda: Vec<f64>,
}

/// Rates of the chart and of velocities at a stage.
#[derive(Clone, Debug)]
struct Slope {
    d: Vec<f64>,
    v: Vec<f64>,
}

impl Explicit {
    /// Symbolic phase for a model.
    #[must_use]
    pub fn new(topology: &Topology, pair: Pair) -> Self {
        let (nb, nv) = (topology.bodies.len(), topology.nv());
        let slope = Slope { d: vec![0.0; nv], v: vec![0.0; nv] };
        Self {
            pair,
            consistent: Consistent::new(topology),
            end: State { t: f64::NAN, ..State::new(nb, topology.memory) },
            trial: State::new(nb, topology.memory),
            v0: vec![0.0; nv],
            v: vec![0.0; nv],
            d: vec![0.0; nv],
            slopes: vec![slope; pair.tableau().b.len()],
            acceleration: vec![0.0; nv],
            lambda: vec![0.0; topology.nc()],
            topology: topology.clone(),
        }
    }

    /// The method.
    #[must_use]
    pub const fn pair(&self) -> Pair {
        self.pair
    }

    /// Multipliers `lambda` at the end of the last step, a force or torque a row (`nc`); of least norm where rows are dependent.
    #[must_use]
    pub fn lambda(&self) -> &[f64] {
        &self.lambda
    }

    /// Acceleration at the end of the last step (`nv`; m/s^2, rad/s^2).
    #[must_use]
    pub fn acceleration(&self) -> &[f64] {
        &self.acceleration
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
                s.z.copy_from_slice(&self.trial.z);
                s.t = t1;
                sys.accept(s);
                self.end.clone_from(s);
                Ok(StepReport { iterations })
            }
            Err(failure) => {
                self.end.t = f64::NAN;
                Err(self.error(sys, &failure, h, t1))
            }
        }
    }

    /// The state at the end of the step in `trial`; how often positions were projected.
    fn advance<S: System + ?Sized>(&mut self, sys: &mut S, s: &State, h: f64, t1: f64) -> Result<usize, Failure> {
        let Tableau { a, b, c } = self.pair.tableau();
        let t0 = s.t;
        velocity::read(&self.topology, s, &mut self.v0);
        // Another state or other inputs than those of the last end have other accelerations.
        if *s != self.end || sys.has_inputs() {
            self.trial.clone_from(s);
            self.consistent.evaluate(sys, &self.trial)?;
            self.consistent.accelerate(sys, &self.trial)?;
        }
        self.slopes[0].d.copy_from_slice(&self.v0);
        self.slopes[0].v.copy_from_slice(&self.consistent.acceleration);
        self.trial.memory.copy_from_slice(&s.memory);
        for (k, (row, c)) in a.iter().zip(c).enumerate() {
            self.place(s, h, row, t0 + c * h)?;
            self.consistent.evaluate_kept(sys, &self.trial)?;
            self.consistent.accelerate(sys, &self.trial)?;
            let slope = &mut self.slopes[k + 1];
            slope.v.copy_from_slice(&self.consistent.acceleration);
            chart_rate(&self.topology, &self.d, &self.v, &mut slope.d);
        }
        self.place(s, h, b, t1)?;
        // Steps are long, so that they can afford to repair rotations every time.
        for (body, _) in self.topology.bodies.iter().enumerate().filter(|(_, body)| body.kind == BodyKind::Rigid) {
            self.trial.set_r(body, &polish(&self.trial.r(body)));
        }
        let count = self.consistent.close_positions(sys, &mut self.trial)?;
        self.consistent.evaluate(sys, &self.trial)?;
        self.consistent.close_velocities(&mut self.trial);
        self.consistent.accelerate(sys, &self.trial)?;
        let is_finite = |list: &[f64]| list.iter().all(|x| x.is_finite());
        if !is_finite(&self.trial.z) || !is_finite(&self.consistent.acceleration) {
            return Err(Failure::NonFinite);
        }
        self.consistent.deliver(&mut self.lambda);
        self.acceleration.copy_from_slice(&self.consistent.acceleration);
        Ok(count)
    }

    /// `trial` at the chart vector and velocities that the weights of the slopes lead to from `s`.
    fn place(&mut self, s: &State, h: f64, weights: &[f64], t: f64) -> Result<(), Failure> {
        let Self { topology, trial, v0, v, d, slopes, .. } = self;
        d.fill(0.0);
        v.fill(0.0);
        for (slope, weight) in slopes.iter().zip(weights).filter(|(_, weight)| **weight != 0.0) {
            for (d, rate) in d.iter_mut().zip(&slope.d) {
                *d += weight * rate;
            }
            for (v, rate) in v.iter_mut().zip(&slope.v) {
                *v += weight * rate;
            }
        }
        for ((d, v), v0) in d.iter_mut().zip(&mut *v).zip(v0) {
            *d *= h;
            *v = *v0 + h * *v;
        }
        // The chart ends at a whole turn, and long before it is of no use.
        for (body, range) in topology.dof.windows(2).enumerate() {
            if let [_, _, _, x, y, z] = d[range[0]..range[1]]
                && x * x + y * y + z * z > FARTHEST * FARTHEST
            {
                return Err(Failure::Turning(body));
            }
        }
        trial.t = t;
        displace(topology, s, d, trial);
        velocity::write(topology, v, trial);
        Ok(())
    }

    #[cold]
    fn error<S: System + ?Sized>(&self, sys: &S, failure: &Failure, h: f64, t1: f64) -> StepError {
        let kind = match failure {
            Failure::NoConvergence => StepErrorKind::NoConvergence,
            Failure::Contradiction => StepErrorKind::Contradiction,
            Failure::NonFinite => StepErrorKind::NonFinite,
            Failure::Turning(body) => StepErrorKind::TurnsTooFar { body: sys.body_name(*body).into() },
            Failure::Singular(element) => StepErrorKind::Singular { place: sys.constraint_name(*element) },
        };
        StepError {
            kind,
            method: self.pair.name(),
            is_velocity: false,
            time: t1,
            step: h,
            iterations: 0,
            history: Vec::new(),
            residuals: largest_rows(sys, &self.topology, self.consistent.residual()),
        }
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

/// `T(d)^-1 V`: the rate of the chart vector `d` at velocities `V`.
fn chart_rate(topology: &Topology, d: &[f64], v: &[f64], rate: &mut [f64]) {
    rate.copy_from_slice(v);
    for range in topology.dof.windows(2).map(|w| w[0]..w[1]).filter(|range| range.len() == 6) {
        let at = range.start + 3;
        let [theta, omega] = [d, v].map(|x| Vector3::from_column_slice(&x[at..at + 3]));
        rate[at..at + 3].copy_from_slice((dexp_inverse(&theta) * omega).as_slice());
    }
}
