//! A text into Rust source: compiled, with what its text says beside the equations, and emitted.

mod layout;

use crate::backend::rust::{self, Notes};
pub use crate::backend::rust::{Module, Options, is_keyword, names};
use crate::diag::Diagnostic;
use crate::driver::{self, Compiled};
use crate::report;
use crate::sema;
use crate::source::{FileId, Sources, Span};

/// Text to Rust.
///
/// # Errors
/// All problems found, in source order.
pub fn expand(
    sources: &mut Sources,
    file: FileId,
    model: &sema::Options,
    options: &Options,
) -> Result<Module, Vec<Diagnostic>> {
    let compiled = driver::compile(sources, file, model)?;
    Ok(emit(sources, &compiled, options))
}

/// Compiled model to Rust; the sources are those that it was compiled from.
#[must_use]
pub fn emit(sources: &Sources, compiled: &Compiled, options: &Options) -> Module {
    rust::emit(&compiled.program, &notes(sources, compiled), options)
}

/// What the text of a model says beside its equations.
fn notes(sources: &Sources, compiled: &Compiled) -> Notes {
    let model = &compiled.model;
    let mut notes = Notes {
        docs: model.docs.clone(),
        summary: report::brief(compiled, sources),
        stepper: model.simulate.stepper.as_ref().map(|(name, _)| name.clone()),
        ..Notes::default()
    };
    for body in &model.bodies {
        let place = place(sources, body.span);
        notes.places.insert(format!("gravity on {}", body.name), place.clone());
        notes.places.insert(body.name.clone(), place);
        notes.body_docs.insert(body.name.clone(), body.docs.clone());
    }
    for condition in &model.conditions {
        notes.places.insert(condition.name.clone(), place(sources, condition.span));
    }
    for element in &model.elements {
        notes.places.insert(element.name.clone(), place(sources, element.span));
    }
    notes
}

/// Line number and text of the line of a span.
fn place(sources: &Sources, span: Span) -> String {
    let (line, _) = sources.line_column(span);
    let text = sources.get(span.file).text.lines().nth(line - 1).unwrap_or_default();
    // A backtick cannot stand within the code of a documentation.
    format!("Line {line}: `{}`", text.trim().replace('`', ""))
}

/// The generated Rust of a text with one model, formatted; for snapshot tests of models, for instance.
///
/// # Errors
/// The problems of the text, one line each: `path:line:column: error[code]: message`.
pub fn expand_to_string(source: &str) -> Result<String, String> {
    let mut sources = Sources::default();
    let file = sources.add("model.mbd", source);
    let code = expand(&mut sources, file, &sema::Options::default(), &Options::default())
        .map_err(|errors| errors.iter().map(|d| line(&sources, d)).collect::<Vec<_>>().join("\n"))?;
    Ok(pretty(code))
}

/// A module with line breaks and indentation.
#[must_use]
pub fn pretty(module: Module) -> String {
    layout::lay_out(module.into_tokens())
}

/// `path:line:column: error[MBD0001]: message`
#[must_use]
pub fn line(sources: &Sources, d: &Diagnostic) -> String {
    let (line, column) = sources.line_column(d.primary.span);
    let name = &sources.get(d.primary.span.file).name;
    format!("{name}:{line}:{column}: error[{}]: {}", d.code, d.message)
}

/// What a message says without its place: the message, its remarks, its reasons, and what to type.
#[must_use]
pub fn explanation(sources: &Sources, d: &Diagnostic) -> String {
    let mut text = format!("{} [{}]", d.message, d.code);
    if !d.primary.text.is_empty() {
        text.push_str(&format!("\n{}", d.primary.text));
    }
    for label in d.secondary.iter().filter(|label| !label.text.is_empty()) {
        let what = sources.text(label.span).lines().next().unwrap_or_default();
        text.push_str(&format!("\n`{what}`: {}", label.text));
    }
    for note in &d.notes {
        text.push_str(&format!("\nnote: {note}"));
    }
    if let Some(help) = &d.help {
        text.push_str(&format!("\nhelp: {help}"));
    }
    text
}

/// A message with its place and the line of the source, carets under what it speaks of.
#[must_use]
pub fn report(sources: &Sources, d: &Diagnostic) -> String {
    let (line, column) = sources.line_column(d.primary.span);
    let file = sources.get(d.primary.span.file);
    let text = file.text.lines().nth(line - 1).unwrap_or_default();
    let number = line.to_string();
    let margin = " ".repeat(number.len());
    let rest = text.chars().count().saturating_sub(column - 1);
    let length = sources.text(d.primary.span).chars().count().clamp(1, rest.max(1));
    let carets = format!("{}{}", " ".repeat(column - 1), "^".repeat(length));
    format!(
        "{}:{line}:{column}: {}\n{margin} |\n{number} | {text}\n{margin} | {carets}",
        file.name,
        explanation(sources, d)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reports_show_the_place() {
        let mut sources = Sources::default();
        let file = sources.add("a.mbd", "model A {\n    param m = 1 kg;\n}\n");
        let d = Diagnostic::error(crate::diag::Code(7), Span { file, start: 20, end: 21 }, "no").help("yes");
        assert_eq!(
            report(&sources, &d),
            "a.mbd:2:11: no [MBD0007]\nhelp: yes\n  |\n2 |     param m = 1 kg;\n  |           ^"
        );
        assert_eq!(line(&sources, &d), "a.mbd:2:11: error[MBD0007]: no");
    }
}
