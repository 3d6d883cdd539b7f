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
/// `c` where an expression is the index variable `var` plus a constant `c`, as most subscripts are.
#[must_use]
pub fn shift(pool: &ExprPool, e: ExprId, var: u32) -> Option<f64> {
    let constant = |e: ExprId| value(pool, e, &|_| None);
    match *pool.node(e) {
        Node::Index(k) if k == var => Some(0.0),
        Node::Add(a, b) => match (shift(pool, a, var), shift(pool, b, var)) {
            (Some(c), None) => Some(c + constant(b)?),
            (None, Some(c)) => Some(constant(a)? + c),
            _ => None,
        },
        Node::Sub(a, b) => Some(shift(pool, a, var)? - constant(b)?),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shifts_of_an_index() {
        let mut pool = ExprPool::default();
        let [i, j] = [0, 1].map(|k| pool.index(k));
        let [two, three] = [2.0, 3.0].map(|x| pool.num(x));
        let plus = pool.add(two, i);
        let minus = pool.sub(plus, three);
        let twice = pool.mul(two, i);
        let both = pool.add(i, j);
        let back = pool.sub(three, i);
        for (e, expected) in [
            (i, Some(0.0)),
            (plus, Some(2.0)),
            (minus, Some(-1.0)),
            (j, None),
            (twice, None),
            (both, None),
            (back, None),
        ] {
            assert_eq!(shift(&pool, e, 0), expected);
        }
        assert_eq!(shift(&pool, plus, 1), None);
    }
}
