//! What a program that runs a generated model needs: `use mbdsl_runtime::prelude::*;`.

pub use core::ops::ControlFlow;

pub use crate::assembly::{AssemblyError, AssemblyReport};
pub use crate::checks::{Checks, FailedCheck};
pub use crate::error::StepError;
pub use crate::generated::StepperError;
pub use crate::monitor::{Measures, Monitor};
pub use crate::setup::ParamsError;
pub use crate::simulate::{Plan, Summary, simulate, simulate_controlled};
pub use crate::state::State;
pub use crate::steppers::adaptive::{Adaptive, Crossing, Statistics, Tolerance};
pub use crate::steppers::euler::Euler;
pub use crate::steppers::explicit::Pair;
pub use crate::steppers::implicit::Radau;
pub use crate::steppers::method::{Method, UnknownMethod};
pub use crate::steppers::name::{Scheme, StepperName, UnknownStepper, Unsuited};
pub use crate::steppers::splitting::Splitting;
pub use crate::steppers::{AnyStepper, Stepper};
pub use crate::system::System;
