//! Index expressions and index sets: which instance `link[i - 1]` is.

use std::collections::HashMap;

use crate::model::IndexSet;
use crate::symbolic::{ExprId, ExprPool, Fun, Fun2, Node};

/// Value of an index expression under values of index variables; `None` where it is not an integer.
pub(super) fn evaluate(pool: &ExprPool, e: ExprId, vars: &[u32], values: &[i32]) -> Option<i64> {
    let value = |a: ExprId| evaluate(pool, a, vars, values);
    match *pool.node(e) {
        Node::Num(bits) => {
            let x = f64::from_bits(bits);
            // Indices are 32-bit integers, which doubles hold exactly.
            (x.fract() == 0.0 && x.abs() <= f64::from(i32::MAX)).then_some(x as i64)
        }
        Node::Const(k) => {
            let x = pool.consts()[k as usize];
            (x.fract() == 0.0 && x.abs() <= f64::from(i32::MAX)).then_some(x as i64)
        }
        Node::Index(k) => {
            let place = vars.iter().position(|&v| v == k)?;
            values.get(place).map(|&i| i64::from(i))
        }
        Node::Neg(a) => value(a)?.checked_neg(),
        Node::Add(a, b) => value(a)?.checked_add(value(b)?),
        Node::Sub(a, b) => value(a)?.checked_sub(value(b)?),
        Node::Mul(a, b) => value(a)?.checked_mul(value(b)?),
        Node::Div(a, b) => {
            let (a, b) = (value(a)?, value(b)?);
            (a.checked_rem(b)? == 0).then(|| a / b)
        }
        Node::PowInt(a, n) => value(a)?.checked_pow(u32::try_from(n).ok()?),
        Node::Fun(Fun::Abs, a) => value(a)?.checked_abs(),
        Node::Fun(Fun::Floor, a) => match *pool.node(a) {
            Node::Div(a, b) => floor_div(value(a)?, value(b)?),
            _ => value(a),
        },
        Node::Fun2(Fun2::Min, a, b) => Some(value(a)?.min(value(b)?)),
        Node::Fun2(Fun2::Max, a, b) => Some(value(a)?.max(value(b)?)),
        Node::Fun2(Fun2::Mod, a, b) => {
            let (a, b) = (value(a)?, value(b)?);
            Some(a - b * floor_div(a, b)?)
        }
        _ => None,
    }
}

fn floor_div(a: i64, b: i64) -> Option<i64> {
    let quotient = a.checked_div(b)?;
    Some(if a % b != 0 && (a < 0) != (b < 0) { quotient - 1 } else { quotient })
}

/// Finds the place of a tuple in an index set.
pub(super) enum Places {
    /// One index, consecutive values from the first one on.
    Range {
        /// First value.
        first: i64,
        /// Number of values.
        count: usize,
    },
    /// Any other set.
    Listed(HashMap<Vec<i64>, usize>),
}

impl Places {
    pub(super) fn new(set: &IndexSet) -> Self {
        if set.vars.len() == 1
            && let Some(&first) = set.tuples.first()
            && set.tuples.windows(2).all(|w| w[1] == w[0] + 1)
        {
            return Self::Range { first: i64::from(first), count: set.count };
        }
        let tuple = |k: usize| set.tuple(k).iter().map(|&i| i64::from(i)).collect();
        Self::Listed((0..set.count).map(|k| (tuple(k), k)).collect())
    }

    pub(super) fn of(&self, tuple: &[i64]) -> Option<usize> {
        match self {
            Self::Range { first, count } => {
                let [i] = tuple else { return None };
                usize::try_from(i - first).ok().filter(|k| k < count)
            }
            Self::Listed(places) => places.get(tuple).copied(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn index_arithmetic_is_exact_and_wraps() {
        let mut pool = ExprPool::new();
        let i = pool.index(0);
        let one = pool.num(1.0);
        let n = pool.num(5.0);
        let before = pool.sub(i, one);
        let wrapped = pool.fun2(Fun2::Mod, before, n);
        assert_eq!(evaluate(&pool, before, &[0], &[0]), Some(-1));
        assert_eq!(evaluate(&pool, wrapped, &[0], &[0]), Some(4));
        let two = pool.num(2.0);
        let half = pool.div(i, two);
        assert_eq!(evaluate(&pool, half, &[0], &[3]), None, "no integer");
        let floor = pool.fun(Fun::Floor, half);
        assert_eq!(evaluate(&pool, floor, &[0], &[-3]), Some(-2));
        assert_eq!(evaluate(&pool, i, &[1], &[0]), None, "not an index here");
    }

    #[test]
    fn sets_need_not_start_at_zero_or_be_full() {
        let range = IndexSet { vars: vec![0], tuples: vec![3, 4, 5], count: 3 };
        let places = Places::new(&range);
        assert_eq!((places.of(&[4]), places.of(&[6]), places.of(&[2])), (Some(1), None, None));
        let pairs = IndexSet { vars: vec![0, 1], tuples: vec![0, 1, 0, 2, 1, 2], count: 3 };
        let places = Places::new(&pairs);
        assert_eq!((places.of(&[1, 2]), places.of(&[2, 1])), (Some(2), None));
        assert_eq!(Places::new(&IndexSet::single()).of(&[]), Some(0));
    }
}
