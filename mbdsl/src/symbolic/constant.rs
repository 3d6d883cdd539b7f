//! Values of expressions of numbers, structural constants and index variables: sizes, filters and subscripts.

use super::pool::{Cmp, ExprId, ExprPool, Fun, Fun2, Node};

/// The value under values of index variables; `None` where anything else occurs. Truth values are 0 and 1.
#[must_use]
pub fn value(pool: &ExprPool, e: ExprId, index: &dyn Fn(u32) -> Option<f64>) -> Option<f64> {
    let go = |e: ExprId| value(pool, e, index);
    let truth = |b: bool| if b { 1.0 } else { 0.0 };
    Some(match *pool.node(e) {
        Node::Num(bits) => f64::from_bits(bits),
        Node::Truth(b) => truth(b),
        Node::Const(k) => pool.consts()[k as usize],
        Node::Index(k) => index(k)?,
        Node::Neg(a) => -go(a)?,
        Node::Add(a, b) => go(a)? + go(b)?,
        Node::Sub(a, b) => go(a)? - go(b)?,
        Node::Mul(a, b) => go(a)? * go(b)?,
        Node::Div(a, b) => go(a)? / go(b)?,
        Node::PowInt(a, n) => {
            let x = go(a)?;
            let power = (0..n.unsigned_abs()).fold(1.0, |p, _| p * x);
            if n < 0 { 1.0 / power } else { power }
        }
        Node::Fun(Fun::Floor, a) => go(a)?.floor(),
        Node::Fun(Fun::Abs, a) => go(a)?.abs(),
        Node::Fun(Fun::Sqrt, a) => go(a)?.sqrt(),
        Node::Fun2(Fun2::Min, a, b) => go(a)?.min(go(b)?),
        Node::Fun2(Fun2::Max, a, b) => go(a)?.max(go(b)?),
        Node::Fun2(Fun2::Mod, a, b) => {
            let (a, b) = (go(a)?, go(b)?);
            a - b * (a / b).floor()
        }
        Node::Cmp(c, a, b) => {
            let (a, b) = (go(a)?, go(b)?);
            truth(match c {
                Cmp::Lt => a < b,
                Cmp::Le => a <= b,
                Cmp::Eq => a == b,
                Cmp::Ne => a != b,
            })
        }
        Node::And(a, b) => truth(go(a)? != 0.0 && go(b)? != 0.0),
        Node::Or(a, b) => truth(go(a)? != 0.0 || go(b)? != 0.0),
        Node::Not(a) => truth(go(a)? == 0.0),
        Node::Select(c, a, b) => {
            if go(c)? == 0.0 {
                go(b)?
            } else {
                go(a)?
            }
        }
        _ => return None,
    })
}
