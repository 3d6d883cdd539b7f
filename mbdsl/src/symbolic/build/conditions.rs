//! Comparisons, their connectives, and the choice between two values.

use crate::symbolic::pool::{Cmp, ExprId, ExprPool, Node, Ty};

impl ExprPool {
    /// A comparison.
    pub fn cmp(&mut self, c: Cmp, a: ExprId, b: ExprId) -> ExprId {
        if let (Some(x), Some(y)) = (self.literal(a), self.literal(b)) {
            return self.truth(match c {
                Cmp::Lt => x < y,
                Cmp::Le => x <= y,
                Cmp::Eq => x == y,
                Cmp::Ne => x != y,
            });
        }
        self.intern(Node::Cmp(c, a, b), Ty::Bool)
    }

    /// `a && b`
    pub fn and(&mut self, a: ExprId, b: ExprId) -> ExprId {
        match (self.node(a), self.node(b)) {
            (Node::Truth(true), _) => b,
            (_, Node::Truth(true)) => a,
            (Node::Truth(false), _) => a,
            (_, Node::Truth(false)) => b,
            _ => self.intern(Node::And(a, b), Ty::Bool),
        }
    }

    /// `a || b`
    pub fn or(&mut self, a: ExprId, b: ExprId) -> ExprId {
        match (self.node(a), self.node(b)) {
            (Node::Truth(false), _) => b,
            (_, Node::Truth(false)) => a,
            (Node::Truth(true), _) => a,
            (_, Node::Truth(true)) => b,
            _ => self.intern(Node::Or(a, b), Ty::Bool),
        }
    }

    /// `!a`
    pub fn not(&mut self, a: ExprId) -> ExprId {
        match *self.node(a) {
            Node::Truth(x) => self.truth(!x),
            Node::Not(b) => b,
            _ => self.intern(Node::Not(a), Ty::Bool),
        }
    }

    /// `c ? a : b`; a true choice of values, so that a NaN of the other branch does not spread.
    pub fn select(&mut self, c: ExprId, a: ExprId, b: ExprId) -> ExprId {
        if a == b {
            return a;
        }
        match *self.node(c) {
            Node::Truth(true) => a,
            Node::Truth(false) => b,
            _ => {
                let ty = if self.ty(a) == self.ty(b) { self.ty(a) } else { self.sum_ty(a) };
                self.intern(Node::Select(c, a, b), ty)
            }
        }
    }
}
