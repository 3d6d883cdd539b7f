//! Names of steppers, as in model files and on the command line: `dae1l_lse`, `variational_rrp+kahan_li6`, `generalized_alpha(rho = 0.8)`.

use alloc::borrow::ToOwned as _;
use alloc::string::String;
use alloc::vec::Vec;

use core::fmt;
use core::str::FromStr;

use super::adaptive;
use super::composition::Composition;
use super::drift::DriftKind;
use super::explicit::Pair;
use super::generalized_alpha::SpectralRadius;
use super::implicit::{Collocation, Radau};
use super::method::{Level, Method, Metric};
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
    /// An implicit method with projection.
    Implicit(Collocation),
    /// The generalized-alpha method.
    GeneralizedAlpha(SpectralRadius),
}

impl StepperName {
    /// All that are not compositions: the Euler methods, one for each drift, the explicit and the implicit methods with projection, and the
    /// generalized-alpha method with its usual parameter.
    pub fn basic() -> impl Iterator<Item = Self> {
        let methods = Method::ALL.into_iter().map(Self::Euler);
        let explicit = Pair::ALL.into_iter().map(Self::Explicit);
        let implicit = Collocation::ALL.into_iter().map(Self::Implicit);
        let alpha = Self::GeneralizedAlpha(SpectralRadius::default());
        methods.chain(Self::symmetric()).chain(explicit).chain(implicit).chain([alpha])
    }

    /// One for each drift: what compositions are made of.
    fn symmetric() -> impl Iterator<Item = Self> {
        DriftKind::ALL.into_iter().map(|drift| Self::Splitting(Scheme { drift, composition: Composition::Single }))
    }

    /// All, compositions too.
    pub fn all() -> impl Iterator<Item = Self> {
        let composed = DriftKind::ALL.into_iter().flat_map(|drift| {
            Composition::composed().map(move |composition| Self::Splitting(Scheme { drift, composition }))
        });
        Self::basic().chain(composed)
    }

    /// Whether the stepper can move a model.
    ///
    /// # Errors
    /// [`Unsuited`] says what it cannot move.
    pub fn check(self, topology: &Topology) -> Result<(), Unsuited> {
        match self {
            Self::Euler(method) if topology.has_pairs => Err(Unsuited::Pairs { method }),
            Self::Euler(_) | Self::Explicit(_) | Self::Implicit(_) | Self::GeneralizedAlpha(_) => Ok(()),
            Self::Splitting(scheme) => scheme.check(&topology.bodies),
        }
    }

    /// The method, if a tolerance can choose its steps.
    ///
    /// # Errors
    /// [`Unsuited::FixedSteps`].
    pub fn adaptive(self) -> Result<adaptive::Method, Unsuited> {
        match self {
            Self::Explicit(pair) => Ok(pair.into()),
            Self::Implicit(method) => {
                let radau = Radau::ALL.into_iter().find(|radau| radau.collocation() == method);
                radau.map(Into::into).ok_or(Unsuited::FixedSteps { stepper: self })
            }
            Self::Euler(_) | Self::Splitting(_) | Self::GeneralizedAlpha(_) => {
                Err(Unsuited::FixedSteps { stepper: self })
            }
        }
    }

    /// Name as in model files and on the command line, without parameters: [`fmt::Display`] writes these too.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Euler(method) => method.name(),
            Self::Splitting(scheme) => scheme.name(),
            Self::Explicit(pair) => pair.name(),
            Self::Implicit(method) => method.name(),
            Self::GeneralizedAlpha(radius) => radius.name(),
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
    /// Steps that a tolerance chooses.
    FixedSteps {
        /// The stepper.
        stepper: StepperName,
    },
}

impl Unsuited {
    /// What to take instead.
    #[must_use]
    pub const fn instead(&self) -> &'static str {
        match self {
            Self::Shape { .. } => "take `variational_rrp` or a `splitting_...`, which move bodies of any shape",
            Self::Pairs { .. } => {
                "take a `splitting_...`, `variational_rrp` or `dop853`, which need no derivatives of forces"
            }
            Self::FixedSteps { .. } => "take `dop853`, `dopri5` or one of `radau3`, `radau5`, `radau7`, or give a step",
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
            Self::FixedSteps { stepper: stepper @ (StepperName::Splitting(_) | StepperName::Implicit(_)) } => {
                format!("`{stepper}` keeps energy and momenta by steps of one size, which a tolerance would change")
            }
            Self::FixedSteps { stepper } => {
                format!("`{stepper}` does not estimate its error, so that no tolerance can choose its steps")
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
        match self {
            Self::GeneralizedAlpha(radius) if *radius != SpectralRadius::default() => {
                write!(f, "{}(rho = {})", radius.name(), radius.get())
            }
            Self::Euler(_) | Self::Splitting(_) | Self::Explicit(_) | Self::Implicit(_) | Self::GeneralizedAlpha(_) => {
                f.write_str(self.name())
            }
        }
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
    /// A composition without a stepper that it composes.
    NoStepper {
        /// The composition.
        composition: Composition,
    },
    /// Compositions are made of symmetric steppers.
    NotSymmetric {
        /// The stepper before the `+`.
        stepper: StepperName,
    },
    /// Compositions are not composed again.
    Twice {
        /// The stepper before the second `+`.
        stepper: StepperName,
    },
    /// There is nothing to set of the stepper.
    NoParameters {
        /// The stepper.
        stepper: StepperName,
    },
    /// What stands in parentheses is not the parameter of the stepper.
    Parameter {
        /// The text in parentheses.
        text: String,
    },
}

/// Names in a list: `a, b, c`.
fn list(names: impl Iterator<Item = &'static str>) -> String {
    names.collect::<Vec<_>>().join(", ")
}

/// What may stand behind the name of a symmetric stepper.
fn compositions() -> String {
    list(Composition::composed().map(Composition::name))
}

impl UnknownStepper {
    /// What is wrong, in words.
    #[must_use]
    pub fn message(&self) -> String {
        match self {
            Self::Name { name } => format!("no stepper is called `{name}`"),
            Self::Composition { name } => format!("no composition is called `+{name}`"),
            Self::NoStepper { composition } => {
                format!("`{}` needs a stepper before it, whose steps it composes", composition.name())
            }
            Self::NotSymmetric { stepper } => {
                format!("`{stepper}` takes no composition: it is not symmetric, so none raises its order")
            }
            Self::Twice { stepper } => format!("`{stepper}` is a composition already, and takes no second one"),
            Self::NoParameters { stepper } => format!("`{stepper}` has no parameters"),
            Self::Parameter { text } => {
                format!("`{}` takes one parameter, `rho`, a number from 0 to 1, and not `{text}`", ALPHA.name())
            }
        }
    }

    /// What to write instead, or the names to choose from.
    #[must_use]
    pub fn instead(&self) -> String {
        let symmetric = || list(StepperName::symmetric().map(StepperName::name));
        match self {
            Self::Name { .. } => format!(
                "there are {}; behind those that begin with `splitting_` or `variational_` may stand one of {}",
                list(StepperName::basic().map(StepperName::name)),
                compositions()
            ),
            Self::Composition { .. } => format!("there are {}", compositions()),
            Self::NoStepper { composition } => {
                format!("write `splitting_dlm{}`, or another one of {}", composition.name(), symmetric())
            }
            Self::NotSymmetric { .. } => format!("those that take one are {}", symmetric()),
            Self::Twice { .. } => format!("write one of {}", compositions()),
            Self::NoParameters { stepper } => format!("write `{stepper}`"),
            Self::Parameter { .. } => {
                format!("write `{}(rho = 0.5)`, or `{}` for `rho = {}`", ALPHA.name(), ALPHA.name(), ALPHA.get())
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

/// The one-stage Radau method with its correction of positions is a member of the Euler family, and has a second name for it.
const RADAU1: (&str, Method) = ("radau1", Method { level: Level::Index1, metric: Metric::Hamiltonian });

/// The one method that has a parameter, with its usual value.
const ALPHA: SpectralRadius = SpectralRadius::USUAL;

impl SpectralRadius {
    /// From what stands in parentheses behind the name: `rho = 0.5`, or the number alone; nothing gives the usual value.
    fn from_arguments(text: &str) -> Result<Self, UnknownStepper> {
        let number = match text.split_once('=') {
            Some((name, number)) if name.trim() == "rho" => Some(number.trim()),
            Some(_) => None,
            None if text.trim().is_empty() => return Ok(Self::USUAL),
            None => Some(text.trim()),
        };
        let value = number.and_then(|number| number.parse().ok()).and_then(Self::new);
        value.ok_or_else(|| UnknownStepper::Parameter { text: text.trim().to_owned() })
    }
}

/// Spaces may stand around the name, its `+`, and parameters.
impl FromStr for StepperName {
    type Err = UnknownStepper;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        // The number in parentheses may have signs.
        let (name, arguments, rest) = match text.split_once('(') {
            None => (text, None, ""),
            Some((name, behind)) => match behind.split_once(')') {
                Some((arguments, rest)) if rest.trim().is_empty() || rest.trim_start().starts_with('+') => {
                    (name, Some(arguments), rest)
                }
                Some(_) | None => (name, Some(&text[name.len()..]), ""),
            },
        };
        let mut parts = name.split('+').chain(rest.split('+').skip(1)).map(str::trim);
        let base = parts.next().unwrap_or_default();
        let composition = |name: &str| {
            let found = Composition::composed().find(|composition| composition.name()[1..] == *name);
            found.ok_or_else(|| UnknownStepper::Composition { name: name.to_owned() })
        };
        if let ("", Some(name)) = (base, parts.clone().next()) {
            return Err(UnknownStepper::NoStepper { composition: composition(name)? });
        }
        let named = match RADAU1 {
            (name, method) if name == base => Some(Self::Euler(method)),
            _ => Self::basic().find(|stepper| stepper.name() == base),
        };
        let mut stepper = named.ok_or_else(|| UnknownStepper::Name { name: base.to_owned() })?;
        if let Some(arguments) = arguments {
            stepper = match stepper {
                Self::GeneralizedAlpha(_) => Self::GeneralizedAlpha(SpectralRadius::from_arguments(arguments)?),
                Self::Euler(_) | Self::Splitting(_) | Self::Explicit(_) | Self::Implicit(_) => {
                    return Err(UnknownStepper::NoParameters { stepper });
                }
            };
        }
        for name in parts {
            let composition = composition(name)?;
            stepper = match stepper {
                Self::Euler(_) | Self::Explicit(_) | Self::Implicit(_) | Self::GeneralizedAlpha(_) => {
                    return Err(UnknownStepper::NotSymmetric { stepper });
                }
                Self::Splitting(scheme) if scheme.composition == Composition::Single => {
                    Self::Splitting(Scheme { composition, ..scheme })
                }
                Self::Splitting(_) => return Err(UnknownStepper::Twice { stepper }),
            };
        }
        Ok(stepper)
    }
}

#[cfg(test)]
mod tests {
    use alloc::string::ToString as _;

    use super::*;

    #[test]
    fn names_and_steppers_correspond() {
        for stepper in StepperName::all() {
            assert_eq!(stepper.name().parse(), Ok(stepper));
        }
        assert_eq!(StepperName::all().count(), StepperName::basic().count() + 7 * 6);
        for (drift, composition) in DriftKind::ALL.into_iter().zip(Composition::ALL) {
            let stepper = StepperName::Splitting(Scheme { drift, composition });
            assert!(stepper.name().ends_with(composition.name()));
        }
        assert_eq!("radau1".parse::<StepperName>().map(StepperName::name), Ok("dae1h_lse"));
        assert_eq!(
            " splitting_dlm + suzuki4 ".parse::<StepperName>().map(StepperName::name),
            Ok("splitting_dlm+suzuki4")
        );
        for text in
            ["generalized_alpha", "generalized_alpha()", " generalized_alpha ( rho=8e-1 ) ", "generalized_alpha(0.8)"]
        {
            assert_eq!(
                text.parse::<StepperName>().map(|stepper| stepper.to_string()),
                Ok("generalized_alpha".to_owned())
            );
        }
        for rho in [0.0, 0.1, 1.0 / 3.0, 1.0] {
            let stepper = StepperName::GeneralizedAlpha(SpectralRadius::new(rho).expect("from 0 to 1"));
            assert_eq!(stepper.to_string().parse(), Ok(stepper));
            assert_eq!(stepper.name(), "generalized_alpha");
        }
        assert_eq!(SpectralRadius::new(-0.0), SpectralRadius::new(0.0));
    }

    #[test]
    fn wrong_names_say_what_is_wrong() {
        let check = |name: &str, parts: &[&str]| {
            let message = name.parse::<StepperName>().expect_err("no such stepper").to_string();
            assert!(parts.iter().all(|part| message.contains(part)), "{name}: {message}");
        };
        check("verlet", &["no stepper is called `verlet`; there are dae3l_le, ", "may stand one of +yoshida4, "]);
        check("", &["no stepper is called ``"]);
        check("verlet+suzuki4", &["no stepper is called `verlet`"]);
        check(
            "splitting_dlm+yoshida6",
            &["no composition is called `+yoshida6`; there are +yoshida4, +suzuki4, +kahan_li6"],
        );
        check("+suzuki4", &["`+suzuki4` needs a stepper before it", "write `splitting_dlm+suzuki4`"]);
        check("+suzuki", &["no composition is called `+suzuki`"]);
        check("dae1l_lse+suzuki4", &["`dae1l_lse` takes no composition", "those that take one are splitting_dlm, "]);
        check("dop853+suzuki4", &["`dop853` takes no composition"]);
        check("splitting_dlm+suzuki4+suzuki4", &["`splitting_dlm+suzuki4` is a composition already"]);
        check("splitting_dlm+", &["no composition is called `+`"]);
        check("dop853(rho = 0.5)", &["`dop853` has no parameters; write `dop853`"]);
        check("verlet(rho = 0.5)", &["no stepper is called `verlet`"]);
        check("generalized_alpha(0.5)+suzuki4", &["`generalized_alpha(rho = 0.5)` takes no composition"]);
        for arguments in ["rho = 1.5", "rho = -0.1", "rho = nan", "rho =", "sigma = 0.5", "much", "0.5, 0.5"] {
            let expected = format!("takes one parameter, `rho`, a number from 0 to 1, and not `{arguments}`");
            check(&format!("generalized_alpha({arguments})"), &[&expected, "write `generalized_alpha(rho = 0.5)`"]);
        }
        check("generalized_alpha(rho = 0.5", &["and not `(rho = 0.5`"]);
        check("generalized_alpha(0.5) now", &["and not `(0.5) now`"]);
    }
}
