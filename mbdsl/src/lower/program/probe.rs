//! Outputs, checks and parameters, with the reductions and recorded values that have to be there before.

use std::collections::BTreeSet;

use crate::ir::program::{Fold, Probe, Recording, Reduction};
use crate::lower::Output;
use crate::model::IndexSet;
use crate::symbolic::walk::reachable;
use crate::symbolic::{self, ExprId, ExprPool, Node};

use super::error::{ProgramError, TERMS};
use super::family::Site;
use super::index::evaluate;

impl Site<'_, '_> {
    /// Lowers values that are evaluated together: components one after another.
    pub(super) fn probe(&self, name: &str, set: &IndexSet, values: &[ExprId]) -> Result<Probe, ProgramError> {
        let mut size = 0;
        let mut outputs = Vec::new();
        for &expr in values {
            outputs.push(Output::dense(size, expr));
            size += self.context.equations.pool.ty(expr).len();
        }
        self.setup(name, set, &outputs, size)
    }

    /// Lowers values with given places.
    pub(super) fn setup(
        &self,
        name: &str,
        set: &IndexSet,
        outputs: &[Output],
        size: usize,
    ) -> Result<Probe, ProgramError> {
        let pool = &self.context.equations.pool;
        let values: Vec<_> = outputs.iter().map(|o| o.expr).collect();
        let names = self.names(set, &values, None, &[]);

        let mut reductions = Vec::new();
        for &e in &names.reductions {
            reductions.extend(self.reduction(name, set, e)?);
        }
        let mut recordings = Vec::new();
        for &(e, offset) in &names.recorded {
            let Node::At(time, value) = *pool.node(e) else {
                return Err(ProgramError::Recorded { span: self.span });
            };
            let probe = self.probe(name, set, &[time, value])?;
            recordings.push(Recording { offset: offset as usize, len: pool.ty(value).len(), value: probe });
        }
        let (family, [value]) = self.family(name, set, &names, [("value", outputs, size)])?;
        Ok(Probe { family, value, reductions, recordings })
    }

    /// The terms of a reduction, tabulated for each instance, or once where they do not depend on it.
    fn reduction(&self, name: &str, set: &IndexSet, e: ExprId) -> Result<Option<Reduction>, ProgramError> {
        let pool = &self.context.equations.pool;
        let Node::Reduce { how, index, lo, hi, body } = *pool.node(e) else { return Ok(None) };
        let used = index_variables(pool, &[lo, hi, body]);
        let single = IndexSet::single();
        let outer = if set.vars.iter().any(|v| used.contains(v)) { set } else { &single };

        let mut terms = IndexSet { vars: [&outer.vars[..], &[index]].concat(), ..IndexSet::default() };
        let mut starts = vec![0];
        for k in 0..outer.count {
            let bound = |e| {
                let bound = evaluate(pool, e, &outer.vars, outer.tuple(k)).and_then(|i| i32::try_from(i).ok());
                bound.ok_or(ProgramError::Index { span: self.span })
            };
            let range = bound(lo)?..bound(hi)?;
            if range.is_empty() && how != symbolic::Reduction::Sum {
                return Err(ProgramError::Empty { span: self.span });
            }
            if terms.count + range.len() > TERMS {
                return Err(ProgramError::Terms { span: self.span });
            }
            terms.count += range.len();
            for i in range {
                terms.tuples.extend_from_slice(outer.tuple(k));
                terms.tuples.push(i);
            }
            starts.push(terms.count);
        }
        let fold = match how {
            symbolic::Reduction::Sum => Fold::Sum,
            symbolic::Reduction::Min => Fold::Min,
            symbolic::Reduction::Max => Fold::Max,
            symbolic::Reduction::Mean => Fold::Mean,
        };
        Ok(Some(Reduction { fold, starts, terms: self.probe(name, &terms, &[body])? }))
    }
}

/// Index variables that occur in expressions, also in the indices of what they refer to.
fn index_variables(pool: &ExprPool, roots: &[ExprId]) -> BTreeSet<u32> {
    let mut found = BTreeSet::new();
    let mut todo = roots.to_vec();
    // Indices of bodies and elements are no operands, so that they are looked at in another round.
    while !todo.is_empty() {
        let mut indices = BTreeSet::new();
        for e in reachable(pool, &todo, |_| true) {
            let node = pool.node(e);
            if let Node::Index(k) = *node {
                found.insert(k);
            } else if let Node::State(_, body) = *node {
                indices.extend(pool.body(body).indices.iter().copied());
            } else if let Node::Memory(element, _) | Node::Lambda(element, ..) = *node {
                indices.extend(pool.element(element).indices.iter().copied());
            }
        }
        todo = indices.into_iter().collect();
    }
    found
}
