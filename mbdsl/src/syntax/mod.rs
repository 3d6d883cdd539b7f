//! Text into a syntax tree: checks on tokens, the grammar, the tree; and where one fails, messages in our own words.

pub mod ast;
pub mod print;
pub mod suggest;

mod build;
mod build_expr;
mod diagnose;
mod error;
mod grammar;
mod prescan;
mod recover;
mod token;

#[cfg(test)]
mod tests;

use pest::Parser as _;

use self::ast::Document;
use self::error::{Fault, SyntaxError};
use self::grammar::{Grammar, Rule};
use crate::diag::{self, Diagnostic};
use crate::source::{FileId, Sources};

/// Texts may be this long, in bytes; places are 32-bit numbers.
const TEXT_LENGTH: usize = 64 << 20;

/// The syntax tree of a file, or what is wrong with its form.
///
/// An empty file is an empty document. At most [`diag::SHOWN`] messages are made, in source order.
pub fn parse(sources: &Sources, file: FileId) -> Result<Document, Vec<Diagnostic>> {
    let text = sources.get(file).text.as_str();
    let faults = match faults_or_document(text, file) {
        Ok(document) => return Ok(document),
        Err(faults) => faults,
    };
    let mut diagnostics: Vec<Diagnostic> = faults.iter().map(|fault| fault.diagnostic(file)).collect();
    diag::sort(&mut diagnostics);
    diagnostics.truncate(diag::SHOWN);
    Err(diagnostics)
}

fn faults_or_document(text: &str, file: FileId) -> Result<Document, Vec<Fault>> {
    if text.len() > TEXT_LENGTH {
        return Err(vec![Fault { error: SyntaxError::TooLong { limit: TEXT_LENGTH }, at: 0..0 }]);
    }
    let tokens = token::tokens(text);
    let scan = prescan::prescan(text, &tokens);
    // The way of nearly all texts: nothing to complain about, and the grammar accepts.
    if scan.faults.is_empty()
        && let Ok(mut pairs) = Grammar::parse(Rule::file, text)
    {
        let root = pairs.next().expect("the rule of a file gives one pair");
        return build::build(text, 0, file, root);
    }
    Err(recover::faults(text, file, &tokens, scan))
}

/// The syntax tree of some items of a file, from one byte to another, which must be right.
///
/// # Panics
/// If the grammar refuses them.
pub(crate) fn parse_items(sources: &Sources, file: FileId, bytes: std::ops::Range<usize>) -> Document {
    let text = sources.get(file).text.as_str();
    let pairs = Grammar::parse(Rule::file, &text[bytes.clone()]);
    let root = pairs.ok().and_then(|mut pairs| pairs.next()).expect("the items are right");
    build::build(text, bytes.start, file, root).expect("the items are right")
}

/// Names of the models of a text, also of one that does not parse.
#[must_use]
pub fn model_names(text: &str) -> Vec<&str> {
    let words: Vec<&str> = token::tokens(text).iter().map(|token| &text[token.start..token.end]).collect();
    let is_name = |word: &str| word.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    let models = words.windows(2).filter(|pair| pair[0] == "model" && is_name(pair[1]) && !token::is_keyword(pair[1]));
    models.map(|pair| pair[1]).collect()
}
