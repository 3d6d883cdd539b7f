//! Index expressions and index sets: which instance `link[i - 1]` is.

use rustc_hash::FxHashMap;

use crate::model::IndexSet;
use crate::symbolic::{ExprId, ExprPool, Instance, constant};

/// Value of an index expression under values of index variables; `None` where it is not an integer.
pub(super) fn evaluate(pool: &ExprPool, e: ExprId, vars: &[u32], values: &[i32]) -> Option<i64> {
    let index = |k: u32| vars.iter().position(|&v| v == k).and_then(|place| values.get(place)).map(|&i| f64::from(i));
    let x = constant::value(pool, e, &index)?;
    // Indices are 32-bit integers, which doubles hold exactly.
    (x.fract() == 0.0 && x.abs() <= f64::from(i32::MAX)).then_some(x as i64)
}

/// By how much the subscript of an instance differs from the index of a set, where both have one and the difference is always the same.
pub(super) fn shift(pool: &ExprPool, what: &Instance, set: &IndexSet) -> Option<i64> {
    let ([e], [var]) = (what.indices.as_slice(), set.vars.as_slice()) else { return None };
    let shift = constant::shift(pool, *e, *var)?;
    (shift.fract() == 0.0 && shift.abs() <= f64::from(i32::MAX)).then_some(shift as i64)
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
    Listed(FxHashMap<Vec<i64>, usize>),
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

    /// What is to be added to each index of another set to get the place of that index plus a shift, if all are inside.
    pub(super) fn offset(&self, set: &IndexSet, shift: i64) -> Option<i64> {
        let &Self::Range { first, count } = self else { return None };
        let (low, high) = (set.tuples.iter().min()?, set.tuples.iter().max()?);
        let offset = shift - first;
        let is_inside = |&i: &i32| usize::try_from(i64::from(i) + offset).is_ok_and(|place| place < count);
        (is_inside(low) && is_inside(high)).then_some(offset)
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
    use crate::symbolic::{Fun, Fun2};

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
        let inner = IndexSet { vars: vec![1], tuples: vec![4, 5], count: 2 };
        assert_eq!([0, -1, 1, -2].map(|shift| places.offset(&inner, shift)), [Some(-3), Some(-4), None, None]);
        let pairs = IndexSet { vars: vec![0, 1], tuples: vec![0, 1, 0, 2, 1, 2], count: 3 };
        let places = Places::new(&pairs);
        assert_eq!((places.of(&[1, 2]), places.of(&[2, 1])), (Some(2), None));
        assert_eq!(Places::new(&IndexSet::single()).of(&[]), Some(0));
    }
}
