//! The parser that pest makes from `grammar.pest`.

/// The grammar of a file.
#[derive(pest_derive::Parser)]
#[grammar = "syntax/grammar.pest"]
pub(super) struct Grammar;
