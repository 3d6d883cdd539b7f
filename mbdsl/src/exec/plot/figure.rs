//! Draws panels of curves over a common axis, mostly time, one below or beside the other.

use super::axis::{self, Axis};
use super::canvas::{Anchor, Canvas, FRAME, Font, GRID, Stroke};
use super::curve;

/// Width of a picture, px: fits a screen and a page.
pub const WIDTH: f64 = 960.0;
/// Distance of anything from the edge of the picture, px.
pub const MARGIN: f64 = 16.0;
/// Height of a line of names above a panel, px.
pub const LINE: f64 = 17.0;
/// Length of the piece of line beside a name, px.
const SWATCH: f64 = 18.0;
/// Distance between words above a panel, px.
const GAP: f64 = 12.0;
/// Height of the tick labels below a panel, px.
const TICKS: f64 = 20.0;
/// Distance of tick labels along the time axis, px.
const TIME_TICK: f64 = 90.0;
/// Distance of tick labels up an axis, px.
const VALUE_TICK: f64 = 32.0;

/// Points of a curve that are few enough for large marks.
const FEW: usize = 100;
/// Width of marks of few points, px.
const LARGE_DOT: f64 = 5.0;
/// Width of marks of many points, px.
const SMALL_DOT: f64 = 1.8;

/// A curve of a panel; it ends where the shorter of places and values ends.
#[derive(Clone, Debug)]
pub struct Curve<'a> {
    /// What the reader sees beside a piece of the curve; nothing if empty.
    pub name: String,
    /// Places to the right: ascending times in s, or whatever the figure has [`Across`].
    pub places: &'a [f64],
    /// Values in the unit of the panel.
    pub values: Vec<f64>,
    /// How it is drawn.
    pub stroke: Stroke,
}

/// How values become heights.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Height {
    /// Even, over the values.
    Linear,
    /// Even, over the values and at least this range.
    AtLeast(f64, f64),
    /// Logarithmic, with zero at the lower end.
    Log,
}

/// What lies to the right.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Across {
    /// Time, s, even.
    Time,
    /// A quantity in a unit as the language writes it, logarithmic. Each point of a curve is a run of its own and gets a mark;
    /// lines join them in their order.
    Log(&'static str, &'static str),
}

/// Curves with common axes.
#[derive(Clone, Debug)]
pub struct Panel<'a> {
    /// Bold text above it; nothing if empty.
    pub title: String,
    /// What the values are.
    pub symbol: String,
    /// Their unit as the language writes it.
    pub unit: String,
    /// How values become heights.
    pub height: Height,
    /// The curves, later ones on top.
    pub curves: Vec<Curve<'a>>,
}

/// Panels with a title.
#[derive(Clone, Debug)]
pub struct Figure<'a> {
    /// Title of the picture.
    pub title: String,
    /// What stands below the title, in as many lines as it takes; nothing if empty.
    pub note: String,
    /// Panels row by row.
    pub panels: Vec<Panel<'a>>,
    /// What lies to the right in all panels.
    pub across: Across,
    /// Whether all panels have one scale upwards, which holds the values of all.
    pub is_shared: bool,
    /// Panels per row.
    pub columns: usize,
    /// Height of the frame of a panel, px.
    pub panel_height: f64,
}

/// A word above a panel.
#[derive(Clone, Debug)]
pub struct Word {
    /// The text.
    pub text: String,
    /// How it is set.
    pub font: Font,
    /// The piece of line before it.
    pub swatch: Option<Stroke>,
}

impl Word {
    fn width(&self) -> f64 {
        self.font.width(&self.text) + if self.swatch.is_some() { SWATCH + 5.0 } else { 0.0 }
    }
}

/// Lays out words from left to right in lines of a width; the line and left end of each.
fn flow(words: &[Word], width: f64) -> Vec<(usize, f64)> {
    let (mut line, mut x) = (0, 0.0);
    let mut places = Vec::new();
    for word in words {
        if x > 0.0 && x + word.width() > width {
            (line, x) = (line + 1, 0.0);
        }
        places.push((line, x));
        x += word.width() + GAP;
    }
    places
}

/// Number of lines that words take.
#[must_use]
pub fn count_lines(words: &[Word], width: f64) -> usize {
    flow(words, width).last().map_or(0, |(line, _)| line + 1)
}

/// Draws words in lines below `at`.
pub fn draw_words(canvas: &mut Canvas, words: &[Word], at: (f64, f64), width: f64) {
    for (word, (line, x)) in words.iter().zip(flow(words, width)) {
        let (mut x, y) = (at.0 + x, at.1 + (line as f64 + 1.0) * LINE - 5.0);
        if let Some(stroke) = word.swatch {
            canvas.polyline(&[(x, y - 4.0), (x + SWATCH, y - 4.0)], Stroke { width: 2.0, ..stroke });
            x += SWATCH + 5.0;
        }
        canvas.text((x, y), Anchor::Start, word.font, &word.text);
    }
}

/// Width of title and note, px.
const ROOM: f64 = WIDTH - 2.0 * MARGIN;
/// Height of a line of the note, px.
const NOTE_LINE: f64 = 14.0;

/// Draws title and note; returns the height below them.
pub fn draw_title(canvas: &mut Canvas, title: &str, note: &str) -> f64 {
    canvas.text((MARGIN, MARGIN + 14.0), Anchor::Start, Font::TITLE, &Font::TITLE.fit(title, ROOM));
    for (k, line) in Font::TICK.lines(note, ROOM).iter().enumerate() {
        canvas.text((MARGIN, MARGIN + 32.0 + NOTE_LINE * k as f64), Anchor::Start, Font::TICK, line);
    }
    title_height(note)
}

/// Height that title and note take.
#[must_use]
pub fn title_height(note: &str) -> f64 {
    let height = match Font::TICK.lines(note, ROOM).len() {
        0 => 24.0,
        lines => 28.0 + NOTE_LINE * lines as f64,
    };
    MARGIN + height
}

/// A frame with its place and axes, px.
#[derive(Clone, Debug)]
pub struct Frame {
    /// Upper left corner.
    pub at: (f64, f64),
    /// Width and height.
    pub size: (f64, f64),
    /// To the right.
    pub x: Axis,
    /// Upwards.
    pub y: Axis,
}

impl Frame {
    /// Where a point is in the picture; `None` if it cannot be drawn.
    #[must_use]
    pub fn place(&self, x: f64, y: f64) -> Option<(f64, f64)> {
        let (x, y) = (self.x.place(x)?, self.y.place(y)?);
        Some((self.at.0 + x * self.size.0, self.at.1 + (1.0 - y) * self.size.1))
    }

    /// Draws grid, labels and frame.
    pub fn draw(&self, canvas: &mut Canvas) {
        let ((left, top), (width, height)) = (self.at, self.size);
        let bottom = top + height;
        for tick in &self.x.ticks {
            let x = left + tick.at * width;
            canvas.polyline(&[(x, top), (x, bottom)], Stroke::solid(GRID, 1.0));
            canvas.text((x, bottom + 14.0), Anchor::Middle, Font::TICK, &tick.label);
        }
        for tick in &self.y.ticks {
            let y = top + (1.0 - tick.at) * height;
            canvas.polyline(&[(left, y), (left + width, y)], Stroke::solid(GRID, 1.0));
            canvas.text((left - 5.0, y + 4.0), Anchor::End, Font::TICK, &tick.label);
        }
        canvas.rect(self.at, self.size, None, Some(FRAME));
    }
}

/// Width of the widest label of an axis, px.
#[must_use]
pub fn label_width(axis: &Axis) -> f64 {
    axis.ticks.iter().map(|t| Font::TICK.width(&t.label)).fold(0.0, f64::max)
}

impl Panel<'_> {
    /// The axis upwards over values: of this panel's curves, or of those that share it.
    fn value_axis<'v>(&self, height: f64, values: impl Iterator<Item = &'v f64> + Clone) -> Axis {
        let count = (height / VALUE_TICK) as usize;
        let range = match self.height {
            Height::Log => return Axis::log(values, &self.unit, count.max(2)),
            Height::Linear => axis::extent(values),
            Height::AtLeast(lo, hi) => {
                Some(axis::extent(values).map_or((lo, hi), |(least, most)| (least.min(lo), most.max(hi))))
            }
        };
        let range = axis::padded(axis::widened(range.unwrap_or((0.0, 0.0))), 0.05);
        Axis::linear(range, &self.unit, count.max(2))
    }

    /// Title, quantity and names of the curves.
    fn words(&self, axis: &Axis, width: f64) -> Vec<Word> {
        let word = |text: &str, font: Font, swatch| Word { text: font.fit(text, width - 2.0 * SWATCH), font, swatch };
        let mut words = Vec::new();
        if !self.title.is_empty() {
            words.push(word(&self.title, Font::HEADING, None));
        }
        let name = axis.name(&self.symbol);
        if !name.is_empty() {
            words.push(word(&name, Font::LABEL, None));
        }
        let named = self.curves.iter().filter(|c| !c.name.is_empty());
        words.extend(named.map(|c| word(&c.name, Font::LABEL, Some(c.stroke))));
        words
    }
}

/// The text of the picture. All panels have the same axis to the right.
#[must_use]
pub fn render(figure: &Figure<'_>) -> String {
    let columns = figure.columns.max(1);
    let curves = || figure.panels.iter().flat_map(|p| &p.curves);
    let places = || curves().flat_map(|c| c.places);

    // Widths: the labels of the widest axis are left of every panel.
    let value_axis = |panel: &Panel<'_>| {
        let own = panel.curves.iter().flat_map(|c| &c.values);
        match figure.is_shared {
            true => panel.value_axis(figure.panel_height, curves().flat_map(|c| &c.values)),
            false => panel.value_axis(figure.panel_height, own),
        }
    };
    let values: Vec<Axis> = figure.panels.iter().map(value_axis).collect();
    let labels = values.iter().map(label_width).fold(20.0, f64::max) + 10.0;
    let between = MARGIN + 6.0;
    let room = WIDTH - 2.0 * MARGIN - between * (columns as f64 - 1.0);
    let width = room / columns as f64 - labels;
    let count = ((width / TIME_TICK) as usize).max(2);
    let (right, symbol) = match figure.across {
        Across::Time => (Axis::linear(axis::extent(places()).unwrap_or((0.0, 0.0)), "s", count), "t"),
        Across::Log(symbol, unit) => (Axis::log(places(), unit, count), symbol),
    };

    // Heights: in a row every panel has as many lines of names as the one with most.
    let words: Vec<Vec<Word>> = figure.panels.iter().zip(&values).map(|(p, a)| p.words(a, width)).collect();
    let mut tops = Vec::new();
    let mut y = title_height(&figure.note);
    for row in words.chunks(columns) {
        let lines = row.iter().map(|w| count_lines(w, width)).max().unwrap_or(0);
        tops.push((y, y + lines as f64 * LINE));
        y += lines as f64 * LINE + figure.panel_height + TICKS + 10.0;
    }
    let mut canvas = Canvas::new(WIDTH, y + LINE, &figure.title);
    draw_title(&mut canvas, &figure.title, &figure.note);

    let cells = figure.panels.iter().zip(values).zip(&words).enumerate();
    for (k, ((panel, value), words)) in cells {
        let left = MARGIN + labels + (k % columns) as f64 * (width + labels + between);
        let (head, top) = tops[k / columns];
        let frame = Frame { at: (left, top), size: (width, figure.panel_height), x: right.clone(), y: value };
        draw_words(&mut canvas, words, (left, head), width);
        frame.draw(&mut canvas);
        for curve in &panel.curves {
            draw_curve(&mut canvas, &frame, curve, figure.across);
        }
        // The lowest panel of a column carries the name of the axis to the right.
        if k + columns >= figure.panels.len() {
            let below = top + figure.panel_height + TICKS + 12.0;
            canvas.text((left + 0.5 * width, below), Anchor::Middle, Font::LABEL, &right.name(symbol));
        }
    }
    canvas.finish()
}

/// Lines through the points. A zero on a logarithmic axis is a mark at its lower end, not a fall to it: the height of
/// the fall would mean nothing, and round-off that is often exactly zero would fill the panel.
fn draw_curve(canvas: &mut Canvas, frame: &Frame, curve: &Curve<'_>, across: Across) {
    let points = || curve.places.iter().zip(&curve.values);
    let lines = points().map(|(t, v)| if frame.y.is_floor(*v) { None } else { frame.place(*t, *v) });
    let floor = points().filter(|(_, v)| frame.y.is_floor(**v)).filter_map(|(t, v)| frame.place(*t, *v));

    // Marks are at most one per half pixel; with few points they are large.
    let mut dots: Vec<(f64, f64)> = Vec::new();
    let mut mark = |(x, y): (f64, f64)| {
        let dot = ((2.0 * x).round() / 2.0, (2.0 * y).round() / 2.0);
        if dots.last() != Some(&dot) {
            dots.push(dot);
        }
    };
    floor.for_each(&mut mark);
    match across {
        Across::Time => {
            for piece in curve::envelope(lines) {
                match piece[..] {
                    [point] => mark(point),
                    _ => canvas.polyline(&piece, curve.stroke),
                }
            }
        }
        Across::Log(..) => {
            let runs: Vec<(f64, f64)> = lines.flatten().collect();
            canvas.polyline(&runs, curve.stroke);
            runs.into_iter().for_each(mark);
        }
    }
    let width = if curve.values.len() <= FEW { LARGE_DOT } else { SMALL_DOT };
    canvas.dots(&dots, curve.stroke.color, width);
}
