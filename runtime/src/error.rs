//! What can go wrong while stepping, in facts, with the wording in one place.

use alloc::boxed::Box;

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use crate::system::System;
use crate::topology::Topology;

/// A row of a constraint with the value it had when something failed.
#[derive(Clone, Debug, PartialEq)]
pub struct ResidualRow {
    /// Constraint element, as in the model.
    pub element: String,
    /// What the row measures.
    pub row: String,
    /// Its value, in the row's own unit.
    pub value: f64,
}

impl fmt::Display for ResidualRow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({}): {:.3e}", self.element, self.row, self.value)
    }
}

/// Why a step failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StepErrorKind {
    /// The updates did not settle within the iteration limit.
    NoConvergence,
    /// The Newton matrix is singular at the named body or constraint.
    Singular {
        /// Name of the body or constraint.
        place: String,
    },
    /// Rows that followed from others do not any more.
    Contradiction,
    /// The equations of a free body have no solution for a turn of this size.
    TurnsTooFar {
        /// Name of the body.
        body: Box<str>,
    },
    /// A force, a constraint or an update is not a finite number.
    NonFinite,
    /// Steps of an explicit method are bound by its stability.
    Stiff,
    /// The error is above the tolerance however short the step.
    TooShort,
    /// Steps from one output to the next do not come to an end.
    TooManySteps {
        /// Their number.
        steps: u64,
    },
    /// Adaptive steps go forwards.
    Backwards,
}

/// A failed step. The state is still the last good one.
#[derive(Clone, Debug, PartialEq)]
pub struct StepError {
    /// What failed.
    pub kind: StepErrorKind,
    /// Name of the stepper.
    pub method: &'static str,
    /// Time that the step was to reach, s.
    pub time: f64,
    /// Step size, s.
    pub step: f64,
    /// Newton iterations done.
    pub iterations: usize,
    /// Size of the update of each iteration, relative to the speed of the model.
    pub history: Vec<f64>,
    /// Whether the residuals are those of velocities (`B V + Phi_t`), not of positions (`Phi`).
    pub is_velocity: bool,
    /// The constraint rows with the largest residuals, at most three; see [`StepError::telling`].
    pub residuals: Vec<ResidualRow>,
}

/// A residual below this explains nothing, in SI units: rows of models of everyday size close to a thousandth of it.
const NEGLIGIBLE: f64 = 1e-12;

impl StepError {
    /// The rows that tell why the step failed: those that stay open where the constraints do not close, those that are not finite where a value is not.
    pub fn telling(&self) -> impl Iterator<Item = &ResidualRow> {
        let tells = |value: f64| match self.kind {
            StepErrorKind::NoConvergence | StepErrorKind::Contradiction => value.is_nan() || value.abs() >= NEGLIGIBLE,
            StepErrorKind::NonFinite => !value.is_finite(),
            StepErrorKind::Singular { .. }
            | StepErrorKind::TurnsTooFar { .. }
            | StepErrorKind::Stiff
            | StepErrorKind::TooShort
            | StepErrorKind::TooManySteps { .. }
            | StepErrorKind::Backwards => false,
        };
        self.residuals.iter().filter(move |row| tells(row.value))
    }
}

impl fmt::Display for StepError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kind, method, iterations, .. } = self;
        let (step, time) = (rounded(self.step, 4), rounded(self.time, 9));
        write!(f, "{method} failed on the step of {step:e} s to t = {time} s: ")?;
        match kind {
            StepErrorKind::NoConvergence => write!(f, "no convergence after {iterations} iterations")?,
            StepErrorKind::Singular { place } => {
                write!(f, "the equations are singular at `{place}` in iteration {iterations}")?;
            }
            StepErrorKind::Contradiction => write!(f, "constraints contradict one another")?,
            StepErrorKind::TurnsTooFar { body } => write!(f, "`{body}` turns too far in one step")?,
            StepErrorKind::NonFinite => {
                f.write_str("a value is not a finite number")?;
                // Explicit steps have no iterations.
                if *iterations > 0 {
                    write!(f, " in iteration {iterations}")?;
                }
            }
            StepErrorKind::Stiff => {
                f.write_str("the model is stiff: something decays so fast that stability, not the tolerance, keeps the steps short")?;
            }
            StepErrorKind::TooShort => f.write_str("the error is above the tolerance however short the step")?,
            StepErrorKind::TooManySteps { steps } => {
                write!(
                    f,
                    "{steps} steps have not reached the next output: something moves very much faster than that"
                )?;
            }
            StepErrorKind::Backwards => f.write_str("the time to reach is not after that of the state")?,
        }
        if !self.history.is_empty() {
            let updates: Vec<String> = self.history.iter().rev().take(6).rev().map(|x| format!("{x:.1e}")).collect();
            write!(f, "; last relative updates {}", updates.join(", "))?;
        }
        for (i, row) in self.telling().enumerate() {
            write!(f, "{}{row}", if i == 0 { "; largest residuals " } else { ", " })?;
        }
        f.write_str(match kind {
            StepErrorKind::NoConvergence | StepErrorKind::TurnsTooFar { .. } => "; try a smaller step",
            StepErrorKind::Contradiction => "; remove one of them, or make them agree at all times",
            StepErrorKind::Singular { .. } => {
                "; check the position of the mechanism there (dead centre, coinciding points) and that every body has inertia"
            }
            StepErrorKind::Stiff | StepErrorKind::TooManySteps { .. } => {
                "; take an implicit stepper: `radau5`, whose steps a tolerance may choose as well, or `dae1l_lse` with a step that resolves what matters"
            }
            StepErrorKind::TooShort => {
                "; look for a jump or a singularity of a force there, or raise the tolerance"
            }
            StepErrorKind::Backwards => "; take a stepper of fixed steps to go back in time",
            StepErrorKind::NonFinite => {
                "; look for a force or constraint with a singularity there (a length of zero, a root, a quotient)"
            }
        })
    }
}

impl core::error::Error for StepError {}

/// The number of so many digits that is nearest: steps that divide a run into whole numbers have many.
fn rounded(x: f64, digits: usize) -> f64 {
    format!("{x:.*e}", digits - 1).parse().unwrap_or(x)
}

/// The three rows of all constraints with the largest residuals, NaN first.
pub(crate) fn largest_rows<S: System + ?Sized>(sys: &S, topology: &Topology, residual: &[f64]) -> Vec<ResidualRow> {
    let mut all: Vec<(usize, usize, f64)> = Vec::with_capacity(residual.len());
    for (number, e) in topology.constraints.elements.iter().enumerate() {
        all.extend((0..e.rows).map(|r| (number, r, residual[e.row + r])));
    }
    all.sort_by(|a, b| b.2.abs().total_cmp(&a.2.abs()));
    let named = |&(element, row, value): &(usize, usize, f64)| ResidualRow {
        element: sys.constraint_name(element),
        row: sys.row_name(element, row),
        value,
    };
    all.iter().take(3).map(named).collect()
}

#[cfg(test)]
mod tests {
    use alloc::string::ToString as _;

    use super::*;

    fn check(kind: StepErrorKind, iterations: usize, expected: &str) {
        let error = StepError {
            kind,
            method: "splitting_dlm",
            time: 2.0 / 3.0,
            step: 1.0 / 3.0,
            iterations,
            history: Vec::new(),
            is_velocity: false,
            residuals: Vec::new(),
        };
        let text = error.to_string();
        assert!(text.starts_with(expected), "{text}");
    }

    #[test]
    fn steps_and_times_of_many_digits_are_rounded() {
        check(
            StepErrorKind::Contradiction,
            0,
            "splitting_dlm failed on the step of 3.333e-1 s to t = 0.666666667 s: con",
        );
    }

    #[test]
    fn only_residuals_that_tell_why_are_shown() {
        let row = |element: &str, value: f64| ResidualRow { element: element.into(), row: "at.x".into(), value };
        let shown = |kind: StepErrorKind| {
            let error = StepError {
                kind,
                method: "dop853",
                time: 1.0,
                step: 1.0,
                iterations: 0,
                history: Vec::new(),
                is_velocity: false,
                residuals: vec![row("hinge", f64::NAN), row("pivot", 2e-3), row("rail", 3e-16), row("rod", 0.0)],
            };
            error.telling().map(|row| row.element.clone()).collect::<Vec<_>>()
        };
        assert_eq!(shown(StepErrorKind::NoConvergence), ["hinge", "pivot"]);
        assert_eq!(shown(StepErrorKind::NonFinite), ["hinge"]);
        assert!(shown(StepErrorKind::TurnsTooFar { body: "top".into() }).is_empty());
    }

    #[test]
    fn explicit_steps_have_no_iterations() {
        let head =
            "splitting_dlm failed on the step of 3.333e-1 s to t = 0.666666667 s: a value is not a finite number";
        check(StepErrorKind::NonFinite, 0, &format!("{head}; look for"));
        check(StepErrorKind::NonFinite, 2, &format!("{head} in iteration 2; look for"));
    }
}
