//! Steps whose size follows an estimate of their error, and the motion at any time between their ends.
//!
//! The method goes ahead by steps of its own. What is asked for, by [`Stepper::step`](crate::steppers::Stepper::step) or as an event, lies inside of one of
//! these steps: it is interpolated and put onto the constraints, so that all three levels are at round-off there as at the ends, and steps do not
//! depend on the times that are asked for.
//!
//! Where inputs are set from outside, a step holds what was set at its start: steps then end at the times that are asked for. The same
//! goes for a state that is not the one delivered last, where the motion begins anew.

use alloc::vec::Vec;

use nalgebra::Vector3;

use super::control::{Control, Norm, Tolerance};
use super::dense::Interpolant;
use super::pair::{Pair, Tableau};
use super::stages::{Motion, Stages};
use crate::consistent::Failure;
use crate::error::{StepError, StepErrorKind};
use crate::so3::log;
use crate::state::State;
use crate::steppers::euler::StepReport;
use crate::system::System;
use crate::topology::{BodyKind, Topology};

/// A step counts as the last one if it leaves less than this part of itself.
const REMAINDER: f64 = 0.01;

/// Steps are longer than this part of the time that they lead to, and of the step that was to be made first.
const SHORTEST: f64 = 16.0 * f64::EPSILON;

/// Steps from one output to the next at most.
const MOST_STEPS: u64 = 1_000_000;

/// Stiffness is looked for every so many steps, and from then on until so many steps in a row show none; it is found by so many that do.
const LOOK_EVERY: u64 = 1000;
const CALM: u32 = 6;
const STIFF: u32 = 15;

/// What adaptive steps have cost.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Statistics {
    /// Steps made.
    pub steps: u64,
    /// Steps made in vain, since their error was too large or they failed.
    pub rejected: u64,
    /// Evaluations of accelerations, those of outputs and rejected steps included.
    pub evaluations: u64,
    /// Size of the shortest step that was not cut off by an end, s; infinite if there was none.
    pub shortest: f64,
    /// Size of the longest step, s; zero if there was none.
    pub longest: f64,
}

/// A method of [`super::Explicit`] with steps that a tolerance chooses. Nothing is allocated in steps but for errors.
#[derive(Clone, Debug)]
pub struct Adaptive {
    stages: Stages,
    tolerance: Tolerance,
    control: Control,
    norm: Norm,
    stiffness: Stiffness,
    interpolant: Interpolant,
    /// Whether it is that of the last step.
    is_fitted: bool,
    /// Start and end of the last step; the same before the first one.
    from: State,
    to: State,
    /// Multipliers at the end; known where it has been asked for.
    lambda: Vec<f64>,
    has_lambda: bool,
    /// What was delivered last; at no time (NaN) where the next step begins anew.
    delivered: State,
    /// Time of the last event.
    pub(super) event: f64,
    /// The model is not evaluated later, unless a later time is asked for, s.
    until: f64,
    /// No step is longer, s.
    longest: f64,
    change: Motion,
    scratch: Motion,
    statistics: Statistics,
}

impl Adaptive {
    /// Symbolic phase for a model.
    #[must_use]
    pub fn new(topology: &Topology, pair: Pair, tolerance: Tolerance) -> Self {
        let nowhere = State { t: f64::NAN, ..State::new(topology.bodies.len(), topology.memory) };
        let stages = Stages::new(topology, pair, 1 + pair.tableau().dense.a.len());
        Self {
            tolerance,
            control: Control::new(pair, tolerance),
            norm: Norm::new(topology),
            stiffness: Stiffness::default(),
            interpolant: Interpolant::new(&stages),
            is_fitted: false,
            from: nowhere.clone(),
            to: nowhere.clone(),
            lambda: vec![0.0; topology.nc()],
            has_lambda: false,
            delivered: nowhere,
            event: f64::NAN,
            until: f64::INFINITY,
            longest: f64::INFINITY,
            change: vec![0.0; 2 * topology.nv()],
            scratch: vec![0.0; 2 * topology.nv()],
            statistics: Statistics { steps: 0, rejected: 0, evaluations: 0, shortest: f64::INFINITY, longest: 0.0 },
            stages,
        }
    }

    /// The same for a run that ends at a time (s): no step goes beyond it.
    #[must_use]
    pub fn until(self, until: f64) -> Self {
        Self { until, ..self }
    }

    /// The same with steps of at most `longest` (s, above zero): where the motion is so simple that errors do not bound the steps, but events,
    /// or pulses of a force, must not be missed.
    #[must_use]
    pub fn longest(self, longest: f64) -> Self {
        Self { longest, ..self }
    }

    /// The method.
    #[must_use]
    pub const fn pair(&self) -> Pair {
        self.stages.pair
    }

    /// What the error of a step may be.
    #[must_use]
    pub const fn tolerance(&self) -> Tolerance {
        self.tolerance
    }

    /// What the steps have cost so far.
    #[must_use]
    pub const fn statistics(&self) -> Statistics {
        Statistics { evaluations: self.stages.evaluations, ..self.statistics }
    }

    /// Multipliers `lambda` at the state delivered last, a force or torque a row (`nc`); of least norm where rows are dependent.
    #[must_use]
    pub fn lambda(&self) -> &[f64] {
        &self.stages.lambda
    }

    /// Acceleration at the state delivered last (`nv`; m/s^2, rad/s^2).
    #[must_use]
    pub fn acceleration(&self) -> &[f64] {
        &self.stages.acceleration
    }

    /// Takes `s` to the time `t1` (s, not before that of `s`), by as many steps as the tolerance asks for.
    ///
    /// # Errors
    /// [`StepError`]; the state is then as before the call.
    pub fn step<S: System + ?Sized>(&mut self, sys: &mut S, s: &mut State, t1: f64) -> Result<StepReport, StepError> {
        self.approach(sys, s, t1)?;
        let mut iterations = 0;
        let first = self.statistics.steps;
        while self.to.t < t1 {
            iterations += self.advance(sys, t1, first)?;
        }
        iterations += self.deliver(sys, s, t1)?;
        Ok(StepReport { iterations })
    }

    /// Begins anew at `s`, unless the motion goes on from there.
    pub(super) fn approach<S: System + ?Sized>(&mut self, sys: &mut S, s: &State, t1: f64) -> Result<(), StepError> {
        let interval = t1 - s.t;
        if interval < 0.0 || interval.is_nan() {
            return Err(self.stages.error(StepErrorKind::Backwards, interval, t1));
        }
        let goes_on = *s == self.delivered;
        if goes_on && !sys.has_inputs() {
            return Ok(());
        }
        self.delivered.t = f64::NAN;
        self.from.clone_from(s);
        self.to.clone_from(s);
        self.is_fitted = false;
        self.stages.start(sys, s).map_err(|failure| self.stages.failed(sys, &failure, interval, s.t))?;
        self.stages.deliver();
        if !self.stages.acceleration.iter().all(|a| a.is_finite()) {
            return Err(self.stages.failed(sys, &Failure::NonFinite, interval, s.t));
        }
        self.keep_lambda();
        let (stages, others) = self.stages.slopes.split_at_mut(self.stages.pair.tableau().b.len());
        others[0].copy_from_slice(&stages[0]);
        if !goes_on {
            self.stiffness = Stiffness::default();
            self.first_step(sys, interval);
        }
        Ok(())
    }

    /// Chooses the first step by the rates of the first three derivatives of the motion; where there are none, it is `interval` (s).
    fn first_step<S: System + ?Sized>(&mut self, sys: &mut S, interval: f64) {
        let Self { stages, norm, change, from, control, .. } = self;
        let nv = stages.topology.nv();
        norm.measure(&stages.topology, from);
        let (v, a) = stages.slopes[0].split_at(nv);
        let mut rate = norm.rate(&stages.topology, v, 1).max(norm.rate(&stages.topology, a, 2));
        if rate <= 0.0 {
            control.h = interval;
            return;
        }
        let h = (0.01 / rate).min(self.until.max(from.t + interval) - from.t);
        // Where the model cannot be evaluated there, it says nothing.
        if stages.stage(sys, from, h, 1, &[1.0], 1.0).is_ok() {
            for (k, change) in change[..nv].iter_mut().enumerate() {
                *change = (stages.slopes[1][nv + k] - stages.slopes[0][nv + k]) / h;
            }
            let third = norm.rate(&stages.topology, &change[..nv], 3);
            rate = if third.is_finite() { rate.max(third) } else { rate };
        }
        control.start(rate);
    }

    /// One step from the end of the last one, on the way to `t1` since step number `first`; how often positions were projected.
    pub(super) fn advance<S: System + ?Sized>(&mut self, sys: &mut S, t1: f64, first: u64) -> Result<usize, StepError> {
        let last = if sys.has_inputs() { t1 } else { self.until.max(t1) };
        self.from.clone_from(&self.to);
        self.is_fitted = false;
        self.stages.start_at(&self.from, self.stages.pair.tableau().b.len());
        if self.control.h <= 0.0 {
            // A motion at rest has been asked for no time yet.
            self.control.h = t1 - self.from.t;
        }
        self.control.h = self.control.h.min(self.longest);
        let (t, planned) = (self.from.t, self.control.h);
        let delivered = core::mem::replace(&mut self.delivered.t, f64::NAN);
        loop {
            let is_near = t + (1.0 + REMAINDER) * self.control.h >= last && last - t <= self.longest;
            let is_cut = is_near || t + self.control.h >= last;
            let (h, end) = if is_cut { (last - t, last) } else { (self.control.h, t + self.control.h) };
            let made = self.stages.step(sys, &self.from, h, end);
            let error = if made.is_ok() { self.measure(h) } else { f64::INFINITY };
            if let (Ok(count), true) = (&made, error <= 1.0) {
                self.accept(sys, h, error, is_cut);
                self.has_lambda = false;
                if end == t1 {
                    self.stages.deliver();
                    self.keep_lambda();
                }
                if self.stiffness.is_found() {
                    return Err(self.stages.error(StepErrorKind::Stiff, h, end));
                }
                if self.statistics.steps - first >= MOST_STEPS {
                    return Err(self.stages.error(StepErrorKind::TooManySteps { steps: MOST_STEPS }, h, end));
                }
                self.delivered.t = delivered;
                return Ok(*count);
            }
            self.statistics.rejected += 1;
            self.control.reject(h, error);
            if self.control.h <= SHORTEST * planned.max(end.abs()) {
                return Err(match made {
                    Ok(_) => self.stages.error(StepErrorKind::TooShort, h, end),
                    Err(failure) => self.stages.failed(sys, &failure, h, end),
                });
            }
        }
    }

    /// The error of the step that was made, in parts of the tolerance; with it, the change over the step and the slope at its end.
    fn measure(&mut self, h: f64) -> f64 {
        let Self { stages, norm, change, scratch, from, control, .. } = self;
        let Tableau { b, errors, .. } = stages.pair.tableau();
        between(&stages.topology, from, &stages.trial, change);
        stages.end_slope(b.len(), &change[..stages.topology.nv()]);
        norm.set(from, &stages.trial, h);
        let mut squares = [0.0; 2];
        for (square, weights) in squares.iter_mut().zip(errors) {
            stages.combine(weights.iter().copied(), scratch);
            *square = norm.mean_square(&stages.topology, scratch);
        }
        control.error(h, squares)
    }

    /// Goes to the end of the step that was measured.
    fn accept<S: System + ?Sized>(&mut self, sys: &mut S, h: f64, error: f64, is_cut: bool) {
        let planned = self.control.h;
        self.control.accept(h, error);
        let Statistics { steps, shortest, longest, .. } = &mut self.statistics;
        *steps += 1;
        *longest = longest.max(h);
        if is_cut {
            // What is left of an interval says nothing against the step that was to be made.
            self.control.h = self.control.h.max(planned);
        } else {
            *shortest = shortest.min(h);
        }
        if self.stiffness.looks(*steps) {
            let size = self.instability(h);
            self.stiffness.see(size > self.stages.pair.stability());
        }
        self.to.clone_from(&self.stages.trial);
        sys.accept(&mut self.to);
    }

    /// The multipliers that were delivered are those of the end.
    fn keep_lambda(&mut self) {
        self.lambda.copy_from_slice(&self.stages.lambda);
        self.has_lambda = true;
    }

    /// Size of `h` times the fastest rate that the step has met: the change of the slope from the last stage to the end, by that of the motion, both at
    /// the time of the end.
    fn instability(&mut self, h: f64) -> f64 {
        let Self { stages, norm, change, scratch, .. } = self;
        let Tableau { a, b, .. } = stages.pair.tableau();
        stages.combine(a[a.len() - 1].iter().copied(), scratch);
        for (scratch, change) in scratch.iter_mut().zip(change) {
            *scratch = *change - h * *scratch;
        }
        let motion = norm.mean_square(&stages.topology, scratch);
        for ((scratch, end), stage) in scratch.iter_mut().zip(&stages.slopes[b.len()]).zip(&stages.slopes[b.len() - 1])
        {
            *scratch = end - stage;
        }
        let slope = norm.mean_square(&stages.topology, scratch);
        if motion > 0.0 { h * libm::sqrt(slope / motion) } else { 0.0 }
    }

    /// The motion at a time `t` of the last step, near the constraints, in `trial` of the stages.
    pub(super) fn interpolate<S: System + ?Sized>(&mut self, sys: &mut S, t: f64) -> Result<&State, Failure> {
        let Self { stages, interpolant, from, to, .. } = self;
        let h = to.t - from.t;
        if !self.is_fitted {
            let Tableau { b, dense, .. } = stages.pair.tableau();
            for (k, (row, c)) in dense.a.iter().zip(dense.c).enumerate() {
                stages.stage(sys, from, h, b.len() + 1 + k, row, *c)?;
            }
            interpolant.fit(stages, h, &self.change);
            self.is_fitted = true;
        }
        stages.place_at(from, t, |change| interpolant.change((t - from.t) / h, change))?;
        Ok(&stages.trial)
    }

    /// What a failure between the ends of steps is for the caller; the motion then begins anew.
    #[cold]
    pub(super) fn give_up<S: System + ?Sized>(&mut self, sys: &S, failure: &Failure, t: f64) -> StepError {
        self.delivered.t = f64::NAN;
        self.stages.failed(sys, failure, t - self.from.t, t)
    }

    /// Where the last step has ended, s.
    pub(super) const fn front(&self) -> f64 {
        self.to.t
    }

    /// Puts `s` on the constraints at a time `t` of the last step, with accelerations and multipliers; how often positions were projected.
    pub(super) fn deliver<S: System + ?Sized>(
        &mut self,
        sys: &mut S,
        s: &mut State,
        t: f64,
    ) -> Result<usize, StepError> {
        let mut iterations = 0;
        if t == self.to.t && !self.has_lambda {
            let evaluated = self.stages.evaluate_at(sys, &self.to);
            evaluated.map_err(|failure| self.give_up(sys, &failure, t))?;
            self.stages.deliver();
            self.keep_lambda();
        }
        if t == self.to.t {
            let Stages { pair, trial, acceleration, lambda, slopes, .. } = &mut self.stages;
            let end = &slopes[pair.tableau().b.len()];
            acceleration.copy_from_slice(&end[end.len() / 2..]);
            lambda.copy_from_slice(&self.lambda);
            trial.clone_from(&self.to);
        } else {
            let placed = self.interpolate(sys, t).map(drop).and_then(|()| self.stages.evaluate(sys));
            let closed = placed.and_then(|()| self.stages.close(sys));
            iterations = closed.map_err(|failure| self.give_up(sys, &failure, t))?;
            self.stages.deliver();
            sys.accept(&mut self.stages.trial);
        }
        s.clone_from(&self.stages.trial);
        self.delivered.clone_from(s);
        Ok(iterations)
    }
}

/// The change of chart vector and velocities from one state to another: `x1 - x0`, `log(R0^T R1)`, `V1 - V0`.
fn between(topology: &Topology, from: &State, to: &State, change: &mut [f64]) {
    let (d, v) = change.split_at_mut(topology.nv());
    for (b, body) in topology.bodies.iter().enumerate() {
        let at = topology.dof[b];
        let mut put = |at: usize, d_part: Vector3<f64>, v_part: Vector3<f64>| {
            d[at..at + 3].copy_from_slice(d_part.as_slice());
            v[at..at + 3].copy_from_slice(v_part.as_slice());
        };
        put(at, to.x(b) - from.x(b), to.v(b) - from.v(b));
        if body.kind == BodyKind::Rigid {
            put(at + 3, log(&from.r(b).tr_mul(&to.r(b))), to.omega(b) - from.omega(b));
        }
    }
}

/// Whether steps are bound by stability, not by the tolerance. Source: Hairer, Norsett and Wanner as of [`super::control`], codes DOPRI5 and DOP853.
#[derive(Clone, Debug, Default)]
struct Stiffness {
    stiff: u32,
    calm: u32,
}

impl Stiffness {
    /// Whether step number `n` is to be looked at.
    const fn looks(&self, n: u64) -> bool {
        self.stiff > 0 || n.is_multiple_of(LOOK_EVERY)
    }

    const fn see(&mut self, is_stiff: bool) {
        if is_stiff {
            (self.stiff, self.calm) = (self.stiff + 1, 0);
        } else {
            self.calm += 1;
            if self.calm == CALM {
                self.stiff = 0;
            }
        }
    }

    const fn is_found(&self) -> bool {
        self.stiff >= STIFF
    }
}
