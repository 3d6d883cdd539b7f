//! Draws the paths of bodies in space: three orthogonal projections and an isometric view, all at equal scales.

use super::super::record::Trajectory;
use super::axis::{self, Axis};
use super::canvas::{Anchor, Canvas, FRAME, Font, GREY, GRID, Stroke};
use super::curve;
use super::figure::{self, Frame, LINE, MARGIN, WIDTH, Word};
use super::pictures;

/// Bodies with a colour and a name; the others are thin and grey.
const MOST_NAMED: usize = 12;
/// Distance between a projection and the labels of the next, px.
const BETWEEN: f64 = 26.0;
/// Room for the labels below a projection, px.
const BELOW: f64 = 44.0;
/// Distance that a path may lose, px: below what is seen.
const FINE: f64 = 0.1;
/// The same for grey paths, of which there may be a thousand.
const COARSE: f64 = 0.5;
const AXES: [&str; 3] = ["x", "y", "z"];

type Point = [f64; 3];

/// A projection of the cube with sides 0 to 1 to the picture.
enum View {
    /// Two coordinates in a frame with its upper left corner at a place.
    Flat { at: (f64, f64), size: f64, right: usize, up: usize },
    /// All three, as seen from far away along (1, 1, 1).
    Isometric { centre: (f64, f64), scale: f64 },
}

impl View {
    /// Where a point is in the picture, px.
    fn place(&self, p: &Point) -> (f64, f64) {
        match self {
            Self::Flat { at, size, right, up } => (at.0 + p[*right] * size, at.1 + (1.0 - p[*up]) * size),
            Self::Isometric { centre, scale } => {
                let [x, y, z] = p.map(|c| (c - 0.5) * scale);
                (centre.0 + (y - x) / 2f64.sqrt(), centre.1 - (2.0 * z - x - y) / 6f64.sqrt())
            }
        }
    }
}

/// The text of the picture; `None` if no body has a position.
#[must_use]
pub fn render(trajectory: &Trajectory, title: &str) -> Option<String> {
    let meta = trajectory.meta();
    let cube = bounding_cube(trajectory)?;
    let axes = cube.map(|range| Axis::linear(range, "m", 5));

    // Names of the paths above everything.
    let named = pictures::spread(meta.bodies.len(), MOST_NAMED);
    let room = WIDTH - 2.0 * MARGIN;
    let word = |(k, b): (usize, &usize)| {
        let text = Font::LABEL.fit(&meta.bodies[*b].name, room / 3.0);
        Word { text, font: Font::LABEL, swatch: Some(Stroke::nth(k)) }
    };
    let mut words: Vec<Word> = named.iter().enumerate().map(word).collect();
    if meta.bodies.len() > named.len() {
        let text = format!("{} more", meta.bodies.len() - named.len());
        words.push(Word { text, font: Font::LABEL, swatch: Some(Stroke::solid(GREY, 1.0)) });
    }
    let note = "○ start   ● end";
    let head = figure::title_height(note);
    let top = head + figure::count_lines(&words, room) as f64 * LINE + 1.5 * LINE;

    let labels = axes.iter().map(figure::label_width).fold(20.0, f64::max) + 10.0;
    let left = MARGIN + labels;
    let size = 0.5 * (room - BETWEEN) - labels;
    let middle = WIDTH - MARGIN - size;
    let below = top + size + BELOW + LINE;
    let mut canvas = Canvas::new(WIDTH, below + size + BELOW, title);
    figure::draw_title(&mut canvas, title, note);
    figure::draw_words(&mut canvas, &words, (MARGIN, head), room);

    // Front and side share z, front and top share x, as in a technical drawing.
    let mut views = Vec::new();
    for (at, right, up, name) in
        [((left, top), 0, 2, "front"), ((middle, top), 1, 2, "side"), ((left, below), 0, 1, "top")]
    {
        let frame = Frame { at, size: (size, size), x: axes[right].clone(), y: axes[up].clone() };
        frame.draw(&mut canvas);
        canvas.text((at.0, at.1 - 6.0), Anchor::Start, Font::HEADING, name);
        let beside = at.0 + Font::HEADING.width(name) + 8.0;
        canvas.text((beside, at.1 - 6.0), Anchor::Start, Font::LABEL, &axes[up].name(AXES[up]));
        let under = (at.0 + 0.5 * size, at.1 + size + 31.0);
        canvas.text(under, Anchor::Middle, Font::LABEL, &axes[right].name(AXES[right]));
        views.push(View::Flat { at, size, right, up });
    }
    let isometric = View::Isometric { centre: (middle + 0.5 * size, below + 0.5 * size), scale: size / 1.75 };
    canvas.text((middle, below - 6.0), Anchor::Start, Font::HEADING, "isometric");
    draw_box(&mut canvas, &isometric, &axes);
    views.push(isometric);

    // Grey first, so that named paths are on top; markers last of all.
    let mut paths = Vec::new();
    let others = (0..meta.bodies.len()).filter(|b| !named.contains(b));
    paths.extend(others.map(|b| (path(trajectory, b, &axes), Stroke::solid(GREY, 0.7), COARSE)));
    let first_named = paths.len();
    paths.extend(named.iter().enumerate().map(|(k, b)| (path(trajectory, *b, &axes), Stroke::nth(k), FINE)));
    for view in &views {
        for (pieces, stroke, tolerance) in &paths {
            for piece in pieces {
                let points: Vec<(f64, f64)> = piece.iter().map(|p| view.place(p)).collect();
                canvas.polyline(&curve::simplified(&points, *tolerance), *stroke);
            }
        }
        for (pieces, stroke, _) in &paths[first_named..] {
            if let Some(end) = pieces.last().and_then(|p| p.last()) {
                canvas.circle(view.place(end), 3.0, stroke.color, stroke.color);
            }
            if let Some(start) = pieces.first().and_then(|p| p.first()) {
                canvas.circle(view.place(start), 4.0, "#FFFFFF", stroke.color);
            }
        }
    }
    Some(canvas.finish())
}

/// Ranges of x, y, z of equal length around all paths.
fn bounding_cube(trajectory: &Trajectory) -> Option<[(f64, f64); 3]> {
    let mut ranges: [Option<(f64, f64)>; 3] = [None; 3];
    for i in 0..trajectory.len() {
        let sample = trajectory.sample(i);
        for b in 0..trajectory.meta().bodies.len() {
            for (range, v) in ranges.iter_mut().zip(sample.pos(b)) {
                if axis::is_drawable(*v) {
                    let (lo, hi) = range.unwrap_or((*v, *v));
                    *range = Some((lo.min(*v), hi.max(*v)));
                }
            }
        }
    }
    let [Some(x), Some(y), Some(z)] = ranges else { return None };
    let side = [x, y, z].iter().map(|(lo, hi)| hi - lo).fold(0.0, f64::max);
    // What does not move at all still needs room around it.
    let size = [x, y, z].iter().map(|(lo, hi)| lo.abs().max(hi.abs())).fold(0.0, f64::max);
    let (lo, hi) = axis::widened((size - 0.5 * side, size + 0.5 * side));
    let half = 0.5 * (hi - lo) * 1.1;
    Some([x, y, z].map(|(lo, hi)| (0.5 * (lo + hi) - half, 0.5 * (lo + hi) + half)))
}

/// A path in parts of the cube, in pieces between positions that cannot be drawn.
fn path(trajectory: &Trajectory, body: usize, axes: &[Axis; 3]) -> Vec<Vec<Point>> {
    let mut pieces = vec![Vec::new()];
    for i in 0..trajectory.len() {
        let sample = trajectory.sample(i);
        let pos = sample.pos(body);
        match [0, 1, 2].map(|c| axes[c].place(pos[c])) {
            [Some(x), Some(y), Some(z)] => pieces.last_mut().expect("there is always a piece").push([x, y, z]),
            _ => pieces.push(Vec::new()),
        }
    }
    pieces.retain(|p| !p.is_empty());
    pieces
}

/// The three far walls of the cube with their grid, and labels on its near edges.
fn draw_box(canvas: &mut Canvas, view: &View, axes: &[Axis; 3]) {
    // Together the far walls are the hexagon that is the outline of the cube.
    let outline: [Point; 6] =
        [[1.0, 0.0, 0.0], [1.0, 1.0, 0.0], [0.0, 1.0, 0.0], [0.0, 1.0, 1.0], [0.0, 0.0, 1.0], [1.0, 0.0, 1.0]];
    canvas.polygon(&outline.map(|p| view.place(&p)), "#FAFAFA");
    let grid = Stroke::solid(GRID, 1.0);
    for (c, axis) in axes.iter().enumerate() {
        let (d, e) = ((c + 1) % 3, (c + 2) % 3);
        for tick in &axis.ticks {
            let line = |other: usize| {
                let mut ends = [[0.0; 3]; 2];
                ends[0][c] = tick.at;
                ends[1][c] = tick.at;
                ends[1][other] = 1.0;
                ends.map(|p| view.place(&p))
            };
            canvas.polyline(&line(d), grid);
            canvas.polyline(&line(e), grid);
        }
    }
    let frame = Stroke::solid(FRAME, 1.0);
    for from in [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]] {
        for c in (0..3).filter(|c| from[*c] == 0.0) {
            let mut to: Point = from;
            to[c] = 1.0;
            canvas.polyline(&[view.place(&from), view.place(&to)], frame);
        }
    }

    // Edges whose labels do not cover the cube: x lower right, y lower left, z left.
    let edges: [(Point, Anchor, (f64, f64)); 3] = [
        ([0.0, 1.0, 0.0], Anchor::Start, (5.0, 11.0)),
        ([1.0, 0.0, 0.0], Anchor::End, (-5.0, 11.0)),
        ([1.0, 0.0, 0.0], Anchor::End, (-7.0, 4.0)),
    ];
    for (c, ((from, anchor, (dx, dy)), axis)) in edges.into_iter().zip(axes).enumerate() {
        let at = |part: f64| {
            let mut p = from;
            p[c] = part;
            view.place(&p)
        };
        for tick in &axis.ticks {
            let (x, y) = at(tick.at);
            canvas.text((x + dx, y + dy), anchor, Font::TICK, &tick.label);
        }
        let (x, y) = at(0.5);
        let out = figure::label_width(axis) + 10.0;
        let (x, y) = match c {
            0 => (x + out, y + 28.0),
            1 => (x - out, y + 28.0),
            _ => (at(1.0).0 - 7.0, at(1.0).1 - 10.0),
        };
        canvas.text((x, y), anchor, Font::LABEL, &axis.name(AXES[c]));
    }
}
