//! Tokens as a line, with spaces where readers expect them.

use std::fmt::Write as _;

use proc_macro2::{Delimiter, Group, Punct, Spacing, TokenStream, TokenTree};

use super::into_stream;

/// What stands in braces on lines of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Content {
    /// Items or statements.
    Statements,
    /// The fields of a struct.
    Fields,
    /// The arms of a `match`.
    Arms,
}

impl Content {
    /// Whether a line ends with a sign.
    pub(super) fn ends_with(self, sign: char) -> bool {
        match self {
            Self::Statements => sign == ';',
            Self::Fields | Self::Arms => sign == ',',
        }
    }
}

/// A line that tokens are added to.
#[derive(Debug)]
pub(super) struct Line {
    content: Content,
    text: String,
    /// What braces that come next hold, if that stands on lines of its own.
    opens: Option<Content>,
    is_signature: bool,
    /// Whether a block has been closed, so that the line is over unless it goes on.
    is_over: bool,
    /// Whether `<` begins a list of types.
    has_types: bool,
    /// Groups that are open.
    depth: usize,
    /// The signs of an operator that goes on.
    operator: String,
    /// Lists between `<` and `>` that are open.
    generics: usize,
    /// Whether this is between the bars of a closure.
    in_bars: bool,
    /// Whether an operand has just ended, so that an operator that follows stands between two.
    after_operand: bool,
    /// Whether the next token is set off by a space.
    wants_space: bool,
}

impl Line {
    pub(super) fn new(content: Content) -> Self {
        Self {
            content,
            text: String::new(),
            opens: None,
            is_signature: false,
            is_over: false,
            has_types: content == Content::Fields,
            depth: 0,
            operator: String::new(),
            generics: 0,
            in_bars: false,
            after_operand: false,
            wants_space: false,
        }
    }

    /// Makes it the next line.
    pub(super) fn clear(&mut self) {
        let mut text = std::mem::take(&mut self.text);
        text.clear();
        *self = Self { text, ..Self::new(self.content) };
    }

    pub(super) fn text(&self) -> &str {
        &self.text
    }

    pub(super) fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    pub(super) fn is_signature(&self) -> bool {
        self.is_signature
    }

    pub(super) fn is_over(&self) -> bool {
        self.is_over
    }

    /// Whether the group that follows is an attribute.
    pub(super) fn is_attribute(&self) -> bool {
        self.text == "#"
    }

    /// What braces that come next hold, unless they are part of the line, as fields of a value are.
    pub(super) fn opens(&self) -> Option<Content> {
        let is_block = self.text.is_empty() || self.text.ends_with("=>");
        self.opens.or(is_block.then_some(Content::Statements))
    }

    /// Adds the brace of what follows on lines of its own.
    pub(super) fn open(&mut self) {
        self.wants_space = true;
        self.space();
        self.text.push('{');
    }

    /// Adds the end of something.
    pub(super) fn close(&mut self, end: &str) {
        self.text.push_str(end);
        self.is_over = true;
        self.after_operand = true;
        self.wants_space = false;
        self.opens = None;
    }

    /// Adds a token.
    pub(super) fn push(&mut self, tree: TokenTree) {
        self.is_over = false;
        match tree {
            TokenTree::Ident(ident) => self.word(|text| write!(text, "{ident}")),
            TokenTree::Literal(literal) => self.word(|text| write!(text, "{literal}")),
            TokenTree::Punct(punct) => self.sign(&punct),
            TokenTree::Group(group) => self.group(group),
        }
    }

    fn space(&mut self) {
        if self.wants_space && !self.text.is_empty() {
            self.text.push(' ');
        }
        self.wants_space = false;
    }

    fn word(&mut self, add: impl FnOnce(&mut String) -> std::fmt::Result) {
        if self.operator == "'" {
            // A lifetime.
            self.text.push('\'');
            self.operator.clear();
            add(&mut self.text).expect("strings grow");
            (self.after_operand, self.wants_space) = (false, true);
            return;
        }
        self.wants_space |= self.after_operand;
        self.space();
        let start = self.text.len();
        add(&mut self.text).expect("strings grow");
        let word = &self.text[start..];
        self.after_operand = !matches!(word, "let" | "mut" | "if" | "else" | "for" | "in" | "match" | "use");
        if self.depth == 0 {
            let (opens, has_types) = match word {
                "fn" | "impl" => (Some(Content::Statements), true),
                "mod" | "for" => (Some(Content::Statements), false),
                "if" if start == 0 => (Some(Content::Statements), false),
                "else" if self.text.starts_with('}') => (Some(Content::Statements), false),
                "struct" => (Some(Content::Fields), true),
                "match" => (Some(Content::Arms), false),
                "type" | "const" => (None, true),
                _ => (None, false),
            };
            self.is_signature |= word == "fn";
            self.opens = self.opens.or(opens);
            self.has_types |= has_types;
        }
        self.wants_space = !self.after_operand;
    }

    fn sign(&mut self, sign: &Punct) {
        let c = sign.as_char();
        if self.operator.is_empty() {
            if c == '<' && (self.has_types || self.text.ends_with("::")) {
                self.text.push(c);
                self.generics += 1;
                self.after_operand = false;
                return;
            }
            if c == '>' && self.generics > 0 {
                self.text.push(c);
                self.generics -= 1;
                (self.after_operand, self.wants_space) = (true, false);
                return;
            }
            if sign.spacing() == Spacing::Alone {
                return self.operator(c.encode_utf8(&mut [0; 4]));
            }
        }
        self.operator.push(c);
        if c == '\'' {
            self.space();
        } else if sign.spacing() == Spacing::Alone {
            let mut operator = std::mem::take(&mut self.operator);
            self.operator(&operator);
            operator.clear();
            self.operator = operator;
        }
    }

    fn operator(&mut self, operator: &str) {
        let was_operand = std::mem::take(&mut self.after_operand);
        match operator {
            "." | "," | ";" | ":" | "?" => {
                self.text.push_str(operator);
                self.wants_space = !matches!(operator, "." | "?");
                self.after_operand = operator == "?";
            }
            "::" | ".." => {
                self.space();
                self.text.push_str(operator);
            }
            // Of a macro.
            "!" if was_operand => {
                self.text.push('!');
                self.after_operand = true;
            }
            "|" if self.in_bars => {
                self.text.push('|');
                (self.in_bars, self.wants_space) = (false, true);
            }
            "|" | "||" if !was_operand => {
                self.space();
                self.text.push_str(operator);
                (self.in_bars, self.wants_space) = (operator == "|", operator == "||");
            }
            _ => {
                self.wants_space |= was_operand;
                self.space();
                self.text.push_str(operator);
                self.wants_space = was_operand;
            }
        }
    }

    fn group(&mut self, group: Group) {
        let (open, close) = match group.delimiter() {
            Delimiter::Parenthesis => ("(", ")"),
            Delimiter::Bracket => ("[", "]"),
            Delimiter::Brace => ("{ ", " }"),
            Delimiter::None => ("", ""),
        };
        // A tuple of one element would not be one without its comma.
        let is_tuple = group.delimiter() == Delimiter::Parenthesis && !self.after_operand;
        self.wants_space |= group.delimiter() == Delimiter::Brace;
        self.space();
        let code: TokenStream = into_stream(group);
        if code.is_empty() {
            self.text.extend([open.trim_end(), close.trim_start()]);
        } else {
            self.text.push_str(open);
            self.after_operand = false;
            self.depth += 1;
            code.into_iter().for_each(|tree| self.push(tree));
            self.depth -= 1;
            if !is_tuple && self.text.ends_with(',') {
                self.text.pop();
            }
            self.text.push_str(close);
        }
        (self.after_operand, self.wants_space) = (true, false);
    }
}
