//! Walks expressions without recursion: what they are made of and what they depend on.

use rustc_hash::{FxHashMap, FxHashSet};

use super::diff::{Rate, Wrt};
use super::pool::{BodyRef, ExprId, ExprPool, Global, Node, Quantity, Ty};

/// The operands of an operation, in order. Index expressions of bodies and elements are not operands.
pub fn operands(node: &Node) -> impl Iterator<Item = ExprId> + use<> {
    let list = match *node {
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
        | Node::ZeroMat => [None, None, None],
        Node::Start(a)
        | Node::Final(a)
        | Node::Neg(a)
        | Node::PowInt(a, _)
        | Node::Fun(_, a)
        | Node::Not(a)
        | Node::Comp(a, _)
        | Node::Transpose(a)
        | Node::Skew(a)
        | Node::Diag(a)
        | Node::Row(a, _)
        | Node::ExpSo3(a)
        | Node::LogSo3(a)
        | Node::Perp1(a)
        | Node::Perp2(a) => [Some(a), None, None],
        Node::At(a, b)
        | Node::Add(a, b)
        | Node::Sub(a, b)
        | Node::Mul(a, b)
        | Node::Div(a, b)
        | Node::Scale(a, b)
        | Node::Fun2(_, a, b)
        | Node::Cmp(_, a, b)
        | Node::And(a, b)
        | Node::Or(a, b)
        | Node::Dot(a, b)
        | Node::Cross(a, b)
        | Node::MatVec(a, b)
        | Node::MatMul(a, b)
        | Node::Outer(a, b)
        | Node::About(a, b) => [Some(a), Some(b), None],
        Node::Reduce { lo, hi, body, .. } => [Some(lo), Some(hi), Some(body)],
        Node::Select(a, b, c) | Node::Vec(a, b, c) | Node::Rows(a, b, c) => [Some(a), Some(b), Some(c)],
    };
    list.into_iter().flatten()
}

/// Everything that the roots are made of, operands first. `inside` says whether to look into an expression.
#[must_use]
pub fn reachable(pool: &ExprPool, roots: &[ExprId], inside: impl Fn(&Node) -> bool) -> Vec<ExprId> {
    let mut seen: FxHashSet<ExprId> = roots.iter().copied().collect();
    let mut order: Vec<ExprId> = Vec::new();
    let mut stack: Vec<ExprId> = roots.to_vec();
    while let Some(e) = stack.pop() {
        order.push(e);
        if inside(pool.node(e)) {
            stack.extend(operands(pool.node(e)).filter(|&a| seen.insert(a)));
        }
    }
    order.sort_unstable();
    order.dedup();
    order
}

/// The bodies whose state occurs in the roots, by the first expression that names them; values at the start do not
/// count.
#[must_use]
pub fn bodies(pool: &ExprPool, roots: &[ExprId]) -> Vec<BodyRef> {
    let mut found: Vec<BodyRef> = Vec::new();
    for e in reachable(pool, roots, |node| !matches!(node, Node::Start(_))) {
        if let Node::State(_, body) = *pool.node(e)
            && !found.contains(&body)
        {
            found.push(body);
        }
    }
    found
}

/// Whether an expression changes with a velocity.
#[must_use]
pub fn depends_on_velocity(pool: &ExprPool, e: ExprId) -> bool {
    Dependence::default().of(pool, e, On::Velocity)
}

/// Whether an expression changes with time itself, the state being held.
#[must_use]
pub fn depends_on_time(pool: &ExprPool, e: ExprId) -> bool {
    Dependence::default().of(pool, e, On::Time)
}

/// Whether an expression changes with the state of a body, positions or velocities.
#[must_use]
pub fn depends_on_state(pool: &ExprPool, e: ExprId) -> bool {
    Dependence::default().of(pool, e, On::State)
}

/// What an expression may depend on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum On {
    /// One quantity of one body, with a derivative that may differ from zero.
    Wrt(Wrt),
    /// What changes in a rate, with a derivative that may differ from zero.
    Rate(Rate),
    /// Any velocity.
    Velocity,
    /// Time.
    Time,
    /// Any state.
    State,
}

/// Answers about dependence, remembered.
#[derive(Debug, Default)]
pub(super) struct Dependence {
    known: FxHashMap<(ExprId, On), bool>,
}

impl Dependence {
    /// Whether `e` depends on `on`. Linear in the size of `e` over all calls.
    pub(super) fn of(&mut self, pool: &ExprPool, e: ExprId, on: On) -> bool {
        let mut stack = vec![e];
        while let Some(&top) = stack.last() {
            let answer = self.known.get(&(top, on)).copied().or_else(|| leaf(pool, top, on));
            let answer = answer.or_else(|| {
                let mut open = None;
                for a in operands(pool.node(top)) {
                    match self.known.get(&(a, on)) {
                        Some(true) => return Some(true),
                        Some(false) => {}
                        None => open = Some(a),
                    }
                }
                if let Some(a) = open {
                    stack.push(a);
                    return None;
                }
                Some(false)
            });
            if let Some(answer) = answer {
                self.known.insert((top, on), answer);
                stack.pop();
            }
        }
        self.known[&(e, on)]
    }
}

/// The answer where it does not follow from the operands.
fn leaf(pool: &ExprPool, e: ExprId, on: On) -> Option<bool> {
    let derivative = matches!(on, On::Wrt(_) | On::Rate(_));
    match *pool.node(e) {
        Node::State(what, body) => {
            let place = matches!(what, Quantity::X | Quantity::R);
            Some(match on {
                On::Wrt(wrt) => wrt == Wrt { what, body },
                On::Rate(rate) => place && rate != Rate::Explicit,
                On::Velocity => !place,
                On::Time => false,
                On::State => true,
            })
        }
        Node::Time => Some(match on {
            On::Rate(rate) => rate != Rate::Motion,
            On::Time => true,
            On::Wrt(_) | On::Velocity | On::State => false,
        }),
        Node::Global(what) => Some(match on {
            On::Wrt(_) | On::Rate(_) | On::Time => false,
            On::Velocity => what != Global::Potential,
            On::State => true,
        }),
        // Constants of the instance or of the run.
        Node::Start(_) | Node::At(..) | Node::Final(_) => Some(false),
        // A truth value or a triad jumps or stands still.
        Node::Perp1(_) | Node::Perp2(_) if derivative => Some(false),
        _ if derivative && pool.ty(e) == Ty::Bool => Some(false),
        _ => None,
    }
}
