//! The conditions of an index set: on indices, and for pairs of bodies on one distance, below which a pair counts.

use std::rc::Rc;

use super::error::{PairFault, SemaError};
use super::scope::Scope;
use super::sets::DeclSet;
use super::{Checker, R};
use crate::model::Cutoff;
use crate::source::Span;
use crate::symbolic::{BodyRef, ExprId, Node, Quantity as State, constant};
use crate::syntax::ast::{Arg, BinaryOp, Expr, ExprKind};
use crate::units::Dim;

/// What `where` says.
#[derive(Clone, Debug)]
pub(super) struct Filter<'a> {
    /// The condition on indices.
    pub admits: ExprId,
    /// The comparison of a distance, and its truth value.
    pub near: Option<(&'a Expr, ExprId)>,
}

/// `dist(a, b) < r` in parts.
struct Comparison<'a> {
    points: [&'a Expr; 2],
    distance: &'a Expr,
}

impl<'a> Comparison<'a> {
    fn of(expr: &'a Expr) -> Option<Self> {
        let ExprKind::Binary(op, left, right) = &expr.kind else { return None };
        let (near, distance) = match op {
            BinaryOp::Lt | BinaryOp::Le => (left, right),
            BinaryOp::Gt | BinaryOp::Ge => (right, left),
            BinaryOp::Add
            | BinaryOp::Sub
            | BinaryOp::Mul
            | BinaryOp::Div
            | BinaryOp::Rem
            | BinaryOp::Pow
            | BinaryOp::Eq
            | BinaryOp::Ne
            | BinaryOp::And
            | BinaryOp::Or => return None,
        };
        let ExprKind::Call(function, args) = &near.kind else { return None };
        let ExprKind::Name(name) = &function.kind else { return None };
        let points = match (name.as_str(), args.as_slice()) {
            ("dist", [Arg::Positional(a), Arg::Positional(b)]) => [a, b],
            ("norm", [Arg::Positional(Expr { kind: ExprKind::Binary(BinaryOp::Sub, a, b), .. })]) => [&**a, &**b],
            _ => return None,
        };
        Some(Self { points, distance })
    }
}

/// The parts of `a && b && c`.
fn conjuncts<'a>(expr: &'a Expr, out: &mut Vec<&'a Expr>) {
    if let ExprKind::Binary(BinaryOp::And, a, b) = &expr.kind {
        conjuncts(a, out);
        conjuncts(b, out);
    } else {
        out.push(expr);
    }
}

impl<'a> Checker<'a> {
    /// Takes a condition of an index set apart.
    pub(super) fn filter(&mut self, condition: &'a Expr, scope: &Rc<Scope<'a>>) -> R<Filter<'a>> {
        let mut parts = Vec::new();
        conjuncts(condition, &mut parts);
        let mut filter = Filter { admits: self.pool.truth(true), near: None };
        for part in parts {
            let e = self.truth(part, scope)?;
            if constant::value(&self.pool, e, &|_| Some(0.0)).is_some() {
                filter.admits = self.pool.and(filter.admits, e);
            } else if !self.contains(e, |n| matches!(n, Node::State(..))) {
                return self.fail(SemaError::NotConstant { span: part.span, what: "a condition of an index set" });
            } else if let Some((first, _)) = filter.near {
                return self.pair_fault(part.span, PairFault::TwoDistances { first: first.span });
            } else {
                filter.near = Some((part, e));
            }
        }
        Ok(filter)
    }

    /// The cutoff of a set of pairs of `bodies`, from its condition.
    pub(super) fn cutoff(
        &mut self,
        filter: &Filter<'a>,
        bodies: &[BodyRef],
        scope: &Rc<Scope<'a>>,
    ) -> R<Option<Cutoff>> {
        let Some((expr, is_near)) = filter.near else { return Ok(None) };
        let span = expr.span;
        let Some(Comparison { points, distance }) = Comparison::of(expr) else {
            return self.pair_fault(span, PairFault::NoDistance);
        };
        let &[p, q] = bodies else { return self.pair_fault(span, PairFault::NoPair) };
        let mut sides = [None; 2];
        for point in points {
            let value = self.vec3(point, scope)?;
            let value = self.with_dim(value, Dim::LENGTH, "a point", point.span)?;
            match [p, q].iter().position(|&body| self.is_point_of(value.e, body)) {
                Some(k) if sides[k].is_none() => sides[k] = Some(value.e),
                Some(_) | None => return self.pair_fault(point.span, PairFault::OtherPoint),
            }
        }
        let [Some(a), Some(b)] = sides else { return self.pair_fault(span, PairFault::OtherPoint) };
        let value = self.scalar(distance, scope)?;
        let value = self.with_dim(value, Dim::LENGTH, "a distance", distance.span)?;
        self.constant_of_motion(value.e, distance.span, "a distance in `where`")?;
        if self.contains(value.e, |n| matches!(n, Node::Index(_))) {
            return self.pair_fault(distance.span, PairFault::OwnDistance);
        }
        Ok(Some(Cutoff { bodies: [p, q], points: [a, b], distance: value.e, is_near, admits: filter.admits, span }))
    }

    /// Whether a vector follows from position and attitude of one body.
    fn is_point_of(&self, e: ExprId, body: BodyRef) -> bool {
        let is_other = |n: &Node| match n {
            Node::State(what, of) => *of != body || !matches!(what, State::X | State::R),
            n => changes_otherwise(n) || matches!(n, Node::Time | Node::Input(_)),
        };
        self.contains(e, |n| matches!(n, Node::State(..))) && !self.contains(e, is_other)
    }

    /// The energy of a pair: nothing while its points are not near.
    pub(super) fn cut(&mut self, cutoff: &Cutoff, energy: ExprId, span: Span) -> R<ExprId> {
        let is_other = |n: &Node| match n {
            Node::State(_, of) => !cutoff.bodies.contains(of),
            n => changes_otherwise(n),
        };
        if self.contains(energy, is_other) {
            return self.fail(SemaError::PairEnergy { span, condition: cutoff.span });
        }
        let nothing = self.pool.num(0.0);
        Ok(self.pool.select(cutoff.is_near, energy, nothing))
    }

    /// A set whose instances are known before the run.
    pub(super) fn tabulated(&mut self, set: DeclSet) -> R<DeclSet> {
        match &set.cutoff {
            Some(cutoff) => {
                let span = cutoff.span;
                self.pair_fault(span, PairFault::NoPotential)
            }
            None => Ok(set),
        }
    }

    fn pair_fault<T>(&mut self, span: Span, fault: PairFault) -> R<T> {
        self.fail(SemaError::Pairs { span, fault })
    }
}

/// Whether a value follows from more than the state of bodies, the time and inputs.
fn changes_otherwise(node: &Node) -> bool {
    matches!(
        node,
        Node::Memory(..) | Node::Lambda(..) | Node::Global(_) | Node::Start(_) | Node::At(..) | Node::Final(_)
    )
}
