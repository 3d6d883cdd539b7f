//! Steps whose size follows an estimate of their error, and the motion at any time between their ends.
//!
//! The method goes ahead by steps of its own. What is asked for, by [`Stepper::step`](crate::steppers::Stepper::step) or as an event, lies inside of one of
//! these steps: it is interpolated and put onto the constraints, so that all three levels are at round-off there as at the ends, and steps do not
//! depend on the times that are asked for.
//!
//! Where inputs are set from outside, a step holds what was set at its start: steps then end at the times that are asked for. The same
//! goes for a state that is not the one delivered last, where the motion begins anew.

use alloc::boxed::Box;
use alloc::vec::Vec;

use nalgebra::Vector3;

pub(crate) mod control;
mod events;
mod outlook;

pub use control::Tolerance;
pub use events::Crossing;
pub use outlook::Outlook;

use super::euler::StepReport;
use super::explicit::{EmbeddedPair, Pair};
use super::implicit::{EmbeddedRadau, Radau};
use crate::consistent::Failure;
use crate::error::{StepError, StepErrorKind};
use crate::so3::log;
use crate::state::State;
use crate::system::System;
use crate::topology::{BodyKind, Topology};
use crate::velocity;
use control::{Control, Norm};

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

/// The methods that estimate the error of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Method {
    /// Explicit, as in [`super::explicit`].
    Pair(Pair),
    /// Implicit, as in [`super::implicit`].
    Radau(Radau),
}

impl Method {
    /// Name as in model files and on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Pair(pair) => pair.name(),
            Self::Radau(radau) => radau.collocation().name(),
        }
    }
}

impl From<Pair> for Method {
    fn from(pair: Pair) -> Self {
        Self::Pair(pair)
    }
}

impl From<Radau> for Method {
    fn from(radau: Radau) -> Self {
        Self::Radau(radau)
    }
}

/// What adaptive steps ask of a method.
pub(crate) trait Embedded {
    /// How the errors of this method lead to the next step.
    fn control(&self, tolerance: Tolerance) -> Control;

    /// Begins anew at a state on the constraints: accelerations and multipliers there.
    fn start<S: System + ?Sized>(&mut self, sys: &mut S, s: &State) -> Result<(), Failure>;

    /// Accelerations where the velocities of the start lead to in the time `h`.
    fn probe<S: System + ?Sized>(&mut self, sys: &mut S, from: &State, h: f64) -> Result<&[f64], Failure>;

    /// The next steps begin at `from`, where the last one has ended or that was begun anew.
    fn go_on(&mut self, from: &State);

    /// A step of size `h` to `t1`, whose end is then in `trial`, with accelerations; how many iterations it took.
    fn step<S: System + ?Sized>(&mut self, sys: &mut S, from: &State, h: f64, t1: f64) -> Result<usize, Failure>;

    /// Mean squares of two estimates of the rate of the error of this step; the second one only damps the first.
    fn errors(&mut self, norm: &Norm, from: &State, h: f64) -> [f64; 2];

    /// Whether the rates that the step has met, not its error, bound its size.
    fn is_unstable(&mut self, norm: &Norm, h: f64) -> bool;

    /// The step of size `h` that was made last counts.
    fn accept(&mut self, h: f64);

    /// The motion at the time `t` of the step of size `h` that was made last, near the constraints, in `trial`.
    fn interpolate<S: System + ?Sized>(&mut self, sys: &mut S, from: &State, h: f64, t: f64) -> Result<(), Failure>;

    /// Puts the state in `trial` onto the constraints, with accelerations; how often positions were moved.
    fn close<S: System + ?Sized>(&mut self, sys: &mut S) -> Result<usize, Failure>;

    /// Accelerations and multipliers at a state on the constraints.
    fn evaluate_at<S: System + ?Sized>(&mut self, sys: &mut S, s: &State) -> Result<(), Failure>;

    /// Multipliers where accelerations were evaluated last, of least norm where rows are dependent.
    fn deliver(&mut self);

    fn trial(&mut self) -> &mut State;

    /// Accelerations that were delivered, or of the last end.
    fn acceleration(&self) -> &[f64];

    /// Multipliers that were delivered.
    fn lambda(&self) -> &[f64];

    /// How often accelerations were evaluated.
    fn evaluations(&self) -> u64;

    /// What a step says of a failure.
    fn failed<S: System + ?Sized>(&self, sys: &S, failure: &Failure, h: f64, t1: f64) -> StepError;
}

/// One of the methods with its workspaces.
#[derive(Clone, Debug)]
enum Steps {
    Pair(Box<EmbeddedPair>),
    Radau(Box<EmbeddedRadau>),
}

/// What all methods can be asked for.
macro_rules! of {
    ($steps:expr, $it:ident => $call:expr) => {
        match $steps {
            Steps::Pair($it) => $call,
            Steps::Radau($it) => $call,
        }
    };
}

/// Accelerations and multipliers at a state.
#[derive(Clone, Debug)]
struct Solution {
    acceleration: Vec<f64>,
    lambda: Vec<f64>,
}

/// A method with steps that a tolerance chooses. Nothing is allocated in steps but for errors, and for the matrices of a stiff model in the first step of
/// an implicit method that needs them.
#[derive(Clone, Debug)]
pub struct Adaptive {
    method: Method,
    steps: Steps,
    topology: Topology,
    tolerance: Tolerance,
    control: Control,
    norm: Norm,
    stiffness: Stiffness,
    /// Start and end of the last step; the same before the first one.
    from: State,
    to: State,
    /// Accelerations and multipliers at the end, the latter known where they have been asked for.
    end: Solution,
    has_lambda: bool,
    /// What was delivered last; at no time (NaN) where the next step begins anew.
    delivered: State,
    solution: Solution,
    /// Time of the last event.
    event: f64,
    /// The model is not evaluated later, unless a later time is asked for, s.
    until: f64,
    /// No step is longer, s.
    longest: f64,
    velocities: Vec<f64>,
    statistics: Statistics,
}

impl Adaptive {
    /// Symbolic phase for a model.
    #[must_use]
    pub fn new(topology: &Topology, method: impl Into<Method>, tolerance: Tolerance) -> Self {
        let nowhere = State { t: f64::NAN, ..State::new(topology.bodies.len(), topology.memory) };
        let nothing = Solution { acceleration: vec![0.0; topology.nv()], lambda: vec![0.0; topology.nc()] };
        let method = method.into();
        let steps = match method {
            Method::Pair(pair) => Steps::Pair(Box::new(EmbeddedPair::new(topology, pair))),
            Method::Radau(radau) => Steps::Radau(Box::new(EmbeddedRadau::new(topology, radau, tolerance))),
        };
        Self {
            method,
            control: of!(&steps, it => it.control(tolerance)),
            steps,
            tolerance,
            norm: Norm::new(topology),
            stiffness: Stiffness::default(),
            from: nowhere.clone(),
            to: nowhere.clone(),
            end: nothing.clone(),
            has_lambda: false,
            delivered: nowhere,
            solution: nothing,
            event: f64::NAN,
            until: f64::INFINITY,
            longest: f64::INFINITY,
            velocities: vec![0.0; topology.nv()],
            statistics: Statistics { steps: 0, rejected: 0, evaluations: 0, shortest: f64::INFINITY, longest: 0.0 },
            topology: topology.clone(),
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
    pub const fn method(&self) -> Method {
        self.method
    }

    /// What the error of a step may be.
    #[must_use]
    pub const fn tolerance(&self) -> Tolerance {
        self.tolerance
    }

    /// What the steps have cost so far.
    #[must_use]
    pub fn statistics(&self) -> Statistics {
        Statistics { evaluations: of!(&self.steps, it => it.evaluations()), ..self.statistics }
    }

    /// Multipliers `lambda` at the state delivered last, a force or torque a row (`nc`); of least norm where rows are dependent.
    #[must_use]
    pub fn lambda(&self) -> &[f64] {
        &self.solution.lambda
    }

    /// Acceleration at the state delivered last (`nv`; m/s^2, rad/s^2).
    #[must_use]
    pub fn acceleration(&self) -> &[f64] {
        &self.solution.acceleration
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
    fn approach<S: System + ?Sized>(&mut self, sys: &mut S, s: &State, t1: f64) -> Result<(), StepError> {
        let interval = t1 - s.t;
        if interval < 0.0 || interval.is_nan() {
            return Err(self.error(StepErrorKind::Backwards, interval, t1));
        }
        let goes_on = *s == self.delivered;
        if goes_on && !sys.has_inputs() {
            return Ok(());
        }
        self.delivered.t = f64::NAN;
        self.from.clone_from(s);
        self.to.clone_from(s);
        of!(&mut self.steps, it => it.start(sys, s)).map_err(|failure| self.failed(sys, &failure, interval, s.t))?;
        self.keep_acceleration();
        self.keep_lambda();
        if !self.end.acceleration.iter().all(|a| a.is_finite()) {
            return Err(self.failed(sys, &Failure::NonFinite, interval, s.t));
        }
        if !goes_on {
            self.stiffness = Stiffness::default();
            self.first_step(sys, interval);
        }
        Ok(())
    }

    /// Chooses the first step by the rates of the first three derivatives of the motion; where there are none, it is `interval` (s).
    fn first_step<S: System + ?Sized>(&mut self, sys: &mut S, interval: f64) {
        let Self { steps, topology, norm, velocities, from, end, control, .. } = self;
        norm.measure(topology, from);
        velocity::read(topology, from, velocities);
        let mut rate = norm.rate(topology, velocities, 1).max(norm.rate(topology, &end.acceleration, 2));
        if rate <= 0.0 {
            control.h = interval;
            return;
        }
        let h = (0.01 / rate).min(self.until.max(from.t + interval) - from.t);
        // Where the model cannot be evaluated there, it says nothing.
        if let Ok(ahead) = of!(steps, it => it.probe(sys, from, h)) {
            for ((jerk, later), now) in velocities.iter_mut().zip(ahead).zip(&end.acceleration) {
                *jerk = (later - now) / h;
            }
            let third = norm.rate(topology, velocities, 3);
            rate = if third.is_finite() { rate.max(third) } else { rate };
        }
        control.start(rate);
    }

    /// One step from the end of the last one, on the way to `t1` since step number `first`; how often positions were projected.
    fn advance<S: System + ?Sized>(&mut self, sys: &mut S, t1: f64, first: u64) -> Result<usize, StepError> {
        let last = if sys.has_inputs() { t1 } else { self.until.max(t1) };
        self.from.clone_from(&self.to);
        of!(&mut self.steps, it => it.go_on(&self.from));
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
            let made = of!(&mut self.steps, it => it.step(sys, &self.from, h, end));
            let error = if made.is_ok() { self.measure(h) } else { f64::INFINITY };
            if let (Ok(count), true) = (&made, error <= 1.0) {
                self.accept(sys, h, error, is_cut);
                self.has_lambda = false;
                if end == t1 {
                    of!(&mut self.steps, it => it.deliver());
                    self.keep_lambda();
                }
                if self.stiffness.is_found() {
                    return Err(self.error(StepErrorKind::Stiff, h, end));
                }
                if self.statistics.steps - first >= MOST_STEPS {
                    return Err(self.error(StepErrorKind::TooManySteps { steps: MOST_STEPS }, h, end));
                }
                self.delivered.t = delivered;
                return Ok(*count);
            }
            self.statistics.rejected += 1;
            match made {
                Err(Failure::NoConvergence) => self.control.halve(h),
                Ok(_) | Err(_) => self.control.reject(h, error),
            }
            if self.control.h <= SHORTEST * planned.max(end.abs()) {
                return Err(match made {
                    Ok(_) => self.error(StepErrorKind::TooShort, h, end),
                    Err(failure) => self.failed(sys, &failure, h, end),
                });
            }
        }
    }

    /// The error of the step that was made, in parts of the tolerance.
    fn measure(&mut self, h: f64) -> f64 {
        let Self { steps, norm, from, control, .. } = self;
        norm.set(from, of!(&mut *steps, it => it.trial()), h);
        control.error(h, of!(steps, it => it.errors(norm, from, h)))
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
            self.stiffness.see(of!(&mut self.steps, it => it.is_unstable(&self.norm, h)));
        }
        of!(&mut self.steps, it => it.accept(h));
        self.to.clone_from(of!(&mut self.steps, it => it.trial()));
        sys.accept(&mut self.to);
        self.keep_acceleration();
    }

    /// The accelerations that were evaluated last are those of the end.
    fn keep_acceleration(&mut self) {
        self.end.acceleration.copy_from_slice(of!(&self.steps, it => it.acceleration()));
    }

    /// The multipliers that were delivered are those of the end.
    fn keep_lambda(&mut self) {
        self.end.lambda.copy_from_slice(of!(&self.steps, it => it.lambda()));
        self.has_lambda = true;
    }

    /// The motion at a time `t` of the last step, near the constraints.
    fn interpolate<S: System + ?Sized>(&mut self, sys: &mut S, t: f64) -> Result<&State, Failure> {
        let Self { steps, from, to, .. } = self;
        of!(&mut *steps, it => it.interpolate(sys, from, to.t - from.t, t))?;
        Ok(of!(steps, it => it.trial()))
    }

    /// What a failure between the ends of steps is for the caller; the motion then begins anew.
    #[cold]
    fn give_up<S: System + ?Sized>(&mut self, sys: &S, failure: &Failure, t: f64) -> StepError {
        self.delivered.t = f64::NAN;
        self.failed(sys, failure, t - self.from.t, t)
    }

    /// Where the last step has ended, s.
    const fn front(&self) -> f64 {
        self.to.t
    }

    /// Puts `s` on the constraints at a time `t` of the last step, with accelerations and multipliers; how often positions were projected.
    fn deliver<S: System + ?Sized>(&mut self, sys: &mut S, s: &mut State, t: f64) -> Result<usize, StepError> {
        let mut iterations = 0;
        if t == self.to.t {
            if !self.has_lambda {
                let evaluated = of!(&mut self.steps, it => it.evaluate_at(sys, &self.to));
                evaluated.map_err(|failure| self.give_up(sys, &failure, t))?;
                of!(&mut self.steps, it => it.deliver());
                self.keep_lambda();
            }
            self.solution.clone_from(&self.end);
            s.clone_from(&self.to);
        } else {
            let placed = self.interpolate(sys, t).map(drop);
            let closed = placed.and_then(|()| of!(&mut self.steps, it => it.close(sys)));
            iterations = closed.map_err(|failure| self.give_up(sys, &failure, t))?;
            of!(&mut self.steps, it => {
                it.deliver();
                sys.accept(it.trial());
                s.clone_from(it.trial());
                self.solution.acceleration.copy_from_slice(it.acceleration());
                self.solution.lambda.copy_from_slice(it.lambda());
            });
        }
        self.delivered.clone_from(s);
        Ok(iterations)
    }

    #[cold]
    fn failed<S: System + ?Sized>(&self, sys: &S, failure: &Failure, h: f64, t1: f64) -> StepError {
        of!(&self.steps, it => it.failed(sys, failure, h, t1))
    }

    /// An error that no row of a constraint stands for.
    #[cold]
    fn error(&self, kind: StepErrorKind, h: f64, t1: f64) -> StepError {
        StepError {
            kind,
            method: self.method.name(),
            is_velocity: false,
            time: t1,
            step: h,
            iterations: 0,
            history: Vec::new(),
            residuals: Vec::new(),
        }
    }
}

/// The change of chart vector and velocities from one state to another: `x1 - x0`, `log(R0^T R1)`, `V1 - V0`.
pub(crate) fn between(topology: &Topology, from: &State, to: &State, change: &mut [f64]) {
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
