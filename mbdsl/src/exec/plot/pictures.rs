//! Chooses what each picture of a run shows.

use super::super::record::{Column, Trajectory};
use super::canvas::Stroke;
use super::figure::{Across, Curve, Figure, Height, Panel};
use super::{ErrorCurve, WorkCurve};

/// Bodies in the picture of positions.
const MOST_POSITIONS: usize = 6;
/// Bodies in the picture of rotations: nine panels each.
const MOST_ROTATIONS: usize = 2;
/// Panels in the pictures of multipliers and of outputs.
const MOST_GROUPS: usize = 12;
/// Height of a panel that has the width of the picture, px.
const WIDE: f64 = 190.0;
/// Height of a panel of the comparison of steppers, px.
const TALL: f64 = 260.0;
/// Height of a panel that has half the width, px.
const HALF: f64 = 170.0;
/// Height of a panel that has a third of the width, px.
const SMALL: f64 = 105.0;

/// Title of a picture of a run.
#[must_use]
pub fn title(trajectory: &Trajectory, subject: &str) -> String {
    let meta = trajectory.meta();
    let names = [meta.model.as_str(), meta.stepper.as_str()].into_iter().filter(|n| !n.is_empty());
    let run = names.collect::<Vec<_>>().join(", ");
    if run.is_empty() { subject.to_owned() } else { format!("{run}: {subject}") }
}

/// At most `most` of `all` things: evenly spread with both ends, which tell most of a chain.
#[must_use]
pub fn spread(all: usize, most: usize) -> Vec<usize> {
    match most {
        _ if all <= most => (0..all).collect(),
        0 | 1 => (0..most).collect(),
        _ => (0..most).map(|k| k * (all - 1) / (most - 1)).collect(),
    }
}

/// `6 of 1000 bodies` where not all are shown.
fn note(shown: usize, all: usize, what: &str) -> String {
    if shown < all { format!("{shown} of {all} {what}") } else { String::new() }
}

fn curve<'a>(name: &str, places: &'a [f64], values: Vec<f64>, k: usize) -> Curve<'a> {
    Curve { name: name.to_owned(), places, values, stroke: Stroke::nth(k) }
}

fn panel<'a>(title: &str, symbol: &str, unit: &str, height: Height, curves: Vec<Curve<'a>>) -> Panel<'a> {
    Panel { title: title.to_owned(), symbol: symbol.to_owned(), unit: unit.to_owned(), height, curves }
}

/// Panels over time below each other, each with its own scale.
fn over_time(title: String, note: String, panels: Vec<Panel<'_>>) -> Figure<'_> {
    Figure { title, note, panels, across: Across::Time, is_shared: false, columns: 1, panel_height: WIDE }
}

/// One column where panels are few, else two.
fn grid<'a>(title: String, note: String, panels: Vec<Panel<'a>>) -> Option<Figure<'a>> {
    if panels.is_empty() {
        return None;
    }
    let (columns, panel_height) = if panels.len() <= 3 { (1, WIDE) } else { (2, HALF) };
    Some(Figure { columns, panel_height, ..over_time(title, note, panels) })
}

/// Coordinates over time, one panel per body.
#[must_use]
pub fn position<'a>(trajectory: &Trajectory, times: &'a [f64]) -> Option<Figure<'a>> {
    let bodies = &trajectory.meta().bodies;
    let shown = spread(bodies.len(), MOST_POSITIONS);
    let coordinate = |b: usize, c: usize| trajectory.series(|s| s.pos(b)[c]);
    let panels = shown.iter().map(|&b| {
        let curves = ["x", "y", "z"].iter().enumerate().map(|(c, name)| curve(name, times, coordinate(b, c), c));
        panel(&bodies[b].name, "position", "m", Height::Linear, curves.collect())
    });
    grid(title(trajectory, "position"), note(shown.len(), bodies.len(), "bodies"), panels.collect())
}

/// Columns of one vector: `cm.x`, `cm.y`, `cm.z` -> `cm` and the numbers of the columns.
fn groups(columns: &[Column]) -> Vec<(&str, Vec<usize>)> {
    let mut out: Vec<(&str, Vec<usize>)> = Vec::new();
    for (k, column) in columns.iter().enumerate() {
        let (stem, _) = split(&column.name);
        match out.last_mut() {
            // A vector has one unit, and a bare name is a quantity of its own.
            Some((last, members))
                if *last == stem && stem != column.name && columns[members[0]].unit == column.unit =>
            {
                members.push(k);
            }
            _ => out.push((stem, vec![k])),
        }
    }
    out
}

/// `cm.x` -> `cm`, `x`; a name without component is its own stem.
fn split(name: &str) -> (&str, &str) {
    match name.rsplit_once('.') {
        Some((stem, component)) => (stem, component),
        None => (name, ""),
    }
}

fn grouped<'a>(
    columns: &[Column],
    symbol: &str,
    times: &'a [f64],
    series: impl Fn(usize) -> Vec<f64>,
) -> (usize, Vec<Panel<'a>>) {
    let groups = groups(columns);
    let panels = spread(groups.len(), MOST_GROUPS).into_iter().map(|g| {
        let (stem, members) = &groups[g];
        let curves = members.iter().enumerate().map(|(c, k)| curve(split(&columns[*k].name).1, times, series(*k), c));
        panel(stem, symbol, &columns[members[0]].unit, Height::Linear, curves.collect())
    });
    (groups.len(), panels.collect())
}

/// Multipliers over time, one panel per joint.
#[must_use]
pub fn multipliers<'a>(trajectory: &Trajectory, times: &'a [f64]) -> Option<Figure<'a>> {
    let rows = &trajectory.meta().rows;
    let (all, panels) = grouped(rows, "λ", times, |k| trajectory.series(|s| s.multipliers[k]));
    grid(title(trajectory, "multipliers"), note(panels.len(), all, "joints"), panels)
}

/// Outputs over time, one panel per output.
#[must_use]
pub fn outputs<'a>(trajectory: &Trajectory, times: &'a [f64]) -> Option<Figure<'a>> {
    let columns = &trajectory.meta().outputs;
    let (all, panels) = grouped(columns, "", times, |k| trajectory.series(|s| s.outputs[k]));
    grid(title(trajectory, "outputs"), note(panels.len(), all, "outputs"), panels)
}

/// Kinetic, potential and total energy, and the change of the total.
#[must_use]
pub fn energy<'a>(trajectory: &Trajectory, times: &'a [f64]) -> Option<Figure<'a>> {
    if trajectory.is_empty() {
        return None;
    }
    let start = trajectory.sample(0).energy();
    let parts = vec![
        curve("kinetic", times, trajectory.series(|s| s.kinetic), 0),
        curve("potential", times, trajectory.series(|s| s.potential), 1),
        curve("total", times, trajectory.series(|s| s.energy()), 6),
    ];
    let error = vec![curve("", times, trajectory.series(|s| s.energy() - start), 0)];
    let panels = vec![
        panel("energy", "", "J", Height::Linear, parts),
        panel("energy error", "H − H(0)", "J", Height::Linear, error),
    ];
    grid(title(trajectory, "energy"), String::new(), panels)
}

/// The three norms of the constraints.
#[must_use]
pub fn constraints<'a>(trajectory: &Trajectory, times: &'a [f64]) -> Option<Figure<'a>> {
    if trajectory.meta().rows.is_empty() || trajectory.is_empty() {
        return None;
    }
    let norm = |title: &str, symbol: &str, values: Vec<f64>, k: usize| {
        let values = values.iter().map(|v| v.abs()).collect();
        panel(title, symbol, "", Height::Log, vec![curve("", times, values, k)])
    };
    let panels = vec![
        norm("position", "max |Φ|", trajectory.series(|s| s.position_residual), 0),
        norm("velocity", "max |dΦ/dt|", trajectory.series(|s| s.velocity_residual), 1),
        norm("acceleration", "max |d²Φ/dt²|", trajectory.series(|s| s.acceleration_residual), 2),
    ];
    grid(title(trajectory, "constraint errors"), "SI units, as the joints write their rows".to_owned(), panels)
}

/// The nine elements of the rotations.
#[must_use]
pub fn rotation<'a>(trajectory: &Trajectory, times: &'a [f64]) -> Option<Figure<'a>> {
    let bodies = &trajectory.meta().bodies;
    let rigid: Vec<usize> = (0..bodies.len()).filter(|b| !bodies[*b].is_particle).collect();
    if rigid.is_empty() {
        return None;
    }
    let shown = spread(rigid.len(), MOST_ROTATIONS);
    let mut panels = Vec::new();
    for (k, b) in shown.iter().map(|r| rigid[*r]).enumerate() {
        for e in 0..9 {
            let symbol = format!("R{}{}", subscript(e / 3 + 1), subscript(e % 3 + 1));
            let values = trajectory.series(|s| s.rot(b)[e]);
            panels.push(panel(
                &bodies[b].name,
                &symbol,
                "",
                Height::AtLeast(-1.0, 1.0),
                vec![curve("", times, values, k)],
            ));
        }
    }
    let note = note(shown.len(), rigid.len(), "rigid bodies");
    Some(Figure { columns: 3, panel_height: SMALL, ..over_time(title(trajectory, "rotation"), note, panels) })
}

fn subscript(digit: usize) -> char {
    ['₀', '₁', '₂', '₃'][digit]
}

/// How far the rotations are from orthogonal.
#[must_use]
pub fn orthogonality<'a>(trajectory: &Trajectory, times: &'a [f64]) -> Option<Figure<'a>> {
    if trajectory.meta().bodies.iter().all(|b| b.is_particle) {
        return None;
    }
    let values = trajectory.series(|s| s.orthogonality.abs());
    let panels = vec![panel("", "max |RᵀR − I|", "", Height::Log, vec![curve("", times, values, 0)])];
    grid(title(trajectory, "orthogonality of the rotations"), String::new(), panels)
}

/// Errors of the energy of several runs: with sign, and their sizes on a logarithmic scale.
#[must_use]
pub fn comparison<'a>(model: &str, curves: impl Iterator<Item = ErrorCurve<'a>> + Clone) -> Figure<'a> {
    let each = |change: fn(f64) -> f64| {
        let change = move |v: &f64| change(*v);
        let curves = curves.clone().enumerate();
        curves.map(|(k, c)| curve(c.name, c.times, c.errors.iter().map(change).collect(), k)).collect()
    };
    let panels = vec![
        panel("energy error", "H − H(0)", "J", Height::Linear, each(|v| v)),
        panel("size of the energy error", "|H − H(0)|", "J", Height::Log, each(f64::abs)),
    ];
    Figure { panel_height: TALL, ..over_time(format!("{model}: energy errors"), String::new(), panels) }
}

/// Sizes of the errors of the energy of several runs side by side, a panel a run, all on one logarithmic scale: what damps rises,
/// what keeps the energy stays in a band.
#[must_use]
pub fn side_by_side<'a>(model: &str, curves: impl Iterator<Item = ErrorCurve<'a>>) -> Figure<'a> {
    let one = |(k, c): (usize, ErrorCurve<'a>)| {
        let sizes = c.errors.iter().map(|v| v.abs()).collect();
        let curve = curve("", c.times, sizes, k);
        // Alone in its panel it need not be told from others by dashes.
        let solid = Curve { stroke: Stroke { is_dashed: false, ..curve.stroke }, ..curve };
        panel(c.name, "|H − H(0)|", "J", Height::Log, vec![solid])
    };
    let panels = curves.enumerate().map(one).collect();
    let title = format!("{model}: energy errors by stepper, on one scale");
    Figure { is_shared: true, columns: 3, panel_height: HALF, ..over_time(title, String::new(), panels) }
}

/// Errors at the end against the time that they cost, a line a stepper. Attitudes are left out where there are none.
#[must_use]
pub fn work_precision<'a>(title: &str, note: &str, curves: &[WorkCurve<'a>]) -> Figure<'a> {
    let each = |values: fn(&WorkCurve<'a>) -> &'a [f64]| {
        let curves = curves.iter().enumerate();
        curves.map(|(k, c)| curve(c.name, c.wall, values(c).to_vec(), k)).collect::<Vec<_>>()
    };
    let mut panels = vec![panel("position", "largest error", "m", Height::Log, each(|c| c.position))];
    if curves.iter().any(|c| !c.attitude.is_empty()) {
        panels.push(panel("attitude", "largest error", "rad", Height::Log, each(|c| c.attitude)));
    }
    let figure = over_time(title.to_owned(), note.to_owned(), panels);
    Figure { across: Across::Log("wall time", "s"), columns: 2, panel_height: 2.0 * WIDE, ..figure }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spreads_reach_both_ends() {
        assert_eq!(spread(3, 6), [0, 1, 2]);
        assert_eq!(spread(6, 6), [0, 1, 2, 3, 4, 5]);
        assert_eq!(spread(1001, 6), [0, 200, 400, 600, 800, 1000]);
        assert_eq!((spread(0, 6), spread(9, 2)), (vec![], vec![0, 8]));
    }

    #[test]
    fn components_of_a_vector_share_a_panel() {
        let column = |(name, unit): (&str, &str)| Column { name: name.into(), unit: unit.into() };
        let names =
            [("cm.x", "m"), ("cm.y", "m"), ("sag", "m"), ("q[0].x", "m"), ("q[1].x", "m"), ("h.x", "m"), ("h.y", "N")];
        let columns: Vec<Column> = names.map(column).to_vec();
        let expected = [
            ("cm", vec![0, 1]),
            ("sag", vec![2]),
            ("q[0]", vec![3]),
            ("q[1]", vec![4]),
            ("h", vec![5]),
            ("h", vec![6]),
        ];
        assert_eq!(groups(&columns), expected);
    }
}
