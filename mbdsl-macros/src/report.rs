//! Errors as `compile_error!` calls at the tokens that they speak of.

use mbdsl::diag::{Diagnostic, SHOWN};
use mbdsl::expand;
use mbdsl::source::{FileId, Sources};
use proc_macro::{Delimiter, Group, Ident, Literal, Punct, Spacing, Span, TokenStream, TokenTree};

use crate::code::{group, named, tokens};
use crate::input::{Mistake, Settings};
use crate::recover::Text;

/// A call that cannot be understood; the models that it probably meant.
pub(crate) fn mistake(mistake: &Mistake, models: &[&str], settings: &Settings) -> TokenStream {
    all(vec![compile_error(&mistake.text, mistake.span)], models, settings)
}

/// The errors of a text with some models.
pub(crate) fn errors(
    (sources, file): (&Sources, FileId),
    text: &Text,
    errors: &[Diagnostic],
    models: &[&str],
    settings: &Settings,
) -> TokenStream {
    let call = |d: &Diagnostic| {
        let span = d.primary.span;
        let is_here = text.is_inline && span.file == file;
        let message = if is_here { expand::explanation(sources, d) } else { expand::report(sources, d) };
        let place = if span.file == file { (span.start as usize, span.end as usize) } else { (0, 0) };
        compile_error(&message, text.spans(place.0, place.1))
    };
    all(errors.iter().take(SHOWN).map(call).collect(), models, settings)
}

/// The first error as what the models are, so that nothing is reported about their uses; the others as items.
fn all(mut errors: Vec<TokenStream>, models: &[&str], settings: &Settings) -> TokenStream {
    let mut out = TokenStream::new();
    if !models.is_empty() && !errors.is_empty() {
        out.extend(broken(models, errors.remove(0), settings));
    }
    out.extend(errors);
    out
}

/// What stands for models with errors: types that are an error themselves, since rustc reports nothing about the uses of
/// such types. `error` is the macro call that reports it.
fn broken(models: &[&str], error: TokenStream, settings: &Settings) -> TokenStream {
    let mut out = TokenStream::new();
    let mut done: Vec<(String, String)> = Vec::new();
    for model in models {
        let (module, model) = expand::names(model, &settings.options);
        if done.iter().any(|(other, _)| *other == module) {
            continue;
        }
        let ty = match done.first() {
            // The length of the array is the error; the trait is any that arrays do not have.
            None => {
                let mut array = tokens("();");
                array.extend(error.clone());
                let mut ty = tokens("<");
                ty.extend(group(Delimiter::Bracket, array));
                ty.extend(tokens("as ::core::iter::Iterator>::Item"));
                ty
            }
            Some((module, model)) => tokens(&format!("super::{module}::{model}")),
        };
        let mut items = tokens(&format!("#[doc = \" The model.\"] pub type {model} ="));
        items.extend(ty);
        items.extend(tokens(&format!(
            "; #[doc = \" Its parameters.\"] pub type Params = {model}; #[doc = \" Its inputs.\"] pub type Inputs = {model};"
        )));
        out.extend(tokens("#[doc = \" A model with errors.\"]"));
        out.extend(named(&module, settings, items));
        done.push((module, model));
    }
    out
}

/// `::core::compile_error! { "..." }` from one span to another.
fn compile_error(message: &str, (first, last): (Span, Span)) -> TokenStream {
    let mut literal = Literal::string(message);
    literal.set_span(last);
    let mut group = Group::new(Delimiter::Brace, TokenTree::Literal(literal).into());
    group.set_span(last);
    let punct = |c: char, spacing: Spacing| {
        let mut punct = Punct::new(c, spacing);
        punct.set_span(first);
        TokenTree::Punct(punct)
    };
    let colons = || [punct(':', Spacing::Joint), punct(':', Spacing::Alone)];
    let ident = |name: &str| TokenTree::Ident(Ident::new(name, first));
    let mut tokens: Vec<TokenTree> = Vec::new();
    tokens.extend(colons());
    tokens.push(ident("core"));
    tokens.extend(colons());
    tokens.push(ident("compile_error"));
    tokens.push(punct('!', Spacing::Alone));
    tokens.push(TokenTree::Group(group));
    tokens.into_iter().collect()
}
