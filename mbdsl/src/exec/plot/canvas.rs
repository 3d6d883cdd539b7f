//! Writes shapes as the text of an SVG picture.

use std::fmt::Write as _;

/// Fonts by preference; all have Greek letters and superscripts.
const FONTS: &str = "Helvetica, Arial, 'DejaVu Sans', sans-serif";

/// Colour of text.
pub const TEXT: &str = "#222222";
/// Colour of tick labels and explanations.
pub const FAINT_TEXT: &str = "#555555";
/// Colour of the frame of a panel.
pub const FRAME: &str = "#999999";
/// Colour of grid lines.
pub const GRID: &str = "#E4E4E4";
/// Colour of curves without a name.
pub const GREY: &str = "#B8B8B8";

/// Colours that people with any kind of colour vision can tell apart (Okabe and Ito, *Color Universal Design*, 2008),
/// without the yellow that nobody sees on white.
const PALETTE: [&str; 7] = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#222222"];

/// How a line is drawn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stroke {
    /// Colour, `#RRGGBB`.
    pub color: &'static str,
    /// Width, px.
    pub width: f64,
    /// Whether it is dashed.
    pub is_dashed: bool,
}

impl Stroke {
    /// A solid line.
    #[must_use]
    pub const fn solid(color: &'static str, width: f64) -> Self {
        Self { color, width, is_dashed: false }
    }

    /// The `k`-th of a set of curves: seven colours solid, then dashed, then again.
    #[must_use]
    pub const fn nth(k: usize) -> Self {
        Self { color: PALETTE[k % PALETTE.len()], width: 1.3, is_dashed: (k / PALETTE.len()) % 2 == 1 }
    }
}

/// Which point of a text its position is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Anchor {
    /// The left end.
    Start,
    /// The middle.
    Middle,
    /// The right end.
    End,
}

/// How a text is set.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Font {
    /// Size, px.
    pub size: f64,
    /// Colour, `#RRGGBB`.
    pub color: &'static str,
    /// Whether it is bold.
    pub is_bold: bool,
}

impl Font {
    /// Title of a picture.
    pub const TITLE: Self = Self { size: 16.0, color: TEXT, is_bold: true };
    /// Title of a panel.
    pub const HEADING: Self = Self { size: 12.0, color: TEXT, is_bold: true };
    /// Names of curves and axes.
    pub const LABEL: Self = Self { size: 12.0, color: TEXT, is_bold: false };
    /// Tick labels and explanations.
    pub const TICK: Self = Self { size: 11.0, color: FAINT_TEXT, is_bold: false };

    /// Estimated width of a text, px: a little more than the widest of the fonts needs.
    #[must_use]
    pub fn width(&self, text: &str) -> f64 {
        let em: f64 = text.chars().map(advance).sum();
        em * self.size * if self.is_bold { 1.1 } else { 1.0 }
    }

    /// The text, cut with an ellipsis where it is wider than `width` px.
    #[must_use]
    pub fn fit(&self, text: &str, width: f64) -> String {
        if self.width(text) <= width {
            return text.to_owned();
        }
        let mut out = String::new();
        for c in text.chars() {
            out.push(c);
            if self.width(&out) + self.size > width {
                break;
            }
        }
        out.push('…');
        out
    }

    /// The text in lines of at most `width` px, broken between words; a word that is wider is cut. No line of an empty text.
    #[must_use]
    pub fn lines(&self, text: &str, width: f64) -> Vec<String> {
        let mut lines: Vec<String> = Vec::new();
        for word in text.split_whitespace() {
            match lines.last_mut() {
                Some(line) if self.width(line) + self.width(" ") + self.width(word) <= width => {
                    line.push(' ');
                    line.push_str(word);
                }
                _ => lines.push(self.fit(word, width)),
            }
        }
        lines
    }
}

/// Width of a character in a wide sans-serif font, parts of the size.
fn advance(c: char) -> f64 {
    match c {
        'i' | 'j' | 'l' | '.' | ',' | ':' | ';' | '\'' | '|' | ' ' | 'I' | '[' | ']' | '(' | ')' | 't' | 'f' | 'r' => {
            0.4
        }
        'm' | 'w' | 'M' | 'W' | '@' | '%' => 0.95,
        '⁰' | '¹' | '²' | '³' | '⁴'..='⁹' | '⁻' => 0.42,
        '−' | '+' | '=' => 0.8,
        c if c.is_uppercase() => 0.72,
        _ => 0.62,
    }
}

/// A picture that grows shape by shape; `x` to the right and `y` downwards, px.
#[derive(Debug)]
pub struct Canvas {
    svg: String,
}

impl Canvas {
    /// A white picture with a title for programs that read it aloud.
    #[must_use]
    pub fn new(width: f64, height: f64, title: &str) -> Self {
        let mut canvas = Self { svg: String::new() };
        let (width, height) = (width.ceil(), height.ceil());
        canvas.put(format_args!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
             viewBox=\"0 0 {width} {height}\" font-family=\"{FONTS}\" stroke-linejoin=\"round\" \
             stroke-linecap=\"round\">\n<title>{}</title>\n",
            escape(title)
        ));
        canvas.rect((0.0, 0.0), (width, height), Some("#FFFFFF"), None);
        canvas
    }

    fn put(&mut self, text: std::fmt::Arguments<'_>) {
        self.svg.write_fmt(text).expect("writing to a string cannot fail");
    }

    /// A rectangle from its upper left corner and its size.
    pub fn rect(&mut self, at: (f64, f64), size: (f64, f64), fill: Option<&str>, frame: Option<&str>) {
        self.put(format_args!(
            "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"{}\" stroke=\"{}\"/>\n",
            px(at.0),
            px(at.1),
            px(size.0),
            px(size.1),
            fill.unwrap_or("none"),
            frame.unwrap_or("none")
        ));
    }

    /// A filled polygon.
    pub fn polygon(&mut self, points: &[(f64, f64)], fill: &str) {
        self.put(format_args!("<polygon fill=\"{fill}\" points=\""));
        self.points(points);
        self.svg.push_str("\"/>\n");
    }

    /// Straight lines through points; nothing if there are fewer than two.
    pub fn polyline(&mut self, points: &[(f64, f64)], stroke: Stroke) {
        if points.len() < 2 {
            return;
        }
        let dash = if stroke.is_dashed { " stroke-dasharray=\"5 3\" stroke-linecap=\"butt\"" } else { "" };
        self.put(format_args!(
            "<polyline fill=\"none\" stroke=\"{}\" stroke-width=\"{}\"{dash} points=\"",
            stroke.color, stroke.width
        ));
        self.points(points);
        self.svg.push_str("\"/>\n");
    }

    fn points(&mut self, points: &[(f64, f64)]) {
        for (k, (x, y)) in points.iter().enumerate() {
            let gap = if k == 0 { "" } else { " " };
            self.put(format_args!("{gap}{},{}", px(*x), px(*y)));
        }
    }

    /// Small round marks, px wide.
    pub fn dots(&mut self, points: &[(f64, f64)], color: &str, width: f64) {
        if points.is_empty() {
            return;
        }
        // A line of no length has round ends: much shorter than a circle for each.
        self.put(format_args!("<path fill=\"none\" stroke=\"{color}\" stroke-width=\"{width}\" d=\""));
        for (x, y) in points {
            self.put(format_args!("M{},{}h0", px(*x), px(*y)));
        }
        self.svg.push_str("\"/>\n");
    }

    /// A filled circle with a rim.
    pub fn circle(&mut self, centre: (f64, f64), radius: f64, fill: &str, rim: &str) {
        self.put(format_args!(
            "<circle cx=\"{}\" cy=\"{}\" r=\"{radius}\" fill=\"{fill}\" stroke=\"{rim}\" stroke-width=\"1.5\"/>\n",
            px(centre.0),
            px(centre.1)
        ));
    }

    /// A text on the base line through `at`.
    pub fn text(&mut self, at: (f64, f64), anchor: Anchor, font: Font, text: &str) {
        let anchor = match anchor {
            Anchor::Start => "start",
            Anchor::Middle => "middle",
            Anchor::End => "end",
        };
        let weight = if font.is_bold { " font-weight=\"bold\"" } else { "" };
        self.put(format_args!(
            "<text x=\"{}\" y=\"{}\" text-anchor=\"{anchor}\" font-size=\"{}\" fill=\"{}\"{weight}>{}</text>\n",
            px(at.0),
            px(at.1),
            font.size,
            font.color,
            escape(text)
        ));
    }

    /// The text of the picture.
    #[must_use]
    pub fn finish(mut self) -> String {
        self.svg.push_str("</svg>\n");
        self.svg
    }
}

/// A length with two decimals at most: finer than any screen.
fn px(v: f64) -> f64 {
    // Adding zero turns -0 into 0.
    (v * 100.0).round() / 100.0 + 0.0
}

fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '"' => out.push_str("&quot;"),
            // Other control characters are not allowed in XML at all.
            c if c.is_control() => out.push(' '),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_cannot_break_the_markup() {
        assert_eq!(escape("a<b>&\"c\"\u{1}"), "a&lt;b&gt;&amp;&quot;c&quot; ");
    }

    #[test]
    fn long_names_are_cut() {
        assert_eq!(Font::LABEL.fit("short", 100.0), "short");
        let cut = Font::LABEL.fit("a_very_long_name_of_a_body_in_a_model", 100.0);
        assert!(cut.ends_with('…') && Font::LABEL.width(&cut) <= 100.0);
    }

    #[test]
    fn long_texts_are_broken_between_words() {
        let text = "errors at the end against those of a finer run, by the same stepper";
        let lines = Font::TICK.lines(text, 150.0);
        assert!(lines.len() > 1 && lines.iter().all(|line| Font::TICK.width(line) <= 150.0), "{lines:?}");
        assert_eq!(lines.join(" "), text);
        assert_eq!(Font::TICK.lines("", 150.0), Vec::<String>::new());
    }

    #[test]
    fn curves_stay_distinct() {
        let strokes: Vec<Stroke> = (0..12).map(Stroke::nth).collect();
        for (k, a) in strokes.iter().enumerate() {
            assert!(strokes[..k].iter().all(|b| a != b));
        }
    }
}
