//! Code of the compiler as tokens of a macro: parts that come as text, and those that keep the caller's spans.

use mbdsl::expand::Module;
use proc_macro::{Delimiter, Group, TokenStream, TokenTree};

use crate::input::Settings;

/// A module with the visibility and the runtime that the caller names.
///
/// Its tokens go through text: each step on tokens of rustc is a call across a bridge, which costs several times what
/// reading the whole text once does.
pub(crate) fn module(module: Module, settings: &Settings) -> TokenStream {
    let mut items = tokens("use");
    items.extend(settings.runtime.clone().unwrap_or_else(|| tokens("::mbdsl_runtime")));
    items.extend(tokens("::generated as rt;"));
    items.extend(tokens(&module.items.to_string()));
    let mut out = tokens(&module.attributes.to_string());
    out.extend(named(&module.name, settings, items));
    out
}

/// `pub mod name { items }`
pub(crate) fn named(name: &str, settings: &Settings, items: TokenStream) -> TokenStream {
    let mut out = settings.visibility.clone().unwrap_or_else(|| tokens("pub"));
    out.extend(tokens(&format!("mod {name}")));
    out.extend(group(Delimiter::Brace, items));
    out
}

pub(crate) fn group(delimiter: Delimiter, tokens: TokenStream) -> TokenStream {
    TokenTree::Group(Group::new(delimiter, tokens)).into()
}

/// A text as tokens.
pub(crate) fn tokens(text: &str) -> TokenStream {
    text.parse().expect("what the compiler and this crate write is made of tokens of Rust")
}
