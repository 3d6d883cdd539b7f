//! Gaussian elimination written out: the pattern of the matrix is known, so that only what is not zero becomes code.

use std::ops::Range;

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

/// A block that has been eliminated: as many equations as unknowns.
#[derive(Debug)]
struct Eliminated {
    equations: Vec<usize>,
    unknowns: Vec<usize>,
    /// Of the pivot block, row by row.
    inverse: Vec<Reg>,
    /// Equations that were left, with their entries in the columns of the block.
    below: Vec<(usize, Vec<Reg>)>,
    /// Unknowns that were left, with their factors in the rows of the block.
    factors: Vec<(usize, Vec<Reg>)>,
}

/// An eliminated matrix.
#[derive(Debug)]
pub(super) struct Factors {
    n: usize,
    done: Vec<Eliminated>,
    /// First unknown and determinant of each pivot block of a group, in the order of elimination.
    pub pivots: Vec<(usize, Reg)>,
}

impl Factors {
    /// Solves for one right-hand side.
    pub(super) fn solve(&self, g: &mut Graph, rhs: &[Reg]) -> Vec<Reg> {
        debug_assert_eq!(rhs.len(), self.n);
        let mut open = rhs.to_vec();
        let mut x = rhs.to_vec();
        for Eliminated { equations, unknowns, inverse, below, .. } in &self.done {
            let rows: Vec<Reg> = equations.iter().map(|&k| open[k]).collect();
            let values = times(g, inverse, &rows);
            for (i, row) in below {
                let sum = dot(g, row, &values);
                open[*i] = g.sub(open[*i], sum);
            }
            unknowns.iter().zip(values).for_each(|(&k, value)| x[k] = value);
        }
        for Eliminated { unknowns, factors, .. } in self.done.iter().rev() {
            let later: Vec<Reg> = factors.iter().map(|(j, _)| x[*j]).collect();
            for (row, &k) in unknowns.iter().enumerate() {
                let weights: Vec<Reg> = factors.iter().map(|(_, f)| f[row]).collect();
                let sum = dot(g, &weights, &later);
                x[k] = g.sub(x[k], sum);
            }
        }
        x
    }
}

/// Elimination under way.
pub(super) struct Elimination {
    matrix: Matrix,
    /// Equations and unknowns that are left.
    equations: Vec<bool>,
    unknowns: Vec<bool>,
    factors: Factors,
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

    /// Begins the elimination.
    pub(super) fn eliminate(self) -> Elimination {
        let n = self.n;
        let factors = Factors { n, done: Vec::new(), pivots: Vec::new() };
        Elimination { matrix: self, equations: vec![true; n], unknowns: vec![true; n], factors }
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

    /// Inverse of a block by its adjugate, and its determinant.
    fn inverse(&self, g: &mut Graph, equations: &[usize], unknowns: &[usize]) -> (Vec<Reg>, Reg) {
        let a = |i: usize, j: usize| self.at(equations[i], unknowns[j]);
        let one = g.num(1.0);
        match unknowns.len() {
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

impl Elimination {
    /// Eliminates pairs of an unknown that an equation has with the factor 1 or -1: `row` has the one of `column` and `column`,
    /// as an equation, that of `row`. No division, and no pivot that could vanish: what a joint says of a position is put into
    /// the equations. `rows` and `columns` are the candidates; those with fewest other entries come first.
    pub(super) fn unit_pairs(&mut self, g: &mut Graph, rows: Range<usize>, columns: Range<usize>) {
        loop {
            let is_unit = |i: usize, j: usize| g.literal(self.matrix.at(i, j)).is_some_and(|x| x.abs() == 1.0);
            let is_left = |k: usize| self.equations[k] && self.unknowns[k];
            let pairs = rows.clone().flat_map(|row| columns.clone().map(move |column| (row, column)));
            let pairs = pairs.filter(|&(row, column)| is_left(row) && is_left(column));
            let pairs = pairs.filter(|&(row, column)| is_unit(row, column) && is_unit(column, row));
            let Some((row, column)) = pairs.min_by_key(|&(row, column)| self.entries(row, column)) else { return };
            self.block(g, vec![row], vec![column]);
            self.block(g, vec![column], vec![row]);
        }
    }

    /// Entries of an equation and of an unknown.
    fn entries(&self, equation: usize, unknown: usize) -> usize {
        let all = (0..self.matrix.n).filter(|&k| self.unknowns[k] && !self.matrix.is_zero(equation, k)).count();
        all + (0..self.matrix.n).filter(|&k| self.equations[k] && !self.matrix.is_zero(k, unknown)).count()
    }

    /// Eliminates what is left of groups of unknowns with their own equations, in order. A group falls into parts that its
    /// equations do not couple.
    pub(super) fn groups(mut self, g: &mut Graph, groups: &[Vec<usize>]) -> Factors {
        for group in groups {
            let left: Vec<usize> = group.iter().copied().filter(|&k| self.unknowns[k]).collect();
            for part in left.chunks(WIDEST) {
                for block in self.matrix.components(part) {
                    let first = block[0];
                    let pivot = self.block(g, block.clone(), block);
                    self.factors.pivots.push((first, pivot));
                }
            }
        }
        self.factors
    }

    /// Eliminates a block; its determinant.
    fn block(&mut self, g: &mut Graph, equations: Vec<usize>, unknowns: Vec<usize>) -> Reg {
        let Self { matrix, equations: rows, unknowns: columns, factors: done } = self;
        equations.iter().for_each(|&k| rows[k] = false);
        unknowns.iter().for_each(|&k| columns[k] = false);
        let (inverse, pivot) = matrix.inverse(g, &equations, &unknowns);
        let (mut below, mut factors) = (Vec::new(), Vec::new());
        for k in 0..matrix.n {
            let row: Vec<Reg> = unknowns.iter().map(|&c| matrix.at(k, c)).collect();
            if rows[k] && row.iter().any(|&x| x != matrix.zero) {
                below.push((k, row));
            }
            let column: Vec<Reg> = equations.iter().map(|&r| matrix.at(r, k)).collect();
            if columns[k] && column.iter().any(|&x| x != matrix.zero) {
                factors.push((k, times(g, &inverse, &column)));
            }
        }
        for (i, row) in &below {
            for (j, factor) in factors.iter().filter(|(j, _)| !matrix.is_symmetric || i <= j) {
                let sum = dot(g, row, factor);
                let at = i * matrix.n + j;
                matrix.a[at] = g.sub(matrix.a[at], sum);
            }
        }
        done.done.push(Eliminated { equations, unknowns, inverse, below, factors });
        pivot
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
