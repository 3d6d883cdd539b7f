//! What a model's motion costs by each stepper: error of the last state against time, for steps that are halved again and again.
//!
//! A composition of `s` stages takes steps that are longer by the largest power of two in `s`, so that all steppers do about the same
//! work. Errors are against the finest run of a reference; how far that is from its own run with steps twice as long bounds what they mean.
//! Times are those of the steps alone: nothing is measured, checked or recorded while the clock runs, and the first run of a stepper, in which its kernels
//! are compiled, is not timed.

pub mod report;

use std::ops::ControlFlow;
use std::time::Instant;

use mbdsl_runtime::error::StepError;
use mbdsl_runtime::monitor::Monitor;
use mbdsl_runtime::simulate::{Plan, simulate};
use mbdsl_runtime::so3;
use mbdsl_runtime::state::State;
use mbdsl_runtime::steppers::name::StepperName;
use mbdsl_runtime::steppers::{AnyStepper, Stepper as _};
use mbdsl_runtime::system::System as _;
use mbdsl_runtime::topology::BodyKind;
use serde::Serialize;

use super::failure::{self, Failure};
use super::session::{self, Choices, Loaded, Session};
use super::stepper::is_auto;
use super::system::topology;

/// Steppers that are compared, where they suit the model, unless others are named: one of the Euler family, the two families of order 2, compositions of
/// orders 4, 6 and 8, and an explicit method.
pub const STEPPERS: [&str; 9] = [
    "dae1l_lse",
    "splitting_dlm",
    "variational_rrp",
    "splitting_dlm+suzuki4",
    "splitting_dlm+kahan_li6",
    "splitting_dlm+sofroniou_spaletta6",
    "splitting_dlm+kahan_li8",
    "splitting_dlm+sofroniou_spaletta8",
    "dop853",
];

/// The stepper of the reference unless another is named: it moves every body, and its error is the smallest.
pub const REFERENCE: &str = "splitting_dlm+kahan_li8";

/// Longest steps are this many times those of the model, unless they are given: five halvings make a quarter of its own.
const LONGEST: f64 = 8.0;

/// How often steps of the reference are halved further where they fail.
const MORE: u32 = 4;

/// Errors below so many times what the reference may err by, or a last digit a step, show no order.
const CLEAR: f64 = 10.0;

/// Errors above this part of the motion show no order: the leading term of the error does not rule yet.
const SMALL: f64 = 0.1;

/// A run is repeated until this time has passed, s, and so many times at most; the shortest time counts. It is some hundred times what
/// an interruption takes.
const LONG_ENOUGH: f64 = 0.02;
const REPEATS: u32 = 5;

/// What is compared.
#[derive(Clone, Debug, PartialEq)]
pub struct Range {
    /// The steppers.
    pub steppers: Vec<StepperName>,
    /// Stepper of the reference.
    pub reference: StepperName,
    /// Longest step of steppers of one stage, s.
    pub step: f64,
    /// How often it is halved.
    pub halvings: u32,
    /// End, s.
    pub until: f64,
}

/// One run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Point {
    /// Name of the stepper.
    pub stepper: String,
    /// Step, s.
    pub step: f64,
    /// Steps done.
    pub steps: u64,
    /// Newton iterations of all steps.
    pub newton_iterations: u64,
    /// Time of the steps, s: the shortest of several runs where that is short.
    pub wall_s: f64,
    /// Largest distance of a centre of mass from where it is in the reference, m; none where a step failed.
    pub position_error: Option<f64>,
    /// Largest angle of an attitude against the reference, rad; none where a step failed, or without rigid bodies.
    pub attitude_error: Option<f64>,
    /// `log2` of the larger error of the step before, twice as long, by that of this one; none where that of this one is near
    /// round-off or what the reference may err by, or one of them is above a tenth of how far the model moves.
    pub order: Option<f64>,
    /// Largest component of `Phi` in the last state.
    pub position_residual: f64,
    /// Largest component of `d/dt Phi` in the last state.
    pub velocity_residual: f64,
    /// Why a step failed.
    pub failure: Option<String>,
}

/// The run that the others are compared with.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Reference {
    /// Name of the stepper.
    pub stepper: String,
    /// Step, s.
    pub step: f64,
    /// Largest distance of its positions from those of steps twice as long, m.
    pub position_uncertainty: f64,
    /// Largest angle of its attitudes against those of steps twice as long, rad; none without rigid bodies.
    pub attitude_uncertainty: Option<f64>,
}

/// All runs. The order of the fields is the order of the keys in JSON.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct WorkPrecision {
    /// Name of the model.
    pub model: String,
    /// What executed the model's equations.
    pub backend: &'static str,
    /// End, s.
    pub until: f64,
    /// What errors are against.
    pub reference: Reference,
    /// Runs, by stepper and falling step.
    pub points: Vec<Point>,
}

/// How much longer the steps of a stepper are than those of one stage.
fn factor(stepper: StepperName) -> u64 {
    match stepper {
        StepperName::Euler(_) => 1,
        StepperName::Splitting(scheme) => 1 << scheme.composition.parts().len().ilog2(),
        StepperName::Explicit(pair) => 1 << pair.tableau().b.len().ilog2(),
        // Each stage is evaluated in each iteration.
        StepperName::Implicit(method) => 1 << (4 * method.nodes().len()).ilog2(),
        StepperName::GeneralizedAlpha(_) => 4,
    }
}

/// Those of [`STEPPERS`] that can move a model.
fn usual(loaded: &Loaded) -> Vec<StepperName> {
    let topology = topology(&loaded.compiled.program, &loaded.binding);
    let names = STEPPERS.iter().map(|name| name.parse().expect("the usual steppers have names that exist"));
    names.filter(|name: &StepperName| name.check(&topology).is_ok()).collect()
}

impl Range {
    /// What the command line and the model say, and usual values for the rest.
    ///
    /// # Errors
    /// As of [`session::setup`]; or if there is no time between start and end.
    pub fn new(
        loaded: &Loaded,
        choices: &Choices,
        steppers: &[String],
        reference: Option<&str>,
        halvings: u32,
    ) -> Result<Self, Failure> {
        if is_auto(loaded, choices) {
            return Err(Failure::Usage(
                "the steps are halved again and again: give the longest by `--step`".to_owned(),
            ));
        }
        let setup =
            |name: &str| session::setup(loaded, &Choices { stepper: Some(name.trim().to_owned()), ..choices.clone() });
        let steppers = match steppers {
            [] => usual(loaded),
            names => names.iter().map(|name| Ok(setup(name)?.method)).collect::<Result<_, Failure>>()?,
        };
        let first = setup(reference.unwrap_or(REFERENCE))?;
        let own = loaded.compiled.model.simulate.stepper.as_ref().and_then(|(name, _)| name.parse().ok());
        let step = match choices.step {
            Some(_) => first.plan.step,
            None => LONGEST * first.plan.step / own.map_or(1, factor) as f64,
        };
        if first.until <= 0.0 {
            return Err(Failure::Usage("errors at the start are zero: the end must come later".to_owned()));
        }
        Ok(Self { steppers, reference: first.method, step, halvings, until: first.until })
    }

    /// Number of steps of a stepper after so many halvings: whole, with steps not longer than asked for.
    fn count(&self, stepper: StepperName, halvings: u32) -> u64 {
        let longest = self.step * factor(stepper) as f64;
        let first = (self.until / longest * (1.0 - 1e-9)).ceil().max(1.0) as u64;
        first << halvings
    }

    /// Steps in all, for a bar.
    #[must_use]
    pub fn steps(&self) -> u64 {
        // The first run of each is done twice.
        let of = |stepper: &StepperName| {
            self.count(*stepper, 0) + (0..=self.halvings).map(|k| self.count(*stepper, k)).sum::<u64>()
        };
        self.steppers.iter().map(of).sum::<u64>() + 3 * self.count(self.reference, self.halvings)
    }
}

/// The last state of a run.
struct End {
    state: State,
    steps: u64,
    iterations: u64,
    wall: f64,
    residuals: [f64; 2],
    failure: Option<StepError>,
}

/// Runs to the end; again, where that takes little time. What `see` does with each state counts as work.
fn run(
    loaded: &Loaded,
    session: &mut Session<'_>,
    name: StepperName,
    (step, until): (f64, f64),
    mut see: impl FnMut(&State),
) -> Result<End, Failure> {
    let topology = session.system.topology().clone();
    let plan = Plan::new(step, until)
        .ok_or_else(|| Failure::Usage(format!("cannot step from 0 to {until} s in steps of {step} s")))?;
    let (mut total, mut wall) = (0.0, f64::INFINITY);
    let mut repeats = 0;
    loop {
        let mut stepper = AnyStepper::new(&topology, name)
            .map_err(|e| Failure::Usage(e.message(|body| loaded.compiled.model.body_name(body))))?;
        let mut state = session.start.clone();
        let begin = Instant::now();
        let (done, result) = simulate(&mut session.system, &mut stepper, &mut state, &plan, |_, _, state, _| {
            see(state);
            ControlFlow::Continue(())
        });
        let time = begin.elapsed().as_secs_f64();
        (total, wall, repeats) = (total + time, time.min(wall), repeats + 1);
        if total < LONG_ENOUGH && repeats < REPEATS {
            continue;
        }
        let measures = Monitor::new(&topology).measure(&mut session.system, &state, stepper.acceleration());
        return Ok(End {
            state,
            steps: done.steps,
            iterations: done.iterations,
            wall,
            residuals: [measures.position_residual, measures.velocity_residual],
            failure: result.err(),
        });
    }
}

/// How far two states are from one another.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Distance {
    /// Largest distance of a centre of mass, m.
    position: f64,
    /// Largest angle of an attitude, rad; none without rigid bodies.
    attitude: Option<f64>,
}

impl Distance {
    fn between(loaded: &Loaded, a: &State, b: &State) -> Self {
        let bodies = loaded.binding.bodies.iter().enumerate();
        let position = bodies.clone().map(|(k, _)| (a.x(k) - b.x(k)).norm()).fold(0.0, f64::max);
        let rigid = bodies.filter(|(_, body)| body.kind == BodyKind::Rigid);
        let attitude = rigid.map(|(k, _)| so3::log(&(a.r(k).transpose() * b.r(k))).norm()).reduce(f64::max);
        Self { position, attitude }
    }

    /// The larger number, of metres and radians.
    fn size(&self) -> f64 {
        self.position.max(self.attitude.unwrap_or(0.0))
    }

    /// The farthest of both kinds.
    fn farthest(self, other: Self) -> Self {
        let attitude = self.attitude.into_iter().chain(other.attitude).reduce(f64::max);
        Self { position: self.position.max(other.position), attitude }
    }

    /// Whether the larger number is a small part of how far the model moves.
    fn is_small(&self, motion: &Self) -> bool {
        match (self.attitude, motion.attitude) {
            (Some(angle), Some(turn)) if angle > self.position => angle <= SMALL * turn,
            _ => self.position <= SMALL * motion.position,
        }
    }
}

/// Runs everything; `progress(steps done, steps in all)` is told after each run.
///
/// # Errors
/// If a step of the reference fails. Those of other runs are in their points.
pub fn measure(
    loaded: &Loaded,
    session: &mut Session<'_>,
    range: &Range,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<WorkPrecision, Failure> {
    let (model, all) = (&loaded.compiled.model, range.steps());
    let mut done = 0;
    let begin = session.start.clone();
    let mut to_end = |name: StepperName, count: u64, see: &mut dyn FnMut(&State)| {
        let step = range.until / count as f64;
        let end = run(loaded, session, name, (step, range.until), see)?;
        done += count;
        progress(done.min(all), all);
        Ok::<_, Failure>((step, end))
    };
    let unseen: &mut dyn FnMut(&State) = &mut |_| {};

    // The steps of stiff models may be too long for it.
    let mut finest = range.count(range.reference, range.halvings);
    let (step, half, exact, motion) = loop {
        let mut motion = Distance::default();
        let (_, half) =
            to_end(range.reference, finest, &mut |s| motion = motion.farthest(Distance::between(loaded, &begin, s)))?;
        let (step, exact) = to_end(range.reference, 2 * finest, unseen)?;
        let Some(error) = half.failure.as_ref().or(exact.failure.as_ref()) else { break (step, half, exact, motion) };
        if finest >= range.count(range.reference, range.halvings + MORE) {
            return Err(Failure::Step(Box::new(failure::step(model, error))));
        }
        finest *= 2;
    };
    let uncertain = Distance::between(loaded, &half.state, &exact.state);
    let reference = Reference {
        stepper: range.reference.to_string(),
        step,
        position_uncertainty: uncertain.position,
        attitude_uncertainty: uncertain.attitude,
    };

    let mut points = Vec::new();
    for &name in &range.steppers {
        let mut before: Option<Distance> = None;
        // Kernels are compiled in a run that is not timed, which must be one that reaches its end.
        let mut is_warm = false;
        for halvings in 0..=range.halvings {
            let count = range.count(name, halvings);
            if !is_warm {
                is_warm = to_end(name, count, unseen)?.1.failure.is_none();
            }
            let (step, end) = to_end(name, count, unseen)?;
            let found = end.failure.is_none().then(|| Distance::between(loaded, &end.state, &exact.state));
            let blurred = CLEAR * uncertain.size().max(f64::EPSILON * end.steps as f64);
            let coarse = before.filter(|coarse| coarse.is_small(&motion));
            let fine = found.filter(|fine| fine.is_small(&motion) && fine.size() > blurred);
            points.push(Point {
                stepper: name.to_string(),
                step,
                steps: end.steps,
                newton_iterations: end.iterations,
                wall_s: end.wall,
                position_error: found.map(|found| found.position),
                attitude_error: found.and_then(|found| found.attitude),
                order: coarse.zip(fine).map(|(coarse, fine)| (coarse.size() / fine.size()).log2()),
                position_residual: end.residuals[0],
                velocity_residual: end.residuals[1],
                failure: end.failure.map(|error| failure::step(model, &error).message),
            });
            before = found;
        }
    }
    Ok(WorkPrecision {
        model: model.name.clone(),
        backend: loaded.backend.name(),
        until: range.until,
        reference,
        points,
    })
}
