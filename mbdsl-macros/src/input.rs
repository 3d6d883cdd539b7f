//! What stands in the parentheses of the macro: settings, then a text, a path or a name of the library.

use mbdsl::catalogue;
use mbdsl::expand::{self, Options};
use mbdsl::syntax::suggest::closest;
use proc_macro::{Delimiter, Ident, Span, TokenStream, TokenTree};

/// A macro call that cannot be understood.
pub(crate) struct Mistake {
    /// What is wrong.
    pub text: String,
    /// Where: the first and the last token.
    pub span: (Span, Span),
}

impl Mistake {
    pub(crate) fn at(span: Span, text: impl Into<String>) -> Self {
        Self { text: text.into(), span: (span, span) }
    }

    /// On all of some tokens.
    fn on(tokens: &[TokenTree], text: impl Into<String>) -> Self {
        let span = |token: Option<&TokenTree>| token.map_or_else(Span::call_site, TokenTree::span);
        Self { text: text.into(), span: (span(tokens.first()), span(tokens.last())) }
    }
}

/// The call, taken apart as far as it can be understood.
pub(crate) struct Input {
    pub settings: Settings,
    /// What is wrong with the settings.
    pub mistake: Option<Mistake>,
    pub source: Result<Source, Mistake>,
}

/// Where the model comes from.
pub(crate) enum Source {
    Inline(TokenStream),
    File(String, Span),
    Library(String, Span),
}

/// What to print while compiling.
#[derive(Clone, Copy)]
pub(crate) enum Print {
    Rust,
    Ir,
}

/// A value for a `const` of the model.
pub(crate) struct Size {
    pub name: String,
    pub value: f64,
    pub span: Span,
}

/// `#![name = value, ..., set(N = 5, ...)]`.
#[derive(Default)]
pub(crate) struct Settings {
    /// The model that is meant where a text has several, and where that is said.
    pub model: Option<(String, Span)>,
    pub print: Option<Print>,
    pub sizes: Vec<Size>,
    /// Visibility of the module, `pub` unless given.
    pub visibility: Option<TokenStream>,
    /// Path of the runtime, `::mbdsl_runtime` unless given.
    pub runtime: Option<TokenStream>,
    /// The rest.
    pub options: Options,
}

/// Names of the settings.
const SETTINGS: [&str; 7] = ["module", "model", "set", "visibility", "runtime", "print", "statements"];

impl Settings {
    /// Reads settings up to the first that is wrong.
    fn read(&mut self, stream: TokenStream) -> Result<(), Mistake> {
        let mut done: Vec<String> = Vec::new();
        let tokens: Vec<TokenTree> = stream.into_iter().collect();
        let is_comma = |t: &TokenTree| matches!(t, TokenTree::Punct(p) if p.as_char() == ',');
        for setting in tokens.split(is_comma).filter(|s| !s.is_empty()) {
            if let [TokenTree::Ident(name), TokenTree::Group(list)] = setting
                && name.to_string() == "set"
            {
                self.sizes.extend(sizes(list.stream())?);
                continue;
            }
            let [TokenTree::Ident(name), TokenTree::Punct(equals), value @ ..] = setting else {
                return Err(Mistake::on(setting, "expected `name = value`"));
            };
            if equals.as_char() != '=' || value.is_empty() {
                return Err(Mistake::on(setting, "expected `name = value`"));
            }
            let word = name.to_string();
            if done.contains(&word) {
                return Err(Mistake::at(name.span(), format!("`{word}` is set twice")));
            }
            self.set(name, value)?;
            done.push(word);
        }
        Ok(())
    }

    /// Reads `value` into the setting `name`.
    fn set(&mut self, name: &Ident, value: &[TokenTree]) -> Result<(), Mistake> {
        let tokens = || value.iter().cloned().collect::<TokenStream>();
        match name.to_string().as_str() {
            "module" => self.options.module = Some(identifier(value, "a name for the module, as in `module = top`")?),
            "model" => {
                let model = identifier(value, "the name of a model, as in `model = Top`")?;
                self.model = Some((model, value[0].span()));
            }
            "set" => return Err(Mistake::on(value, "expected a list in parentheses, as in `set(N = 5)`")),
            "visibility" => self.visibility = Some(visibility(value)?),
            "runtime" if is_path(value) => self.runtime = Some(tokens()),
            "runtime" => {
                return Err(Mistake::on(value, "expected the path of a crate, as in `runtime = my_crate::runtime`"));
            }
            "statements" => match tokens().to_string().parse() {
                Ok(statements) if statements > 0 => self.options.limit = statements,
                Ok(_) | Err(_) => {
                    return Err(Mistake::on(value, "expected a number of statements, as in `statements = 500`"));
                }
            },
            "print" => match string(&tokens().to_string()).as_deref() {
                Some("rust") => self.print = Some(Print::Rust),
                Some("ir") => self.print = Some(Print::Ir),
                Some(_) | None => {
                    return Err(Mistake::on(value, "expected `print = \"rust\"` or `print = \"ir\"`"));
                }
            },
            word => {
                let guess =
                    closest(word, SETTINGS).map_or_else(String::new, |guess| format!("; did you mean `{guess}`?"));
                let text = format!("there is no setting `{word}`, there are {}{guess}", SETTINGS.join(", "));
                return Err(Mistake::at(name.span(), text));
            }
        }
        Ok(())
    }
}

/// The only token of a value, if it can name something in Rust.
fn identifier(value: &[TokenTree], expected: &str) -> Result<String, Mistake> {
    match value {
        [TokenTree::Ident(name)] if !expand::is_keyword(&name.to_string()) && !name.to_string().starts_with("r#") => {
            Ok(name.to_string())
        }
        [TokenTree::Ident(name)] => Err(Mistake::on(value, format!("`{name}` is a word of Rust; expected {expected}"))),
        _ => Err(Mistake::on(value, format!("expected {expected}"))),
    }
}

/// `pub`, `pub(...)`, or `priv` for none at all.
fn visibility(value: &[TokenTree]) -> Result<TokenStream, Mistake> {
    match value {
        [TokenTree::Ident(word)] if word.to_string() == "priv" => Ok(TokenStream::new()),
        [TokenTree::Ident(word)] if word.to_string() == "pub" => Ok(value.iter().cloned().collect()),
        [TokenTree::Ident(word), TokenTree::Group(group)]
            if word.to_string() == "pub" && group.delimiter() == Delimiter::Parenthesis =>
        {
            Ok(value.iter().cloned().collect())
        }
        _ => Err(Mistake::on(value, "expected `pub`, `pub(crate)` or the like, or `priv`")),
    }
}

/// Whether tokens may be a path; a `macro_rules!` macro passes one on as a group.
fn is_path(value: &[TokenTree]) -> bool {
    value.iter().all(|token| match token {
        TokenTree::Ident(_) => true,
        TokenTree::Punct(punct) => punct.as_char() == ':',
        TokenTree::Group(group) => group.delimiter() == Delimiter::None,
        TokenTree::Literal(_) => false,
    })
}

pub(crate) fn read(tokens: TokenStream) -> Input {
    let mut tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let mut settings = Settings::default();
    let mut mistake = None;
    if let [TokenTree::Punct(hash), TokenTree::Punct(bang), TokenTree::Group(group), ..] = &tokens[..]
        && hash.as_char() == '#'
        && bang.as_char() == '!'
        && group.delimiter() == Delimiter::Bracket
    {
        mistake = settings.read(group.stream()).err();
        tokens.drain(..3);
    }
    Input { settings, mistake, source: read_source(tokens) }
}

fn read_source(tokens: Vec<TokenTree>) -> Result<Source, Mistake> {
    let is_sign =
        |token: Option<&TokenTree>, sign: char| matches!(token, Some(TokenTree::Punct(p)) if p.as_char() == sign);
    match &tokens[..] {
        [] => {
            let text = "expected a model: `model Name { ... }`, a path in quotes, or a name as in `<heavy_top>`";
            Err(Mistake::at(Span::call_site(), text))
        }
        // What a `macro_rules!` macro passes on as an expression or a literal.
        [TokenTree::Group(group)] if group.delimiter() == Delimiter::None => {
            read_source(group.stream().into_iter().collect())
        }
        [TokenTree::Literal(literal)] => match string(&literal.to_string()) {
            Some(path) => Ok(Source::File(path, literal.span())),
            None => Err(Mistake::at(literal.span(), "expected the path of a model in quotes")),
        },
        [TokenTree::Literal(_), rest @ ..] => Err(Mistake::on(rest, "expected nothing after the path")),
        [_, TokenTree::Ident(name), _] if is_sign(tokens.first(), '<') && is_sign(tokens.last(), '>') => {
            Ok(Source::Library(name.to_string(), name.span()))
        }
        [TokenTree::Punct(open), ..] if open.as_char() == '<' => {
            Err(Mistake::on(&tokens, "expected a name of the library, as in `<heavy_top>`"))
        }
        [TokenTree::Ident(name)] if catalogue::find(&name.to_string()).is_some() => {
            Err(Mistake::on(&tokens, format!("a model of the library stands in angle brackets: `<{name}>`")))
        }
        _ => Ok(Source::Inline(tokens.into_iter().collect())),
    }
}

/// The text of a plain or raw string literal.
fn string(literal: &str) -> Option<String> {
    if let Some(rest) = literal.strip_prefix('r') {
        let rest = rest.trim_matches('#');
        return Some(rest.strip_prefix('"')?.strip_suffix('"')?.to_owned());
    }
    let text = literal.strip_prefix('"')?.strip_suffix('"')?;
    Some(text.replace("\\\\", "\\"))
}

/// `N = 5, M = 2`: values of `const`s.
fn sizes(stream: TokenStream) -> Result<Vec<Size>, Mistake> {
    let tokens: Vec<TokenTree> = stream.into_iter().collect();
    let is_comma = |t: &TokenTree| matches!(t, TokenTree::Punct(p) if p.as_char() == ',');
    let mut sizes = Vec::new();
    for setting in tokens.split(is_comma).filter(|s| !s.is_empty()) {
        let mistake = || Mistake::on(setting, "expected a number for a `const`, as in `set(N = 5)`");
        let [TokenTree::Ident(name), TokenTree::Punct(equals), value @ ..] = setting else { return Err(mistake()) };
        let value: TokenStream = value.iter().cloned().collect();
        match value.to_string().replace([' ', '_'], "").parse::<f64>() {
            Ok(value) if equals.as_char() == '=' => {
                sizes.push(Size { name: name.to_string(), value, span: name.span() });
            }
            Ok(_) | Err(_) => return Err(mistake()),
        }
    }
    Ok(sizes)
}
