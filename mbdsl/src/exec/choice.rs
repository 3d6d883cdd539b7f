//! The stepper of a run that names none: `dop853`, or `radau5` where the model is stiff.

use std::fmt;

use mbdsl_runtime::error::{StepError, StepErrorKind};
use mbdsl_runtime::state::State;
use mbdsl_runtime::steppers::adaptive::{Adaptive, Outlook, Statistics, Tolerance};
use mbdsl_runtime::steppers::composition::Composition;
use mbdsl_runtime::steppers::drift::DriftKind;
use mbdsl_runtime::steppers::euler::StepReport;
use mbdsl_runtime::steppers::explicit::Pair;
use mbdsl_runtime::steppers::implicit::Collocation;
use mbdsl_runtime::steppers::name::{Scheme, StepperName, Unsuited};
use mbdsl_runtime::steppers::{AnyStepper, Stepper};
use mbdsl_runtime::system::System;
use mbdsl_runtime::topology::Topology;

use super::session::{Session, Setup};

/// Where no stepper is named and nothing is stiff.
pub(super) const SMOOTH: StepperName = StepperName::Explicit(Pair::Dop853);

/// Where no stepper is named and pairs are found during the run.
pub(super) const PAIRS: StepperName =
    StepperName::Splitting(Scheme { drift: DriftKind::Dlm, composition: Composition::Single });

/// Where no stepper is named and something is.
const STIFF: StepperName = StepperName::Implicit(Collocation::Radau5);

/// Product of fixed steps and rates that `dop853` resolves.
const STABLE: f64 = 6.0;

/// The same for steps that a tolerance chooses: below ten times as much, shorter steps of `dop853` cost less than those of `radau5`.
const CHEAP: f64 = 60.0;

/// How the stepper of a run was found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Choice {
    /// The model or the command line names it.
    Named,
    /// The model has pairs within a distance, and energies that need not be smooth there.
    Pairs,
    /// What the model is like at its start is to be measured.
    Open,
    /// It has been measured.
    Measured(Outlook),
}

impl Session<'_> {
    /// Chooses the stepper of a run by what the model is like at its start, if none is named. Where the start has no accelerations, the first step says why.
    pub fn choose(&mut self, setup: &mut Setup) {
        let tolerance = setup.tolerance.unwrap_or_default();
        if setup.choice != Choice::Open {
            return;
        }
        let mut stepper = Adaptive::new(self.system.topology(), Pair::Dop853, tolerance).until(setup.until);
        let Ok(outlook) = stepper.outlook(&mut self.system, &self.start, setup.plan.step) else { return };
        let (step, most) = if setup.tolerance.is_some() { (outlook.step, CHEAP) } else { (setup.plan.step, STABLE) };
        let is_stiff = outlook.rate * step > most && !self.system.topology().has_pairs;
        setup.method = if is_stiff { STIFF } else { SMOOTH };
        setup.choice = Choice::Measured(Outlook { step, ..outlook });
    }
}

/// Which stepper was chosen and why, in a line.
#[derive(Clone, Copy, Debug)]
pub struct Reason {
    method: StepperName,
    choice: Choice,
}

impl Setup {
    /// Which stepper was chosen and why; none where it is named.
    #[must_use]
    pub fn reason(&self) -> Option<Reason> {
        (self.choice != Choice::Named).then_some(Reason { method: self.method, choice: self.choice })
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { method, choice } = self;
        match choice {
            Choice::Named | Choice::Open => write!(f, "{method}"),
            Choice::Pairs => write!(f, "{method}, since forces of pairs within a distance need not be smooth"),
            Choice::Measured(Outlook { step, rate }) if *method == STIFF => {
                write!(
                    f,
                    "{method}, since the model is stiff: its fastest rate is {rate:.1e}/s, of which steps of {step:.1e} s need not resolve anything"
                )
            }
            Choice::Measured(Outlook { step, rate }) if rate * step > STABLE => {
                write!(
                    f,
                    "{method}, though its fastest rate of {rate:.1e}/s makes steps shorter than the {step:.1e} s that the motion asks for: those of implicit methods cost more, or do not suit the model"
                )
            }
            Choice::Measured(Outlook { step, rate }) => {
                write!(
                    f,
                    "{method}, since the model is not stiff at its start: steps of {step:.1e} s resolve its fastest rate of {rate:.1e}/s"
                )
            }
        }
    }
}

/// The stepper of a run; one that was not named gives way to another if the model turns out to be stiff.
#[derive(Debug)]
pub(super) struct Chosen {
    stepper: AnyStepper,
    spare: Option<AnyStepper>,
    /// When it gave way, s, and what its steps had cost.
    gave_way: Option<(f64, Statistics)>,
}

impl Chosen {
    pub(super) fn new(setup: &Setup, topology: &Topology) -> Result<Self, Unsuited> {
        let adaptive = |tolerance: Tolerance, method| AnyStepper::adaptive(topology, method, tolerance, setup.until);
        let may_give_way = setup.choice != Choice::Named && setup.method == SMOOTH && !topology.has_pairs;
        Ok(Self {
            stepper: setup.stepper(topology)?,
            spare: setup.tolerance.filter(|_| may_give_way).map(|tolerance| adaptive(tolerance, STIFF)).transpose()?,
            gave_way: None,
        })
    }

    /// When another stepper went on, s, and which.
    pub(super) fn gave_way(&self) -> Option<(f64, StepperName)> {
        self.gave_way.map(|(t, _)| (t, STIFF))
    }
}

impl Stepper for Chosen {
    fn name(&self) -> &'static str {
        self.stepper.name()
    }

    fn step<S: System + ?Sized>(
        &mut self,
        sys: &mut S,
        s: &mut State,
        h: f64,
        t1: f64,
    ) -> Result<StepReport, StepError> {
        match self.stepper.step(sys, s, h, t1) {
            Err(StepError { kind: StepErrorKind::Stiff, .. }) if self.spare.is_some() => {
                let mut next = self.spare.take().expect("there is one, as the guard has seen");
                let t = s.t;
                // Where it cannot go on either, what the other one delivered last stays known.
                let report = next.step(sys, s, h, t1)?;
                self.gave_way = self.stepper.statistics().map(|cost| (t, cost));
                self.stepper = next;
                Ok(report)
            }
            result => result,
        }
    }

    fn lambda(&self) -> &[f64] {
        self.stepper.lambda()
    }

    fn acceleration(&self) -> &[f64] {
        self.stepper.acceleration()
    }

    fn statistics(&self) -> Option<Statistics> {
        let now = self.stepper.statistics()?;
        Some(self.gave_way.map_or(now, |(_, before)| Statistics {
            steps: before.steps + now.steps,
            rejected: before.rejected + now.rejected,
            evaluations: before.evaluations + now.evaluations,
            shortest: before.shortest.min(now.shortest),
            longest: before.longest.max(now.longest),
        }))
    }
}
