//! Messages as text: for people, with the source lines, and for programs, as JSON.

use std::ops::Range;

use annotate_snippets::renderer::DecorStyle;
use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};
use serde_json::{Map, Value, json};

use crate::diag::{Diagnostic, SHOWN, Severity};
use crate::source::{FileId, Sources, Span};

/// Messages with their source lines, in the style of rustc; at most [`SHOWN`] of them.
#[must_use]
pub fn human(sources: &Sources, diagnostics: &[Diagnostic], color: bool) -> String {
    let renderer = if color { Renderer::styled() } else { Renderer::plain() }.decor_style(DecorStyle::Ascii);
    let mut out = String::new();
    for diagnostic in diagnostics.iter().take(SHOWN) {
        out.push_str(&renderer.render(&[report(sources, diagnostic)]));
        out.push_str("\n\n");
    }
    if diagnostics.len() > SHOWN {
        out.push_str(&format!("... and {} more\n", diagnostics.len() - SHOWN));
    }
    out
}

/// Messages as JSON objects, one a line.
///
/// Lines and columns count from 1, columns in characters; `start` and `end` are bytes from 0, `end` excluded.
#[must_use]
pub fn json(sources: &Sources, diagnostics: &[Diagnostic]) -> String {
    let mut out = String::new();
    for d in diagnostics {
        let mut object = Map::new();
        object.insert("code".into(), json!(d.code.to_string()));
        object.insert("severity".into(), json!(severity(d.severity)));
        object.insert("message".into(), json!(d.message));
        object.extend(place(sources, d.primary.span));
        object.insert("label".into(), json!(d.primary.text));
        let secondary = d.secondary.iter().map(|label| {
            let mut object = place(sources, label.span);
            object.insert("label".into(), json!(label.text));
            Value::Object(object)
        });
        object.insert("secondary".into(), secondary.collect());
        object.insert("notes".into(), json!(d.notes));
        object.insert("help".into(), json!(d.help));
        out.push_str(&Value::Object(object).to_string());
        out.push('\n');
    }
    out
}

/// `path:line:column: error[MBD0001]: message`
#[must_use]
pub fn plain_line(sources: &Sources, d: &Diagnostic) -> String {
    let (line, column) = sources.line_column(d.primary.span);
    let name = &sources.get(d.primary.span.file).name;
    format!("{name}:{line}:{column}: {}[{}]: {}", severity(d.severity), d.code, d.message)
}

fn severity(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
    }
}

fn report<'a>(sources: &'a Sources, d: &'a Diagnostic) -> Group<'a> {
    let level = match d.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
    };
    let mut group = level.primary_title(&d.message).id(d.code.to_string()).elements(snippets(sources, d));
    for note in &d.notes {
        group = group.element(Level::NOTE.message(note));
    }
    if let Some(help) = &d.help {
        group = group.element(Level::HELP.message(help));
    }
    group
}

/// One snippet for each file with a label, that of the main label first.
fn snippets<'a>(sources: &'a Sources, d: &'a Diagnostic) -> Vec<Snippet<'a, annotate_snippets::Annotation<'a>>> {
    let mut files: Vec<FileId> = vec![d.primary.span.file];
    for label in &d.secondary {
        if !files.contains(&label.span.file) {
            files.push(label.span.file);
        }
    }
    let mut list = Vec::new();
    for file in files {
        let source = sources.get(file);
        let mut snippet = Snippet::source(source.text.as_str()).path(source.name.as_str());
        let labels = std::iter::once((AnnotationKind::Primary, &d.primary))
            .chain(d.secondary.iter().map(|label| (AnnotationKind::Context, label)));
        for (kind, label) in labels {
            if label.span.file != file {
                continue;
            }
            let annotation = kind.span(bytes(&source.text, label.span));
            let text = (!label.text.is_empty()).then_some(label.text.as_str());
            snippet = snippet.annotation(annotation.label(text));
        }
        list.push(snippet);
    }
    list
}

/// The bytes of a span, within the text and between characters.
fn bytes(text: &str, span: Span) -> Range<usize> {
    let start = text.floor_char_boundary(span.start as usize);
    let end = text.floor_char_boundary(span.end as usize);
    start..end.max(start)
}

/// The keys that say where.
fn place(sources: &Sources, span: Span) -> Map<String, Value> {
    let (line, column) = sources.line_column(span);
    let (end_line, end_column) = sources.line_column(Span { start: span.end, ..span });
    let mut object = Map::new();
    object.insert("file".into(), json!(sources.get(span.file).name));
    object.insert("line".into(), json!(line));
    object.insert("column".into(), json!(column));
    object.insert("end_line".into(), json!(end_line));
    object.insert("end_column".into(), json!(end_column));
    object.insert("start".into(), json!(span.start));
    object.insert("end".into(), json!(span.end));
    object
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diag::Code;

    /// An error over two files, with every part.
    fn example() -> (Sources, Diagnostic) {
        let mut sources = Sources::default();
        let main = sources.add("models/top.mbd", "model \u{3bc} {\n    param m = 15 kg\n    param l\n}\n");
        let other = sources.add("bars.mbd", "define body Bar { }\n");
        let span = |file, start, end| Span { file, start, end };
        let d = Diagnostic::error(Code(16), span(main, 30, 30), "expected `;` after `15 kg`")
            .label("`;` is missing here")
            .also(span(main, 6, 8), "in this model")
            .also(span(other, 12, 15), "")
            .note("a reason")
            .help("type `;`");
        (sources, d)
    }

    #[test]
    fn people_see_the_lines() {
        let (sources, d) = example();
        let expected = "\
error[MBD0016]: expected `;` after `15 kg`
 --> models/top.mbd:2:20
  |
1 | model \u{3bc} {
  |       - in this model
2 |     param m = 15 kg
  |                    ^ `;` is missing here
  |
 ::: bars.mbd:1:13
  |
1 | define body Bar { }
  |             ---
  |
  = note: a reason
  = help: type `;`

";
        assert_eq!(human(&sources, std::slice::from_ref(&d), false), expected);
        let many = vec![d; SHOWN + 3];
        let text = human(&sources, &many, true);
        assert!(text.ends_with("... and 3 more\n"));
        assert!(text.contains("\u{1b}["));
    }

    #[test]
    fn programs_see_one_object_a_line() {
        let (sources, d) = example();
        let text = json(&sources, &[d.clone(), d.clone()]);
        assert_eq!(text.lines().count(), 2);
        let value: Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
        assert_eq!(
            value,
            json!({
                "code": "MBD0016", "severity": "error", "message": "expected `;` after `15 kg`",
                "file": "models/top.mbd", "line": 2, "column": 20, "end_line": 2, "end_column": 20,
                "start": 30, "end": 30, "label": "`;` is missing here",
                "secondary": [
                    {"file": "models/top.mbd", "line": 1, "column": 7, "end_line": 1, "end_column": 8,
                     "start": 6, "end": 8, "label": "in this model"},
                    {"file": "bars.mbd", "line": 1, "column": 13, "end_line": 1, "end_column": 16,
                     "start": 12, "end": 15, "label": ""},
                ],
                "notes": ["a reason"], "help": "type `;`",
            })
        );
        let line = "models/top.mbd:2:20: error[MBD0016]: expected `;` after `15 kg`";
        assert_eq!(plain_line(&sources, &d), line);
    }

    #[test]
    fn an_empty_file_can_be_pointed_at() {
        let mut sources = Sources::default();
        let file = sources.add("empty.mbd", "");
        let d = Diagnostic::error(Code(50), Span { file, start: 0, end: 0 }, "no model in this file");
        assert!(human(&sources, std::slice::from_ref(&d), false).contains("no model in this file"));
        assert!(json(&sources, &[d]).contains("\"line\":1"));
    }
}
