//! The stepper of a run by its name, and in words why there is none of that name or why it does not suit the model.

use mbdsl_runtime::steppers::name::{StepperName, UnknownStepper, Unsuited};

use super::failure::Failure;
use super::session::{Choices, Loaded};
use super::system::topology;
use crate::diag::{Code, Diagnostic};
use crate::source::Span;
use crate::syntax::suggest::closest;

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
    method.check(&topology(&compiled.program, binding)).map_err(|e| unsuited(&e, &e.message(body_name), span))?;
    Ok(Some(method))
}

/// The steppers that suit a model, compositions left out.
#[must_use]
pub fn applicable(loaded: &Loaded) -> Vec<StepperName> {
    let topology = topology(&loaded.compiled.program, &loaded.binding);
    StepperName::basic().filter(|method| method.check(&topology).is_ok()).collect()
}

/// There is no stepper of a name, in the model at a span or else on the command line.
fn unknown(name: &str, error: &UnknownStepper, span: Option<Span>) -> Failure {
    let (label, may_be_misspelt) = match error {
        UnknownStepper::Name { .. } => ("no such stepper", true),
        UnknownStepper::Composition { .. } => ("no such composition", true),
        UnknownStepper::NoStepper { .. } => ("no stepper before the `+`", false),
        UnknownStepper::NotSymmetric { .. } => ("takes no composition", false),
        UnknownStepper::Twice { .. } => ("one composition too many", false),
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

/// A stepper cannot move the model.
fn unsuited(error: &Unsuited, message: &str, span: Option<Span>) -> Failure {
    let Some(span) = span else { return Failure::Usage(format!("{message}: {}", error.instead())) };
    let label = match error {
        Unsuited::Shape { .. } => "does not suit the bodies of this model",
        Unsuited::Pairs { .. } => "does not suit the pairs of this model",
    };
    Failure::Model(vec![Diagnostic::error(Code(175), span, message).label(label).help(error.instead())])
}
