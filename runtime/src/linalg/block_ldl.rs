//! Factorisation `L D L^T` of symmetric matrices of blocks: symbolic once, numeric in place, half the work and storage of [`super::block_lu`].
//!
//! ```text
//! D_j = A_jj,   U_ji = D_j^-1 A_ji,   A_ki <- A_ki - A_jk^T U_ji        for k, i after j, L = U^T
//! ```
//!
//! Diagonal blocks are inverted as a whole and kept as inverses, so that solutions are products without branches. Their condition is that of one
//! element, and nothing is lost by this that refinement would not bring back.

use alloc::vec::Vec;

use super::block_lu::{SingularBlock, disjoint};
use super::blocks::{mul, mul_transposed_sub, mul_vec_sub};
use super::invert::{invert, sweep};
use super::order::minimum_degree;

/// What one elimination step needs to know.
#[derive(Clone, Copy, Debug)]
struct Step {
    node: usize,
    size: usize,
    /// Diagonal block; the others of its row follow it in `values`.
    diag: usize,
    /// End of the storage of this step in `values`.
    end: usize,
    /// First row of the node in vectors.
    offset: usize,
    /// Range in `row`.
    first: usize,
    count: usize,
    /// First of the entries in `targets`: of each pair of nodes that come later, the first not after the second.
    target: usize,
}

/// A block beside the diagonal block of a step.
#[derive(Clone, Copy, Debug)]
struct Beside {
    node: usize,
    /// Its columns.
    size: usize,
    /// The first of them in vectors.
    offset: usize,
    /// Where it is, after the diagonal block.
    at: usize,
}

/// A sparse symmetric matrix of dense blocks and its factors in the same storage.
///
/// Nodes are numbered from 0. Vectors are laid out node after node. Of each pair of blocks that are each
/// other's transposes one is stored, row by row, and diagonal blocks whole. Life cycle: [`BlockLdl::clear`], add to [`BlockLdl::values_mut`] at the offsets of
/// [`BlockLdl::at`], [`BlockLdl::factor`], [`BlockLdl::solve`]. Only the constructor allocates.
///
/// Nothing is exchanged: the matrix is to be positive definite, but for the rows that are left out.
#[derive(Clone, Debug, Default)]
pub(super) struct BlockLdl {
    place: Vec<usize>,
    /// Per node its rows.
    sizes: Vec<usize>,
    /// Per node its first row in vectors.
    offsets: Vec<usize>,
    steps: Vec<Step>,
    row: Vec<Beside>,
    /// Where each block starts: the diagonal ones in the order of elimination, then those of `row`.
    at: Vec<usize>,
    /// Numbers of blocks in `at`.
    targets: Vec<usize>,
    values: Vec<f64>,
    /// How much of `values` is in use.
    length: usize,
    smallest: Vec<f64>,
    /// Room for one block of `U`.
    scratch: Vec<f64>,
}

impl BlockLdl {
    /// Symbolic phase for nodes of `sizes` rows; `edges` as in [`minimum_degree`].
    pub(super) fn new(sizes: &[usize], edges: &[(usize, usize)]) -> Self {
        let elimination = minimum_degree(sizes, edges, &[]);
        let largest = sizes.iter().copied().max().unwrap_or(0);
        let mut ldl = Self {
            place: elimination.place,
            sizes: vec![0; sizes.len()],
            offsets: vec![0; sizes.len()],
            smallest: vec![0.0; sizes.len()],
            scratch: vec![0.0; largest * largest],
            ..Self::default()
        };
        for &node in &elimination.order {
            let later = &elimination.later[node];
            let (first, count) = (ldl.row.len(), later.len());
            ldl.row.extend(later.iter().map(|&node| Beside { node, size: 0, offset: 0, at: 0 }));
            ldl.steps.push(Step { node, size: 0, diag: 0, end: 0, offset: 0, first, count, target: 0 });
        }
        for place in 0..ldl.steps.len() {
            let Step { first, count, .. } = ldl.steps[place];
            ldl.steps[place].target = ldl.targets.len();
            for i in first..first + count {
                for k in first..=i {
                    let target = ldl
                        .block(ldl.row[k].node, ldl.row[i].node)
                        .expect("later neighbours of one node are neighbours of each other");
                    ldl.targets.push(target);
                }
            }
        }
        ldl.at = vec![0; ldl.steps.len() + ldl.row.len()];
        ldl.shape(|node| sizes[node]);
        ldl.values = vec![0.0; ldl.length];
        ldl
    }

    /// Gives nodes other numbers of rows than the constructor, not more.
    pub(super) fn shape(&mut self, size: impl Fn(usize) -> usize) {
        let mut offset = 0;
        for (node, (own, first)) in self.sizes.iter_mut().zip(&mut self.offsets).enumerate() {
            (*own, *first) = (size(node), offset);
            offset += *own;
        }
        let mut length = 0;
        let (diagonal, beside) = self.at.split_at_mut(self.steps.len());
        for (step, at) in self.steps.iter_mut().zip(diagonal) {
            let n = self.sizes[step.node];
            (step.size, step.offset, step.diag, *at) = (n, self.offsets[step.node], length, length);
            length += n * n;
            for (block, at) in self.row[step.first..].iter_mut().zip(&mut beside[step.first..]).take(step.count) {
                (block.size, block.offset) = (self.sizes[block.node], self.offsets[block.node]);
                (block.at, *at) = (length - step.diag - n * n, length);
                length += n * block.size;
            }
            step.end = length;
        }
        self.length = length;
    }

    /// The number of the block `(i, j)`, if it is in the pattern and stored.
    pub(super) fn block(&self, i: usize, j: usize) -> Option<usize> {
        let place = self.place[i];
        if i == j {
            return Some(place);
        }
        let step = &self.steps[place];
        let later = &self.row[step.first..step.first + step.count];
        let k = later.binary_search_by_key(&self.place[j], |block| self.place[block.node]).ok()?;
        Some(self.steps.len() + step.first + k)
    }

    /// Where a block starts in [`BlockLdl::values_mut`], by its number.
    pub(super) fn at(&self, block: usize) -> usize {
        self.at[block]
    }

    /// The blocks, before [`BlockLdl::factor`] the matrix and after it the factors.
    pub(super) fn values_mut(&mut self) -> &mut [f64] {
        &mut self.values
    }

    /// Sets the matrix to zero.
    pub(super) fn clear(&mut self) {
        self.values[..self.length].fill(0.0);
    }

    /// Smallest pivot in the diagonal block of a node, from the last factorisation.
    pub(super) fn smallest_pivot(&self, node: usize) -> f64 {
        self.smallest[node]
    }

    /// Numeric phase, in place and without allocation. `prepare(node, blocks)` sees the blocks of each node just before it is eliminated.
    ///
    /// # Errors
    /// [`SingularBlock`] names the node whose diagonal block has no inverse.
    pub(super) fn factor(&mut self, mut prepare: impl FnMut(usize, &mut StepBlocks<'_>)) -> Result<(), SingularBlock> {
        let Self { steps, row, at, targets, values, smallest, scratch, .. } = self;
        for step in steps.iter().filter(|step| step.size > 0) {
            let n = step.size;
            let (head, tail) = values.split_at_mut(step.end);
            let (diagonal, beside) = head[step.diag..].split_at_mut(n * n);
            let row = &row[step.first..step.first + step.count];
            let mut blocks = StepBlocks { diagonal, beside, row, is_cut: false };
            prepare(step.node, &mut blocks);
            let StepBlocks { diagonal, beside, is_cut, .. } = blocks;
            let pivot = if is_cut { sweep(diagonal, n) } else { invert(diagonal, n) };
            smallest[step.node] = pivot;
            if pivot == 0.0 || pivot.is_nan() {
                return Err(SingularBlock { node: step.node, non_finite: pivot != 0.0 });
            }
            // From the last one on, so that blocks are overwritten when nothing needs them any more.
            for (i, block) in row.iter().enumerate().rev().filter(|(_, block)| block.size > 0) {
                let u = &mut scratch[..n * block.size];
                mul(u, diagonal, &beside[block.at..][..n * block.size], n, block.size);
                let others = row[..=i].iter().zip(&targets[step.target + i * (i + 1) / 2..]);
                for (other, target) in others.filter(|(other, _)| other.size > 0) {
                    let out = &mut tail[at[*target] - step.end..][..other.size * block.size];
                    mul_transposed_sub(out, &beside[other.at..][..n * other.size], u, other.size, block.size);
                }
                beside[block.at..][..n * block.size].copy_from_slice(u);
            }
        }
        Ok(())
    }

    /// Solves in place with the factors: right-hand side in, solution out.
    pub(super) fn solve(&mut self, x: &mut [f64]) {
        let Self { steps, row, values, scratch, .. } = self;
        for step in &*steps {
            let row = &row[step.first..step.first + step.count];
            let (inverse, beside) = values[step.diag..step.end].split_at(step.size * step.size);
            match step.size {
                0 => {}
                1 => forward::<1>(step.offset, row, inverse, beside, x),
                2 => forward::<2>(step.offset, row, inverse, beside, x),
                3 => forward::<3>(step.offset, row, inverse, beside, x),
                4 => forward::<4>(step.offset, row, inverse, beside, x),
                5 => forward::<5>(step.offset, row, inverse, beside, x),
                6 => forward::<6>(step.offset, row, inverse, beside, x),
                n => forward_any(&mut scratch[..n], step.offset, row, inverse, beside, x),
            }
        }
        for step in steps.iter().rev() {
            let row = &row[step.first..step.first + step.count];
            for block in row.iter().filter(|block| step.size * block.size > 0) {
                let u = &values[step.diag + step.size * step.size + block.at..][..step.size * block.size];
                let (there, here) = disjoint(x, step.offset, step.size, block.offset, block.size);
                mul_vec_sub(there, u, here);
            }
        }
    }
}

/// `x_i <- x_i - U_ji^T x_j` for all nodes `i` after the node `j`, then `x_j <- D_j^-1 x_j`.
#[inline(always)]
fn forward<const N: usize>(offset: usize, row: &[Beside], inverse: &[f64], beside: &[f64], x: &mut [f64]) {
    let mut here = [0.0; N];
    forward_any(&mut here, offset, row, inverse, beside, x);
}

#[inline(always)]
fn forward_any(here: &mut [f64], offset: usize, row: &[Beside], inverse: &[f64], beside: &[f64], x: &mut [f64]) {
    let n = here.len();
    here.copy_from_slice(&x[offset..offset + n]);
    for block in row.iter().filter(|block| block.size > 0) {
        let there = &mut x[block.offset..block.offset + block.size];
        mul_transposed_sub(there, &beside[block.at..][..n * block.size], here, block.size, 1);
    }
    let there = &mut x[offset..offset + n];
    there.fill(0.0);
    // Rows of the inverse are its columns.
    for (x, row) in here.iter().zip(inverse.chunks_exact(n)) {
        for (there, d) in there.iter_mut().zip(row) {
            *there += d * x;
        }
    }
}

/// The blocks of one elimination step: diagonal (`n x n`) and those beside it (`n x m` each, one after another).
pub(super) struct StepBlocks<'a> {
    pub(super) diagonal: &'a mut [f64],
    beside: &'a mut [f64],
    row: &'a [Beside],
    is_cut: bool,
}

impl StepBlocks<'_> {
    /// Takes rows of this node out of the matrix: zeros in their rows and columns, infinity on the diagonal, whose inverse is zero: so these entries
    /// of every solution are zero.
    pub(super) fn drop_rows(&mut self, kept: &[bool]) {
        let n = kept.len();
        for (i, _) in kept.iter().enumerate().filter(|(_, kept)| !**kept) {
            self.is_cut = true;
            for j in 0..n {
                self.diagonal[i * n + j] = 0.0;
                self.diagonal[j * n + i] = 0.0;
            }
            self.diagonal[i * (n + 1)] = f64::INFINITY;
            for block in self.row {
                self.beside[block.at + i * block.size..][..block.size].fill(0.0);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::numbers::Numbers;
    use nalgebra::{DMatrix, DVector};

    /// With all rows, and without each seventh.
    #[test]
    fn agrees_with_dense_elimination_on_random_graphs() {
        let mut numbers = Numbers(7);
        for (n, uniform) in [(1, 0), (2, 0), (5, 0), (12, 0), (30, 0), (30, 1), (30, 3), (30, 5), (4, 9)] {
            let sizes: Vec<usize> = (0..n).map(|i| if uniform > 0 { uniform } else { 1 + (i * 7 + 3) % 8 }).collect();
            let edges = numbers.edges(n);
            let offsets: Vec<usize> = (0..=n).map(|i| sizes[..i].iter().sum()).collect();
            let rows = offsets[n];
            for every in [usize::MAX, 7] {
                let mut ldl = BlockLdl::new(&sizes, &edges);
                let mut dense = DMatrix::zeros(rows, rows);
                let kept: Vec<bool> = (0..rows).map(|row| row % every != every - 1).collect();
                ldl.clear();
                for i in 0..n {
                    for j in 0..n {
                        if i != j && !edges.contains(&(i, j)) && !edges.contains(&(j, i)) {
                            continue;
                        }
                        let Some(block) = ldl.block(i, j) else { continue };
                        let at = ldl.at(block);
                        for (r, c) in (0..sizes[i]).flat_map(|r| (0..sizes[j]).map(move |c| (r, c))) {
                            let (row, col) = (offsets[i] + r, offsets[j] + c);
                            let x = if row == col { 30.0 } else { numbers.next() };
                            for (r, c, row, col) in [(r, c, row, col), (c, r, col, row)] {
                                dense[(row, col)] = x;
                                dense[(col, row)] = x;
                                if i == j || (row, col) == (offsets[i] + r, offsets[j] + c) {
                                    ldl.values_mut()[at + r * sizes[j] + c] = x;
                                }
                            }
                        }
                    }
                }
                let x = DVector::from_fn(rows, |row, _| if kept[row] { numbers.next() } else { 0.0 });
                let mut b = &dense * &x;
                ldl.factor(|node, blocks| blocks.drop_rows(&kept[offsets[node]..offsets[node + 1]]))
                    .expect("it is definite");
                ldl.solve(b.as_mut_slice());
                assert!((b - x).amax() < 1e-12, "{n} {uniform} {every}");
            }
        }
    }

    #[test]
    fn singular_block_names_its_node() {
        for size in 1..=7 {
            let mut ldl = BlockLdl::new(&[size; 2], &[(0, 1)]);
            let order = [0, 1].map(|node| ldl.at(ldl.block(node, node).expect("a diagonal block")));
            let last = usize::from(order[1] > order[0]);
            for k in 0..size {
                ldl.values_mut()[order[1 - last] + k * (size + 1)] = 2.0;
            }
            assert_eq!(ldl.factor(|_, _| {}), Err(SingularBlock { node: last, non_finite: false }), "size {size}");
            ldl.values_mut()[order[last]] = f64::NAN;
            assert_eq!(ldl.factor(|_, _| {}), Err(SingularBlock { node: last, non_finite: true }), "size {size}");
        }
    }
}
