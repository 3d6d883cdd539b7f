//! Text into tokens: places of words, numbers and signs, so that messages can speak about them.
//!
//! The grammar has its own idea of tokens and decides what is valid; this list is what the checks before it and the
//! diagnosis after it look at. It never fails, needs one pass and no recursion.

/// Kinds of tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TokenKind {
    /// A name or a word of the language.
    Word,
    /// A number that is well formed.
    Number,
    /// A number with letters or digits stuck to its end.
    Glued,
    /// A number without digits on one side of its point.
    OpenDecimal,
    /// A string.
    Text,
    /// A string that does not end on its line.
    OpenText,
    /// A `///` comment.
    Doc,
    /// A block comment that does not end.
    OpenComment,
    /// The start of a block comment nested too deeply.
    DeepComment,
    /// A sign or operator of the language.
    Sign,
    /// `&` or `|` alone.
    Half,
    /// A character that the language has no use for.
    Junk,
}

/// A token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Token {
    /// What it is.
    pub kind: TokenKind,
    /// First byte.
    pub start: usize,
    /// Byte after the last one.
    pub end: usize,
}

/// Block comments may nest this deeply; the grammar follows them by recursion.
pub(super) const COMMENT_DEPTH: usize = 64;

/// Words that cannot be names.
pub(super) const KEYWORDS: [&str; 34] = [
    "as",
    "body",
    "check",
    "const",
    "constraint",
    "contact",
    "define",
    "dissipation",
    "event",
    "every",
    "fn",
    "force",
    "frame",
    "import",
    "in",
    "input",
    "joint",
    "let",
    "model",
    "on",
    "output",
    "param",
    "part",
    "particle",
    "point",
    "potential",
    "record",
    "simulate",
    "solid",
    "stop",
    "torque",
    "use",
    "when",
    "where",
];

/// Words that start a statement.
pub(super) const STATEMENTS: [&str; 25] = [
    "body",
    "check",
    "const",
    "constraint",
    "contact",
    "define",
    "dissipation",
    "event",
    "force",
    "frame",
    "ground",
    "input",
    "joint",
    "let",
    "output",
    "param",
    "part",
    "particle",
    "point",
    "potential",
    "record",
    "simulate",
    "solid",
    "stop",
    "torque",
];

/// Words that start an item of a file.
pub(super) const ITEMS: [&str; 3] = ["define", "import", "model"];

/// Whether a word cannot be a name.
pub(super) fn is_keyword(word: &str) -> bool {
    KEYWORDS.contains(&word)
}

/// Number of bytes of the number at the start of a text, without what is stuck to its end.
pub(super) fn number_length(text: &str) -> usize {
    let bytes = text.as_bytes();
    let digits = |from: usize| from + bytes[from..].iter().take_while(|b| b.is_ascii_digit()).count();
    let mut end = digits(0);
    if bytes.get(end) == Some(&b'.') && bytes.get(end + 1).is_some_and(u8::is_ascii_digit) {
        end = digits(end + 1);
    }
    if matches!(bytes.get(end), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
        if bytes.get(end + 1 + sign).is_some_and(u8::is_ascii_digit) {
            end = digits(end + 1 + sign);
        }
    }
    end
}

/// All tokens of a text in order; white space and comments other than `///` are left out.
pub(super) fn tokens(text: &str) -> Vec<Token> {
    let bytes = text.as_bytes();
    let mut list: Vec<Token> = Vec::new();
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        let rest = &text[at..];
        let (kind, length) = match byte {
            b' ' | b'\t' | b'\n' | b'\r' => {
                at += 1;
                continue;
            }
            b'/' if rest.starts_with("//") => {
                let length = line_length(rest);
                if rest.starts_with("///") && !rest.starts_with("////") {
                    (TokenKind::Doc, length)
                } else {
                    at += length;
                    continue;
                }
            }
            b'/' if rest.starts_with("/*") => match comment(rest) {
                Ok(length) => {
                    at += length;
                    continue;
                }
                Err((kind, skip)) => {
                    list.push(Token { kind, start: at + skip, end: at + skip + 2 });
                    break;
                }
            },
            b'"' => {
                let line = &rest[..line_length(rest)];
                match line[1..].find('"') {
                    Some(k) => (TokenKind::Text, k + 2),
                    None => (TokenKind::OpenText, line.len()),
                }
            }
            b'a'..=b'z' | b'A'..=b'Z' | b'_' => (TokenKind::Word, word_length(rest)),
            b'0'..=b'9' => number(rest),
            b'.' => {
                let touches = list.last().is_some_and(|t| {
                    t.end == at && (t.kind == TokenKind::Word || matches!(bytes[t.end - 1], b')' | b']'))
                });
                if rest.starts_with("..") {
                    (TokenKind::Sign, 2)
                } else if !touches && bytes.get(at + 1).is_some_and(u8::is_ascii_digit) {
                    (TokenKind::OpenDecimal, 1 + word_length(&rest[1..]))
                } else {
                    (TokenKind::Sign, 1)
                }
            }
            b'=' | b'!' | b'<' | b'>' => (TokenKind::Sign, 1 + usize::from(rest[1..].starts_with('='))),
            b'&' | b'|' => match bytes.get(at + 1) {
                Some(next) if *next == byte => (TokenKind::Sign, 2),
                _ => (TokenKind::Half, 1),
            },
            b'+' | b'-' | b'*' | b'/' | b'%' | b'^' | b',' | b';' | b':' | b'(' | b')' | b'[' | b']' | b'{' | b'}' => {
                (TokenKind::Sign, 1)
            }
            _ => (TokenKind::Junk, rest.chars().next().map_or(1, char::len_utf8)),
        };
        list.push(Token { kind, start: at, end: at + length });
        at += length;
    }
    list
}

fn word_length(text: &str) -> usize {
    text.bytes().take_while(|b| b.is_ascii_alphanumeric() || *b == b'_').count()
}

fn line_length(text: &str) -> usize {
    text.find(['\n', '\r']).unwrap_or(text.len())
}

fn number(text: &str) -> (TokenKind, usize) {
    let length = number_length(text);
    let stuck = word_length(&text[length..]);
    if stuck > 0 {
        return (TokenKind::Glued, length + stuck);
    }
    let rest = &text[length..];
    if rest.starts_with('.') && !rest.starts_with("..") {
        return (TokenKind::OpenDecimal, length + 1);
    }
    (TokenKind::Number, length)
}

/// Length of the block comment at the start, or what is wrong with it and where.
fn comment(text: &str) -> Result<usize, (TokenKind, usize)> {
    let bytes = text.as_bytes();
    let (mut depth, mut at) = (0, 0);
    while at + 1 < bytes.len() {
        match (bytes[at], bytes[at + 1]) {
            (b'/', b'*') if depth == COMMENT_DEPTH => return Err((TokenKind::DeepComment, at)),
            (b'/', b'*') => (depth, at) = (depth + 1, at + 2),
            (b'*', b'/') if depth == 1 => return Ok(at + 2),
            (b'*', b'/') => (depth, at) = (depth - 1, at + 2),
            _ => at += 1,
        }
    }
    Err((TokenKind::OpenComment, 0))
}
