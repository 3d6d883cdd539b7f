//! The stepper of a run by its name, and in words why there is none of that name or why it does not suit the model.

use mbdsl_runtime::steppers::adaptive::Tolerance;
use mbdsl_runtime::steppers::name::{StepperName, UnknownStepper, Unsuited};

use super::failure::Failure;
use super::quantity;
use super::session::{Choices, Loaded};
use super::system::topology;
use crate::diag::{Code, Diagnostic};
use crate::source::Span;
use crate::syntax::suggest::closest;
use crate::units::Dim;

/// The stepper that the command line or the model names, if any does.
///
/// # Errors
/// If there is none of that name, or if it cannot move the model.
pub fn stepper(loaded: &Loaded, choices: &Choices) -> Result<Option<StepperName>, Failure> {
    let Loaded { compiled, binding, .. } = loaded;
    let (name, span) = match (&choices.stepper, &compiled.model.simulate.stepper) {
        (Some(name), _) => (name, None),
        (None, Some((name, span))) => (name, Some(*span)),
        (None, None) => return Ok(None),
    };
    let method: StepperName = name.parse().map_err(|e| unknown(name, &e, span))?;
    let body_name = |body| compiled.model.body_name(body);
    let suits = method
        .check(&topology(&compiled.program, binding))
        .and_then(|()| if is_auto(loaded, choices) { method.adaptive().map(drop) } else { Ok(()) });
    let auto = compiled.model.simulate.auto;
    suits.map_err(|e| unsuited(&e, &e.message(body_name), span, auto))?;
    Ok(Some(method))
}

/// The steppers that suit a model and the steps that are asked for, compositions left out.
#[must_use]
pub fn applicable(loaded: &Loaded, choices: &Choices) -> Vec<StepperName> {
    let topology = topology(&loaded.compiled.program, &loaded.binding);
    let is_auto = is_auto(loaded, choices);
    let suits = |method: &StepperName| method.check(&topology).is_ok() && (!is_auto || method.adaptive().is_ok());
    StepperName::basic().filter(suits).collect()
}

/// What the command line says for the step where a tolerance is to choose it, and what the model says.
const AUTO: &str = "auto";

/// Whether a tolerance chooses the steps.
pub(super) fn is_auto(loaded: &Loaded, choices: &Choices) -> bool {
    choices.step.as_ref().map_or(loaded.compiled.program.defaults.is_auto, |step| step.trim() == AUTO)
}

/// What the error of a step may be, where it chooses the steps, which it does if `is_auto`.
pub(super) fn tolerance(loaded: &Loaded, choices: &Choices, is_auto: bool) -> Result<Option<Tolerance>, Failure> {
    let given = match &choices.tolerance {
        Some(text) => {
            let value = quantity::scalar(text, Dim::ONE).map_err(|e| Failure::Usage(format!("`--tolerance`: {e}")))?;
            let (least, most) = (Tolerance::LEAST, Tolerance::MOST);
            Some(Tolerance::new(value).ok_or_else(|| {
                Failure::Usage(format!("`--tolerance {}` must be from {least:?} to {most:?}", text.trim()))
            })?)
        }
        None => loaded.binding.tolerance,
    };
    if is_auto {
        return Ok(Some(given.unwrap_or_default()));
    }
    match &choices.tolerance {
        Some(text) => {
            Err(Failure::Usage(format!("`--tolerance {text}` needs steps that it can choose: `--step auto`")))
        }
        None => Ok(None),
    }
}

/// There is no stepper of a name, in the model at a span or else on the command line.
fn unknown(name: &str, error: &UnknownStepper, span: Option<Span>) -> Failure {
    let (label, may_be_misspelt) = match error {
        UnknownStepper::Name { .. } => ("no such stepper", true),
        UnknownStepper::Composition { .. } => ("no such composition", true),
        UnknownStepper::NoStepper { .. } => ("no stepper before the `+`", false),
        UnknownStepper::NotSymmetric { .. } => ("takes no composition", false),
        UnknownStepper::Twice { .. } => ("one composition too many", false),
        UnknownStepper::NoParameters { .. } => ("has no parameters", false),
        UnknownStepper::Parameter { .. } => ("not its parameter", false),
    };
    let near = if may_be_misspelt { closest(name, StepperName::all().map(StepperName::name)) } else { None };
    let meant = near.map(|near| format!("did you mean `{near}`?"));
    match span {
        None => {
            let text = [Some(error.message()), meant, Some(error.instead())];
            Failure::Usage(text.into_iter().flatten().collect::<Vec<_>>().join("; "))
        }
        Some(span) => {
            let d = Diagnostic::error(Code(174), span, error.message()).label(label).note(error.instead());
            Failure::Model(vec![meant.into_iter().fold(d, Diagnostic::help)])
        }
    }
}

/// A stepper cannot move the model, or not by steps that a tolerance chooses, which the model may ask for at the span `auto`.
fn unsuited(error: &Unsuited, message: &str, span: Option<Span>, auto: Option<Span>) -> Failure {
    let unsuitable = |span: Span, label: &str| Diagnostic::error(Code(175), span, message).label(label);
    let d = match (error, span, auto) {
        (Unsuited::Shape { .. }, Some(span), _) => unsuitable(span, "does not suit the bodies of this model"),
        (Unsuited::Pairs { .. }, Some(span), _) => unsuitable(span, "does not suit the pairs of this model"),
        (Unsuited::FixedSteps { .. }, Some(span), Some(auto)) => {
            Diagnostic::error(Code(176), span, message).label("takes steps of one size").also(auto, "asks for others")
        }
        // The command line asks for the stepper or for the steps.
        (_, None, _) | (Unsuited::FixedSteps { .. }, _, None) => {
            return Failure::Usage(format!("{message}: {}", error.instead()));
        }
    };
    Failure::Model(vec![d.help(error.instead())])
}
