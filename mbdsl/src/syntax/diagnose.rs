//! Why the grammar refuses a statement, judged by the first token that does not fit and what could stand there instead.

use std::ops::Range;

use super::error::{Fault, SyntaxError};
use super::grammar::Rule;
use super::suggest::closest;
use super::token::{ITEMS, STATEMENTS, Token, TokenKind, is_keyword};

/// What is wrong, and which tokens to leave out to go on.
pub(super) struct Finding {
    /// The problem.
    pub fault: Fault,
    /// The tokens to leave out, as indices.
    pub cut: Range<usize>,
}

/// The token that does not fit, with its surroundings.
struct Place<'a> {
    text: &'a str,
    tokens: &'a [Token],
    /// The token that does not fit; one past the last at the end of the text.
    k: usize,
    /// The tokens of its statement, with comments that document it.
    statement: &'a Range<usize>,
    /// First word of the statement.
    head: usize,
    /// Whether no brace is open before the statement.
    is_top_level: bool,
    /// The innermost round or square bracket that is open.
    opener: Option<usize>,
    expected: &'a [Rule],
}

/// Finds the words for the failure at token `k`.
pub(super) fn diagnose(text: &str, tokens: &[Token], k: usize, statement: &Range<usize>, expected: &[Rule]) -> Finding {
    let sign = |k: usize| tokens.get(k).map_or("", |t| &text[t.start..t.end]);
    let mut head = statement.start;
    while tokens.get(head).is_some_and(|t| t.kind == TokenKind::Doc) {
        head += 1;
    }
    let mut depth = 0i64;
    for at in 0..statement.start {
        depth += i64::from(sign(at) == "{") - i64::from(sign(at) == "}");
    }
    let mut openers = Vec::new();
    for at in head..k {
        match sign(at) {
            "(" | "[" => openers.push(at),
            ")" | "]" => _ = openers.pop(),
            _ => {}
        }
    }
    let opener = openers.last().copied();
    let place = Place { text, tokens, k, statement, head, is_top_level: depth <= 0, opener, expected };
    place.finding()
}

impl Place<'_> {
    fn finding(&self) -> Finding {
        self.stray_doc()
            .or_else(|| self.start())
            .or_else(|| self.second_word())
            .or_else(|| self.assignment())
            .or_else(|| self.value())
            .or_else(|| self.unit())
            .or_else(|| self.name())
            .or_else(|| self.expression())
            .or_else(|| self.separator())
            .unwrap_or_else(|| self.unexpected())
    }

    fn word(&self, k: usize) -> &str {
        self.tokens.get(k).map_or("", |t| &self.text[t.start..t.end])
    }

    fn found(&self) -> &str {
        self.word(self.k)
    }

    /// The token before the one that does not fit, within the statement.
    fn last(&self) -> Option<usize> {
        self.k.checked_sub(1).filter(|last| *last >= self.head)
    }

    fn is_kind(&self, k: usize, kind: TokenKind) -> bool {
        self.tokens.get(k).is_some_and(|t| t.kind == kind)
    }

    fn expects(&self, rules: &[Rule]) -> bool {
        rules.iter().any(|rule| self.expected.contains(rule))
    }

    fn expects_expr(&self) -> bool {
        self.expects(&[Rule::expr, Rule::operand, Rule::arg, Rule::quantity, Rule::group])
    }

    /// Whether a token is the first one of its line, or the end of the text.
    fn starts_line(&self, k: usize) -> bool {
        let Some(token) = self.tokens.get(k) else { return true };
        let before = k.checked_sub(1).map_or(0, |last| self.tokens[last].end);
        self.text[before..token.start].contains('\n')
    }

    /// What the found token looks like in a message.
    fn shown(&self) -> String {
        match self.tokens.get(self.k) {
            None => "the end of the file".into(),
            Some(token) if token.kind == TokenKind::Doc => "a `///` comment".into(),
            Some(_) => format!("`{}`", short(self.found())),
        }
    }

    /// The bytes of a token; an empty place at the end of the text.
    fn at(&self, k: usize) -> Range<usize> {
        let end = self.tokens.last().map_or(0, |t| t.end);
        self.tokens.get(k).map_or(end..end, |t| t.start..t.end)
    }

    /// The place right after the token before the one that does not fit.
    fn gap(&self) -> Range<usize> {
        match self.k.checked_sub(1) {
            Some(last) => self.tokens[last].end..self.tokens[last].end,
            None => self.at(self.k),
        }
    }

    /// The found token if it is on the same line as the one before, else the place after that.
    fn here(&self) -> Range<usize> {
        if self.starts_line(self.k) { self.gap() } else { self.at(self.k) }
    }

    /// A finding that spoils the whole statement, or, where the next line begins something new, what is before it.
    #[expect(clippy::unnecessary_wraps, reason = "the callers return options")]
    fn spoilt(&self, at: Range<usize>, error: SyntaxError) -> Option<Finding> {
        let begins = self.starts_line(self.k)
            && self.k > self.head
            && (is_keyword(self.found()) || matches!(error, SyntaxError::MissingSemicolon { .. }));
        let cut = if begins { self.statement.start..self.k } else { self.statement.clone() };
        Some(Finding { fault: Fault { error, at }, cut })
    }

    /// A `///` comment inside of a statement, or before nothing.
    fn stray_doc(&self) -> Option<Finding> {
        let doc = if self.is_kind(self.k, TokenKind::Doc) {
            self.k
        } else if self.k > 0 && self.is_kind(self.k - 1, TokenKind::Doc) && matches!(self.found(), "" | "}" | ";") {
            self.k - 1
        } else {
            return None;
        };
        let cut = doc..doc + 1;
        Some(Finding { fault: Fault { error: SyntaxError::StrayDoc, at: self.at(doc) }, cut })
    }

    /// The first token of an item or statement.
    fn start(&self) -> Option<Finding> {
        if self.k != self.head || self.k >= self.tokens.len() {
            return None;
        }
        let (word, is_word) = (self.found(), self.is_kind(self.k, TokenKind::Word));
        let at = self.at(self.k);
        if self.is_top_level {
            if word == "language" {
                return self.spoilt(at, SyntaxError::LateLanguage);
            }
            if STATEMENTS.contains(&word) {
                let wanted = "inside of `model Name { ... }`";
                return self.spoilt(at, SyntaxError::Misplaced { word: word.into(), wanted });
            }
            let similar = if is_word { closest(word, ITEMS).or_else(|| closest(word, STATEMENTS)) } else { None };
            let found = if similar.is_some() { word.into() } else { self.shown() };
            return self.spoilt(at, SyntaxError::UnknownItem { found, similar });
        }
        let wanted = match word {
            "import" | "model" => "at the top level of a file",
            "in" | "where" => "in an index set such as `[i in 0..N]`",
            "when" => "after the name of an event: `event e: when condition;`",
            "on" => "after the name of a force or torque",
            "every" => "after `record`",
            "as" => "in `import \"file.mbd\" as name;`",
            "fn" => "after `define`",
            _ => {
                let expected = vec!["a statement"];
                return self.spoilt(at, SyntaxError::Unexpected { found: self.shown(), expected });
            }
        };
        self.spoilt(at, SyntaxError::Misplaced { word: word.into(), wanted })
    }

    /// The token after a first word that is no word of the language: a setting without `=`, or a mistyped word.
    fn second_word(&self) -> Option<Finding> {
        let head = self.word(self.head);
        if self.k != self.head + 1 || !self.is_kind(self.head, TokenKind::Word) || is_keyword(head) {
            return None;
        }
        if !self.expects(&[Rule::assign]) {
            return None;
        }
        let similar = closest(head, STATEMENTS);
        let names_something = self.is_kind(self.k, TokenKind::Word) && !is_keyword(self.found());
        let is_shaped = names_something && self.word(self.k + 1) != ";";
        let is_unknown = is_shaped || matches!(self.found(), "{" | ":") || (similar.is_some() && names_something);
        if is_unknown && !self.starts_line(self.k) {
            let word = head.into();
            return self.spoilt(self.at(self.head), SyntaxError::UnknownStatement { word, similar });
        }
        let (name, found) = (head.into(), self.shown());
        self.spoilt(self.gap(), SyntaxError::MissingEquals { name, found })
    }

    /// A `=` that does not fit.
    fn assignment(&self) -> Option<Finding> {
        if self.found() != "=" {
            return None;
        }
        let last = self.last()?;
        if self.word(last) == ".." {
            return self.closed_range(last);
        }
        let declares = matches!(self.word(last), "param" | "const" | "input" | "let" | "output");
        if self.k == self.head + 1 && is_keyword(self.word(last)) && !declares {
            return self.spoilt(self.at(last), SyntaxError::KeywordAsName { word: self.word(last).into() });
        }
        // `param n = 5` and, in the next line, `k = 3;`: `k` was read as a unit.
        if self.is_kind(last, TokenKind::Word)
            && (self.starts_line(last) || self.first_assign() < last)
            && last > self.head
            && (self.is_kind(last - 1, TokenKind::Number) || self.word(last - 1) == "]")
        {
            let before = Place { k: last, ..*self };
            return before.missing_semicolon();
        }
        if self.word(self.head) == "constraint" && self.opener.is_none() {
            return self.spoilt(self.at(self.k), SyntaxError::ConstraintAssigns);
        }
        if self.expects(&[Rule::infix]) {
            let error = SyntaxError::SingleOperator { found: "=", wanted: "==" };
            return self.spoilt(self.at(self.k), error);
        }
        None
    }

    /// `lo..=hi`
    fn closed_range(&self, dots: usize) -> Option<Finding> {
        let lo = (self.head..dots).rev().find(|k| matches!(self.word(*k), "in" | "," | "["))? + 1;
        let ends = |k: &usize| matches!(self.word(*k), "]" | ")" | "," | "where" | ";" | "");
        let hi = (self.k + 1..=self.tokens.len()).find(ends)?;
        if lo >= dots || hi <= self.k + 1 {
            return None;
        }
        let text = |range: Range<usize>| self.text[self.at(range.start).start..self.at(range.end - 1).end].into();
        let at = self.at(lo).start..self.at(hi - 1).end;
        self.spoilt(at, SyntaxError::ClosedRange { lo: text(lo..dots), hi: text(self.k + 1..hi) })
    }

    /// `let x;` and `let x = ;`
    fn value(&self) -> Option<Finding> {
        let keyword = self.word(self.head);
        let takes_value = matches!(keyword, "param" | "const" | "input" | "let" | "output" | "point" | "frame");
        let last = self.last()?;
        if !takes_value || last == self.head {
            return None;
        }
        let ends = matches!(self.found(), ";" | "}" | "") || self.starts_line(self.k);
        let name_end = if self.word(last) == "=" { last - 1 } else { last };
        let name: String = short(&self.text[self.at(self.head + 1).start..self.at(name_end).end]);
        let lacks = self.expects(&[Rule::assign]) && self.opener.is_none()
            || self.word(last) == "=" && self.expects_expr() && last == self.first_assign();
        if lacks && ends {
            return self.spoilt(self.gap(), SyntaxError::MissingValue { keyword: keyword.into(), name });
        }
        if lacks && self.word(last) != "=" {
            let (name, found) = (format!("{keyword} {name}"), self.shown());
            return self.spoilt(self.gap(), SyntaxError::MissingEquals { name, found });
        }
        None
    }

    fn first_assign(&self) -> usize {
        (self.head..self.k).find(|k| self.word(*k) == "=").unwrap_or(self.k)
    }

    /// After a number or in the brackets of a unit.
    fn unit(&self) -> Option<Finding> {
        let last = self.last()?;
        let (found, same_line) = (self.found(), !self.starts_line(self.k));
        let follows_number = self.is_kind(last, TokenKind::Number) && same_line;
        let in_brackets = self.expects(&[Rule::unit_factor, Rule::unit_one]);
        // `[i in 0..3 j in 0..2]`: the `j` was read as a unit.
        if found == "in"
            && self.opener.is_some_and(|opener| opener + 1 < last)
            && self.is_kind(last, TokenKind::Word)
            && self.is_kind(last - 1, TokenKind::Number)
        {
            let end = self.at(last - 1).end;
            return self.spoilt(end..end, SyntaxError::MissingComma { between: "ranges" });
        }
        if is_keyword(found) && ((follows_number && found == "in") || in_brackets) {
            return self.spoilt(self.at(self.k), SyntaxError::KeywordAsUnit { word: found.into() });
        }
        let odd_word = follows_number && self.is_kind(self.k, TokenKind::Word) && !is_keyword(found);
        if (in_brackets && !self.expects_expr()) || (odd_word && self.expects(&[Rule::unit])) {
            return self.spoilt(self.at(self.k), SyntaxError::ExpectedUnit { found: self.shown() });
        }
        None
    }

    /// Where a name must stand.
    fn name(&self) -> Option<Finding> {
        let last = self.last()?;
        let wants = [Rule::name, Rule::target, Rule::label, Rule::formal, Rule::path, Rule::range];
        if !self.expects(&wants) || self.expects_expr() {
            return None;
        }
        let (found, keyword) = (self.found(), self.word(last));
        // Words that go on with a statement show that the name was left out.
        let goes_on = is_keyword(keyword) && matches!(found, "on" | "in" | "when" | "where" | "as" | "every");
        if is_keyword(found) && !goes_on && !self.starts_line(self.k) {
            return self.spoilt(self.at(self.k), SyntaxError::KeywordAsName { word: found.into() });
        }
        if is_keyword(keyword) {
            let keyword = keyword.into();
            return self.spoilt(self.here(), SyntaxError::MissingName { keyword, found: self.shown() });
        }
        None
    }

    /// Where an expression must stand.
    fn expression(&self) -> Option<Finding> {
        let last = self.last()?;
        if !self.expects_expr() {
            return None;
        }
        let (found, before) = (self.found(), self.word(last));
        if found == "]" && before == "[" {
            return self.spoilt(self.at(last).start..self.at(self.k).end, SyntaxError::EmptyBrackets);
        }
        if found == "*" && before == "*" {
            return self.spoilt(self.at(last).start..self.at(self.k).end, SyntaxError::StarPower);
        }
        if is_keyword(found) && !self.starts_line(self.k) {
            return self.spoilt(self.at(self.k), SyntaxError::KeywordAsName { word: found.into() });
        }
        let (after, found) = (short(before), self.shown());
        self.spoilt(self.here(), SyntaxError::ExpectedExpression { after, found })
    }

    /// A missing `,` or `;`.
    fn separator(&self) -> Option<Finding> {
        let token = self.tokens.get(self.k);
        let begins_operand = token.is_some_and(|t| matches!(t.kind, TokenKind::Word | TokenKind::Number))
            || matches!(self.found(), "(" | "[");
        if let Some(opener) = self.opener {
            if !begins_operand || !self.expects(&[Rule::comma]) {
                return None;
            }
            let is_head = matches!(self.word(self.head), "define" | "model") && !self.word(self.k).is_empty();
            let between = match self.word(opener) {
                "[" if self.word(opener + 2) == "in" => "ranges",
                "[" => "entries",
                _ if is_head && self.first_assign() > opener => "parameters",
                _ => "arguments",
            };
            return self.spoilt(self.gap(), SyntaxError::MissingComma { between });
        }
        if self.expects(&[Rule::semi]) && !matches!(self.found(), "=" | ":" | "." | "..") {
            return self.missing_semicolon();
        }
        None
    }

    fn missing_semicolon(&self) -> Option<Finding> {
        let after = self.tail();
        self.spoilt(self.gap(), SyntaxError::MissingSemicolon { after })
    }

    /// The last expression of the statement as it stands before the token that does not fit, or its last token.
    fn tail(&self) -> String {
        const LONGEST: usize = 24;
        let Some(last) = self.last() else { return String::new() };
        let (mut depth, mut first) = (0i64, last);
        for k in (self.head..=last).rev() {
            match self.word(k) {
                ")" | "]" | "}" => depth += 1,
                "(" | "[" | "{" => depth -= 1,
                "=" | ":" if depth == 0 => break,
                _ => {}
            }
            first = k;
        }
        let text = &self.text[self.at(first).start..self.at(last).end];
        let is_short = text.len() <= LONGEST && !text.contains('\n');
        if is_short { text.into() } else { short(self.word(last)) }
    }

    /// Any other failure: the tokens that could stand there.
    fn unexpected(&self) -> Finding {
        // In the order in which they are named; the last ones only if there is nothing better.
        const WORDS: [(Rule, &str); 30] = [
            (Rule::colon, "`:`"),
            (Rule::semi, "`;`"),
            (Rule::assign, "`=`"),
            (Rule::comma, "`,`"),
            (Rule::rparen, "`)`"),
            (Rule::rbracket, "`]`"),
            (Rule::call_args, "`(`"),
            (Rule::lparen, "`(`"),
            (Rule::formals, "`(`"),
            (Rule::block, "`{`"),
            (Rule::rbrace, "`}`"),
            (Rule::kw_in, "`in`"),
            (Rule::kw_on, "`on`"),
            (Rule::kw_when, "`when`"),
            (Rule::kw_every, "`every`"),
            (Rule::define_kind, "`body`, `joint`, `force`, `contact`, `part` or `fn`"),
            (Rule::string, "a path in double quotes"),
            (Rule::range, "a range such as `i in 0..N`"),
            (Rule::name, "a name"),
            (Rule::target, "a name"),
            (Rule::label, "a name"),
            (Rule::formal, "a name"),
            (Rule::member, "a name"),
            (Rule::path, "the name of a kind"),
            (Rule::number, "a number"),
            (Rule::decimal, "a number"),
            (Rule::exponent, "an exponent"),
            (Rule::stmt, "a statement"),
            (Rule::item, "`model`, `define` or `import`"),
            (Rule::expr, "an expression"),
        ];
        let mut expected: Vec<&str> = Vec::new();
        for (rule, words) in WORDS {
            if self.expected.contains(&rule) && !expected.contains(&words) && expected.len() < 3 {
                expected.push(words);
            }
        }
        let fault = Fault { error: SyntaxError::Unexpected { found: self.shown(), expected }, at: self.here() };
        Finding { fault, cut: self.statement.clone() }
    }
}

/// The text, or its beginning.
fn short(text: &str) -> String {
    const SHORT: usize = 30;
    match text.char_indices().nth(SHORT) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.into(),
    }
}
