//! What can be wrong with the numbers of a model when its parameters are bound, in words.

use std::fmt::Write as _;

use mbdsl_runtime::setup::SetupFault;
use mbdsl_runtime::steppers::adaptive::Tolerance;

use crate::backend::interp::TooManyRegisters;
use crate::diag::{Code, Diagnostic};
use crate::model::{Model, Param};

/// A problem with the values of a model.
#[derive(Clone, Debug, PartialEq)]
pub enum BindError {
    /// A parameter or input is not a finite number.
    Param {
        /// Number among what can be set.
        param: usize,
    },
    /// A parameter or input is set to a wrong number of values.
    ParamLength {
        /// Number among what can be set.
        param: usize,
        /// Its number of scalars.
        expected: usize,
        /// What was given.
        found: usize,
    },
    /// A mass is zero.
    NoMass {
        /// Number of the body.
        body: usize,
    },
    /// A mass is negative or not finite.
    Mass {
        /// Number of the body.
        body: usize,
        /// The mass, kg.
        mass: f64,
    },
    /// An inertia is not finite.
    InertiaValue {
        /// Number of the body.
        body: usize,
    },
    /// An inertia is not symmetric.
    Asymmetric {
        /// Number of the body.
        body: usize,
        /// Row and column of the largest difference.
        place: (usize, usize),
        /// The element there and the one opposite, kg m^2.
        values: (f64, f64),
    },
    /// A principal moment is negative.
    NegativeMoment {
        /// Number of the body.
        body: usize,
        /// Principal moments in ascending order, kg m^2.
        moments: [f64; 3],
    },
    /// A principal moment is zero.
    ZeroMoment {
        /// Number of the body.
        body: usize,
        /// Principal moments in ascending order, kg m^2.
        moments: [f64; 3],
    },
    /// The two smaller principal moments do not reach the largest.
    Triangle {
        /// Number of the body.
        body: usize,
        /// Principal moments in ascending order, kg m^2.
        moments: [f64; 3],
    },
    /// The rotation that a body starts with is none.
    Rotation {
        /// Number of the body.
        body: usize,
        /// Largest element of `R^T R - I`, or infinite for a reflection.
        error: f64,
    },
    /// The centre of mass or a placement is not finite.
    Placement {
        /// Number of the body.
        body: usize,
        /// `com`, `pos`, `rot`, `vel` or `omega`.
        what: &'static str,
    },
    /// A check of parameters fails.
    Check {
        /// Number of the check.
        check: usize,
        /// Name of its instance.
        name: String,
        /// Left and right side.
        sides: Option<(f64, f64)>,
    },
    /// A tolerance is impossible.
    Tolerance {
        /// The number.
        value: f64,
    },
    /// A kernel is too large for the interpreter.
    Registers(TooManyRegisters),
}

impl From<TooManyRegisters> for BindError {
    fn from(error: TooManyRegisters) -> Self {
        Self::Registers(error)
    }
}

impl BindError {
    /// What is wrong with the numbers of a body.
    #[must_use]
    pub fn of_body(body: usize, fault: SetupFault) -> Self {
        match fault {
            SetupFault::NoMass => Self::NoMass { body },
            SetupFault::Mass { mass } => Self::Mass { body, mass },
            SetupFault::InertiaValue => Self::InertiaValue { body },
            SetupFault::Asymmetric { place, values } => Self::Asymmetric { body, place, values },
            SetupFault::NegativeMoment { moments } => Self::NegativeMoment { body, moments },
            SetupFault::ZeroMoment { moments } => Self::ZeroMoment { body, moments },
            SetupFault::Triangle { moments } => Self::Triangle { body, moments },
            SetupFault::Rotation { error } => Self::Rotation { body, error },
            SetupFault::Placement { what } => Self::Placement { body, what },
        }
    }

    /// The problem in words.
    #[must_use]
    pub fn diagnostic(&self, model: &Model) -> Diagnostic {
        let at_body = |code: u16, body: usize, text: String| {
            let (decl, _) = model.body_instance(body);
            Diagnostic::error(Code(code), model.bodies[decl].span, text)
        };
        let at_inertia = |code: u16, body: usize, text: String| {
            let (decl, _) = model.body_instance(body);
            Diagnostic::error(Code(code), model.bodies[decl].inertia_span, text)
        };
        let name = |body: usize| model.body_name(body);
        match self {
            Self::Param { param } => {
                let (kind, p) = settable(model, *param);
                Diagnostic::error(Code(150), p.span, format!("{kind} `{}` is not a finite number", p.name))
            }
            Self::ParamLength { param, expected, found } => {
                let (kind, p) = settable(model, *param);
                let text = format!("{kind} `{}` has {}, not {found}", p.name, counted(*expected, "value"));
                Diagnostic::error(Code(151), p.span, text)
            }
            Self::NoMass { body } => at_body(152, *body, format!("body `{}` has no mass", name(*body)))
                .note("the mass matrix must be invertible")
                .help("write `mass = ...;`, or give the body a `solid`"),
            Self::Mass { body, mass } => {
                at_body(153, *body, format!("the mass of body `{}` is impossible: {mass} kg", name(*body)))
            }
            Self::InertiaValue { body } => {
                at_inertia(154, *body, format!("the inertia of body `{}` is not finite", name(*body)))
            }
            Self::Asymmetric { body, place: (i, j), values: (a, b) } => {
                let text = format!("inertia of body `{}` is not symmetric", name(*body));
                let (a, b) = (shown(*a), shown(*b));
                at_inertia(155, *body, text)
                    .note(format!("element ({i}, {j}) is {a}, element ({j}, {i}) is {b} kg m^2"))
            }
            Self::NegativeMoment { body, moments } => {
                let text =
                    format!("inertia of body `{}` is impossible: principal moments {}", name(*body), list(moments));
                at_inertia(156, *body, format!("{text} kg m^2 must be positive"))
            }
            Self::ZeroMoment { body, moments } => {
                let text = format!("body `{}` has a principal moment of inertia that is zero", name(*body));
                at_inertia(157, *body, text)
                    .note(format!("principal moments are {} kg m^2; the mass matrix must be invertible", list(moments)))
                    .help("give a rod a radius, or use a `particle` for a point mass")
            }
            Self::Triangle { body, moments } => {
                let [a, b, c] = moments.map(shown);
                let text = format!("inertia of body `{}` is impossible: principal moments {a}, {b}, {c}", name(*body));
                at_inertia(158, *body, format!("{text} kg m^2 violate a + b >= c ({a} + {b} < {c})"))
                    .note("no distribution of mass has such moments")
                    .help("check units and axes; inertia is about the centre of mass, in body axes")
            }
            Self::Rotation { body, error } => {
                let diagnostic = at_body(159, *body, format!("`rot` of body `{}` is not a rotation", name(*body)));
                if error.is_finite() {
                    diagnostic.note(format!("transpose(R) * R differs from the identity by {}", shown(*error)))
                } else {
                    diagnostic.note("its determinant is not 1")
                }
            }
            Self::Placement { body, what } => {
                at_body(160, *body, format!("`{what}` of body `{}` is not finite", name(*body)))
            }
            Self::Check { check, name, sides } => {
                let c = &model.checks[*check];
                let mut text = format!("check `{name}` does not hold");
                if let Some((left, right)) = sides {
                    write!(text, ": {} against {} {}", shown(*left), shown(*right), c.dim.unit())
                        .expect("writing to a string succeeds");
                }
                let d = Diagnostic::error(Code(161), c.span, text).label("does not hold");
                let d = c.docs.iter().fold(d, |d, line| d.note(line.clone()));
                d.note("it depends on parameters only")
            }
            Self::Tolerance { value } => {
                let span = model.simulate.tolerance.map_or(model.span, |(_, span)| span);
                let (least, most) = (shown(Tolerance::LEAST), shown(Tolerance::MOST));
                Diagnostic::error(Code(163), span, format!("no step can be chosen by a tolerance of {}", shown(*value)))
                    .label(format!("must be from {least} to {most}"))
                    .note("it is relative: to lengths of the model, to 1 rad, and to velocities")
            }
            Self::Registers(error) => Diagnostic::error(Code(162), model.span, error.to_string()),
        }
    }
}

/// A parameter or input by its number, and what it is.
fn settable(model: &Model, number: usize) -> (&'static str, &Param) {
    match number.checked_sub(model.params.len()) {
        None => ("parameter", &model.params[number]),
        Some(input) => ("input", &model.inputs[input]),
    }
}

fn counted(n: usize, what: &str) -> String {
    if n == 1 { format!("1 {what}") } else { format!("{n} {what}s") }
}

/// A number with the digits that matter in a message.
fn shown(x: f64) -> String {
    // Six significant digits, written as short as they are.
    let rounded: f64 = format!("{x:.5e}").parse().unwrap_or(x);
    if rounded != 0.0 && !(1e-4..1e7).contains(&rounded.abs()) { format!("{rounded:e}") } else { format!("{rounded}") }
}

fn list(moments: &[f64; 3]) -> String {
    let [a, b, c] = moments.map(shown);
    format!("{a}, {b}, {c}")
}
