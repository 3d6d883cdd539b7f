//! Writes the work and precision of steppers as a table, and as a picture.

use std::path::{Path, PathBuf};

use super::super::plot::{self, PlotError, WorkCurve};
use super::super::summary::{duration, residual};
use super::super::table::{self, TableFormat};
use super::{Point, WorkPrecision};

/// `Phi` and `dPhi` are the largest constraint residuals of the last state; the rest is as in [`Point`].
const HEADINGS: [&str; 10] =
    ["stepper", "step", "steps", "position m", "attitude rad", "order", "Phi", "dPhi", "iterations", "wall s"];

impl WorkPrecision {
    /// One row a run; in text and Markdown with a line about the reference below it. CSV has the rows alone, JSON everything in one object.
    #[must_use]
    pub fn table(&self, format: TableFormat) -> String {
        match format {
            TableFormat::Text => format!("{}\n{}\n", table::text(&self.cells()), self.note()),
            TableFormat::Markdown => format!("{}\n{}\n", table::markdown(&self.cells()), self.note()),
            TableFormat::Csv => table::csv(self.points.iter()),
            TableFormat::Json => table::json(self),
        }
    }

    /// What errors are against, and what they are good for.
    fn note(&self) -> String {
        let of = &self.reference;
        let attitude = of.attitude_uncertainty.map_or(String::new(), |rad| format!(" and {} rad", residual(rad)));
        let (end, step, position) = (duration(self.until), rounded(of.step), residual(of.position_uncertainty));
        format!(
            "errors at {end} against {} with steps of {step}, which steps twice as long miss by {position} m{attitude}",
            of.stepper
        )
    }

    fn cells(&self) -> Vec<Vec<String>> {
        let number = |x: Option<f64>| x.map_or("-".to_owned(), residual);
        let row = |p: &Point| {
            let failed = p.failure.as_ref().map(|_| "failed".to_owned());
            vec![
                p.stepper.clone(),
                p.step.map_or_else(|| p.tolerance.map_or("-".to_owned(), |to| format!("to {to:.0e}")), rounded),
                p.steps.to_string(),
                failed.unwrap_or_else(|| number(p.position_error)),
                number(p.attitude_error),
                p.order.map_or("-".to_owned(), |order| format!("{order:.2}")),
                residual(p.position_residual),
                residual(p.velocity_residual),
                p.newton_iterations.to_string(),
                format!("{:.2e}", p.wall_s),
            ]
        };
        let heading = HEADINGS.map(str::to_owned).to_vec();
        std::iter::once(heading).chain(self.points.iter().map(row)).collect()
    }

    /// Writes `work_precision.svg` into a folder: errors against time, a line a stepper. Runs that failed have no point.
    ///
    /// # Errors
    /// If the folder or the file cannot be written.
    pub fn plot(&self, dir: &Path) -> Result<PathBuf, PlotError> {
        let mut runs: Vec<(&str, Vec<&Point>)> = Vec::new();
        for point in &self.points {
            match runs.last_mut() {
                Some((name, points)) if *name == point.stepper => points.push(point),
                _ => runs.push((&point.stepper, vec![point])),
            }
        }
        let series: Vec<(&str, [Vec<f64>; 3])> = runs
            .into_iter()
            .map(|(name, mut points)| {
                points.retain(|p| p.position_error.is_some());
                let of = |value: fn(&Point) -> Option<f64>| points.iter().filter_map(|p| value(p)).collect();
                (name, [of(|p| Some(p.wall_s)), of(|p| p.position_error), of(|p| p.attitude_error)])
            })
            .collect();
        let curves: Vec<WorkCurve<'_>> = series
            .iter()
            .map(|(name, [wall, position, attitude])| WorkCurve { name, wall, position, attitude })
            .collect();
        plot::write_work_precision(dir, &format!("{}: error against time", self.model), &self.note(), &curves)
    }
}

/// A step with four digits: those that divide the end into whole numbers have many.
fn rounded(step: f64) -> String {
    let digits = format!("{step:.3e}").parse().unwrap_or(step);
    duration(digits)
}
