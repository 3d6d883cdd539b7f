//! Products of block Jacobians `B` with vectors, element by element.

use crate::topology::{Element, ElementSet};

/// `out = B V`: `b` holds the blocks of `set`, `v` has `nv` numbers, `out` one per row.
pub fn apply(set: &ElementSet, dof: &[usize], b: &[f64], v: &[f64], out: &mut [f64]) {
    for e in &set.elements {
        let out = &mut out[e.row..e.row + e.rows];
        // With constant sizes there are no loops over rows and over the velocities of a body.
        match e.rows {
            3 => apply_one(set, dof, e, b, v, &mut out[..3]),
            5 => apply_one(set, dof, e, b, v, &mut out[..5]),
            _ => apply_one(set, dof, e, b, v, out),
        }
    }
}

#[inline(always)]
fn apply_one(set: &ElementSet, dof: &[usize], e: &Element, b: &[f64], v: &[f64], out: &mut [f64]) {
    out.fill(0.0);
    let mut at = e.jac;
    for &body in set.bodies(e) {
        let v = &v[dof[body as usize]..dof[body as usize + 1]];
        match v.len() {
            6 => add_product(&b[at..], e.dim, &v[..6], out),
            _ => add_product(&b[at..], e.dim, &v[..3], out),
        }
        at += v.len();
    }
}

/// `out += B V` for the columns of one body; rows of `b` are `stride` apart.
#[inline(always)]
fn add_product(b: &[f64], stride: usize, v: &[f64], out: &mut [f64]) {
    for (k, out) in out.iter_mut().enumerate() {
        let row = &b[k * stride..][..v.len()];
        *out = row.iter().zip(v).fold(*out, |sum, (b, v)| sum + b * v);
    }
}

/// `out += factor B^T lam`: `lam` has one number per row, `out` has `nv` numbers.
pub fn add_transposed(set: &ElementSet, dof: &[usize], b: &[f64], lam: &[f64], factor: f64, out: &mut [f64]) {
    for e in &set.elements {
        let lam = &lam[e.row..e.row + e.rows];
        match e.rows {
            3 => add_transposed_one(set, dof, e, b, &lam[..3], factor, out),
            5 => add_transposed_one(set, dof, e, b, &lam[..5], factor, out),
            _ => add_transposed_one(set, dof, e, b, lam, factor, out),
        }
    }
}

#[inline(always)]
fn add_transposed_one(
    set: &ElementSet,
    dof: &[usize],
    e: &Element,
    b: &[f64],
    lam: &[f64],
    factor: f64,
    out: &mut [f64],
) {
    let mut at = e.jac;
    for &body in set.bodies(e) {
        let out = &mut out[dof[body as usize]..dof[body as usize + 1]];
        let dim = out.len();
        match dim {
            6 => add_transposed_product(&b[at..], e.dim, lam, factor, &mut out[..6]),
            _ => add_transposed_product(&b[at..], e.dim, lam, factor, &mut out[..3]),
        }
        at += dim;
    }
}

/// `out += factor B^T lam` for the columns of one body; rows of `b` are `stride` apart.
#[inline(always)]
fn add_transposed_product(b: &[f64], stride: usize, lam: &[f64], factor: f64, out: &mut [f64]) {
    for (k, lam) in lam.iter().enumerate() {
        let (row, scaled) = (&b[k * stride..][..out.len()], factor * lam);
        for (out, b) in out.iter_mut().zip(row) {
            *out += b * scaled;
        }
    }
}

/// `out += factor K d`: `square` holds square blocks of the elements of `set`, `d` and `out` have `nv` numbers.
pub(crate) fn add_square(set: &ElementSet, dof: &[usize], square: &[f64], d: &[f64], factor: f64, out: &mut [f64]) {
    for e in &set.elements {
        for ([row, col], at) in set.parts(e) {
            let [to, from] = [row, col].map(|number| {
                let (body, start) = vector(set, dof, e, number);
                dof[body] + start
            });
            let d = &d[from..from + 3];
            for (out, row) in out[to..to + 3].iter_mut().zip(square[at..at + 9].as_chunks::<3>().0) {
                *out += factor * (row[0] * d[0] + row[1] * d[1] + row[2] * d[2]);
            }
        }
    }
}

/// The body of a vector of the tangent spaces of an element, by its number in a [`Coupling`](crate::topology::Coupling), and where it
/// starts among the velocities of the body.
pub(crate) fn vector(set: &ElementSet, dof: &[usize], e: &Element, number: u32) -> (usize, usize) {
    let mut rest = 3 * number as usize;
    for &body in set.bodies(e) {
        let dim = dof[body as usize + 1] - dof[body as usize];
        if rest < dim {
            return (body as usize, rest);
        }
        rest -= dim;
    }
    unreachable!("a coupling names vectors of its element")
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
