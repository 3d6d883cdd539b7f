//! The checked model into its equations: per element kind, the constraints, forces and every derivative that a stepper needs.
//!
//! Each kind is differentiated once, in its own index variables, whatever the number of its instances. The pool of the
//! model is copied and grows; the model itself is left alone.

mod constraint;
mod equations;
mod error;
mod force;
mod observer;
mod rewrite;

use crate::model::Model;
use crate::symbolic::diff::Differentiator;

pub use equations::{
    AngleKind, CheckValue, ConditionKind, ConstraintKind, Direction, Equations, ForceKind, Group, Origin, PairKind,
    ParamValue, SetupKind, slots,
};
pub use error::FormulateError;

use rewrite::Preparation;

/// Derives the equations of a model.
///
/// # Errors
/// Where a reduction stands in equations of motion but cannot be written out term by term.
pub fn formulate(model: &Model) -> Result<Equations, Vec<FormulateError>> {
    let mut pool = model.pool.clone();
    let mut prepare = Preparation::new(&model.bodies);
    let mut d = Differentiator::default();
    let mut out = Equations::default();

    for (k, param) in model.params.iter().enumerate() {
        let default = prepare.observed(&mut pool, param.default);
        out.params.push(ParamValue { default, ty: model.pool.params()[k] });
    }
    for (k, input) in model.inputs.iter().enumerate() {
        let default = prepare.observed(&mut pool, input.default);
        out.inputs.push(ParamValue { default, ty: model.pool.inputs()[k] });
    }
    prepare.at(model.span);
    let gravity = prepare.unrolled(&mut pool, model.gravity);
    for (k, body) in model.bodies.iter().enumerate() {
        prepare.at(body.span);
        out.setups.push(equations::setup(&mut pool, &mut prepare, body));
        if !pool.is_zero(gravity) {
            let mass = prepare.unrolled(&mut pool, body.mass);
            out.forces.push(force::gravity(&mut pool, &mut d, model, k, mass, gravity));
        }
    }
    for (k, element) in model.elements.iter().enumerate() {
        prepare.at(element.span);
        out.constraints.extend(constraint::constraint(&mut pool, &mut d, &mut prepare, model, k));
        out.forces.extend(force::element(&mut pool, &mut d, &mut prepare, model, k));
    }
    for (k, condition) in model.conditions.iter().enumerate() {
        prepare.at(condition.span);
        out.conditions.push(constraint::condition(&mut pool, &mut d, &mut prepare, model, k));
    }
    out.outputs = model.outputs.iter().map(|o| prepare.observed(&mut pool, o.value)).collect();
    out.checks = model.checks.iter().map(|c| observer::check(&mut pool, &mut prepare, c)).collect();
    let tolerance = model.simulate.tolerance.map(|(e, _)| e);
    for e in [model.simulate.step, model.simulate.until, model.simulate.every, tolerance] {
        out.simulate.push(e.map(|e| prepare.observed(&mut pool, e)));
    }
    out.angles = observer::angles(&mut pool, &mut prepare, model, &out);

    let errors = prepare.finish();
    if !errors.is_empty() {
        return Err(errors);
    }
    out.pool = pool;
    Ok(out)
}
