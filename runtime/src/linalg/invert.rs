//! Inverses of small blocks, in place.

/// A block, row by row.
pub(super) type Block<const N: usize> = [[f64; N]; N];

/// Sizes that have an inverse written out, by cofactors.
pub(super) trait Invert: Sized {
    /// The inverse, and the reciprocal of its largest entry: the last pivot of an elimination with complete pivoting, zero or NaN if there is
    /// no inverse.
    fn inverse(&self) -> (Self, f64);
}

impl Invert for Block<1> {
    #[inline(always)]
    fn inverse(&self) -> (Self, f64) {
        ([[1.0 / self[0][0]]], self[0][0].abs())
    }
}

impl Invert for Block<2> {
    #[inline(always)]
    fn inverse(&self) -> (Self, f64) {
        let [[a, b], [c, d]] = *self;
        scaled([[d, -b], [-c, a]], a * d - b * c)
    }
}

impl Invert for Block<3> {
    #[inline(always)]
    fn inverse(&self) -> (Self, f64) {
        let [[a, b, c], [d, e, f], [g, h, i]] = *self;
        let adjugate = [
            [e * i - f * h, c * h - b * i, b * f - c * e],
            [f * g - d * i, a * i - c * g, c * d - a * f],
            [d * h - e * g, b * g - a * h, a * e - b * d],
        ];
        scaled(adjugate, a * adjugate[0][0] + b * adjugate[1][0] + c * adjugate[2][0])
    }
}

/// The adjugate over the determinant, and the pivot.
#[inline(always)]
fn scaled<const N: usize>(adjugate: Block<N>, determinant: f64) -> (Block<N>, f64) {
    let largest = adjugate.as_flattened().iter().fold(0.0_f64, |m, x| m.max(x.abs()));
    let inverse = 1.0 / determinant;
    // A determinant of zero from cofactors that are zero gives NaN as well as any other zero.
    let pivot = if determinant == 0.0 { 0.0 } else { (determinant / largest).abs() };
    (adjugate.map(|row| row.map(|x| x * inverse)), pivot)
}

/// The inverse of a symmetric positive definite block of `n` rows, and its smallest pivot, which is zero or NaN if there is no inverse.
pub(super) fn invert(a: &mut [f64], n: usize) -> f64 {
    // With constant sizes the loops are unrolled.
    match n {
        1 => written_out::<1>(a),
        2 => written_out::<2>(a),
        3 => written_out::<3>(a),
        4 => partitioned::<2, 2>(a),
        5 => partitioned::<3, 2>(a),
        6 => partitioned::<3, 3>(a),
        _ => sweep(a, n),
    }
}

#[inline(always)]
fn written_out<const N: usize>(a: &mut [f64]) -> f64
where
    Block<N>: Invert,
{
    let block: &mut Block<N> = a.as_chunks_mut().0.first_chunk_mut().expect("a block has as many rows as columns");
    let (inverse, pivot) = block.inverse();
    *block = inverse;
    pivot
}

/// The same by the inverses of the first `P` rows and columns, and of what they leave of the other `Q`: two divisions instead of one after another
/// for each row. With `X = A^-1 B` and `S = C - B^T X` the inverse has the blocks `A^-1 + X S^-1 X^T`, `-X S^-1`, `S^-1`.
#[inline(always)]
fn partitioned<const P: usize, const Q: usize>(a: &mut [f64]) -> f64
where
    Block<P>: Invert,
    Block<Q>: Invert,
{
    let n = P + Q;
    let head: Block<P> = core::array::from_fn(|i| core::array::from_fn(|j| a[i * n + j]));
    let beside: [[f64; Q]; P] = core::array::from_fn(|i| core::array::from_fn(|j| a[i * n + P + j]));
    let (head, first) = head.inverse();
    if first == 0.0 || first.is_nan() {
        return first;
    }
    let x: [[f64; Q]; P] =
        core::array::from_fn(|i| core::array::from_fn(|j| (0..P).map(|k| head[i][k] * beside[k][j]).sum()));
    let left: Block<Q> = core::array::from_fn(|i| {
        core::array::from_fn(|j| (0..P).fold(a[(P + i) * n + P + j], |sum, k| sum - beside[k][i] * x[k][j]))
    });
    let (tail, second) = left.inverse();
    let y: [[f64; Q]; P] =
        core::array::from_fn(|i| core::array::from_fn(|j| (0..Q).map(|k| x[i][k] * tail[k][j]).sum()));
    for i in 0..P {
        for j in 0..P {
            a[i * n + j] = (0..Q).fold(head[i][j], |sum, k| sum + y[i][k] * x[j][k]);
        }
        for j in 0..Q {
            a[i * n + P + j] = -y[i][j];
            a[(P + j) * n + i] = -y[i][j];
        }
    }
    for i in 0..Q {
        a[(P + i) * n + P..(P + i + 1) * n].copy_from_slice(&tail[i]);
    }
    // `min` would drop what is not a number.
    if first < second { first } else { second }
}

/// The same for any size by Gauss and Jordan's elimination without exchanges; an infinite pivot with zeros beside it makes its row and column zero.
#[inline(always)]
pub(super) fn sweep(a: &mut [f64], n: usize) -> f64 {
    let mut smallest = f64::INFINITY;
    for k in 0..n {
        let pivot = a[k * n + k];
        if pivot == 0.0 || pivot.is_nan() {
            return pivot.abs();
        }
        smallest = smallest.min(pivot.abs());
        let inverse = 1.0 / pivot;
        a[k * n + k] = 1.0;
        for x in &mut a[k * n..(k + 1) * n] {
            *x *= inverse;
        }
        let (before, rest) = a.split_at_mut(k * n);
        let (own, after) = rest.split_at_mut(n);
        for row in before.chunks_exact_mut(n).chain(after.chunks_exact_mut(n)) {
            let factor = row[k];
            row[k] = 0.0;
            for (x, own) in row.iter_mut().zip(&*own) {
                *x -= factor * own;
            }
        }
    }
    smallest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_inverse_of_every_size() {
        for n in 1..=8 {
            // A Hilbert matrix plus the identity.
            let matrix: alloc::vec::Vec<f64> =
                (0..n * n).map(|k| 1.0 / (1 + k / n + k % n) as f64 + f64::from(u8::from(k / n == k % n))).collect();
            let mut inverse = matrix.clone();
            assert!(invert(&mut inverse, n) > 0.9);
            for (i, row) in matrix.chunks(n).enumerate() {
                for j in 0..n {
                    let entry: f64 = row.iter().enumerate().map(|(k, a)| a * inverse[k * n + j]).sum();
                    assert!((entry - f64::from(u8::from(i == j))).abs() < 1e-14, "{n} {i} {j}: {entry}");
                }
            }
        }
    }

    #[test]
    fn no_inverse() {
        for n in 1..=7 {
            assert_eq!(invert(&mut alloc::vec![0.0; n * n], n), 0.0);
            assert!(invert(&mut alloc::vec![f64::NAN; n * n], n).is_nan());
        }
    }
}
