//! The numbers that a model gives for a body into its mass properties and its placement, checked.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use nalgebra::{Matrix3, Vector3};

use crate::state::State;
use crate::topology::{Body, BodyKind};

/// Relative error that the elements of an inertia may have: model files give them with some ten digits at best.
const INERTIA_TOLERANCE: f64 = 1e-9;

/// Error that a given rotation may have before it is refused; the nearest rotation is taken.
const ROTATION_TOLERANCE: f64 = 1e-6;

/// Numbers of a body: mass 0, centre of mass in the reference frame 1..4, inertia about it in body axes 4..13, position
/// 13..16, rotation 16..25 and velocity 25..28 of the reference frame, angular velocity in body axes 28..31.
pub const SETUP: usize = 31;

/// Mass properties and placement of one body.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Setup {
    /// Mass properties.
    pub body: Body,
    /// Centre of mass in the reference frame, m.
    pub com: Vector3<f64>,
    /// Position of the reference frame, m.
    pub pos: Vector3<f64>,
    /// Rotation.
    pub rot: Matrix3<f64>,
    /// Velocity of the reference frame, m/s.
    pub vel: Vector3<f64>,
    /// Angular velocity in body axes, rad/s.
    pub omega: Vector3<f64>,
}

/// What is wrong with the numbers of a body.
#[derive(Clone, Debug, PartialEq)]
pub enum SetupFault {
    /// The mass is zero.
    NoMass,
    /// The mass is negative or not finite.
    Mass {
        /// The mass, kg.
        mass: f64,
    },
    /// The inertia is not finite.
    InertiaValue,
    /// The inertia is not symmetric.
    Asymmetric {
        /// Row and column of the difference.
        place: (usize, usize),
        /// The element there and the one opposite, kg m^2.
        values: (f64, f64),
    },
    /// A principal moment is negative.
    NegativeMoment {
        /// Principal moments in ascending order, kg m^2.
        moments: [f64; 3],
    },
    /// A principal moment is zero.
    ZeroMoment {
        /// Principal moments in ascending order, kg m^2.
        moments: [f64; 3],
    },
    /// The two smaller principal moments do not reach the largest.
    Triangle {
        /// Principal moments in ascending order, kg m^2.
        moments: [f64; 3],
    },
    /// The rotation that the body starts with is none.
    Rotation {
        /// Largest element of `R^T R - I`, or infinite for a reflection.
        error: f64,
    },
    /// The centre of mass or a placement is not finite.
    Placement {
        /// `com`, `pos`, `rot`, `vel` or `omega`.
        what: &'static str,
    },
}

impl Setup {
    /// From the numbers of a body; where no rotation is given, it is none.
    #[must_use]
    pub fn new(kind: BodyKind, has_rotation: bool, z: &[f64; SETUP]) -> Self {
        let vector = |at: usize| Vector3::from_column_slice(&z[at..at + 3]);
        let matrix = |at: usize| Matrix3::from_row_slice(&z[at..at + 9]);
        Self {
            body: Body { kind, mass: z[0], inertia: matrix(4) },
            com: vector(1),
            pos: vector(13),
            rot: if has_rotation { matrix(16) } else { Matrix3::identity() },
            vel: vector(25),
            omega: vector(28),
        }
    }

    /// Position and velocity of the centre of mass, from those of the reference frame.
    pub fn place(&self, body: usize, guess: &mut State) {
        guess.set_x(body, &(self.pos + self.rot * self.com));
        guess.set_v(body, &(self.vel + self.rot * self.omega.cross(&self.com)));
        guess.set_r(body, &self.rot);
        guess.set_omega(body, &self.omega);
    }

    /// What is wrong, in the order of the numbers.
    #[must_use]
    pub fn faults(&self) -> Vec<SetupFault> {
        let mut faults = Vec::new();
        let mass = self.body.mass;
        if mass == 0.0 {
            faults.push(SetupFault::NoMass);
        } else if !(mass.is_finite() && mass > 0.0) {
            faults.push(SetupFault::Mass { mass });
        }
        let vectors = [("com", &self.com), ("pos", &self.pos), ("vel", &self.vel), ("omega", &self.omega)];
        for (what, vector) in vectors {
            if !vector.iter().all(|x| x.is_finite()) {
                faults.push(SetupFault::Placement { what });
            }
        }
        if self.body.kind == BodyKind::Rigid {
            faults.extend(self.rotation_fault());
            faults.extend(self.inertia_fault());
        }
        faults
    }

    fn rotation_fault(&self) -> Option<SetupFault> {
        let r = &self.rot;
        if !r.iter().all(|x| x.is_finite()) {
            return Some(SetupFault::Placement { what: "rot" });
        }
        let error = (r.transpose() * r - Matrix3::identity()).amax();
        if error > ROTATION_TOLERANCE {
            return Some(SetupFault::Rotation { error });
        }
        (r.determinant() < 0.0).then_some(SetupFault::Rotation { error: f64::INFINITY })
    }

    /// What is impossible about the inertia, or makes the mass matrix singular.
    fn inertia_fault(&self) -> Option<SetupFault> {
        let j = &self.body.inertia;
        if !j.iter().all(|x| x.is_finite()) {
            return Some(SetupFault::InertiaValue);
        }
        let scale = j.amax();
        for place @ (row, column) in [(0, 1), (0, 2), (1, 2)] {
            let values = (j[place], j[(column, row)]);
            if (values.0 - values.1).abs() > INERTIA_TOLERANCE * scale {
                return Some(SetupFault::Asymmetric { place, values });
            }
        }
        let mut moments: [f64; 3] = ((j + j.transpose()) * 0.5).symmetric_eigenvalues().into();
        moments.sort_by(f64::total_cmp);
        let [a, b, c] = moments;
        let tolerance = INERTIA_TOLERANCE * scale;
        if a < -tolerance {
            return Some(SetupFault::NegativeMoment { moments });
        }
        if a <= tolerance {
            return Some(SetupFault::ZeroMoment { moments });
        }
        (a + b < c - tolerance).then_some(SetupFault::Triangle { moments })
    }
}

impl fmt::Display for SetupFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoMass => write!(f, "has no mass"),
            Self::Mass { mass } => write!(f, "has the mass {mass} kg"),
            Self::InertiaValue => write!(f, "has an inertia that is not finite"),
            Self::Asymmetric { place: (i, j), values: (a, b) } => {
                write!(f, "has an inertia that is not symmetric: {a} at [{i}, {j}], {b} at [{j}, {i}]")
            }
            Self::NegativeMoment { moments } => write!(f, "has a negative principal moment of inertia: {moments:?}"),
            Self::ZeroMoment { moments } => write!(f, "has a principal moment of inertia of zero: {moments:?}"),
            Self::Triangle { moments } => {
                write!(f, "has an impossible inertia: two principal moments must reach the third, {moments:?}")
            }
            Self::Rotation { error } => write!(f, "starts with a `rot` that is no rotation: R^T R - I is {error:e}"),
            Self::Placement { what } => write!(f, "has a `{what}` that is not finite"),
        }
    }
}

/// What is wrong with the parameters of a generated model.
#[derive(Clone, Debug, PartialEq)]
pub enum ParamsFault {
    /// A parameter is not a finite number.
    Param {
        /// Its name.
        name: &'static str,
    },
    /// The numbers of a body are impossible.
    Body {
        /// Name of the body.
        name: String,
        /// What is wrong.
        fault: SetupFault,
    },
    /// A check of parameters fails.
    Check {
        /// Name of the check.
        name: String,
        /// Left and right side of a comparison.
        sides: Option<(f64, f64)>,
    },
}

impl fmt::Display for ParamsFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Param { name } => write!(f, "the parameter `{name}` is not finite"),
            Self::Body { name, fault } => write!(f, "`{name}` {fault}"),
            Self::Check { name, sides: None } => write!(f, "the check `{name}` fails"),
            Self::Check { name, sides: Some((left, right)) } => {
                write!(f, "the check `{name}` fails: {left} and {right}")
            }
        }
    }
}

/// Parameters that no model can be made of: everything that is wrong, in the order of the declarations.
#[derive(Clone, Debug, PartialEq)]
pub struct ParamsError {
    /// What is wrong; at least one.
    pub faults: Vec<ParamsFault>,
}

impl fmt::Display for ParamsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (k, fault) in self.faults.iter().enumerate() {
            write!(f, "{}{fault}", if k == 0 { "" } else { "; " })?;
        }
        Ok(())
    }
}

impl core::error::Error for ParamsError {}
