//! Why a command did not do what it was asked for, in words and as an exit code.

use std::path::PathBuf;

use mbdsl_runtime::assembly::{AssemblyError, AssemblyReport};
use mbdsl_runtime::error::{ResidualRow, StepError, StepErrorKind};

use crate::diag::{Code, Diagnostic};
use crate::model::Model;
use crate::source::Span;
use crate::symbolic::{Cmp, Node};
use crate::units::Dim;

/// Stands for a bug of the compiler.
const COMPILER_BUG: Code = Code(147);

/// A failure of a command.
#[derive(Debug)]
pub enum Failure {
    /// The model has errors.
    Model(Vec<Diagnostic>),
    /// The command was asked for something that does not exist.
    Usage(String),
    /// A file could not be read or written.
    Io {
        /// Its path.
        path: PathBuf,
        /// What went wrong.
        error: String,
    },
    /// A step failed; results so far are on disk.
    Step(Box<Diagnostic>),
}

impl Failure {
    /// Exit code of the process.
    #[must_use]
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Model(list) if list.iter().any(|d| d.code == COMPILER_BUG) => 70,
            Self::Model(_) => 1,
            Self::Usage(_) | Self::Io { .. } => 2,
            Self::Step(_) => 3,
        }
    }
}

/// Place and dimension of a row, by the name of its element.
fn place(model: &Model, row: &ResidualRow) -> (Span, Option<Dim>) {
    let base = row.element.split('[').next().unwrap_or_default();
    if let Some(element) = model.elements.iter().find(|e| e.name == base) {
        let is_of =
            |name: &str| row.row.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'));
        let equation = element.equations.iter().find(|q| !q.name.is_empty() && is_of(&q.name));
        let dim = equation.or(element.equations.first()).map(|q| q.dim);
        return (element.span, dim);
    }
    let plain: String = strip_indices(&row.element);
    let condition = model.conditions.iter().find(|c| c.name == row.element || c.name == plain);
    (condition.map_or(model.span, |c| c.span), None)
}

/// Place of an element or body, by the name of its instance.
fn named(model: &Model, name: &str) -> Option<Span> {
    let base = name.split('[').next().unwrap_or_default();
    let element = model.elements.iter().find(|e| e.name == base).map(|e| e.span);
    element.or_else(|| model.bodies.iter().find(|b| b.name == base).map(|b| b.span))
}

/// `link[3].pos` without its indices.
fn strip_indices(name: &str) -> String {
    let mut out = String::new();
    let mut depth = 0;
    for c in name.chars() {
        match c {
            '[' => depth += 1,
            ']' => depth -= 1,
            _ if depth == 0 => out.push(c),
            _ => {}
        }
    }
    out
}

/// A residual as an engineer reads it: millimetres, degrees, or SI.
fn shown(model: &Model, row: &ResidualRow) -> String {
    let value = row.value.abs();
    let amount = match place(model, row).1 {
        Some(Dim::LENGTH) => format!("{} mm", readable(value * 1e3)),
        Some(Dim::ONE) => format!("{} deg", readable(value.to_degrees())),
        _ => format!("{value:.4e} (SI)"),
    };
    let name = if row.row.is_empty() { row.element.clone() } else { format!("{}.{}", row.element, row.row) };
    format!("`{name}` by {amount}")
}

/// Four decimals, scientific where they would show nothing.
fn readable(value: f64) -> String {
    if (1e-3..1e9).contains(&value) || value == 0.0 { format!("{value:.4}") } else { format!("{value:.2e}") }
}

/// A side of a comparison in full.
fn side(value: f64) -> String {
    if (1e-4..1e9).contains(&value.abs()) || value == 0.0 { format!("{value}") } else { format!("{value:e}") }
}

/// A start that cannot be assembled.
#[must_use]
pub fn assembly(model: &Model, error: &AssemblyError) -> Diagnostic {
    match error {
        AssemblyError::Open { rows } => {
            let span = rows.first().map_or(model.span, |r| place(model, r).0);
            let first = rows.first().map_or_else(String::new, |r| format!(": {} stays open", shown(model, r)));
            let mut d = Diagnostic::error(Code(170), span, format!("the model cannot be assembled{first}"))
                .label("cannot be closed from the given placement");
            for row in rows.iter().skip(1).take(5) {
                d = d.note(format!("also open: {}", shown(model, row)));
            }
            d.help("check lengths and `fixed` values, or place the bodies nearer to the assembled position")
        }
        AssemblyError::ContradictoryVelocities { conflicts } => {
            let span = conflicts.first().map_or(model.span, |c| place(model, &c.row).0);
            let name = conflicts.first().map_or_else(String::new, |c| c.row.element.clone());
            let mut d =
                Diagnostic::error(Code(171), span, format!("initial velocities contradict one another at `{name}`"))
                    .label("already determined by others");
            for c in conflicts.iter().take(5) {
                d = d.note(format!(
                    "`{}` misses by {:.4e} (SI), against {}",
                    c.row.element,
                    c.row.value.abs(),
                    c.with.join(", ")
                ));
            }
            d.help("fix fewer of them, or make one a `guess`")
        }
        AssemblyError::NonFinite { places } => {
            let row =
                ResidualRow { element: places.first().cloned().unwrap_or_default(), row: String::new(), value: 0.0 };
            let name = places.first().map_or_else(|| "the model".to_owned(), |p| format!("`{p}`"));
            Diagnostic::error(Code(172), place(model, &row).0, format!("{name} is not a finite number at the start"))
                .help("look for a length of zero, a root of a negative number or a quotient by zero at the start")
        }
    }
}

/// Redundant constraints where the model says `redundancy = deny`.
#[must_use]
pub fn redundancy(model: &Model, report: &AssemblyReport) -> Diagnostic {
    let text = format!("{} of {} equations are redundant", report.rows - report.rank, report.rows);
    let mut d = Diagnostic::error(Code(173), model.span, text).label("the model says `redundancy = deny`");
    for row in report.dependent.iter().take(8) {
        d = d.note(format!("`{}.{}` follows from {}", row.element_name, row.row_name, row.overlaps.join(", ")));
    }
    d.help("remove what is redundant, or write `redundancy = report;`")
}

/// A failed step.
#[must_use]
pub fn step(model: &Model, error: &StepError) -> Diagnostic {
    let (span, label) = match (&error.kind, error.telling().next()) {
        (StepErrorKind::TurnsTooFar { body }, _) => (named(model, body), "turns too far"),
        (StepErrorKind::Singular { place }, _) => (named(model, place), "singular here"),
        (_, Some(row)) => (Some(place(model, row).0), "largest residual here"),
        (_, None) => (None, ""),
    };
    // The notes show the residuals, in the units of engineers.
    let mut text = StepError { residuals: Vec::new(), ..error.clone() }.to_string();
    let suggestion = text.rsplit_once("; ").map(|(head, tail)| (head.to_owned(), tail.to_owned()));
    let mut help = None;
    if let Some((head, tail)) = suggestion {
        (text, help) = (head, Some(tail));
    }
    let code = match error.kind {
        StepErrorKind::Stiff | StepErrorKind::TooManySteps { .. } => Code(183),
        StepErrorKind::NoConvergence
        | StepErrorKind::Singular { .. }
        | StepErrorKind::Contradiction
        | StepErrorKind::TurnsTooFar { .. }
        | StepErrorKind::NonFinite
        | StepErrorKind::TooShort
        | StepErrorKind::Backwards => Code(180),
    };
    let mut d = Diagnostic::error(code, span.unwrap_or(model.span), text);
    if span.is_some() {
        d = d.label(label);
    }
    for row in error.telling() {
        let rate = if error.is_velocity { "/s" } else { "" };
        d = d.note(format!("residual {}{rate}", shown(model, row)));
    }
    if let Some(help) = help {
        d = d.help(help);
    }
    d.note("the results up to the last good step are complete")
}

/// A check that failed during a run.
#[must_use]
pub fn check(
    model: &Model,
    number: usize,
    name: &str,
    sides: Option<(f64, f64)>,
    time: f64,
    incomplete: bool,
) -> Diagnostic {
    let c = &model.checks[number];
    if incomplete {
        return Diagnostic::error(
            Code(182),
            c.span,
            format!("check `{name}` asks for a time that the run did not reach"),
        );
    }
    let mut text = format!("check `{name}` fails at t = {time} s");
    if let Some((left, right)) = sides {
        let unit = if c.dim == Dim::ONE { String::new() } else { format!(" {}", c.dim.unit()) };
        // As compared: `a > b` is `b < a`.
        let sign = match model.pool.node(c.condition) {
            Node::Cmp(Cmp::Lt, ..) => "<",
            Node::Cmp(Cmp::Le, ..) => "<=",
            Node::Cmp(Cmp::Ne, ..) => "!=",
            _ => "==",
        };
        text.push_str(&format!(": {} {sign} {}{unit} is false", side(left), side(right)));
    }
    let mut d = Diagnostic::error(Code(181), c.span, text).label("does not hold");
    for line in &c.docs {
        d = d.note(line.clone());
    }
    d
}
