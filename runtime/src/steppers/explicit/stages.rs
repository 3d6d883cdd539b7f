//! The stages of a step and its projected end: what fixed and adaptive steps have in common.

use alloc::vec::Vec;

use nalgebra::Vector3;

use super::pair::{Pair, Tableau};
use crate::consistent::{Consistent, Failure};
use crate::error::{StepError, StepErrorKind, largest_rows};
use crate::so3::{dexp_inverse_times, polish};
use crate::state::State;
use crate::system::System;
use crate::topology::{BodyKind, Topology};
use crate::velocity;

/// Largest turn of a body in a step, rad.
const FARTHEST: f64 = core::f64::consts::PI;

/// Accelerations of stages need no refinement where the rows of the constraints are closed to this part: errors of steps are larger.
const STAGE: f64 = 1e-13;

/// Chart vector `d` and velocities `V` of a step one after the other (`2 nv`), a change of these, or their rates.
pub(super) type Motion = Vec<f64>;

/// Workspaces of one method for one model. Only the constructor and errors allocate.
#[derive(Clone, Debug)]
pub(super) struct Stages {
    pub(super) pair: Pair,
    pub(super) topology: Topology,
    pub(super) consistent: Consistent,
    /// The state of the last stage, or of the last projection.
    pub(super) trial: State,
    /// Velocities at the start of the step.
    v0: Vec<f64>,
    /// Where the last stage, or the end, is.
    place: Motion,
    /// Rates at the stages, and at whatever further points the constructor was asked for.
    pub(super) slopes: Vec<Motion>,
    /// Accelerations at the last projection (`nv`; m/s^2, rad/s^2).
    pub(super) acceleration: Vec<f64>,
    /// Multipliers there (`nc`), of least norm where rows are dependent.
    pub(super) lambda: Vec<f64>,
    /// How often accelerations were evaluated.
    pub(super) evaluations: u64,
}

impl Stages {
    /// For a model, with room for the slopes of so many points beside the stages.
    pub(super) fn new(topology: &Topology, pair: Pair, further: usize) -> Self {
        let (nb, nv) = (topology.bodies.len(), topology.nv());
        Self {
            pair,
            consistent: Consistent::new(topology),
            trial: State::new(nb, topology.memory),
            v0: vec![0.0; nv],
            place: vec![0.0; 2 * nv],
            slopes: vec![vec![0.0; 2 * nv]; pair.tableau().b.len() + further],
            acceleration: vec![0.0; nv],
            lambda: vec![0.0; topology.nc()],
            evaluations: 0,
            topology: topology.clone(),
        }
    }

    /// The first stage, at the start `s` of a step.
    pub(super) fn start<S: System + ?Sized>(&mut self, sys: &mut S, s: &State) -> Result<(), Failure> {
        self.evaluate_at(sys, s)?;
        self.start_evaluated(s);
        Ok(())
    }

    /// Accelerations and multipliers at a state on the constraints.
    pub(super) fn evaluate_at<S: System + ?Sized>(&mut self, sys: &mut S, s: &State) -> Result<(), Failure> {
        self.trial.clone_from(s);
        self.consistent.evaluate(sys, &self.trial)?;
        self.evaluations += 1;
        self.consistent.accelerate(sys, &self.trial, 0.0)
    }

    /// The same where accelerations were last evaluated at `s`.
    pub(super) fn start_evaluated(&mut self, s: &State) {
        velocity::read(&self.topology, s, &mut self.v0);
        let (d, v) = self.slopes[0].split_at_mut(self.v0.len());
        d.copy_from_slice(&self.v0);
        v.copy_from_slice(&self.consistent.acceleration);
    }

    /// The same where the accelerations at `s` are those of slope number `k`.
    pub(super) fn start_at(&mut self, s: &State, k: usize) {
        velocity::read(&self.topology, s, &mut self.v0);
        let nv = self.v0.len();
        let (first, others) = self.slopes.split_at_mut(1);
        first[0][..nv].copy_from_slice(&self.v0);
        first[0][nv..].copy_from_slice(&others[k - 1][nv..]);
    }

    /// The stages of a step of size `h` from `s` after the first one, and its projected end at `t1`; how often positions were projected.
    pub(super) fn step<S: System + ?Sized>(
        &mut self,
        sys: &mut S,
        s: &State,
        h: f64,
        t1: f64,
    ) -> Result<usize, Failure> {
        let Tableau { a, b, c, .. } = self.pair.tableau();
        for (k, (row, c)) in a.iter().zip(c).enumerate() {
            self.stage(sys, s, h, k + 1, row, *c)?;
        }
        self.place(s, h, b, t1)?;
        self.close(sys)
    }

    /// Slope number `k`, at the time `c h` of a step, by the coefficients of slopes before it.
    pub(super) fn stage<S: System + ?Sized>(
        &mut self,
        sys: &mut S,
        s: &State,
        h: f64,
        k: usize,
        coefficients: &[f64],
        c: f64,
    ) -> Result<(), Failure> {
        self.place(s, h, coefficients, s.t + c * h)?;
        self.consistent.evaluate_kept(sys, &self.trial)?;
        self.evaluations += 1;
        self.consistent.accelerate(sys, &self.trial, STAGE)?;
        let nv = self.v0.len();
        let (d, v) = self.place.split_at(nv);
        let (rate, acceleration) = self.slopes[k].split_at_mut(nv);
        acceleration.copy_from_slice(&self.consistent.acceleration);
        chart_rate(&self.topology, d, v, rate);
        Ok(())
    }

    /// Puts the state in `trial`, near the constraints, onto them, after its `B` and `S` were evaluated or those of a state nearby; its
    /// accelerations.
    pub(super) fn close<S: System + ?Sized>(&mut self, sys: &mut S) -> Result<usize, Failure> {
        // Steps are long, so that they can afford to repair rotations every time.
        for (body, _) in self.topology.bodies.iter().enumerate().filter(|(_, body)| body.kind == BodyKind::Rigid) {
            self.trial.set_r(body, &polish(&self.trial.r(body)));
        }
        self.evaluations += 1;
        let count = self.consistent.close(sys, &mut self.trial)?;
        let is_finite = |list: &[f64]| list.iter().all(|x| x.is_finite());
        if !is_finite(&self.trial.z) || !is_finite(&self.consistent.acceleration) {
            return Err(Failure::NonFinite);
        }
        self.acceleration.copy_from_slice(&self.consistent.acceleration);
        Ok(count)
    }

    /// `B` and `S` at the state in `trial`.
    pub(super) fn evaluate<S: System + ?Sized>(&mut self, sys: &mut S) -> Result<(), Failure> {
        self.consistent.evaluate_kept(sys, &self.trial)
    }

    /// `sum_j w_j k_j` of the slopes.
    pub(super) fn combine(&self, weights: impl Iterator<Item = f64>, sum: &mut [f64]) {
        sum.fill(0.0);
        for (slope, weight) in self.slopes.iter().zip(weights).filter(|(_, weight)| *weight != 0.0) {
            for (sum, rate) in sum.iter_mut().zip(slope) {
                *sum += weight * rate;
            }
        }
    }

    /// `trial` where the weights of the slopes lead to from `s`.
    fn place(&mut self, s: &State, h: f64, weights: &[f64], t: f64) -> Result<(), Failure> {
        let mut change = core::mem::take(&mut self.place);
        self.combine(weights.iter().copied(), &mut change);
        change.iter_mut().for_each(|x| *x *= h);
        self.place = change;
        self.displace(s, t)
    }

    /// `trial` at the change of chart vector and velocities in `place` from `s`.
    fn displace(&mut self, s: &State, t: f64) -> Result<(), Failure> {
        let Self { topology, trial, place, v0, .. } = self;
        let (d, v) = place.split_at_mut(v0.len());
        for (v, v0) in v.iter_mut().zip(v0) {
            *v += *v0;
        }
        check_turns(topology, d)?;
        trial.t = t;
        trial.memory.copy_from_slice(&s.memory);
        super::displace(topology, s, d, trial);
        velocity::write(topology, v, trial);
        Ok(())
    }

    /// `trial` at the time `t` and a change of chart vector and velocities from `s`, the start of the step, which `change` writes.
    pub(super) fn place_at(&mut self, s: &State, t: f64, change: impl FnOnce(&mut [f64])) -> Result<(), Failure> {
        change(&mut self.place);
        self.displace(s, t)
    }

    /// The slope number `k` at the projected end of the step, whose chart vector is `d`.
    pub(super) fn end_slope(&mut self, k: usize, d: &[f64]) {
        let nv = self.v0.len();
        velocity::read(&self.topology, &self.trial, &mut self.place[nv..]);
        let (rate, acceleration) = self.slopes[k].split_at_mut(nv);
        acceleration.copy_from_slice(&self.acceleration);
        chart_rate(&self.topology, d, &self.place[nv..], rate);
    }

    /// Multipliers and accelerations where they were evaluated last.
    pub(super) fn deliver(&mut self) {
        self.consistent.deliver(&mut self.lambda);
        self.acceleration.copy_from_slice(&self.consistent.acceleration);
    }

    /// What a step says of a failure.
    #[cold]
    pub(super) fn failed<S: System + ?Sized>(&self, sys: &S, failure: &Failure, h: f64, t1: f64) -> StepError {
        let residuals = largest_rows(sys, &self.topology, self.consistent.residual());
        StepError { residuals, ..self.error(failure.kind(sys), h, t1) }
    }

    /// An error that no row of a constraint stands for.
    #[cold]
    pub(super) fn error(&self, kind: StepErrorKind, h: f64, t1: f64) -> StepError {
        StepError {
            kind,
            method: self.pair.name(),
            is_velocity: false,
            time: t1,
            step: h,
            iterations: 0,
            history: Vec::new(),
            residuals: Vec::new(),
        }
    }
}

/// Fails if a chart vector turns a body too far: the chart ends at a whole turn, and long before it is of no use.
pub(crate) fn check_turns(topology: &Topology, d: &[f64]) -> Result<(), Failure> {
    for (body, range) in topology.dof.windows(2).enumerate() {
        if let [_, _, _, x, y, z] = d[range[0]..range[1]]
            && x * x + y * y + z * z > FARTHEST * FARTHEST
        {
            return Err(Failure::Turning(body));
        }
    }
    Ok(())
}

/// `T(d)^-1 V`: the rate of the chart vector `d` at velocities `V`.
pub(crate) fn chart_rate(topology: &Topology, d: &[f64], v: &[f64], rate: &mut [f64]) {
    rate.copy_from_slice(v);
    for range in topology.dof.windows(2).map(|w| w[0]..w[1]).filter(|range| range.len() == 6) {
        let at = range.start + 3;
        let [theta, omega] = [d, v].map(|x| Vector3::from_column_slice(&x[at..at + 3]));
        rate[at..at + 3].copy_from_slice(dexp_inverse_times(&theta, &omega).as_slice());
    }
}
