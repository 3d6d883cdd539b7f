//! What can be wrong with the form of a text: the facts, their codes and all wording.

use std::ops::Range;

use crate::diag::{Code, Diagnostic};
use crate::source::{FileId, Span};

/// A problem with its place.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Fault {
    /// What is wrong.
    pub error: SyntaxError,
    /// Bytes that the message points at; empty for a place between two tokens.
    pub at: Range<usize>,
}

/// Kinds of problems; each has its own code.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum SyntaxError {
    /// A character that the language has no use for.
    ForbiddenCharacter { found: char },
    /// `R'` or `R^T`.
    Transpose { base: String },
    /// `15kg`.
    GluedUnit { number: String, unit: String },
    /// `1.` or `.5`.
    OpenDecimal { text: String },
    /// `1_000`, `0x1F`.
    MalformedNumber { text: String },
    /// `1e999`.
    NumberTooLarge { text: String },
    /// A `"` without its partner on the line.
    OpenString,
    /// A `/*` without its `*/`.
    OpenComment,
    /// A bracket that is never closed; `met` is where its absence showed.
    Unclosed { opener: char, met: Option<Range<usize>> },
    /// A closing bracket without an opener.
    StrayCloser { closer: char },
    /// An opener closed by a bracket of another kind.
    Mismatched { opener: char, opened: Range<usize>, closer: char },
    /// Brackets, comments or operators nested too deeply.
    TooDeep { what: &'static str, limit: usize },
    /// `&`, `|` or `=` alone in an expression.
    SingleOperator { found: &'static str, wanted: &'static str },
    /// `a < b < c`.
    ChainedComparison { first: Range<usize>, middle: String },
    /// `[0, N]`, `0..=N`.
    ClosedRange { lo: String, hi: String },
    /// A statement without its `;`.
    MissingSemicolon { after: String },
    /// A statement that starts with no word of the language.
    UnknownStatement { word: String, similar: Option<&'static str> },
    /// A top-level item that starts with no word of the language.
    UnknownItem { found: String, similar: Option<&'static str> },
    /// A word of the language where it cannot stand.
    Misplaced { word: String, wanted: &'static str },
    /// `constraint c: a = b;`
    ConstraintAssigns,
    /// Two arguments, entries or parameters without a comma.
    MissingComma { between: &'static str },
    /// Something else where an expression must be.
    ExpectedExpression { after: String, found: String },
    /// `[]`.
    EmptyBrackets,
    /// `let x;`
    MissingValue { keyword: String, name: String },
    /// A word of the language where a name must be.
    KeywordAsName { word: String },
    /// `body {`.
    MissingName { keyword: String, found: String },
    /// `5 in`.
    KeywordAsUnit { word: String },
    /// A `///` that documents nothing.
    StrayDoc,
    /// `language 2;`
    UnsupportedLanguage { text: String },
    /// `language` elsewhere than at the start.
    LateLanguage,
    /// A setting or value without `=`.
    MissingEquals { name: String, found: String },
    /// Any other token that does not fit.
    Unexpected { found: String, expected: Vec<&'static str> },
    /// Something else where a unit must be.
    ExpectedUnit { found: String },
    /// `a ** b`.
    StarPower,
    /// An exponent of a unit that is no small rational.
    BadExponent,
    /// A text that is too long.
    TooLong { limit: usize },
}

/// The version of the language that this crate reads.
pub(super) const LANGUAGE: u64 = 1;

impl Fault {
    /// The message for it.
    pub(super) fn diagnostic(&self, file: FileId) -> Diagnostic {
        let at = |range: &Range<usize>| span(file, range);
        let e = |code: u16, message: String| Diagnostic::error(Code(code), at(&self.at), message);
        match &self.error {
            SyntaxError::ForbiddenCharacter { found } => forbidden(e, *found),
            SyntaxError::Transpose { base } => e(2, format!("write `transpose({base})`"))
                .label("not an operator of the language")
                .help(format!("type `transpose({base})`")),
            SyntaxError::GluedUnit { number, unit } => {
                e(3, format!("put a space between number and unit: `{number} {unit}`"))
                    .label("number and unit run together")
                    .help(format!("type `{number} {unit}`"))
            }
            SyntaxError::OpenDecimal { text } => {
                let full = if text.starts_with('.') { format!("0{text}") } else { format!("{text}0") };
                e(4, format!("write digits on both sides of the decimal point: `{full}`"))
                    .label("a digit is missing")
                    .help(format!("type `{full}`"))
            }
            SyntaxError::MalformedNumber { text } => e(5, format!("`{text}` is not a number"))
                .label("digits and letters run together")
                .help("numbers look like `12`, `0.5` or `3e-6`"),
            SyntaxError::NumberTooLarge { text } => e(6, format!("the number `{text}` is too large"))
                .label("larger than any double")
                .note("the largest number is about 1.8e308"),
            SyntaxError::OpenString => e(7, "this string is never closed".into())
                .label("opened here")
                .help("end the string with `\"` on the same line"),
            SyntaxError::OpenComment => e(8, "this comment is never closed".into())
                .label("opened here")
                .note("block comments nest: each `/*` needs its own `*/`")
                .help("end the comment with `*/`"),
            SyntaxError::Unclosed { opener, met } => {
                let closer = closer_of(*opener);
                let d = e(9, format!("this `{opener}` is never closed"))
                    .label("opened here")
                    .help(format!("close it with `{closer}`"));
                match met {
                    Some(met) => d.also(at(met), format!("`{closer}` is missing before this")),
                    None => d,
                }
            }
            SyntaxError::StrayCloser { closer } => e(10, format!("this `{closer}` closes nothing"))
                .label("no opener before it")
                .help(format!("remove the `{closer}`, or open it where it was meant to start")),
            SyntaxError::Mismatched { opener, opened, closer } => {
                let wanted = closer_of(*opener);
                e(11, format!("`{opener}` is closed by `{closer}`"))
                    .label(format!("expected `{wanted}`"))
                    .also(at(opened), "opened here")
                    .help(format!("type `{wanted}`"))
            }
            SyntaxError::TooDeep { what, limit } => e(12, format!("{what} nested deeper than {limit} levels"))
                .label("too deep here")
                .help("name a part of it with `let` and use the name"),
            SyntaxError::SingleOperator { found, wanted } => {
                e(13, format!("`{found}` is not an operator: use `{wanted}`"))
                    .label(format!("use `{wanted}`"))
                    .help(format!("type `{wanted}`"))
            }
            SyntaxError::ChainedComparison { first, middle } => e(14, "comparisons cannot be chained".into())
                .label("second comparison")
                .also(at(first), "first comparison")
                .help(format!("join two comparisons with `&&`, each with its own `{middle}`")),
            SyntaxError::ClosedRange { lo, hi } => e(15, format!("ranges are half open: write `{lo}..{hi}`"))
                .label("not a range of the language")
                .note(format!("`{lo}..{hi}` leaves out its upper end"))
                .help(format!("type `{lo}..{hi}`, or one more at the upper end to include it")),
            SyntaxError::MissingSemicolon { after } => e(16, format!("expected `;` after `{after}`"))
                .label("`;` is missing here")
                .help("end the statement with `;`"),
            SyntaxError::UnknownStatement { word, similar } => unknown_statement(e, word, *similar),
            SyntaxError::UnknownItem { found, similar } => match similar {
                Some(similar) => e(18, format!("unknown item `{found}`; did you mean `{similar}`?"))
                    .label("not a word of the language")
                    .help(format!("type `{similar}`")),
                None => e(18, format!("expected `model`, `define` or `import`, found {found}"))
                    .label("outside of every model")
                    .help("statements go between the braces of `model Name { ... }`"),
            },
            SyntaxError::Misplaced { word, wanted } => e(19, format!("`{word}` cannot stand here"))
                .label("not at this place")
                .help(format!("`{word}` belongs {wanted}")),
            SyntaxError::ConstraintAssigns => {
                e(20, "a constraint compares: use `==`".into()).label("this sets a value").help("type `==`")
            }
            SyntaxError::MissingComma { between } => {
                e(21, format!("expected `,` between {between}")).label("`,` is missing here").help("type `,`")
            }
            SyntaxError::ExpectedExpression { after, found } => {
                e(22, format!("expected an expression after `{after}`, found {found}"))
                    .label("an expression is missing here")
                    .help("give a number, a name, a vector `[x, y, z]` or a call")
            }
            SyntaxError::EmptyBrackets => e(23, "the brackets `[]` are empty".into())
                .label("an entry is missing")
                .help("write the entries between the brackets, as in `[0, 0, 1]`"),
            SyntaxError::MissingValue { keyword, name } => e(24, format!("`{keyword} {name}` needs a value"))
                .label("`=` and a value are missing here")
                .help(format!("type `{keyword} {name} = value;`")),
            SyntaxError::KeywordAsName { word } => {
                e(25, format!("`{word}` is a word of the language and cannot be a name"))
                    .label("choose another name")
                    .help(format!("for instance `{word}_1`"))
            }
            SyntaxError::MissingName { keyword, found } => {
                e(26, format!("expected a name after `{keyword}`, found {found}"))
                    .label("a name is missing here")
                    .help(format!("type a name: `{keyword} a`"))
            }
            SyntaxError::KeywordAsUnit { word } => {
                let d = e(27, format!("`{word}` is a word of the language, not a unit")).label("not a unit");
                if word == "in" { d.help("for inches convert: one inch is `25.4 mm`") } else { d }
            }
            SyntaxError::StrayDoc => e(28, "this `///` comment documents nothing".into())
                .label("no item or statement follows")
                .help("write `//` for a plain comment"),
            SyntaxError::UnsupportedLanguage { text } => {
                e(29, format!("language {text} is not known: the supported one is {LANGUAGE}"))
                    .label("unknown version")
                    .help(format!("type `language {LANGUAGE};`"))
            }
            SyntaxError::LateLanguage => e(30, "`language` must come first in the file".into())
                .label("too late here")
                .help("move it to the first line"),
            SyntaxError::MissingEquals { name, found } => e(31, format!("expected `=` after `{name}`, found {found}"))
                .label("`=` is missing here")
                .help(format!("type `{name} = value;`")),
            SyntaxError::Unexpected { found, expected } => {
                e(32, format!("expected {}, found {found}", one_of(expected))).label("does not fit here")
            }
            SyntaxError::ExpectedUnit { found } => e(33, format!("expected a unit, found {found}"))
                .label("not a unit")
                .note("a bracket after a number or a vector literal is a unit")
                .help("units look like `5 kg`, `5 [N/m]`, `5 [kg*m^2]` or `5 [1/s]`"),
            SyntaxError::StarPower => {
                e(34, "powers are written with `^`".into()).label("not an operator").help("type `^`")
            }
            SyntaxError::BadExponent => e(35, "this exponent of a unit is no small fraction".into())
                .label("out of range")
                .help("exponents look like `2`, `-1`, `1.5` or `(1/3)`"),
            SyntaxError::TooLong { limit } => {
                e(36, format!("the file is longer than {} MiB", limit >> 20)).label("start of the file")
            }
        }
    }
}

/// Place of a range of bytes.
pub(super) fn span(file: FileId, range: &Range<usize>) -> Span {
    let narrow = |k: usize| u32::try_from(k).unwrap_or(u32::MAX);
    Span { file, start: narrow(range.start), end: narrow(range.end) }
}

/// The bracket that closes another.
pub(super) fn closer_of(opener: char) -> char {
    match opener {
        '(' => ')',
        '[' => ']',
        _ => '}',
    }
}

fn forbidden(e: impl Fn(u16, String) -> Diagnostic, found: char) -> Diagnostic {
    let shown = if found.is_control() || found == '\u{feff}' {
        format!("U+{:04X}", u32::from(found))
    } else {
        format!("`{found}`")
    };
    let d = e(1, format!("the character {shown} has no place here")).label(if found.is_ascii() {
        "not part of the language"
    } else {
        "only plain ASCII outside comments"
    });
    let typed = match found {
        '\u{2212}' | '\u{2013}' | '\u{2014}' => "type `-`",
        '\u{b7}' | '\u{d7}' | '\u{22c5}' => "type `*`",
        '\u{f7}' => "type `/`",
        '\u{b0}' => "type ` deg`",
        '\u{b2}' => "type `^2`",
        '\u{b3}' => "type `^3`",
        '\u{b5}' | '\u{3bc}' => "for micro type `u`, as in `10 um`",
        '\u{2264}' => "type `<=`",
        '\u{2265}' => "type `>=`",
        '\u{2260}' => "type `!=`",
        '\u{3c0}' => "type `pi`",
        '\u{a0}' | '\u{feff}' => "type a plain space",
        '\'' | '`' | '\u{201c}' | '\u{201d}' | '\u{2018}' | '\u{2019}' => "strings are written with `\"`",
        '#' => "comments start with `//`",
        '\\' => "a statement may go on in the next line without a sign",
        _ => return d,
    };
    d.help(typed)
}

fn unknown_statement(e: impl Fn(u16, String) -> Diagnostic, word: &str, similar: Option<&'static str>) -> Diagnostic {
    let label = "not a word of the language";
    if let Some(similar) = similar {
        return e(17, format!("unknown statement `{word}`; did you mean `{similar}`?"))
            .label(label)
            .help(format!("type `{similar}`"));
    }
    let d = e(17, format!("unknown statement `{word}`")).label(label);
    match word {
        "for" | "while" | "loop" => d
            .note("there is no loop statement")
            .help("give the name an index set, as in `body link[i in 0..N] { ... }`"),
        "if" | "else" => {
            d.note("there is no conditional statement").help("use `select(condition, a, b)` in an expression")
        }
        _ => d.help("to set a value type `name = value;`"),
    }
}

fn one_of(words: &[&str]) -> String {
    match words {
        [] => "something else".into(),
        [one] => (*one).into(),
        [first @ .., last] => format!("{} or {last}", first.join(", ")),
    }
}
