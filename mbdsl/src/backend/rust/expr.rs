//! Operations as Rust expressions, with as few parentheses as the order of evaluation allows.

use proc_macro2::{Ident, Literal, Punct, Spacing, Span, TokenStream, TokenTree};
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

/// An expression.
#[derive(Clone, Debug)]
pub(super) struct Expr {
    tokens: TokenStream,
    strength: Strength,
    /// The same as a condition, where the value is a truth value made from one.
    condition: Option<TokenStream>,
    /// Whether the condition is one of two, so that it is put in parentheses beside `&&`.
    is_either: bool,
}

impl ToTokens for Expr {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        tokens.extend(self.tokens.clone());
    }

    fn into_token_stream(self) -> TokenStream {
        self.tokens
    }
}

impl Expr {
    /// Something that needs no parentheses anywhere.
    pub(super) fn atom(tokens: TokenStream) -> Self {
        Self { tokens, strength: Strength::Atom, condition: None, is_either: false }
    }

    fn of(strength: Strength, tokens: TokenStream) -> Self {
        Self { tokens, strength, condition: None, is_either: false }
    }

    fn truth(condition: TokenStream) -> Self {
        Self { condition: Some(condition.clone()), ..Self::atom(quote!(f64::from(#condition))) }
    }

    /// In parentheses unless it binds at least as tightly as asked for.
    fn at_least(self, strength: Strength) -> TokenStream {
        let tokens = self.tokens;
        if self.strength >= strength { tokens } else { quote!((#tokens)) }
    }

    /// As a condition.
    pub(super) fn condition(self) -> TokenStream {
        let tokens = self.tokens;
        self.condition.unwrap_or_else(|| quote!(#tokens != 0.0))
    }

    /// As an operand of `&&`.
    fn conjunct(self) -> TokenStream {
        let is_either = self.is_either;
        let condition = self.condition();
        if is_either { quote!((#condition)) } else { condition }
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
        Un::Neg => {
            let a = a.at_least(Strength::Atom);
            Expr::of(Strength::Sign, quote!(-#a))
        }
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
        Un::Not => {
            let a = a.at_least(Strength::Sum);
            Expr::truth(quote!(#a == 0.0))
        }
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
        Bin::Lt => Expr::truth(quote!(#a < #b)),
        Bin::Le => Expr::truth(quote!(#a <= #b)),
        Bin::Eq => Expr::truth(quote!(#a == #b)),
        Bin::And => {
            let (a, b) = (a.conjunct(), b.conjunct());
            Expr::truth(quote!(#a && #b))
        }
        Bin::Or => {
            // `&&` within `||` needs no parentheses, but readers like them.
            let (a, b) = (a.condition(), b.condition());
            Expr { is_either: true, ..Expr::truth(quote!((#a) || (#b))) }
        }
    }
}

/// `a + b` and the like. The order of sums and products is the order of roundings: a right operand of the same kind keeps
/// its parentheses.
fn infix(a: Expr, b: Expr, sign: char) -> Expr {
    let (own, right) = match sign {
        '+' | '-' => (Strength::Sum, Strength::Product),
        _ => (Strength::Product, Strength::Sign),
    };
    // Extended in place: every token of a long expression is made once.
    let mut tokens = a.at_least(own);
    tokens.extend([TokenTree::from(Punct::new(sign, Spacing::Alone))]);
    tokens.extend(b.at_least(right));
    Expr::of(own, tokens)
}

/// A call of a function of the runtime.
fn call(name: &str, arguments: &[Expr]) -> Expr {
    let name = Ident::new(name, Span::call_site());
    Expr::atom(quote!(rt::#name(#(#arguments),*)))
}

/// `c != 0 ? a : b`, to be bound to a name.
pub(super) fn select(c: Expr, a: Expr, b: Expr) -> Expr {
    let c = c.condition();
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
        let name = |name: &str| Expr::atom(Ident::new(name, Span::call_site()).to_token_stream());
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
