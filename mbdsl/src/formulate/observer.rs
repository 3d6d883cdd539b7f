//! Checks and continuous angles into the form that is lowered: which angles keep a memory, what `final` means.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashMap;

use crate::model::{Check, Model};
use crate::symbolic::walk::reachable;
use crate::symbolic::{ExprId, ExprPool, Node};

use super::equations::{AngleKind, CheckValue, Equations};
use super::rewrite::{Preparation, rewrite};

/// A check. At the end of the run, when it is evaluated, `final(x)` is x itself.
pub(super) fn check(pool: &mut ExprPool, prepare: &mut Preparation<'_>, check: &Check) -> CheckValue {
    let mut memo = FxHashMap::default();
    let mut prepared = |e: ExprId| {
        let e = prepare.observed(pool, e);
        rewrite(pool, e, &mut memo, &mut |pool, e| if let Node::Final(a) = *pool.node(e) { a } else { e })
    };
    CheckValue {
        condition: prepared(check.condition),
        sides: check.sides.map(|(left, right)| (prepared(left), prepared(right))),
    }
}

/// The angles whose memory is read, in the order of their elements.
pub(super) fn angles(
    pool: &mut ExprPool,
    prepare: &mut Preparation<'_>,
    model: &Model,
    equations: &Equations,
) -> Vec<AngleKind> {
    let mut roots: Vec<ExprId> = Vec::new();
    roots.extend(equations.constraints.iter().flat_map(|c| c.groups.iter().map(|g| g.phi)));
    for force in &equations.forces {
        roots.extend([force.potential, force.dissipation]);
        roots.extend(&force.q);
    }
    roots.extend(equations.conditions.iter().map(|c| c.value));
    roots.extend(&equations.outputs);
    for check in &equations.checks {
        roots.push(check.condition);
        roots.extend(check.sides.iter().flat_map(|&(left, right)| [left, right]));
    }

    // An angle may read the memory of another one.
    let mut values = BTreeMap::new();
    while let Some((element, site)) = sites(pool, &roots).into_iter().find(|site| !values.contains_key(site)) {
        let source = &model.elements[element as usize];
        prepare.at(source.span);
        let value = prepare.unrolled(pool, source.angles[site as usize]);
        roots.push(value);
        values.insert((element, site), value);
    }
    values.into_iter().map(|((element, site), value)| AngleKind { element: element as usize, site, value }).collect()
}

/// Declarations and sites of the memories that expressions read.
fn sites(pool: &ExprPool, roots: &[ExprId]) -> BTreeSet<(u32, u32)> {
    let mut found = BTreeSet::new();
    for e in reachable(pool, roots, |_| true) {
        if let Node::Memory(element, site) = *pool.node(e) {
            found.insert((pool.element(element).decl, site));
        }
    }
    found
}
