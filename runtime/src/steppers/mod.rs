//! Time steppers, one file per family.

use alloc::boxed::Box;

pub mod adaptive;
pub mod composition;
mod crowd;
pub mod drift;
mod end_kick;
pub mod euler;
pub mod explicit;
pub mod generalized_alpha;
mod history;
pub mod implicit;
mod iteration;
pub mod method;
mod motion;
pub mod name;
pub mod rattle;
pub mod splitting;

use crate::error::StepError;
use crate::state::State;
use crate::system::System;
use crate::topology::Topology;
use adaptive::{Adaptive, Statistics, Tolerance};
use euler::{Euler, StepReport};
use explicit::Explicit;
use generalized_alpha::GeneralizedAlpha;
use implicit::Implicit;
use name::{StepperName, Unsuited};
use splitting::Splitting;

/// What all steppers do.
pub trait Stepper {
    /// Name as in model files and on the command line.
    fn name(&self) -> &'static str;

    /// One step of size `h` (s) from `s` to the time `t1` (s, `n h`: the caller does not accumulate it).
    ///
    /// # Errors
    /// [`StepError`]; the state is then as before the call.
    fn step<S: System + ?Sized>(
        &mut self,
        sys: &mut S,
        s: &mut State,
        h: f64,
        t1: f64,
    ) -> Result<StepReport, StepError>;

    /// Multipliers `lambda` of the last step, a force or torque a row (`nc`).
    fn lambda(&self) -> &[f64];

    /// Acceleration of the last step (`nv`; m/s^2, rad/s^2).
    fn acceleration(&self) -> &[f64];

    /// What steps have cost whose size the stepper chooses, between those that it is asked for.
    fn statistics(&self) -> Option<Statistics> {
        None
    }
}

/// What a stepper of fixed steps has as methods of its own; `$method` is what its name is that of.
macro_rules! fixed_steps {
    ($($stepper:ty: $method:ident),*) => {$(
        impl Stepper for $stepper {
            fn name(&self) -> &'static str {
                self.$method().name()
            }

            fn step<S: System + ?Sized>(
                &mut self,
                sys: &mut S,
                s: &mut State,
                h: f64,
                t1: f64,
            ) -> Result<StepReport, StepError> {
                Self::step(self, sys, s, h, t1)
            }

            fn lambda(&self) -> &[f64] {
                Self::lambda(self)
            }

            fn acceleration(&self) -> &[f64] {
                Self::acceleration(self)
            }
        }
    )*};
}

fixed_steps!(Euler: method, Splitting: scheme, Explicit: pair, Implicit: method, GeneralizedAlpha: radius);

impl Stepper for Adaptive {
    fn name(&self) -> &'static str {
        self.method().name()
    }

    fn step<S: System + ?Sized>(
        &mut self,
        sys: &mut S,
        s: &mut State,
        _h: f64,
        t1: f64,
    ) -> Result<StepReport, StepError> {
        Self::step(self, sys, s, t1)
    }

    fn lambda(&self) -> &[f64] {
        Self::lambda(self)
    }

    fn acceleration(&self) -> &[f64] {
        Self::acceleration(self)
    }

    fn statistics(&self) -> Option<Statistics> {
        Some(Self::statistics(self))
    }
}

/// A stepper that is chosen by name when a program runs.
#[derive(Clone, Debug)]
pub enum AnyStepper {
    /// A constraint-stabilised Euler method.
    Euler(Box<Euler>),
    /// A splitting or variational method.
    Splitting(Box<Splitting>),
    /// An explicit method with projection.
    Explicit(Box<Explicit>),
    /// A method with projection whose steps a tolerance chooses.
    Adaptive(Box<Adaptive>),
    /// An implicit method with projection.
    Implicit(Box<Implicit>),
    /// The generalized-alpha method.
    GeneralizedAlpha(Box<GeneralizedAlpha>),
}

impl AnyStepper {
    /// Symbolic phase for a model.
    ///
    /// # Errors
    /// [`Unsuited`] if the stepper cannot move the model.
    pub fn new(topology: &Topology, name: StepperName) -> Result<Self, Unsuited> {
        name.check(topology)?;
        Ok(match name {
            StepperName::Euler(method) => Self::Euler(Box::new(Euler::new(topology, method))),
            StepperName::Splitting(scheme) => Self::Splitting(Box::new(Splitting::new(topology, scheme)?)),
            StepperName::Explicit(pair) => Self::Explicit(Box::new(Explicit::new(topology, pair))),
            StepperName::Implicit(method) => Self::Implicit(Box::new(Implicit::new(topology, method))),
            StepperName::GeneralizedAlpha(radius) => {
                Self::GeneralizedAlpha(Box::new(GeneralizedAlpha::new(topology, radius)))
            }
        })
    }

    /// The same for steps that a tolerance chooses, none of them beyond the time `until` (s).
    ///
    /// # Errors
    /// [`Unsuited`] if the stepper takes fixed steps only, or cannot move the model.
    pub fn adaptive(
        topology: &Topology,
        name: StepperName,
        tolerance: Tolerance,
        until: f64,
    ) -> Result<Self, Unsuited> {
        name.check(topology)?;
        let method = name.adaptive()?;
        Ok(Self::Adaptive(Box::new(Adaptive::new(topology, method, tolerance).until(until))))
    }
}

impl Stepper for AnyStepper {
    fn name(&self) -> &'static str {
        match self {
            Self::Euler(stepper) => Stepper::name(&**stepper),
            Self::Splitting(stepper) => Stepper::name(&**stepper),
            Self::Explicit(stepper) => Stepper::name(&**stepper),
            Self::Implicit(stepper) => Stepper::name(&**stepper),
            Self::GeneralizedAlpha(stepper) => Stepper::name(&**stepper),
            Self::Adaptive(stepper) => Stepper::name(&**stepper),
        }
    }

    fn step<S: System + ?Sized>(
        &mut self,
        sys: &mut S,
        s: &mut State,
        h: f64,
        t1: f64,
    ) -> Result<StepReport, StepError> {
        match self {
            Self::Euler(stepper) => stepper.step(sys, s, h, t1),
            Self::Splitting(stepper) => stepper.step(sys, s, h, t1),
            Self::Explicit(stepper) => stepper.step(sys, s, h, t1),
            Self::Implicit(stepper) => stepper.step(sys, s, h, t1),
            Self::GeneralizedAlpha(stepper) => stepper.step(sys, s, h, t1),
            Self::Adaptive(stepper) => stepper.step(sys, s, t1),
        }
    }

    fn lambda(&self) -> &[f64] {
        match self {
            Self::Euler(stepper) => stepper.lambda(),
            Self::Splitting(stepper) => stepper.lambda(),
            Self::Explicit(stepper) => stepper.lambda(),
            Self::Implicit(stepper) => stepper.lambda(),
            Self::GeneralizedAlpha(stepper) => stepper.lambda(),
            Self::Adaptive(stepper) => stepper.lambda(),
        }
    }

    fn acceleration(&self) -> &[f64] {
        match self {
            Self::Euler(stepper) => stepper.acceleration(),
            Self::Splitting(stepper) => stepper.acceleration(),
            Self::Explicit(stepper) => stepper.acceleration(),
            Self::Implicit(stepper) => stepper.acceleration(),
            Self::GeneralizedAlpha(stepper) => stepper.acceleration(),
            Self::Adaptive(stepper) => stepper.acceleration(),
        }
    }

    fn statistics(&self) -> Option<Statistics> {
        match self {
            Self::Euler(_) | Self::Splitting(_) | Self::Explicit(_) | Self::Implicit(_) | Self::GeneralizedAlpha(_) => {
                None
            }
            Self::Adaptive(stepper) => Some(stepper.statistics()),
        }
    }
}
