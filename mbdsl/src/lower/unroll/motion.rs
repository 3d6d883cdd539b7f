//! Motion of the bodies in one step, and small matrices of nodes.

use super::eliminate::dot;
use super::{Unroller, inline::BodyNodes};
use crate::ir::{Bin, Graph, Reg, Un};

pub(super) type Matrix3 = [Reg; 9];
pub(super) type Vector = [Reg; 3];

/// Where a body is led to by `u`.
pub(super) struct Moved {
    pub x: Vector,
    pub r: Matrix3,
    /// The tangent operator at `h u_theta`; unused for particles.
    pub tangent: Matrix3,
}

pub(super) fn identity(g: &mut Graph) -> Matrix3 {
    let (zero, one) = (g.num(0.0), g.num(1.0));
    std::array::from_fn(|k| if k % 4 == 0 { one } else { zero })
}

pub(super) fn skew(g: &mut Graph, [a, b, c]: Vector) -> Matrix3 {
    let zero = g.num(0.0);
    [zero, g.neg(c), b, c, zero, g.neg(a), g.neg(b), a, zero]
}

pub(super) fn product(g: &mut Graph, a: &Matrix3, b: &Matrix3) -> Matrix3 {
    let mut out = *a;
    for i in 0..3 {
        for j in 0..3 {
            out[3 * i + j] = dot(g, &a[3 * i..3 * i + 3], &[b[j], b[3 + j], b[6 + j]]);
        }
    }
    out
}

pub(super) fn apply(g: &mut Graph, a: &Matrix3, v: &Vector) -> Vector {
    [0, 3, 6].map(|i| dot(g, &a[i..i + 3], v))
}

pub(super) fn cross(g: &mut Graph, a: &Vector, b: &Vector) -> Vector {
    [(1, 2), (2, 0), (0, 1)].map(|(i, j)| {
        let (p, q) = (g.mul(a[i], b[j]), g.mul(a[j], b[i]));
        g.sub(p, q)
    })
}

pub(super) fn zip<const N: usize>(g: &mut Graph, f: Bin, a: &[Reg; N], b: &[Reg; N]) -> [Reg; N] {
    std::array::from_fn(|k| g.bin(f, a[k], b[k]))
}

pub(super) fn scaled<const N: usize>(g: &mut Graph, factor: Reg, a: &[Reg; N]) -> [Reg; N] {
    a.map(|x| g.mul(factor, x))
}

/// Inverse of a symmetric matrix, zeros kept where its pattern has them.
pub(super) fn inverse(g: &mut Graph, a: &Matrix3) -> Matrix3 {
    let mut out = identity(g);
    let zero = g.num(0.0);
    let minor = |g: &mut Graph, i: usize, j: usize| {
        let (r, s, c, d) = ((i + 1) % 3, (i + 2) % 3, (j + 1) % 3, (j + 2) % 3);
        let (p, q) = (g.mul(a[3 * r + c], a[3 * s + d]), g.mul(a[3 * r + d], a[3 * s + c]));
        g.sub(p, q)
    };
    if [1, 2, 3, 5, 6, 7].iter().all(|&k| a[k] == zero) {
        let one = g.num(1.0);
        for k in [0, 4, 8] {
            out[k] = g.div(one, a[k]);
        }
        return out;
    }
    let first: Vector = std::array::from_fn(|j| minor(g, 0, j));
    let det = dot(g, &a[..3], &first);
    for i in 0..3 {
        for j in 0..3 {
            let cofactor = minor(g, j, i);
            out[3 * i + j] = g.div(cofactor, det);
        }
    }
    out
}

impl Unroller<'_> {
    /// `x1 = x0 + h u_x`, `R1 = R0 exp(h u_theta)` by increments, and `T(h u_theta)`.
    pub(super) fn moved(&mut self, body: usize, h: Reg, u: &[Reg]) -> Moved {
        let before = self.before[body];
        let is_rigid = self.bodies[body].is_rigid;
        let g = &mut self.g;
        let x = std::array::from_fn(|k| {
            let step = g.mul(h, u[k]);
            g.add(before[k], step)
        });
        let r: Matrix3 = before[3..12].try_into().expect("nine numbers");
        if !is_rigid {
            return Moved { x, r, tangent: identity(g) };
        }
        let theta: Vector = std::array::from_fn(|k| g.mul(h, u[3 + k]));
        let s = dot(g, &theta, &theta);
        let (c2, c3) = (g.un(Un::Stumpff(2), s), g.un(Un::Stumpff(3), s));
        // sin t / t = 1 - t^2 c_3.
        let (one, rest) = (g.num(1.0), g.mul(s, c3));
        let c1 = g.sub(one, rest);
        let first = skew(g, theta);
        let second = skew_squared(g, &theta);
        let (sine, cosine) = (scaled(g, c1, &first), scaled(g, c2, &second));
        let increment = zip(g, Bin::Add, &sine, &cosine);
        let turned = product(g, &r, &increment);
        let r = zip(g, Bin::Add, &r, &turned);
        let (half, cubic) = (scaled(g, c2, &first), scaled(g, c3, &second));
        let difference = zip(g, Bin::Sub, &cubic, &half);
        let unit = identity(g);
        let tangent = zip(g, Bin::Add, &unit, &difference);
        Moved { x, r, tangent }
    }

    /// The states at the end of the step, then `(V1 - V0)/h`.
    pub(super) fn advance(&mut self, is_stabilised: bool) -> Vec<Reg> {
        let nv = self.nv;
        let h = self.iterate(0);
        let one = self.g.num(1.0);
        let rate = self.g.div(one, h);
        let u: Vec<Reg> = (0..nv).map(|k| self.iterate(1 + k)).collect();
        let v = if is_stabilised { (0..nv).map(|k| self.iterate(1 + nv + k)).collect() } else { u.clone() };
        let mut out = Vec::new();
        let mut acceleration = Vec::new();
        for body in 0..self.bodies.len() {
            let (dof, dim) = (self.bodies[body].dof, self.bodies[body].dim());
            let Moved { x, r, .. } = self.moved(body, h, &u[dof..dof + dim]);
            let state = after(&mut self.g, &x, &r, &v[dof..dof + dim]);
            out.extend(state);
            for k in 0..dim {
                let change = self.g.sub(state[12 + k], self.before[body][12 + k]);
                acceleration.push(self.g.mul(change, rate));
            }
        }
        out.extend(acceleration);
        out
    }
}

/// The numbers of a body from its position and velocities.
pub(super) fn after(g: &mut Graph, x: &Vector, r: &Matrix3, v: &[Reg]) -> BodyNodes {
    let zero = g.num(0.0);
    std::array::from_fn(|k| match k {
        0..3 => x[k],
        3..12 => r[k - 3],
        _ => v.get(k - 12).copied().unwrap_or(zero),
    })
}

/// `skew(a)^2 = a a^T - |a|^2 I`, entry by entry without cancellation.
fn skew_squared(g: &mut Graph, a: &Vector) -> Matrix3 {
    let square = a.map(|x| g.mul(x, x));
    let (xy, xz, yz) = (g.mul(a[0], a[1]), g.mul(a[0], a[2]), g.mul(a[1], a[2]));
    let mut diagonal = |i: usize, j: usize| {
        let sum = g.add(square[i], square[j]);
        g.neg(sum)
    };
    let (xx, yy, zz) = (diagonal(1, 2), diagonal(0, 2), diagonal(0, 1));
    [xx, xy, xz, xy, yy, yz, xz, yz, zz]
}
