//! Line breaks and indentation for generated code.
//!
//! The bodies of kernels are nearly all of the code, and straight-line: statements of operators, calls and lists. They are
//! laid out here from their tokens; what is around them is parsed and laid out as Rust in general, at many times the cost.

use proc_macro2::{Delimiter, Group, Literal, Spacing, TokenStream, TokenTree};
use quote::quote;

/// Columns that a line of a kernel may have.
const WIDTH: usize = 100;

/// Columns by which what is broken off is indented.
const INDENT: usize = 4;

/// What stands for a body while the rest is laid out.
const PLACEHOLDER: &str = "kernel_body!(";

/// Generated items with line breaks and indentation. Bodies of kernels are the groups without delimiters.
///
/// # Panics
/// If the code is no Rust, which is a bug of the back end.
pub(super) fn lay_out(items: TokenStream) -> String {
    let mut bodies = Vec::new();
    let file = syn::parse2(cut(items, &mut bodies)).expect("the back end emits Rust items");
    let mut out = String::new();
    for line in prettyplease::unparse(&file).lines() {
        let code = line.trim_start();
        let number = code.strip_prefix(PLACEHOLDER).and_then(|rest| rest.strip_suffix(");"));
        match number.and_then(|number| number.parse::<usize>().ok()) {
            Some(number) => statements(std::mem::take(&mut bodies[number]), line.len() - code.len(), &mut out),
            None => write(line, 0, &mut out),
        }
    }
    out
}

/// Takes the bodies of kernels out of some code.
fn cut(code: TokenStream, bodies: &mut Vec<TokenStream>) -> TokenStream {
    let mut out = Vec::new();
    for tree in code {
        match tree {
            TokenTree::Group(group) if group.delimiter() == Delimiter::None => {
                let number = Literal::usize_unsuffixed(bodies.len());
                out.extend(quote!(kernel_body!(#number);));
                bodies.push(group.stream());
            }
            TokenTree::Group(group) => out.push(Group::new(group.delimiter(), cut(group.stream(), bodies)).into()),
            other => out.push(other),
        }
    }
    out.into_iter().collect()
}

/// Writes statements, each on a line of its own.
fn statements(body: TokenStream, indent: usize, out: &mut String) {
    let mut line = Line::default();
    for tree in body {
        let is_end = matches!(&tree, TokenTree::Punct(punct) if punct.as_char() == ';');
        line.push(tree);
        if is_end {
            broken(&std::mem::take(&mut line).text, indent, out);
        }
    }
    if !line.text.is_empty() {
        broken(&line.text, indent, out);
    }
}

fn write(line: &str, indent: usize, out: &mut String) {
    out.extend(std::iter::repeat_n(' ', indent));
    out.push_str(line);
    out.push('\n');
}

/// Writes a line, on several if it is too long for one: before its weakest operators, or one element of its last list on
/// each.
fn broken(line: &str, indent: usize, out: &mut String) {
    if indent + line.len() <= WIDTH {
        return write(line, indent, out);
    }
    let value = outside(line, &[" = "]).first().map_or(0, |at| at + 3);
    let operators = [&[" + ", " - "], &[" * ", " / "]].map(|signs| outside(line, signs));
    let breaks = operators.into_iter().map(|mut at| {
        at.retain(|&at| at > value);
        at
    });
    if let Some(breaks) = breaks.into_iter().find(|breaks| !breaks.is_empty()) {
        let ends = breaks.iter().skip(1).copied().chain([line.len()]);
        write(&line[..breaks[0]], indent, out);
        breaks.iter().zip(ends).for_each(|(&begin, end)| write(&line[begin + 1..end], indent + INDENT, out));
        return;
    }
    let Some((begin, end)) = last_list(line) else {
        return write(line, indent, out);
    };
    write(&line[..begin], indent, out);
    let list = &line[begin..end];
    let mut from = 0;
    for at in outside(list, &[", "]).into_iter().chain([list.len()]) {
        broken(&format!("{},", &list[from..at]), indent + INDENT, out);
        from = (at + 2).min(list.len());
    }
    write(&line[end..], indent, out);
}

/// Where some words begin that stand in no parentheses.
fn outside(line: &str, words: &[&str]) -> Vec<usize> {
    let mut depth = 0;
    let mut found = Vec::new();
    for (at, c) in line.bytes().enumerate() {
        match c {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => depth -= 1,
            b' ' | b',' if depth == 0 && words.iter().any(|word| line[at..].starts_with(word)) => found.push(at),
            _ => {}
        }
    }
    found
}

/// What the last parentheses or brackets of a line hold, if they hold more than one thing.
fn last_list(line: &str) -> Option<(usize, usize)> {
    let end = line.rfind([')', ']'])?;
    let mut depth = 0;
    let begin = line[..end].bytes().rposition(|c| {
        match c {
            b')' | b']' | b'}' => depth += 1,
            b'(' | b'[' | b'{' if depth == 0 => return true,
            b'(' | b'[' | b'{' => depth -= 1,
            _ => {}
        }
        false
    })?;
    (!outside(&line[begin + 1..end], &[", "]).is_empty()).then_some((begin + 1, end))
}

/// A line that tokens are added to.
#[derive(Default)]
struct Line {
    text: String,
    /// Whether an operand has just ended, so that an operator that follows stands between two.
    after_operand: bool,
    /// Whether the next token is set off by a space.
    wants_space: bool,
    /// The signs of an operator that goes on.
    operator: String,
    /// Whether this is within the `<` and `>` of a path.
    in_generics: bool,
}

impl Line {
    fn push(&mut self, tree: TokenTree) {
        match tree {
            TokenTree::Ident(ident) => {
                let word = ident.to_string();
                let is_operand = !matches!(word.as_str(), "let" | "mut" | "if" | "else");
                self.word(&word);
                self.after_operand = is_operand;
                self.wants_space = !is_operand;
            }
            TokenTree::Literal(literal) => {
                self.word(&literal.to_string());
                self.after_operand = true;
                self.wants_space = false;
            }
            TokenTree::Punct(punct) => {
                self.operator.push(punct.as_char());
                if punct.spacing() == Spacing::Alone {
                    self.operator();
                }
            }
            TokenTree::Group(group) => self.group(&group),
        }
    }

    fn space(&mut self) {
        if self.wants_space && !self.text.is_empty() {
            self.text.push(' ');
        }
        self.wants_space = false;
    }

    fn word(&mut self, word: &str) {
        self.wants_space |= self.after_operand;
        self.space();
        self.text.push_str(word);
    }

    fn operator(&mut self) {
        let operator = std::mem::take(&mut self.operator);
        match operator.as_str() {
            "::" | "." => self.text.push_str(&operator),
            "," | ";" => {
                self.text.push_str(&operator);
                self.wants_space = true;
            }
            "<" if self.text.ends_with("::") => {
                self.text.push('<');
                self.in_generics = true;
            }
            ">" if self.in_generics => {
                self.text.push('>');
                self.in_generics = false;
            }
            _ => {
                self.wants_space |= self.after_operand;
                self.space();
                self.text.push_str(&operator);
                self.wants_space = self.after_operand;
            }
        }
        self.after_operand = false;
    }

    fn group(&mut self, group: &Group) {
        let (open, close) = match group.delimiter() {
            Delimiter::Parenthesis => ("(", ")"),
            Delimiter::Bracket => ("[", "]"),
            Delimiter::Brace => ("{ ", " }"),
            Delimiter::None => ("", ""),
        };
        self.wants_space |= group.delimiter() == Delimiter::Brace;
        self.space();
        self.text.push_str(open);
        self.after_operand = false;
        for tree in group.stream() {
            self.push(tree);
        }
        self.text.push_str(close);
        self.after_operand = true;
        self.wants_space = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::MODELS;
    use crate::expand;
    use crate::sema;
    use crate::source::Sources;

    fn laid_out(body: &TokenStream, indent: usize) -> String {
        let mut out = String::new();
        statements(body.clone(), indent, &mut out);
        out
    }

    #[test]
    fn statements_stand_on_lines_of_their_own() {
        let body = quote! {
            let t0 = -a[0] * (b - -c);
            let t1 = if t0 < 0.0 { rt::sin(t0) } else { f64::from(t0 == 1.0 && c != 0.0) };
            *rt::block_mut(&mut jac.phi, 3 * k) = [0.0; 3];
            let block = rt::block_mut::<12>(list, 0);
            self.force_part0(at, live);
            t1
        };
        let expected = "    let t0 = -a[0] * (b - -c);
    let t1 = if t0 < 0.0 { rt::sin(t0) } else { f64::from(t0 == 1.0 && c != 0.0) };
    *rt::block_mut(&mut jac.phi, 3 * k) = [0.0; 3];
    let block = rt::block_mut::<12>(list, 0);
    self.force_part0(at, live);
    t1
";
        assert_eq!(laid_out(&body, 4), expected);
    }

    #[test]
    fn long_lines_break_at_their_weakest_operators_and_in_lists() {
        let body = quote! {
            let t0 = first_body_r00 * second_body_r00 + first_body_r10 * second_body_r10 - first_body_r20 * (own[3] + t);
            let t1 = (first_body_r00 * lambda[0] + first_body_r10 * lambda[1] + first_body_r20 * t) * second_body_r00;
            rt::add(q, 6 * k, [first_body_r00 * second_body_r00, first_body_r10 * second_body_r10, -t0, -t1, 0.0]);
        };
        let expected = "    let t0 = first_body_r00 * second_body_r00
        + first_body_r10 * second_body_r10
        - first_body_r20 * (own[3] + t);
    let t1 = (first_body_r00 * lambda[0] + first_body_r10 * lambda[1] + first_body_r20 * t)
        * second_body_r00;
    rt::add(
        q,
        6 * k,
        [first_body_r00 * second_body_r00, first_body_r10 * second_body_r10, -t0, -t1, 0.0],
    );
";
        assert_eq!(laid_out(&body, 4), expected);
    }

    /// Tokens without what layout may change: spaces, and commas at ends of lists.
    fn tokens(code: TokenStream) -> String {
        let words: String = code.to_string().split_whitespace().collect();
        words.replace(",)", ")").replace(",]", "]")
    }

    #[test]
    fn no_token_of_the_library_models_is_lost() {
        for (name, _) in MODELS {
            let mut sources = Sources::default();
            let file = sources.add(name, crate::catalogue::find(name).expect("a model of the library"));
            let module = expand::expand(&mut sources, file, &sema::Options::default(), &expand::Options::default());
            let mut bodies = Vec::new();
            cut(module.expect("a good model").into_tokens(), &mut bodies);
            assert!(!bodies.is_empty(), "{name} has kernels");
            for body in bodies {
                let text = laid_out(&body, 16);
                assert!(!text.lines().any(|line| line.ends_with(' ')), "{text}");
                let read: TokenStream = text.parse().expect("what is laid out are tokens");
                assert_eq!(tokens(read), tokens(body), "{name}");
            }
        }
    }
}
