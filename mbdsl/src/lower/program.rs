//! The equations of a model into a program: kernels for each kind of element, and the tables of its instances.

mod error;
mod family;
mod index;
mod kinds;
mod probe;

use crate::formulate::{Equations, ParamValue};
use crate::ir::program::{
    BodyFamily, Check, CheckTime, Comparison, Defaults, Output as Observed, Param, Program, SETUP,
};
use crate::model::{self, BodyKind, IndexSet, Model};
use crate::symbolic::{Cmp, ExprId, ExprPool, Node};

use super::Output;
use super::unroll::unroll;

pub use error::ProgramError;

use family::Context;

/// Lowers the equations of a model.
///
/// # Errors
/// Where an index expression leads outside of an index set, or where a reduction of an output cannot be tabulated;
/// anything else is a bug.
pub fn lower(model: &Model, equations: &Equations) -> Result<Program, ProgramError> {
    let context = Context::new(model, equations);
    let single = IndexSet::single();

    let given = |sources: &[model::Param], values: &[ParamValue], offsets: &[u32]| {
        let mut list = Vec::with_capacity(sources.len());
        for ((source, value), &offset) in sources.iter().zip(values).zip(offsets) {
            let outputs = [Output::dense(0, value.default)];
            list.push(Param {
                name: source.name.clone(),
                docs: source.docs.clone(),
                unit: source.dim.unit(),
                offset: offset as usize,
                len: value.ty.len(),
                default: context.at(source.span).setup(&source.name, &single, &outputs, value.ty.len())?,
            });
        }
        Ok(list)
    };
    let params = given(&model.params, &equations.params, &context.params_offset)?;
    let inputs = given(&model.inputs, &equations.inputs, &context.signals_offset)?;

    let mut bodies = Vec::new();
    for (source, setup) in model.bodies.iter().zip(&equations.setups) {
        let mut outputs =
            vec![Output::dense(0, setup.mass), Output::dense(1, setup.com), Output::dense(4, setup.inertia)];
        for (offset, expr) in [13, 16, 25, 28].into_iter().zip(setup.placement) {
            outputs.extend(expr.map(|expr| Output::dense(offset, expr)));
        }
        bodies.push(BodyFamily {
            first: source.first,
            is_rigid: source.kind == BodyKind::Rigid,
            given: setup.placement.map(|e| e.is_some()),
            setup: context.at(source.span).setup(&source.name, &source.set, &outputs, SETUP)?,
        });
    }

    let constraints = equations.constraints.iter().map(|c| kinds::constraint(&context, c)).collect::<Result<_, _>>()?;
    let (mut forces, mut pairs) = (Vec::new(), Vec::new());
    for kind in &equations.forces {
        match &kind.pairs {
            None => forces.push(kinds::force(&context, kind)?),
            Some(found) => pairs.push(kinds::pair(&context, kind, found)?),
        }
    }
    let angles = equations.angles.iter().map(|a| kinds::angle(&context, a)).collect::<Result<_, _>>()?;
    let conditions = equations.conditions.iter().map(|c| kinds::condition(&context, c)).collect::<Result<_, _>>()?;

    let mut outputs = Vec::new();
    for (source, &value) in model.outputs.iter().zip(&equations.outputs) {
        let probe = context.at(source.span).probe(&source.name, &source.set, &[value])?;
        if probe.has_recordings() {
            return Err(ProgramError::Recorded { span: source.span });
        }
        outputs.push(Observed {
            docs: source.docs.clone(),
            unit: source.dim.unit(),
            len: equations.pool.ty(value).len(),
            probe,
        });
    }
    let mut checks = Vec::new();
    for (source, value) in model.checks.iter().zip(&equations.checks) {
        let mut values = vec![value.condition];
        values.extend(value.sides.iter().flat_map(|&(left, right)| [left, right]));
        checks.push(Check {
            time: match source.time {
                model::CheckTime::Bound => CheckTime::Bound,
                model::CheckTime::Always => CheckTime::Always,
                model::CheckTime::Once => CheckTime::Once,
            },
            comparison: value.sides.and(comparison(&model.pool, source.condition)),
            unit: source.dim.unit(),
            probe: context.at(source.span).probe(&source.name, &source.set, &values)?,
        });
    }

    let mut defaults = Defaults { is_auto: model.simulate.auto.is_some(), ..Defaults::default() };
    let places = [&mut defaults.step, &mut defaults.until, &mut defaults.every, &mut defaults.tolerance];
    let names = ["step", "until", "every", "tolerance"];
    for ((place, name), value) in places.into_iter().zip(names).zip(&equations.simulate) {
        if let Some(value) = *value {
            *place = Some(context.at(model.span).setup(name, &single, &[Output::dense(0, value)], 1)?);
        }
    }

    let program = Program {
        name: model.name.clone(),
        params,
        param_order: model.param_order.clone(),
        inputs,
        consts: equations.pool.consts().to_vec(),
        bodies,
        constraints,
        forces,
        pairs,
        angles,
        conditions,
        outputs,
        checks,
        defaults,
        unrolled: None,
    };
    let unrolled = unroll(&program).map_err(|error| ProgramError::Verify { error, span: model.span })?;
    Ok(Program { unrolled, ..program })
}

/// How a condition compares, if it does.
fn comparison(pool: &ExprPool, condition: ExprId) -> Option<Comparison> {
    match pool.node(condition) {
        Node::Cmp(Cmp::Lt, ..) => Some(Comparison::Less),
        Node::Cmp(Cmp::Le, ..) => Some(Comparison::LessOrEqual),
        Node::Cmp(Cmp::Eq, ..) => Some(Comparison::Equal),
        Node::Cmp(Cmp::Ne, ..) => Some(Comparison::Unequal),
        _ => None,
    }
}
