//! Operations as Rust expressions, with as few parentheses as the order of evaluation allows.

use proc_macro2::{Delimiter, Group, Ident, Literal, Punct, Spacing, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote};

use crate::ir::{Bin, Un};

/// How tightly an expression binds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Strength {
    Sum,
    Product,
    Sign,
    Atom,
}

/// An expression. Its tokens are a list, which is cheaper to add to than a stream.
#[derive(Clone, Debug)]
pub(super) struct Expr {
    tokens: Vec<TokenTree>,
    strength: Strength,
    /// The same as a condition, where the value is a truth value made from one.
    condition: Option<Vec<TokenTree>>,
    /// Whether the condition is one of two, so that it is put in parentheses beside `&&`.
    is_either: bool,
}

impl ToTokens for Expr {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        tokens.extend(self.tokens.iter().cloned());
    }
}

impl Expr {
    /// Something that needs no parentheses anywhere.
    pub(super) fn atom(tokens: impl IntoIterator<Item = TokenTree>) -> Self {
        Self::of(Strength::Atom, tokens)
    }

    /// A variable.
    pub(super) fn name(name: Ident) -> Self {
        Self::atom([name.into()])
    }

    fn of(strength: Strength, tokens: impl IntoIterator<Item = TokenTree>) -> Self {
        Self { tokens: tokens.into_iter().collect(), strength, condition: None, is_either: false }
    }

    fn truth(condition: Vec<TokenTree>) -> Self {
        let value = parenthesised(condition.iter().cloned());
        Self { condition: Some(condition), ..Self::atom(quote!(f64::from).into_iter().chain([value])) }
    }

    /// Its tokens.
    pub(super) fn into_tokens(self) -> Vec<TokenTree> {
        self.tokens
    }

    /// In parentheses unless it binds at least as tightly as asked for.
    fn at_least(self, strength: Strength) -> Vec<TokenTree> {
        let tokens = self.tokens;
        if self.strength >= strength { tokens } else { vec![parenthesised(tokens)] }
    }

    /// As a condition.
    fn condition(self) -> Vec<TokenTree> {
        self.condition.unwrap_or_else(|| joined(self.tokens, quote!(!=), [Literal::f64_unsuffixed(0.0).into()]))
    }

    /// As an operand of `&&`.
    fn conjunct(self) -> Vec<TokenTree> {
        let is_either = self.is_either;
        let condition = self.condition();
        if is_either { vec![parenthesised(condition)] } else { condition }
    }

    /// A number with exactly these bits; the shortest digits that are read back as the same number.
    pub(super) fn number(x: f64) -> Self {
        if let Some(name) = constant_name(x.abs()) {
            let name = Ident::new(name, Span::call_site());
            let tokens = quote!(core::f64::consts::#name);
            return if x < 0.0 { Self::of(Strength::Sign, quote!(-#tokens)) } else { Self::atom(tokens) };
        }
        if x.is_nan() {
            let bits = Literal::u64_unsuffixed(x.to_bits());
            return Self::atom(quote!(f64::from_bits(#bits)));
        }
        let digits = if x.is_infinite() { quote!(f64::INFINITY) } else { digits(x.abs()) };
        if x.is_sign_negative() { Self::of(Strength::Sign, quote!(-#digits)) } else { Self::atom(digits) }
    }
}

fn parenthesised(tokens: impl IntoIterator<Item = TokenTree>) -> TokenTree {
    Group::new(Delimiter::Parenthesis, tokens.into_iter().collect()).into()
}

/// An operator between operands.
fn joined(
    mut a: Vec<TokenTree>,
    operator: impl IntoIterator<Item = TokenTree>,
    b: impl IntoIterator<Item = TokenTree>,
) -> Vec<TokenTree> {
    a.extend(operator);
    a.extend(b);
    a
}

fn digits(x: f64) -> TokenStream {
    // Beside the plain form there is `1e-12`; both are Rust literals.
    let literal: Literal = format!("{x:?}").parse().expect("a finite number prints as a literal");
    quote!(#literal)
}

/// Numbers that Rust has names for, which its linter wants to see.
fn constant_name(x: f64) -> Option<&'static str> {
    use core::f64::consts as c;
    const NAMES: [(f64, &str); 10] = [
        (c::PI, "PI"),
        (c::TAU, "TAU"),
        (c::FRAC_PI_2, "FRAC_PI_2"),
        (c::FRAC_PI_3, "FRAC_PI_3"),
        (c::FRAC_PI_4, "FRAC_PI_4"),
        (c::FRAC_PI_6, "FRAC_PI_6"),
        (c::SQRT_2, "SQRT_2"),
        (c::FRAC_1_SQRT_2, "FRAC_1_SQRT_2"),
        (c::E, "E"),
        (c::LN_2, "LN_2"),
    ];
    NAMES.iter().find(|(value, _)| value.to_bits() == x.to_bits()).map(|(_, name)| *name)
}

/// An operation of one operand.
pub(super) fn un(op: Un, a: Expr) -> Expr {
    match op {
        Un::Neg => Expr::of(Strength::Sign, joined(vec![sign('-')], [], a.at_least(Strength::Atom))),
        Un::Sqrt => call("sqrt", &[a]),
        Un::Sin => call("sin", &[a]),
        Un::Cos => call("cos", &[a]),
        Un::Tan => call("tan", &[a]),
        Un::Asin => call("asin", &[a]),
        Un::Acos => call("acos", &[a]),
        Un::Exp => call("exp", &[a]),
        Un::Ln => call("log", &[a]),
        Un::Abs => call("abs", &[a]),
        Un::Sign => call("sign", &[a]),
        Un::Floor => call("floor", &[a]),
        Un::Not => Expr::truth(joined(a.tokens, quote!(==), quote!(0.0))),
        Un::Stumpff(k) => {
            let k = Literal::u8_unsuffixed(k);
            Expr::atom(quote!(rt::stumpff(#k, #a)))
        }
        Un::LogCoefficient(n) => {
            let n = Literal::u8_unsuffixed(n);
            Expr::atom(quote!(rt::log_coefficient(#n, #a)))
        }
    }
}

/// An operation of two operands.
pub(super) fn bin(op: Bin, a: Expr, b: Expr) -> Expr {
    match op {
        Bin::Add => infix(a, b, '+'),
        Bin::Sub => infix(a, b, '-'),
        Bin::Mul => infix(a, b, '*'),
        Bin::Div => infix(a, b, '/'),
        Bin::Atan2 => call("atan2", &[a, b]),
        Bin::Atan2Over => call("atan2_over", &[a, b]),
        Bin::Min => call("min", &[a, b]),
        Bin::Max => call("max", &[a, b]),
        Bin::Pow => call("pow", &[a, b]),
        Bin::Mod => call("modulo", &[a, b]),
        Bin::Unwrap => call("unwrap_angle", &[a, b]),
        Bin::Lt => Expr::truth(joined(a.tokens, quote!(<), b.tokens)),
        Bin::Le => Expr::truth(joined(a.tokens, quote!(<=), b.tokens)),
        Bin::Eq => Expr::truth(joined(a.tokens, quote!(==), b.tokens)),
        Bin::And => Expr::truth(joined(a.conjunct(), quote!(&&), b.conjunct())),
        Bin::Or => {
            // `&&` within `||` needs no parentheses, but readers like them.
            let (a, b) = (parenthesised(a.condition()), parenthesised(b.condition()));
            Expr { is_either: true, ..Expr::truth(joined(vec![a], quote!(||), [b])) }
        }
    }
}

/// `a + b` and the like. The order of sums and products is the order of roundings: a right operand of the same kind keeps
/// its parentheses.
fn infix(a: Expr, b: Expr, operator: char) -> Expr {
    let (own, right) = match operator {
        '+' | '-' => (Strength::Sum, Strength::Product),
        _ => (Strength::Product, Strength::Sign),
    };
    Expr::of(own, joined(a.at_least(own), [sign(operator)], b.at_least(right)))
}

/// A sign that is not followed by another one.
pub(super) fn sign(c: char) -> TokenTree {
    Punct::new(c, Spacing::Alone).into()
}

/// A call of a function of the runtime.
fn call(name: &str, arguments: &[Expr]) -> Expr {
    let name = Ident::new(name, Span::call_site());
    Expr::atom(quote!(rt::#name(#(#arguments),*)))
}

/// `c != 0 ? a : b`, to be bound to a name.
pub(super) fn select(c: Expr, a: Expr, b: Expr) -> Expr {
    let c: TokenStream = c.condition().into_iter().collect();
    Expr::of(Strength::Sum, quote!(if #c { #a } else { #b }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(e: &Expr) -> String {
        e.to_token_stream().to_string()
    }

    #[test]
    fn the_order_of_roundings_is_kept() {
        let name = |name: &str| Expr::name(Ident::new(name, Span::call_site()));
        let (a, b, c) = (|| name("a"), || name("b"), || name("c"));
        assert_eq!(text(&bin(Bin::Add, bin(Bin::Add, a(), b()), c())), "a + b + c");
        assert_eq!(text(&bin(Bin::Add, a(), bin(Bin::Sub, b(), c()))), "a + (b - c)");
        assert_eq!(text(&bin(Bin::Mul, a(), bin(Bin::Mul, b(), c()))), "a * (b * c)");
        assert_eq!(text(&bin(Bin::Sub, bin(Bin::Mul, a(), b()), un(Un::Neg, c()))), "a * b - - c");
        assert_eq!(text(&un(Un::Neg, bin(Bin::Mul, a(), b()))), "- (a * b)");
        assert_eq!(text(&bin(Bin::And, bin(Bin::Lt, a(), b()), c())), "f64 :: from (a < b && c != 0.0)");
        let either = || bin(Bin::Or, bin(Bin::Lt, a(), b()), c());
        assert_eq!(text(&bin(Bin::And, c(), either())), "f64 :: from (c != 0.0 && ((a < b) || (c != 0.0)))");
        assert_eq!(text(&bin(Bin::And, either(), c())), "f64 :: from (((a < b) || (c != 0.0)) && c != 0.0)");
    }

    #[test]
    fn numbers_keep_their_bits() {
        for x in [0.1, -0.0, 1e300, 5e-324, 1.0 / 3.0, 6.02214076e23, -2.5, 1e-12] {
            let text = text(&Expr::number(x)).replace(' ', "");
            let back: f64 = text.parse().expect("a literal");
            assert_eq!(back.to_bits(), x.to_bits(), "{text}");
        }
        assert_eq!(text(&Expr::number(core::f64::consts::PI)).replace(' ', ""), "core::f64::consts::PI");
    }
}
