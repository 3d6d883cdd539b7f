//! A text through all stages and a run: its messages as people see them.

use mbdsl::diag::Diagnostic;
use mbdsl::exec::failure::Failure;
use mbdsl::exec::run;
use mbdsl::exec::session::{self, Choices};
use mbdsl::sema::Options;
use mbdsl::source::{FileId, Sources};

use crate::outcome::Outcome;

/// Runs the model of a text by what its `simulate` says, as far as it gets; without a step it is only assembled.
pub fn outcome_of_run(name: &str, text: &str, options: &Options) -> Outcome {
    let mut sources = Sources::default();
    let file = sources.add(name, text);
    let set = options.overrides.iter().map(|(name, value)| format!("{name}={value}")).collect();
    let choices = Choices { model: options.model.clone(), set, ..Choices::default() };
    let diagnostics = match run_all(&mut sources, file, &choices) {
        Ok(diagnostics) | Err(Failure::Model(diagnostics)) => diagnostics,
        Err(Failure::Step(diagnostic)) => vec![*diagnostic],
        Err(other @ (Failure::Usage(_) | Failure::Io { .. })) => panic!("{name}: {other:?}"),
    };
    Outcome::new(sources, diagnostics)
}

fn run_all(sources: &mut Sources, file: FileId, choices: &Choices) -> Result<Vec<Diagnostic>, Failure> {
    let loaded = session::load(sources, file, choices)?;
    let mut ready = session::assemble(&loaded)?;
    if loaded.binding.step.is_none() && !loaded.compiled.program.defaults.is_auto {
        return Ok(Vec::new());
    }
    let setup = session::setup(&loaded, choices)?;
    let outcome = run::run(&loaded, &mut ready, &setup, true, &mut [])?;
    Ok(outcome.failed_step.into_iter().chain(outcome.failed_checks).collect())
}
