//! LU factorisation of unsymmetric matrices with a symmetric pattern of blocks: symbolic once, numeric in place.

use alloc::vec::Vec;

use super::blocks::{lu_factor, lu_solve, mul_sub, mul_vec_sub};
use super::order::minimum_degree;

mod uniform;

/// A diagonal block turned out to be singular (or not finite) when its turn came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SingularBlock {
    /// Node of the block.
    pub node: usize,
    /// Whether the block holds NaN or infinity rather than being singular.
    pub non_finite: bool,
}

/// What one elimination step needs to know.
#[derive(Clone, Copy, Debug)]
struct Step {
    node: usize,
    size: usize,
    /// Diagonal block; the row blocks, then the column blocks follow it in `values`.
    diag: usize,
    /// End of the storage of this step in `values`.
    end: usize,
    /// Range in `later`, `row` and `col`.
    first: usize,
    count: usize,
    /// First of `count * count` offsets in `targets`.
    target: usize,
}

/// A sparse matrix of dense blocks and its factors in the same storage.
///
/// Nodes are numbered from 0; node `i` has `sizes[i]` rows and as many columns. Vectors are laid out node after node.
/// Blocks are row-major, `sizes[i] x sizes[j]`. Life cycle: [`BlockLu::clear`], add to [`BlockLu::values_mut`] at the
/// offsets of [`BlockLu::block`], [`BlockLu::factor`], [`BlockLu::solve`]. Only the constructor allocates.
///
/// Pivoting stays inside the diagonal blocks: the caller's order constraints must make these non-singular. Blocks that
/// hold only zeros cost a scan and no arithmetic.
#[derive(Clone, Debug, Default)]
pub struct BlockLu {
    sizes: Vec<usize>,
    offsets: Vec<usize>,
    place: Vec<usize>,
    steps: Vec<Step>,
    later: Vec<usize>,
    row: Vec<usize>,
    col: Vec<usize>,
    targets: Vec<usize>,
    values: Vec<f64>,
    pivots: Vec<u32>,
    smallest: Vec<f64>,
    /// Per entry of `later`: whether the row and the column block hold anything but zeros.
    full: Vec<[bool; 2]>,
    /// Size of all nodes, where it is one that is written out.
    uniform: Option<Uniform>,
    /// Whether the factors are those of uniform blocks.
    is_uniform: bool,
}

/// Sizes of blocks that are written out.
#[derive(Clone, Copy, Debug)]
enum Uniform {
    One,
    Two,
    Three,
}

impl Uniform {
    fn of(sizes: &[usize]) -> Option<Self> {
        let first = *sizes.first()?;
        let uniform = match first {
            1 => Self::One,
            2 => Self::Two,
            3 => Self::Three,
            _ => return None,
        };
        sizes.iter().all(|&size| size == first).then_some(uniform)
    }
}

impl BlockLu {
    /// Symbolic phase. `edges` and `after` as in [`minimum_degree`].
    #[must_use]
    pub fn new(sizes: &[usize], edges: &[(usize, usize)], after: &[(usize, usize)]) -> Self {
        let n = sizes.len();
        let elimination = minimum_degree(sizes, edges, after);
        let mut offsets = vec![0; n + 1];
        for i in 0..n {
            offsets[i + 1] = offsets[i] + sizes[i];
        }
        let mut lu = Self {
            sizes: sizes.to_vec(),
            place: elimination.place,
            pivots: vec![0; offsets[n]],
            offsets,
            smallest: vec![0.0; n],
            uniform: Uniform::of(sizes),
            ..Self::default()
        };
        let mut length = 0;
        for &node in &elimination.order {
            let later = &elimination.later[node];
            let (size, diag, first) = (sizes[node], length, lu.later.len());
            length += size * size;
            for &m in later {
                lu.row.push(length);
                length += size * sizes[m];
            }
            for &m in later {
                lu.col.push(length);
                length += size * sizes[m];
            }
            lu.later.extend_from_slice(later);
            lu.steps.push(Step { node, size, diag, end: length, first, count: later.len(), target: 0 });
        }
        for place in 0..n {
            let Step { first, count, .. } = lu.steps[place];
            lu.steps[place].target = lu.targets.len();
            for i in first..first + count {
                for j in first..first + count {
                    let target = lu
                        .block(lu.later[i], lu.later[j])
                        .expect("later neighbours of one node are neighbours of each other");
                    lu.targets.push(target);
                }
            }
        }
        lu.values = vec![0.0; length];
        lu.full = vec![[true; 2]; lu.later.len()];
        lu
    }

    /// Number of rows of the matrix.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.pivots.len()
    }

    /// First row of a node in vectors.
    #[must_use]
    pub fn offset(&self, node: usize) -> usize {
        self.offsets[node]
    }

    /// Where block `(i, j)` starts in [`BlockLu::values_mut`], if it is in the pattern.
    #[must_use]
    pub fn block(&self, i: usize, j: usize) -> Option<usize> {
        let step = &self.steps[self.place[i].min(self.place[j])];
        if i == j {
            return Some(step.diag);
        }
        let other = if step.node == i { j } else { i };
        let place = self.place[other];
        let k =
            self.later[step.first..step.first + step.count].binary_search_by_key(&place, |&m| self.place[m]).ok()?;
        Some(if step.node == i { self.row[step.first + k] } else { self.col[step.first + k] })
    }

    /// The blocks, before [`BlockLu::factor`] the matrix and after it the factors.
    pub fn values_mut(&mut self) -> &mut [f64] {
        &mut self.values
    }

    /// Sets the matrix to zero.
    pub fn clear(&mut self) {
        self.values.fill(0.0);
    }

    /// Smallest absolute pivot in the diagonal block of a node, from the last [`BlockLu::factor`].
    #[must_use]
    pub fn smallest_pivot(&self, node: usize) -> f64 {
        self.smallest[node]
    }

    /// Numeric phase, in place and without allocation.
    ///
    /// # Errors
    /// [`SingularBlock`] names the node whose diagonal block has no usable pivot.
    pub fn factor(&mut self) -> Result<(), SingularBlock> {
        let Some(uniform) = self.uniform else { return self.eliminate(|_, _| {}) };
        self.is_uniform = true;
        match uniform {
            Uniform::One => self.factor_uniform::<1>(),
            Uniform::Two => self.factor_uniform::<2>(),
            Uniform::Three => self.factor_uniform::<3>(),
        }
    }

    /// As [`BlockLu::factor`]; `prepare(node, blocks)` sees the diagonal, row and column blocks of each node
    /// just before they are factored (see [`StepBlocks`]).
    pub(super) fn eliminate(
        &mut self,
        mut prepare: impl FnMut(usize, &mut StepBlocks<'_>),
    ) -> Result<(), SingularBlock> {
        self.is_uniform = false;
        for place in 0..self.steps.len() {
            let Step { node, size, diag, end, first, count, target } = self.steps[place];
            if size == 0 {
                continue;
            }
            let (head, tail) = self.values.split_at_mut(end);
            let (row_start, col_start) = (diag + size * size, diag + size * size + (end - diag - size * size) / 2);
            let (head, cols) = head.split_at_mut(col_start);
            let (head, rows) = head.split_at_mut(row_start);
            let diagonal = &mut head[diag..];
            let widths = Widths { later: &self.later[first..first + count], sizes: &self.sizes };
            prepare(node, &mut StepBlocks { diagonal, rows, cols, widths });
            let pivots = &mut self.pivots[self.offsets[node]..self.offsets[node] + size];
            let smallest = lu_factor(diagonal, size, pivots);
            self.smallest[node] = smallest;
            if smallest.is_nan() || smallest == 0.0 {
                return Err(SingularBlock { node, non_finite: smallest.is_nan() });
            }
            // Row blocks become D^-1 times themselves.
            for k in 0..count {
                let columns = self.sizes[self.later[first + k]];
                let block = &mut rows[self.row[first + k] - row_start..][..size * columns];
                let full = block.iter().any(|&x| x != 0.0);
                self.full[first + k][0] = full;
                if full {
                    lu_solve(diagonal, size, pivots, block, columns);
                }
            }
            for i in 0..count {
                let height = self.sizes[self.later[first + i]];
                let left = &cols[self.col[first + i] - col_start..][..size * height];
                let full = left.iter().any(|&x| x != 0.0);
                self.full[first + i][1] = full;
                if !full {
                    continue;
                }
                for j in (0..count).filter(|j| self.full[first + j][0]) {
                    let columns = self.sizes[self.later[first + j]];
                    let right = &rows[self.row[first + j] - row_start..][..size * columns];
                    let at = self.targets[target + i * count + j] - end;
                    mul_sub(&mut tail[at..at + height * columns], left, right, size, columns);
                }
            }
        }
        Ok(())
    }

    /// Solves in place with the factors: right-hand side in, solution out.
    pub fn solve(&self, x: &mut [f64]) {
        if let (true, Some(uniform)) = (self.is_uniform, self.uniform) {
            match uniform {
                Uniform::One => self.solve_uniform::<1>(x),
                Uniform::Two => self.solve_uniform::<2>(x),
                Uniform::Three => self.solve_uniform::<3>(x),
            }
            return;
        }
        for step in &self.steps {
            let at = self.offsets[step.node];
            lu_solve(&self.values[step.diag..], step.size, &self.pivots[at..], &mut x[at..at + step.size], 1);
            self.spread(step, x);
        }
        for step in self.steps.iter().rev() {
            self.gather(step, x);
        }
    }

    /// Forward: `x_later -= L x_node`.
    fn spread(&self, step: &Step, x: &mut [f64]) {
        let at = self.offsets[step.node];
        for k in (step.first..step.first + step.count).filter(|&k| self.full[k][1]) {
            let (to, n) = (self.offsets[self.later[k]], self.sizes[self.later[k]]);
            let block = &self.values[self.col[k]..][..step.size * n];
            let (there, here) = disjoint(x, to, n, at, step.size);
            mul_vec_sub(there, block, here);
        }
    }

    /// Backward: `x_node -= U x_later`.
    fn gather(&self, step: &Step, x: &mut [f64]) {
        let at = self.offsets[step.node];
        for k in (step.first..step.first + step.count).filter(|&k| self.full[k][0]) {
            let (from, n) = (self.offsets[self.later[k]], self.sizes[self.later[k]]);
            let block = &self.values[self.row[k]..][..step.size * n];
            let (here, there) = disjoint(x, at, step.size, from, n);
            mul_vec_sub(here, block, there);
        }
    }
}

/// Two ranges of one vector that do not overlap, the first one writable.
pub(super) fn disjoint(x: &mut [f64], a: usize, m: usize, b: usize, n: usize) -> (&mut [f64], &[f64]) {
    if a < b {
        let (low, high) = x.split_at_mut(b);
        (&mut low[a..a + m], &high[..n])
    } else {
        let (low, high) = x.split_at_mut(a);
        (&mut high[..m], &low[b..b + n])
    }
}

/// The blocks of one elimination step: diagonal (`n x n`), rows (`n x m` each, one after another) and columns
/// (`m x n` each).
pub(super) struct StepBlocks<'a> {
    pub(super) diagonal: &'a mut [f64],
    rows: &'a mut [f64],
    cols: &'a mut [f64],
    /// Sizes `m` of the neighbours.
    widths: Widths<'a>,
}

#[derive(Clone, Copy)]
struct Widths<'a> {
    later: &'a [usize],
    sizes: &'a [usize],
}

impl StepBlocks<'_> {
    /// Takes rows of this node out of the matrix: zeros in their row, column and off-diagonal blocks, infinity on the
    /// diagonal, whose stored inverse is zero: so these entries of every solution are zero.
    pub(super) fn drop_rows(&mut self, kept: &[bool]) {
        let n = kept.len();
        for (i, _) in kept.iter().enumerate().filter(|(_, kept)| !**kept) {
            for j in 0..n {
                self.diagonal[i * n + j] = 0.0;
                self.diagonal[j * n + i] = 0.0;
            }
            self.diagonal[i * n + i] = f64::INFINITY;
            let mut at = 0;
            for m in self.widths.later.iter().map(|&node| self.widths.sizes[node]) {
                self.rows[at + i * m..at + (i + 1) * m].fill(0.0);
                for x in self.cols[at..at + m * n].iter_mut().skip(i).step_by(n) {
                    *x = 0.0;
                }
                at += m * n;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::numbers::Numbers;
    use nalgebra::{DMatrix, DVector};

    #[test]
    fn agrees_with_dense_elimination_on_random_graphs() {
        let mut numbers = Numbers(7);
        for (n, uniform) in [(1, 0), (2, 0), (5, 0), (12, 0), (30, 0), (30, 1), (30, 2), (30, 3)] {
            let sizes: Vec<usize> = (0..n).map(|i| if uniform > 0 { uniform } else { 1 + (i * 7 + 3) % 6 }).collect();
            let edges = numbers.edges(n);
            let after: Vec<_> = edges.iter().filter(|(a, b)| a > b && a % 3 == 0).copied().collect();
            let mut lu = BlockLu::new(&sizes, &edges, &after);
            let mut dense = DMatrix::zeros(lu.rows(), lu.rows());
            lu.clear();
            for i in 0..n {
                for j in 0..n {
                    if i != j && !edges.contains(&(i, j)) && !edges.contains(&(j, i)) {
                        continue;
                    }
                    let at = lu.block(i, j).expect("an edge is in the pattern");
                    for r in 0..sizes[i] {
                        for c in 0..sizes[j] {
                            let x = numbers.next() + if i == j && r == c { 8.0 } else { 0.0 };
                            dense[(lu.offset(i) + r, lu.offset(j) + c)] = x;
                            lu.values_mut()[at + r * sizes[j] + c] = x;
                        }
                    }
                }
            }
            let x = DVector::from_fn(lu.rows(), |_, _| numbers.next());
            let mut b = &dense * &x;
            lu.factor().expect("diagonally dominant");
            lu.solve(b.as_mut_slice());
            assert!((b - x).amax() < 1e-12);
        }
    }

    #[test]
    fn singular_block_names_its_node() {
        let mut lu = BlockLu::new(&[1, 2], &[(0, 1)], &[(1, 0)]);
        lu.values_mut().fill(1.0);
        assert_eq!(lu.factor(), Err(SingularBlock { node: 1, non_finite: false }));
        for size in 1..=3 {
            let mut lu = BlockLu::new(&[size; 2], &[(0, 1)], &[(1, 0)]);
            let [first, second] = [0, 1].map(|node| lu.block(node, node).expect("a diagonal block"));
            for k in 0..size {
                lu.values_mut()[first + k * (size + 1)] = 2.0;
            }
            assert_eq!(lu.factor(), Err(SingularBlock { node: 1, non_finite: false }), "size {size}");
            lu.values_mut()[second] = f64::NAN;
            assert_eq!(lu.factor(), Err(SingularBlock { node: 1, non_finite: true }), "size {size}");
        }
    }
}
