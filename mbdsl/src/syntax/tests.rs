//! Tests of the syntax stage: messages, round trips through the printer, random trees and spoilt texts.

mod messages;
mod round_trip;
mod spoilt;
mod tree;

use super::ast::Document;
use super::parse;
use crate::diag::Diagnostic;
use crate::source::Sources;

fn parsed(text: &str) -> Result<Document, Vec<Diagnostic>> {
    let mut sources = Sources::default();
    let file = sources.add("test.mbd", text);
    parse(&sources, file)
}

/// The document of a text that must be valid.
fn document(text: &str) -> Document {
    match parsed(text) {
        Ok(document) => document,
        Err(diagnostics) => panic!("{diagnostics:#?}\nin {text}"),
    }
}

/// A small generator of random numbers.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 11).unwrap() % n
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }
}
