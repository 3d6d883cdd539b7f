//! What a model's motion costs by each stepper: error of the last state against time, for steps that are halved again and again,
//! or for tolerances that fall by tenths and choose the steps.
//!
//! A composition of `s` stages takes steps that are longer by the largest power of two in `s`, so that all steppers do about the same
//! work. Errors are against the finest run of a reference; how far that is from its own run with steps twice as long bounds what they mean.
//! Times are those of the steps alone: nothing is measured, checked or recorded while the clock runs, and the first run of a stepper, in which its kernels
//! are compiled, is not timed.

pub mod report;

use std::fmt;
use std::ops::ControlFlow;
use std::time::Instant;

use mbdsl_runtime::error::StepError;
use mbdsl_runtime::monitor::Monitor;
use mbdsl_runtime::simulate::{Plan, simulate};
use mbdsl_runtime::so3;
use mbdsl_runtime::state::State;
use mbdsl_runtime::steppers::adaptive::Tolerance;
use mbdsl_runtime::steppers::name::StepperName;
use mbdsl_runtime::steppers::{AnyStepper, Stepper as _};
use mbdsl_runtime::system::System as _;
use mbdsl_runtime::topology::BodyKind;
use serde::Serialize;

use super::failure::{self, Failure};
use super::session::{self, Choices, Loaded, Session};
use super::stepper::{is_auto, tolerance};
use super::system::topology;

/// Steppers that are compared, where they suit the model, unless others are named: one of the Euler family, the two families of order 2, compositions of
/// orders 4, 6 and 8, and an explicit method with steps of one size and with those that tolerances choose.
pub const STEPPERS: [&str; 10] = [
    "dae1l_lse",
    "splitting_dlm",
    "variational_rrp",
    "splitting_dlm+suzuki4",
    "splitting_dlm+kahan_li6",
    "splitting_dlm+sofroniou_spaletta6",
    "splitting_dlm+kahan_li8",
    "splitting_dlm+sofroniou_spaletta8",
    "dop853",
    "dop853(step = auto)",
];

/// The stepper of the reference unless another is named: it moves every body, and its error is the smallest.
pub const REFERENCE: &str = "splitting_dlm+kahan_li8";

/// Longest steps are this many times those of the model, unless they are given: five halvings make a quarter of its own.
const LONGEST: f64 = 8.0;

/// Tolerances fall by tenths from the first one, unless another is given, to the last one.
const TOLERANCES: [f64; 2] = [1e-4, 1e-12];

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

/// A stepper of the comparison, with steps that are halved or, as `dop853(step = auto)`, with those that tolerances choose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Contender {
    /// The stepper.
    pub stepper: StepperName,
    /// Whether tolerances choose its steps.
    pub is_adaptive: bool,
}

impl Contender {
    /// The name of the stepper, and whether tolerances choose its steps.
    fn split(text: &str) -> (&str, bool) {
        let parts = text.trim().strip_suffix(')').and_then(|text| text.rsplit_once('('));
        match parts.map(|(name, setting)| (name, setting.split_whitespace().collect::<String>())) {
            Some((name, setting)) if setting == "step=auto" => (name.trim(), true),
            Some(_) | None => (text.trim(), false),
        }
    }
}

impl From<StepperName> for Contender {
    fn from(stepper: StepperName) -> Self {
        Self { stepper, is_adaptive: false }
    }
}

impl fmt::Display for Contender {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.stepper, if self.is_adaptive { "(step = auto)" } else { "" })
    }
}

/// What is compared.
#[derive(Clone, Debug, PartialEq)]
pub struct Range {
    /// The steppers.
    pub steppers: Vec<Contender>,
    /// Stepper of the reference.
    pub reference: StepperName,
    /// Longest step of steppers of one stage, s.
    pub step: f64,
    /// How often it is halved.
    pub halvings: u32,
    /// Tolerances, falling.
    pub tolerances: Vec<Tolerance>,
    /// End, s.
    pub until: f64,
}

/// One run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Point {
    /// Name of the stepper.
    pub stepper: String,
    /// Step, s; none where a tolerance chooses the steps.
    pub step: Option<f64>,
    /// The tolerance then.
    pub tolerance: Option<f64>,
    /// Steps done.
    pub steps: u64,
    /// Newton iterations of all steps; of explicit methods, moves of the projection; of steps that a tolerance chooses, evaluations of accelerations.
    pub newton_iterations: u64,
    /// Time of the steps, s: the shortest of several runs where that is short.
    pub wall_s: f64,
    /// Largest distance of a centre of mass from where it is in the reference, m; none where a step failed.
    pub position_error: Option<f64>,
    /// Largest angle of an attitude against the reference, rad; none where a step failed, or without rigid bodies.
    pub attitude_error: Option<f64>,
    /// `log2` of the larger error of the step before, twice as long, by that of this one; none where that of this one is near
    /// round-off or what the reference may err by, or one of them is above a tenth of how far the model moves, or a
    /// tolerance chooses the steps.
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
fn usual(loaded: &Loaded) -> Vec<Contender> {
    let topology = topology(&loaded.compiled.program, &loaded.binding);
    let named = STEPPERS.iter().map(|text| {
        let (name, is_adaptive) = Contender::split(text);
        Contender { stepper: name.parse().expect("the usual steppers have names that exist"), is_adaptive }
    });
    named.filter(|contender| contender.stepper.check(&topology).is_ok()).collect()
}

/// Tolerances by tenths from the first to the last.
fn tenths(first: f64) -> Vec<Tolerance> {
    let count = (first / TOLERANCES[1] * (1.0 + 1e-9)).log10().max(0.0) as i32;
    (0..=count).filter_map(|k| Tolerance::new(first / 10.0_f64.powi(k))).collect()
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
                "the steps are halved again and again: give the longest by `--step`, and write `dop853(step = auto)` in `--steppers` for tolerances that choose them".to_owned(),
            ));
        }
        let is_tolerant = steppers.is_empty() || steppers.iter().any(|text| Contender::split(text).1);
        // A tolerance is for those whose steps it chooses; without any, that it is given is an error.
        let fixed = Choices { tolerance: choices.tolerance.clone().filter(|_| !is_tolerant), ..choices.clone() };
        let auto = Choices { step: Some("auto".to_owned()), ..choices.clone() };
        let setup = |name: &str, choices: &Choices| {
            session::setup(loaded, &Choices { stepper: Some(name.to_owned()), ..choices.clone() })
        };
        let named = |text: &String| {
            let (name, is_adaptive) = Contender::split(text);
            Ok(Contender { stepper: setup(name, if is_adaptive { &auto } else { &fixed })?.method, is_adaptive })
        };
        let steppers = match steppers {
            [] => usual(loaded),
            names => names.iter().map(named).collect::<Result<_, Failure>>()?,
        };
        let tolerance = match choices.tolerance {
            Some(_) => tolerance(loaded, &auto, true)?.map_or(TOLERANCES[0], Tolerance::get),
            None => TOLERANCES[0],
        };
        let setup = |name: &str| setup(name.trim(), &fixed);
        let first = setup(reference.unwrap_or(REFERENCE))?;
        let own = loaded.compiled.model.simulate.stepper.as_ref().and_then(|(name, _)| name.parse().ok());
        let step = match choices.step {
            Some(_) => first.plan.step,
            None => LONGEST * first.plan.step / own.map_or(1, factor) as f64,
        };
        if first.until <= 0.0 {
            return Err(Failure::Usage("errors at the start are zero: the end must come later".to_owned()));
        }
        let tolerances = tenths(tolerance);
        Ok(Self { steppers, reference: first.method, step, halvings, tolerances, until: first.until })
    }

    /// Number of steps of a stepper after so many halvings: whole, with steps not longer than asked for.
    fn count(&self, stepper: StepperName, halvings: u32) -> u64 {
        let longest = self.step * factor(stepper) as f64;
        let first = (self.until / longest * (1.0 - 1e-9)).ceil().max(1.0) as u64;
        first << halvings
    }

    /// Steps in all, for a bar: those whose number is known.
    #[must_use]
    pub fn steps(&self) -> u64 {
        // The first run of each is done twice.
        let of = |Contender { stepper, .. }: &Contender| {
            self.count(*stepper, 0) + (0..=self.halvings).map(|k| self.count(*stepper, k)).sum::<u64>()
        };
        self.steppers.iter().filter(|contender| !contender.is_adaptive).map(of).sum::<u64>()
            + 3 * self.count(self.reference, self.halvings)
    }
}

/// What chooses the steps of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Steps {
    /// So many of one size.
    Count(u64),
    /// A tolerance.
    Tolerance(Tolerance),
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
    (steps, until): (Steps, f64),
    mut see: impl FnMut(&State),
) -> Result<End, Failure> {
    let topology = session.system.topology().clone();
    let step = match steps {
        Steps::Count(count) => until / count as f64,
        Steps::Tolerance(_) => until,
    };
    let plan = Plan::new(step, until)
        .ok_or_else(|| Failure::Usage(format!("cannot step from 0 to {until} s in steps of {step} s")))?;
    let (mut total, mut wall) = (0.0, f64::INFINITY);
    let mut repeats = 0;
    loop {
        let stepper = match steps {
            Steps::Count(_) => AnyStepper::new(&topology, name),
            Steps::Tolerance(tolerance) => AnyStepper::adaptive(&topology, name, tolerance, until),
        };
        let mut stepper =
            stepper.map_err(|e| Failure::Usage(e.message(|body| loaded.compiled.model.body_name(body))))?;
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
        let own = stepper.statistics();
        return Ok(End {
            state,
            steps: own.map_or(done.steps, |own| own.steps),
            iterations: own.map_or(done.iterations, |own| own.evaluations),
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
    let mut to_end = |name: StepperName, steps: Steps, see: &mut dyn FnMut(&State)| {
        let end = run(loaded, session, name, (steps, range.until), see)?;
        if let Steps::Count(count) = steps {
            done += count;
        }
        progress(done.min(all), all);
        Ok::<_, Failure>(end)
    };

    let unseen: &mut dyn FnMut(&State) = &mut |_| {};

    // The steps of stiff models may be too long for it.
    let mut finest = range.count(range.reference, range.halvings);
    let (half, exact, motion) = loop {
        let mut motion = Distance::default();
        let half = to_end(range.reference, Steps::Count(finest), &mut |s| {
            motion = motion.farthest(Distance::between(loaded, &begin, s));
        })?;
        let exact = to_end(range.reference, Steps::Count(2 * finest), unseen)?;
        let Some(error) = half.failure.as_ref().or(exact.failure.as_ref()) else { break (half, exact, motion) };
        if finest >= range.count(range.reference, range.halvings + MORE) {
            return Err(Failure::Step(Box::new(failure::step(model, error))));
        }
        finest *= 2;
    };
    let uncertain = Distance::between(loaded, &half.state, &exact.state);
    let reference = Reference {
        stepper: range.reference.to_string(),
        step: range.until / (2 * finest) as f64,
        position_uncertainty: uncertain.position,
        attitude_uncertainty: uncertain.attitude,
    };

    let mut points = Vec::new();
    for contender in &range.steppers {
        let name = contender.stepper;
        let runs: Vec<Steps> = if contender.is_adaptive {
            range.tolerances.iter().map(|tolerance| Steps::Tolerance(*tolerance)).collect()
        } else {
            (0..=range.halvings).map(|halvings| Steps::Count(range.count(name, halvings))).collect()
        };
        let mut before: Option<Distance> = None;
        // Kernels are compiled in a run that is not timed, which must be one that reaches its end.
        let mut is_warm = false;
        for steps in runs {
            if !is_warm {
                is_warm = to_end(name, steps, unseen)?.failure.is_none();
            }
            let end = to_end(name, steps, unseen)?;
            let found = end.failure.is_none().then(|| Distance::between(loaded, &end.state, &exact.state));
            let blurred = CLEAR * uncertain.size().max(f64::EPSILON * end.steps as f64);
            let (step, tolerance) = match steps {
                Steps::Count(count) => (Some(range.until / count as f64), None),
                Steps::Tolerance(tolerance) => (None, Some(tolerance.get())),
            };
            let coarse = before.filter(|_| !contender.is_adaptive).filter(|coarse| coarse.is_small(&motion));
            let fine = found.filter(|fine| fine.is_small(&motion) && fine.size() > blurred);
            points.push(Point {
                stepper: contender.to_string(),
                step,
                tolerance,
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
