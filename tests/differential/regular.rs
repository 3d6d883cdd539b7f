//! How far a state is from where an expression has no derivative, so that differences mean something.

use std::collections::HashMap;

use mbdsl::symbolic::eval::Value;
use mbdsl::symbolic::walk::{depends_on_state, depends_on_time, reachable};
use mbdsl::symbolic::{Cmp, ExprId, Fun, Fun2, Node};

use crate::oracle::Oracle;

/// How far.
#[derive(Clone, Copy, Debug)]
pub struct Clearance {
    /// Of what is compared, divided by, or under a root.
    pub gap: f64,
    /// Whether logarithms of rotations stay away from half turns, and angles from their cut.
    pub cuts: bool,
}

/// Values beyond this spoil differences by their sheer size.
const LARGE: f64 = 300.0;

/// Whether all that `roots` consist of is smooth around the state of the oracle.
pub fn is_regular(oracle: &Oracle<'_>, roots: &[ExprId], clearance: Clearance) -> bool {
    let pool = oracle.pool;
    let nodes = reachable(pool, roots, |node| !matches!(node, Node::Start(_)));
    let mut starts = Vec::new();
    let mut unwrapped = Vec::new();
    for &e in &nodes {
        if let Node::Start(a) = *pool.node(e) {
            starts.push(a);
        } else if let Node::Fun2(Fun2::Unwrap, a, _) = *pool.node(e) {
            unwrapped.push(a);
        }
    }
    let at_start = Oracle { state: oracle.start, ..*oracle };
    if !starts.is_empty() && !is_regular(&at_start, &starts, clearance) {
        return false;
    }
    let values = oracle.eval(&nodes);
    let known: HashMap<ExprId, Value> = nodes.iter().copied().zip(values.iter().copied()).collect();
    let value = |a: ExprId| known[&a];
    let s = |a: ExprId| value(a).scalar();
    let gap = clearance.gap;
    nodes.iter().zip(&values).all(|(&e, v)| {
        if !v.components().iter().all(|x| x.abs() < LARGE) {
            return false;
        }
        match *pool.node(e) {
            Node::Div(_, b) => s(b).abs() > gap,
            Node::PowInt(a, n) => n > 0 || s(a).abs() > gap,
            Node::Fun(Fun::Sqrt, a) => s(a) > gap * gap,
            Node::Fun(Fun::Ln, a) => s(a) > gap,
            Node::Fun(Fun::Asin | Fun::Acos, a) => s(a).abs() < 1.0 - gap,
            Node::Fun(Fun::Abs | Fun::Sign, a) => s(a).abs() > gap,
            Node::Fun2(Fun2::Pow, a, _) => s(a) > gap,
            Node::Fun2(Fun2::Min | Fun2::Max, a, b) | Node::Cmp(Cmp::Lt | Cmp::Le | Cmp::Eq | Cmp::Ne, a, b) => {
                let varies = |e| depends_on_state(pool, e) || depends_on_time(pool, e);
                !(varies(a) || varies(b)) || (s(a) - s(b)).abs() > gap
            }
            Node::Fun2(Fun2::Atan2, a, b) => {
                let (y, x) = (s(a), s(b));
                y.hypot(x) > gap && (!clearance.cuts || x > 0.0 || y.abs() > gap || unwrapped.contains(&e))
            }
            Node::Fun2(Fun2::Unwrap, a, b) => {
                let turns = (s(b) - s(a)) / std::f64::consts::TAU;
                !clearance.cuts || (turns - turns.round()).abs() < 0.5 - gap
            }
            // trace = 1 + 2 cos(angle), -1 at half turns; the angle stays 0.2 away.
            Node::LogSo3(m) => {
                let Value::Mat3(m) = value(m) else { return false };
                !clearance.cuts || m[0][0] + m[1][1] + m[2][2] > -0.96
            }
            _ => true,
        }
    })
}
