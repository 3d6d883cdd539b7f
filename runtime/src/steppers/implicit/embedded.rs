//! What adaptive steps ask of a Radau method: an estimate of the error, and the motion between the ends of a step.
//!
//! The error is estimated by that of an embedded method of order `s`, the number of stages, which also uses the slope at the start. With `p` the polynomial
//! through the slopes `k_i = (T(d_i)^-1 V_i, A_i)` of the stages, and `g` the last diagonal entry of `L` in `a = L U` (`implicit/exact.rs`),
//!
//! ```text
//! e = g h (k_0 - p(0)),  k_0 = (V0, A0)                  of size h^(s+1)
//! e <- e - M^-1 B^T S^-1 B e                             without derivatives of forces
//! e <- (1 - g h J)^-1 e                                  with them: J of the last stage, constraints included
//! ```
//!
//! What is stiff in `k_0 - p(0)` would otherwise count `g h J` times, and bound the steps as those of an explicit method; `g` makes the matrix one that the
//! iteration has factored. Errors across the constraints are taken out, since the end of the step is put onto them.
//!
//! The step itself errs by less, and the motion by `h^(2s-1)`. The estimate is compared with `0.1 tolerance^((s+1)/(2s-1))`, so that errors of the motion
//! are in proportion to the tolerance that was asked for.
//!
//! Between its ends the chart vector is the polynomial of degree 5 with `d`, `d'` and `d''` of both ends, and `V = T(d) d'`: an error of size `h^6`, where
//! that of the polynomial through the stages is `h^(s+1)`.
//!
//! Sources: E. Hairer and G. Wanner, Solving Ordinary Differential Equations II, 2nd ed. (1996), section IV.8, and their code RADAU.

use alloc::vec::Vec;

use nalgebra::Vector3;

use super::{Collocation, Implicit, add, combine};
use crate::consistent::Failure;
use crate::error::StepError;
use crate::so3::{dexp, dexp_inverse_rate};
use crate::state::State;
use crate::steppers::adaptive::control::{Control, Norm, Rule, Tolerance};
use crate::steppers::adaptive::{Embedded, between};
use crate::steppers::explicit::{chart_rate, check_turns, displace};
use crate::system::System;
use crate::topology::Topology;
use crate::velocity;

/// The methods that estimate their error. Those of Gauss keep what they keep by steps of one size.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Radau {
    /// With two stages.
    Radau3,
    /// With three stages.
    Radau5,
    /// With four stages.
    Radau7,
}

impl Radau {
    /// All methods.
    pub const ALL: [Self; 3] = [Self::Radau3, Self::Radau5, Self::Radau7];

    /// The method with fixed steps.
    #[must_use]
    pub const fn collocation(self) -> Collocation {
        match self {
            Self::Radau3 => Collocation::Radau3,
            Self::Radau5 => Collocation::Radau5,
            Self::Radau7 => Collocation::Radau7,
        }
    }
}

/// Part of the tolerance, to the power above, that the estimate is compared with.
const PART: f64 = 0.1;

/// Part of the tolerance that an iteration may leave.
const LEFT: f64 = 1e-2;

/// Weights of `h d'` and `h^2 d''` of the start, then of `d`, `h d'`, `h^2 d''` of the end.
type Weights = [f64; 5];

/// A method with its workspaces for one model.
#[derive(Clone, Debug)]
pub(crate) struct EmbeddedRadau {
    implicit: Implicit,
    /// Accelerations at start and end of the last step.
    start: Vec<f64>,
    end: Vec<f64>,
    /// Over the last step: of the chart vector, then of velocities.
    change: Vec<f64>,
    /// `d'` and `d''` at the end of the last step.
    end_rate: Vec<f64>,
    end_curvature: Vec<f64>,
    is_fitted: bool,
    /// The error, then what is between the ends.
    scratch: Vec<f64>,
}

impl EmbeddedRadau {
    /// Symbolic phase for a model.
    pub(crate) fn new(topology: &Topology, radau: Radau, tolerance: Tolerance) -> Self {
        let of_velocities = || vec![0.0; topology.nv()];
        Self {
            implicit: Implicit { left: LEFT * tolerance.get(), ..Implicit::new(topology, radau.collocation()) },
            start: of_velocities(),
            end: of_velocities(),
            change: vec![0.0; 2 * topology.nv()],
            end_rate: of_velocities(),
            end_curvature: of_velocities(),
            is_fitted: false,
            scratch: vec![0.0; 2 * topology.nv()],
        }
    }

    /// `d'` and `d''` at the end: `T^-1 V` and `T^-1 A + (T^-1)' V`.
    fn fit(&mut self) {
        let Self { implicit, change, end, end_rate, end_curvature, scratch, .. } = self;
        let topology = &implicit.topology;
        let nv = topology.nv();
        let (d, v) = change.split_at(nv);
        let velocities = &mut scratch[..nv];
        velocities.copy_from_slice(v);
        add(&implicit.v0, velocities);
        chart_rate(topology, d, velocities, end_rate);
        chart_rate(topology, d, end, end_curvature);
        for at in rotations(topology) {
            let part = |list: &[f64]| Vector3::from_column_slice(&list[at..at + 3]);
            let rate = dexp_inverse_rate(&part(d), &part(end_rate), &part(velocities));
            add(rate.as_slice(), &mut end_curvature[at..at + 3]);
        }
        self.is_fitted = true;
    }

    /// The sum of what the weights belong to.
    fn weigh(&mut self, [rate, curvature, to, end_rate, end_curvature]: Weights, at: usize) {
        let nv = self.start.len();
        for k in 0..nv {
            self.scratch[at + k] = rate * self.implicit.v0[k]
                + curvature * self.start[k]
                + to * self.change[k]
                + end_rate * self.end_rate[k]
                + end_curvature * self.end_curvature[k];
        }
    }
}

/// Where the rotations of bodies are among the velocities.
fn rotations(topology: &Topology) -> impl Iterator<Item = usize> + '_ {
    topology.dof.windows(2).filter(|range| range[1] - range[0] == 6).map(|range| range[0] + 3)
}

/// The polynomial of degree 5 by what it has at both ends, and its derivative, at the part `s` of a step of size `h`.
fn hermite(s: f64, h: f64) -> [Weights; 2] {
    let (s2, r) = (s * s, 1.0 - s);
    let s3 = s2 * s;
    let value = [
        h * s * r * r * r * (1.0 + 3.0 * s),
        0.5 * h * h * s2 * r * r * r,
        s3 * (10.0 - 15.0 * s + 6.0 * s2),
        h * s3 * r * (3.0 * s - 4.0),
        0.5 * h * h * s3 * r * r,
    ];
    let slope = [
        r * r * (1.0 + 2.0 * s - 15.0 * s2),
        0.5 * h * s * r * r * (2.0 - 5.0 * s),
        30.0 * s2 * r * r / h,
        s2 * (28.0 * s - 12.0 - 15.0 * s2),
        0.5 * h * s2 * r * (3.0 - 5.0 * s),
    ];
    [value, slope]
}

impl Embedded for EmbeddedRadau {
    fn control(&self, tolerance: Tolerance) -> Control {
        let stages = self.implicit.method.nodes().len();
        let power = (stages + 1) as f64 / (2 * stages - 1) as f64;
        let tolerance = PART * libm::pow(tolerance.get(), power);
        Control::new(stages as u32 + 1, tolerance, Rule::Predictive)
    }

    fn start<S: System + ?Sized>(&mut self, sys: &mut S, s: &State) -> Result<(), Failure> {
        self.evaluate_at(sys, s)?;
        self.implicit.consistent.keep_choice();
        self.deliver();
        self.end.copy_from_slice(&self.implicit.consistent.acceleration);
        self.implicit.acceleration.copy_from_slice(&self.end);
        self.implicit.forget_stages();
        Ok(())
    }

    fn probe<S: System + ?Sized>(&mut self, sys: &mut S, from: &State, h: f64) -> Result<&[f64], Failure> {
        let Implicit { topology, consistent, trial, change, evaluations, .. } = &mut self.implicit;
        velocity::read(topology, from, change);
        for d in &mut *change {
            *d *= h;
        }
        check_turns(topology, change)?;
        trial.clone_from(from);
        trial.t += h;
        displace(topology, from, change, trial);
        consistent.evaluate_kept(sys, trial)?;
        *evaluations += 1;
        consistent.accelerate(sys, trial, 0.0)?;
        Ok(&consistent.acceleration)
    }

    fn go_on(&mut self, from: &State) {
        self.start.copy_from_slice(&self.end);
        self.implicit.end.clone_from(from);
    }

    fn step<S: System + ?Sized>(&mut self, sys: &mut S, from: &State, h: f64, t1: f64) -> Result<usize, Failure> {
        self.is_fitted = false;
        self.implicit.consistent.return_to_choice();
        self.implicit.acceleration.copy_from_slice(&self.start);
        let made = self.implicit.advance(sys, from, h, t1);
        match made {
            // Until it is accepted, the next step begins where this one has.
            Ok(_) => self.implicit.keep_stages(h, 0.0),
            Err(_) => self.implicit.forget_stages(),
        }
        made
    }

    fn errors(&mut self, norm: &Norm, from: &State, h: f64) -> [f64; 2] {
        let Self { implicit, start, change, scratch, .. } = self;
        let Implicit { topology, coefficients, stages, exact, consistent, trial, v0, .. } = implicit;
        between(topology, from, trial, change);
        let (d, v) = scratch.split_at_mut(start.len());
        let factor = coefficients.last_pivot();
        let weights = coefficients.slopes_at(0.0);
        for (part, slopes, known) in [(&mut *d, &stages.rate, &*v0), (&mut *v, &stages.acceleration, &*start)] {
            combine(&weights, slopes, -factor, part);
            for (e, slope) in part.iter_mut().zip(known) {
                *e += factor * slope;
            }
        }
        consistent.project(d);
        consistent.project(v);
        if let Some(exact) = exact {
            exact.filter(h, d, v);
        }
        [norm.mean_square(topology, scratch), 0.0]
    }

    fn is_unstable(&mut self, _norm: &Norm, _h: f64) -> bool {
        false
    }

    fn accept(&mut self, h: f64) {
        self.implicit.consistent.keep_choice();
        self.end.copy_from_slice(&self.implicit.acceleration);
        self.implicit.keep_stages(h, 1.0);
    }

    fn interpolate<S: System + ?Sized>(&mut self, _sys: &mut S, from: &State, h: f64, t: f64) -> Result<(), Failure> {
        if !self.is_fitted {
            self.fit();
        }
        let nv = self.start.len();
        let [value, slope] = hermite((t - from.t) / h, h);
        self.weigh(value, 0);
        self.weigh(slope, nv);
        let Implicit { topology, trial, .. } = &mut self.implicit;
        let (d, v) = self.scratch.split_at_mut(nv);
        check_turns(topology, d)?;
        for at in rotations(topology) {
            let part = |list: &[f64]| Vector3::from_column_slice(&list[at..at + 3]);
            let omega = dexp(&part(d)) * part(v);
            v[at..at + 3].copy_from_slice(omega.as_slice());
        }
        trial.t = t;
        trial.memory.copy_from_slice(&from.memory);
        displace(topology, from, d, trial);
        velocity::write(topology, v, trial);
        Ok(())
    }

    fn close<S: System + ?Sized>(&mut self, sys: &mut S) -> Result<usize, Failure> {
        self.implicit.close(sys)
    }

    fn evaluate_at<S: System + ?Sized>(&mut self, sys: &mut S, s: &State) -> Result<(), Failure> {
        self.implicit.consistent.evaluate(sys, s)?;
        self.implicit.evaluations += 1;
        self.implicit.consistent.accelerate(sys, s, 0.0)
    }

    fn deliver(&mut self) {
        self.implicit.consistent.deliver(&mut self.implicit.lambda);
    }

    fn trial(&mut self) -> &mut State {
        &mut self.implicit.trial
    }

    fn acceleration(&self) -> &[f64] {
        &self.implicit.acceleration
    }

    fn lambda(&self) -> &[f64] {
        &self.implicit.lambda
    }

    fn evaluations(&self) -> u64 {
        self.implicit.evaluations
    }

    fn failed<S: System + ?Sized>(&self, sys: &S, failure: &Failure, h: f64, t1: f64) -> StepError {
        self.implicit.error(sys, *failure, h, t1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Powers of `t` up to the fifth are their own interpolants, with the derivative.
    #[test]
    fn polynomials_of_degree_five_are_met() {
        let h: f64 = 0.7;
        for power in 0..=5 {
            let p = f64::from(power);
            let value = |t: f64| t.powi(power);
            let slope = |t: f64| if power > 0 { p * t.powi(power - 1) } else { 0.0 };
            let curvature = |t: f64| if power > 1 { p * (p - 1.0) * t.powi(power - 2) } else { 0.0 };
            let ends = [slope(0.0), curvature(0.0), value(h) - value(0.0), slope(h), curvature(h)];
            for s in [0.0, 0.2, 0.5, 0.9, 1.0] {
                let [a, b] = hermite(s, h).map(|weights| weights.iter().zip(ends).map(|(w, x)| w * x).sum::<f64>());
                assert!((a + value(0.0) - value(s * h)).abs() < 1e-15, "{power} at {s}: {a}");
                assert!((b - slope(s * h)).abs() < 4e-15, "{power} at {s}: {b}");
            }
        }
    }
}
