//! Dense kernels on small row-major blocks: what the sparse factorisation spends its time in.

/// `c -= a b` for `a` (`m x k`), `b` (`k x n`), `c` (`m x n`), row-major.
pub(crate) fn mul_sub(c: &mut [f64], a: &[f64], b: &[f64], k: usize, n: usize) {
    // Constant row lengths let the compiler keep a row of c in registers.
    match n {
        1 => mul_sub_fixed::<1>(c, a, b, k),
        2 => mul_sub_fixed::<2>(c, a, b, k),
        3 => mul_sub_fixed::<3>(c, a, b, k),
        5 => mul_sub_fixed::<5>(c, a, b, k),
        6 => mul_sub_fixed::<6>(c, a, b, k),
        10 => mul_sub_fixed::<10>(c, a, b, k),
        12 => mul_sub_fixed::<12>(c, a, b, k),
        _ => {
            for (c, a) in c.chunks_exact_mut(n).zip(a.chunks_exact(k)) {
                for (&x, b) in a.iter().zip(b.chunks_exact(n)) {
                    for (c, &y) in c.iter_mut().zip(b) {
                        *c -= x * y;
                    }
                }
            }
        }
    }
}

fn mul_sub_fixed<const N: usize>(c: &mut [f64], a: &[f64], b: &[f64], k: usize) {
    let (b, _) = b.as_chunks::<N>();
    let (c, _) = c.as_chunks_mut::<N>();
    for (c, a) in c.iter_mut().zip(a.chunks_exact(k)) {
        let mut sum = *c;
        for (&x, b) in a.iter().zip(b) {
            for j in 0..N {
                sum[j] -= x * b[j];
            }
        }
        *c = sum;
    }
}

/// `c = a b` for `a` (`m x k`), `b` (`k x n`), row-major.
pub(super) fn mul(c: &mut [f64], a: &[f64], b: &[f64], k: usize, n: usize) {
    match (k, n) {
        (3, 3) => mul_fixed::<3>(c, a, b, 3),
        (5, 5) => mul_fixed::<5>(c, a, b, 5),
        (_, 1) => mul_fixed::<1>(c, a, b, k),
        (_, 2) => mul_fixed::<2>(c, a, b, k),
        (_, 3) => mul_fixed::<3>(c, a, b, k),
        (_, 4) => mul_fixed::<4>(c, a, b, k),
        (_, 5) => mul_fixed::<5>(c, a, b, k),
        (_, 6) => mul_fixed::<6>(c, a, b, k),
        _ => {
            c.fill(0.0);
            for (c, a) in c.chunks_exact_mut(n).zip(a.chunks_exact(k)) {
                for (&x, b) in a.iter().zip(b.chunks_exact(n)) {
                    for (c, &y) in c.iter_mut().zip(b) {
                        *c += x * y;
                    }
                }
            }
        }
    }
}

#[inline(always)]
fn mul_fixed<const N: usize>(c: &mut [f64], a: &[f64], b: &[f64], k: usize) {
    let (b, _) = b.as_chunks::<N>();
    let (c, _) = c.as_chunks_mut::<N>();
    for (c, a) in c.iter_mut().zip(a.chunks_exact(k)) {
        let mut sum = [0.0; N];
        for (&x, b) in a.iter().zip(b) {
            for j in 0..N {
                sum[j] += x * b[j];
            }
        }
        *c = sum;
    }
}

/// `c -= a^T b` for `a` (`k x m`), `b` (`k x n`), row-major.
pub(super) fn mul_transposed_sub(c: &mut [f64], a: &[f64], b: &[f64], m: usize, n: usize) {
    match m {
        1 => mul_transposed_sub_rows::<1>(c, a, b, n),
        2 => mul_transposed_sub_rows::<2>(c, a, b, n),
        3 => mul_transposed_sub_rows::<3>(c, a, b, n),
        4 => mul_transposed_sub_rows::<4>(c, a, b, n),
        5 => mul_transposed_sub_rows::<5>(c, a, b, n),
        6 => mul_transposed_sub_rows::<6>(c, a, b, n),
        _ => mul_transposed_sub_any(c, a, b, m, n),
    }
}

#[inline(always)]
fn mul_transposed_sub_rows<const M: usize>(c: &mut [f64], a: &[f64], b: &[f64], n: usize) {
    match n {
        // A column is as good as a row.
        1 => mul_transposed_sub_fixed::<1, M>(c, b, a),
        2 => mul_transposed_sub_fixed::<M, 2>(c, a, b),
        3 => mul_transposed_sub_fixed::<M, 3>(c, a, b),
        4 => mul_transposed_sub_fixed::<M, 4>(c, a, b),
        5 => mul_transposed_sub_fixed::<M, 5>(c, a, b),
        6 => mul_transposed_sub_fixed::<M, 6>(c, a, b),
        _ => mul_transposed_sub_any(c, a, b, M, n),
    }
}

fn mul_transposed_sub_any(c: &mut [f64], a: &[f64], b: &[f64], m: usize, n: usize) {
    for (a, b) in a.chunks_exact(m).zip(b.chunks_exact(n)) {
        for (c, x) in c.chunks_exact_mut(n).zip(a) {
            for (c, y) in c.iter_mut().zip(b) {
                *c -= x * y;
            }
        }
    }
}

#[inline(always)]
fn mul_transposed_sub_fixed<const M: usize, const N: usize>(c: &mut [f64], a: &[f64], b: &[f64]) {
    let (a, b) = (a.as_chunks::<M>().0, b.as_chunks::<N>().0);
    let c: &mut [[f64; N]; M] = c.as_chunks_mut().0.first_chunk_mut().expect("as many rows as `a` has columns");
    let mut sum = *c;
    for (a, b) in a.iter().zip(b) {
        for (sum, x) in sum.iter_mut().zip(a) {
            for j in 0..N {
                sum[j] -= x * b[j];
            }
        }
    }
    *c = sum;
}

/// `y -= a x` for `a` (`m x n`), row-major.
pub(crate) fn mul_vec_sub(y: &mut [f64], a: &[f64], x: &[f64]) {
    match x.len() {
        0 => {}
        1 => mul_vec_sub_fixed::<1>(y, a, x),
        2 => mul_vec_sub_fixed::<2>(y, a, x),
        3 => mul_vec_sub_fixed::<3>(y, a, x),
        4 => mul_vec_sub_fixed::<4>(y, a, x),
        5 => mul_vec_sub_fixed::<5>(y, a, x),
        6 => mul_vec_sub_fixed::<6>(y, a, x),
        12 => mul_vec_sub_fixed::<12>(y, a, x),
        n => {
            for (y, a) in y.iter_mut().zip(a.chunks_exact(n)) {
                for (a, x) in a.iter().zip(x) {
                    *y -= a * x;
                }
            }
        }
    }
}

fn mul_vec_sub_fixed<const N: usize>(y: &mut [f64], a: &[f64], x: &[f64]) {
    let (a, _) = a.as_chunks::<N>();
    let Some(x) = x.first_chunk::<N>() else { return };
    for (y, a) in y.iter_mut().zip(a) {
        for j in 0..N {
            *y -= a[j] * x[j];
        }
    }
}

/// LU factors of `a` (`n x n`) in place with partial pivoting; the diagonal of U is stored inverted.
///
/// `pivots[i]` is the row exchanged with row `i`. An infinite pivot makes its unknown zero. Returns the smallest pivot's absolute value, which is 0 or NaN for a
/// singular or non-finite block (the factors are then useless).
pub(crate) fn lu_factor(a: &mut [f64], n: usize, pivots: &mut [u32]) -> f64 {
    // With a constant size the loops are unrolled.
    match n {
        1 => lu_factor_any(a, 1, pivots),
        2 => lu_factor_any(a, 2, pivots),
        3 => lu_factor_any(a, 3, pivots),
        5 => lu_factor_any(a, 5, pivots),
        6 => lu_factor_any(a, 6, pivots),
        _ => lu_factor_any(a, n, pivots),
    }
}

#[inline(always)]
fn lu_factor_any(a: &mut [f64], n: usize, pivots: &mut [u32]) -> f64 {
    let a = &mut a[..n * n];
    let mut smallest = f64::INFINITY;
    for c in 0..n {
        let mut p = c;
        for r in c + 1..n {
            if a[r * n + c].abs() > a[p * n + c].abs() {
                p = r;
            }
        }
        pivots[c] = p as u32;
        if p != c {
            for j in 0..n {
                a.swap(c * n + j, p * n + j);
            }
        }
        let pivot = a[c * n + c];
        if pivot == 0.0 || pivot.is_nan() {
            return pivot.abs();
        }
        smallest = smallest.min(pivot.abs());
        let inverse = 1.0 / pivot;
        a[c * n + c] = inverse;
        let (upper, lower) = a.split_at_mut((c + 1) * n);
        let row = &upper[c * n + c + 1..];
        for r in lower.chunks_exact_mut(n) {
            let factor = r[c] * inverse;
            r[c] = factor;
            if factor != 0.0 {
                for (x, &y) in r[c + 1..].iter_mut().zip(row) {
                    *x -= factor * y;
                }
            }
        }
    }
    smallest
}

/// Solves `A X = B` in place for the factors of [`lu_factor`]; `b` is `n x columns`, row-major.
pub(crate) fn lu_solve(a: &[f64], n: usize, pivots: &[u32], b: &mut [f64], columns: usize) {
    // Small systems without a loop; rows of constant length otherwise.
    match (n, columns) {
        (1, 1) => b[0] *= a[0],
        (2, 1) => lu_solve_small::<2, 1>(a, pivots, b),
        (3, 1) => lu_solve_small::<3, 1>(a, pivots, b),
        (5, 1) => lu_solve_small::<5, 1>(a, pivots, b),
        (6, 1) => lu_solve_small::<6, 1>(a, pivots, b),
        (3, 3) => lu_solve_small::<3, 3>(a, pivots, b),
        (_, 1) => lu_solve_fixed::<1>(a, n, pivots, b),
        (_, 3) => lu_solve_fixed::<3>(a, n, pivots, b),
        (_, 6) => lu_solve_fixed::<6>(a, n, pivots, b),
        (_, 12) => lu_solve_fixed::<12>(a, n, pivots, b),
        _ => lu_solve_any(a, n, pivots, b, columns),
    }
}

/// [`lu_solve`] for constant sizes.
fn lu_solve_small<const N: usize, const COLUMNS: usize>(a: &[f64], pivots: &[u32], b: &mut [f64]) {
    let a = &a.as_chunks::<N>().0[..N];
    let b: &mut [[f64; COLUMNS]; N] = b.as_chunks_mut().0.first_chunk_mut().expect("as many rows as the matrix has");
    for (i, &p) in pivots[..N].iter().enumerate() {
        b.swap(i, p as usize);
    }
    for i in 0..N {
        let mut row = b[i];
        for k in 0..i {
            subtract(&mut row, a[i][k], &b[k]);
        }
        b[i] = row;
    }
    for i in (0..N).rev() {
        let mut row = b[i];
        for k in i + 1..N {
            subtract(&mut row, a[i][k], &b[k]);
        }
        b[i] = row.map(|x| x * a[i][i]);
    }
}

/// `row -= factor other`.
#[inline(always)]
fn subtract<const N: usize>(row: &mut [f64; N], factor: f64, other: &[f64; N]) {
    for (x, y) in row.iter_mut().zip(other) {
        *x -= factor * y;
    }
}

/// [`lu_solve`] with rows of constant length.
fn lu_solve_fixed<const N: usize>(a: &[f64], n: usize, pivots: &[u32], b: &mut [f64]) {
    let (b, _) = b.as_chunks_mut::<N>();
    let b = &mut b[..n];
    for (i, &p) in pivots[..n].iter().enumerate() {
        b.swap(i, p as usize);
    }
    for i in 1..n {
        let (done, rest) = b.split_at_mut(i);
        subtract_rows(&mut rest[0], &a[i * n..i * n + i], done);
    }
    for i in (0..n).rev() {
        let (head, done) = b.split_at_mut(i + 1);
        let row = &mut head[i];
        subtract_rows(row, &a[i * n + i + 1..(i + 1) * n], done);
        for x in row {
            *x *= a[i * n + i];
        }
    }
}

fn subtract_rows<const N: usize>(row: &mut [f64; N], coefficients: &[f64], rows: &[[f64; N]]) {
    for (&x, other) in coefficients.iter().zip(rows) {
        // Blocks of bodies are mostly zero off their two 3 x 3 diagonals.
        if x != 0.0 {
            subtract(row, x, other);
        }
    }
}

fn lu_solve_any(a: &[f64], n: usize, pivots: &[u32], b: &mut [f64], columns: usize) {
    for (i, &p) in pivots[..n].iter().enumerate() {
        let p = p as usize;
        if p != i {
            for j in 0..columns {
                b.swap(i * columns + j, p * columns + j);
            }
        }
    }
    for i in 1..n {
        let (done, rest) = b.split_at_mut(i * columns);
        mul_row(&mut rest[..columns], &a[i * n..i * n + i], done, columns);
    }
    for i in (0..n).rev() {
        let (head, done) = b.split_at_mut((i + 1) * columns);
        let row = &mut head[i * columns..];
        mul_row(row, &a[i * n + i + 1..(i + 1) * n], done, columns);
        let inverse = a[i * n + i];
        for x in row {
            *x *= inverse;
        }
    }
}

/// `row -= sum_k coefficients[k] rows[k]`.
fn mul_row(row: &mut [f64], coefficients: &[f64], rows: &[f64], columns: usize) {
    for (&x, other) in coefficients.iter().zip(rows.chunks_exact(columns)) {
        if x != 0.0 {
            for (c, &y) in row.iter_mut().zip(other) {
                *c -= x * y;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;

    #[test]
    fn solves_with_row_exchange() {
        // First pivot zero: fails without exchange.
        let mut a = [0.0, 2.0, 1.0, 1.0, 1.0, 1.0, 4.0, 0.0, -1.0];
        let x = [1.0, -2.0, 3.0];
        let mut b: Vec<f64> = a.chunks_exact(3).map(|r| r.iter().zip(x).map(|(a, x)| a * x).sum()).collect();
        let mut pivots = [0; 3];
        assert!(lu_factor(&mut a, 3, &mut pivots) > 0.0);
        lu_solve(&a, 3, &pivots, &mut b, 1);
        for (b, x) in b.iter().zip(x) {
            assert!((b - x).abs() < 1e-15);
        }
    }

    #[test]
    fn singular_and_non_finite_blocks_are_reported() {
        let mut pivots = [0; 2];
        assert_eq!(lu_factor(&mut [1.0, 2.0, 2.0, 4.0], 2, &mut pivots), 0.0);
        assert!(lu_factor(&mut [f64::NAN, 2.0, 2.0, 4.0], 2, &mut pivots).is_nan());
    }
}
