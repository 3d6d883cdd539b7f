//! The time loop: how many steps there are, and a driver that shows each state to an observer.

use core::ops::ControlFlow;

use crate::error::StepError;
use crate::state::State;
use crate::steppers::Stepper;
use crate::system::System;

/// A duration counts as a whole number of steps if it differs from one by less than this part of a step: decimal
/// numbers of the user do not divide exactly.
const WHOLE: f64 = 1e-6;

/// Outputs of a run whose steps a tolerance chooses, where nobody says how many.
const OUTPUTS: f64 = 1000.0;

/// Equidistant steps, the last one possibly shorter; or the outputs of a stepper that chooses its steps between them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Plan {
    /// Step size, s.
    pub step: f64,
    /// Number of steps, the shortened one included.
    pub steps: u64,
    /// Size of the last step where it is shorter than the others, and the time it reaches, s.
    pub shortened: Option<(f64, f64)>,
}

impl Plan {
    /// Steps of size `step` from 0 to `until` (both s); `None` unless `step > 0` and `until >= 0` are finite.
    #[must_use]
    pub fn new(step: f64, until: f64) -> Option<Self> {
        let count = until / step;
        if !(step > 0.0 && until >= 0.0 && count.is_finite() && step.is_finite()) {
            return None;
        }
        let whole = libm::round(count);
        if (count - whole).abs() <= WHOLE {
            return Some(Self { step, steps: whole as u64, shortened: None });
        }
        let full = libm::floor(count);
        Some(Self { step, steps: full as u64 + 1, shortened: Some((until - full * step, until)) })
    }

    /// Outputs every so many seconds, or else a thousand, for a stepper that chooses its steps between them; `None` as of [`Plan::new`].
    #[must_use]
    pub fn outputs(every: Option<f64>, until: f64) -> Option<Self> {
        Self::new(every.unwrap_or(if until > 0.0 { until / OUTPUTS } else { 1.0 }), until)
    }

    /// Time after step `n`, s: `n h` rounded once, never a sum.
    #[must_use]
    pub fn time(&self, n: u64) -> f64 {
        match self.shortened {
            Some((_, until)) if n == self.steps => until,
            _ => n as f64 * self.step,
        }
    }

    /// Size of step `n` (counted from 1), s.
    #[must_use]
    pub fn size(&self, n: u64) -> f64 {
        match self.shortened {
            Some((size, _)) if n == self.steps => size,
            _ => self.step,
        }
    }
}

/// What a run did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Steps done.
    pub steps: u64,
    /// Newton iterations of all steps.
    pub iterations: u64,
    /// Whether the observer ended the run before the plan was done.
    pub stopped: bool,
}

/// Steps through a plan; `observe(n, system, state, stepper)` sees every state after step `n` and may end the run.
/// The initial state is the caller's to look at.
///
/// A step that fails ends the run too: its error comes with the summary, and `s` is the last good state.
pub fn simulate<S: System + ?Sized, T: Stepper>(
    sys: &mut S,
    stepper: &mut T,
    s: &mut State,
    plan: &Plan,
    observe: impl FnMut(u64, &mut S, &State, &T) -> ControlFlow<()>,
) -> (Summary, Result<(), StepError>) {
    simulate_controlled(sys, stepper, s, plan, |_, _| {}, observe)
}

/// [`simulate`] with a controller: `control(system, state)` sees the state before each step and sets the inputs of the
/// system, `model.inputs_mut().thrust = ...` on a generated one.
///
/// The step from `t_n` to `t_n + h` holds what was set at `t_n` (a zero-order hold), so that a controller that follows the
/// state acts up to `h` late: the error of the controlled motion is of order 1 in `h`, whatever the stepper.
pub fn simulate_controlled<S: System + ?Sized, T: Stepper>(
    sys: &mut S,
    stepper: &mut T,
    s: &mut State,
    plan: &Plan,
    mut control: impl FnMut(&mut S, &State),
    mut observe: impl FnMut(u64, &mut S, &State, &T) -> ControlFlow<()>,
) -> (Summary, Result<(), StepError>) {
    let mut summary = Summary::default();
    for n in 1..=plan.steps {
        control(sys, s);
        let report = match stepper.step(sys, s, plan.size(n), plan.time(n)) {
            Ok(report) => report,
            Err(error) => return (summary, Err(error)),
        };
        summary.steps = n;
        summary.iterations += report.iterations as u64;
        if observe(n, sys, s, stepper).is_break() {
            summary.stopped = n < plan.steps;
            break;
        }
    }
    (summary, Ok(()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_and_shortened_plans() {
        let plan = Plan::new(1e-5, 10.0).expect("valid");
        assert_eq!((plan.steps, plan.shortened), (1_000_000, None));
        assert_eq!(plan.time(3), 3.0 * 1e-5);
        let plan = Plan::new(0.3, 1.0).expect("valid");
        assert_eq!(plan.steps, 4);
        assert_eq!(plan.time(4), 1.0);
        assert!((plan.size(4) - 0.1).abs() < 1e-15 && plan.size(3) == 0.3);
        assert_eq!(Plan::new(0.1, 0.0).map(|p| p.steps), Some(0));
        assert_eq!(Plan::new(0.0, 1.0), None);
        assert_eq!(Plan::new(f64::NAN, 1.0), None);
    }
}
