//! Products of block Jacobians `B` with vectors, element by element.

use crate::topology::{Element, ElementSet};

/// `out = B V`: `b` holds the blocks of `set`, `v` has `nv` numbers, `out` one per row.
pub fn apply(set: &ElementSet, dof: &[usize], b: &[f64], v: &[f64], out: &mut [f64]) {
    for e in &set.elements {
        let out = &mut out[e.row..e.row + e.rows];
        out.fill(0.0);
        let mut at = e.jac;
        for &body in set.bodies(e) {
            let v = &v[dof[body as usize]..dof[body as usize + 1]];
            match v.len() {
                3 => add_product::<3>(&b[at..], e.dim, v, out),
                _ => add_product::<6>(&b[at..], e.dim, v, out),
            }
            at += v.len();
        }
    }
}

/// `out += B V` for the columns of a body with `N` velocities; rows of `b` are `stride` apart.
#[inline(always)]
fn add_product<const N: usize>(b: &[f64], stride: usize, v: &[f64], out: &mut [f64]) {
    let v: &[f64; N] = v.first_chunk().expect("a body has 3 or 6 velocities");
    for (k, out) in out.iter_mut().enumerate() {
        let row = columns::<N>(b, stride, k);
        *out = (0..N).fold(*out, |sum, j| sum + row[j] * v[j]);
    }
}

/// `out += factor B^T lam`: `lam` has one number per row, `out` has `nv` numbers.
pub fn add_transposed(set: &ElementSet, dof: &[usize], b: &[f64], lam: &[f64], factor: f64, out: &mut [f64]) {
    for e in &set.elements {
        let lam = &lam[e.row..e.row + e.rows];
        let mut at = e.jac;
        for &body in set.bodies(e) {
            let out = &mut out[dof[body as usize]..dof[body as usize + 1]];
            match out.len() {
                3 => add_transposed_product::<3>(&b[at..], e.dim, lam, factor, out),
                _ => add_transposed_product::<6>(&b[at..], e.dim, lam, factor, out),
            }
            at += out.len();
        }
    }
}

/// `out += factor B^T lam` for the columns of a body with `N` velocities; rows of `b` are `stride` apart.
#[inline(always)]
fn add_transposed_product<const N: usize>(b: &[f64], stride: usize, lam: &[f64], factor: f64, out: &mut [f64]) {
    let out: &mut [f64; N] = out.first_chunk_mut().expect("a body has 3 or 6 velocities");
    let mut sum = *out;
    for (k, lam) in lam.iter().enumerate() {
        let (row, scaled) = (columns::<N>(b, stride, k), factor * lam);
        for j in 0..N {
            sum[j] += row[j] * scaled;
        }
    }
    *out = sum;
}

/// The first `N` columns of row `k`.
#[inline(always)]
fn columns<const N: usize>(b: &[f64], stride: usize, k: usize) -> &[f64; N] {
    b[k * stride..].first_chunk().expect("a slot has as many columns as its body velocities")
}

/// Rows of the block of one element. Elements without rows or without slots give none.
pub(crate) fn rows<'a>(e: &Element, b: &'a [f64]) -> impl Iterator<Item = &'a [f64]> {
    b[e.jac..e.jac + e.rows * e.dim].chunks_exact(e.dim.max(1))
}

/// Per row the size below which its value is rounding error of positions: `eps (|B_x| |x| + |B_theta|)`, summed over
/// the slots, with `|x|` the largest coordinate of the body. Same unit as `Phi`.
pub fn position_roundoff(set: &ElementSet, dof: &[usize], b: &[f64], z: &[f64], out: &mut [f64]) {
    roundoff(set, dof, b, out, |body, axis| if axis < 3 { amax(&z[body * crate::state::STRIDE..][..3]) } else { 1.0 });
}

/// The same for `B V`: `eps (|B| |V|)`, with the largest component of `v` and `Omega` of the body.
pub fn velocity_roundoff(set: &ElementSet, dof: &[usize], b: &[f64], v: &[f64], out: &mut [f64]) {
    roundoff(set, dof, b, out, |body, axis| {
        let v = &v[dof[body]..dof[body + 1]];
        if axis < 3 { amax(&v[..3]) } else { amax(&v[3..]) }
    });
}

fn roundoff(set: &ElementSet, dof: &[usize], b: &[f64], out: &mut [f64], scale: impl Fn(usize, usize) -> f64) {
    for e in &set.elements {
        for (row, out) in rows(e, b).zip(&mut out[e.row..e.row + e.rows]) {
            let mut sum = 0.0;
            let mut rest = row;
            for &body in set.bodies(e) {
                let body = body as usize;
                let (here, after) = rest.split_at(dof[body + 1] - dof[body]);
                rest = after;
                for (axis, b) in here.iter().enumerate() {
                    sum += b.abs() * scale(body, axis);
                }
            }
            *out = f64::EPSILON * sum;
        }
    }
}

/// Largest absolute component.
pub(crate) fn amax(a: &[f64]) -> f64 {
    a.iter().fold(0.0, |m: f64, x| m.max(x.abs()))
}
