//! Expressions to components: walks the nodes below an expression in their order and resolves names by the scope.

use rustc_hash::FxHashMap;

use super::error::LowerError;
use super::foreign::{is_computed, is_constant, is_short};
use super::rotation;
use super::scope::{Scope, number};
use super::tensor::{self, Components};
use crate::ir::{Bin, Graph, Input, Rate, Reg, Un};
use crate::symbolic::walk::reachable;
use crate::symbolic::{BodyRef, ExprId, ExprPool, Global, Node, Quantity, Reduction};

/// Components of the expressions seen so far, under values of index variables that reductions bind.
#[derive(Default)]
pub(super) struct Environment {
    pub known: FxHashMap<ExprId, Components>,
    bound: Vec<(u32, Reg)>,
}

/// The graph of an element kind as it grows.
pub(super) struct Expander<'a> {
    pub pool: &'a ExprPool,
    pub scope: Scope<'a>,
    pub graph: Graph,
    /// What `Start` input k of the graph is, before its value at the start is taken.
    pub started: Vec<Reg>,
    /// Rows and multipliers that expressions read.
    pub rows: usize,
    pub multipliers: usize,
    start_of: FxHashMap<Reg, Reg>,
}

impl<'a> Expander<'a> {
    pub(super) fn new(pool: &'a ExprPool, scope: Scope<'a>) -> Self {
        Self {
            pool,
            scope,
            graph: Graph::new(),
            started: Vec::new(),
            rows: 0,
            multipliers: 0,
            start_of: FxHashMap::default(),
        }
    }

    /// Expands expressions: their components are known afterwards.
    pub(super) fn expand_all(&mut self, env: &mut Environment, roots: &[ExprId]) -> Result<(), LowerError> {
        for e in reachable(self.pool, roots, is_computed) {
            if !env.known.contains_key(&e) {
                let value = self.expand(env, e)?;
                env.known.insert(e, value);
            }
        }
        Ok(())
    }

    /// A scalar under values of index variables.
    fn bound_scalar(&mut self, bound: &[(u32, Reg)], e: ExprId) -> Result<Reg, LowerError> {
        let mut env = Environment { known: FxHashMap::default(), bound: bound.to_vec() };
        self.expand_all(&mut env, &[e])?;
        Ok(env.known[&e][0])
    }

    /// Components of a node whose operands are known.
    fn expand(&mut self, env: &Environment, e: ExprId) -> Result<Components, LowerError> {
        let len = self.pool.ty(e).len();
        let value = |a: ExprId| env.known[&a].as_slice();
        let scalar = |a: ExprId| env.known[&a][0];
        let scope = self.scope;
        let g = &mut self.graph;
        Ok(match *self.pool.node(e) {
            Node::Num(bits) => vec![g.num(f64::from_bits(bits))],
            Node::Truth(x) => vec![g.num(if x { 1.0 } else { 0.0 })],
            Node::Identity => tensor::identity(g),
            Node::ZeroVec | Node::ZeroMat => vec![g.num(0.0); len],
            Node::Time => vec![g.load(Input::Time)],
            Node::State(what, body) => self.state(what, body)?,
            Node::Param(k) => self.loads(scope.param(k)?, len, Input::Param),
            Node::Const(k) => self.loads(scope.consts_offset + k, len, Input::Param),
            Node::Input(k) => self.loads(scope.signal(k)?, len, Input::Signal),
            Node::Index(k) => match env.bound.iter().rev().find(|(index, _)| *index == k) {
                Some(&(_, value)) => vec![value],
                None => vec![g.load(Input::Index(scope.index(k)?))],
            },
            Node::Memory(element, site) => vec![g.load(Input::Memory(scope.memory(element, site)?))],
            Node::Lambda(element, group, _) => {
                let first = scope.multiplier(element, group)?;
                self.multipliers = self.multipliers.max(first as usize + len);
                self.loads(first, len, Input::Multiplier)
            }
            Node::Symbol(k, _) => {
                let first = scope.symbol(k)?;
                self.rows = self.rows.max(first as usize + len);
                self.loads(first, len, Input::Lambda)
            }
            Node::Global(what) => {
                let first: u8 = match what {
                    Global::Energy => 0,
                    Global::Kinetic => 1,
                    Global::Potential => 2,
                    Global::LinearMomentum => 3,
                    Global::AngularMomentum => 6,
                };
                (first..).take(len).map(|k| g.load(Input::Global(k))).collect()
            }
            Node::At(..) | Node::Final(_) => self.loads(scope.recorded(e)?, len, Input::Recorded),
            Node::Start(a) => value(a).iter().map(|&r| self.at_start(r)).collect(),
            Node::Reduce { how, index, lo, hi, body } => self.reduction(env, e, (how, index, lo, hi, body))?,
            Node::Neg(a) => tensor::map(value(a), |x| g.neg(x)),
            Node::Add(a, b) => tensor::zip(value(a), value(b), |x, y| g.add(x, y)),
            Node::Sub(a, b) => tensor::zip(value(a), value(b), |x, y| g.sub(x, y)),
            Node::Mul(a, b) => vec![g.mul(scalar(a), scalar(b))],
            Node::Div(a, b) => vec![g.div(scalar(a), scalar(b))],
            Node::Scale(s, a) => tensor::map(value(a), |x| g.mul(scalar(s), x)),
            Node::PowInt(a, n) => vec![g.pow_int(scalar(a), n)],
            Node::Fun(f, a) => vec![tensor::fun(g, f, scalar(a))],
            Node::Fun2(f, a, b) => vec![tensor::fun2(g, f, scalar(a), scalar(b))],
            Node::Cmp(c, a, b) => vec![tensor::cmp(g, c, scalar(a), scalar(b))],
            Node::And(a, b) => vec![g.bin(Bin::And, scalar(a), scalar(b))],
            Node::Or(a, b) => vec![g.bin(Bin::Or, scalar(a), scalar(b))],
            Node::Not(a) => vec![g.un(Un::Not, scalar(a))],
            Node::Select(c, a, b) => tensor::zip(value(a), value(b), |x, y| g.select(scalar(c), x, y)),
            Node::Vec(a, b, c) => vec![scalar(a), scalar(b), scalar(c)],
            Node::Comp(a, k) => vec![value(a)[usize::from(k)]],
            Node::Dot(a, b) => vec![tensor::dot(g, value(a), value(b))],
            Node::Cross(a, b) => tensor::cross(g, value(a), value(b)),
            Node::MatVec(m, a) => tensor::mat_vec(g, value(m), value(a)),
            Node::MatMul(m, n) => tensor::mat_mul(g, value(m), value(n)),
            Node::Transpose(m) => tensor::transpose(value(m)),
            Node::Skew(a) => tensor::skew(g, value(a)),
            Node::Outer(a, b) => tensor::outer(g, value(a), value(b)),
            Node::Diag(a) => tensor::diag(g, value(a)),
            Node::Rows(a, b, c) => [value(a), value(b), value(c)].concat(),
            Node::Row(m, k) => value(m)[3 * usize::from(k)..][..3].to_vec(),
            Node::About(axis, angle) => rotation::about(g, value(axis), scalar(angle)),
            Node::ExpSo3(a) => rotation::exp_so3(g, value(a)),
            Node::LogSo3(m) => rotation::log_so3(g, value(m)),
            Node::Perp1(a) => rotation::perp1(g, value(a)),
            Node::Perp2(a) => rotation::perp2(g, value(a)),
        })
    }

    fn loads(&mut self, first: u32, len: usize, input: fn(u32) -> Input) -> Components {
        (first..).take(len).map(|k| self.graph.load(input(k))).collect()
    }

    fn state(&mut self, what: Quantity, body: BodyRef) -> Result<Components, LowerError> {
        let (slot, is_particle) = self.scope.slot(body)?;
        let components = match what {
            Quantity::R if is_particle => return Ok(tensor::identity(&mut self.graph)),
            Quantity::Omega if is_particle => return Ok(vec![self.graph.num(0.0); 3]),
            Quantity::X => 0..3,
            Quantity::R => 3..12,
            Quantity::V => 12..15,
            Quantity::Omega => 15..18,
        };
        Ok(components.map(|component| self.graph.load(Input::State { slot, component })).collect())
    }

    /// The value of a scalar at the start; constants are what they are.
    fn at_start(&mut self, r: Reg) -> Reg {
        if self.graph.rate(r) <= Rate::Start {
            return r;
        }
        if let Some(&known) = self.start_of.get(&r) {
            return known;
        }
        let load = self.graph.load(Input::Start(number(self.started.len())));
        self.started.push(r);
        self.start_of.insert(r, load);
        load
    }

    /// A reduction: written out where it is one of constants over a short literal range, otherwise an input.
    fn reduction(
        &mut self,
        env: &Environment,
        e: ExprId,
        (how, index, lo, hi, body): (Reduction, u32, ExprId, ExprId, ExprId),
    ) -> Result<Components, LowerError> {
        let (lo, hi) = (self.bound_scalar(&env.bound, lo)?, self.bound_scalar(&env.bound, hi)?);
        let (lo, hi) = match (self.graph.literal(lo), self.graph.literal(hi)) {
            (Some(lo), Some(hi)) if is_short(lo, hi) && is_constant(self.pool, body) => (lo, hi),
            (Some(_) | None, _) => {
                return Ok(vec![self.graph.load(Input::Reduced(self.scope.reduction(e)?))]);
            }
        };
        // Over nothing, the sum is 0, the smallest inf, the largest -inf, the mean 0 / 0.
        let mut result = self.graph.num(match how {
            Reduction::Sum | Reduction::Mean => 0.0,
            Reduction::Min => f64::INFINITY,
            Reduction::Max => f64::NEG_INFINITY,
        });
        let mut bound = env.bound.clone();
        let mut i = lo;
        while i < hi {
            bound.push((index, self.graph.num(i)));
            let term = self.bound_scalar(&bound, body)?;
            bound.pop();
            result = match how {
                Reduction::Sum | Reduction::Mean => self.graph.add(result, term),
                Reduction::Min | Reduction::Max if i == lo => term,
                Reduction::Min => self.graph.bin(Bin::Min, result, term),
                Reduction::Max => self.graph.bin(Bin::Max, result, term),
            };
            i += 1.0;
        }
        if how == Reduction::Mean {
            let count = self.graph.num(hi - lo);
            result = self.graph.div(result, count);
        }
        Ok(vec![result])
    }
}
