//! Elimination of matrices whose blocks all have one small size that the compiler knows.
//!
//! Diagonal blocks are inverted as a whole, by cofactors, and kept as inverses: what follows are products without branches. Their
//! condition is that of one element, so that nothing is lost by this that refinement would not bring back.

use super::{BlockLu, SingularBlock, Step};
use crate::linalg::invert::{Block, Invert};

#[inline(always)]
fn product<const N: usize>(a: &Block<N>, b: &Block<N>) -> Block<N> {
    let mut out = [[0.0; N]; N];
    subtract(&mut out, a, b);
    out.map(|row| row.map(|x| -x))
}

/// `c -= a b`
#[inline(always)]
fn subtract<const N: usize>(c: &mut Block<N>, a: &Block<N>, b: &Block<N>) {
    for (c, a) in c.iter_mut().zip(a) {
        let mut row = *c;
        for k in 0..N {
            for (row, b) in row.iter_mut().zip(&b[k]) {
                *row -= a[k] * b;
            }
        }
        *c = row;
    }
}

/// `y -= a x`
#[inline(always)]
fn subtract_vector<const N: usize>(y: &mut [f64; N], a: &Block<N>, x: &[f64; N]) {
    for (y, a) in y.iter_mut().zip(a) {
        let mut sum = *y;
        for k in 0..N {
            sum -= a[k] * x[k];
        }
        *y = sum;
    }
}

fn blocks<const N: usize>(values: &[f64]) -> &[Block<N>] {
    values.as_chunks::<N>().0.as_chunks::<N>().0
}

fn blocks_mut<const N: usize>(values: &mut [f64]) -> &mut [Block<N>] {
    values.as_chunks_mut::<N>().0.as_chunks_mut::<N>().0
}

impl BlockLu {
    /// Numeric phase where every node has `N` rows.
    pub(super) fn factor_uniform<const N: usize>(&mut self) -> Result<(), SingularBlock>
    where
        Block<N>: Invert,
    {
        let values = blocks_mut::<N>(&mut self.values);
        for &Step { node, diag, end, count, target, .. } in &self.steps {
            let end = end / (N * N);
            let (head, tail) = values.split_at_mut(end);
            let (diagonal, rest) = head[diag / (N * N)..].split_first_mut().expect("a step has a diagonal block");
            let (rows, cols) = rest.split_at_mut(count);
            let (inverse, smallest) = diagonal.inverse();
            *diagonal = inverse;
            self.smallest[node] = smallest;
            if smallest == 0.0 || !smallest.is_finite() {
                return Err(SingularBlock { node, non_finite: smallest != 0.0 });
            }
            for row in &mut *rows {
                *row = product(&inverse, row);
            }
            let targets = &self.targets[target..target + count * count];
            for (i, col) in cols.iter().enumerate() {
                for (row, target) in rows.iter().zip(&targets[i * count..]) {
                    subtract(&mut tail[target / (N * N) - end], col, row);
                }
            }
        }
        Ok(())
    }

    /// Solves in place with the factors of [`BlockLu::factor_uniform`].
    pub(super) fn solve_uniform<const N: usize>(&self, x: &mut [f64]) {
        let values = blocks::<N>(&self.values);
        let (x, _) = x.as_chunks_mut::<N>();
        for step in &self.steps {
            let own = &values[step.diag / (N * N)..];
            let mut here = [0.0; N];
            subtract_vector(&mut here, &own[0], &x[step.node]);
            let here = here.map(|x| -x);
            x[step.node] = here;
            let cols = &own[1 + step.count..];
            for (&later, col) in self.later[step.first..step.first + step.count].iter().zip(cols) {
                subtract_vector(&mut x[later], col, &here);
            }
        }
        for step in self.steps.iter().rev() {
            let rows = &values[step.diag / (N * N) + 1..];
            let mut here = x[step.node];
            for (&later, row) in self.later[step.first..step.first + step.count].iter().zip(rows) {
                subtract_vector(&mut here, row, &x[later]);
            }
            x[step.node] = here;
        }
    }
}
