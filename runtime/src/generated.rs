//! What generated models call: the scalar functions of the language, bodies and blocks of slices, tables of instances, names.
//!
//! Nothing here is meant to be called by hand; its users are the models that the `mbd!` macro writes.

use alloc::borrow::ToOwned;
use alloc::string::ToString;
use core::fmt;

use nalgebra::{Matrix3, Vector3};

use crate::acceleration;
use crate::monitor::Monitor;
use crate::setup::{ParamsFault, SETUP, Setup};
use crate::state::STRIDE;
use crate::steppers::adaptive::Tolerance;
use crate::steppers::name::{StepperName, UnknownStepper, Unsuited};
use crate::topology::{Body, Coupling, ElementSet};

pub use alloc::string::String;
pub use alloc::vec;
pub use alloc::vec::Vec;

pub use crate::assembly::{AssemblyError, AssemblyReport, assemble};
pub use crate::checks::{About, CheckSet, Checked, Failures, Recorder};
pub use crate::float::{floor, sqrt};
pub use crate::math::{atan2_over, log_coefficient, stumpff, unwrap_angle};
pub use crate::neighbours::Neighbours;
pub use crate::point::Point;
pub use crate::setup::ParamsError;
pub use crate::simulate::Plan;
pub use crate::state::State;
pub use crate::steppers::AnyStepper;
pub use crate::steppers::euler::Euler;
pub use crate::steppers::euler::unrolled::{Delivered, Unrolled, UnrolledForm, UnrolledSizes};
pub use crate::steppers::method::{Method, UnknownMethod};
pub use crate::steppers::rattle::unrolled::{Stage, StepEnd, UnrolledRattle};
pub use crate::system::{ConstraintDerivatives, ForceDerivatives, Jacobian, System};
pub use crate::topology::{BodyKind, Topology};
pub use crate::wind::wind;
pub use libm::{acos, asin, atan2, cos, exp, log, pow, sin, tan};

/// The numbers of one body in a state: `x`, `R` row-major, `v`, `Omega`.
pub type BodyState = [f64; STRIDE];

impl<'a> Point<'a> {
    /// The numbers of a body.
    #[inline]
    #[must_use]
    pub fn body(&self, body: u32) -> &'a BodyState {
        block(self.z, body as usize * STRIDE)
    }

    /// A continuous angle.
    #[inline]
    #[must_use]
    pub fn angle(&self, cell: u32) -> f64 {
        self.memory[cell as usize]
    }

    /// The multiplier of a row; not a number where multipliers are unknown.
    #[inline]
    #[must_use]
    pub fn multiplier(&self, row: u32) -> f64 {
        self.lambda.get(row as usize).copied().unwrap_or(f64::NAN)
    }
}

/// `N` numbers of a list from `at` on.
///
/// # Panics
/// If the list is too short.
#[inline]
#[must_use]
pub fn block<const N: usize>(list: &[f64], at: usize) -> &[f64; N] {
    list[at..].first_chunk().expect("arrays have the lengths that the topology says")
}

/// `N` numbers of a list from `at` on.
///
/// # Panics
/// If the list is too short.
#[inline]
pub fn block_mut<const N: usize>(list: &mut [f64], at: usize) -> &mut [f64; N] {
    list[at..].first_chunk_mut().expect("arrays have the lengths that the topology says")
}

/// Adds numbers to those of a list from `at` on.
#[inline]
pub fn add<const N: usize>(list: &mut [f64], at: usize, terms: [f64; N]) {
    for (sum, term) in block_mut::<N>(list, at).iter_mut().zip(terms) {
        *sum += term;
    }
}

/// Absolute value.
#[inline]
#[must_use]
pub fn abs(a: f64) -> f64 {
    a.abs()
}

/// -1 or 1; zero and NaN are their own signs.
#[inline]
#[must_use]
pub fn sign(a: f64) -> f64 {
    if a > 0.0 {
        1.0
    } else if a < 0.0 {
        -1.0
    } else {
        a
    }
}

/// The smaller one; the second if they cannot be compared.
#[inline]
#[must_use]
pub fn min(a: f64, b: f64) -> f64 {
    if a < b { a } else { b }
}

/// The larger one; the second if they cannot be compared.
#[inline]
#[must_use]
pub fn max(a: f64, b: f64) -> f64 {
    if a > b { a } else { b }
}

/// Remainder with the sign of `b`: `a - b floor(a / b)`.
#[inline]
#[must_use]
pub fn modulo(a: f64, b: f64) -> f64 {
    a - b * floor(a / b)
}

/// Reduces the values of some instances to one; zero where there are none.
pub fn fold(values: impl Iterator<Item = f64>, join: impl Fn(f64, f64) -> f64) -> f64 {
    values.reduce(join).unwrap_or(0.0)
}

/// An arithmetic progression: its number of terms, the first one, the difference of one to the next.
pub type Run = (u32, i64, i64);

/// The numbers of a table column that is written as runs.
pub fn column(runs: &[Run]) -> impl Iterator<Item = i64> + '_ {
    runs.iter().flat_map(|&(count, first, step)| (0..i64::from(count)).map(move |k| first + k * step))
}

/// A table with a row of `N` numbers for each of `count` instances, from its columns.
#[must_use]
pub fn table<const N: usize>(count: usize, columns: [&[Run]; N]) -> Vec<[u32; N]> {
    let mut rows = vec![[0; N]; count];
    for (j, runs) in columns.iter().enumerate() {
        for (row, value) in rows.iter_mut().zip(column(runs)) {
            row[j] = value as u32;
        }
    }
    rows
}

/// Index values of `count` instances, from the columns of their table.
#[must_use]
pub fn indices<const N: usize>(count: usize, columns: [&[Run]; N]) -> Vec<[f64; N]> {
    let mut rows = vec![[0.0; N]; count];
    for (j, runs) in columns.iter().enumerate() {
        for (row, value) in rows.iter_mut().zip(column(runs)) {
            row[j] = value as f64;
        }
    }
    rows
}

/// Name of an instance of a declaration: `pin[3]`.
#[must_use]
pub fn name(decl: &str, columns: &[&[Run]], k: usize) -> String {
    let indices: Vec<String> = columns.iter().filter_map(|runs| column(runs).nth(k)).map(|i| i.to_string()).collect();
    if indices.is_empty() { decl.to_owned() } else { format!("{decl}[{}]", indices.join(",")) }
}

/// Instance number and family of number `k` of instances that are counted through families.
#[must_use]
pub fn locate(counts: &[usize], mut k: usize) -> Option<(usize, usize)> {
    for (family, &count) in counts.iter().enumerate() {
        if k < count {
            return Some((family, k));
        }
        k -= count;
    }
    None
}

/// A model in the making: bodies with their placement, and what is wrong with them.
#[derive(Clone, Debug)]
pub struct Builder {
    topology: Topology,
    guess: State,
    com: Vec<Vector3<f64>>,
    faults: Vec<ParamsFault>,
}

/// What all generated models have in common.
#[derive(Clone, Debug)]
pub struct Base {
    /// The static structure.
    pub topology: Topology,
    /// The state before assembly.
    pub guess: State,
    /// Centre of mass of each body in its reference frame, m.
    pub com: Vec<Vector3<f64>>,
}

impl Builder {
    /// A model of `bodies` bodies and `memory` continuous angles.
    #[must_use]
    pub fn new(bodies: usize, memory: usize) -> Self {
        Self {
            topology: Topology { dof: vec![0], memory, ..Topology::default() },
            guess: State::new(bodies, memory),
            com: Vec::with_capacity(bodies),
            faults: Vec::new(),
        }
    }

    /// Looks at a parameter.
    pub fn param(&mut self, name: &'static str, values: &[f64]) {
        if !values.iter().all(|x| x.is_finite()) {
            self.faults.push(ParamsFault::Param { name });
        }
    }

    /// Appends a body.
    pub fn body(&mut self, kind: BodyKind, has_rotation: bool, numbers: &[f64; SETUP], name: impl Fn() -> String) {
        let setup = Setup::new(kind, has_rotation, numbers);
        self.faults.extend(setup.faults().into_iter().map(|fault| ParamsFault::Body { name: name(), fault }));
        let topology = &mut self.topology;
        setup.place(topology.bodies.len(), &mut self.guess);
        topology.dof.push(topology.dof[topology.dof.len() - 1] + kind.dim());
        topology.bodies.push(setup.body);
        self.com.push(setup.com);
    }

    /// Looks at a check of parameters: its truth value, and both sides of a comparison.
    pub fn check<const N: usize>(&mut self, values: &[f64; N], name: impl Fn() -> String) {
        if values[0] == 0.0 {
            let sides = if N == 3 { Some((values[1], values[2])) } else { None };
            self.faults.push(ParamsFault::Check { name: name(), sides });
        }
    }

    /// Appends constraints.
    pub fn constraints<const N: usize>(&mut self, bodies: &[[u32; N]], rows: usize, couplings: &[Coupling]) {
        push(&mut self.topology.constraints, &self.topology.bodies, bodies, rows, couplings);
    }

    /// Appends forces.
    pub fn forces<const N: usize>(&mut self, bodies: &[[u32; N]], couplings: &[Coupling]) {
        push(&mut self.topology.forces, &self.topology.bodies, bodies, 0, couplings);
    }

    /// Says that there are forces between pairs that are found during a run.
    pub fn pairs(&mut self) {
        self.topology.has_pairs = true;
    }

    /// Appends conditions on initial positions.
    pub fn position_conditions<const N: usize>(&mut self, bodies: &[[u32; N]], rows: usize, is_fixed: bool) {
        push(&mut self.topology.position_conditions, &self.topology.bodies, bodies, rows, &[]);
        self.topology.position_fixed.resize(self.topology.position_conditions.elements.len(), is_fixed);
    }

    /// Appends conditions on initial velocities.
    pub fn velocity_conditions<const N: usize>(&mut self, bodies: &[[u32; N]], rows: usize, is_fixed: bool) {
        push(&mut self.topology.velocity_conditions, &self.topology.bodies, bodies, rows, &[]);
        self.topology.velocity_fixed.resize(self.topology.velocity_conditions.elements.len(), is_fixed);
    }

    /// The model, if nothing is wrong.
    ///
    /// # Errors
    /// Everything that is wrong.
    pub fn finish(self) -> Result<Base, ParamsError> {
        let Self { topology, guess, com, faults } = self;
        if faults.is_empty() { Ok(Base { topology, guess, com }) } else { Err(ParamsError { faults }) }
    }
}

/// Appends instances to a set: slot by slot the bodies of each.
fn push<const N: usize>(set: &mut ElementSet, all: &[Body], bodies: &[[u32; N]], rows: usize, couplings: &[Coupling]) {
    bodies.iter().for_each(|slots| set.push(all, slots, rows, couplings));
}

/// The stepper that a model names does not exist, or cannot move its bodies.
#[derive(Clone, Debug, PartialEq)]
pub enum StepperError {
    /// There is none of that name.
    Unknown(UnknownStepper),
    /// It cannot move the model.
    Unsuited {
        /// What is wrong.
        message: String,
    },
    /// No step can be chosen by its tolerance.
    Tolerance {
        /// The number.
        value: f64,
    },
}

impl fmt::Display for StepperError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown(unknown) => unknown.fmt(f),
            Self::Unsuited { message } => f.write_str(message),
            Self::Tolerance { value } => {
                write!(f, "no step can be chosen by a tolerance of {value:?}: ")?;
                write!(f, "it must be from {:?} to {:?}", Tolerance::LEAST, Tolerance::MOST)
            }
        }
    }
}

impl core::error::Error for StepperError {}

/// A stepper by its name.
///
/// # Errors
/// If there is none of that name, or if it cannot move the model.
pub fn stepper<S: System>(sys: &S, name: &str) -> Result<AnyStepper, StepperError> {
    let name: StepperName = name.parse().map_err(StepperError::Unknown)?;
    AnyStepper::new(sys.topology(), name).map_err(|e| unsuited(sys, &e))
}

/// The same for steps that a tolerance chooses, by default that of [`Tolerance::default`], up to a time (s).
///
/// # Errors
/// As of [`stepper`]; or if the tolerance is impossible.
pub fn adaptive<S: System>(
    sys: &S,
    name: &str,
    tolerance: Option<f64>,
    until: Option<f64>,
) -> Result<AnyStepper, StepperError> {
    let name: StepperName = name.parse().map_err(StepperError::Unknown)?;
    let tolerance = match tolerance {
        Some(value) => Tolerance::new(value).ok_or(StepperError::Tolerance { value })?,
        None => Tolerance::default(),
    };
    let until = until.unwrap_or(f64::INFINITY);
    AnyStepper::adaptive(sys.topology(), name, tolerance, until).map_err(|e| unsuited(sys, &e))
}

fn unsuited<S: System>(sys: &S, e: &Unsuited) -> StepperError {
    StepperError::Unsuited { message: format!("{}: {}", e.message(|body| sys.body_name(body)), e.instead()) }
}

/// Makes room for values and Jacobian blocks of a set.
pub fn fit_jacobian(jac: &mut Jacobian, set: &ElementSet) {
    jac.phi.resize(set.rows, 0.0);
    jac.phi_t.resize(set.rows, 0.0);
    jac.b.resize(set.jac_len, 0.0);
}

/// Makes room for the derivatives of constraints.
pub fn fit_constraints(out: &mut ConstraintDerivatives, set: &ElementSet) {
    out.bv_q.resize(set.jac_len, 0.0);
    out.k_lam.resize(set.square_len, 0.0);
}

/// Makes room for the derivatives of forces.
pub fn fit_forces(out: &mut ForceDerivatives, set: &ElementSet) {
    out.q_q.resize(set.square_len, 0.0);
    out.q_v.resize(set.square_len, 0.0);
}

/// The reference frame of a body, as the model names it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Frame {
    /// Position of the reference frame, m.
    pub pos: Vector3<f64>,
    /// Rotation from body to inertial axes.
    pub rot: Matrix3<f64>,
    /// Velocity of the reference frame in inertial axes, m/s.
    pub vel: Vector3<f64>,
    /// Angular velocity in body axes, rad/s.
    pub omega: Vector3<f64>,
}

impl Base {
    /// The reference frame of a body in a state.
    #[must_use]
    pub fn frame(&self, s: &State, body: usize) -> Frame {
        let (rot, omega, com) = (s.r(body), s.omega(body), &self.com[body]);
        Frame { pos: s.x(body) - rot * com, rot, vel: s.v(body) - rot * omega.cross(com), omega }
    }
}

/// Multipliers (`nc`) of a state by solving for its accelerations, and its energies and momenta, as [`Point::globals`].
/// Multipliers are not numbers where the equations are singular.
pub fn observe<S: System>(sys: &mut S, s: &State) -> (Vec<f64>, [f64; 9]) {
    let (nv, nc) = (sys.topology().nv(), sys.topology().nc());
    let (acceleration, lambda) =
        acceleration::accelerations(sys, s).unwrap_or_else(|_| (vec![f64::NAN; nv], vec![f64::NAN; nc]));
    let globals = Monitor::new(sys.topology()).measure(sys, s, &acceleration).globals();
    (lambda, globals)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_come_from_runs() {
        let links: &[Run] = &[(3, 0, 1), (1, 7, 0)];
        assert_eq!(table(4, [links, &[(4, 5, -1)]]), [[0, 5], [1, 4], [2, 3], [7, 2]]);
        assert_eq!(indices(2, [&[(2, -1, 2)]]), [[-1.0], [1.0]]);
        assert_eq!(name("pin", &[links, links], 3), "pin[7,7]");
        assert_eq!(name("pin", &[], 0), "pin");
        assert_eq!(locate(&[2, 0, 3], 4), Some((2, 2)));
        assert_eq!(locate(&[2, 0, 3], 5), None);
    }

    #[test]
    fn functions_follow_the_language() {
        assert_eq!([sign(-3.0), sign(2.0), sign(0.0)], [-1.0, 1.0, 0.0]);
        assert_eq!([modulo(-1.0, 3.0), modulo(7.0, 3.0)], [2.0, 1.0]);
        assert_eq!([min(f64::NAN, 1.0), max(f64::NAN, 1.0)], [1.0, 1.0]);
        assert_eq!(fold([3.0, 1.0, 2.0].into_iter(), min), 1.0);
        assert_eq!(fold([].into_iter(), min), 0.0);
    }
}
