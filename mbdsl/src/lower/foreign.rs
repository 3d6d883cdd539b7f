//! What expressions refer to outside of themselves: what a [`Scope`](super::Scope) has to resolve.

use crate::symbolic::walk::reachable;
use crate::symbolic::{BodyRef, ElementRef, ExprId, ExprPool, Node, Ty};

/// References of a set of expressions, each once, in order of the expressions that make them. Expressions inside of
/// reductions and of recorded values are not looked at: the runtime computes those.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Foreign {
    /// Bodies.
    pub bodies: Vec<BodyRef>,
    /// Continuous angles.
    pub memories: Vec<(ElementRef, u32)>,
    /// Groups of multipliers.
    pub multipliers: Vec<(ElementRef, u32, Ty)>,
    /// Contraction symbols.
    pub symbols: Vec<(u32, Ty)>,
    /// `Reduce` nodes, other than those of constants over short literal ranges, which are written out.
    pub reductions: Vec<ExprId>,
    /// `At` and `Final` nodes.
    pub recorded: Vec<ExprId>,
}

/// Collects the references of expressions.
#[must_use]
pub fn foreign(pool: &ExprPool, roots: &[ExprId]) -> Foreign {
    let mut found = Foreign::default();
    for e in reachable(pool, roots, is_computed) {
        match *pool.node(e) {
            Node::State(_, body) => push(&mut found.bodies, body),
            Node::Memory(element, site) => push(&mut found.memories, (element, site)),
            Node::Lambda(element, group, ty) => push(&mut found.multipliers, (element, group, ty)),
            Node::Symbol(k, ty) => push(&mut found.symbols, (k, ty)),
            Node::At(..) | Node::Final(_) => found.recorded.push(e),
            Node::Reduce { lo, hi, body, .. } => {
                let is_written_out = match (pool.literal(lo), pool.literal(hi)) {
                    (Some(lo), Some(hi)) => is_short(lo, hi) && is_constant(pool, body),
                    (Some(_) | None, _) => false,
                };
                if !is_written_out {
                    found.reductions.push(e);
                }
            }
            _ => {}
        }
    }
    found
}

fn push<T: PartialEq>(list: &mut Vec<T>, item: T) {
    if !list.contains(&item) {
        list.push(item);
    }
}

/// Whether a kernel computes a node from its operands.
pub(super) fn is_computed(node: &Node) -> bool {
    !matches!(node, Node::At(..) | Node::Final(_) | Node::Reduce { .. })
}

/// Whether a range is short enough to be written out; longer ones are reduced by the runtime.
pub(super) fn is_short(lo: f64, hi: f64) -> bool {
    const LONGEST: f64 = 64.0;
    hi - lo <= LONGEST
}

/// Whether a value depends on parameters and index variables only.
pub(super) fn is_constant(pool: &ExprPool, root: ExprId) -> bool {
    let varies = |node: &Node| {
        matches!(
            node,
            Node::State(..)
                | Node::Time
                | Node::Input(_)
                | Node::Memory(..)
                | Node::Lambda(..)
                | Node::Symbol(..)
                | Node::Global(_)
                | Node::Start(_)
                | Node::At(..)
                | Node::Final(_)
        )
    };
    !reachable(pool, &[root], |_| true).iter().any(|&e| varies(pool.node(e)))
}
