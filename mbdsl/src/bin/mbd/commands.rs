//! The commands: calls of the library, with progress on stderr and results on stdout.

use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use mbdsl::exec::command::{self, Targets};
use mbdsl::exec::failure::Failure;
use mbdsl::exec::session::{self, Choices, Loaded, Session, Setup};
use mbdsl::exec::summary;
use mbdsl::expand;
use mbdsl::model::Redundancy;
use mbdsl::report;
use mbdsl::source::Sources;
use mbdsl_runtime::assembly::AssemblyReport;

use crate::args::{Backend, MessageFormat, ModelArgs, StepArgs, SummaryFormat};
use crate::show::{self, count, print, tell};

/// Moved bodies that are listed one by one.
const LISTED: usize = 8;

pub(crate) fn new(name: &str) -> Result<u8, Failure> {
    let path = command::new(name)?;
    print(&format!("wrote {0}\nrun it: mbd run {0} --plot pictures\n", path.display()))?;
    Ok(0)
}

pub(crate) fn check(files: &[PathBuf], sources: &mut Sources, format: MessageFormat) -> Result<u8, Failure> {
    let mut code = 0;
    for path in files {
        match command::check(sources, path) {
            Ok(loaded) => {
                let model = &loaded.compiled.model;
                let rows: usize =
                    loaded.compiled.program.constraints.iter().map(|c| c.family.table.count * c.rows).sum();
                let bodies = count(model.body_count(), "body", "bodies");
                let rows = count(rows, "constraint equation", "constraint equations");
                print(&format!("{}: {} is good: {bodies}, {rows}\n", path.display(), model.name))?;
            }
            Err(failure) => {
                code = code.max(failure.exit_code());
                show::failure(&failure, sources, format);
            }
        }
    }
    Ok(code)
}

pub(crate) fn load(args: &ModelArgs, choices: &Choices, sources: &mut Sources) -> Result<Loaded, Failure> {
    let file = session::read(sources, &args.file)?;
    session::load(sources, file, choices)
}

pub(crate) fn explain(args: &ModelArgs, sources: &mut Sources) -> Result<u8, Failure> {
    let loaded = load(args, &args.choices(), sources)?;
    match session::assemble(&loaded) {
        Ok(session) => {
            print(&report::explain(&loaded.compiled, sources, Some(&loaded.binding), Some(&session.report)))?
        }
        Err(Failure::Model(diagnostics)) => {
            print(&report::explain(&loaded.compiled, sources, Some(&loaded.binding), None))?;
            return Err(Failure::Model(diagnostics));
        }
        Err(other) => return Err(other),
    }
    Ok(0)
}

pub(crate) fn derive(args: &ModelArgs, latex: bool, sources: &mut Sources) -> Result<u8, Failure> {
    let loaded = load(args, &args.choices(), sources)?;
    print(&report::derive(&loaded.compiled, sources, latex))?;
    Ok(0)
}

pub(crate) fn expand(args: &ModelArgs, sources: &mut Sources) -> Result<u8, Failure> {
    let file = session::read(sources, &args.file)?;
    let (compiled, _) = session::compile(sources, file, &args.choices())?;
    let is_const = |name: &str| compiled.model.consts.iter().any(|c| c.name == name);
    let names = args.set.iter().filter_map(|assignment| assignment.split_once('=')).map(|(name, _)| name.trim());
    if let Some(name) = names.into_iter().find(|name| !is_const(name)) {
        return Err(Failure::Usage(format!(
            "`--set {name}=...`: only `const`s shape the code; parameters and inputs are set by the program that uses it"
        )));
    }
    let code = expand::emit(sources, &compiled, &expand::Options::default());
    print(&expand::pretty(code))?;
    Ok(0)
}

/// Says what assembly found: what moved, and what is redundant.
fn account(report: &AssemblyReport, redundancy: Redundancy) {
    for moved in report.moved.iter().take(LISTED) {
        let (mm, degrees) = (moved.distance * 1e3, moved.angle.to_degrees());
        tell(format_args!("assembly moved `{}` by {mm:.4} mm and {degrees:.4} deg ({})", moved.name, moved.cause));
    }
    if report.moved.len() > LISTED {
        tell(format_args!("assembly moved {}", count(report.moved.len() - LISTED, "more body", "more bodies")));
    }
    if report.rank < report.rows && redundancy == Redundancy::Report {
        let redundant = report.rows - report.rank;
        let coordinates = report.degrees_of_freedom + report.rank;
        let mut names: Vec<&str> = Vec::new();
        for row in &report.dependent {
            names.push(&row.element_name);
            names.extend(row.overlaps.iter().map(String::as_str));
        }
        names.sort_unstable();
        names.dedup();
        tell(format_args!(
            "{coordinates} coordinates, {} equations, rank {}, {redundant} redundant, {}; joints {} overlap",
            report.rows,
            report.rank,
            count(report.degrees_of_freedom, "degree of freedom", "degrees of freedom"),
            names.join(", ")
        ));
    }
}

/// A bar on stderr with step rate and time left, if stderr is a terminal.
pub(crate) fn bar(steps: u64, label: &str) -> ProgressBar {
    if !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::new(steps);
    let style = ProgressStyle::with_template("{msg} {wide_bar} {percent}% {per_sec}, {eta} left");
    if let Ok(style) = style {
        bar.set_style(style);
    }
    bar.set_message(label.to_owned());
    bar.enable_steady_tick(Duration::from_millis(200));
    bar
}

/// Arguments of `mbd run`.
pub(crate) struct RunRequest<'a> {
    pub model: &'a ModelArgs,
    pub steps: &'a StepArgs,
    pub stepper: Option<&'a String>,
    pub every: Option<&'a String>,
    pub out: Option<&'a Path>,
    pub plot: Option<&'a Path>,
    pub summary: SummaryFormat,
    pub backend: Backend,
}

/// Says what assembly did to a model that is ready to run.
pub(crate) fn announce(loaded: &Loaded, session: &Session<'_>) {
    account(&session.report, loaded.compiled.model.redundancy);
    let changed = session::changed_velocities(loaded, &session.start);
    for (body, linear, angular) in changed.iter().take(LISTED) {
        let name = loaded.compiled.model.body_name(*body);
        tell(format_args!("assembly changed the velocity of `{name}` by {linear:.4} m/s and {angular:.4} rad/s"));
    }
    if changed.len() > LISTED {
        tell(format_args!("assembly changed the velocities of {} more bodies", changed.len() - LISTED));
    }
}

fn announce_short_step(setup: &Setup) {
    if let (Some((size, _)), None) = (setup.plan.shortened, setup.tolerance) {
        tell(format_args!("the last step is shortened to {size:.3e} s: the end is no multiple of the step"));
    }
}

pub(crate) fn run(request: &RunRequest<'_>, sources: &mut Sources) -> Result<u8, Failure> {
    if let Some(out) = request.out.filter(|p| p.extension().is_none_or(|e| e != "csv")) {
        return Err(Failure::Usage(format!("`--out {}`: write a `.csv` file", out.display())));
    }
    let choices = Choices {
        stepper: request.stepper.cloned(),
        step: request.steps.step.clone(),
        tolerance: request.steps.tolerance.clone(),
        until: request.steps.until.clone(),
        every: request.every.cloned(),
        backend: request.backend.into(),
        ..request.model.choices()
    };
    let loaded = load(request.model, &choices, sources)?;
    let mut setup = session::setup(&loaded, &choices)?;
    let mut session = session::assemble(&loaded)?;
    session.choose(&mut setup);
    announce(&loaded, &session);
    announce_short_step(&setup);
    if let Some(reason) = setup.reason() {
        tell(format_args!("stepper: {reason}"));
    }
    let bar = bar(setup.plan.steps, &loaded.compiled.model.name);
    let targets = Targets { out: request.out, plot: request.plot };
    let finished = command::run(&loaded, &mut session, &setup, targets, &mut |n, _| bar.set_position(n))?;
    bar.finish_and_clear();
    match request.summary {
        SummaryFormat::Text => print(&summary::text(&finished.summary))?,
        SummaryFormat::Json => print(&summary::json(&finished.summary))?,
    }
    for path in request.out.iter().copied().chain(finished.pictures.iter().map(PathBuf::as_path)) {
        tell(format_args!("wrote {}", path.display()));
    }
    let outcome = finished.outcome;
    if let Some(step) = outcome.failed_step {
        return Err(Failure::Step(Box::new(step)));
    }
    if !outcome.failed_checks.is_empty() {
        return Err(Failure::Model(outcome.failed_checks));
    }
    let checks = loaded.compiled.model.checks.len();
    if checks > 0 && request.summary == SummaryFormat::Text {
        print(&format!("  checks                {checks} good\n"))?;
    }
    Ok(0)
}

pub(crate) fn test(
    paths: &[PathBuf],
    backend: Backend,
    sources: &mut Sources,
    format: MessageFormat,
) -> Result<u8, Failure> {
    let files = command::model_files(paths)?;
    let mut code = 0;
    let mut good = 0;
    for path in &files {
        match test_one(path, backend, sources) {
            Ok((checks, wall)) => {
                good += 1;
                let checks = count(checks, "check", "checks");
                print(&format!("{}: {checks} good ({wall:.2} s)\n", path.display()))?;
            }
            Err(failure) => {
                code = code.max(failure.exit_code());
                print(&format!("{}: failed\n", path.display()))?;
                show::failure(&failure, sources, format);
            }
        }
    }
    print(&format!("{good} of {} good\n", count(files.len(), "model", "models")))?;
    Ok(code)
}

/// Runs a model as it says; its number of checks and the time that the run took.
fn test_one(path: &Path, backend: Backend, sources: &mut Sources) -> Result<(usize, f64), Failure> {
    let choices = Choices { backend: backend.into(), ..Choices::default() };
    let file = session::read(sources, path)?;
    let loaded = session::load(sources, file, &choices)?;
    let mut setup = session::setup(&loaded, &choices)?;
    let mut session = session::assemble(&loaded)?;
    session.choose(&mut setup);
    let bar = bar(setup.plan.steps, &loaded.compiled.model.name);
    let finished = command::run(&loaded, &mut session, &setup, Targets::default(), &mut |n, _| bar.set_position(n))?;
    bar.finish_and_clear();
    let outcome = finished.outcome;
    match outcome.failed_step {
        Some(step) => Err(Failure::Step(Box::new(step))),
        None if outcome.failed_checks.is_empty() => Ok((loaded.compiled.model.checks.len(), outcome.wall)),
        None => Err(Failure::Model(outcome.failed_checks)),
    }
}
