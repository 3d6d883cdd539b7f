//! What the commands of `mbd` do, as functions of files and choices; printing is left to the command.

use std::path::{Path, PathBuf};

use super::failure::Failure;
use super::finish;
use super::plot::{self, ErrorCurve};
use super::record::Trajectory;
use super::run::{self, Outcome, Sink, Snapshot};
use super::session::{self, Choices, Loaded, Session, Setup};
use super::sinks::{self, Samples, Table};
use super::summary::Summary;
use super::work_precision::{self, Range, WorkPrecision};
use crate::source::Sources;

/// The model of `mbd new`.
const TEMPLATE: &str = include_str!("template.mbd");

/// Writes `NAME.mbd`, unless it exists.
///
/// # Errors
/// If the name cannot name a model, or the file cannot be written.
pub fn new(name: &str) -> Result<PathBuf, Failure> {
    let stem = name.strip_suffix(".mbd").unwrap_or(name);
    let path = PathBuf::from(format!("{stem}.mbd"));
    let file = Path::new(stem).file_name().and_then(|n| n.to_str()).unwrap_or_default();
    let model: String = file.split(['_', '-', ' ']).map(capital).collect();
    let starts_well = model.starts_with(|c: char| c.is_ascii_alphabetic());
    if !starts_well || !model.chars().all(|c| c.is_ascii_alphanumeric()) {
        return Err(Failure::Usage(format!("`{name}` cannot name a model: use letters, digits and `_`")));
    }
    if path.exists() {
        return Err(Failure::Usage(format!("`{}` exists already", path.display())));
    }
    let text =
        TEMPLATE.replace("model NAME", &format!("model {model}")).replace("NAME.mbd", &path.display().to_string());
    std::fs::write(&path, text).map_err(|e| Failure::Io { path: path.clone(), error: e.to_string() })?;
    Ok(path)
}

fn capital(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map_or_else(String::new, |first| first.to_ascii_uppercase().to_string() + letters.as_str())
}

/// Compiles and binds a model and looks at its stepper, but assembles nothing: everything that can be said without initial values.
///
/// # Errors
/// What is wrong with the file.
pub fn check(sources: &mut Sources, path: &Path) -> Result<Loaded, Failure> {
    let file = session::read(sources, path)?;
    let loaded = session::load(sources, file, &Choices::default())?;
    session::stepper(&loaded, &Choices::default())?;
    Ok(loaded)
}

/// Progress of a run: steps done, steps in all.
pub type Progress<'a> = &'a mut dyn FnMut(u64, u64);

struct Watch<'a> {
    progress: Progress<'a>,
    steps: u64,
}

impl Sink for Watch<'_> {
    fn see(&mut self, snapshot: &Snapshot<'_>) -> Result<(), Failure> {
        // Rare enough to cost nothing, often enough to look alive.
        if snapshot.n.is_multiple_of(512) || snapshot.n == self.steps {
            (self.progress)(snapshot.n, self.steps);
        }
        Ok(())
    }
}

/// Where a run writes to.
#[derive(Clone, Copy, Debug, Default)]
pub struct Targets<'a> {
    /// CSV file.
    pub out: Option<&'a Path>,
    /// Folder of pictures.
    pub plot: Option<&'a Path>,
}

/// A run and its summary.
#[derive(Debug)]
pub struct Finished {
    /// Numbers and failures.
    pub outcome: Outcome,
    /// The summary.
    pub summary: Summary,
    /// Pictures written.
    pub pictures: Vec<PathBuf>,
}

/// Runs an assembled model to its end and writes what is asked for, also where a step fails.
///
/// # Errors
/// If a file cannot be written.
pub fn run(
    loaded: &Loaded,
    session: &mut Session<'_>,
    setup: &Setup,
    targets: Targets<'_>,
    progress: Progress<'_>,
) -> Result<Finished, Failure> {
    let meta = sinks::meta(loaded, session, setup);
    let mut table = targets.out.map(|path| Table::create(path, &meta, loaded, setup)).transpose()?;
    let mut samples = targets.plot.map(|_| Samples::new(meta, loaded));
    let mut watch = Watch { progress, steps: setup.plan.steps };
    let mut list: Vec<&mut dyn Sink> = vec![&mut watch];
    list.extend(table.as_mut().map(|t| t as &mut dyn Sink));
    list.extend(samples.as_mut().map(|s| s as &mut dyn Sink));
    let outcome = run::run(loaded, session, setup, true, &mut list)?;
    if let Some(table) = table {
        table.finish()?;
    }
    let pictures = match (targets.plot, &samples) {
        (Some(dir), Some(samples)) => plot::write_all(dir, &samples.trajectory).map_err(picture_failure)?,
        _ => Vec::new(),
    };
    let summary = finish::summarise(loaded, session, setup, &outcome);
    Ok(Finished { outcome, summary, pictures })
}

fn picture_failure(e: plot::PlotError) -> Failure {
    Failure::Io { path: e.path, error: e.source.to_string() }
}

/// Runs of several steppers.
#[derive(Debug)]
pub struct Compared {
    /// One a stepper.
    pub rows: Vec<Finished>,
    /// Pictures written.
    pub pictures: Vec<PathBuf>,
}

/// Runs one stepper after the other from the same start; a stepper that fails ends its own row early.
///
/// # Errors
/// If a picture cannot be written.
pub fn compare(
    loaded: &Loaded,
    session: &mut Session<'_>,
    setups: &[Setup],
    plot: Option<&Path>,
    progress: Progress<'_>,
) -> Result<Compared, Failure> {
    let mut rows = Vec::new();
    let mut trajectories: Vec<Trajectory> = Vec::new();
    for setup in setups {
        let mut samples = plot.map(|_| Samples::new(sinks::meta(loaded, session, setup), loaded));
        let mut watch = Watch { progress: &mut *progress, steps: setup.plan.steps };
        let mut list: Vec<&mut dyn Sink> = vec![&mut watch];
        list.extend(samples.as_mut().map(|s| s as &mut dyn Sink));
        let outcome = run::run(loaded, session, setup, false, &mut list)?;
        let summary = finish::summarise(loaded, session, setup, &outcome);
        rows.push(Finished { outcome, summary, pictures: Vec::new() });
        trajectories.extend(samples.map(|s| s.trajectory));
    }
    let Some(dir) = plot else { return Ok(Compared { rows, pictures: Vec::new() }) };
    let series: Vec<(String, Vec<f64>, Vec<f64>)> = setups
        .iter()
        .zip(&trajectories)
        .map(|(setup, t)| {
            let energy = t.series(|s| s.energy());
            let first = energy.first().copied().unwrap_or(0.0);
            (setup.method.to_string(), t.times(), energy.iter().map(|e| e - first).collect())
        })
        .collect();
    let curves: Vec<ErrorCurve<'_>> =
        series.iter().map(|(name, times, errors)| ErrorCurve { name, times, errors }).collect();
    let pictures = plot::write_comparison(dir, &loaded.compiled.model.name, &curves).map_err(picture_failure)?;
    Ok(Compared { rows, pictures })
}

/// Measures the work and the precision of steppers, and draws them where a folder is given.
///
/// # Errors
/// If a step of the reference fails, or the picture cannot be written.
pub fn work_precision(
    loaded: &Loaded,
    session: &mut Session<'_>,
    range: &Range,
    plot: Option<&Path>,
    progress: Progress<'_>,
) -> Result<(WorkPrecision, Option<PathBuf>), Failure> {
    let measured = work_precision::measure(loaded, session, range, progress)?;
    let picture = plot.map(|dir| measured.plot(dir)).transpose().map_err(picture_failure)?;
    Ok((measured, picture))
}

/// Model files of some paths: files as they are, folders with everything in them that ends in `.mbd`, but for `std`.
///
/// # Errors
/// If a folder cannot be read or has no models.
pub fn model_files(paths: &[PathBuf]) -> Result<Vec<PathBuf>, Failure> {
    let mut files = Vec::new();
    for path in paths {
        if !path.is_dir() {
            files.push(path.clone());
            continue;
        }
        let models = models_inside(path)?;
        if models.is_empty() {
            return Err(Failure::Usage(format!("there are no `.mbd` files in `{}`", path.display())));
        }
        files.extend(models);
    }
    Ok(files)
}

fn models_inside(folder: &Path) -> Result<Vec<PathBuf>, Failure> {
    let entries =
        std::fs::read_dir(folder).map_err(|e| Failure::Io { path: folder.to_owned(), error: e.to_string() })?;
    let mut inside: Vec<PathBuf> = entries.filter_map(|e| e.ok().map(|e| e.path())).collect();
    inside.sort();
    let (folders, files): (Vec<_>, Vec<_>) = inside.into_iter().partition(|p| p.is_dir());
    let mut models: Vec<PathBuf> = files.into_iter().filter(|p| p.extension().is_some_and(|e| e == "mbd")).collect();
    for folder in folders.iter().filter(|p| p.file_name().is_none_or(|n| n != "std")) {
        models.extend(models_inside(folder)?);
    }
    Ok(models)
}
