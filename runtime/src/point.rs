//! Where a kernel is evaluated.

use crate::state::State;

/// A state, and what the run knows of it.
#[derive(Clone, Copy, Debug)]
pub struct Point<'a> {
    /// States of all bodies.
    pub z: &'a [f64],
    /// Time, s.
    pub t: f64,
    /// Continuous angles, rad.
    pub memory: &'a [f64],
    /// Multipliers of all constraint rows.
    pub lambda: &'a [f64],
    /// Total, kinetic and potential energy (J), linear momentum (kg m/s) and angular momentum (kg m^2/s) of the model.
    pub globals: &'a [f64; 9],
    /// Numbers of the inputs.
    pub signals: &'a [f64],
}

impl<'a> Point<'a> {
    /// No state at all: for what depends on parameters only.
    pub const NONE: Point<'static> =
        Point { z: &[], t: 0.0, memory: &[], lambda: &[], globals: &[0.0; 9], signals: &[] };

    /// A state without multipliers, energies, momenta and inputs.
    #[inline]
    #[must_use]
    pub fn of(s: &'a State) -> Self {
        Self { z: &s.z, t: s.t, memory: &s.memory, ..Point::NONE }
    }
}
