//! A program and values of its parameters into numbers: mass properties, the guess of the initial state, defaults of the run.
//!
//! What a model can only promise for given parameters is checked here: masses, inertias, rotations, and the checks
//! that depend on nothing else.

use mbdsl_runtime::point::Point;
use mbdsl_runtime::setup::Setup;
use mbdsl_runtime::state::State;
use mbdsl_runtime::steppers::adaptive::Tolerance;
use mbdsl_runtime::topology::{Body, BodyKind};

use crate::backend::engine::{Backend, Engine};
use crate::ir::program::{BodyFamily, CheckTime, Param, Probe, Program};

use super::error::BindError;
use super::instances::Gauge;

/// What is given of the placement of a body; the rest of the guess is a default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Placed {
    /// Position.
    pub pos: bool,
    /// Rotation.
    pub rot: bool,
    /// Velocity.
    pub vel: bool,
    /// Angular velocity.
    pub omega: bool,
}

/// The numbers of a model for some values of its parameters.
#[derive(Clone, Debug, PartialEq)]
pub struct Binding {
    /// Scalars of the parameters, then the structural constants.
    pub params: Vec<f64>,
    /// Scalars of the inputs at the start.
    pub signals: Vec<f64>,
    /// Mass properties of the bodies.
    pub bodies: Vec<Body>,
    /// Centre of mass of each body in its reference frame, m.
    pub com: Vec<[f64; 3]>,
    /// The state before assembly. Where nothing is given, bodies are at the origin, unturned, at rest.
    pub guess: State,
    /// What of the guess the model gives.
    pub placed: Vec<Placed>,
    /// Step, s.
    pub step: Option<f64>,
    /// End, s.
    pub until: Option<f64>,
    /// Interval of recording, s.
    pub every: Option<f64>,
    /// What the error of a step may be, where a tolerance chooses the steps.
    pub tolerance: Option<Tolerance>,
}

/// Binds the parameters and inputs of a program: `set` has numbers with their scalars, parameters counting first and inputs
/// after them; all others take their defaults.
///
/// # Errors
/// Everything that is wrong with the values, in the order of the declarations.
pub fn bind(program: &Program, set: &[(usize, Vec<f64>)]) -> Result<Binding, Vec<BindError>> {
    let (params, signals) = parameters(program, set)?;
    let mut errors = Vec::new();
    let mut bodies = Vec::new();
    let mut com = Vec::new();
    let mut placed = Vec::new();
    let mut guess = State::new(program.body_count(), program.memory_len());
    for family in &program.bodies {
        let mut gauge = gauge(&family.setup, &params)?;
        gauge.reduce(&Point::NONE);
        for k in 0..gauge.count() {
            let setup = setup(family, gauge.evaluate(k, &Point::NONE));
            let body = family.first + k;
            errors.extend(setup.faults().into_iter().map(|fault| BindError::of_body(body, fault)));
            setup.place(body, &mut guess);
            bodies.push(setup.body);
            com.push(setup.com.into());
            let [pos, rot, vel, omega] = family.given;
            placed.push(Placed { pos, rot, vel, omega });
        }
    }
    errors.extend(failing_checks(program, &params)?);
    let default = |probe: &Option<Probe>| probe.as_ref().map(|p| single(p, &params)).transpose();
    let defaults = &program.defaults;
    let value = default(&defaults.tolerance)?;
    let tolerance = value.and_then(Tolerance::new);
    errors.extend(value.filter(|_| tolerance.is_none()).map(|value| BindError::Tolerance { value }));
    if !errors.is_empty() {
        return Err(errors);
    }
    let [step, until, every] = [default(&defaults.step)?, default(&defaults.until)?, default(&defaults.every)?];
    Ok(Binding { params, signals, bodies, com, guess, placed, step, until, every, tolerance })
}

/// Mass properties and placement of a body from the numbers of its setup probe.
fn setup(family: &BodyFamily, numbers: &[f64]) -> Setup {
    let kind = if family.is_rigid { BodyKind::Rigid } else { BodyKind::Particle };
    Setup::new(kind, family.given[1], numbers.first_chunk().expect("a setup probe gives all numbers"))
}

/// Values of all parameters and of all inputs.
fn parameters(program: &Program, set: &[(usize, Vec<f64>)]) -> Result<(Vec<f64>, Vec<f64>), Vec<BindError>> {
    let mut params = vec![0.0; program.param_len()];
    let consts = params.len() - program.consts.len();
    params[consts..].copy_from_slice(&program.consts);
    let mut errors = Vec::new();
    for &k in &program.param_order {
        let p = &program.params[k];
        if let Some(values) = given(p, k, set, &params, &mut errors)? {
            params[p.offset..p.offset + p.len].copy_from_slice(&values);
        }
    }
    let mut signals = vec![0.0; program.signal_len()];
    for (input, k) in program.inputs.iter().zip(program.params.len()..) {
        if let Some(values) = given(input, k, set, &params, &mut errors)? {
            signals[input.offset..input.offset + input.len].copy_from_slice(&values);
        }
    }
    if errors.is_empty() { Ok((params, signals)) } else { Err(errors) }
}

/// What a parameter or input is set to, or its default; `None` where the number of values is wrong.
fn given(
    p: &Param,
    number: usize,
    set: &[(usize, Vec<f64>)],
    params: &[f64],
    errors: &mut Vec<BindError>,
) -> Result<Option<Vec<f64>>, Vec<BindError>> {
    let values = match set.iter().rev().find(|(k, _)| *k == number) {
        Some((_, values)) if values.len() == p.len => values.clone(),
        Some((_, values)) => {
            errors.push(BindError::ParamLength { param: number, expected: p.len, found: values.len() });
            return Ok(None);
        }
        None => {
            let mut gauge = gauge(&p.default, params)?;
            gauge.reduce(&Point::NONE);
            gauge.evaluate(0, &Point::NONE).to_vec()
        }
    };
    if !values.iter().all(|x| x.is_finite()) {
        errors.push(BindError::Param { param: number });
    }
    Ok(Some(values))
}

/// A probe that depends on parameters only. It is evaluated once, for which no compiler is started.
fn gauge<'p>(probe: &'p Probe, params: &[f64]) -> Result<Gauge<'p>, Vec<BindError>> {
    Gauge::new(probe, params, &Engine::new(Backend::Interp)).map_err(|e| vec![e.into()])
}

/// The value of a probe of one number that depends on parameters only.
fn single(probe: &Probe, params: &[f64]) -> Result<f64, Vec<BindError>> {
    let mut gauge = gauge(probe, params)?;
    gauge.reduce(&Point::NONE);
    Ok(gauge.evaluate(0, &Point::NONE)[0])
}

/// Checks of parameters that do not hold.
fn failing_checks(program: &Program, params: &[f64]) -> Result<Vec<BindError>, Vec<BindError>> {
    let mut failing = Vec::new();
    for (number, check) in program.checks.iter().enumerate() {
        if check.time != CheckTime::Bound {
            continue;
        }
        let mut gauge = gauge(&check.probe, params)?;
        gauge.reduce(&Point::NONE);
        for k in 0..gauge.count() {
            let name = gauge.name(k);
            let values = gauge.evaluate(k, &Point::NONE);
            if values[0] == 0.0 {
                let sides = check.comparison.map(|_| (values[1], values[2]));
                failing.push(BindError::Check { check: number, name, sides });
            }
        }
    }
    Ok(failing)
}
