//! Index sets: ranges and filters to tables of index tuples, and the check that every subscript stays inside its array.

use std::rc::Rc;

use rustc_hash::FxHashMap;

use super::error::SemaError;
use super::scope::Scope;
use super::value::{Frame, InstanceOf, Quantity, Value};
use super::{Checker, R};
use crate::model::{Cutoff, IndexSet};
use crate::source::Span;
use crate::symbolic::{ExprId, ExprPool, Node, constant};
use crate::syntax::ast::{self, Expr, ExprKind};
use crate::units::Dim;

/// More instances than this are a slip of the pen: their table alone would take hundreds of megabytes.
pub(super) const MOST: usize = 4_000_000;

/// So many values of one subscript are checked here; the rest is checked where tables are made.
const SUBSCRIPTS: usize = 2 * MOST;

/// An array that can be subscripted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Array {
    /// Body declaration number k.
    Body(usize),
    /// Element declaration number k.
    Element(usize),
}

/// What gives an index variable its values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Owner {
    /// Position `.1` of the tuples of set number `.0`.
    Set(usize, usize),
    /// The range of a reduction.
    Range(ExprId, ExprId),
}

/// A subscript that was written, to be checked over all instances.
#[derive(Clone, Debug)]
pub(super) struct IndexUse {
    array: Array,
    indices: Vec<ExprId>,
    span: Span,
    index_spans: Vec<Span>,
}

/// The set of a declaration, with its own index variables as expressions.
#[derive(Clone, Debug, Default)]
pub(super) struct DeclSet {
    /// The table, empty where pairs are found during the run.
    pub set: IndexSet,
    /// Which pairs are found during the run.
    pub cutoff: Option<Cutoff>,
    /// Its index variables.
    pub own: Vec<ExprId>,
}

impl<'a> Checker<'a> {
    /// A new index variable.
    pub(super) fn new_index(&mut self, name: &str, owner: Owner) -> u32 {
        self.index_names.push(name.to_owned());
        self.index_owners.push(owner);
        u32::try_from(self.index_names.len() - 1).expect("fewer than 2^32 indices")
    }

    /// An end of a range: numbers, constants and indices.
    pub(super) fn index_bound(&mut self, expr: &'a Expr, scope: &Rc<Scope<'a>>) -> R<ExprId> {
        let q = self.scalar(expr, scope)?;
        let q = self.with_dim(q, Dim::ONE, "the end of a range", expr.span)?;
        if constant::value(&self.pool, q.e, &|_| Some(0.0)).is_none() {
            return self.fail(SemaError::NotConstant { span: expr.span, what: "the end of a range" });
        }
        // An end that does not depend on indices is a number from here on.
        Ok(match self.constant_value(q.e) {
            Some(x) => self.pool.num(x),
            None => q.e,
        })
    }

    /// Value of an expression of numbers and structural constants.
    pub(super) fn constant_value(&self, e: ExprId) -> Option<f64> {
        constant::value(&self.pool, e, &|_| None)
    }

    /// Evaluates the index set of a declaration in the scope around it.
    pub(super) fn index_set(&mut self, ast: Option<&'a ast::IndexSet>, scope: &Rc<Scope<'a>>) -> R<DeclSet> {
        let Some(ast) = ast else { return Ok(DeclSet { set: IndexSet::single(), ..DeclSet::default() }) };
        let id = self.set_count;
        self.set_count += 1;
        let mut vars: Vec<u32> = Vec::new();
        let mut bounds: Vec<Bounds> = Vec::new();
        let mut bodies = Vec::new();
        let mut inner = Scope { parent: Some(Rc::clone(scope)), ..Scope::default() };
        for range in &ast.ranges {
            let so_far =
                Rc::new(Scope { parent: Some(Rc::clone(scope)), bound: inner.bound.clone(), ..Scope::default() });
            match &range.hi {
                Some(hi) => {
                    let ends = (self.index_bound(&range.lo, &so_far)?, self.index_bound(hi, &so_far)?);
                    let var = self.new_index(&range.name.name, Owner::Set(id, vars.len()));
                    vars.push(var);
                    bounds.push(Bounds::Range(ends.0, ends.1));
                    let e = self.pool.index(var);
                    inner.bound.push((&range.name.name, Value::Quantity(Quantity { e, dim: Some(Dim::ONE) })));
                }
                None => {
                    let Value::BodyArray(decl) = self.eval(&range.lo, &so_far)? else {
                        return self.fail(SemaError::Expected {
                            span: range.lo.span,
                            expected: "a range `0..N` or an array of bodies",
                            found: "something else".into(),
                        });
                    };
                    let arity = self.body_arity(decl)?;
                    let mut indices = Vec::with_capacity(arity);
                    for k in 0..arity {
                        let var = self.new_index(&format!("{}{k}", range.name.name), Owner::Set(id, vars.len()));
                        vars.push(var);
                        indices.push(self.pool.index(var));
                    }
                    bounds.push(Bounds::Bodies(decl, arity));
                    let number = u32::try_from(decl).expect("fewer than 2^32 declarations");
                    bodies.push(self.pool.body_ref(number, indices.clone()));
                    let body = InstanceOf { decl, indices };
                    inner.bound.push((&range.name.name, Value::Frame(Frame::Body(body))));
                }
            }
        }
        let inner = Rc::new(inner);
        let filter = ast.filter.as_ref().map(|condition| self.filter(condition, &inner)).transpose()?;
        // A range beside the bodies makes more of them than a pair.
        let pair = if bodies.len() == bounds.len() { &bodies[..] } else { &[] };
        let cutoff = match &filter {
            Some(filter) => self.cutoff(filter, pair, &inner)?,
            None => None,
        };
        let own = vars.iter().map(|&v| self.pool.index(v)).collect();
        if cutoff.is_some() {
            let set = IndexSet { vars, tuples: Vec::new(), count: 0 };
            self.set_tables.insert(id, set.clone());
            return Ok(DeclSet { set, cutoff, own });
        }
        let filter = filter.map(|filter| filter.admits);
        let set = self.enumerate(&vars, &bounds, filter, ast.span)?;
        self.set_tables.insert(id, set.clone());
        Ok(DeclSet { set, cutoff: None, own })
    }

    fn enumerate(&mut self, vars: &[u32], bounds: &[Bounds], filter: Option<ExprId>, span: Span) -> R<IndexSet> {
        // Tuples one after another: the indices so far of each.
        let mut tuples: Vec<i32> = Vec::new();
        let (mut count, mut position) = (1, 0);
        for bound in bounds {
            let mut next = Vec::new();
            let mut more = 0;
            for tuple in (0..count).map(|k| &tuples[k * position..][..position]) {
                let index = |v: u32| vars[..position].iter().position(|&w| w == v).map(|k| f64::from(tuple[k]));
                match *bound {
                    Bounds::Range(lo, hi) => {
                        let ends = (constant::value(&self.pool, lo, &index), constant::value(&self.pool, hi, &index));
                        let (Some(lo), Some(hi)) = ends else {
                            return self.fail(SemaError::NotConstant { span, what: "the end of a range" });
                        };
                        #[expect(clippy::cast_precision_loss, reason = "a bound of some millions")]
                        let most = MOST as f64;
                        for end in [lo, hi] {
                            if !end.is_finite() || end.fract() != 0.0 {
                                let found = format!("{end}");
                                return self.fail(SemaError::Expected {
                                    span,
                                    expected: "whole numbers as ends of a range",
                                    found,
                                });
                            }
                        }
                        let wanted = (hi - lo).max(0.0);
                        #[expect(clippy::cast_precision_loss, reason = "only compared with a bound of some millions")]
                        if wanted + more as f64 > most || lo.abs() > most * 100.0 {
                            return self.fail(SemaError::TooMany { span, count: wanted, most: MOST });
                        }
                        #[expect(clippy::cast_possible_truncation, reason = "bounded just above")]
                        for i in lo as i32..hi as i32 {
                            next.extend_from_slice(tuple);
                            next.push(i);
                            more += 1;
                        }
                    }
                    Bounds::Bodies(decl, _) => {
                        let set = &self.body_set(decl)?.set;
                        #[expect(clippy::cast_precision_loss, reason = "a message")]
                        if more + set.count > MOST {
                            let count = (count as f64) * (set.count as f64);
                            return self.fail(SemaError::TooMany { span, count, most: MOST });
                        }
                        for k in 0..set.count {
                            next.extend_from_slice(tuple);
                            next.extend_from_slice(set.tuple(k));
                            more += 1;
                        }
                    }
                }
            }
            position += match *bound {
                Bounds::Range(..) => 1,
                Bounds::Bodies(_, arity) => arity,
            };
            (tuples, count) = (next, more);
        }
        if let Some(filter) = filter {
            let is_in = |tuple: &[i32]| {
                let index = |v: u32| vars.iter().position(|&w| w == v).map(|k| f64::from(tuple[k]));
                constant::value(&self.pool, filter, &index).is_some_and(|x| x != 0.0)
            };
            let kept: Vec<&[i32]> =
                (0..count).map(|k| &tuples[k * position..][..position]).filter(|tuple| is_in(tuple)).collect();
            (tuples, count) = (kept.concat(), kept.len());
        }
        Ok(IndexSet { vars: vars.to_vec(), count, tuples })
    }

    /// Scope in which the names of an index set have given values.
    pub(super) fn with_indices(
        &mut self,
        ast: Option<&'a ast::IndexSet>,
        indices: &[ExprId],
        scope: &Rc<Scope<'a>>,
    ) -> R<Scope<'a>> {
        let mut inner = Scope { parent: Some(Rc::clone(scope)), ..Scope::default() };
        let mut rest = indices;
        for range in ast.map_or(&[][..], |s| &s.ranges) {
            let name = range.name.name.as_str();
            if range.hi.is_some() {
                let [e, tail @ ..] = rest else { break };
                inner.bound.push((name, Value::Quantity(Quantity { e: *e, dim: Some(Dim::ONE) })));
                rest = tail;
            } else {
                let Value::BodyArray(decl) = self.eval(&range.lo, scope)? else { break };
                let (own, tail) = rest.split_at(self.body_arity(decl)?.min(rest.len()));
                let body = InstanceOf { decl, indices: own.to_vec() };
                inner.bound.push((name, Value::Frame(Frame::Body(body))));
                rest = tail;
            }
        }
        Ok(inner)
    }

    /// Remembers a subscript for the check over all instances.
    pub(super) fn note_index(&mut self, array: Array, indices: &[ExprId], span: Span, asts: &'a [Expr]) {
        let known = self.index_uses.iter().any(|u| u.span == span && u.indices == indices);
        if !known {
            let index_spans = asts.iter().map(|e| e.span).collect();
            self.index_uses.push(IndexUse { array, indices: indices.to_vec(), span, index_spans });
        }
    }

    /// Checks every subscript that was written, over all instances of the declaration that it stands in.
    pub(super) fn check_subscripts(&mut self) {
        let mut members: FxHashMap<Array, Members> = FxHashMap::default();
        for usage in std::mem::take(&mut self.index_uses) {
            let set = match usage.array {
                Array::Body(k) => self.body_set(k).map(|s| s.set.clone()),
                Array::Element(k) => self.element_set(k).map(|s| s.set.clone()),
            };
            let Ok(set) = set else { continue };
            let known = members.entry(usage.array).or_insert_with(|| Members::of(&set));
            let outcome = self.check_subscript(&usage, known);
            if let Err(bad) = outcome {
                let array = match usage.array {
                    Array::Body(k) => self.body_asts[k].target.name.name.clone(),
                    Array::Element(k) => self.element_name(k),
                };
                let index =
                    usage.index_spans.first().map_or(usage.span, |s| s.to(*usage.index_spans.last().unwrap_or(s)));
                let instance = (!bad.instance.is_empty()).then_some(bad.instance);
                self.report(SemaError::OutOfRange {
                    span: index,
                    array,
                    index: bad.index,
                    bounds: known.bounds(),
                    instance,
                });
            }
        }
    }

    fn check_subscript(&mut self, usage: &IndexUse, known: &Members) -> Result<(), BadIndex> {
        let mut vars: Vec<u32> = Vec::new();
        for &e in &usage.indices {
            index_variables(&self.pool, e, &mut vars);
        }
        // Ranges of reductions may depend on indices of the set around them.
        let mut k = 0;
        while k < vars.len() {
            if let Owner::Range(lo, hi) = self.index_owners[vars[k] as usize] {
                index_variables(&self.pool, lo, &mut vars);
                index_variables(&self.pool, hi, &mut vars);
            }
            k += 1;
        }
        let sets: Vec<usize> = {
            let mut ids: Vec<usize> = vars
                .iter()
                .filter_map(|&v| match self.index_owners[v as usize] {
                    Owner::Set(id, _) => Some(id),
                    Owner::Range(..) => None,
                })
                .collect();
            ids.sort_unstable();
            ids.dedup();
            ids
        };
        let single = IndexSet::single();
        let table = match sets.as_slice() {
            [] => &single,
            // A set that is wrong itself has no table; that has been said.
            [one] => match self.set_tables.get(one) {
                Some(table) => table,
                None => return Ok(()),
            },
            // Indices of two sets at once do not occur: an inner declaration sees one set only.
            _ => return Ok(()),
        };
        let ranges: Vec<(u32, ExprId, ExprId)> = vars
            .iter()
            .filter_map(|&v| match self.index_owners[v as usize] {
                Owner::Range(lo, hi) => Some((v, lo, hi)),
                Owner::Set(..) => None,
            })
            .collect();
        let ends = match (table.vars.as_slice(), ranges.as_slice()) {
            ([var], []) => table
                .tuples
                .iter()
                .min()
                .zip(table.tuples.iter().max())
                .map(|(&low, &high)| (*var, low.into(), high.into())),
            ([], [(var, lo, hi)]) => self
                .constant_value(*lo)
                .zip(self.constant_value(*hi))
                .map(|(lo, hi)| (*var, lo.ceil(), hi.ceil() - 1.0)),
            _ => None,
        };
        if ends.is_some_and(|ends| self.stays_inside(usage, known, ends)) {
            return Ok(());
        }
        let mut visit = Visit { left: SUBSCRIPTS, values: Vec::new(), subscript: Vec::new() };
        for t in 0..table.count {
            visit.values.clear();
            visit.values.extend(table.vars.iter().copied().zip(table.tuple(t).iter().map(|&i| f64::from(i))));
            self.check_ranges(usage, known, &ranges, &mut visit)?;
        }
        Ok(())
    }

    /// Whether a subscript is an index plus a constant, and inside the array at the least and greatest value of that index; what is
    /// between is inside as well where the array has no holes. Elsewhere every instance must be looked at.
    fn stays_inside(&self, usage: &IndexUse, known: &Members, (var, low, high): (u32, f64, f64)) -> bool {
        let ([e], None) = (usage.indices.as_slice(), &known.listed) else { return false };
        constant::shift(&self.pool, *e, var)
            .is_some_and(|shift| [low, high].iter().all(|i| known.contains(&[i + shift])))
    }

    fn check_ranges(
        &self,
        usage: &IndexUse,
        known: &Members,
        ranges: &[(u32, ExprId, ExprId)],
        visit: &mut Visit,
    ) -> Result<(), BadIndex> {
        if visit.left == 0 {
            return Ok(());
        }
        visit.left -= 1;
        let Some((&(var, lo, hi), rest)) = ranges.split_last() else {
            let Visit { values, subscript, .. } = visit;
            subscript.clear();
            subscript.extend(usage.indices.iter().map(|&e| value_at(&self.pool, e, values).unwrap_or(f64::NAN)));
            if known.contains(subscript) {
                return Ok(());
            }
            let index = subscript.iter().map(f64::to_string).collect::<Vec<_>>().join(",");
            let named: Vec<_> =
                values.iter().map(|(v, x)| format!("{} = {x}", self.index_names[*v as usize])).collect();
            return Err(BadIndex { index, instance: named.join(", ") });
        };
        let ends = (value_at(&self.pool, lo, &visit.values), value_at(&self.pool, hi, &visit.values));
        // A range without a proper end is an error of its own, found when the terms are counted.
        let (Some(lo), Some(hi)) = ends else { return Ok(()) };
        #[expect(clippy::cast_precision_loss, reason = "a bound of some millions")]
        if !(lo.is_finite() && hi.is_finite()) || hi - lo > MOST as f64 {
            return Ok(());
        }
        #[expect(clippy::cast_possible_truncation, reason = "bounded just above")]
        for i in lo.ceil() as i64..hi.ceil() as i64 {
            #[expect(clippy::cast_precision_loss, reason = "small integers")]
            visit.values.push((var, i as f64));
            let result = self.check_ranges(usage, known, rest, visit);
            visit.values.pop();
            result?;
        }
        Ok(())
    }
}

/// Where the check of a subscript over all instances stands.
struct Visit {
    /// Values that may still be checked.
    left: usize,
    /// Index variables of the instance.
    values: Vec<(u32, f64)>,
    /// Values of the subscript.
    subscript: Vec<f64>,
}

/// An expression for given values of the index variables.
fn value_at(pool: &ExprPool, e: ExprId, values: &[(u32, f64)]) -> Option<f64> {
    constant::value(pool, e, &|v| values.iter().find(|(w, _)| *w == v).map(|(_, x)| *x))
}

/// Index variables of an expression.
fn index_variables(pool: &ExprPool, e: ExprId, out: &mut Vec<u32>) {
    match *pool.node(e) {
        Node::Index(k) if !out.contains(&k) => out.push(k),
        Node::Neg(a) | Node::PowInt(a, _) | Node::Fun(_, a) | Node::Not(a) => index_variables(pool, a, out),
        Node::Add(a, b)
        | Node::Sub(a, b)
        | Node::Mul(a, b)
        | Node::Div(a, b)
        | Node::Fun2(_, a, b)
        | Node::Cmp(_, a, b)
        | Node::And(a, b)
        | Node::Or(a, b) => {
            index_variables(pool, a, out);
            index_variables(pool, b, out);
        }
        Node::Select(a, b, c) => {
            for x in [a, b, c] {
                index_variables(pool, x, out);
            }
        }
        _ => {}
    }
}

enum Bounds {
    Range(ExprId, ExprId),
    Bodies(usize, usize),
}

struct BadIndex {
    index: String,
    instance: String,
}

/// The tuples of a set, for look-up.
struct Members {
    lo: Vec<i32>,
    hi: Vec<i32>,
    /// `None` where the set is a full box.
    listed: Option<rustc_hash::FxHashSet<Vec<i32>>>,
}

impl Members {
    fn of(set: &IndexSet) -> Self {
        let n = set.vars.len();
        let (mut lo, mut hi) = (vec![i32::MAX; n], vec![i32::MIN; n]);
        for k in 0..set.count {
            for (j, &i) in set.tuple(k).iter().enumerate() {
                lo[j] = lo[j].min(i);
                hi[j] = hi[j].max(i + 1);
            }
        }
        let volume: i64 = lo.iter().zip(&hi).map(|(&l, &h)| (i64::from(h) - i64::from(l)).max(0)).product();
        let full = volume == i64::try_from(set.count).unwrap_or(i64::MAX);
        let listed = (!full).then(|| (0..set.count).map(|k| set.tuple(k).to_vec()).collect());
        Self { lo, hi, listed }
    }

    fn contains(&self, tuple: &[f64]) -> bool {
        let inside = tuple
            .iter()
            .zip(self.lo.iter().zip(&self.hi))
            .all(|(&x, (&l, &h))| x.fract() == 0.0 && x >= f64::from(l) && x < f64::from(h));
        #[expect(clippy::cast_possible_truncation, reason = "inside the bounds, which are i32")]
        let listed =
            |set: &rustc_hash::FxHashSet<Vec<i32>>| set.contains(&tuple.iter().map(|&x| x as i32).collect::<Vec<_>>());
        inside && self.listed.as_ref().is_none_or(listed)
    }

    fn bounds(&self) -> String {
        if self.lo.first().is_some_and(|&l| l == i32::MAX) {
            return "nothing".to_owned();
        }
        self.lo.iter().zip(&self.hi).map(|(l, h)| format!("{l}..{h}")).collect::<Vec<_>>().join(", ")
    }
}

/// Whether a range of a set is written as a number range or an array; used for arities before the set is known.
pub(super) fn is_range(range: &ast::Range) -> bool {
    range.hi.is_some() || !matches!(range.lo.kind, ExprKind::Name(_))
}
