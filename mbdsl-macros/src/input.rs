//! What stands in the parentheses of the macro: settings, then a text, a path or a name of the library.

use mbdsl::expand::Options;
use proc_macro::{Delimiter, Span, TokenStream, TokenTree};

/// A macro call that cannot be understood.
pub(crate) struct Mistake {
    /// What is wrong.
    pub text: String,
    /// Where.
    pub span: Span,
}

/// The call, taken apart.
pub(crate) struct Input {
    pub settings: Settings,
    pub source: Source,
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

/// `#![name = value, ...]`.
#[derive(Default)]
pub(crate) struct Settings {
    pub model: Option<String>,
    pub print: Option<Print>,
    module: Option<String>,
    visibility: Option<TokenStream>,
    runtime: Option<TokenStream>,
    statements: Option<usize>,
}

impl Settings {
    pub(crate) fn options(&self) -> Options {
        let mut options = Options { module: self.module.clone(), ..Options::default() };
        if let Some(visibility) = &self.visibility {
            options.visibility = visibility.clone().into();
        }
        if let Some(runtime) = &self.runtime {
            options.runtime = runtime.clone().into();
        }
        if let Some(statements) = self.statements {
            options.limit = statements;
        }
        options
    }
}

pub(crate) fn read(tokens: TokenStream) -> Result<Input, Mistake> {
    let mut tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let mut settings = Settings::default();
    if let [TokenTree::Punct(hash), TokenTree::Punct(bang), TokenTree::Group(group), ..] = &tokens[..]
        && hash.as_char() == '#'
        && bang.as_char() == '!'
        && group.delimiter() == Delimiter::Bracket
    {
        settings = read_settings(group.stream())?;
        tokens.drain(..3);
    }
    let source = match &tokens[..] {
        [] => {
            let text =
                "expected a model: `model Name { ... }`, a path in quotes, or a name as in `<heavy_top>`".to_owned();
            return Err(Mistake { text, span: Span::call_site() });
        }
        [TokenTree::Literal(literal)] => match string(&literal.to_string()) {
            Some(path) => Source::File(path, literal.span()),
            None => {
                let text = "expected the path of a model in quotes".to_owned();
                return Err(Mistake { text, span: literal.span() });
            }
        },
        [TokenTree::Punct(open), TokenTree::Ident(name), TokenTree::Punct(close)]
            if open.as_char() == '<' && close.as_char() == '>' =>
        {
            Source::Library(name.to_string(), name.span())
        }
        [TokenTree::Group(group)] if group.delimiter() == Delimiter::None => {
            // What a `macro_rules!` passes on as an expression or a literal.
            let inner = read(group.stream())?;
            return Ok(Input { settings, ..inner });
        }
        _ => Source::Inline(tokens.into_iter().collect()),
    };
    Ok(Input { settings, source })
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

fn read_settings(stream: TokenStream) -> Result<Settings, Mistake> {
    let mut settings = Settings::default();
    let tokens: Vec<TokenTree> = stream.into_iter().collect();
    let is_comma = |t: &TokenTree| matches!(t, TokenTree::Punct(p) if p.as_char() == ',');
    for setting in tokens.split(is_comma).filter(|s| !s.is_empty()) {
        let [TokenTree::Ident(name), TokenTree::Punct(equals), value @ ..] = setting else {
            return Err(Mistake { text: "expected `name = value`".to_owned(), span: setting[0].span() });
        };
        if equals.as_char() != '=' || value.is_empty() {
            return Err(Mistake { text: "expected `name = value`".to_owned(), span: name.span() });
        }
        let stream: TokenStream = value.iter().cloned().collect();
        let text = stream.to_string();
        match name.to_string().as_str() {
            "module" => settings.module = Some(text),
            "model" => settings.model = Some(text),
            "visibility" => {
                // `priv` stands for none at all.
                settings.visibility = Some(if text == "priv" { TokenStream::new() } else { stream });
            }
            "runtime" => settings.runtime = Some(stream),
            "statements" => match text.parse() {
                Ok(statements) => settings.statements = Some(statements),
                Err(_) => {
                    return Err(Mistake { text: "expected a number of statements".to_owned(), span: value[0].span() });
                }
            },
            "print" => {
                settings.print = match string(&text).as_deref() {
                    Some("rust") => Some(Print::Rust),
                    Some("ir") => Some(Print::Ir),
                    Some(_) | None => {
                        return Err(Mistake {
                            text: "expected `print = \"rust\"` or `print = \"ir\"`".to_owned(),
                            span: value[0].span(),
                        });
                    }
                };
            }
            other => {
                let text = format!(
                    "there is no setting `{other}`; there are module, model, visibility, runtime, print and statements"
                );
                return Err(Mistake { text, span: name.span() });
            }
        }
    }
    Ok(settings)
}
