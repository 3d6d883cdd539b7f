//! Derivatives of expressions on the group, left-trivialised: `d x = dx`, `d R = R skew(dtheta)`.
//!
//! One table of rules serves gradients, Jacobians and rates. They differ in what a derivative is:
//!
//! | derivative of | by `dx`, `dtheta`, `dv`, `dOmega` | rate |
//! |---|---|---|
//! | scalar | vec3, `df = g . d` | scalar |
//! | vec3 | mat3, `da = J d` | vec3 |
//! | rotation | mat3, `dM = M skew(L d)` | vec3, angular velocity in body axes |
//!
//! Nothing recurses along the depth of an expression, and every derivative is built once.

mod tangent;

use rustc_hash::FxHashMap;

use super::apply::Applied;
use super::pool::{BodyRef, Cmp, ExprId, ExprPool, Fun, Fun2, Node, Quantity, Ty};
use super::walk::{Dependence, On};
use tangent::{By, cross, exp_tangent, log_tangent, normalised, over, spread, state, turn, zero};

pub use super::walk::{bodies, depends_on_state, depends_on_time, depends_on_velocity};

/// What a derivative is taken by.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Wrt {
    /// `X` stands for `dx`, `R` for `dtheta`, `V` for `dv`, `Omega` for `dOmega`.
    pub what: Quantity,
    /// Of which body.
    pub body: BodyRef,
}

/// Which change a rate follows. Velocities are held.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Rate {
    /// Along the motion, time itself frozen: `x' = v`, `R' = R skew(Omega)`.
    Motion,
    /// By time, the state held.
    Explicit,
    /// Both.
    Total,
}

/// Takes derivatives and remembers them.
#[derive(Debug, Default)]
pub struct Differentiator {
    known: FxHashMap<(ExprId, By), ExprId>,
    dependence: Dependence,
    applied: Applied,
}

/// A derivative, or the expression whose derivative is needed first.
type Step = Result<ExprId, ExprId>;

/// What is asked for.
impl Differentiator {
    /// Gradient of a scalar (vec3).
    pub fn grad(&mut self, pool: &mut ExprPool, scalar: ExprId, wrt: Wrt) -> ExprId {
        debug_assert_eq!(pool.ty(scalar), Ty::Scalar);
        self.derive(pool, scalar, By::Tangent(wrt))
    }

    /// Jacobian of a vector (mat3).
    pub fn jac(&mut self, pool: &mut ExprPool, vector: ExprId, wrt: Wrt) -> ExprId {
        debug_assert_eq!(pool.ty(vector), Ty::Vec3);
        self.derive(pool, vector, By::Tangent(wrt))
    }

    /// Jacobian `L` of a rotation `M` (mat3): `dM = M skew(L dtheta)`.
    pub fn rot_jac(&mut self, pool: &mut ExprPool, rotation: ExprId, wrt: Wrt) -> ExprId {
        debug_assert!(pool.ty(rotation).is_matrix());
        self.derive(pool, rotation, By::Tangent(wrt))
    }

    /// Rate of a scalar or vec3, or the angular velocity, in body axes, of a rotation.
    pub fn rate(&mut self, pool: &mut ExprPool, e: ExprId, of: Rate) -> ExprId {
        self.derive(pool, e, By::Rate(of))
    }
}

/// How it is found.
impl Differentiator {
    fn derive(&mut self, pool: &mut ExprPool, e: ExprId, by: By) -> ExprId {
        let mut stack = vec![e];
        let mut last = zero(pool, e, by);
        while let Some(&top) = stack.last() {
            match self.get(pool, top, by).or_else(|top| self.rule(pool, top, by)) {
                Ok(d) => {
                    self.known.insert((top, by), d);
                    last = d;
                    stack.pop();
                }
                Err(needed) => stack.push(needed),
            }
        }
        last
    }

    fn depends(&mut self, pool: &ExprPool, e: ExprId, by: By) -> bool {
        let on = match by {
            By::Tangent(wrt) => On::Wrt(wrt),
            By::Rate(rate) => On::Rate(rate),
        };
        self.dependence.of(pool, e, on)
    }

    /// The derivative if it is known, or known to be zero.
    fn get(&mut self, pool: &mut ExprPool, e: ExprId, by: By) -> Step {
        if let Some(&d) = self.known.get(&(e, by)) {
            return Ok(d);
        }
        if self.depends(pool, e, by) { Err(e) } else { Ok(zero(pool, e, by)) }
    }

    /// The derivative of an expression that depends on what it is taken by.
    fn rule(&mut self, pool: &mut ExprPool, e: ExprId, by: By) -> Step {
        if pool.ty(e).is_matrix() {
            return self.rotation_rule(pool, e, by);
        }
        match *pool.node(e) {
            Node::State(what, body) => Ok(state(pool, what, body, by)),
            Node::Time => Ok(pool.num(1.0)),
            Node::Neg(a) => {
                let da = self.get(pool, a, by)?;
                Ok(pool.neg(da))
            }
            Node::Add(a, b) => {
                let (da, db) = (self.get(pool, a, by)?, self.get(pool, b, by)?);
                Ok(pool.add(da, db))
            }
            Node::Sub(a, b) => {
                let (da, db) = (self.get(pool, a, by)?, self.get(pool, b, by)?);
                Ok(pool.sub(da, db))
            }
            Node::Mul(a, b) => {
                let (da, db) = (self.get(pool, a, by)?, self.get(pool, b, by)?);
                let (p, q) = (pool.scale(b, da), pool.scale(a, db));
                Ok(pool.add(p, q))
            }
            Node::Div(a, b) => {
                // (a / b)' = (a' - (a / b) b') / b
                let (da, db) = (self.get(pool, a, by)?, self.get(pool, b, by)?);
                let p = pool.scale(e, db);
                let p = pool.sub(da, p);
                Ok(over(pool, p, b))
            }
            Node::Scale(s, a) => {
                let (ds, da) = (self.get(pool, s, by)?, self.get(pool, a, by)?);
                let (p, q) = (spread(pool, a, ds, by), pool.scale(s, da));
                Ok(pool.add(p, q))
            }
            Node::PowInt(a, n) => {
                let da = self.get(pool, a, by)?;
                let (n_num, p) = (pool.num(f64::from(n)), pool.pow_int(a, n - 1));
                let f = pool.mul(n_num, p);
                Ok(pool.scale(f, da))
            }
            Node::Fun(f, a) => self.fun_rule(pool, e, f, a, by),
            Node::Fun2(f, a, b) => self.fun2_rule(pool, e, f, (a, b), by),
            Node::Select(c, a, b) => {
                let (da, db) = (self.get(pool, a, by)?, self.get(pool, b, by)?);
                Ok(pool.select(c, da, db))
            }
            Node::Vec(a, b, c) => {
                let (da, db, dc) = (self.get(pool, a, by)?, self.get(pool, b, by)?, self.get(pool, c, by)?);
                Ok(match by {
                    By::Tangent(_) => pool.rows(da, db, dc),
                    By::Rate(_) => pool.vec(da, db, dc),
                })
            }
            Node::Comp(a, k) => {
                let da = self.get(pool, a, by)?;
                Ok(match by {
                    By::Tangent(_) => {
                        let axis = pool.unit(k);
                        self.applied.apply(pool, da, true, axis)
                    }
                    By::Rate(_) => pool.comp(da, k),
                })
            }
            Node::Dot(a, b) if a == b => {
                let da = self.get(pool, a, by)?;
                let (two, p) = (pool.num(2.0), self.contract(pool, a, da, by));
                Ok(pool.scale(two, p))
            }
            Node::Dot(a, b) => {
                let (da, db) = (self.get(pool, a, by)?, self.get(pool, b, by)?);
                let (p, q) = (self.contract(pool, b, da, by), self.contract(pool, a, db, by));
                Ok(pool.add(p, q))
            }
            Node::Cross(a, b) => {
                let (da, db) = (self.get(pool, a, by)?, self.get(pool, b, by)?);
                let (p, q) = (cross(pool, a, db, by), turn(pool, da, b, by));
                Ok(pool.add(p, q))
            }
            Node::MatVec(m, a) => self.mat_vec_rule(pool, e, (m, a), by),
            Node::Row(m, k) => {
                let axis = pool.unit(k);
                let same = self.applied.apply(pool, m, true, axis);
                self.get(pool, same, by)
            }
            Node::LogSo3(m) => {
                let dm = self.get(pool, m, by)?;
                let t = log_tangent(pool, e);
                Ok(self.linear(pool, t, dm, by))
            }
            Node::Reduce { .. } => {
                debug_assert!(false, "reductions over states are unrolled before they are differentiated");
                Ok(zero(pool, e, by))
            }
            // Independent, so that they do not come here, or matrices, which have rules of their own.
            Node::Num(_)
            | Node::Truth(_)
            | Node::Param(_)
            | Node::Const(_)
            | Node::Input(_)
            | Node::Index(_)
            | Node::Memory(..)
            | Node::Lambda(..)
            | Node::Symbol(..)
            | Node::Global(_)
            | Node::Start(_)
            | Node::At(..)
            | Node::Final(_)
            | Node::Cmp(..)
            | Node::And(..)
            | Node::Or(..)
            | Node::Not(_)
            | Node::Perp1(_)
            | Node::Perp2(_)
            | Node::ZeroVec
            | Node::ZeroMat
            | Node::Identity
            | Node::MatMul(..)
            | Node::Transpose(_)
            | Node::Skew(_)
            | Node::Outer(..)
            | Node::Diag(_)
            | Node::Rows(..)
            | Node::About(..)
            | Node::ExpSo3(_) => Ok(zero(pool, e, by)),
        }
    }

    /// `m a` where `m` or `a` changes.
    fn mat_vec_rule(&mut self, pool: &mut ExprPool, e: ExprId, (m, a): (ExprId, ExprId), by: By) -> Step {
        if !self.depends(pool, m, by) {
            let da = self.get(pool, a, by)?;
            return Ok(self.linear(pool, m, da, by));
        }
        let turned = match *pool.node(m) {
            // d(M a) = M (dtheta x a) + M da
            Node::State(..) | Node::About(..) | Node::ExpSo3(_) => {
                let dm = self.get(pool, m, by)?;
                let p = turn(pool, dm, a, by);
                self.linear(pool, m, p, by)
            }
            // d(M^T a) = (M^T a) x dtheta + M^T da
            Node::Transpose(n) if matches!(pool.node(n), Node::State(..) | Node::About(..) | Node::ExpSo3(_)) => {
                let dn = self.get(pool, n, by)?;
                cross(pool, e, dn, by)
            }
            // The same as operations on vectors.
            _ => {
                let same = self.applied.apply(pool, m, false, a);
                debug_assert_ne!(same, e, "a matrix that varies is taken apart");
                return self.get(pool, same, by);
            }
        };
        let da = self.get(pool, a, by)?;
        let moved = self.linear(pool, m, da, by);
        Ok(pool.add(turned, moved))
    }

    /// `L` of `dM = M skew(L d)`.
    fn rotation_rule(&mut self, pool: &mut ExprPool, e: ExprId, by: By) -> Step {
        match *pool.node(e) {
            Node::State(what, body) => Ok(state(pool, what, body, by)),
            Node::MatMul(a, b) if pool.ty(a) == Ty::Rot && pool.ty(b) == Ty::Rot => {
                let (da, db) = (self.get(pool, a, by)?, self.get(pool, b, by)?);
                let bt = pool.transpose(b);
                let p = self.linear(pool, bt, da, by);
                Ok(pool.add(p, db))
            }
            Node::Transpose(a) if pool.ty(a) == Ty::Rot => {
                let da = self.get(pool, a, by)?;
                let p = self.linear(pool, a, da, by);
                Ok(pool.neg(p))
            }
            Node::Select(c, a, b) => {
                let (da, db) = (self.get(pool, a, by)?, self.get(pool, b, by)?);
                Ok(pool.select(c, da, db))
            }
            Node::About(axis, angle) => {
                if self.depends(pool, axis, by) {
                    let length = pool.norm(axis);
                    let s = pool.div(angle, length);
                    let w = pool.scale(s, axis);
                    let same = pool.exp_so3(w);
                    return self.get(pool, same, by);
                }
                let d = self.get(pool, angle, by)?;
                let unit = normalised(pool, axis);
                Ok(spread(pool, unit, d, by))
            }
            Node::ExpSo3(w) => {
                let dw = self.get(pool, w, by)?;
                let t = exp_tangent(pool, w);
                Ok(self.linear(pool, t, dw, by))
            }
            // M^T dM = skew(d) gives d = (1/2) sum_k e_k x M^T d(M e_k), whatever M is made of.
            _ => {
                let mut sum = zero(pool, e, by);
                for k in 0..3 {
                    let axis = pool.unit(k);
                    let column = self.applied.apply(pool, e, false, axis);
                    let dc = self.get(pool, column, by)?;
                    let et = pool.transpose(e);
                    let p = self.linear(pool, et, dc, by);
                    let p = cross(pool, axis, p, by);
                    sum = pool.add(sum, p);
                }
                let half = pool.num(0.5);
                Ok(pool.scale(half, sum))
            }
        }
    }

    fn fun_rule(&mut self, pool: &mut ExprPool, e: ExprId, f: Fun, a: ExprId, by: By) -> Step {
        if let (Fun::Sqrt, &Node::Dot(b, c)) = (f, pool.node(a))
            && b == c
        {
            // |b|' = (b . b') / |b|
            let db = self.get(pool, b, by)?;
            let p = self.contract(pool, b, db, by);
            return Ok(over(pool, p, e));
        }
        let da = self.get(pool, a, by)?;
        let one = pool.num(1.0);
        let slope = match f {
            Fun::Sqrt => {
                let two = pool.num(2.0);
                let p = pool.mul(two, e);
                return Ok(over(pool, da, p));
            }
            Fun::Sin => pool.fun(Fun::Cos, a),
            Fun::Cos => {
                let s = pool.fun(Fun::Sin, a);
                pool.neg(s)
            }
            Fun::Tan => {
                let p = pool.pow_int(e, 2);
                pool.add(one, p)
            }
            Fun::Asin | Fun::Acos => {
                let p = pool.pow_int(a, 2);
                let p = pool.sub(one, p);
                let p = pool.fun(Fun::Sqrt, p);
                let p = over(pool, da, p);
                return Ok(if f == Fun::Asin { p } else { pool.neg(p) });
            }
            Fun::Exp => e,
            Fun::Ln => return Ok(over(pool, da, a)),
            Fun::Abs => pool.fun(Fun::Sign, a),
            Fun::Sign | Fun::Floor => return Ok(zero(pool, e, by)),
            Fun::Stumpff(k) => {
                let (up, next) = (pool.fun(Fun::Stumpff(k + 2), a), pool.fun(Fun::Stumpff(k + 1), a));
                let (k, half) = (pool.num(f64::from(k)), pool.num(0.5));
                let p = pool.mul(k, up);
                let p = pool.sub(p, next);
                pool.mul(half, p)
            }
            Fun::LogCoefficient(n) => pool.fun(Fun::LogCoefficient(n + 1), a),
        };
        Ok(pool.scale(slope, da))
    }

    fn fun2_rule(&mut self, pool: &mut ExprPool, e: ExprId, f: Fun2, (a, b): (ExprId, ExprId), by: By) -> Step {
        let da = self.get(pool, a, by)?;
        match f {
            Fun2::Mod | Fun2::Unwrap => Ok(da),
            Fun2::Min | Fun2::Max => {
                let db = self.get(pool, b, by)?;
                let first = if f == Fun2::Min { pool.cmp(Cmp::Lt, a, b) } else { pool.cmp(Cmp::Lt, b, a) };
                Ok(pool.select(first, da, db))
            }
            Fun2::Atan2 => {
                let db = self.get(pool, b, by)?;
                let (p, q) = (pool.scale(b, da), pool.scale(a, db));
                let p = pool.sub(p, q);
                let (aa, bb) = (pool.pow_int(a, 2), pool.pow_int(b, 2));
                let r = pool.add(bb, aa);
                Ok(over(pool, p, r))
            }
            Fun2::Pow => {
                let mut sum = zero(pool, e, by);
                if self.depends(pool, a, by) {
                    let one = pool.num(1.0);
                    let n = pool.sub(b, one);
                    let p = pool.fun2(Fun2::Pow, a, n);
                    let p = pool.mul(b, p);
                    sum = pool.scale(p, da);
                }
                if self.depends(pool, b, by) {
                    let db = self.get(pool, b, by)?;
                    let l = pool.fun(Fun::Ln, a);
                    let p = pool.mul(e, l);
                    let p = pool.scale(p, db);
                    sum = pool.add(sum, p);
                }
                Ok(sum)
            }
        }
    }

    /// `m d` of the derivative `d` of a vector.
    fn linear(&mut self, pool: &mut ExprPool, m: ExprId, d: ExprId, by: By) -> ExprId {
        match by {
            By::Tangent(_) => pool.mat_mul(m, d),
            By::Rate(_) => self.applied.apply(pool, m, false, d),
        }
    }

    /// `a . d` of the derivative `d` of a vector.
    fn contract(&mut self, pool: &mut ExprPool, a: ExprId, d: ExprId, by: By) -> ExprId {
        match by {
            By::Tangent(_) => self.applied.apply(pool, d, true, a),
            By::Rate(_) => pool.dot(a, d),
        }
    }
}

#[cfg(test)]
mod tests;
