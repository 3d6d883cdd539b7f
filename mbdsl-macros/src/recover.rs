//! The text of a model from the tokens of a macro call, with the token that stands at each place of it.
//!
//! The source file is the first choice, so that comments and layout survive; it is taken only if its tokens are the
//! received ones. Otherwise, for instance inside another macro, the tokens are joined with spaces.

use std::path::Path;

use proc_macro::{Delimiter, Spacing, Span, TokenStream, TokenTree};

/// A text with the spans of its tokens.
pub(crate) struct Text {
    /// Name that messages show.
    pub name: String,
    /// The text.
    pub text: String,
    /// Whether places of the text are places of Rust source, so that messages point at tokens.
    pub is_inline: bool,
    /// Start and end of each token in bytes, and its span; one for the whole of a file.
    places: Vec<(usize, usize, Span)>,
}

impl Text {
    /// A text that comes from somewhere else, named at a span.
    pub(crate) fn whole(name: String, text: String, span: Span) -> Self {
        let places = vec![(0, text.len(), span)];
        Self { name, text, is_inline: false, places }
    }

    /// Spans of the first and the last token in a range of bytes; the nearest before it where there is none.
    pub(crate) fn spans(&self, start: usize, end: usize) -> (Span, Span) {
        let end = end.max(start + 1);
        let mut first = self.places.partition_point(|&(_, token_end, _)| token_end <= start);
        // Where something is missing between two tokens, it is missing after the first of them.
        if first > 0 && self.places.get(first).is_none_or(|&(token_start, ..)| token_start >= end) {
            first -= 1;
        }
        let last = self.places.partition_point(|&(token_start, _, _)| token_start < end);
        let clamp = |k: usize| self.places.get(k).or(self.places.last()).map_or_else(Span::call_site, |place| place.2);
        (clamp(first), clamp(last.saturating_sub(1).max(first)))
    }
}

/// A token without structure: groups are their delimiters.
struct Flat {
    text: String,
    span: Span,
    /// Whether the next token follows without a space.
    is_joint: bool,
}

impl Flat {
    /// Whether it is a name as `r#type`, a mark that the language does not need.
    fn is_raw_name(&self) -> bool {
        self.text.starts_with(RAW) && !self.text.ends_with(['"', '#'])
    }
}

/// What stands before a name that is a word of Rust.
const RAW: &str = "r#";

/// The text of an inline model.
pub(crate) fn inline(tokens: TokenStream) -> Text {
    let mut flat = Vec::new();
    flatten(tokens, &mut flat);
    from_file(&flat).unwrap_or_else(|| joined(&flat))
}

fn flatten(tokens: TokenStream, out: &mut Vec<Flat>) {
    for tree in tokens {
        match tree {
            TokenTree::Group(group) => {
                let (open, close) = match group.delimiter() {
                    Delimiter::Parenthesis => ("(", ")"),
                    Delimiter::Brace => ("{", "}"),
                    Delimiter::Bracket => ("[", "]"),
                    Delimiter::None => ("", ""),
                };
                let delimiter = |text: &str, span: Span, out: &mut Vec<Flat>| {
                    if !text.is_empty() {
                        out.push(Flat { text: text.to_owned(), span, is_joint: false });
                    }
                };
                delimiter(open, group.span_open(), out);
                flatten(group.stream(), out);
                delimiter(close, group.span_close(), out);
            }
            TokenTree::Punct(punct) => out.push(Flat {
                text: punct.as_char().to_string(),
                span: punct.span(),
                is_joint: punct.spacing() == Spacing::Joint,
            }),
            TokenTree::Ident(ident) => {
                out.push(Flat { text: ident.to_string(), span: ident.span(), is_joint: false });
            }
            TokenTree::Literal(literal) => {
                out.push(Flat { text: literal.to_string(), span: literal.span(), is_joint: false });
            }
        }
    }
}

/// Byte offset of a place in a text; lines and columns count from 1, columns in characters.
struct Lines<'a> {
    text: &'a str,
    starts: Vec<usize>,
}

impl<'a> Lines<'a> {
    fn new(text: &'a str) -> Self {
        let starts = std::iter::once(0).chain(text.match_indices('\n').map(|(k, _)| k + 1)).collect();
        Self { text, starts }
    }

    fn offset(&self, place: Span) -> Option<usize> {
        let start = *self.starts.get(place.line().checked_sub(1)?)?;
        let line = &self.text[start..];
        let column = place.column().checked_sub(1)?;
        line.char_indices().map(|(k, _)| k).chain([line.len()]).nth(column).map(|k| start + k)
    }
}

/// The part of the source file from the first to the last token, if its tokens are these.
fn from_file(flat: &[Flat]) -> Option<Text> {
    let (first, last) = (flat.first()?.span, flat.last()?.span);
    let path = first.local_file()?;
    let source = std::fs::read_to_string(&path).ok()?;
    let lines = Lines::new(&source);
    let (start, end) = (lines.offset(first.start())?, lines.offset(last.end())?);
    let mut text = source.get(start..end)?.to_owned();
    let mut again = Vec::new();
    flatten(text.parse().ok()?, &mut again);
    let is_same = again.len() == flat.len() && again.iter().zip(flat).all(|(a, b)| a.text == b.text);
    if !is_same {
        return None;
    }
    let place = |token: &Flat| {
        let (from, to) = (lines.offset(token.span.start())?, lines.offset(token.span.end())?);
        Some((from.checked_sub(start)?, to.checked_sub(start)?, token.span))
    };
    let mut places = flat.iter().map(place).collect::<Option<Vec<_>>>()?;
    for ((at, ..), _) in places.iter().zip(flat).filter(|(_, token)| token.is_raw_name()) {
        text.replace_range(*at..at + RAW.len(), "  ");
    }
    // The tokens of a documentation comment all stand at its place.
    places.dedup_by_key(|place| (place.0, place.1));
    Some(Text { name: name(&path), text, is_inline: true, places })
}

/// The last part of a path: messages and generated text must not depend on where the crate lies.
fn name(path: &Path) -> String {
    path.file_name().map_or_else(|| "model".to_owned(), |name| name.to_string_lossy().into_owned())
}

/// The tokens with spaces between them, documentation as comments on lines of their own.
fn joined(flat: &[Flat]) -> Text {
    let mut text = String::new();
    let mut places = Vec::new();
    let mut k = 0;
    while let Some(token) = flat.get(k) {
        let start = text.len();
        if let Some(docs) = documentation(&flat[k..]) {
            for line in docs.lines() {
                text.push_str(&format!("\n///{line}"));
            }
            places.push((start, text.len(), token.span));
            text.push('\n');
            k += 6;
            continue;
        }
        text.push_str(if token.is_raw_name() { &token.text[RAW.len()..] } else { &token.text });
        places.push((start, text.len(), token.span));
        if !token.is_joint {
            text.push(' ');
        }
        k += 1;
    }
    Text { name: "model".to_owned(), text, is_inline: true, places }
}

/// The text of `#[doc = "..."]` at the start of some tokens: six of them.
fn documentation(flat: &[Flat]) -> Option<String> {
    let [hash, open, doc, equals, text, close, ..] = flat else { return None };
    let is_doc = [(hash, "#"), (open, "["), (doc, "doc"), (equals, "="), (close, "]")];
    if is_doc.iter().any(|(token, text)| token.text != *text) {
        return None;
    }
    let literal = &text.text;
    if let Some(raw) = literal.strip_prefix('r') {
        return Some(raw.trim_matches('#').trim_matches('"').to_owned());
    }
    let quoted = literal.strip_prefix('"')?.strip_suffix('"')?;
    Some(quoted.replace("\\\"", "\"").replace("\\'", "'").replace("\\\\", "\\"))
}
