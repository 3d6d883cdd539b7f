//! One run: steps, measurements after every step, checks, and sinks that see every state.

use std::ops::ControlFlow;
use std::time::Instant;

use mbdsl_runtime::acceleration::accelerations;
use mbdsl_runtime::monitor::{Measures, Monitor};
use mbdsl_runtime::simulate::simulate;
use mbdsl_runtime::state::State;
use mbdsl_runtime::steppers::Stepper as _;
use mbdsl_runtime::steppers::adaptive::Statistics;
use mbdsl_runtime::steppers::name::StepperName;
use mbdsl_runtime::system::System as _;
use mbdsl_runtime::topology::{BodyKind, Topology};

use super::choice::Chosen;
use super::failure::{self, Failure};
use super::session::{Loaded, Session, Setup};
use crate::diag::Diagnostic;

/// What is known at one instant.
#[derive(Clone, Copy, Debug)]
pub struct Snapshot<'a> {
    /// Steps done.
    pub n: u64,
    /// The state.
    pub state: &'a State,
    /// Multipliers, as forces.
    pub lambda: &'a [f64],
    /// Energies, momenta, residuals.
    pub measures: &'a Measures,
    /// Values of the outputs.
    pub outputs: &'a [f64],
}

/// Something that sees every state of a run, the start included.
pub trait Sink {
    /// Sees a state.
    ///
    /// # Errors
    /// If it cannot be written; the run ends.
    fn see(&mut self, snapshot: &Snapshot<'_>) -> Result<(), Failure>;

    /// Sees the last state of a run that a failed step ended early; it has been seen before.
    ///
    /// # Errors
    /// If it cannot be written.
    fn end(&mut self, _snapshot: &Snapshot<'_>) -> Result<(), Failure> {
        Ok(())
    }
}

/// Largest errors of a run. Residuals are those after steps; the start fulfils all equations by construction.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Extremes {
    /// |H - H(0)|, J.
    pub energy: f64,
    /// |Phi|.
    pub position: f64,
    /// |B V + Phi_t|.
    pub velocity: f64,
    /// |B A + gamma|.
    pub acceleration: f64,
    /// |R^T R - I|.
    pub orthogonality: f64,
    /// Linear momentum less that of the start, kg m/s.
    pub momentum: f64,
    /// Angular momentum about the mass centre of the model less that of the start, kg m^2/s.
    pub angular_momentum: f64,
    /// |J Omega| of a body less that of the start, kg m^2/s.
    pub casimir: f64,
    /// Mean of H over the last tenth of the run less that over the first tenth, J.
    pub drift: f64,
    /// Largest kinetic or potential energy, J.
    pub scale: f64,
}

impl Extremes {
    fn take(&mut self, m: &Measures, start: &Measures) {
        self.energy = self.energy.max((m.energy() - start.energy()).abs());
        self.momentum = self.momentum.max((m.momentum - start.momentum).norm());
        self.angular_momentum = self.angular_momentum.max((m.angular_momentum - start.angular_momentum).norm());
        self.scale = self.scale.max(m.kinetic.abs()).max(m.potential.abs());
        self.orthogonality = self.orthogonality.max(m.orthogonality);
    }

    fn take_residuals(&mut self, m: &Measures) {
        self.position = self.position.max(m.position_residual);
        self.velocity = self.velocity.max(m.velocity_residual);
        self.acceleration = self.acceleration.max(m.acceleration_residual);
    }
}

/// Energies of the first and of the last tenth of a run, and sizes of the angular momenta of the bodies at its start.
struct Invariants<'a> {
    topology: &'a Topology,
    casimirs: Vec<f64>,
    /// Steps of a tenth of the run, at least one.
    tenth: u64,
    steps: u64,
    energy_start: f64,
    sums: [f64; 2],
}

impl<'a> Invariants<'a> {
    fn new(topology: &'a Topology, start: &State, steps: u64, energy_start: f64) -> Self {
        let casimirs = casimirs(topology, start).collect();
        Self { topology, casimirs, tenth: (steps / 10).max(1), steps, energy_start, sums: [0.0; 2] }
    }

    /// Sees the state after step `n`.
    fn take(&mut self, n: u64, state: &State, energy: f64, extremes: &mut Extremes) {
        for (now, start) in casimirs(self.topology, state).zip(&self.casimirs) {
            extremes.casimir = extremes.casimir.max((now - start).abs());
        }
        // Relative to the start, so that the mean keeps its digits.
        if n <= self.tenth {
            self.sums[0] += energy - self.energy_start;
        }
        if n > self.steps - self.tenth {
            self.sums[1] += energy - self.energy_start;
        }
        extremes.drift = (self.sums[1] - self.sums[0]) / self.tenth as f64;
    }
}

/// |J Omega| of every rigid body, kg m^2/s.
fn casimirs<'a>(topology: &'a Topology, s: &'a State) -> impl Iterator<Item = f64> + 'a {
    let rigid = topology.bodies.iter().enumerate().filter(|(_, body)| body.kind == BodyKind::Rigid);
    rigid.map(|(b, body)| (body.inertia * s.omega(b)).norm())
}

/// The result of a run.
#[derive(Debug)]
pub struct Outcome {
    /// Steps done, or outputs where a tolerance chooses the steps.
    pub steps: u64,
    /// What steps have cost that a tolerance has chosen.
    pub statistics: Option<Statistics>,
    /// When a stepper that was not named gave way to another, s, and to which.
    pub gave_way: Option<(f64, StepperName)>,
    /// Newton iterations of all steps.
    pub iterations: u64,
    /// Time of the process, s.
    pub wall: f64,
    /// Energy of the start, J.
    pub energy_start: f64,
    /// Largest errors.
    pub extremes: Extremes,
    /// The last good state.
    pub state: State,
    /// Its multipliers, as forces.
    pub lambda: Vec<f64>,
    /// Checks that do not hold.
    pub failed_checks: Vec<Diagnostic>,
    /// The failed step, if one failed.
    pub failed_step: Option<Diagnostic>,
}

/// Runs a session to its end. A step that fails ends the run, and is in the outcome.
///
/// # Errors
/// If a sink cannot write, or the start has no accelerations.
pub fn run(
    loaded: &Loaded,
    session: &mut Session<'_>,
    setup: &Setup,
    enforce_checks: bool,
    sinks: &mut [&mut dyn Sink],
) -> Result<Outcome, Failure> {
    let model = &loaded.compiled.model;
    let begin = Instant::now();
    let topology = session.system.topology().clone();
    let mut monitor = Monitor::new(&topology);
    let mut state = session.start.clone();
    let Session { system, observers, .. } = session;

    // Without accelerations at the start, the first step says what is wrong there.
    let (a0, mut lambda) =
        accelerations(system, &state).unwrap_or_else(|_| (vec![0.0; topology.nv()], vec![0.0; topology.nc()]));
    // After what the accelerations needed has gone: both are large.
    let mut stepper =
        Chosen::new(setup, &topology).map_err(|e| Failure::Usage(e.message(|body| model.body_name(body))))?;
    let start = monitor.measure(system, &state, &a0);
    let energy_start = start.energy();
    let mut extremes = Extremes::default();
    extremes.take(&start, &start);
    let mut invariants = Invariants::new(&topology, &state, setup.plan.steps, energy_start);

    let mut failed_checks = Vec::new();
    let mut failing =
        |observers: &mut super::observe::Observers<'_>, state: &State, lambda: &[f64], globals: &[f64; 9]| {
            if enforce_checks
                && failed_checks.is_empty()
                && let Some(f) = observers.first_failure(state, lambda, globals)
            {
                failed_checks.push(failure::check(model, f.check, &f.name, f.sides, state.t, f.is_incomplete));
            }
        };
    let values = start.globals();
    observers.set_start(&state, &lambda, &values);
    observers.record(&state, &lambda, &values, setup.plan.step);
    failing(observers, &state, &lambda, &values);
    let first = Snapshot {
        n: 0,
        state: &state,
        lambda: &lambda,
        measures: &start,
        outputs: observers.outputs(&state, &lambda, &values),
    };
    for sink in sinks.iter_mut() {
        sink.see(&first)?;
    }

    let mut last = start;
    let mut sink_failure = None;
    let (summary, result) = simulate(system, &mut stepper, &mut state, &setup.plan, |n, system, state, stepper| {
        let measures = monitor.measure(system, state, stepper.acceleration());
        extremes.take(&measures, &start);
        extremes.take_residuals(&measures);
        invariants.take(n, state, measures.energy(), &mut extremes);
        let (lambda, values) = (stepper.lambda(), measures.globals());
        observers.record(state, lambda, &values, setup.plan.step);
        failing(observers, state, lambda, &values);
        let outputs = if sinks.is_empty() { &[] } else { observers.outputs(state, lambda, &values) };
        let snapshot = Snapshot { n, state, lambda, measures: &measures, outputs };
        last = measures;
        for sink in sinks.iter_mut() {
            if let Err(failure) = sink.see(&snapshot) {
                sink_failure = Some(failure);
                return ControlFlow::Break(());
            }
        }
        ControlFlow::Continue(())
    });
    if let Some(failure) = sink_failure {
        return Err(failure);
    }
    let (steps, iterations) = (summary.steps, summary.iterations);
    if steps > 0 {
        lambda.copy_from_slice(stepper.lambda());
    }
    let failed_step = result.err().map(|e| failure::step(model, &e));
    if failed_step.is_some() {
        let outputs = observers.outputs(&state, &lambda, &last.globals());
        let snapshot = Snapshot { n: steps, state: &state, lambda: &lambda, measures: &last, outputs };
        for sink in sinks.iter_mut() {
            sink.end(&snapshot)?;
        }
    }
    if enforce_checks && failed_step.is_none() {
        for f in observers.final_failures(&state, &lambda, &last.globals()) {
            failed_checks.push(failure::check(model, f.check, &f.name, f.sides, state.t, f.is_incomplete));
        }
    }
    let wall = begin.elapsed().as_secs_f64();
    let statistics = stepper.statistics();
    Ok(Outcome {
        steps,
        statistics,
        gave_way: stepper.gave_way(),
        iterations,
        wall,
        energy_start,
        extremes,
        state,
        lambda,
        failed_checks,
        failed_step,
    })
}
