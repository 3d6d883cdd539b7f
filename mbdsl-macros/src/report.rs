//! Errors as `compile_error!` calls at the tokens that they speak of.

use mbdsl::diag::{Diagnostic, SHOWN};
use mbdsl::expand;
use mbdsl::source::{FileId, Sources};
use proc_macro::{Delimiter, Group, Ident, Literal, Punct, Spacing, Span, TokenStream, TokenTree};

use crate::input::Mistake;
use crate::recover::Text;

/// A call that cannot be understood.
pub(crate) fn mistake(mistake: &Mistake) -> TokenStream {
    compile_error(&mistake.text, mistake.span, mistake.span)
}

/// The errors of a model.
pub(crate) fn errors(sources: &Sources, file: FileId, text: &Text, errors: &[Diagnostic]) -> TokenStream {
    let mut out = TokenStream::new();
    for d in errors.iter().take(SHOWN) {
        let span = d.primary.span;
        let is_here = text.is_inline && span.file == file;
        let message = if is_here { expand::explanation(sources, d) } else { expand::report(sources, d) };
        let place = if span.file == file { (span.start as usize, span.end as usize) } else { (0, 0) };
        let (first, last) = text.spans(place.0, place.1);
        out.extend(compile_error(&message, first, last));
    }
    out
}

/// `::core::compile_error! { "..." }` from one span to another.
fn compile_error(message: &str, first: Span, last: Span) -> TokenStream {
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
