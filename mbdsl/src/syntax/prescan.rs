//! Checks on tokens before the grammar sees a text: characters, numbers, strings and the nesting of brackets.
//!
//! What passes here can be parsed by recursion over brackets without running out of stack, and has balanced brackets, so
//! that the places of statements are known even where the grammar fails. One pass, no recursion.

use std::ops::Range;

use super::error::{Fault, SyntaxError};
use super::token::{COMMENT_DEPTH, Token, TokenKind, number_length};
use crate::diag::SHOWN;

/// Brackets may nest this deeply.
pub(super) const BRACKET_DEPTH: usize = 128;

/// What the checks found.
#[derive(Debug, Default)]
pub(super) struct Scan {
    /// Problems, each with the index of the token whose statement is spoilt.
    pub faults: Vec<(Fault, usize)>,
    /// Whether the places of statements cannot be trusted.
    pub is_fatal: bool,
}

/// An opener that waits for its closer.
struct Open {
    sign: char,
    token: usize,
    /// Indentation of its line.
    indent: usize,
}

struct Scanner<'a> {
    text: &'a str,
    tokens: &'a [Token],
    scan: Scan,
    open: Vec<Open>,
    /// Only the first problem of a statement counts, the others may follow from it.
    is_spoilt: bool,
    /// Round and square openers given up in this statement: as many closers are overlooked.
    forgiven: usize,
    /// Whether the file has a name `T`, once it has been looked for.
    knows_t: Option<bool>,
    /// The brace that was probably not closed, judged by indentation or by a `model` inside of it.
    suspect: Option<(usize, usize)>,
}

/// Checks the tokens of a text.
pub(super) fn prescan(text: &str, tokens: &[Token]) -> Scan {
    let mut scanner = Scanner {
        text,
        tokens,
        scan: Scan::default(),
        open: Vec::new(),
        is_spoilt: false,
        forgiven: 0,
        knows_t: None,
        suspect: None,
    };
    scanner.run();
    scanner.scan
}

impl Scanner<'_> {
    fn run(&mut self) {
        let mut indent = 0;
        let mut starts_line = true;
        let mut starts_statement = true;
        let mut gap = 0;
        for (k, token) in self.tokens.iter().enumerate() {
            // Indentation of the line, and whether the token is its first one.
            let between = &self.text[gap..token.start];
            if let Some(newline) = between.rfind('\n') {
                (indent, starts_line) = (between.len() - newline - 1, true);
            }
            gap = token.end;
            if starts_statement && starts_line && matches!(self.word(k), "model" | "import") {
                self.suspect_open_brace(k);
            }
            if self.lexical(k) || self.scan.faults.len() >= SHOWN {
                return;
            }
            let sign = self.word(k);
            starts_statement = matches!(sign, "{" | "}" | ";");
            match sign {
                "(" | "[" | "{" if self.open.len() >= BRACKET_DEPTH => {
                    self.fault(
                        k,
                        token.start..token.end,
                        SyntaxError::TooDeep { what: "brackets", limit: BRACKET_DEPTH },
                    );
                    self.scan.is_fatal = true;
                    return;
                }
                "(" => self.open.push(Open { sign: '(', token: k, indent }),
                "[" => self.open.push(Open { sign: '[', token: k, indent }),
                "{" => {
                    self.give_up_round(k);
                    self.open.push(Open { sign: '{', token: k, indent });
                }
                ")" => self.close_round(k, ')', '('),
                "]" => self.close_round(k, ']', '['),
                ";" => self.give_up_round(k),
                "}" => {
                    self.give_up_round(k);
                    if !self.close_brace(k, indent, starts_line) {
                        return;
                    }
                }
                _ => {}
            }
            if starts_statement {
                (self.is_spoilt, self.forgiven) = (false, 0);
            }
            starts_line = false;
        }
        self.end();
    }

    fn word(&self, k: usize) -> &str {
        self.tokens.get(k).map_or("", |t| &self.text[t.start..t.end])
    }

    fn fault(&mut self, k: usize, at: Range<usize>, error: SyntaxError) {
        if !self.is_spoilt {
            self.scan.faults.push((Fault { error, at }, k));
            self.is_spoilt = true;
        }
    }

    /// Judges a token by itself; true stops the scan, since the text after it is not to be trusted.
    fn lexical(&mut self, k: usize) -> bool {
        let token = self.tokens[k];
        let text = &self.text[token.start..token.end];
        let at = token.start..token.end;
        let error = match token.kind {
            TokenKind::Sign | TokenKind::Text | TokenKind::Doc => return false,
            TokenKind::Number => match text.parse::<f64>() {
                Ok(value) if value.is_finite() => return false,
                _ => SyntaxError::NumberTooLarge { text: text.into() },
            },
            TokenKind::Word => {
                if !self.is_spoilt && text == "T" && k > 0 && self.word(k - 1) == "^" && !self.knows_t() {
                    self.transpose(k, self.base(k - 1));
                }
                return false;
            }
            TokenKind::Glued => {
                let (number, stuck) = text.split_at(number_length(text));
                if stuck.bytes().all(|b| b.is_ascii_alphabetic()) && !text.starts_with("0x") {
                    SyntaxError::GluedUnit { number: number.into(), unit: stuck.into() }
                } else {
                    SyntaxError::MalformedNumber { text: text.into() }
                }
            }
            TokenKind::OpenDecimal => SyntaxError::OpenDecimal { text: text.into() },
            TokenKind::Half if text == "&" => SyntaxError::SingleOperator { found: "&", wanted: "&&" },
            TokenKind::Half => SyntaxError::SingleOperator { found: "|", wanted: "||" },
            TokenKind::Junk if self.is_spoilt => return false,
            TokenKind::Junk => {
                let found = text.chars().next().unwrap_or_default();
                let base = self.base(k).filter(|base| found == '\'' && base.end == token.start);
                if base.is_some() {
                    self.transpose(k, base);
                    return false;
                }
                SyntaxError::ForbiddenCharacter { found }
            }
            TokenKind::OpenText => SyntaxError::OpenString,
            TokenKind::OpenComment => SyntaxError::OpenComment,
            TokenKind::DeepComment => SyntaxError::TooDeep { what: "comments", limit: COMMENT_DEPTH },
        };
        self.fault(k, at, error);
        let stops = matches!(token.kind, TokenKind::OpenText | TokenKind::OpenComment | TokenKind::DeepComment);
        self.scan.is_fatal |= stops;
        stops
    }

    /// Complains about `R'` or `R^T`, which ends with token `k`.
    fn transpose(&mut self, k: usize, base: Option<Range<usize>>) {
        if let Some(base) = base {
            let at = base.start..self.tokens[k].end;
            self.fault(k, at, SyntaxError::Transpose { base: self.text[base].into() });
        }
    }

    /// Whether the file has a name `T`, which makes `x^T` a power.
    fn knows_t(&mut self) -> bool {
        let is_name = |k: usize| self.word(k) == "T" && (k == 0 || self.word(k - 1) != "^");
        let knows_t = self.knows_t.unwrap_or_else(|| (0..self.tokens.len()).any(is_name));
        self.knows_t = Some(knows_t);
        knows_t
    }

    /// The name, field, subscript or call that ends before a token.
    fn base(&self, k: usize) -> Option<Range<usize>> {
        let last = k.checked_sub(1)?;
        let mut at = last;
        loop {
            match self.word(at) {
                ")" | "]" => {
                    // Back to the matching opener; a call or subscript goes on with what it is applied to.
                    let mut depth = 0usize;
                    loop {
                        match self.word(at) {
                            ")" | "]" => depth += 1,
                            "(" | "[" => depth = depth.saturating_sub(1),
                            ";" | "{" | "}" => return None,
                            _ => {}
                        }
                        if depth == 0 {
                            break;
                        }
                        at = at.checked_sub(1)?;
                    }
                    let applied = at > 0
                        && (self.tokens[at - 1].kind == TokenKind::Word || matches!(self.word(at - 1), ")" | "]"));
                    if !applied {
                        break;
                    }
                    at -= 1;
                }
                _ if self.tokens[at].kind == TokenKind::Word => {
                    if at < 2 || self.word(at - 1) != "." {
                        break;
                    }
                    at -= 2;
                }
                _ => return None,
            }
        }
        Some(self.tokens[at].start..self.tokens[last].end)
    }

    /// A `)` or `]`.
    fn close_round(&mut self, k: usize, closer: char, opener: char) {
        let at = self.tokens[k].start..self.tokens[k].end;
        match self.open.last() {
            Some(open) if open.sign == opener => {
                self.open.pop();
            }
            Some(open) if open.sign != '{' => {
                let (token, sign) = (open.token, open.sign);
                let inside = self.open.iter().rev().take_while(|o| o.sign != '{').any(|o| o.sign == opener);
                let opened = self.tokens[token].start..self.tokens[token].end;
                self.open.pop();
                let entries = (token > 0 && self.word(token - 1) == "in").then(|| self.two_entries(token, k));
                if let Some(Some((lo, hi))) = entries {
                    self.fault(k, opened.start..at.end, SyntaxError::ClosedRange { lo, hi });
                } else if inside {
                    // The closer belongs to an outer opener: the inner one is open.
                    self.fault(token, opened, SyntaxError::Unclosed { opener: sign, met: Some(at) });
                    self.close_round(k, closer, opener);
                } else {
                    self.fault(k, at, SyntaxError::Mismatched { opener: sign, opened, closer });
                }
            }
            _ if self.forgiven > 0 => self.forgiven -= 1,
            _ => self.fault(k, at, SyntaxError::StrayCloser { closer }),
        }
    }

    /// The texts of two entries between an opener and its closer.
    fn two_entries(&self, opener: usize, closer: usize) -> Option<(String, String)> {
        let inner = &self.text[self.tokens[opener].end..self.tokens[closer].start];
        let (lo, hi) = inner.split_once(',')?;
        Some((lo.trim().into(), hi.trim().into()))
    }

    /// Round and square brackets cannot go on over a `;` or a brace.
    fn give_up_round(&mut self, k: usize) {
        while let Some(open) = self.open.pop_if(|open| open.sign != '{') {
            let met = self.tokens[k].start..self.tokens[k].end;
            let at = self.tokens[open.token].start..self.tokens[open.token].end;
            self.fault(open.token, at, SyntaxError::Unclosed { opener: open.sign, met: Some(met) });
            self.forgiven += 1;
        }
    }

    /// A `}`; false if it closes nothing.
    fn close_brace(&mut self, k: usize, indent: usize, starts_line: bool) -> bool {
        let Some(open) = self.open.pop() else {
            let at = self.tokens[k].start..self.tokens[k].end;
            self.fault(k, at, SyntaxError::StrayCloser { closer: '}' });
            self.scan.is_fatal = true;
            return false;
        };
        if starts_line && indent < open.indent && self.suspect.is_none() {
            self.suspect = Some((open.token, k));
        }
        true
    }

    fn suspect_open_brace(&mut self, k: usize) {
        if let Some(open) = self.open.iter().rev().find(|open| open.sign == '{') {
            self.suspect = self.suspect.or(Some((open.token, k)));
        }
    }

    /// The end of the text, where nothing may be open.
    fn end(&mut self) {
        self.is_spoilt = false;
        let Some(innermost) = self.open.last() else { return };
        let (token, met) = match (innermost.sign, self.suspect) {
            ('{', Some((token, met))) => (token, Some(self.tokens[met].start..self.tokens[met].end)),
            _ => (innermost.token, None),
        };
        let opener = if self.word(token) == "{" { '{' } else { innermost.sign };
        let at = self.tokens[token].start..self.tokens[token].end;
        self.fault(token, at, SyntaxError::Unclosed { opener, met });
        self.scan.is_fatal = true;
    }
}
