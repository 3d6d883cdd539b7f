//! Rewrites a matrix applied to a vector as operations on vectors, because derivatives are taken of vectors only.

use rustc_hash::FxHashMap;

use super::pool::{ExprId, ExprPool, Node};
use super::walk::{Dependence, On};

/// Products of matrix and vector, remembered: (matrix, whether transposed, vector).
#[derive(Debug, Default)]
pub(super) struct Applied {
    known: FxHashMap<(ExprId, bool, ExprId), ExprId>,
    dependence: Dependence,
}

impl Applied {
    /// `m a`, or `m^T a` if `transposed`; only parameters, constants and rotations stay matrices in the result.
    pub(super) fn apply(&mut self, pool: &mut ExprPool, m: ExprId, transposed: bool, a: ExprId) -> ExprId {
        // Sums can have thousands of terms: descend along their left spine in a loop.
        let mut spine = Vec::new();
        let mut head = m;
        let mut sum = loop {
            if let Some(&known) = self.known.get(&(head, transposed, a)) {
                break known;
            }
            match *pool.node(head) {
                Node::Add(p, _) | Node::Sub(p, _) => {
                    spine.push(head);
                    head = p;
                }
                _ => {
                    let product = self.term(pool, head, transposed, a);
                    self.known.insert((head, transposed, a), product);
                    break product;
                }
            }
        };
        while let Some(e) = spine.pop() {
            match *pool.node(e) {
                Node::Add(_, q) => {
                    let b = self.apply(pool, q, transposed, a);
                    sum = pool.add(sum, b);
                }
                Node::Sub(_, q) => {
                    let b = self.apply(pool, q, transposed, a);
                    sum = pool.sub(sum, b);
                }
                _ => {}
            }
            self.known.insert((e, transposed, a), sum);
        }
        sum
    }

    /// The product with a matrix that is no sum.
    fn term(&mut self, pool: &mut ExprPool, m: ExprId, transposed: bool, a: ExprId) -> ExprId {
        if pool.is_zero(a) {
            return a;
        }
        match *pool.node(m) {
            Node::Neg(n) => {
                let b = self.apply(pool, n, transposed, a);
                pool.neg(b)
            }
            Node::Scale(s, n) => {
                let b = self.apply(pool, n, transposed, a);
                pool.scale(s, b)
            }
            Node::MatMul(p, q) => {
                let (first, second) = if transposed { (p, q) } else { (q, p) };
                let b = self.apply(pool, first, transposed, a);
                self.apply(pool, second, transposed, b)
            }
            Node::Transpose(n) => self.apply(pool, n, !transposed, a),
            Node::Skew(b) => {
                let c = pool.cross(b, a);
                if transposed { pool.neg(c) } else { c }
            }
            Node::Outer(b, c) => {
                let (b, c) = if transposed { (c, b) } else { (b, c) };
                let d = pool.dot(c, a);
                pool.scale(d, b)
            }
            Node::Select(c, p, q) => {
                let (p, q) = (self.apply(pool, p, transposed, a), self.apply(pool, q, transposed, a));
                pool.select(c, p, q)
            }
            Node::Diag(d) if self.varies(pool, m) => {
                let part = [0, 1, 2].map(|k| {
                    let (d, a) = (pool.comp(d, k), pool.comp(a, k));
                    pool.mul(d, a)
                });
                pool.vec(part[0], part[1], part[2])
            }
            Node::Rows(r0, r1, r2) if matches!(pool.node(a), Node::Vec(..)) || self.varies(pool, m) => {
                let rows = [r0, r1, r2];
                if transposed {
                    let part = [0, 1, 2].map(|k: u8| {
                        let s = pool.comp(a, k);
                        pool.scale(s, rows[usize::from(k)])
                    });
                    let sum = pool.add(part[0], part[1]);
                    pool.add(sum, part[2])
                } else {
                    let part = rows.map(|r| pool.dot(r, a));
                    pool.vec(part[0], part[1], part[2])
                }
            }
            // Leaves, rotations, constant matrices.
            _ => {
                let n = if transposed { pool.transpose(m) } else { m };
                pool.mat_vec(n, a)
            }
        }
    }

    fn varies(&mut self, pool: &ExprPool, m: ExprId) -> bool {
        self.dependence.of(pool, m, On::State) || self.dependence.of(pool, m, On::Time)
    }
}
