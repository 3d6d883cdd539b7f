//! Holonomic equations and conditions on initial values into their values, rates and derivatives by direction.

use crate::model::{Level, Model};
use crate::symbolic::diff::{Differentiator, Rate, Wrt};
use crate::symbolic::{ExprId, ExprPool, Ty};

use super::equations::{ConditionKind, ConstraintKind, Direction, Group, directions, slots};
use super::rewrite::Preparation;

/// The derivative of a scalar (vec3, a row) or of a vector (mat3).
fn derivative(pool: &mut ExprPool, d: &mut Differentiator, e: ExprId, wrt: Wrt) -> ExprId {
    if pool.ty(e) == Ty::Scalar { d.grad(pool, e, wrt) } else { d.jac(pool, e, wrt) }
}

fn by_position(pool: &mut ExprPool, d: &mut Differentiator, e: ExprId, dirs: &[Direction]) -> Vec<ExprId> {
    dirs.iter().map(|x| derivative(pool, d, e, x.position)).collect()
}

fn by_velocity(pool: &mut ExprPool, d: &mut Differentiator, e: ExprId, dirs: &[Direction]) -> Vec<ExprId> {
    dirs.iter().map(|x| derivative(pool, d, e, x.velocity)).collect()
}

/// The equations of an element, if it has any.
pub(super) fn constraint(
    pool: &mut ExprPool,
    d: &mut Differentiator,
    prepare: &mut Preparation<'_>,
    model: &Model,
    element: usize,
) -> Option<ConstraintKind> {
    let source = &model.elements[element];
    if source.equations.is_empty() {
        return None;
    }
    let phis: Vec<_> = source.equations.iter().map(|e| prepare.unrolled(pool, e.phi)).collect();
    let bodies = slots(pool, &phis);
    let (directions, dim) = directions(pool, &model.bodies, &bodies);

    let mut row = 0;
    let mut groups = Vec::new();
    for (symbol, &phi) in (0..).zip(&phis) {
        let group = group(pool, d, &directions, symbol, phi, row);
        row += group.ty.len();
        groups.push(group);
    }

    // B^T lambda by direction, then its derivative by every direction.
    let mut power = pool.num(0.0);
    for group in &groups {
        let p =
            if group.ty == Ty::Scalar { pool.mul(group.lambda, group.phi) } else { pool.dot(group.lambda, group.phi) };
        power = pool.add(power, p);
    }
    let pull: Vec<_> = directions.iter().map(|x| d.grad(pool, power, x.position)).collect();
    let k_lam = pull.iter().flat_map(|&f| by_position(pool, d, f, &directions)).collect();

    Some(ConstraintKind { element, bodies, directions, rows: row, dim, groups, k_lam })
}

fn group(
    pool: &mut ExprPool,
    d: &mut Differentiator,
    directions: &[Direction],
    symbol: u32,
    phi: ExprId,
    row: usize,
) -> Group {
    let ty = pool.ty(phi);
    let phi_t = d.rate(pool, phi, Rate::Explicit);
    let bv = d.rate(pool, phi, Rate::Motion);
    let bv_total = d.rate(pool, phi, Rate::Total);
    let gamma = d.rate(pool, bv_total, Rate::Total);
    Group {
        row,
        ty,
        lambda: pool.symbol(symbol, ty),
        phi,
        phi_t,
        phi_tt: d.rate(pool, phi_t, Rate::Explicit),
        b: by_position(pool, d, phi, directions),
        bv,
        bv_total,
        bdot_v: d.rate(pool, bv, Rate::Motion),
        gamma,
        bv_q: by_position(pool, d, bv_total, directions),
        gamma_q: by_position(pool, d, gamma, directions),
        gamma_v: by_velocity(pool, d, gamma, directions),
    }
}

/// A condition on initial values.
pub(super) fn condition(
    pool: &mut ExprPool,
    d: &mut Differentiator,
    prepare: &mut Preparation<'_>,
    model: &Model,
    condition: usize,
) -> ConditionKind {
    let source = &model.conditions[condition];
    let value = prepare.unrolled(pool, source.value);
    let bodies = slots(pool, &[value]);
    let (directions, dim) = directions(pool, &model.bodies, &bodies);
    let (value_t, b) = match source.level {
        Level::Position => (d.rate(pool, value, Rate::Explicit), by_position(pool, d, value, &directions)),
        Level::Velocity => {
            let ty = pool.ty(value);
            (pool.zero(ty), by_velocity(pool, d, value, &directions))
        }
    };
    ConditionKind { condition, bodies, directions, dim, value, value_t, b }
}
