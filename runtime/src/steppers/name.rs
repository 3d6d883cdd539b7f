//! Names of steppers, as in model files and on the command line: `dae1l_lse`, `splitting_dlm`, `variational_rrp+kahan_li6`.

use alloc::borrow::ToOwned as _;
use alloc::string::String;
use alloc::vec::Vec;

use core::fmt;
use core::str::FromStr;

use super::composition::Composition;
use super::drift::DriftKind;
use super::explicit::Pair;
use super::method::Method;
use crate::topology::Topology;

/// A symmetric stepper: kick, drift, kick, composed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Scheme {
    /// Motion of the bodies between kicks.
    pub drift: DriftKind,
    /// How steps of order 2 make one of higher order.
    pub composition: Composition,
}

/// Names of one drift with every composition.
macro_rules! composed {
    ($name:literal) => {
        [
            $name,
            concat!($name, "+yoshida4"),
            concat!($name, "+suzuki4"),
            concat!($name, "+kahan_li6"),
            concat!($name, "+kahan_li8"),
            concat!($name, "+sofroniou_spaletta6"),
            concat!($name, "+sofroniou_spaletta8"),
        ]
    };
}

impl Scheme {
    /// Name as in model files and on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        let all = match self.drift {
            DriftKind::Dlm => composed!("splitting_dlm"),
            DriftKind::DlmCayley => composed!("splitting_dlm_cayley"),
            DriftKind::Exact => composed!("splitting_exact"),
            DriftKind::Rrp => composed!("variational_rrp"),
            DriftKind::Dmv => composed!("variational_dmv"),
            DriftKind::Exp => composed!("variational_exp"),
            DriftKind::Cayley => composed!("variational_cayley"),
        };
        all[self.composition as usize]
    }
}

/// One stepper of any family.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StepperName {
    /// A constraint-stabilised Euler method.
    Euler(Method),
    /// A splitting or variational method.
    Splitting(Scheme),
    /// An explicit method with projection.
    Explicit(Pair),
}

impl StepperName {
    /// All that are not compositions: the Euler methods, one for each drift, the explicit methods.
    pub fn basic() -> impl Iterator<Item = Self> {
        let methods = Method::ALL.into_iter().map(Self::Euler);
        methods.chain(Self::symmetric()).chain(Pair::ALL.into_iter().map(Self::Explicit))
    }

    /// One for each drift: what compositions are made of.
    fn symmetric() -> impl Iterator<Item = Self> {
        DriftKind::ALL.into_iter().map(|drift| Self::Splitting(Scheme { drift, composition: Composition::Single }))
    }

    /// Whether the stepper can move a model.
    ///
    /// # Errors
    /// [`Unsuited`] says what it cannot move.
    pub fn check(self, topology: &Topology) -> Result<(), Unsuited> {
        match self {
            Self::Euler(method) if topology.has_pairs => Err(Unsuited::Pairs { method }),
            Self::Euler(_) | Self::Explicit(_) => Ok(()),
            Self::Splitting(scheme) => scheme.check(&topology.bodies),
        }
    }

    /// Name as in model files and on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Euler(method) => method.name(),
            Self::Splitting(scheme) => scheme.name(),
            Self::Explicit(pair) => pair.name(),
        }
    }
}

/// What a stepper cannot move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unsuited {
    /// A body whose shape does not suit the drift.
    Shape {
        /// The stepper.
        scheme: Scheme,
        /// The first body whose moments of inertia are not equal.
        body: usize,
    },
    /// Pairs that are found during a run: the pattern of the Newton matrix would be another one at every renewal.
    Pairs {
        /// The stepper.
        method: Method,
    },
}

impl Unsuited {
    /// What to take instead.
    #[must_use]
    pub const fn instead(&self) -> &'static str {
        match self {
            Self::Shape { .. } => "take `variational_rrp` or a `splitting_...`, which move bodies of any shape",
            Self::Pairs { .. } => "take a `splitting_...` or `variational_rrp`, which need no derivatives of forces",
        }
    }

    /// What is wrong, in words, with the names of the bodies.
    #[must_use]
    pub fn message(&self, name_of: impl FnOnce(usize) -> String) -> String {
        match self {
            Self::Shape { scheme, body } => {
                let (name, body) = (scheme.name(), name_of(*body));
                format!(
                    "`{name}` moves bodies with three equal moments of inertia only, and those of `{body}` are not equal"
                )
            }
            Self::Pairs { method } => {
                let name = method.name();
                format!(
                    "`{name}` is implicit and needs to know all pairs of a potential before the run, without a distance in `where`"
                )
            }
        }
    }
}

impl From<Method> for StepperName {
    fn from(method: Method) -> Self {
        Self::Euler(method)
    }
}

impl fmt::Display for StepperName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A name that no stepper has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UnknownStepper {
    /// There is none of that name.
    Name {
        /// The name given, without a composition.
        name: String,
    },
    /// What stands after the `+` is no composition.
    Composition {
        /// The text after the `+`.
        name: String,
    },
    /// Compositions are made of symmetric steppers.
    NotSymmetric {
        /// The stepper before the `+`.
        stepper: StepperName,
    },
}

/// Names in a list: `a, b, c`.
fn list(names: impl Iterator<Item = &'static str>) -> String {
    names.collect::<Vec<_>>().join(", ")
}

impl UnknownStepper {
    /// What is wrong, in words.
    #[must_use]
    pub fn message(&self) -> String {
        match self {
            Self::Name { name } => format!("no stepper is called `{name}`"),
            Self::Composition { name } => format!("no composition is called `+{name}`"),
            Self::NotSymmetric { stepper } => {
                format!("`{stepper}` is not symmetric, so no composition raises its order")
            }
        }
    }

    /// The names to choose from.
    #[must_use]
    pub fn instead(&self) -> String {
        match self {
            Self::Name { .. } => format!("there are {}", list(StepperName::basic().map(StepperName::name))),
            Self::Composition { .. } => {
                format!("there are {}", list(Composition::ALL.into_iter().skip(1).map(Composition::name)))
            }
            Self::NotSymmetric { .. } => {
                format!("those of the following are: {}", list(StepperName::symmetric().map(StepperName::name)))
            }
        }
    }
}

impl fmt::Display for UnknownStepper {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}; {}", self.message(), self.instead())
    }
}

impl core::error::Error for UnknownStepper {}

impl FromStr for StepperName {
    type Err = UnknownStepper;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (base, suffix) = text.split_once('+').map_or((text, None), |(base, suffix)| (base, Some(suffix)));
        let named = Self::basic().find(|stepper| stepper.name() == base);
        let stepper = named.ok_or_else(|| UnknownStepper::Name { name: base.to_owned() })?;
        let Some(suffix) = suffix else { return Ok(stepper) };
        let found = Composition::ALL.into_iter().skip(1).find(|composition| composition.name()[1..] == *suffix);
        let composition = found.ok_or_else(|| UnknownStepper::Composition { name: suffix.to_owned() })?;
        match stepper {
            Self::Euler(_) | Self::Explicit(_) => Err(UnknownStepper::NotSymmetric { stepper }),
            Self::Splitting(scheme) => Ok(Self::Splitting(Scheme { composition, ..scheme })),
        }
    }
}

#[cfg(test)]
mod tests {
    use alloc::string::ToString as _;

    use super::*;

    #[test]
    fn names_and_steppers_correspond() {
        for stepper in StepperName::basic() {
            assert_eq!(stepper.name().parse(), Ok(stepper));
        }
        for drift in DriftKind::ALL {
            for composition in Composition::ALL {
                let stepper = StepperName::Splitting(Scheme { drift, composition });
                assert_eq!(stepper.name().parse(), Ok(stepper));
                assert!(stepper.name().ends_with(composition.name()));
            }
        }
        let message = |name: &str| name.parse::<StepperName>().expect_err("no such stepper").to_string();
        assert!(message("verlet").starts_with("no stepper is called `verlet`; there are dae3l_le, "));
        assert!(
            message("splitting_dlm+yoshida6").contains("there are +yoshida4, +suzuki4, +kahan_li6, +kahan_li8, +sof")
        );
        assert!(message("dae1l_lse+suzuki4").contains("`dae1l_lse` is not symmetric"));
    }
}
