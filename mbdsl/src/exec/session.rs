//! A model made ready to run: compiled, parameters bound, initial values assembled, stepper and steps chosen.

use std::path::Path;

use mbdsl_runtime::assembly::{self, AssemblyReport};
use mbdsl_runtime::simulate::Plan;
use mbdsl_runtime::state::State;
use mbdsl_runtime::steppers::AnyStepper;
use mbdsl_runtime::steppers::adaptive::Tolerance;
use mbdsl_runtime::steppers::name::{StepperName, Unsuited};
use mbdsl_runtime::topology::Topology;
use mbdsl_runtime::wind::wind;

use super::bind::{self, Binding};
use super::choice::{Choice, PAIRS, SMOOTH};
use super::failure::{self, Failure};
use super::observe::Observers;
use super::quantity::{self, Quantity};
pub use super::stepper::{applicable, stepper};
use super::stepper::{is_auto, tolerance};
use super::system::ProgramSystem;
use crate::backend::engine::{Backend, Engine};
use crate::backend::interp::TooManyRegisters;
use crate::driver::{self, Compiled};
use crate::model::Redundancy;
use crate::sema::Options;
use crate::source::{FileId, Sources};
use crate::units::Dim;

/// What the command line says about a run, as written.
#[derive(Clone, Debug, Default)]
pub struct Choices {
    /// Name of the model.
    pub model: Option<String>,
    /// `name=value` for parameters, inputs and constants.
    pub set: Vec<String>,
    /// Name of the stepper.
    pub stepper: Option<String>,
    /// Step, or `auto`.
    pub step: Option<String>,
    /// What the error of a step may be, where it is `auto`.
    pub tolerance: Option<String>,
    /// End.
    pub until: Option<String>,
    /// Interval of recording.
    pub every: Option<String>,
    /// What runs the kernels.
    pub backend: Backend,
}

/// A compiled model with the values chosen for its parameters and inputs.
#[derive(Debug)]
pub struct Loaded {
    /// The compiled model.
    pub compiled: Compiled,
    /// The numbers.
    pub binding: Binding,
    /// What runs the kernels.
    pub backend: Backend,
}

/// Reads a file into the sources.
///
/// # Errors
/// If it cannot be read. Bytes that are no text are shown as replacement characters, which the language refuses.
pub fn read(sources: &mut Sources, path: &Path) -> Result<FileId, Failure> {
    let bytes = std::fs::read(path).map_err(|e| Failure::Io { path: path.to_owned(), error: e.to_string() })?;
    Ok(sources.add(path.display().to_string(), String::from_utf8_lossy(&bytes).into_owned()))
}

/// Compiles a file and binds its parameters.
///
/// # Errors
/// Errors of the model, or of the values on the command line.
pub fn load(sources: &mut Sources, file: FileId, choices: &Choices) -> Result<Loaded, Failure> {
    let (compiled, values) = compile(sources, file, choices)?;
    let binding = bind::bind(&compiled.program, &values)
        .map_err(|errors| Failure::Model(errors.iter().map(|e| e.diagnostic(&compiled.model)).collect()))?;
    Ok(Loaded { compiled, binding, backend: choices.backend })
}

/// Values that were chosen for parameters, by the numbers of these.
pub type Values = Vec<(usize, Vec<f64>)>;

/// Compiles a file; beside it, the values that were chosen for its parameters.
///
/// # Errors
/// Errors of the model, or of the values on the command line.
pub fn compile(sources: &mut Sources, file: FileId, choices: &Choices) -> Result<(Compiled, Values), Failure> {
    let mut set: Vec<(String, Quantity)> = Vec::new();
    for assignment in &choices.set {
        let Some((name, value)) = assignment.split_once('=').filter(|(name, _)| !name.trim().is_empty()) else {
            return Err(Failure::Usage(format!("`--set {assignment}`: write `--set name=value`")));
        };
        let value = quantity::quantity(value).map_err(|e| Failure::Usage(format!("`--set {assignment}`: {e}")))?;
        set.push((name.trim().to_owned(), value));
    }
    let options = Options {
        model: choices.model.clone(),
        overrides: set.iter().map(|(n, q)| (n.clone(), q.values.first().copied().unwrap_or(0.0))).collect(),
    };
    let compiled = driver::compile(sources, file, &options).map_err(Failure::Model)?;
    let settable: Vec<_> = compiled.model.settable().collect();
    let mut values = Vec::new();
    for (name, q) in set {
        let param = settable.iter().position(|p| p.name == name);
        let constant = compiled.model.consts.iter().find(|c| c.name == name);
        if constant.is_some() && q.values.len() > 1 {
            return Err(Failure::Usage(format!("`--set {name}=...`: a `const` is a single number")));
        }
        let expected = param.map(|k| settable[k].dim).or(constant.map(|c| c.dim));
        if let (Some(found), Some(expected)) = (q.dim, expected)
            && found != expected
        {
            return Err(Failure::Usage(format!("`--set {name}=...` is {found}, expected {expected}")));
        }
        values.extend(param.map(|k| (k, q.values)));
    }
    Ok((compiled, values))
}

/// A model on the starting line.
#[derive(Debug)]
pub struct Session<'p> {
    /// The model as a system.
    pub system: ProgramSystem<'p>,
    /// Its outputs and checks.
    pub observers: Observers<'p>,
    /// The assembled state.
    pub start: State,
    /// What assembly found.
    pub report: AssemblyReport,
}

/// Assembles a model.
///
/// # Errors
/// If it cannot be assembled, or has redundant constraints that it denies.
pub fn assemble(loaded: &Loaded) -> Result<Session<'_>, Failure> {
    assemble_by(loaded, &Engine::new(loaded.backend))
}

/// The same for runs whose times are compared: kernels are compiled as soon as it is known that they run more than once.
///
/// # Errors
/// As of [`assemble`].
pub fn assemble_for_timing(loaded: &Loaded) -> Result<Session<'_>, Failure> {
    assemble_by(loaded, &Engine::impatient(loaded.backend))
}

fn assemble_by<'p>(loaded: &'p Loaded, engine: &Engine) -> Result<Session<'p>, Failure> {
    let Loaded { compiled, binding, .. } = loaded;
    let too_large =
        |e: TooManyRegisters| Failure::Model(vec![super::error::BindError::from(e).diagnostic(&compiled.model)]);
    let mut system = ProgramSystem::new(&compiled.program, binding, engine).map_err(too_large)?;
    let observers = Observers::new(&compiled.program, binding, engine).map_err(too_large)?;
    let mut guess = binding.guess.clone();
    wind(&mut system, &mut guess);
    let (start, report) = assembly::assemble(&mut system, guess)
        .map_err(|e| Failure::Model(vec![failure::assembly(&compiled.model, &e)]))?;
    if compiled.model.redundancy == Redundancy::Deny && report.rank < report.rows {
        return Err(Failure::Model(vec![failure::redundancy(&compiled.model, &report)]));
    }
    system.set_start(&start);
    Ok(Session { system, observers, start, report })
}

/// Bodies whose given velocity assembly has changed: number, change in m/s, change in rad/s.
#[must_use]
pub fn changed_velocities(loaded: &Loaded, start: &State) -> Vec<(usize, f64, f64)> {
    let Binding { guess, placed, .. } = &loaded.binding;
    let mut changed = Vec::new();
    for (body, given) in placed.iter().enumerate() {
        let linear = if given.vel { (start.v(body) - guess.v(body)).norm() } else { 0.0 };
        let angular = if given.omega { (start.omega(body) - guess.omega(body)).norm() } else { 0.0 };
        // Far above round-off, far below what anybody would notice in a motion.
        let is_changed =
            linear > VELOCITY_CHANGE * guess.v(body).norm() || angular > VELOCITY_CHANGE * guess.omega(body).norm();
        if is_changed {
            changed.push((body, linear, angular));
        }
    }
    changed
}

/// Part of a given velocity that assembly may change without saying so.
const VELOCITY_CHANGE: f64 = 1e-9;

/// How to run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Setup {
    /// The stepper.
    pub method: StepperName,
    /// How it was found.
    pub choice: Choice,
    /// The steps, or the outputs where a tolerance chooses the steps.
    pub plan: Plan,
    /// What the error of a step may be, where it chooses the steps.
    pub tolerance: Option<Tolerance>,
    /// End, s.
    pub until: f64,
    /// Interval of recording, s.
    pub every: Option<f64>,
}

/// Combines what the command line and the model say about a run. Where they name no stepper, [`Session::choose`] is to choose it.
///
/// # Errors
/// If something is missing, unknown or impossible.
pub fn setup(loaded: &Loaded, choices: &Choices) -> Result<Setup, Failure> {
    let binding = &loaded.binding;
    let time = |flag: &str, given: &Option<String>, own: Option<f64>| match given {
        Some(text) => {
            quantity::scalar(text, Dim::TIME).map(Some).map_err(|e| Failure::Usage(format!("`--{flag}`: {e}")))
        }
        None => Ok(own),
    };
    let missing = |flag: &str, example: &str| {
        Failure::Usage(format!(
            "the model gives no {flag}: write `simulate {{ {flag} = {example}; }}` or `--{flag} {example}`"
        ))
    };
    let named = stepper(loaded, choices)?;
    let has_pairs = !loaded.compiled.program.pairs.is_empty();
    let is_auto = is_auto(loaded, choices);
    // Where nothing is said of steppers and steps, a tolerance chooses the steps.
    let is_free = named.is_none() && !has_pairs && choices.step.is_none() && binding.step.is_none();
    let tolerance = tolerance(loaded, choices, is_auto || is_free)?;
    let step = match tolerance {
        Some(_) => None,
        None => Some(time("step", &choices.step, binding.step)?.ok_or_else(|| missing("step", "1 ms"))?),
    };
    let until = time("until", &choices.until, binding.until)?.ok_or_else(|| missing("until", "1 s"))?;
    let every = time("every", &choices.every, binding.every)?;
    if every.is_some_and(|dt| !(dt.is_finite() && dt > 0.0)) {
        return Err(Failure::Usage("the interval of recording must be a positive time".into()));
    }
    let plan = step.map_or_else(|| Plan::outputs(every, until), |step| Plan::new(step, until));
    let Some(plan) = plan else {
        let steps = step.or(every).map_or_else(String::new, |step| format!(" in steps of {step} s"));
        return Err(Failure::Usage(format!("cannot step from 0 to {until} s{steps}")));
    };
    let (method, choice) = match named {
        Some(method) => (method, Choice::Named),
        None if has_pairs && !is_auto => (PAIRS, Choice::Pairs),
        None => (SMOOTH, Choice::Open),
    };
    Ok(Setup { method, choice, plan, tolerance, until, every })
}

impl Setup {
    /// The stepper for a model.
    ///
    /// # Errors
    /// If it cannot move the model; [`setup`] has looked.
    pub fn stepper(&self, topology: &Topology) -> Result<AnyStepper, Unsuited> {
        match self.tolerance {
            Some(tolerance) => AnyStepper::adaptive(topology, self.method, tolerance, self.until),
            None => AnyStepper::new(topology, self.method),
        }
    }
}
