//! A model in brief: its declarations, and the equations of those that have any.

use super::derive::Writer;
use super::{Sheet, counted, counted_force, default_of, header, wrap};
use crate::driver::Compiled;
use crate::source::Sources;

/// Lines of a declaration or of its equations: what is longer is left to `mbd derive`.
const MOST_LINES: usize = 16;

/// A model in lines of plain text, in the words of its source: constants, parameters, inputs, bodies, then joints, constraints and
/// forces with `Phi`, the energies or `Q`, then outputs and checks.
///
/// `sources` are those that the model was compiled from: declarations are quoted from there.
#[must_use]
pub fn brief(compiled: &Compiled, sources: &Sources) -> Vec<String> {
    let (model, equations) = (&compiled.model, &compiled.equations);
    let mut page = Page::default();
    for c in &model.consts {
        page.declare(&format!("const {} = {}", c.name, c.value));
    }
    for (word, list) in [("param", &model.params), ("input", &model.inputs)] {
        for p in list {
            page.declare(&format!("{word} {} = {}", p.name, default_of(sources, p.span)));
        }
    }
    for body in &model.bodies {
        page.declare(&counted(&header(sources, body.span), &body.set));
    }
    let mut writer = Writer::new(compiled, sources, false);
    for kind in &equations.constraints {
        page.declare(&counted(&writer.constraint_header(kind), &model.elements[kind.element].set));
        let mut sheet = Sheet::new(false);
        writer.phi(&mut sheet, kind);
        page.text(&sheet.finish());
    }
    for kind in &equations.forces {
        page.declare(&counted_force(&writer.force_header(kind), model, kind));
        let mut sheet = Sheet::new(false);
        writer.source(&mut sheet, kind);
        page.text(&sheet.finish());
    }
    for (k, output) in model.outputs.iter().enumerate() {
        // The entries of a list and the rows of a matrix are written once.
        let is_part = |other: usize| model.outputs.get(other).is_some_and(|o| o.span == output.span);
        if k > 0 && is_part(k - 1) {
            continue;
        }
        let name = if is_part(k + 1) { output.name.split('.').next().unwrap_or_default() } else { &output.name };
        page.declare(&counted(&format!("output {name} = {}", header(sources, output.span)), &output.set));
    }
    for check in &model.checks {
        page.declare(&counted(&format!("check {}: {}", check.name, header(sources, check.span)), &check.set));
    }
    page.lines
}

#[derive(Default)]
struct Page {
    lines: Vec<String>,
}

impl Page {
    fn declare(&mut self, text: &str) {
        self.text(&wrap(text, 4));
    }

    fn text(&mut self, text: &str) {
        let count = text.lines().count();
        self.lines.extend(text.lines().take(MOST_LINES).map(str::to_owned));
        if count > MOST_LINES {
            self.lines.push(format!("    ... and {} more lines", count - MOST_LINES));
        }
    }
}
