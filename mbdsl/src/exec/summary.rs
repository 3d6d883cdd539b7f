//! Reports what a run did, for people and for programs.

use std::fmt::Write as _;

use mbdsl_runtime::steppers::name::StepperName;
use serde::{Serialize, Serializer};

use super::table::{self, TableFormat};

/// The energy at the start counts as zero below this part of the largest kinetic or potential energy: an error cannot
/// be measured by it.
const ZERO_ENERGY: f64 = 1e-12;
/// Bodies whose final position is shown to people.
const MOST_BODIES: usize = 8;

/// What a run did, SI units. The order of the fields is the order of the keys in JSON.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Summary {
    /// Name of the model.
    pub model: String,
    /// The stepper.
    #[serde(serialize_with = "by_name")]
    pub stepper: StepperName,
    /// Why it was chosen, where none was named.
    pub choice: Option<String>,
    /// What executed the model's equations: `jit`, `interp`.
    pub backend: String,
    /// Step size, s; none where a tolerance chooses the steps.
    pub step: Option<f64>,
    /// Time that was asked for, s.
    pub until: f64,
    /// Steps done.
    pub steps: u64,
    /// Time that the run took, s.
    pub wall_s: f64,
    /// Newton iterations of all steps; of explicit methods, moves of the projection.
    pub newton_iterations: u64,
    /// `H(0)`, J.
    pub energy_start: f64,
    /// Largest `|H(t) - H(0)|`, J.
    pub max_energy_error: f64,
    /// The same divided by `|H(0)|`; see [`relative_error`].
    pub max_energy_error_relative: Option<f64>,
    /// Largest component of `Phi`.
    pub max_position_residual: f64,
    /// Largest component of `d/dt Phi`.
    pub max_velocity_residual: f64,
    /// Largest component of `d^2/dt^2 Phi`.
    pub max_acceleration_residual: f64,
    /// Largest component of `R^T R - I` of any body.
    pub max_orthogonality_error: f64,
    /// Largest change of the linear momentum, kg m/s.
    pub max_linear_momentum_error: f64,
    /// Largest change of the angular momentum about the mass centre of the model, kg m^2/s.
    pub max_angular_momentum_error: f64,
    /// Largest change of `|J Omega|` of a body, kg m^2/s.
    pub max_casimir_error: f64,
    /// Mean of `H` over the last tenth of the run less that over the first tenth, J; none where the run ended early.
    pub energy_drift: Option<f64>,
    /// Why a step failed; what stands above is then that of the steps before it.
    pub failure: Option<String>,
    /// Which changes of momenta are errors.
    #[serde(skip)]
    pub conserved: Conserved,
    /// Steps that a tolerance has chosen.
    pub adaptive: Option<Adaptive>,
    /// The last state.
    #[serde(rename = "final")]
    pub end: End,
}

/// What is known of steps that a tolerance has chosen.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Adaptive {
    /// What the error of a step may be.
    pub tolerance: f64,
    /// Steps made in vain.
    pub rejected_steps: u64,
    /// The shortest step, s; none if there was none but the last.
    pub shortest_step: Option<f64>,
    /// The longest step, s; none if there was none.
    pub longest_step: Option<f64>,
    /// Evaluations of accelerations.
    pub evaluations: u64,
}

/// What the equations of a model leave constant, as far as its elements tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Conserved {
    /// Linear and angular momentum: nothing acts on one body alone, as the ground, gravity and loads do.
    pub momenta: bool,
    /// `|J Omega|` of each rigid body: nothing acts between bodies, and no joint holds one.
    pub casimirs: bool,
}

impl Summary {
    /// Whether the first step, or a step before the first output, has failed, so that no errors are known.
    #[must_use]
    pub fn is_void(&self) -> bool {
        self.end.time == 0.0 && self.failure.is_some()
    }
}

fn by_name<S: Serializer>(stepper: &StepperName, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(stepper)
}

/// The last state of a run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct End {
    /// Time reached, s.
    pub time: f64,
    /// Bodies in declaration order.
    pub bodies: Vec<BodyEnd>,
    /// Joints in declaration order.
    pub multipliers: Vec<JointEnd>,
}

/// The last state of a body; position and velocity belong to its reference frame.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BodyEnd {
    /// Name as in the model.
    pub name: String,
    /// Position, m.
    pub pos: [f64; 3],
    /// Rotation, row-major; absent for particles.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rot: Option<[f64; 9]>,
    /// Velocity, m/s.
    pub vel: [f64; 3],
    /// Angular velocity in body axes, rad/s; absent for particles.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub omega: Option<[f64; 3]>,
}

/// The last multipliers of a joint.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct JointEnd {
    /// Name as in the model.
    pub name: String,
    /// Multipliers as forces, one per row.
    pub values: Vec<f64>,
}

/// An energy error in parts of `|H(0)|`; `None` where that is below 1e-12 of the largest kinetic or potential energy of
/// the run (`largest`, J).
#[must_use]
pub fn relative_error(error: f64, start: f64, largest: f64) -> Option<f64> {
    let is_measure = start != 0.0 && start.abs() >= ZERO_ENERGY * largest.abs();
    is_measure.then(|| error / start.abs())
}

/// The object that `--summary json` prints, with a line break at its end.
#[must_use]
pub fn json(summary: &Summary) -> String {
    table::json(summary)
}

/// A summary for people, in aligned lines.
#[must_use]
pub fn text(summary: &Summary) -> String {
    let s = summary;
    let mut lines: Vec<(&str, String)> = Vec::new();
    let stopped =
        if s.end.time < s.until * (1.0 - 1e-9) { format!(" of {}", duration(s.until)) } else { String::new() };
    lines.push(("time", format!("{}{stopped}, {}{}", duration(s.end.time), count(s.steps, "step"), steps(s))));
    let rate = if s.wall_s > 0.0 && s.steps > 0 {
        format!(" ({} steps/s)", significant(s.steps as f64 / s.wall_s))
    } else {
        String::new()
    };
    lines.push(("wall time", format!("{:.3} s{rate}", s.wall_s)));
    let per_step = |number: u64| {
        if s.steps > 0 { format!(" ({:.2} per step)", number as f64 / s.steps as f64) } else { String::new() }
    };
    if let Some(a) = &s.adaptive {
        lines.push(("rejected", count(a.rejected_steps, "step")));
        lines.push(("evaluations", format!("{}{}", a.evaluations, per_step(a.evaluations))));
    }
    let (solver, pass) = match s.stepper {
        StepperName::Euler(_)
        | StepperName::Splitting(_)
        | StepperName::Implicit(_)
        | StepperName::GeneralizedAlpha(_) => ("Newton", "iteration"),
        StepperName::Explicit(_) => ("projection", "move"),
    };
    lines.push((solver, format!("{}{}", count(s.newton_iterations, pass), per_step(s.newton_iterations))));
    lines.push(("energy at start", format!("{} J", energy(s.energy_start))));
    let relative = s.max_energy_error_relative.map_or("none".to_owned(), energy);
    lines.push(("largest energy error", format!("{} J (relative: {relative})", energy(s.max_energy_error))));
    let norms = [s.max_position_residual, s.max_velocity_residual, s.max_acceleration_residual].map(residual);
    lines.push(("largest residuals", format!("Phi {}, dPhi {}, d2Phi {}", norms[0], norms[1], norms[2])));
    if s.end.bodies.iter().any(|b| b.rot.is_some()) {
        lines.push(("orthogonality error", residual(s.max_orthogonality_error)));
    }

    lines.extend(s.choice.clone().map(|reason| ("chosen", reason)));

    let mut out = format!("{}, {}, {}\n", s.model, s.stepper, s.backend);
    let width = lines.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    for (name, value) in lines {
        put(&mut out, format_args!("  {name:width$}  {value}\n"));
    }
    put_positions(&mut out, &s.end);
    out
}

/// Sizes of the steps, to stand after their number.
fn steps(s: &Summary) -> String {
    let sizes = s.adaptive.and_then(|a| a.shortest_step.zip(a.longest_step));
    match (s.step, sizes) {
        (Some(step), _) => format!(" of {}", duration(step)),
        (None, Some((shortest, longest))) => format!(" of {} to {}", rough(shortest), rough(longest)),
        (None, None) => String::new(),
    }
}

fn put_positions(out: &mut String, end: &End) {
    if end.bodies.is_empty() {
        return;
    }
    put(out, format_args!("  positions at {}, m\n", duration(end.time)));
    let shown = &end.bodies[..end.bodies.len().min(MOST_BODIES)];
    let rows: Vec<Vec<String>> = shown
        .iter()
        .map(|b| std::iter::once(b.name.clone()).chain(b.pos.iter().map(|x| fixed(*x, 6))).collect())
        .collect();
    let widths = table::widths(&rows);
    for row in &rows {
        out.push_str("    ");
        table::put_row(out, row, &widths, "  ");
        out.push('\n');
    }
    if end.bodies.len() > shown.len() {
        put(out, format_args!("    and {} more\n", end.bodies.len() - shown.len()));
    }
}

/// One row per summary: stepper, errors of the energy, residuals, drift of the energy, changes of momenta, Newton
/// iterations, wall time. In text and Markdown changes of momenta stand only where they are errors, and failures stand below the table.
#[must_use]
pub fn table(rows: &[Summary], format: TableFormat) -> String {
    match format {
        TableFormat::Text => table::text(&cells(rows)) + &failures(rows),
        TableFormat::Markdown => table::markdown(&cells(rows)) + &failures(rows),
        TableFormat::Csv => csv_table(rows),
        TableFormat::Json => table::json(rows),
    }
}

/// `dP` and `dL` are changes of the linear and angular momentum, `dpi` of the size of the angular momentum of a body in its axes.
fn cells(rows: &[Summary]) -> Vec<Vec<String>> {
    let momenta = rows.iter().all(|s| s.conserved.momenta);
    let casimirs = rows.iter().all(|s| s.conserved.casimirs);
    let mut heading = vec!["stepper", "max energy error", "relative", "Phi", "dPhi", "d2Phi", "drift"];
    heading.extend(["dP", "dL"].iter().filter(|_| momenta));
    heading.extend(["dpi"].iter().filter(|_| casimirs));
    heading.extend(["iterations", "wall s"]);
    let row = |s: &Summary| {
        let mut errors = vec![
            energy(s.max_energy_error),
            s.max_energy_error_relative.map_or("-".to_owned(), energy),
            residual(s.max_position_residual),
            residual(s.max_velocity_residual),
            residual(s.max_acceleration_residual),
            s.energy_drift.map_or("-".to_owned(), energy),
        ];
        let changes = [s.max_linear_momentum_error, s.max_angular_momentum_error];
        errors.extend(changes.into_iter().filter(|_| momenta).map(residual));
        errors.extend(Some(s.max_casimir_error).filter(|_| casimirs).map(residual));
        if s.is_void() {
            errors.fill("-".to_owned());
            errors[0] = "failed".to_owned();
        }
        let cost = [s.newton_iterations.to_string(), format!("{:.3}", s.wall_s)];
        std::iter::once(s.stepper.to_string()).chain(errors).chain(cost).collect()
    };
    std::iter::once(heading.into_iter().map(str::to_owned).collect()).chain(rows.iter().map(row)).collect()
}

/// A line for each run that a step ended, after an empty one.
fn failures(rows: &[Summary]) -> String {
    let line = |s: &Summary| {
        let failure = s.failure.as_ref()?;
        Some(match s.adaptive {
            _ if s.is_void() => format!("\n{failure}"),
            None => format!("\n{failure}; its row is that of the {} before", count(s.steps, "step")),
            Some(_) => format!("\n{failure}; its row is that of the outputs before"),
        })
    };
    let lines: String = rows.iter().filter_map(line).collect();
    if lines.is_empty() { lines } else { lines + "\n" }
}

fn csv_table<'a>(rows: &'a [Summary]) -> String {
    #[derive(Serialize)]
    struct Row<'a> {
        stepper: String,
        max_energy_error: Option<f64>,
        max_energy_error_relative: Option<f64>,
        max_position_residual: Option<f64>,
        max_velocity_residual: Option<f64>,
        max_acceleration_residual: Option<f64>,
        max_linear_momentum_error: Option<f64>,
        max_angular_momentum_error: Option<f64>,
        max_casimir_error: Option<f64>,
        energy_drift: Option<f64>,
        newton_iterations: u64,
        wall_s: f64,
        failure: Option<&'a str>,
    }
    let row = |s: &'a Summary| {
        let known = |x: f64| (!s.is_void()).then_some(x);
        Row {
            stepper: s.stepper.to_string(),
            max_energy_error: known(s.max_energy_error),
            max_energy_error_relative: s.max_energy_error_relative.and_then(known),
            max_position_residual: known(s.max_position_residual),
            max_velocity_residual: known(s.max_velocity_residual),
            max_acceleration_residual: known(s.max_acceleration_residual),
            max_linear_momentum_error: known(s.max_linear_momentum_error),
            max_angular_momentum_error: known(s.max_angular_momentum_error),
            max_casimir_error: known(s.max_casimir_error),
            energy_drift: s.energy_drift,
            newton_iterations: s.newton_iterations,
            wall_s: s.wall_s,
            failure: s.failure.as_deref(),
        }
    };
    table::csv(rows.iter().map(row))
}

fn put(out: &mut String, text: std::fmt::Arguments<'_>) {
    out.write_fmt(text).expect("writing to a string cannot fail");
}

/// An energy or its relative error: four decimals, scientific where they would not show it.
pub(super) fn energy(v: f64) -> String {
    number(v, 1e-3)
}

/// A residual: four decimals, scientific where they would not show it.
pub(super) fn residual(v: f64) -> String {
    number(v, 1e-4)
}

fn number(v: f64, least: f64) -> String {
    // Above this, decimals are noise and widen the column.
    const MOST: f64 = 1e9;
    match v.abs() {
        0.0 => "0".to_owned(),
        size if (least..MOST).contains(&size) => format!("{v:.4}"),
        size if size.is_finite() => scientific(v),
        _ => v.to_string(),
    }
}

/// `1.23e-09`: a sign and at least two digits of the exponent.
fn scientific(v: f64) -> String {
    let text = format!("{v:.2e}");
    match text.split_once('e') {
        Some((digits, exponent)) => match exponent.strip_prefix('-') {
            Some(power) => format!("{digits}e-{power:0>2}"),
            None => format!("{digits}e+{exponent:0>2}"),
        },
        None => text,
    }
}

/// A number with fixed decimals, without negative zero.
fn fixed(v: f64, decimals: usize) -> String {
    let text = format!("{v:.decimals$}");
    match text.strip_prefix('-') {
        Some(rest) if rest.chars().all(|c| matches!(c, '0' | '.')) => rest.to_owned(),
        _ => text,
    }
}

/// Three significant digits, in thousands or millions where large.
fn significant(v: f64) -> String {
    let (v, suffix) = match v {
        v if v >= 1e6 => (v / 1e6, " million"),
        v if v >= 1e4 => (v / 1e3, " thousand"),
        v => (v, ""),
    };
    let decimals = (2 - v.log10().floor() as i32).clamp(0, 2) as usize;
    format!("{v:.decimals$}{suffix}")
}

/// `1 step`, `3 steps`.
fn count(n: u64, what: &str) -> String {
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}

/// A time in the unit of the language that leaves a readable number: `10 us`.
pub(super) fn duration(seconds: f64) -> String {
    let (scale, unit) = match seconds.abs() {
        0.0 | 1.0.. => (1.0, "s"),
        1e-3.. => (1e3, "ms"),
        1e-6.. => (1e6, "us"),
        _ => (1e9, "ns"),
    };
    // Twelve digits hide that 1e-5 * 1e6 is not 10.
    let text = format!("{:.12}", seconds * scale);
    let text = text.trim_end_matches('0').trim_end_matches('.');
    format!("{text} {unit}")
}

/// A time by three digits.
fn rough(seconds: f64) -> String {
    duration(format!("{seconds:.2e}").parse().unwrap_or(seconds))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn summary(stepper: &str) -> Summary {
        Summary {
            model: "SinglePendulum".into(),
            stepper: stepper.parse().expect("a stepper"),
            choice: None,
            backend: "jit".into(),
            step: Some(1e-5),
            until: 10.0,
            steps: 1_000_000,
            wall_s: 0.81234,
            newton_iterations: 2_500_000,
            energy_start: 5436.5303,
            max_energy_error: 26.42161,
            max_energy_error_relative: Some(26.42161 / 5436.5303),
            max_position_residual: 4.4e-16,
            max_velocity_residual: 0.0123456,
            max_acceleration_residual: 221.0,
            max_orthogonality_error: 2.2e-15,
            max_linear_momentum_error: 0.5,
            max_angular_momentum_error: 2.0,
            max_casimir_error: 0.25,
            energy_drift: Some(-25.0),
            failure: None,
            conserved: Conserved { momenta: true, casimirs: true },
            adaptive: None,
            end: End {
                time: 10.0,
                bodies: vec![
                    BodyEnd {
                        name: "top".into(),
                        pos: [0.5, -1.0 / 3.0, -1e-9],
                        rot: Some([1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0]),
                        vel: [0.0; 3],
                        omega: Some([0.0, 150.0, 0.0]),
                    },
                    BodyEnd { name: "bead[12]".into(), pos: [-12.0, 0.0, 1.0], rot: None, vel: [0.0; 3], omega: None },
                ],
                multipliers: vec![JointEnd { name: "pivot".into(), values: vec![1.5, 0.0, -147.15] }],
            },
        }
    }

    /// A stepper at round-off on a model whose energy is zero.
    fn exact() -> Summary {
        Summary {
            max_energy_error: 3.2e-12,
            max_energy_error_relative: None,
            max_velocity_residual: 0.0,
            max_acceleration_residual: 9.9e-5,
            max_casimir_error: 3e-16,
            energy_drift: None,
            wall_s: 12.0,
            newton_iterations: 7,
            ..summary("variational_cayley")
        }
    }

    #[test]
    fn text_tables_are_aligned() {
        let expected = "\
stepper             max energy error  relative       Phi    dPhi     d2Phi     drift      dP      dL       dpi  iterations  wall s
------------------  ----------------  --------  --------  ------  --------  --------  ------  ------  --------  ----------  ------
dae3l_le                     26.4216    0.0049  4.40e-16  0.0123  221.0000  -25.0000  0.5000  2.0000    0.2500     2500000   0.812
variational_cayley          3.20e-12         -  4.40e-16       0  9.90e-05         -  0.5000  2.0000  3.00e-16           7  12.000
";
        assert_eq!(table(&[summary("dae3l_le"), exact()], TableFormat::Text), expected);
    }

    #[test]
    fn markdown_tables_are_aligned() {
        let expected = "\
| stepper            | max energy error | relative |      Phi |   dPhi |    d2Phi |    drift |     dP |     dL |      dpi | iterations | wall s |
|:-------------------|-----------------:|---------:|---------:|-------:|---------:|---------:|-------:|-------:|---------:|-----------:|-------:|
| dae3l_le           |          26.4216 |   0.0049 | 4.40e-16 | 0.0123 | 221.0000 | -25.0000 | 0.5000 | 2.0000 |   0.2500 |    2500000 |  0.812 |
| variational_cayley |         3.20e-12 |        - | 4.40e-16 |      0 | 9.90e-05 |        - | 0.5000 | 2.0000 | 3.00e-16 |          7 | 12.000 |
";
        assert_eq!(table(&[summary("dae3l_le"), exact()], TableFormat::Markdown), expected);
    }

    #[test]
    fn csv_tables_have_full_numbers_and_nothing_for_null() {
        let expected = "\
stepper,max_energy_error,max_energy_error_relative,max_position_residual,max_velocity_residual,max_acceleration_residual,\
max_linear_momentum_error,max_angular_momentum_error,max_casimir_error,energy_drift,newton_iterations,wall_s,failure
variational_cayley,3.2e-12,,4.4e-16,0.0,0.000099,0.5,2.0,3e-16,,7,12.0,
";
        assert_eq!(table(&[exact()], TableFormat::Csv), expected);
    }

    #[test]
    fn json_has_the_keys_in_order() {
        let text = table(&[exact(), summary("dopri5")], TableFormat::Json);
        let value: serde_json::Value = serde_json::from_str(&text).expect("json");
        let first = value[0].as_object().expect("object");
        let keys: Vec<&str> = first.keys().map(String::as_str).collect();
        let expected = "model stepper choice backend step until steps wall_s newton_iterations energy_start max_energy_error \
             max_energy_error_relative max_position_residual max_velocity_residual max_acceleration_residual \
             max_orthogonality_error max_linear_momentum_error max_angular_momentum_error max_casimir_error energy_drift \
             failure adaptive final";
        assert_eq!(keys, expected.split_whitespace().collect::<Vec<_>>());
        assert!(first["max_energy_error_relative"].is_null());
        let keys = |v: &serde_json::Value| v.as_object().expect("object").keys().cloned().collect::<Vec<_>>();
        assert_eq!(keys(&first["final"]), ["time", "bodies", "multipliers"]);
        assert_eq!(keys(&first["final"]["bodies"][0]), ["name", "pos", "rot", "vel", "omega"]);
        assert_eq!(keys(&first["final"]["bodies"][1]), ["name", "pos", "vel"]);
        assert_eq!(keys(&first["final"]["multipliers"][0]), ["name", "values"]);
        assert_eq!(value[1], serde_json::from_str::<serde_json::Value>(&json(&summary("dopri5"))).expect("json"));
        assert_eq!(value[1]["final"]["bodies"][0]["pos"][1].as_f64(), Some(-1.0 / 3.0));
    }

    #[test]
    fn failures_stand_in_their_row_and_below() {
        let why = "dopri5 failed on the step of 1e0 s to t = 1 s: `top` turns too far in one step".to_owned();
        let start = End { time: 0.0, ..summary("dopri5").end };
        let void =
            Summary { steps: 0, energy_drift: None, failure: Some(why.clone()), end: start, ..summary("dopri5") };
        let held = Conserved { momenta: false, casimirs: false };
        let late = Summary { failure: Some("dop853 failed".to_owned()), steps: 3, ..summary("dop853") };
        let rows = [&void, &late].map(|s| Summary { conserved: held, ..s.clone() });
        let expected = "\
stepper  max energy error  relative       Phi    dPhi     d2Phi     drift  iterations  wall s
-------  ----------------  --------  --------  ------  --------  --------  ----------  ------
dopri5             failed         -         -       -         -         -     2500000   0.812
dop853            26.4216    0.0049  4.40e-16  0.0123  221.0000  -25.0000     2500000   0.812

dopri5 failed on the step of 1e0 s to t = 1 s: `top` turns too far in one step
dop853 failed; its row is that of the 3 steps before
";
        assert_eq!(table(&rows, TableFormat::Text), expected);
        let csv = table(&[void], TableFormat::Csv);
        assert!(csv.ends_with(&format!("\ndopri5,,,,,,,,,,2500000,0.81234,{why}\n")), "{csv}");
    }

    #[test]
    fn explicit_methods_project() {
        assert!(text(&summary("dop853")).contains("\n  projection            2500000 moves (2.50 per step)\n"));
    }

    #[test]
    fn tables_without_rows() {
        assert_eq!(table(&[], TableFormat::Text).lines().count(), 2);
        assert_eq!(table(&[], TableFormat::Markdown).lines().count(), 2);
        assert_eq!(table(&[], TableFormat::Json), "[]\n");
    }

    #[test]
    fn text_for_people() {
        let expected = "\
SinglePendulum, dae1l_lse, jit
  time                  10 s, 1000000 steps of 10 us
  wall time             0.812 s (1.23 million steps/s)
  Newton                2500000 iterations (2.50 per step)
  energy at start       5436.5303 J
  largest energy error  26.4216 J (relative: 0.0049)
  largest residuals     Phi 4.40e-16, dPhi 0.0123, d2Phi 221.0000
  orthogonality error   2.20e-15
  positions at 10 s, m
    top         0.500000  -0.333333  0.000000
    bead[12]  -12.000000   0.000000  1.000000
";
        assert_eq!(text(&summary("dae1l_lse")), expected);
    }

    #[test]
    fn text_of_runs_that_did_little() {
        let mut s = exact();
        (s.steps, s.wall_s, s.end.time) = (0, 0.0, 0.25);
        s.end.bodies = (0..11)
            .map(|k| BodyEnd { name: format!("b[{k}]"), rot: None, omega: None, ..s.end.bodies[1].clone() })
            .collect();
        let text = text(&s);
        assert!(text.contains("250 ms of 10 s, 0 steps of 10 us\n") && text.contains("(relative: none)"));
        assert!(text.ends_with("    and 3 more\n") && !text.contains("NaN") && !text.contains("orthogonality"));
        s.end.bodies.clear();
        assert!(!super::text(&s).contains("positions"));
    }

    #[test]
    fn numbers() {
        assert_eq!(
            [26.42161, 0.00486, 1e-3, 9.9e-4, 0.0].map(energy),
            ["26.4216", "0.0049", "0.0010", "9.90e-04", "0"]
        );
        assert_eq!([1e-4, 9.99e-5, 1e-123, 2.5e12].map(residual), ["0.0001", "9.99e-05", "1.00e-123", "2.50e+12"]);
        assert_eq!([f64::NAN, f64::INFINITY].map(residual), ["NaN", "inf"]);
        assert_eq!([1e-5, 2.5e-3, 0.0, 3600.0, 1e-7].map(duration), ["10 us", "2.5 ms", "0 s", "3600 s", "100 ns"]);
    }

    #[test]
    fn relative_errors_need_an_energy() {
        assert_eq!(relative_error(1.0, -4.0, 9.0), Some(0.25));
        assert_eq!(relative_error(1.0, 1e-13, 1.0), None);
        assert_eq!(relative_error(1.0, 1e-12, 1.0), Some(1e12));
        assert_eq!(relative_error(0.0, 0.0, 0.0), None);
    }
}
