//! All problems of a text that the grammar refuses: blank out the statement that fails, and parse again.
//!
//! Offsets stay, since a statement is replaced by as many spaces. Each round blanks at least one token, and there are at
//! most as many rounds as messages are shown, so the work is linear in the text.

use std::ops::Range;

use pest::Parser as _;
use pest::error::{ErrorVariant, InputLocation};

use super::build;
use super::diagnose::diagnose;
use super::error::Fault;
use super::grammar::{Grammar, Rule};
use super::prescan::Scan;
use super::token::Token;
use crate::diag::SHOWN;
use crate::source::FileId;

/// The problems of a text, beginning with those that the first checks found.
pub(super) fn faults(text: &str, file: FileId, tokens: &[Token], scan: Scan) -> Vec<Fault> {
    let mut rest = text.to_owned();
    let mut tokens = tokens.to_vec();
    let mut faults = Vec::new();
    for (fault, k) in scan.faults {
        if !scan.is_fatal {
            let statement = extent(&rest, &tokens, k);
            blank(&mut rest, places(&tokens, &statement));
        }
        faults.push(fault);
    }
    // Without trust in the places of statements, further messages would be guesses.
    if scan.is_fatal {
        return faults;
    }
    tokens.retain(|token| rest.as_bytes()[token.start] != b' ');
    while faults.len() < SHOWN {
        let (at, expected) = match Grammar::parse(Rule::file, &rest) {
            Ok(mut pairs) => {
                let root = pairs.next().expect("the rule of a file gives one pair");
                if let Err(more) = build::build(&rest, 0, file, root) {
                    faults.extend(more);
                }
                break;
            }
            Err(error) => {
                let at = match error.location {
                    InputLocation::Pos(at) | InputLocation::Span((at, _)) => at,
                };
                match error.variant {
                    ErrorVariant::ParsingError { positives, .. } => (at, positives),
                    ErrorVariant::CustomError { .. } => (at, Vec::new()),
                }
            }
        };
        // The first token that does not fit; at the end of the text there is none.
        let k = tokens.partition_point(|token| token.end <= at);
        let statement = extent(&rest, &tokens, k);
        let finding = diagnose(&rest, &tokens, k, &statement, &expected);
        faults.push(finding.fault);
        let cut = match finding.cut {
            cut if cut.is_empty() => k..(k + 1).min(tokens.len()),
            cut => cut,
        };
        if cut.is_empty() {
            break;
        }
        blank(&mut rest, places(&tokens, &cut));
        tokens.drain(cut);
    }
    faults
}

/// The tokens of the statement around a token, from its first one to its `;` or `}`.
fn extent(text: &str, tokens: &[Token], k: usize) -> Range<usize> {
    let sign = |k: usize| &text[tokens[k].start..tokens[k].end];
    let mut start = 0;
    let mut starts = Vec::new();
    for at in 0..k.min(tokens.len()) {
        match sign(at) {
            "{" => {
                starts.push(start);
                start = at + 1;
            }
            "}" => {
                starts.pop();
                start = at + 1;
            }
            ";" => start = at + 1,
            _ => {}
        }
    }
    let mut depth = 0usize;
    for at in k..tokens.len() {
        match sign(at) {
            ";" if depth == 0 => return start..at + 1,
            "{" => depth += 1,
            "}" if depth == 0 => return start..at,
            "}" => {
                depth -= 1;
                if depth == 0 {
                    return start..at + 1;
                }
            }
            _ => {}
        }
    }
    start..tokens.len()
}

fn places(tokens: &[Token], range: &Range<usize>) -> Range<usize> {
    match (tokens.get(range.start), range.end.checked_sub(1).and_then(|last| tokens.get(last))) {
        (Some(first), Some(last)) if first.start < last.end => first.start..last.end,
        _ => 0..0,
    }
}

/// Overwrites a place with spaces, except for line ends.
fn blank(text: &mut String, at: Range<usize>) {
    let spaces: String = text[at.clone()]
        .bytes()
        .map(|byte| if matches!(byte, b'\n' | b'\r') { char::from(byte) } else { ' ' })
        .collect();
    text.replace_range(at, &spaces);
}
