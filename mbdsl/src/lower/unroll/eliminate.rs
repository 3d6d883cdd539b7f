//! Gaussian elimination written out: the pattern of the matrix is known, so that only what is not zero becomes code.

use crate::ir::{Graph, Reg};

/// Most rows of a pivot block: its inverse is written in closed form, with one division.
const WIDEST: usize = 3;

/// A square matrix whose entries are nodes of a graph. Zeros are literal zeros.
#[derive(Debug)]
pub(super) struct Matrix {
    n: usize,
    a: Vec<Reg>,
    /// Of a symmetric matrix the upper triangle alone is kept.
    is_symmetric: bool,
    zero: Reg,
}

/// A block of unknowns that has been eliminated.
#[derive(Debug)]
struct Eliminated {
    block: Vec<usize>,
    /// Of the pivot block, row by row.
    inverse: Vec<Reg>,
    /// The rows left with the entries that they had in the columns of the block.
    rows: Vec<(usize, Vec<Reg>)>,
    /// Later unknowns with their factors in the rows of the block.
    factors: Vec<(usize, Vec<Reg>)>,
}

/// An eliminated matrix.
#[derive(Debug)]
pub(super) struct Factors {
    n: usize,
    done: Vec<Eliminated>,
    /// First unknown and determinant of each pivot block, in the order of elimination.
    pub pivots: Vec<(usize, Reg)>,
}

impl Factors {
    /// Solves for one right-hand side.
    pub(super) fn solve(&self, g: &mut Graph, rhs: &[Reg]) -> Vec<Reg> {
        debug_assert_eq!(rhs.len(), self.n);
        let mut x = rhs.to_vec();
        for Eliminated { block, inverse, rows, .. } in &self.done {
            let open: Vec<Reg> = block.iter().map(|&k| x[k]).collect();
            let values = times(g, inverse, &open);
            for (i, row) in rows {
                let sum = dot(g, row, &values);
                x[*i] = g.sub(x[*i], sum);
            }
            block.iter().zip(values).for_each(|(&k, value)| x[k] = value);
        }
        for Eliminated { block, factors, .. } in self.done.iter().rev() {
            let later: Vec<Reg> = factors.iter().map(|(j, _)| x[*j]).collect();
            for (row, &k) in block.iter().enumerate() {
                let weights: Vec<Reg> = factors.iter().map(|(_, f)| f[row]).collect();
                let sum = dot(g, &weights, &later);
                x[k] = g.sub(x[k], sum);
            }
        }
        x
    }
}

impl Matrix {
    pub(super) fn new(g: &mut Graph, n: usize, is_symmetric: bool) -> Self {
        let zero = g.num(0.0);
        Self { n, a: vec![zero; n * n], is_symmetric, zero }
    }

    /// Adds to an entry. Of symmetric matrices both triangles are given; the upper one counts.
    pub(super) fn add(&mut self, g: &mut Graph, i: usize, j: usize, x: Reg) {
        if !self.is_symmetric || i <= j {
            let at = i * self.n + j;
            self.a[at] = g.add(self.a[at], x);
        }
    }

    fn at(&self, i: usize, j: usize) -> Reg {
        let (i, j) = if self.is_symmetric && i > j { (j, i) } else { (i, j) };
        self.a[i * self.n + j]
    }

    fn is_zero(&self, i: usize, j: usize) -> bool {
        self.at(i, j) == self.zero
    }

    /// Eliminates by blocks, in the order of the groups of unknowns. A group falls into parts that its rows do not couple.
    pub(super) fn factor(mut self, g: &mut Graph, groups: &[Vec<usize>]) -> Factors {
        let mut left = vec![true; self.n];
        let mut factors = Factors { n: self.n, done: Vec::new(), pivots: Vec::new() };
        for part in groups.iter().flat_map(|group| group.chunks(WIDEST)) {
            for block in self.components(part) {
                block.iter().for_each(|&k| left[k] = false);
                let (eliminated, pivot) = self.eliminate(g, block, &left);
                factors.pivots.push((eliminated.block[0], pivot));
                factors.done.push(eliminated);
            }
        }
        factors
    }

    /// The parts of a group that are not coupled with each other.
    fn components(&self, group: &[usize]) -> Vec<Vec<usize>> {
        let mut parts: Vec<Vec<usize>> = Vec::new();
        for &k in group {
            let (coupled, mut others): (Vec<_>, Vec<_>) =
                parts.into_iter().partition(|part| part.iter().any(|&i| !self.is_zero(i, k) || !self.is_zero(k, i)));
            let mut joined: Vec<usize> = coupled.concat();
            joined.push(k);
            others.push(joined);
            parts = others;
        }
        parts
    }

    /// Eliminates a block from the rows that are left.
    fn eliminate(&mut self, g: &mut Graph, block: Vec<usize>, left: &[bool]) -> (Eliminated, Reg) {
        let (inverse, pivot) = self.inverse(g, &block);
        let mut rows = Vec::new();
        let mut factors = Vec::new();
        for k in (0..self.n).filter(|&k| left[k]) {
            let row: Vec<Reg> = block.iter().map(|&c| self.at(k, c)).collect();
            if row.iter().any(|&x| x != self.zero) {
                rows.push((k, row));
            }
            let column: Vec<Reg> = block.iter().map(|&r| self.at(r, k)).collect();
            if column.iter().any(|&x| x != self.zero) {
                factors.push((k, times(g, &inverse, &column)));
            }
        }
        for (i, row) in &rows {
            for (j, factor) in factors.iter().filter(|(j, _)| !self.is_symmetric || i <= j) {
                let sum = dot(g, row, factor);
                let at = i * self.n + j;
                self.a[at] = g.sub(self.a[at], sum);
            }
        }
        (Eliminated { block, inverse, rows, factors }, pivot)
    }

    /// Inverse of a block by its adjugate, and its determinant.
    fn inverse(&self, g: &mut Graph, block: &[usize]) -> (Vec<Reg>, Reg) {
        let a = |i: usize, j: usize| self.at(block[i], block[j]);
        let one = g.num(1.0);
        match block.len() {
            1 => (vec![g.div(one, a(0, 0))], a(0, 0)),
            2 => {
                let det = minor(g, [a(0, 0), a(0, 1), a(1, 0), a(1, 1)]);
                let scale = g.div(one, det);
                let entries = [a(1, 1), g.neg(a(0, 1)), g.neg(a(1, 0)), a(0, 0)];
                (entries.map(|x| g.mul(x, scale)).to_vec(), det)
            }
            _ => {
                let mut adjugate = Vec::with_capacity(9);
                for i in 0..3 {
                    for j in 0..3 {
                        let (r, s) = ((j + 1) % 3, (j + 2) % 3);
                        let (c, d) = ((i + 1) % 3, (i + 2) % 3);
                        adjugate.push(minor(g, [a(r, c), a(r, d), a(s, c), a(s, d)]));
                    }
                }
                let det = dot(g, &[a(0, 0), a(0, 1), a(0, 2)], &[adjugate[0], adjugate[3], adjugate[6]]);
                let scale = g.div(one, det);
                (adjugate.iter().map(|&x| g.mul(x, scale)).collect(), det)
            }
        }
    }
}

/// `a d - b c`
fn minor(g: &mut Graph, [a, b, c, d]: [Reg; 4]) -> Reg {
    let (ad, bc) = (g.mul(a, d), g.mul(b, c));
    g.sub(ad, bc)
}

/// A square matrix, row by row, times a vector.
fn times(g: &mut Graph, matrix: &[Reg], v: &[Reg]) -> Vec<Reg> {
    matrix.chunks(v.len()).map(|row| dot(g, row, v)).collect()
}

/// Scalar product.
pub(super) fn dot(g: &mut Graph, a: &[Reg], b: &[Reg]) -> Reg {
    let mut sum = g.num(0.0);
    for (&a, &b) in a.iter().zip(b) {
        let product = g.mul(a, b);
        sum = g.add(sum, product);
    }
    sum
}
