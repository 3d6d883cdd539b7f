//! `mbd compare`: errors of several steppers on one model, and what they cost.

use std::path::{Path, PathBuf};

use mbdsl::exec::command;
use mbdsl::exec::failure::Failure;
use mbdsl::exec::session::{self, Choices};
use mbdsl::exec::summary;
use mbdsl::exec::work_precision::Range;
use mbdsl::source::Sources;

use crate::args::{Backend, ModelArgs, RangeArgs, StepArgs, TableFormat};
use crate::commands::{announce, bar, load};
use crate::show::{print, tell};

/// Arguments of both forms of the command.
pub(crate) struct Request<'a> {
    pub model: &'a ModelArgs,
    pub steps: &'a StepArgs,
    pub steppers: &'a [String],
    pub format: TableFormat,
    pub plot: Option<&'a Path>,
    pub backend: Backend,
}

impl Request<'_> {
    fn choices(&self) -> Choices {
        Choices {
            step: self.steps.step.clone(),
            tolerance: self.steps.tolerance.clone(),
            until: self.steps.until.clone(),
            backend: self.backend.into(),
            ..self.model.choices()
        }
    }
}

/// Says which files there are now.
fn wrote(pictures: &[PathBuf]) {
    for path in pictures {
        tell(format_args!("wrote {}", path.display()));
    }
}

/// One row of largest errors a stepper.
pub(crate) fn errors(request: &Request<'_>, sources: &mut Sources) -> Result<u8, Failure> {
    let choices = |name: &str| Choices { stepper: Some(name.to_owned()), ..request.choices() };
    let loaded = load(request.model, &request.choices(), sources)?;
    let names: Vec<String> = match request.steppers {
        [] => session::applicable(&loaded, &request.choices()).iter().map(ToString::to_string).collect(),
        some => some.iter().map(|name| name.trim().to_owned()).collect(),
    };
    let setups = names.iter().map(|name| session::setup(&loaded, &choices(name))).collect::<Result<Vec<_>, _>>()?;
    let mut session = session::assemble(&loaded)?;
    announce(&loaded, &session);
    let total: u64 = setups.iter().map(|s| s.plan.steps).sum();
    let bar = bar(total, &loaded.compiled.model.name);
    let (mut done, mut last) = (0, 0);
    let compared = command::compare(&loaded, &mut session, &setups, request.plot, &mut |n, _| {
        if n < last {
            done += last;
        }
        last = n;
        bar.set_position(done + n);
    })?;
    bar.finish_and_clear();
    let summaries: Vec<_> = compared.rows.iter().map(|r| r.summary.clone()).collect();
    print(&summary::table(&summaries, request.format.into()))?;
    wrote(&compared.pictures);
    match compared.rows.into_iter().find_map(|r| r.outcome.failed_step) {
        Some(step) => Err(Failure::Step(Box::new(step))),
        None => Ok(0),
    }
}

/// One row a stepper and step: error of the last state, and time. Steps that are too long for a stepper are part of the answer, and no failure.
pub(crate) fn work_precision(request: &Request<'_>, range: &RangeArgs, sources: &mut Sources) -> Result<u8, Failure> {
    let loaded = load(request.model, &request.choices(), sources)?;
    let range = Range::new(&loaded, &request.choices(), request.steppers, range.reference.as_deref(), range.halvings)?;
    let mut session = session::assemble_for_timing(&loaded)?;
    announce(&loaded, &session);
    let bar = bar(range.steps(), &loaded.compiled.model.name);
    let (measured, picture) =
        command::work_precision(&loaded, &mut session, &range, request.plot, &mut |n, _| bar.set_position(n))?;
    bar.finish_and_clear();
    print(&measured.table(request.format.into()))?;
    measured.points.iter().filter_map(|point| point.failure.as_ref()).for_each(tell);
    wrote(picture.as_slice());
    Ok(0)
}
