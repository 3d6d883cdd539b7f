//! What derivatives are made of: the few operations on them that differ between Jacobians and rates, and the tangents of
//! the exponential and the logarithm.

use super::{Rate, Wrt};
use crate::symbolic::pool::{BodyRef, ExprId, ExprPool, Fun, Node, Quantity, Ty};

/// What a derivative is taken by, which decides what it is made of.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum By {
    /// A change of the state: gradients and Jacobians.
    Tangent(Wrt),
    /// Time: rates.
    Rate(Rate),
}

/// The derivative of what does not change.
pub(super) fn zero(pool: &mut ExprPool, e: ExprId, by: By) -> ExprId {
    let scalar = matches!(pool.ty(e), Ty::Scalar | Ty::Bool);
    match (by, scalar) {
        (By::Tangent(_), true) | (By::Rate(_), false) => pool.zero(Ty::Vec3),
        (By::Tangent(_), false) => pool.zero(Ty::Mat3),
        (By::Rate(_), true) => pool.zero(Ty::Scalar),
    }
}

/// The derivative of a state that changes.
pub(super) fn state(pool: &mut ExprPool, what: Quantity, body: BodyRef, by: By) -> ExprId {
    match (by, what) {
        (By::Tangent(_), _) => pool.identity(),
        (By::Rate(_), Quantity::X) => pool.state(Quantity::V, body),
        (By::Rate(_), Quantity::R) => pool.state(Quantity::Omega, body),
        (By::Rate(_), Quantity::V | Quantity::Omega) => pool.zero(Ty::Vec3),
    }
}

/// `a x d` of the derivative `d` of a vector.
pub(super) fn cross(pool: &mut ExprPool, a: ExprId, d: ExprId, by: By) -> ExprId {
    match by {
        By::Tangent(_) => {
            let s = pool.skew(a);
            pool.mat_mul(s, d)
        }
        By::Rate(_) => pool.cross(a, d),
    }
}

/// `d x a` of the derivative `d` of a vector.
pub(super) fn turn(pool: &mut ExprPool, d: ExprId, a: ExprId, by: By) -> ExprId {
    match by {
        By::Tangent(_) => {
            let p = cross(pool, a, d, by);
            pool.neg(p)
        }
        By::Rate(_) => pool.cross(d, a),
    }
}

/// `a d` of the derivative `d` of a scalar.
pub(super) fn spread(pool: &mut ExprPool, a: ExprId, d: ExprId, by: By) -> ExprId {
    match by {
        By::Tangent(_) => pool.outer(a, d),
        By::Rate(_) => pool.scale(d, a),
    }
}

/// `d / s`
pub(super) fn over(pool: &mut ExprPool, d: ExprId, s: ExprId) -> ExprId {
    if pool.ty(d) == Ty::Scalar || pool.is_zero(d) {
        return if pool.is_zero(d) { d } else { pool.div(d, s) };
    }
    match *pool.node(d) {
        Node::Neg(b) => {
            let p = over(pool, b, s);
            pool.neg(p)
        }
        Node::Scale(r, b) => {
            let p = pool.div(r, s);
            pool.scale(p, b)
        }
        _ => {
            let one = pool.num(1.0);
            let p = pool.div(one, s);
            pool.scale(p, d)
        }
    }
}

/// `a / |a|`; literals are worked out.
pub(super) fn normalised(pool: &mut ExprPool, a: ExprId) -> ExprId {
    let literal = [0, 1, 2].map(|k| {
        let c = pool.comp(a, k);
        pool.literal(c)
    });
    if let [Some(x), Some(y), Some(z)] = literal {
        let length = (x * x + y * y + z * z).sqrt();
        let e = [x, y, z].map(|c| pool.num(c / length));
        return pool.vec(e[0], e[1], e[2]);
    }
    let length = pool.norm(a);
    over(pool, a, length)
}

/// `T(w) = I - c_2 skew(w) + c_3 skew(w)^2`: `d exp(w) = exp(w) skew(T(w) dw)`.
pub(super) fn exp_tangent(pool: &mut ExprPool, w: ExprId) -> ExprId {
    let square = pool.dot(w, w);
    let (c2, c3) = (pool.fun(Fun::Stumpff(2), square), pool.fun(Fun::Stumpff(3), square));
    let (identity, k) = (pool.identity(), pool.skew(w));
    let kk = pool.mat_mul(k, k);
    let (p, q) = (pool.scale(c2, k), pool.scale(c3, kk));
    let p = pool.sub(identity, p);
    pool.add(p, q)
}

/// `T(w)^-1 = I + skew(w) / 2 + g skew(w)^2` with `g = (1 - (t/2) cot(t/2)) / t^2`, `t = |w|`.
pub(super) fn log_tangent(pool: &mut ExprPool, w: ExprId) -> ExprId {
    let square = pool.dot(w, w);
    let g = pool.fun(Fun::LogCoefficient(0), square);
    let (identity, k, half) = (pool.identity(), pool.skew(w), pool.num(0.5));
    let kk = pool.mat_mul(k, k);
    let (p, q) = (pool.scale(half, k), pool.scale(g, kk));
    let p = pool.add(identity, p);
    pool.add(p, q)
}
