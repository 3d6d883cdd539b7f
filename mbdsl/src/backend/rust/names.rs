//! Names of the model into names that Rust accepts, each used once.

use std::collections::BTreeSet;

use proc_macro2::{Ident, Span};

/// Words that cannot name an item or a variable, now or in a later edition.
const KEYWORDS: [&str; 53] = [
    "abstract", "as", "async", "await", "become", "box", "break", "const", "continue", "crate", "do", "dyn", "else",
    "enum", "extern", "false", "final", "fn", "for", "gen", "if", "impl", "in", "let", "loop", "macro", "match", "mod",
    "move", "mut", "override", "priv", "pub", "ref", "return", "self", "Self", "static", "struct", "super", "trait",
    "true", "try", "type", "typeof", "union", "unsafe", "unsized", "use", "virtual", "where", "while", "yield",
];

/// Whether a word cannot name an item of Rust.
#[must_use]
pub fn is_keyword(word: &str) -> bool {
    KEYWORDS.contains(&word) || word == "_"
}

/// Names that are taken.
#[derive(Clone, Debug, Default)]
pub(super) struct Names {
    reserved: &'static [&'static str],
    taken: BTreeSet<String>,
}

impl Names {
    /// With some names taken from the start.
    pub(super) fn reserving(reserved: &'static [&'static str]) -> Self {
        Self { reserved, taken: BTreeSet::new() }
    }

    /// A name that is like the wanted one, with underscores appended while it is taken or forbidden.
    pub(super) fn take(&mut self, wanted: &str) -> Ident {
        let mut name = wanted.to_owned();
        while is_keyword(&name) || self.reserved.contains(&name.as_str()) || self.taken.contains(&name) {
            name.push('_');
        }
        let taken = ident(&name);
        self.taken.insert(name);
        taken
    }

    /// The same for a variable, function or module.
    pub(super) fn take_snake(&mut self, wanted: &str) -> Ident {
        self.take(&snake(wanted))
    }
}

/// A name as a token.
pub(super) fn ident(name: &str) -> Ident {
    Ident::new(name, Span::call_site())
}

/// `HeavyTop` and `gravity on link` as `heavy_top` and `gravity_on_link`.
pub(super) fn snake(name: &str) -> String {
    let mut out = String::new();
    let mut previous_is_lower = false;
    for c in name.chars() {
        if c.is_ascii_alphanumeric() {
            if c.is_ascii_uppercase() && previous_is_lower {
                out.push('_');
            }
            out.push(c.to_ascii_lowercase());
        } else if !out.ends_with('_') && !out.is_empty() {
            out.push('_');
        }
        previous_is_lower = c.is_ascii_lowercase() || c.is_ascii_digit();
    }
    started(out.trim_end_matches('_'), "unnamed")
}

/// A name that starts as names do; another one where nothing is left of it.
fn started(name: &str, otherwise: &str) -> String {
    match name.chars().next() {
        Some(first) if first.is_ascii_digit() => format!("_{name}"),
        Some(_) => name.to_owned(),
        None => otherwise.to_owned(),
    }
}

/// The name of a type: `heavyTop` and `heavy_top` as `HeavyTop`.
pub(super) fn camel(name: &str) -> String {
    let parts = name.split('_').flat_map(|part| {
        let (first, rest) = part.split_at(part.len().min(1));
        [first.to_ascii_uppercase(), rest.to_owned()]
    });
    started(&parts.collect::<String>(), "Unnamed")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_fit_rust() {
        assert_eq!(snake("HeavyTop"), "heavy_top");
        assert_eq!(snake("J0"), "j0");
        assert_eq!(snake("Omega"), "omega");
        assert_eq!(snake("gravity on link"), "gravity_on_link");
        assert_eq!(snake("top.omega"), "top_omega");
        assert_eq!(camel("fourBar"), "FourBar");
        assert_eq!(camel("four_bar"), "FourBar");
        assert_eq!([camel("_3d"), camel("__"), snake("_3d"), snake("__")], ["_3d", "Unnamed", "_3d", "unnamed"]);
        let mut names = Names::reserving(&["t"]);
        let taken = ["loop", "a", "A", "t"].map(|name| names.take_snake(name).to_string());
        assert_eq!(taken, ["loop_", "a", "a_", "t_"]);
    }
}
