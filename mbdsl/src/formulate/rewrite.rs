//! Expressions of the model into the form that is differentiated: no rotations of particles, reductions written out.

use rustc_hash::FxHashMap;

use crate::model::{Body, BodyKind};
use crate::source::Span;
use crate::symbolic::walk::{operands, reachable};
use crate::symbolic::{ExprId, ExprPool, Fun2, Instance, Node, Quantity, Reduction, Ty};

use super::error::{FormulateError, UNROLLED};

/// Rewrites expressions and collects what cannot be rewritten.
pub(super) struct Preparation<'a> {
    bodies: &'a [Body],
    span: Span,
    unrolled: FxHashMap<ExprId, ExprId>,
    observed: FxHashMap<ExprId, ExprId>,
    errors: Vec<FormulateError>,
}

impl<'a> Preparation<'a> {
    pub(super) fn new(bodies: &'a [Body]) -> Self {
        Self {
            bodies,
            span: Span::default(),
            unrolled: FxHashMap::default(),
            observed: FxHashMap::default(),
            errors: Vec::new(),
        }
    }

    /// Says which statement the next expressions belong to.
    pub(super) fn at(&mut self, span: Span) {
        self.span = span;
    }

    /// For equations of motion: reductions written out.
    pub(super) fn unrolled(&mut self, pool: &mut ExprPool, e: ExprId) -> ExprId {
        let (bodies, span, errors) = (self.bodies, self.span, &mut self.errors);
        rewrite(pool, e, &mut self.unrolled, &mut |pool, e| {
            let e = without_particle_rotation(pool, bodies, e);
            unroll(pool, e).unwrap_or_else(|problem| {
                let error = match problem {
                    Problem::Long(terms) => FormulateError::LongReduction { terms, span },
                    Problem::Open => FormulateError::OpenReduction { span },
                    Problem::Empty => FormulateError::EmptyReduction { span },
                };
                if !errors.contains(&error) {
                    errors.push(error);
                }
                pool.num(0.0)
            })
        })
    }

    /// For outputs and checks: reductions are kept.
    pub(super) fn observed(&mut self, pool: &mut ExprPool, e: ExprId) -> ExprId {
        let bodies = self.bodies;
        rewrite(pool, e, &mut self.observed, &mut |pool, e| without_particle_rotation(pool, bodies, e))
    }

    /// The problems.
    pub(super) fn finish(self) -> Vec<FormulateError> {
        self.errors
    }
}

/// A particle has no attitude: its rotation is the identity and it does not turn.
fn without_particle_rotation(pool: &mut ExprPool, bodies: &[Body], e: ExprId) -> ExprId {
    let Node::State(what, body) = *pool.node(e) else { return e };
    match (bodies[pool.body(body).decl as usize].kind, what) {
        (BodyKind::Particle, Quantity::R) => pool.identity(),
        (BodyKind::Particle, Quantity::Omega) => pool.zero(Ty::Vec3),
        (BodyKind::Particle, Quantity::X | Quantity::V) | (BodyKind::Rigid, _) => e,
    }
}

/// Why a reduction is not written out.
enum Problem {
    Long(i64),
    Open,
    Empty,
}

fn unroll(pool: &mut ExprPool, e: ExprId) -> Result<ExprId, Problem> {
    let Node::Reduce { how, index, lo, hi, body } = *pool.node(e) else { return Ok(e) };
    let (Some(lo), Some(hi)) = (pool.literal(lo), pool.literal(hi)) else { return Err(Problem::Open) };
    // Bounds are integers of the language's 32-bit index range, which a double holds exactly.
    let (lo, hi) = (lo as i64, hi as i64);
    if hi - lo > UNROLLED {
        return Err(Problem::Long(hi - lo));
    }
    let mut sum = None;
    for i in lo..hi {
        let value = pool.num(i as f64);
        let term = substitute_index(pool, body, index, value);
        sum = Some(match (sum, how) {
            (None, _) => term,
            (Some(s), Reduction::Sum | Reduction::Mean) => pool.add(s, term),
            (Some(s), Reduction::Min) => pool.fun2(Fun2::Min, s, term),
            (Some(s), Reduction::Max) => pool.fun2(Fun2::Max, s, term),
        });
    }
    match (sum, how) {
        (None, Reduction::Sum) => Ok(pool.num(0.0)),
        (None, Reduction::Min | Reduction::Max | Reduction::Mean) => Err(Problem::Empty),
        (Some(s), Reduction::Mean) => {
            let n = pool.num((hi - lo) as f64);
            Ok(pool.div(s, n))
        }
        (Some(s), Reduction::Sum | Reduction::Min | Reduction::Max) => Ok(s),
    }
}

/// Puts a value in the place of an index variable.
fn substitute_index(pool: &mut ExprPool, e: ExprId, index: u32, value: ExprId) -> ExprId {
    rewrite(pool, e, &mut FxHashMap::default(), &mut |pool, e| {
        if *pool.node(e) == Node::Index(index) { value } else { e }
    })
}

/// Rebuilds an expression from its leaves; `rule` replaces each node after its operands have been rebuilt.
pub(super) fn rewrite(
    pool: &mut ExprPool,
    root: ExprId,
    memo: &mut FxHashMap<ExprId, ExprId>,
    rule: &mut dyn FnMut(&mut ExprPool, ExprId) -> ExprId,
) -> ExprId {
    // Operands have smaller ids than what uses them, so that this order is from the leaves up.
    for e in reachable(pool, &[root], |_| true) {
        if memo.contains_key(&e) {
            continue;
        }
        let node = pool.node(e).clone();
        let built = match node {
            Node::State(what, body) => {
                let (decl, indices) = {
                    let instance = pool.body(body).clone();
                    rewrite_indices(pool, instance, memo, rule)
                };
                let body = pool.body_ref(decl, indices);
                pool.state(what, body)
            }
            Node::Memory(element, site) => {
                let (decl, indices) = {
                    let instance = pool.element(element).clone();
                    rewrite_indices(pool, instance, memo, rule)
                };
                let element = pool.element_ref(decl, indices);
                pool.memory(element, site)
            }
            Node::Lambda(element, group, ty) => {
                let (decl, indices) = {
                    let instance = pool.element(element).clone();
                    rewrite_indices(pool, instance, memo, rule)
                };
                let element = pool.element_ref(decl, indices);
                pool.lambda(element, group, ty)
            }
            _ => {
                let old: Vec<_> = operands(&node).collect();
                let new: Vec<_> = old.iter().map(|a| memo[a]).collect();
                if new == old { e } else { rebuild(pool, e, &node, &new) }
            }
        };
        let out = rule(pool, built);
        memo.insert(e, out);
    }
    memo[&root]
}

/// The indices of what a node refers to; they are not among its operands.
fn rewrite_indices(
    pool: &mut ExprPool,
    instance: Instance,
    memo: &mut FxHashMap<ExprId, ExprId>,
    rule: &mut dyn FnMut(&mut ExprPool, ExprId) -> ExprId,
) -> (u32, Vec<ExprId>) {
    let indices = instance.indices.into_iter().map(|i| rewrite(pool, i, memo, rule)).collect();
    (instance.decl, indices)
}

/// The node with other operands.
fn rebuild(pool: &mut ExprPool, e: ExprId, node: &Node, a: &[ExprId]) -> ExprId {
    match *node {
        Node::Num(_)
        | Node::Truth(_)
        | Node::Param(_)
        | Node::Const(_)
        | Node::Input(_)
        | Node::Index(_)
        | Node::Time
        | Node::State(..)
        | Node::Memory(..)
        | Node::Lambda(..)
        | Node::Symbol(..)
        | Node::Global(_)
        | Node::Identity
        | Node::ZeroVec
        | Node::ZeroMat => e,
        Node::Start(_) => pool.start(a[0]),
        Node::At(..) => pool.at(a[0], a[1]),
        Node::Final(_) => pool.final_value(a[0]),
        Node::Reduce { how, index, .. } => pool.reduce(how, index, a[0], a[1], a[2]),
        Node::Neg(_) => pool.neg(a[0]),
        Node::Add(..) => pool.add(a[0], a[1]),
        Node::Sub(..) => pool.sub(a[0], a[1]),
        Node::Mul(..) => pool.mul(a[0], a[1]),
        Node::Div(..) => pool.div(a[0], a[1]),
        Node::Scale(..) => pool.scale(a[0], a[1]),
        Node::PowInt(_, n) => pool.pow_int(a[0], n),
        Node::Fun(f, _) => pool.fun(f, a[0]),
        Node::Fun2(f, ..) => pool.fun2(f, a[0], a[1]),
        Node::Cmp(c, ..) => pool.cmp(c, a[0], a[1]),
        Node::And(..) => pool.and(a[0], a[1]),
        Node::Or(..) => pool.or(a[0], a[1]),
        Node::Not(_) => pool.not(a[0]),
        Node::Select(..) => pool.select(a[0], a[1], a[2]),
        Node::Vec(..) => pool.vec(a[0], a[1], a[2]),
        Node::Comp(_, k) => pool.comp(a[0], k),
        Node::Dot(..) => pool.dot(a[0], a[1]),
        Node::Cross(..) => pool.cross(a[0], a[1]),
        Node::MatVec(..) => pool.mat_vec(a[0], a[1]),
        Node::MatMul(..) => pool.mat_mul(a[0], a[1]),
        Node::Transpose(_) => pool.transpose(a[0]),
        Node::Skew(_) => pool.skew(a[0]),
        Node::Outer(..) => pool.outer(a[0], a[1]),
        Node::Diag(_) => pool.diag(a[0]),
        Node::Rows(..) => pool.rows(a[0], a[1], a[2]),
        Node::Row(_, k) => pool.row(a[0], k),
        Node::About(..) => pool.about(a[0], a[1]),
        Node::ExpSo3(_) => pool.exp_so3(a[0]),
        Node::LogSo3(_) => pool.log_so3(a[0]),
        Node::Perp1(_) => pool.perp1(a[0]),
        Node::Perp2(_) => pool.perp2(a[0]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{IndexSet, Placement};

    fn particle(pool: &mut ExprPool) -> Body {
        let zero = pool.num(0.0);
        Body {
            name: "bead".to_owned(),
            docs: Vec::new(),
            kind: BodyKind::Particle,
            set: IndexSet::single(),
            first: 0,
            mass: zero,
            com: zero,
            inertia: zero,
            placement: Placement::default(),
            span: Span::default(),
            inertia_span: Span::default(),
        }
    }

    /// `bead[i].x . bead[i].x`
    fn square(pool: &mut ExprPool, i: ExprId) -> ExprId {
        let body = pool.body_ref(0, vec![i]);
        let x = pool.state(Quantity::X, body);
        pool.dot(x, x)
    }

    /// The sum of squares over `0..hi`, prepared for equations of motion.
    fn prepared(pool: &mut ExprPool, hi: ExprId) -> (ExprId, Vec<FormulateError>) {
        let i = pool.index(0);
        let (lo, term) = (pool.num(0.0), square(pool, i));
        let sum = pool.reduce(Reduction::Sum, 0, lo, hi, term);
        let bodies = [particle(pool)];
        let mut prepare = Preparation::new(&bodies);
        let out = prepare.unrolled(pool, sum);
        (out, prepare.finish())
    }

    #[test]
    fn short_reductions_are_written_out() {
        let mut pool = ExprPool::new();
        let [zero, one, two] = [0.0, 1.0, 2.0].map(|x| pool.num(x));
        let (first, second) = (square(&mut pool, zero), square(&mut pool, one));
        let expected = pool.add(first, second);
        assert_eq!(prepared(&mut pool, two), (expected, Vec::new()));
    }

    #[test]
    fn long_and_open_reductions_are_refused() {
        let mut pool = ExprPool::new();
        let (long, open) = (pool.num(65.0), pool.index(1));
        let span = Span::default();
        assert_eq!(prepared(&mut pool, long).1, [FormulateError::LongReduction { terms: 65, span }]);
        assert_eq!(prepared(&mut pool, open).1, [FormulateError::OpenReduction { span }]);
    }

    #[test]
    fn particles_do_not_turn() {
        let mut pool = ExprPool::new();
        let body = pool.body_ref(0, Vec::new());
        let [r, x, omega] = [Quantity::R, Quantity::X, Quantity::Omega].map(|q| pool.state(q, body));
        let (turned, swing) = (pool.mat_vec(r, x), pool.cross(omega, x));
        let point_velocity = pool.add(turned, swing);
        let bodies = [particle(&mut pool)];
        assert_eq!(Preparation::new(&bodies).observed(&mut pool, point_velocity), x);
    }
}
