//! Flat lists of operands and operators into expression trees, by precedence and without recursion over operators.

use std::ops::Range as Bytes;

use pest::iterators::Pair;

use super::ast::{BinaryOp, Expr, ExprKind, UnaryOp, Unit, UnitFactor};
use super::build::{Builder, parts};
use super::error::SyntaxError;
use super::grammar::Rule;
use crate::source::Span;

/// Expression trees are at most this high, so that every later pass may walk them by recursion.
pub(super) const EXPR_DEPTH: usize = 256;

/// An expression with the height of its tree.
pub(super) struct Tall {
    pub(super) expr: Expr,
    pub(super) height: usize,
}

/// An operator that waits for its right side.
enum Waiting {
    Prefix(UnaryOp, u32),
    Infix(BinaryOp, Bytes<usize>),
}

impl Waiting {
    fn strength(&self) -> u8 {
        match self {
            Self::Prefix(..) => 6,
            Self::Infix(op, _) => strength(*op),
        }
    }
}

/// How strongly an operator binds; `-x` and `!x` have 6, between `*` and `^`.
pub(super) fn strength(op: BinaryOp) -> u8 {
    match op {
        BinaryOp::Or => 1,
        BinaryOp::And => 2,
        BinaryOp::Eq | BinaryOp::Ne | BinaryOp::Lt | BinaryOp::Le | BinaryOp::Gt | BinaryOp::Ge => 3,
        BinaryOp::Add | BinaryOp::Sub => 4,
        BinaryOp::Mul | BinaryOp::Div | BinaryOp::Rem => 5,
        BinaryOp::Pow => 7,
    }
}

fn binary(sign: &str) -> BinaryOp {
    match sign {
        "||" => BinaryOp::Or,
        "&&" => BinaryOp::And,
        "==" => BinaryOp::Eq,
        "!=" => BinaryOp::Ne,
        "<=" => BinaryOp::Le,
        ">=" => BinaryOp::Ge,
        "<" => BinaryOp::Lt,
        ">" => BinaryOp::Gt,
        "+" => BinaryOp::Add,
        "-" => BinaryOp::Sub,
        "*" => BinaryOp::Mul,
        "/" => BinaryOp::Div,
        "%" => BinaryOp::Rem,
        _ => BinaryOp::Pow,
    }
}

impl Builder<'_> {
    /// An expression.
    pub(super) fn expr(&mut self, node: Pair<'_, Rule>) -> Expr {
        self.tall(node).expr
    }

    /// An expression with its height.
    pub(super) fn tall(&mut self, node: Pair<'_, Rule>) -> Tall {
        let (mut done, mut waiting): (Vec<Tall>, Vec<Waiting>) = (Vec::new(), Vec::new());
        for child in node.into_inner() {
            if child.as_rule() == Rule::infix {
                let op = binary(child.as_str());
                self.reduce(&mut done, &mut waiting, Some((op, self.bytes(&child))));
                waiting.push(Waiting::Infix(op, self.bytes(&child)));
                continue;
            }
            let mut inner = parts(&child).peekable();
            while let Some(prefix) = inner.next_if(|part| part.as_rule() == Rule::prefix) {
                let op = if prefix.as_str() == "-" { UnaryOp::Neg } else { UnaryOp::Not };
                waiting.push(Waiting::Prefix(op, self.span(&prefix).start));
            }
            let operand = self.operand(inner);
            done.push(operand);
        }
        self.reduce(&mut done, &mut waiting, None);
        done.pop().expect("an expression has an operand")
    }

    /// A node over parts of which the highest has height `below`.
    fn node(&mut self, kind: ExprKind, span: Span, below: usize) -> Tall {
        if below < EXPR_DEPTH {
            return Tall { expr: Expr { kind, span }, height: below + 1 };
        }
        // The parts are thrown away, so that no tree is ever higher.
        if !std::mem::replace(&mut self.is_too_deep, true) {
            let start = span.start as usize;
            self.fault(start..start + 1, SyntaxError::TooDeep { what: "operators", limit: EXPR_DEPTH });
        }
        Tall { expr: Expr { kind: ExprKind::Name(String::new()), span }, height: 1 }
    }

    /// Applies the waiting operators that bind more strongly than the next one.
    fn reduce(&mut self, done: &mut Vec<Tall>, waiting: &mut Vec<Waiting>, next: Option<(BinaryOp, Bytes<usize>)>) {
        let limit = next.as_ref().map_or(0, |(op, _)| strength(*op));
        while let Some(top) = waiting
            .pop_if(|top| top.strength() > limit || (top.strength() == limit && limit != strength(BinaryOp::Pow)))
        {
            let right = done.pop().expect("an operator has a right side");
            match top {
                Waiting::Prefix(op, start) => {
                    let mut span = right.expr.span;
                    span.start = start;
                    let kind = ExprKind::Unary(op, Box::new(right.expr));
                    done.push(self.node(kind, span, right.height));
                }
                Waiting::Infix(op, at) => {
                    if let Some((_, second)) = &next
                        && limit == strength(BinaryOp::Eq)
                        && strength(op) == limit
                    {
                        let middle = self.text[right.expr.span.start as usize..right.expr.span.end as usize].into();
                        self.fault(second.clone(), SyntaxError::ChainedComparison { first: at, middle });
                    }
                    let left = done.pop().expect("an operator has a left side");
                    let span = left.expr.span.to(right.expr.span);
                    let below = left.height.max(right.height);
                    let kind = ExprKind::Binary(op, Box::new(left.expr), Box::new(right.expr));
                    done.push(self.node(kind, span, below));
                }
            }
        }
    }

    /// A number, vector, group or name with what is applied to it.
    fn operand<'i>(&mut self, mut inner: impl Iterator<Item = Pair<'i, Rule>>) -> Tall {
        let first = inner.next().expect("an operand is something");
        let span = self.span(&first);
        let mut tall = match first.as_rule() {
            Rule::quantity => Tall { expr: self.quantity(&first), height: 1 },
            Rule::vector => {
                let (mut items, mut unit, mut height) = (Vec::new(), None, 0);
                for part in parts(&first) {
                    if part.as_rule() == Rule::unit {
                        unit = Some(self.unit(&part));
                    } else {
                        let item = self.tall(part);
                        height = height.max(item.height);
                        items.push(item.expr);
                    }
                }
                self.node(ExprKind::Vector { items, unit }, span, height)
            }
            Rule::group => {
                let mut tall = self.tall(parts(&first).next().expect("a group has an expression"));
                // The parentheses belong to the place, so that spans of larger expressions are whole.
                tall.expr.span = span;
                tall
            }
            _ => Tall { expr: Expr { kind: ExprKind::Name(first.as_str().into()), span }, height: 1 },
        };
        for part in inner {
            let span = span.to(self.span(&part));
            let base = Box::new(tall.expr);
            let mut height = tall.height;
            let kind = match part.as_rule() {
                Rule::field => ExprKind::Field(base, self.ident(&parts(&part).next().expect("a field has a name"))),
                Rule::subscript => {
                    let mut indices = Vec::new();
                    for index in parts(&part) {
                        let index = self.tall(index);
                        height = height.max(index.height);
                        indices.push(index.expr);
                    }
                    ExprKind::Subscript(base, indices)
                }
                _ => {
                    let (args, highest) = self.args(part);
                    height = height.max(highest);
                    ExprKind::Call(base, args)
                }
            };
            tall = self.node(kind, span, height);
        }
        tall
    }

    fn quantity(&mut self, node: &Pair<'_, Rule>) -> Expr {
        let span = self.span(node);
        let mut inner = parts(node);
        let text = inner.next().expect("a quantity has a number").as_str().to_owned();
        let value = text.parse().expect("the grammar accepts only digits that form a number");
        let unit = inner.next().map(|unit| self.unit(&unit));
        Expr { kind: ExprKind::Number { value, text, unit }, span }
    }

    fn unit(&mut self, node: &Pair<'_, Rule>) -> Unit {
        let mut unit = Unit { factors: Vec::new(), bracketed: false, span: self.span(node) };
        let mut sign = 1;
        for part in parts(node) {
            match part.as_rule() {
                Rule::unit_op => sign = if part.as_str() == "/" { -1 } else { 1 },
                Rule::unit_word => {
                    unit.factors.push(UnitFactor { name: self.ident(&part), num: 1, den: 1 });
                }
                _ => {
                    unit.bracketed = true;
                    let mut inner = parts(&part);
                    let word = inner.next().expect("a factor has a word");
                    let (num, den) = match inner.next() {
                        Some(exponent) => self.exponent(&exponent),
                        None => (1, 1),
                    };
                    if word.as_rule() == Rule::unit_word {
                        unit.factors.push(UnitFactor { name: self.ident(&word), num: sign * num, den });
                    }
                }
            }
        }
        unit
    }

    /// Numerator and denominator of the exponent of a unit, without a common factor.
    fn exponent(&mut self, node: &Pair<'_, Rule>) -> (i32, i32) {
        // Numbers up to a thousand, with at most three decimals, are more than any unit needs.
        let fraction = |text: &str| -> Option<(i32, i32)> {
            let (whole, decimals) = text.split_once('.').unwrap_or((text, ""));
            if whole.len() > 3 || decimals.len() > 3 {
                return None;
            }
            let den = 10i32.pow(u32::try_from(decimals.len()).ok()?);
            Some((format!("{whole}{decimals}").parse().ok()?, den))
        };
        let mut sign = 1;
        let mut numbers = Vec::new();
        for part in parts(node) {
            match part.as_rule() {
                Rule::minus => sign = -1,
                _ => numbers.push(fraction(part.as_str())),
            }
        }
        let (num, den) = match numbers.as_slice() {
            [Some((num, den))] => (i64::from(*num), i64::from(*den)),
            [Some((num, den)), Some((below, under))] => {
                (i64::from(*num) * i64::from(*under), i64::from(*den) * i64::from(*below))
            }
            _ => (0, 0),
        };
        let common = greatest_common_divisor(num, den).max(1);
        match (i32::try_from(num / common), i32::try_from(den / common)) {
            (Ok(num), Ok(den)) if den != 0 => (sign * num, den),
            _ => {
                self.fault(self.bytes(node), SyntaxError::BadExponent);
                (1, 1)
            }
        }
    }
}

fn greatest_common_divisor(mut a: i64, mut b: i64) -> i64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}
