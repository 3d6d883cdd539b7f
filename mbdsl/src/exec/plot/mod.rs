//! Writes the pictures of a run to a folder, as SVG.

mod axis;
mod canvas;
mod curve;
mod figure;
mod pictures;
mod space;

use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::record::Trajectory;

/// A picture cannot be written.
#[derive(Debug)]
pub struct PlotError {
    /// The folder or file.
    pub path: PathBuf,
    /// What the system says.
    pub source: io::Error,
}

impl fmt::Display for PlotError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cannot write `{}`: {}", self.path.display(), self.source)
    }
}

impl std::error::Error for PlotError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.source)
    }
}

/// Writes every picture that has something to show and returns the files: `path`, `position`, `multipliers`, `energy`,
/// `constraints`, `rotation`, `orthogonality`, `outputs`, each `.svg`. The folder is created if it does not exist.
///
/// # Errors
/// The first folder or file that cannot be written.
pub fn write_all(dir: &Path, trajectory: &Trajectory) -> Result<Vec<PathBuf>, PlotError> {
    create(dir)?;
    let mut files = Vec::new();
    for (name, svg) in render_all(trajectory) {
        let path = dir.join(name);
        write(&path, &svg)?;
        files.push(path);
    }
    Ok(files)
}

/// File names and texts of all pictures that have something to show.
fn render_all(trajectory: &Trajectory) -> Vec<(&'static str, String)> {
    if trajectory.is_empty() {
        return Vec::new();
    }
    let times = trajectory.times();
    let draw = |figure: Option<figure::Figure<'_>>| figure.map(|f| figure::render(&f));
    let all = [
        ("path.svg", space::render(trajectory, &pictures::title(trajectory, "paths in space"))),
        ("position.svg", draw(pictures::position(trajectory, &times))),
        ("multipliers.svg", draw(pictures::multipliers(trajectory, &times))),
        ("energy.svg", draw(pictures::energy(trajectory, &times))),
        ("constraints.svg", draw(pictures::constraints(trajectory, &times))),
        ("rotation.svg", draw(pictures::rotation(trajectory, &times))),
        ("orthogonality.svg", draw(pictures::orthogonality(trajectory, &times))),
        ("outputs.svg", draw(pictures::outputs(trajectory, &times))),
    ];
    all.into_iter().filter_map(|(name, svg)| Some((name, svg?))).collect()
}

/// The error of the energy over one run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ErrorCurve<'a> {
    /// Name of the stepper.
    pub name: &'a str,
    /// Times, s.
    pub times: &'a [f64],
    /// `H - H(0)`, J.
    pub errors: &'a [f64],
}

/// Writes pictures of the energy errors of several steppers on a model into a folder, which is created if it does not exist, and returns the files: all in one,
/// and side by side. Nothing to compare gives empty pictures.
///
/// # Errors
/// The first folder or file that cannot be written.
pub fn write_comparison(dir: &Path, model: &str, curves: &[ErrorCurve<'_>]) -> Result<Vec<PathBuf>, PlotError> {
    let all = [
        ("energy_comparison.svg", pictures::comparison(model, curves.iter().copied())),
        ("energy_by_stepper.svg", pictures::side_by_side(model, curves.iter().copied())),
    ];
    create(dir)?;
    let write_one = |(name, figure): (&str, figure::Figure<'_>)| {
        let path = dir.join(name);
        write(&path, &figure::render(&figure)).map(|()| path)
    };
    all.into_iter().map(write_one).collect()
}

/// What a stepper errs by at the end of a run, and the time that takes, for several steps.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WorkCurve<'a> {
    /// Name of the stepper.
    pub name: &'a str,
    /// Wall times, s.
    pub wall: &'a [f64],
    /// Largest error of a position, m.
    pub position: &'a [f64],
    /// Largest error of an attitude, rad; empty where there are none.
    pub attitude: &'a [f64],
}

/// Writes `work_precision.svg` into a folder, which is created if it does not exist, and returns its path.
///
/// # Errors
/// If the folder or the file cannot be written.
pub fn write_work_precision(
    dir: &Path,
    title: &str,
    note: &str,
    curves: &[WorkCurve<'_>],
) -> Result<PathBuf, PlotError> {
    create(dir)?;
    let path = dir.join("work_precision.svg");
    write(&path, &figure::render(&pictures::work_precision(title, note, curves)))?;
    Ok(path)
}

fn create(dir: &Path) -> Result<(), PlotError> {
    fs::create_dir_all(dir).map_err(|source| PlotError { path: dir.to_owned(), source })
}

fn write(path: &Path, svg: &str) -> Result<(), PlotError> {
    fs::write(path, svg).map_err(|source| PlotError { path: path.to_owned(), source })
}

#[cfg(test)]
mod tests;
