//! What a run is asked for: outputs as rows of numbers, checks as truth values with both sides.

use mbdsl_runtime::point::Point;
use mbdsl_runtime::state::State;

use crate::backend::engine::Engine;
use crate::backend::interp::TooManyRegisters;
use crate::ir::program::{CheckTime, Program};

use super::bind::Binding;
use super::instances::Gauge;

/// A check that does not hold.
#[derive(Clone, Debug, PartialEq)]
pub struct Failure {
    /// Number of the check in the model.
    pub check: usize,
    /// Name of its instance.
    pub name: String,
    /// Left and right side of a comparison that is complete, SI units.
    pub sides: Option<(f64, f64)>,
    /// Whether it asks for a value at a time that the run did not reach.
    pub is_incomplete: bool,
}

#[derive(Debug)]
struct CheckGauge<'p> {
    number: usize,
    time: CheckTime,
    has_sides: bool,
    gauge: Gauge<'p>,
}

/// The outputs and checks of a program with bound parameters.
#[derive(Debug)]
pub struct Observers<'p> {
    outputs: Vec<Gauge<'p>>,
    columns: Vec<String>,
    values: Vec<f64>,
    checks: Vec<CheckGauge<'p>>,
    signals: Vec<f64>,
}

impl<'p> Observers<'p> {
    /// Prepares the outputs and checks of a program. What is fixed at the start is unknown until
    /// [`Observers::set_start`] is called.
    ///
    /// # Errors
    /// If a kernel needs more registers than the interpreter has.
    pub fn new(program: &'p Program, binding: &Binding, engine: &Engine) -> Result<Self, TooManyRegisters> {
        let mut columns = Vec::new();
        let mut outputs = Vec::new();
        for output in &program.outputs {
            let gauge = Gauge::new(&output.probe, &binding.params, engine)?;
            for k in 0..gauge.count() {
                let name = gauge.name(k);
                match output.len {
                    3 => columns.extend(["x", "y", "z"].map(|axis| format!("{name}.{axis}"))),
                    1 => columns.push(name),
                    len => columns.extend((0..len).map(|c| format!("{name}.{c}"))),
                }
            }
            outputs.push(gauge);
        }
        let mut checks = Vec::new();
        for (number, check) in program.checks.iter().enumerate() {
            if check.time != CheckTime::Bound {
                let gauge = Gauge::new(&check.probe, &binding.params, engine)?;
                checks.push(CheckGauge { number, time: check.time, has_sides: check.comparison.is_some(), gauge });
            }
        }
        let signals = binding.signals.clone();
        Ok(Self { outputs, values: vec![0.0; columns.len()], columns, checks, signals })
    }

    /// The scalars of the inputs, one input after another: from now on, what outputs and checks see.
    pub fn signals_mut(&mut self) -> &mut [f64] {
        &mut self.signals
    }

    /// Computes what is fixed at the assembled start; arguments as of [`Observers::outputs`].
    pub fn set_start(&mut self, start: &State, lambda: &[f64], globals: &[f64; 9]) {
        let point = observed(start, lambda, globals, &self.signals);
        self.outputs.iter_mut().for_each(|o| o.set_start(&point));
        self.checks.iter_mut().for_each(|c| c.gauge.set_start(&point));
    }

    /// Names of the numbers of a row of outputs: `tip.x`, `sag`, `q[3].y`.
    #[must_use]
    pub fn columns(&self) -> &[String] {
        &self.columns
    }

    /// The outputs at a state, in the order of [`Observers::columns`]. `lambda` are the multipliers of all constraint
    /// rows, as forces; `globals` total, kinetic and potential energy, linear and angular momentum.
    pub fn outputs(&mut self, state: &State, lambda: &[f64], globals: &[f64; 9]) -> &[f64] {
        let point = observed(state, lambda, globals, &self.signals);
        let mut at = 0;
        for gauge in &mut self.outputs {
            gauge.reduce(&point);
            for k in 0..gauge.count() {
                let values = gauge.evaluate(k, &point);
                self.values[at..at + values.len()].copy_from_slice(values);
                at += values.len();
            }
        }
        &self.values
    }

    /// Stores values that checks ask for at given times; to be called at the start and after every step, `step` being
    /// the length of the steps.
    pub fn record(&mut self, state: &State, lambda: &[f64], globals: &[f64; 9], step: f64) {
        let point = observed(state, lambda, globals, &self.signals);
        self.checks.iter_mut().for_each(|c| c.gauge.record(&point, step));
    }

    /// The first check that must hold throughout the run and does not hold here.
    pub fn first_failure(&mut self, state: &State, lambda: &[f64], globals: &[f64; 9]) -> Option<Failure> {
        self.failures_of(CheckTime::Always, state, lambda, globals, true).pop()
    }

    /// Checks of the end of the run that do not hold; here the state is the last one.
    pub fn final_failures(&mut self, state: &State, lambda: &[f64], globals: &[f64; 9]) -> Vec<Failure> {
        self.failures_of(CheckTime::Once, state, lambda, globals, false)
    }

    fn failures_of(
        &mut self,
        time: CheckTime,
        state: &State,
        lambda: &[f64],
        globals: &[f64; 9],
        only_first: bool,
    ) -> Vec<Failure> {
        let point = observed(state, lambda, globals, &self.signals);
        let mut failures = Vec::new();
        for check in self.checks.iter_mut().filter(|c| c.time == time) {
            check.gauge.reduce(&point);
            for k in 0..check.gauge.count() {
                let is_incomplete = !check.gauge.is_complete(k);
                let values = check.gauge.evaluate(k, &point);
                if values[0] != 0.0 && !is_incomplete {
                    continue;
                }
                let sides = (check.has_sides && !is_incomplete).then(|| (values[1], values[2]));
                let name = check.gauge.name(k);
                failures.push(Failure { check: check.number, name, sides, is_incomplete });
                if only_first {
                    return failures;
                }
            }
        }
        failures
    }
}

fn observed<'a>(state: &'a State, lambda: &'a [f64], globals: &'a [f64; 9], signals: &'a [f64]) -> Point<'a> {
    Point { lambda, globals, signals, ..Point::of(state) }
}
