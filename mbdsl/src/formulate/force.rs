//! Potentials, dissipation functions and loads into generalised forces and their derivatives by direction.

use crate::model::Model;
use crate::symbolic::diff::Differentiator;
use crate::symbolic::{BodyRef, ExprId, ExprPool, Quantity};

use super::equations::{Direction, ForceKind, Origin, PairKind, directions, slots};
use super::rewrite::Preparation;

/// What a force is derived from.
struct Sources {
    potential: ExprId,
    dissipation: ExprId,
    /// Velocity and value of each load.
    loads: Vec<(ExprId, ExprId)>,
    /// The bodies of a pair that is found during a run.
    pair: Option<([BodyRef; 2], PairKind)>,
}

/// The weight of the bodies of a declaration: `U = -m g . x`.
pub(super) fn gravity(
    pool: &mut ExprPool,
    d: &mut Differentiator,
    model: &Model,
    decl: usize,
    mass: ExprId,
    gravity: ExprId,
) -> ForceKind {
    let body = &model.bodies[decl];
    let indices = body.set.vars.iter().map(|&v| pool.index(v)).collect();
    let number = u32::try_from(decl).expect("fewer than 2^32 declarations");
    let body_ref = pool.body_ref(number, indices);
    let x = pool.state(Quantity::X, body_ref);
    let height = pool.dot(gravity, x);
    let work = pool.mul(mass, height);
    let sources = Sources { potential: pool.neg(work), dissipation: pool.num(0.0), loads: Vec::new(), pair: None };
    derive(pool, d, model, format!("gravity on {}", body.name), Origin::Gravity(decl), sources)
}

/// The forces of an element, if it has any.
pub(super) fn element(
    pool: &mut ExprPool,
    d: &mut Differentiator,
    prepare: &mut Preparation<'_>,
    model: &Model,
    element: usize,
) -> Option<ForceKind> {
    let source = &model.elements[element];
    if source.potential.is_none() && source.dissipation.is_none() && source.loads.is_empty() {
        return None;
    }
    let zero = pool.num(0.0);
    let sources = Sources {
        potential: source.potential.map_or(zero, |e| prepare.unrolled(pool, e)),
        dissipation: source.dissipation.map_or(zero, |e| prepare.unrolled(pool, e)),
        loads: source
            .loads
            .iter()
            .map(|l| (prepare.unrolled(pool, l.velocity), prepare.unrolled(pool, l.value)))
            .collect(),
        pair: source.cutoff.as_ref().map(|cutoff| {
            let kind = PairKind {
                points: cutoff.points.map(|e| prepare.unrolled(pool, e)),
                distance: prepare.unrolled(pool, cutoff.distance),
                admits: prepare.unrolled(pool, cutoff.admits),
            };
            (cutoff.bodies, kind)
        }),
    };
    Some(derive(pool, d, model, source.name.clone(), Origin::Element(element), sources))
}

fn derive(
    pool: &mut ExprPool,
    d: &mut Differentiator,
    model: &Model,
    name: String,
    origin: Origin,
    sources: Sources,
) -> ForceKind {
    let mut all = vec![sources.potential, sources.dissipation];
    all.extend(sources.loads.iter().flat_map(|&(velocity, value)| [velocity, value]));
    let bodies = sources.pair.map_or_else(|| slots(pool, &all), |(bodies, _)| bodies.to_vec());
    let (directions, dim) = directions(pool, &model.bodies, &bodies);
    let q: Vec<_> = directions.iter().map(|x| generalised(pool, d, &sources, x)).collect();
    let (mut q_q, mut q_v) = (Vec::new(), Vec::new());
    for &f in q.iter().filter(|_| sources.pair.is_none()) {
        for x in &directions {
            q_q.push(d.jac(pool, f, x.position));
            q_v.push(d.jac(pool, f, x.velocity));
        }
    }
    ForceKind {
        name,
        origin,
        bodies,
        directions,
        dim,
        pairs: sources.pair.map(|(_, kind)| kind),
        potential: sources.potential,
        dissipation: sources.dissipation,
        q,
        q_q,
        q_v,
    }
}

/// `-dU/dq - dF/dV + sum (d velocity/dV)^T value`, one direction of it.
fn generalised(pool: &mut ExprPool, d: &mut Differentiator, sources: &Sources, x: &Direction) -> ExprId {
    let slope = d.grad(pool, sources.potential, x.position);
    let drag = d.grad(pool, sources.dissipation, x.velocity);
    let against = pool.add(slope, drag);
    let mut q = pool.neg(against);
    for &(velocity, value) in &sources.loads {
        let arm = d.jac(pool, velocity, x.velocity);
        let arm = pool.transpose(arm);
        let part = pool.mat_vec(arm, value);
        q = pool.add(q, part);
    }
    q
}
