//! What `mbd derive` and `mbd explain` print: the derived equations as a person writes them, and what a model amounts to.
//!
//! Both speak of declarations, not of instances, so that a text does not grow with the number of bodies.

mod derive;
mod explain;
mod names;

pub use derive::derive;
pub use explain::explain;

use crate::model::IndexSet;
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

/// The header with the number of instances of an array.
fn counted(header: &str, set: &IndexSet) -> String {
    if set.vars.is_empty() { header.to_owned() } else { format!("{header}: {}", plural(set.count, "instance")) }
}

/// `1 row`, `5 rows`.
fn plural(count: usize, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::driver::{Compiled, compile};
    use crate::exec::bind::bind;
    use crate::exec::system::InterpretedSystem;

    fn compiled(text: &str) -> (Sources, Compiled) {
        let mut sources = Sources::default();
        let file = sources.add("model.mbd", text);
        let compiled = compile(&mut sources, file, &crate::sema::Options::default());
        let compiled = compiled.unwrap_or_else(|errors| panic!("{}", crate::render::human(&sources, &errors, false)));
        (sources, compiled)
    }

    fn library(name: &str) -> String {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../models").join(name);
        std::fs::read_to_string(path).unwrap()
    }

    fn derived(text: &str, is_latex: bool) -> String {
        let (sources, compiled) = compiled(text);
        derive(&compiled, &sources, is_latex)
    }

    fn explained(text: &str) -> String {
        let (sources, compiled) = compiled(text);
        let binding = bind(&compiled.program, &[]).unwrap();
        let mut system = InterpretedSystem::new(&compiled.program, &binding).unwrap();
        let (_, report) = mbdsl_runtime::assembly::assemble(&mut system, binding.guess.clone()).unwrap();
        explain(&compiled, &sources, Some(&binding), Some(&report))
    }

    fn check_lines(text: &str, lines: &[&str]) {
        for line in lines {
            assert!(text.lines().any(|l| l.trim() == *line), "no line `{line}` in\n{text}");
        }
    }

    /// Every number as `#`, alignment as one space.
    fn without_counts(text: &str) -> String {
        let mut out = String::new();
        for c in text.chars() {
            let c = if c.is_ascii_digit() { '#' } else { c };
            if !(matches!(c, '#' | ' ') && out.ends_with(c)) {
                out.push(c);
            }
        }
        out.replace("#.#", "#")
    }

    #[test]
    fn pendulum_as_on_paper() {
        let lines = [
            "joint pivot: spherical(ground.origin, top.tip)",
            "where X = [0, -l, 0]",
            "Phi = x + R X",
            "columns of B: dx, dtheta",
            "B = [I, -R skew(X)]",
            "Bdot V = R skew(Omega) skew(Omega) X",
            "dtheta: X x R^T lambda",
            "(dtheta, dtheta): skew(X) skew(R^T lambda)",
            "U = -m (g . x)",
            "J dOmega/dt + Omega x J Omega = (Q - B^T lambda)_theta",
        ];
        check_lines(&derived(&library("single_pendulum.mbd"), false), &lines);
    }

    #[test]
    fn bodies_by_name_where_there_are_several() {
        let lines = [
            "joint pin[i in 1..N]: spherical(link[i - 1].b, link[i].a): 39 instances",
            "Phi = x_link[i] + R_link[i] X_a - x_link[i-1] - R_link[i-1] X_b",
            "B = [I, -R_link[i] skew(X_a), -I, R_link[i-1] skew(X_b)]",
        ];
        check_lines(&derived(&library("chain.mbd"), false), &lines);
    }

    #[test]
    fn time_enters_a_drive() {
        let text = library("four_bar.mbd");
        check_lines(&derived(&text, false), &["Phi_t = -speed", "Phi_tt = 0", "2 B_t V = 0"]);
        let lines = [
            "18 coordinates, 21 equations, rank 18, 3 redundant, 0 degrees of freedom",
            "drive, check follows, check turns",
            "speed      = 60 rpm  6.283185 1/s",
        ];
        let text = explained(&text);
        check_lines(&text, &lines);
        assert!(text.contains("\njoints A, B, C, D overlap: "), "{text}");
    }

    #[test]
    fn texts_do_not_depend_on_the_number_of_bodies() {
        let text = library("chain.mbd");
        let few = text.replace("N    = 40;", "N    = 10;");
        let many = text.replace("N    = 40;", "N    = 10000;");
        assert_ne!(few, many);
        assert_eq!(without_counts(&derived(&few, false)), without_counts(&derived(&many, false)));
        let explained = |text: &str| {
            let (sources, compiled) = compiled(text);
            without_counts(&explain(&compiled, &sources, None, None))
        };
        assert_eq!(explained(&few), explained(&many));
    }

    #[test]
    fn forces_have_stiffness_and_damping() {
        let text = "model M {
            param k = 3 [N/m];
            param c = 2 [N*s/m];
            particle a { mass = 1 kg; pos = [0, 0, 0] m; }
            particle b { mass = 1 kg; pos = [1, 0, 0] m; }
            force s: spring(a, b, k = k, rest = 1 m);
            force d: damper(a, b, c = c);
        }";
        let lines = ["where d = x_b - x_a", "U = 0.5 k (|d| - 1)^2", "F = 0.5 c ((d . w)/|d|)^2", "dQ/dV = 0"];
        check_lines(&derived(text, false), &lines);
    }

    #[test]
    fn a_parameter_is_not_taken_for_the_state() {
        let text = "model M {
            param R = 2 m;
            body b { mass = 1 kg; inertia = diag([1, 1, 1] [kg*m^2]); point p = [R, 0, 0]; }
            joint j: spherical(ground.origin, b.p);
        }";
        check_lines(&derived(text, false), &["where X = [R, 0, 0]", "Phi = x_b + R_b X"]);
    }

    #[test]
    fn every_model_of_the_library() {
        let models = Path::new(env!("CARGO_MANIFEST_DIR")).join("../models");
        let mut names: Vec<_> = std::fs::read_dir(models).unwrap().map(|f| f.unwrap().file_name()).collect();
        names.sort();
        for name in names.iter().filter_map(|n| n.to_str()).filter(|n| n.ends_with(".mbd")) {
            let text = library(name);
            let tex = derived(&text, true);
            let tex = tex.replace("\\{", "").replace("\\}", "");
            let mut depth = 0_i64;
            for c in tex.chars() {
                depth += i64::from(c == '{') - i64::from(c == '}');
                assert!(depth >= 0, "{name}: {tex}");
            }
            assert_eq!(depth, 0, "{name}");
            for pair in [("\\left", "\\right"), ("\\begin", "\\end")] {
                assert_eq!(tex.matches(pair.0).count(), tex.matches(pair.1).count(), "{name}: {pair:?}");
            }
            for line in [derived(&text, false), explained(&text)].iter().flat_map(|t| t.lines()) {
                assert!(line.chars().count() <= WIDTH + 4, "{name}: {line}");
            }
        }
    }

    #[test]
    fn lines_break_where_they_are_nested_least() {
        let term = "f(a + b) ".repeat(9);
        let line = format!("  y = {term}+ g({})", "c + ".repeat(20) + "d");
        let wrapped = wrap(&line, 6);
        assert!(wrapped.contains("\n      + g(c"), "{wrapped}");
        assert!(wrapped.lines().all(|l| l.chars().count() <= WIDTH));
    }
}
