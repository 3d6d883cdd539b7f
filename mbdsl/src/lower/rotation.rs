//! Rotations, rotation vectors and orthonormal triads in scalars.
//!
//! Every formula holds on its whole domain without branches: singular points are inside of the special functions
//! (`Stumpff`, `Atan2Over`) and of choices between well-conditioned forms.

use super::tensor::{Components, cross, dot};
use crate::ir::{Bin, Graph, Reg, Un};

/// `R = a a^T + cos(angle) (I - a a^T) + sin(angle) skew(a)`, `a` the axis divided by its length.
pub(super) fn about(g: &mut Graph, axis: &[Reg], angle: Reg) -> Components {
    let length = length(g, axis);
    let a = [0, 1, 2].map(|i| g.div(axis[i], length));
    let (c, s) = (g.un(Un::Cos, angle), g.un(Un::Sin, angle));
    matrix(|i, j| {
        let aa = g.mul(a[i], a[j]);
        let unit = g.num(if i == j { 1.0 } else { 0.0 });
        let normal = g.sub(unit, aa);
        let turned = g.mul(c, normal);
        let symmetric = g.add(aa, turned);
        add_skew(g, symmetric, s, &a, i, j)
    })
}

/// `R = I + c_1 skew(a) + c_2 skew(a)^2`, `c_k` the Stumpff functions of `|a|^2`.
pub(super) fn exp_so3(g: &mut Graph, a: &[Reg]) -> Components {
    let angle2 = dot(g, a, a);
    let (c1, c2) = (g.un(Un::Stumpff(1), angle2), g.un(Un::Stumpff(2), angle2));
    matrix(|i, j| {
        let symmetric = if i == j {
            let (p, q) = (a[(i + 1) % 3], a[(i + 2) % 3]);
            let (pp, qq) = (g.mul(p, p), g.mul(q, q));
            let sum = g.add(pp, qq);
            let scaled = g.mul(c2, sum);
            let one = g.num(1.0);
            g.sub(one, scaled)
        } else {
            let (i, j) = (i.min(j), i.max(j));
            let aa = g.mul(a[i], a[j]);
            g.mul(c2, aa)
        };
        add_skew(g, symmetric, c1, a, i, j)
    })
}

/// `m + s skew(a)_ij`
fn add_skew(g: &mut Graph, m: Reg, s: Reg, a: &[Reg], i: usize, j: usize) -> Reg {
    if i == j {
        return m;
    }
    let product = g.mul(s, a[3 - i - j]);
    if (i + 1) % 3 == j { g.sub(m, product) } else { g.add(m, product) }
}

/// Rotation vector, of length up to pi: `2 atan2(|v|, w) / |v| v` of a quaternion `(w, v)` of any length with `w >= 0`.
///
/// Of the four multiples of the quaternion that the entries of `R` give (Shepperd, J. Guidance and Control 1978), the one by
/// the largest component is taken.
pub(super) fn log_so3(g: &mut Graph, m: &[Reg]) -> Components {
    let r = |i: usize, j: usize| m[3 * i + j];
    let (upper, one) = (g.add(r(0, 0), r(1, 1)), g.num(1.0));
    let trace = g.add(upper, r(2, 2));
    let difference = [(2, 1), (0, 2), (1, 0)].map(|(i, j)| g.sub(r(i, j), r(j, i)));
    // Candidate by w, then by each component of v: (w, v0, v1, v2).
    let w = g.add(one, trace);
    let mut best = [w, difference[0], difference[1], difference[2]];
    let by_axis = [0, 1, 2].map(|i| {
        let (j, k) = ((i + 1) % 3, (i + 2) % 3);
        let mut v = [one; 3];
        let plus = g.add(one, r(i, i));
        let minus = g.sub(plus, r(j, j));
        v[i] = g.sub(minus, r(k, k));
        v[j] = g.add(r(i, j), r(j, i));
        v[k] = g.add(r(i, k), r(k, i));
        [difference[i], v[0], v[1], v[2]]
    });
    let mut largest = trace;
    for (i, candidate) in by_axis.iter().enumerate() {
        let is_larger = g.bin(Bin::Lt, largest, r(i, i));
        largest = g.bin(Bin::Max, largest, r(i, i));
        best = std::array::from_fn(|n| g.select(is_larger, candidate[n], best[n]));
    }
    // The multiple with w >= 0: the rotation vector of at most half a turn.
    let zero = g.num(0.0);
    let is_negative = g.bin(Bin::Lt, best[0], zero);
    let w = g.un(Un::Abs, best[0]);
    let v = [1, 2, 3].map(|n| {
        let back = g.neg(best[n]);
        g.select(is_negative, back, best[n])
    });
    let length = length(g, &v);
    let factor = g.bin(Bin::Atan2Over, length, w);
    v.iter().map(|&x| g.mul(factor, x)).collect()
}

/// `perp1(a)`: the coordinate axis after that of the largest component of `a`, made orthogonal to `a` and of length one.
pub(super) fn perp1(g: &mut Graph, a: &[Reg]) -> Components {
    let size = [0, 1, 2].map(|i| g.un(Un::Abs, a[i]));
    let at_least = |g: &mut Graph, i: usize, j: usize| g.bin(Bin::Le, size[j], size[i]);
    let (first_second, first_third) = (at_least(g, 0, 1), at_least(g, 0, 2));
    let is_first = g.bin(Bin::And, first_second, first_third);
    let is_second = at_least(g, 1, 2);
    // By the largest component: the values for the first, the second and the third.
    let choose = |g: &mut Graph, values: [Reg; 3]| {
        let rest = g.select(is_second, values[1], values[2]);
        g.select(is_first, values[0], rest)
    };
    let along = choose(g, [a[1], a[2], a[0]]);
    let a2 = dot(g, a, a);
    let ratio = g.div(along, a2);
    let (zero, one) = (g.num(0.0), g.num(1.0));
    let u = [[zero, zero, one], [one, zero, zero], [zero, one, zero]];
    let u = [0, 1, 2].map(|i| {
        let axis = choose(g, u[i]);
        let part = g.mul(a[i], ratio);
        g.sub(axis, part)
    });
    normalised(g, &u)
}

/// `perp2(a) = a x perp1(a) / |a|`
pub(super) fn perp2(g: &mut Graph, a: &[Reg]) -> Components {
    let p = perp1(g, a);
    let q = cross(g, a, &p);
    let length = length(g, a);
    q.iter().map(|&x| g.div(x, length)).collect()
}

fn length(g: &mut Graph, a: &[Reg]) -> Reg {
    let a2 = dot(g, a, a);
    g.un(Un::Sqrt, a2)
}

fn normalised(g: &mut Graph, a: &[Reg]) -> Components {
    let length = length(g, a);
    a.iter().map(|&x| g.div(x, length)).collect()
}

fn matrix(mut entry: impl FnMut(usize, usize) -> Reg) -> Components {
    (0..9).map(|n| entry(n / 3, n % 3)).collect()
}
