//! Line breaks and indentation for generated code.
//!
//! The code is laid out from its tokens, in one pass and without a syntax tree: what the back end emits are items,
//! statements, and lists in few forms. An item or statement stands on a line of its own, what is in its braces on lines
//! below; a line that is too long is broken as `rustfmt` would.

mod line;
mod long;

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};

use line::{Content, Line};
use long::{INDENT, broken, signature};

/// Generated items with line breaks and indentation.
pub(super) fn lay_out(items: TokenStream) -> String {
    let mut out = String::new();
    lines(items, Content::Statements, 0, &mut out);
    out
}

/// Writes items or statements, each from a line of its own on.
fn lines(code: TokenStream, content: Content, indent: usize, out: &mut String) {
    let mut line = Line::new(content);
    for tree in code {
        if line.is_over() && !continues(&tree) {
            finish(&mut line, indent, out);
        }
        match tree {
            TokenTree::Group(group) if line.is_attribute() => {
                attribute(group, indent, out);
                line.clear();
            }
            TokenTree::Group(group) if group.delimiter() == Delimiter::Brace => match line.opens() {
                Some(inner) => {
                    let code = into_stream(group);
                    if code.is_empty() {
                        line.close(" {}");
                        continue;
                    }
                    line.open();
                    write_line(&line, indent, out);
                    lines(code, inner, indent + INDENT, out);
                    line.clear();
                    line.close("}");
                }
                None => line.push(group.into()),
            },
            tree => {
                let is_end = matches!(&tree, TokenTree::Punct(sign) if content.ends_with(sign.as_char()));
                line.push(tree);
                if is_end {
                    finish(&mut line, indent, out);
                }
            }
        }
    }
    if content != Content::Statements && !line.is_empty() && !line.is_over() {
        line.close(",");
    }
    finish(&mut line, indent, out);
}

fn finish(line: &mut Line, indent: usize, out: &mut String) {
    if !line.is_empty() {
        write_line(line, indent, out);
    }
    line.clear();
}

fn write_line(line: &Line, indent: usize, out: &mut String) {
    let write = if line.is_signature() { signature } else { broken };
    write(line.text(), indent, out);
}

/// Whether a token goes on with what seemed to end with a block.
fn continues(tree: &TokenTree) -> bool {
    match tree {
        TokenTree::Punct(sign) => matches!(sign.as_char(), ';' | ',' | '.' | '?'),
        TokenTree::Ident(word) => word == "else",
        TokenTree::Group(_) | TokenTree::Literal(_) => false,
    }
}

/// The tokens in a group. The group ends before they are looked at, so that nobody shares them and they are not copied.
fn into_stream(group: Group) -> TokenStream {
    group.stream()
}

/// Writes an attribute; documentation as a comment.
fn attribute(group: Group, indent: usize, out: &mut String) {
    let trees: Vec<TokenTree> = into_stream(group).into_iter().collect();
    if let [TokenTree::Ident(name), TokenTree::Punct(_), TokenTree::Literal(text)] = &trees[..]
        && name == "doc"
        && let Some(text) = comment(&text.to_string())
    {
        return long::write(&format!("///{text}"), indent, out);
    }
    let mut line = Line::new(Content::Statements);
    line.close("#");
    line.push(Group::new(Delimiter::Bracket, trees.into_iter().collect()).into());
    broken(line.text(), indent, out);
}

/// What a string literal says, if that can stand in a comment.
fn comment(literal: &str) -> Option<String> {
    if let Some(raw) = literal.strip_prefix("r\"") {
        return Some(raw.strip_suffix('"')?.to_owned());
    }
    let mut text = String::new();
    let mut characters = literal.strip_prefix('"')?.strip_suffix('"')?.chars();
    while let Some(c) = characters.next() {
        text.push(match c {
            '\\' => characters.next().filter(|c| matches!(c, '"' | '\'' | '\\'))?,
            c => c,
        });
    }
    Some(text)
}

#[cfg(test)]
mod tests;
