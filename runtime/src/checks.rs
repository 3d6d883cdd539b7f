//! Checks of a run: what a model states about its motion, looked at from the start to the end.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use crate::generated::{self, Point};
use crate::monitor::Monitor;
use crate::simulate::Plan;
use crate::state::State;
use crate::steppers::Stepper;
use crate::system::System;

/// A value for a given time is taken at a step that is nearer than half a step, and a little for rounding.
const HALF_STEP: f64 = 0.5001;

/// Which values of some instances have been recorded: of each, the one at the step nearest to the time that it asks for.
#[derive(Clone, Debug, PartialEq)]
pub struct Recorder {
    /// Distance in time of what has been recorded.
    distance: Vec<f64>,
}

impl Recorder {
    /// Nothing recorded yet of `count` instances.
    #[must_use]
    pub fn new(count: usize) -> Self {
        Self { distance: vec![f64::INFINITY; count] }
    }

    /// Whether instance `k`, which asks for the time `wanted`, takes its value at the time `t` of a run with steps of
    /// length `step` (all s); from then on it only takes a nearer one.
    pub fn takes(&mut self, k: usize, wanted: f64, t: f64, step: f64) -> bool {
        let distance = (wanted - t).abs();
        let is_nearer = distance < self.distance[k] && distance <= HALF_STEP * step;
        if is_nearer {
            self.distance[k] = distance;
        }
        is_nearer
    }

    /// Whether instance `k` has a value.
    #[must_use]
    pub fn is_complete(&self, k: usize) -> bool {
        self.distance[k].is_finite()
    }
}

/// A check that does not hold.
#[derive(Clone, Debug, PartialEq)]
pub struct FailedCheck {
    /// Its number among the checks of the model, in the order of the text.
    pub check: usize,
    /// Name of its instance: `closed`, `low[3]`.
    pub name: String,
    /// Time of the state at which it does not hold, s.
    pub t: f64,
    /// Left and right side of a comparison that is complete, SI units; `a > b` is compared as `b < a`.
    pub sides: Option<(f64, f64)>,
    /// How they are compared.
    pub sign: &'static str,
    /// SI unit of both sides; empty for plain numbers.
    pub unit: &'static str,
    /// Whether it asks for a value at a time that the run did not reach.
    pub is_incomplete: bool,
}

impl fmt::Display for FailedCheck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, t, sides, sign, unit, .. } = self;
        if self.is_incomplete {
            return write!(f, "check `{name}` asks for a time that the run did not reach");
        }
        write!(f, "check `{name}` fails at t = {t} s")?;
        let Some((left, right)) = sides else { return Ok(()) };
        let space = if unit.is_empty() { "" } else { " " };
        write!(f, ": {left:?} {sign} {right:?}{space}{unit} is false")
    }
}

/// What is known of a check beside its values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct About {
    /// Its number in the model.
    pub check: usize,
    /// How it compares its sides.
    pub sign: &'static str,
    /// SI unit of both sides.
    pub unit: &'static str,
}

/// Checks that do not hold at a state.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Failures {
    t: f64,
    list: Vec<FailedCheck>,
}

impl Failures {
    /// Looks at an instance of a check: its truth value, and both sides of a comparison.
    pub fn look<const N: usize>(
        &mut self,
        about: About,
        values: &[f64; N],
        is_complete: bool,
        name: impl Fn() -> String,
    ) {
        if values[0] != 0.0 && is_complete {
            return;
        }
        let About { check, sign, unit } = about;
        let sides = if N == 3 && is_complete { Some((values[1], values[2])) } else { None };
        self.list.push(FailedCheck { check, name: name(), t: self.t, sides, sign, unit, is_incomplete: !is_complete });
    }
}

/// The checks of a generated model with their constants and recorded values.
pub trait CheckSet {
    /// Whether any of them reads energies or momenta of the model.
    const READS_GLOBALS: bool;
    /// Computes what is fixed at the start.
    fn set_start(&mut self, at: &Point<'_>);
    /// Takes the values whose times are nearest to this one.
    fn record(&mut self, at: &Point<'_>, step: f64);
    /// Looks at those that hold throughout a run.
    fn always(&self, at: &Point<'_>, failures: &mut Failures);
    /// Looks at those that are asked for at the end.
    fn once(&self, at: &Point<'_>, failures: &mut Failures);
}

/// A generated model: what its checks need of it.
pub trait Checked: System {
    /// Numbers of its inputs, an array.
    type Signals: AsRef<[f64]>;
    /// Its checks.
    type Set: CheckSet;
    /// Numbers of its inputs.
    fn signals(&self) -> Self::Signals;
    /// Its checks, nothing recorded yet.
    fn check_set(&self) -> Self::Set;
}

/// Watches the `check`s of a generated model during a run, as `mbd run` does: those without `at` and `final` at the start
/// and after every step until the first failure, the others once at the end.
///
/// ```text
/// let mut checks = Checks::new(&mut model, &state, &plan);
/// simulate(&mut model, &mut stepper, &mut state, &plan, |_, model, state, stepper| {
///     checks.see(model, state, stepper);
///     ControlFlow::Continue(())
/// });
/// let failed = checks.finish(&model, &state);
/// ```
#[derive(Clone, Debug)]
pub struct Checks<M: Checked> {
    set: M::Set,
    monitor: Monitor,
    step: f64,
    lambda: Vec<f64>,
    globals: [f64; 9],
    failed: Vec<FailedCheck>,
}

impl<M: Checked> Checks<M> {
    /// Looks at the assembled start of a run.
    #[must_use]
    pub fn new(model: &mut M, start: &State, plan: &Plan) -> Self {
        let (lambda, globals) = generated::observe(model, start);
        let (monitor, set) = (Monitor::new(model.topology()), model.check_set());
        let mut checks = Self { set, monitor, step: plan.step, lambda, globals, failed: Vec::new() };
        let signals = model.signals();
        let at = point(start, &checks.lambda, &checks.globals, signals.as_ref());
        checks.set.set_start(&at);
        checks.look(model, start);
        checks
    }

    /// Looks at the state after a step, with the multipliers and accelerations that the stepper found.
    pub fn see<T: Stepper>(&mut self, model: &mut M, s: &State, stepper: &T) {
        self.lambda.clear();
        self.lambda.extend_from_slice(stepper.lambda());
        if M::Set::READS_GLOBALS {
            self.globals = self.monitor.measure(model, s, stepper.acceleration()).globals();
        }
        self.look(model, s);
    }

    fn look(&mut self, model: &M, s: &State) {
        let signals = model.signals();
        let at = point(s, &self.lambda, &self.globals, signals.as_ref());
        self.set.record(&at, self.step);
        if self.failed.is_empty() {
            let mut failures = Failures { t: s.t, list: Vec::new() };
            self.set.always(&at, &mut failures);
            self.failed.extend(failures.list.into_iter().next());
        }
    }

    /// What does not hold, `s` being the last state that was seen: the first failure during the run, then those of the
    /// checks that are asked for at the end.
    #[must_use]
    pub fn finish(mut self, model: &M, s: &State) -> Vec<FailedCheck> {
        let signals = model.signals();
        let mut failures = Failures { t: s.t, list: Vec::new() };
        self.set.once(&point(s, &self.lambda, &self.globals, signals.as_ref()), &mut failures);
        self.failed.extend(failures.list);
        self.failed
    }
}

fn point<'a>(s: &'a State, lambda: &'a [f64], globals: &'a [f64; 9], signals: &'a [f64]) -> Point<'a> {
    Point { lambda, globals, signals, ..Point::of(s) }
}

#[cfg(test)]
mod tests {
    use alloc::string::ToString;

    use super::*;

    #[test]
    fn the_nearest_step_is_recorded() {
        let mut recorder = Recorder::new(2);
        let taken: Vec<bool> = [0.0, 0.02, 0.04, 0.06].map(|t| recorder.takes(0, 0.045, t, 0.02)).to_vec();
        assert_eq!(taken, [false, false, true, false]);
        // Exactly between two steps, the first one counts.
        assert!(recorder.takes(1, 0.03, 0.02, 0.02) && !recorder.takes(1, 0.03, 0.04, 0.02));
        assert!(recorder.is_complete(0) && recorder.is_complete(1));
        assert!(!Recorder::new(1).takes(0, f64::NAN, 0.0, 1.0));
    }

    #[test]
    fn failures_say_what_was_compared() {
        let mut failures = Failures { t: 0.5, list: Vec::new() };
        let about = About { check: 2, sign: "<", unit: "m" };
        failures.look(about, &[1.0, 0.0, 1.0], true, || "good".into());
        failures.look(about, &[0.0, 2e-11, 1e-11], true, || "closed".into());
        failures.look(About { sign: "", unit: "", ..about }, &[0.0], true, || "both".into());
        failures.look(about, &[1.0, 0.0, 1.0], false, || "late".into());
        let texts: Vec<String> = failures.list.iter().map(ToString::to_string).collect();
        assert_eq!(
            texts,
            [
                "check `closed` fails at t = 0.5 s: 2e-11 < 1e-11 m is false",
                "check `both` fails at t = 0.5 s",
                "check `late` asks for a time that the run did not reach",
            ]
        );
    }
}
