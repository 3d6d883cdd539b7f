//! Constraints, forces, angles and conditions: which expression goes where in which kernel.

use crate::formulate::{AngleKind, ConditionKind, ConstraintKind, Direction, ForceKind, Origin, PairKind};
use crate::ir::program::{Angle, Condition, Constraint, Coupling, Force, Pair};
use crate::lower::Output;
use crate::model::{Equation, IndexSet, Level};
use crate::symbolic::{ExprId, ExprPool, Ty};

use super::error::ProgramError;
use super::family::{Context, number};

/// A `rows x dim` block from its parts by direction, `row` being the first row of these parts.
fn block(out: &mut Vec<Output>, start: usize, row: usize, dim: usize, dirs: &[Direction], parts: &[ExprId]) {
    for (direction, &expr) in dirs.iter().zip(parts) {
        out.push(Output { offset: start + row * dim + direction.offset, row_stride: dim, expr });
    }
}

/// Pairs of directions, row by row, with the number of each among those of a block.
fn pairs(dirs: &[Direction]) -> impl Iterator<Item = Coupling> {
    let vector = |direction: &Direction| number(direction.offset / 3);
    dirs.iter().flat_map(move |row| dirs.iter().map(move |col| [vector(row), vector(col)]))
}

/// The parts by pairs of directions that are other than zero in any of some square blocks.
fn couplings<const N: usize>(pool: &ExprPool, dirs: &[Direction], blocks: [&[ExprId]; N]) -> Vec<Coupling> {
    let is_stored = |k: usize| blocks.iter().any(|parts| !pool.is_zero(parts[k]));
    pairs(dirs).enumerate().filter(|&(k, _)| is_stored(k)).map(|(_, pair)| pair).collect()
}

/// The stored parts of a square block, one after another.
fn square(out: &mut Vec<Output>, start: usize, couplings: &[Coupling], dirs: &[Direction], parts: &[ExprId]) {
    let stored = pairs(dirs).zip(parts).filter(|(pair, _)| couplings.contains(pair));
    for (k, (_, &expr)) in stored.enumerate() {
        out.push(Output { offset: start + 9 * k, row_stride: 3, expr });
    }
}

/// Names of rows: the equation, where there is more than one, and the axis, where it is a vector.
fn row_names(equations: &[Equation], types: &[Ty]) -> Vec<String> {
    let mut names = Vec::new();
    for (equation, ty) in equations.iter().zip(types) {
        let axes = if *ty == Ty::Scalar { &[""][..] } else { &["x", "y", "z"] };
        for axis in axes {
            let separator = if equation.name.is_empty() || axis.is_empty() { "" } else { "." };
            let name = format!("{}{separator}{axis}", equation.name);
            names.push(if name.is_empty() { "equation".to_owned() } else { name });
        }
    }
    names
}

/// Lowers a constraint.
pub(super) fn constraint(context: &Context<'_>, kind: &ConstraintKind) -> Result<Constraint, ProgramError> {
    let source = &context.model.elements[kind.element];
    let site = context.at(source.span);
    let (rows, dim, dirs) = (kind.rows, kind.dim, &kind.directions);
    let block_len = rows * dim;

    let (mut value, mut jacobian) = (Vec::new(), Vec::new());
    let (mut bv_q, mut convective, mut convective_newton) = (Vec::new(), Vec::new(), Vec::new());
    for g in &kind.groups {
        value.push(Output::dense(g.row, g.phi));
        jacobian.extend([Output::dense(g.row, g.phi), Output::dense(rows + g.row, g.phi_t)]);
        block(&mut jacobian, 2 * rows, g.row, dim, dirs, &g.b);
        block(&mut bv_q, 2 * rows + block_len, g.row, dim, dirs, &g.bv_q);
        convective.push(Output::dense(g.row, g.gamma));
        block(&mut convective_newton, 0, g.row, dim, dirs, &g.gamma_q);
        block(&mut convective_newton, block_len, g.row, dim, dirs, &g.gamma_v);
    }
    let mut newton = [&jacobian[..], &bv_q].concat();
    let couplings = couplings(&context.equations.pool, dirs, [&kind.k_lam]);
    square(&mut newton, 2 * (rows + block_len), &couplings, dirs, &kind.k_lam);

    let phis: Vec<_> = kind.groups.iter().map(|g| g.phi).collect();
    let symbols: Vec<_> = (0..).zip(kind.groups.iter().map(|g| g.ty)).collect();
    let names = site.names(&source.set, &phis, Some(&kind.bodies), &symbols);
    let (family, [value, jacobian, newton, convective, convective_newton]) = site.family(
        &source.name,
        &source.set,
        &names,
        [
            ("value", &value, rows),
            ("jacobian", &jacobian, 2 * rows + block_len),
            ("newton", &newton, 2 * (rows + block_len) + 9 * couplings.len()),
            ("convective", &convective, rows),
            ("convective_newton", &convective_newton, 2 * block_len),
        ],
    )?;
    let types: Vec<_> = kind.groups.iter().map(|g| g.ty).collect();
    let row_names = row_names(&source.equations, &types);
    Ok(Constraint { family, rows, dim, couplings, row_names, value, jacobian, newton, convective, convective_newton })
}

/// Lowers a force.
pub(super) fn force(context: &Context<'_>, kind: &ForceKind) -> Result<Force, ProgramError> {
    let (set, span) = match kind.origin {
        Origin::Gravity(decl) => (&context.model.bodies[decl].set, context.model.bodies[decl].span),
        Origin::Element(decl) => (&context.model.elements[decl].set, context.model.elements[decl].span),
    };
    let site = context.at(span);
    let (dim, dirs) = (kind.dim, &kind.directions);
    let energy = [Output::dense(0, kind.potential), Output::dense(1, kind.dissipation)];
    let force: Vec<_> = dirs.iter().zip(&kind.q).map(|(x, &q)| Output::dense(x.offset, q)).collect();
    let mut newton = force.clone();
    let couplings = couplings(&context.equations.pool, dirs, [&kind.q_q, &kind.q_v]);
    let stored = 9 * couplings.len();
    square(&mut newton, dim, &couplings, dirs, &kind.q_q);
    square(&mut newton, dim + stored, &couplings, dirs, &kind.q_v);

    let mut exprs = vec![kind.potential, kind.dissipation];
    exprs.extend(&kind.q);
    let names = site.names(set, &exprs, Some(&kind.bodies), &[]);
    let kernels = [("energy", &energy[..], 2), ("force", &force, dim), ("newton", &newton, dim + 2 * stored)];
    let (family, [energy, force, newton]) = site.family(&kind.name, set, &names, kernels)?;
    Ok(Force { family, dim, couplings, energy, force, newton })
}

/// Lowers a force between pairs that are found during a run.
pub(super) fn pair(context: &Context<'_>, kind: &ForceKind, found: &PairKind) -> Result<Pair, ProgramError> {
    let (name, set, span) = match kind.origin {
        Origin::Gravity(decl) => (&kind.name, &context.model.bodies[decl].set, context.model.bodies[decl].span),
        Origin::Element(decl) => (&kind.name, &context.model.elements[decl].set, context.model.elements[decl].span),
    };
    let site = context.at(span);
    let pool = &context.equations.pool;
    let bodies = [0, 1].map(|k| pool.body(kind.bodies[k]).decl as usize);

    // The index variables of the first body come first.
    let mut vars = &set.vars[..];
    let mut points = Vec::with_capacity(2);
    for (body, point) in bodies.into_iter().zip(found.points) {
        let of = &context.model.bodies[body].set;
        let (own, rest) = vars.split_at(of.vars.len());
        vars = rest;
        let own = IndexSet { vars: own.to_vec(), tuples: of.tuples.clone(), count: of.count };
        points.push(site.probe(name, &own, &[point])?);
    }
    let points = points.try_into().expect("a point of either body");

    let energy = [Output::dense(0, kind.potential)];
    let force: Vec<_> = kind.directions.iter().zip(&kind.q).map(|(x, &q)| Output::dense(x.offset, q)).collect();
    let mut exprs = vec![kind.potential];
    exprs.extend(&kind.q);
    let names = site.names(set, &exprs, Some(&kind.bodies), &[]);
    let kernels = [("energy", &energy[..], 1), ("force", &force, kind.dim)];
    let (family, [energy, force]) = site.family(name, set, &names, kernels)?;
    let admits = site.condition("admits", set, found.admits)?;
    let distance = site.probe(name, &IndexSet::single(), &[found.distance])?;
    Ok(Pair { family, bodies, dim: kind.dim, points, distance, admits, energy, force })
}

/// Lowers a continuous angle.
pub(super) fn angle(context: &Context<'_>, kind: &AngleKind) -> Result<Angle, ProgramError> {
    let source = &context.model.elements[kind.element];
    let site = context.at(source.span);
    let names = site.names(&source.set, &[kind.value], None, &[]);
    let outputs = [Output::dense(0, kind.value)];
    let (family, [value]) = site.family(&source.name, &source.set, &names, [("angle", &outputs, 1)])?;
    Ok(Angle { family, first_cell: context.first_cell(kind.element, kind.site), value })
}

/// Lowers a condition on initial values.
pub(super) fn condition(context: &Context<'_>, kind: &ConditionKind) -> Result<Condition, ProgramError> {
    let source = &context.model.conditions[kind.condition];
    let site = context.at(source.span);
    let (rows, dim) = (context.equations.pool.ty(kind.value).len(), kind.dim);
    let mut outputs = vec![Output::dense(0, kind.value), Output::dense(rows, kind.value_t)];
    block(&mut outputs, 2 * rows, 0, dim, &kind.directions, &kind.b);
    let names = site.names(&source.set, &[kind.value], Some(&kind.bodies), &[]);
    let kernels = [("condition", &outputs[..], 2 * rows + rows * dim)];
    let (family, [value]) = site.family(&source.name, &source.set, &names, kernels)?;
    Ok(Condition { family, is_velocity: source.level == Level::Velocity, is_fixed: source.fixed, rows, dim, value })
}
