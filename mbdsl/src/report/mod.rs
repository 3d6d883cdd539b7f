//! What `mbd derive` and `mbd explain` print, and what the documentation of generated code says: the derived equations as
//! a person writes them, and what a model amounts to.
//!
//! All speak of declarations, not of instances, so that a text does not grow with the number of bodies.

mod brief;
mod derive;
#[cfg(feature = "cli")]
mod explain;
mod names;

pub use brief::brief;
pub use derive::derive;
#[cfg(feature = "cli")]
pub use explain::explain;

use crate::formulate::{ForceKind, Origin};
use crate::model::{IndexSet, Model};
use crate::source::{Sources, Span};

/// Columns of a line: four less than a page, so that it may be indented once more.
const WIDTH: usize = 116;

/// The left side of an equation, or a tangent direction, in both forms.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Label {
    text: String,
    tex: String,
}

impl Label {
    fn new(text: &str, tex: &str) -> Self {
        Self { text: text.to_owned(), tex: tex.to_owned() }
    }

    /// With a subscript, unless that is empty.
    fn of(&self, subscript: &str) -> Self {
        if subscript.is_empty() {
            return self.clone();
        }
        let Self { text, tex } = self;
        Self { text: format!("{text}_{subscript}"), tex: format!("{tex}_{{\\mathrm{{{}}}}}", escape(subscript)) }
    }
}

/// Headings, notes and equations in the order in which they are read, as plain text or as a fragment of LaTeX.
#[derive(Debug)]
struct Sheet {
    is_latex: bool,
    out: String,
    /// Equations of an `align*` that is not written yet.
    open: Vec<String>,
}

impl Sheet {
    fn new(is_latex: bool) -> Self {
        Self { is_latex, out: String::new(), open: Vec::new() }
    }

    /// Starts a section.
    fn heading(&mut self, text: &str) {
        self.close();
        if !self.out.is_empty() {
            self.out.push('\n');
        }
        if self.is_latex {
            self.line(&format!("\\paragraph{{\\texttt{{{}}}}}", escape(text)));
        } else {
            self.line(&wrap(text, 4));
        }
    }

    /// A sentence.
    fn note(&mut self, text: &str) {
        self.close();
        if self.is_latex {
            self.line(&escape(text));
        } else {
            self.line(&wrap(&format!("  {text}"), 4));
        }
    }

    fn equation(&mut self, left: &Label, right: &str) {
        if self.is_latex {
            self.open.push(format!("{} &= {right}", left.tex));
        } else {
            self.line(&wrap(&format!("  {} = {right}", left.text), 6));
        }
    }

    /// What names stand for.
    fn definitions(&mut self, list: &[(String, String)]) {
        for (k, (name, value)) in list.iter().enumerate() {
            let text = format!("{} {name}", if k == 0 { "where" } else { "     " });
            self.equation(&Label { text, tex: format!("\\text{{where }} {name}") }, value);
        }
    }

    /// The blocks of a vector or matrix by direction.
    fn blocks(&mut self, left: &Label, entries: &[(Label, String)]) {
        if self.is_latex {
            for (place, right) in entries {
                self.open.push(format!("\\left[{}\\right]_{{{}}} &= {right}", left.tex, place.tex));
            }
            return;
        }
        self.line(&format!("  {} =", left.text));
        let width = entries.iter().map(|(place, _)| place.text.chars().count()).max().unwrap_or(0) + 1;
        for (place, right) in entries {
            let place = format!("{}:", place.text);
            self.line(&wrap(&format!("    {place:width$} {right}"), 8));
        }
    }

    fn line(&mut self, line: &str) {
        self.out.push_str(line);
        self.out.push('\n');
    }

    fn close(&mut self) {
        if !self.open.is_empty() {
            let equations = std::mem::take(&mut self.open).join(" \\\\\n");
            self.line(&format!("\\begin{{align*}}\n{equations}\n\\end{{align*}}"));
        }
    }

    fn finish(mut self) -> String {
        self.close();
        self.out
    }
}

/// Text for LaTeX outside of mathematics.
fn escape(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '\\' => out.push_str("\\textbackslash{}"),
            '^' => out.push_str("\\textasciicircum{}"),
            '~' => out.push_str("\\textasciitilde{}"),
            '_' | '{' | '}' | '#' | '%' | '&' | '$' => out.extend(['\\', c]),
            _ => out.push(c),
        }
    }
    out
}

/// Text as the model has it, within an equation.
fn quoted(text: &str, is_latex: bool) -> String {
    if is_latex { format!("\\texttt{{{}}}", escape(text)) } else { text.to_owned() }
}

/// Breaks a long line where it is nested least: before a sum's sign, else at a space. What follows is indented.
fn wrap(line: &str, indent: usize) -> String {
    let mut out = String::new();
    let mut rest: Vec<char> = line.chars().collect();
    while rest.len() > WIDTH {
        let start = rest.iter().take_while(|c| **c == ' ').count();
        let Some(at) = best_break(&rest, start.max(indent) + 1) else { break };
        out.extend(&rest[..at]);
        out.push('\n');
        let tail = rest.split_off(at + 1);
        rest = std::iter::repeat_n(' ', indent).chain(tail).collect();
    }
    out.extend(rest);
    out
}

/// The space between `from` and the right margin at which a line is broken: the least nested one counts most, then a
/// sign or comma, then the place; the first half of the line is left alone if it can be.
fn best_break(line: &[char], from: usize) -> Option<usize> {
    let mut depth = 0_usize;
    let mut best = None;
    for (k, &c) in line.iter().enumerate().take(WIDTH + 1) {
        match c {
            '(' | '[' => depth += 1,
            ')' | ']' => depth = depth.saturating_sub(1),
            ' ' if k >= from => {
                let is_sum = matches!(line.get(k + 1..k + 3), Some(['+' | '-', ' ']));
                let is_joint = is_sum || matches!(line[k - 1], ',' | ';' | ':');
                let after_sign = k >= 2 && matches!(line[k - 2..k], [' ', '+' | '-' | '=']);
                let rank = (k > WIDTH / 2, !after_sign, std::cmp::Reverse(depth), is_joint, k);
                if best.is_none_or(|b| b < rank) {
                    best = Some(rank);
                }
            }
            _ => {}
        }
    }
    best.map(|(.., k)| k)
}

/// A declaration as the model writes it, up to its block: `joint pin[i in 1..N]: spherical(link[i - 1].b, link[i].a)`.
fn header(sources: &Sources, span: Span) -> String {
    let lines = sources.text(span).lines().map(|line| line.split("//").next().unwrap_or(line));
    let text = lines.collect::<Vec<_>>().join(" ");
    let end = text.find(['{', ';']).unwrap_or(text.len());
    text[..end].split_whitespace().collect::<Vec<_>>().join(" ")
}

/// What a declaration is given as the model writes it; the span is that of its name.
fn default_of(sources: &Sources, name: Span) -> String {
    let text = &sources.get(name.file).text[name.end as usize..];
    let text = text.split(';').next().unwrap_or(text);
    text.trim_start().trim_start_matches('=').split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The header with the number of instances of an array.
fn counted(header: &str, set: &IndexSet) -> String {
    if set.vars.is_empty() { header.to_owned() } else { format!("{header}: {}", plural(set.count, "instance")) }
}

/// The same of a force: pairs that are found during a run have no number.
fn counted_force(header: &str, model: &Model, kind: &ForceKind) -> String {
    match kind.origin {
        Origin::Gravity(body) => counted(header, &model.bodies[body].set),
        Origin::Element(_) if kind.pairs.is_some() => format!("{header}: pairs that are found during the run"),
        Origin::Element(element) => counted(header, &model.elements[element].set),
    }
}

/// `1 row`, `5 rows`.
fn plural(count: usize, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}

#[cfg(all(test, feature = "cli"))]
mod tests;
