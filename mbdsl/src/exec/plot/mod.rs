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
    fs::create_dir_all(dir).map_err(|source| PlotError { path: dir.to_owned(), source })?;
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

/// Writes a picture of the energy errors of several steppers; nothing to compare gives empty panels.
///
/// # Errors
/// If the file cannot be written.
pub fn write_comparison(path: &Path, curves: &[ErrorCurve<'_>]) -> Result<(), PlotError> {
    let figure = pictures::comparison(curves.iter().map(|c| (c.name, c.times, c.errors)));
    write(path, &figure::render(&figure))
}

fn write(path: &Path, svg: &str) -> Result<(), PlotError> {
    fs::write(path, svg).map_err(|source| PlotError { path: path.to_owned(), source })
}

#[cfg(test)]
mod tests;
