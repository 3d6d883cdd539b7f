//! The Gram matrix `S = B G B^T` of constraint rows: rank, dependent rows, and solutions with a rank-deficient `B`.

use alloc::vec::Vec;

use super::block_ldl::BlockLdl;
use super::block_lu::SingularBlock;
use super::products::{Graph, Products};
use super::rows;
use crate::inertia::Inertia;
use crate::topology::{ElementSet, Topology};

/// A pivot below this part of the row's own diagonal marks the row as dependent on others.
///
/// A pivot of `S` relative to its diagonal is the squared sine of the angle between the row and the span of the rows
/// before it. Elimination leaves rounding errors of about `1e-16` times modest growth where the exact pivot is zero;
/// `1e-11` (an angle of `3e-6`) stands well above these and well below the angles of mechanisms that work.
const DEPENDENT: f64 = 1e-11;

/// A pivot that has fallen by this factor since the rows were chosen calls for a new choice.
pub(crate) const PIVOT_FALL: f64 = 1e-3;

/// A left-out row that is open by more than so many units of its round-off is not dependent any more.
pub(crate) const LEFT_OUT: f64 = 1e4;

/// Rows that contradict others are open by so many units of round-off: a millionth of what cancels in them, far above
/// what a late choice of rows leaves open, far below what anybody would call closed.
pub(crate) const CONTRADICTION: f64 = 1e10;

/// The weight `G` of a Gram matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Weight {
    /// `G = I`.
    Identity,
    /// `G = M^-1`.
    InverseMass,
}

/// `S = B G B^T` over the graph of elements that share a body.
///
/// Cost: linear for chains, quadratic in the number of elements on one body. Only the constructor allocates.
#[derive(Clone, Debug)]
pub struct Gram {
    set: ElementSet,
    dof: Vec<usize>,
    weight: Weight,
    ldl: BlockLdl,
    products: Products,
    /// Which rows the matrix has: all where they are to be chosen, else the kept ones.
    counts: Vec<bool>,
    /// A vector of these rows.
    packed: Vec<f64>,
    /// Per row its diagonal of `S` before elimination, where the matrix had all rows last.
    diagonal: Vec<f64>,
    /// Which rows are kept: a maximal set of independent ones after [`Gram::factor_ranked`].
    pub independent: Vec<bool>,
    work: [Vec<f64>; 5],
    scratch: Vec<f64>,
}

impl Gram {
    /// Symbolic phase for the rows of `set` on the bodies of `topology`.
    #[must_use]
    pub fn new(topology: &Topology, set: &ElementSet, weight: Weight) -> Self {
        let graph = Graph::new(topology, set);
        let ldl = BlockLdl::new(&graph.sizes, &graph.edges);
        let mut products = Products::new(topology, set, &graph, |a, b| ldl.block(a, b));
        products.choose(set, |_| true, |block| ldl.at(block));
        let largest = graph.sizes.iter().copied().max().unwrap_or(0);
        Self {
            dof: topology.dof.clone(),
            weight,
            products,
            ldl,
            counts: vec![true; set.rows],
            packed: vec![0.0; set.rows],
            diagonal: vec![0.0; set.rows],
            independent: vec![true; set.rows],
            work: core::array::from_fn(|k| vec![0.0; if k < 4 { set.rows } else { topology.nv() }]),
            scratch: vec![0.0; largest * largest],
            set: set.clone(),
        }
    }

    /// Fills `S` of all rows from the blocks of `B`, and its diagonal.
    fn assemble_all(&mut self, inertia: &Inertia, b: &[f64]) -> Result<(), SingularBlock> {
        if self.counts.iter().any(|counts| !counts) {
            self.counts.fill(true);
            self.shape();
        }
        self.assemble(inertia, b);
        let Self { set, ldl, diagonal, .. } = self;
        for (number, e) in set.elements.iter().enumerate() {
            let at = diagonal_block(ldl, number);
            for (k, diagonal) in diagonal[e.row..e.row + e.rows].iter_mut().enumerate() {
                *diagonal = ldl.values_mut()[at + k * (e.rows + 1)];
                if !diagonal.is_finite() {
                    return Err(SingularBlock { node: number, non_finite: true });
                }
            }
        }
        Ok(())
    }

    /// Lays the matrix out for the rows that it is to have.
    fn shape(&mut self) {
        let Self { set, ldl, products, counts, .. } = self;
        ldl.shape(|node| {
            let e = &set.elements[node];
            counts[e.row..e.row + e.rows].iter().filter(|counts| **counts).count()
        });
        products.choose(set, |row| counts[row], |block| ldl.at(block));
    }

    /// Fills `S` of the rows that it has from the blocks of `B`.
    fn assemble(&mut self, inertia: &Inertia, b: &[f64]) {
        let Self { products, ldl, weight, .. } = self;
        ldl.clear();
        match weight {
            Weight::Identity => products.add_symmetric(b, |_, _| {}, ldl.values_mut()),
            Weight::InverseMass => {
                products.add_symmetric(b, |body, row| times_inverse_mass(inertia, body, row), ldl.values_mut());
            }
        }
    }

    /// Factors `S` and chooses a maximal set of independent rows on the way; returns their number, the rank.
    ///
    /// Inside the diagonal blocks the largest relative pivot goes first; rows whose pivot falls below the tolerance
    /// are set aside.
    ///
    /// # Errors
    /// [`SingularBlock`] if `B` is not finite.
    pub fn factor_ranked(&mut self, inertia: &Inertia, b: &[f64]) -> Result<usize, SingularBlock> {
        self.factor_ranked_at_most(inertia, b, usize::MAX)
    }

    /// [`Gram::factor_ranked`] for positions that have drifted off the constraints, where rows that depend on others
    /// seem independent: raises the tolerance until the rank is at most `most`.
    ///
    /// # Errors
    /// [`SingularBlock`] if `B` is not finite.
    pub fn factor_ranked_at_most(&mut self, inertia: &Inertia, b: &[f64], most: usize) -> Result<usize, SingularBlock> {
        let mut tolerance = DEPENDENT;
        loop {
            self.assemble_all(inertia, b)?;
            self.eliminate(Some(tolerance))?;
            let rank = self.independent.iter().filter(|&&x| x).count();
            if rank <= most || tolerance >= 1.0 {
                return Ok(rank);
            }
            tolerance *= 10.0;
        }
    }

    /// Factors `S` on the rows that [`Gram::independent`] names.
    ///
    /// # Errors
    /// [`SingularBlock`] if these rows are dependent or not finite.
    pub fn factor(&mut self, inertia: &Inertia, b: &[f64]) -> Result<(), SingularBlock> {
        if self.counts != self.independent {
            self.counts.copy_from_slice(&self.independent);
            self.shape();
        }
        self.assemble(inertia, b);
        self.ldl.factor(|_, _| {})
    }

    /// Smallest absolute pivot of an element in the last factorisation.
    #[must_use]
    pub fn smallest_pivot(&self, element: usize) -> f64 {
        self.ldl.smallest_pivot(element)
    }

    /// Factors `S + damping diag(S)` on all rows: [`Gram::solve`] then gives damped least-squares multipliers, for
    /// dependent and contradictory rows too. Rows without any entry are left out.
    ///
    /// # Errors
    /// [`SingularBlock`] if `B` is not finite.
    pub fn factor_damped(&mut self, inertia: &Inertia, b: &[f64], damping: f64) -> Result<(), SingularBlock> {
        self.assemble_all(inertia, b)?;
        for (number, e) in self.set.elements.iter().enumerate() {
            let at = diagonal_block(&self.ldl, number);
            for i in 0..e.rows {
                let diagonal = self.diagonal[e.row + i];
                self.independent[e.row + i] = diagonal != 0.0;
                self.ldl.values_mut()[at + i * (e.rows + 1)] += damping * diagonal;
            }
        }
        self.eliminate(None)
    }

    /// Factors the matrix of all rows, and chooses the rows to be kept if there is a tolerance.
    fn eliminate(&mut self, tolerance: Option<f64>) -> Result<(), SingularBlock> {
        let Self { set, ldl, diagonal, independent, scratch, .. } = self;
        ldl.factor(|node, blocks| {
            let e = &set.elements[node];
            let n = e.rows;
            let kept = &mut independent[e.row..e.row + n];
            if let Some(tolerance) = tolerance {
                let copy = &mut scratch[..n * n];
                copy.copy_from_slice(blocks.diagonal);
                choose_rows(copy, n, &diagonal[e.row..e.row + n], tolerance, kept);
            }
            blocks.drop_rows(kept);
        })
    }

    /// Solves `S y = r` on the independent rows; the other entries of the result are zero. In place.
    pub fn solve(&mut self, r: &mut [f64]) {
        for (r, &kept) in r.iter_mut().zip(&self.independent) {
            if !kept {
                *r = 0.0;
            }
        }
        if self.counts.iter().all(|&counts| counts) {
            self.ldl.solve(r);
            return;
        }
        let Self { ldl, counts, packed, .. } = self;
        let mut length = 0;
        for (r, _) in r.iter().zip(&*counts).filter(|(_, counts)| **counts) {
            packed[length] = *r;
            length += 1;
        }
        ldl.solve(&mut packed[..length]);
        for ((r, _), x) in r.iter_mut().zip(&*counts).filter(|(_, counts)| **counts).zip(packed) {
            *r = *x;
        }
    }

    /// Diagonal of `S`: squared length of each row in the metric of the weight.
    #[must_use]
    pub fn diagonal(&self) -> &[f64] {
        &self.diagonal
    }

    /// Rows on which a dependent row depends, with the coefficients `c` of `B_row = sum c_j B_j`. Allocates.
    ///
    /// Coefficients below `1e-6` of the lengths of the rows are rounding errors of the choice above and are left out.
    #[must_use]
    pub fn combination(&mut self, inertia: &Inertia, row: usize, b: &[f64]) -> Vec<(usize, f64)> {
        let mut unit = vec![0.0; self.set.rows];
        unit[row] = 1.0;
        let mut v = vec![0.0; self.dof.last().copied().unwrap_or(0)];
        let mut c = vec![0.0; self.set.rows];
        self.lift(inertia, b, &unit, &mut v);
        rows::apply(&self.set, &self.dof, b, &v, &mut c);
        self.solve(&mut c);
        c.iter()
            .enumerate()
            .filter(|&(j, c)| c * c * self.diagonal[j] > 1e-12 * self.diagonal[row])
            .map(|(j, &c)| (j, c))
            .collect()
    }

    /// Replaces multipliers by those of least Euclidean norm with the same `B^T lam`.
    ///
    /// The null space of `B^T` is spanned by `(y, -C y)` with `C = S_AA^-1 S_AD`, `D` the dependent and `A` the
    /// independent rows; `lam` is projected off it by conjugate gradients on `I + C^T C`, one product with `S` and one
    /// solve each. They end after as many iterations as there are distinct dependencies.
    pub fn minimum_norm(&mut self, inertia: &Inertia, b: &[f64], lam: &mut [f64]) {
        let dependent = self.independent.iter().filter(|&&kept| !kept).count();
        if dependent == 0 {
            return;
        }
        let [mut y, mut p, mut n, mut w, mut v] = core::mem::take(&mut self.work);
        // Work on lam itself: lam <- lam - N y, residual N^T lam on D.
        for _ in 0..2 {
            y.copy_from_slice(lam);
            self.null_transposed(inertia, b, &mut y, &mut w, &mut v);
            p.copy_from_slice(&y);
            let mut rho = dot(&y, &y);
            let floor = f64::EPSILON * f64::EPSILON * dot(lam, lam);
            for _ in 0..dependent + 8 {
                if rho.is_nan() || rho <= floor {
                    break;
                }
                n.copy_from_slice(&p);
                self.null(inertia, b, &mut n, &mut w, &mut v);
                let alpha = rho / dot(&n, &n);
                for (l, n) in lam.iter_mut().zip(&n) {
                    *l -= alpha * n;
                }
                self.null_transposed(inertia, b, &mut n, &mut w, &mut v);
                for (y, n) in y.iter_mut().zip(&n) {
                    *y -= alpha * n;
                }
                let next = dot(&y, &y);
                let beta = next / rho;
                rho = next;
                for (p, y) in p.iter_mut().zip(&y) {
                    *p = y + beta * *p;
                }
            }
        }
        self.work = [y, p, n, w, v];
    }

    /// `v = G B^T y`
    fn lift(&self, inertia: &Inertia, b: &[f64], y: &[f64], v: &mut [f64]) {
        v.fill(0.0);
        rows::add_transposed(&self.set, &self.dof, b, y, 1.0, v);
        if self.weight == Weight::InverseMass {
            for (body, range) in self.dof.windows(2).enumerate() {
                times_inverse_mass(inertia, body, &mut v[range[0]..range[1]]);
            }
        }
    }

    /// `(y_D) -> (y_D, -C y_D)` in place; entries of `A` are zero on entry.
    fn null(&mut self, inertia: &Inertia, b: &[f64], y: &mut [f64], w: &mut [f64], v: &mut [f64]) {
        self.lift(inertia, b, y, v);
        rows::apply(&self.set, &self.dof, b, v, w);
        self.solve(w);
        for ((y, w), &kept) in y.iter_mut().zip(w).zip(&self.independent) {
            if kept {
                *y = -*w;
            }
        }
    }

    /// `u -> u_D - C^T u_A` in place; entries of `A` are zero on return.
    fn null_transposed(&mut self, inertia: &Inertia, b: &[f64], u: &mut [f64], w: &mut [f64], v: &mut [f64]) {
        w.copy_from_slice(u);
        self.solve(w);
        self.lift(inertia, b, w, v);
        rows::apply(&self.set, &self.dof, b, v, w);
        for ((u, w), &kept) in u.iter_mut().zip(w).zip(&self.independent) {
            *u = if kept { 0.0 } else { *u - *w };
        }
    }
}

/// Multiplies a vector of the velocities of a body by its inverse mass matrix.
#[inline(always)]
fn times_inverse_mass(inertia: &Inertia, body: usize, v: &mut [f64]) {
    let (mass, inverse) = inertia.inverse(body);
    for x in &mut v[..3] {
        *x *= mass;
    }
    if v.len() == 6 {
        let w = inverse * nalgebra::Vector3::from_column_slice(&v[3..]);
        v[3..].copy_from_slice(w.as_slice());
    }
}

fn diagonal_block(ldl: &BlockLdl, node: usize) -> usize {
    ldl.at(ldl.block(node, node).expect("every node has a diagonal block"))
}

/// Elimination with diagonal pivoting on a copy of a diagonal block: keeps the rows whose pivots stand.
fn choose_rows(a: &mut [f64], n: usize, diagonal: &[f64], tolerance: f64, kept: &mut [bool]) {
    kept.fill(false);
    for _ in 0..n {
        let relative = |i: usize| a[i * n + i] / diagonal[i];
        let mut best = None;
        for i in (0..n).filter(|&i| !kept[i] && diagonal[i] > 0.0) {
            if relative(i) > best.map_or(tolerance, relative) {
                best = Some(i);
            }
        }
        let Some(p) = best else { return };
        kept[p] = true;
        for i in (0..n).filter(|&i| !kept[i]) {
            let factor = a[i * n + p] / a[p * n + p];
            for j in 0..n {
                a[i * n + j] -= factor * a[p * n + j];
            }
        }
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::{Body, BodyKind};
    use nalgebra::{DMatrix, Matrix3};

    /// A triangle of particles; element 1 repeats row 0 of element 0 and adds the sum of its two rows.
    fn redundant() -> (Topology, Vec<f64>) {
        let body = Body { kind: BodyKind::Particle, mass: 2.0, inertia: Matrix3::zeros() };
        let mut topology = Topology { bodies: vec![body; 2], dof: vec![0, 3, 6], ..Topology::default() };
        let bodies = topology.bodies.clone();
        for (bodies_of, rows) in [(&[0, 1][..], 2), (&[1, 0][..], 2), (&[1][..], 1)] {
            topology.constraints.push(&bodies, bodies_of, rows, &[]);
        }
        let (a, b) = ([1.0, 0.0, 2.0, -1.0, 0.5, 0.0], [0.0, 3.0, 1.0, 1.0, 0.0, 0.0]);
        let mut jac = [a, b].concat();
        for row in [a, core::array::from_fn(|k| a[k] + b[k])] {
            jac.extend_from_slice(&row[3..]);
            jac.extend_from_slice(&row[..3]);
        }
        jac.extend([0.0, 0.0, 1.0]);
        (topology, jac)
    }

    #[test]
    fn rank_and_overlap_are_found() {
        let (topology, b) = redundant();
        let mut gram = Gram::new(&topology, &topology.constraints, Weight::InverseMass);
        assert_eq!(gram.factor_ranked(&Inertia::new(&topology), &b), Ok(3));
        assert!(gram.independent[4]);
        for row in 0..5 {
            if gram.independent[row] {
                continue;
            }
            let combination = gram.combination(&Inertia::new(&topology), row, &b);
            assert!(!combination.is_empty() && combination.iter().all(|&(j, c)| j < 4 && c.abs() < 1.5));
        }
    }

    #[test]
    fn multipliers_of_least_norm() {
        let (topology, b) = redundant();
        let mut gram = Gram::new(&topology, &topology.constraints, Weight::InverseMass);
        gram.factor_ranked(&Inertia::new(&topology), &b).expect("finite");
        let mut lam = vec![0.3, -1.0, 2.0, 0.7, 0.1];
        let mut force = vec![0.0; 6];
        rows::add_transposed(&topology.constraints, &topology.dof, &b, &lam, 1.0, &mut force);
        gram.minimum_norm(&Inertia::new(&topology), &b, &mut lam);
        // Dense pseudo-inverse of B^T as the reference.
        let mut transposed = DMatrix::zeros(6, 5);
        for row in 0..5 {
            let mut unit = [0.0; 5];
            unit[row] = 1.0;
            let mut column = vec![0.0; 6];
            rows::add_transposed(&topology.constraints, &topology.dof, &b, &unit, 1.0, &mut column);
            transposed.set_column(row, &nalgebra::DVector::from_vec(column));
        }
        let expected =
            transposed.pseudo_inverse(1e-9).expect("tolerance is positive") * nalgebra::DVector::from_vec(force);
        for (a, b) in lam.iter().zip(expected.iter()) {
            assert!((a - b).abs() < 1e-14, "{a} and {b}");
        }
    }
}
