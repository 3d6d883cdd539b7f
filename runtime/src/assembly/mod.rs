//! Consistent initial values: from a guess to a state that fulfils constraints and conditions.

use alloc::vec::Vec;

mod positions;
mod report;
mod stacked;
mod velocities;

pub use report::{AssemblyError, AssemblyReport, Conflict, DependentRow, Moved};

use crate::inertia::Inertia;
use crate::state::State;
use crate::system::System;
use stacked::{Selection, Stacked};

/// Makes a guess consistent.
///
/// Positions: the state of least mass-weighted change from the guess with `Phi = 0`, the `fixed` position conditions,
/// and the `guess` conditions as far as these can be fulfilled together (least squares otherwise). Velocities: least
/// `(V - V*)^T M (V - V*)/2` with `B V + Phi_t = 0` and the velocity conditions, in the same order of precedence. Both
/// to round-off. Dependent rows are no obstacle. A guess that is consistent already is returned as it is.
///
/// # Errors
/// [`AssemblyError`] names the constraints or conditions that stay open, or contradict one another.
pub fn assemble<S: System + ?Sized>(sys: &mut S, guess: State) -> Result<(State, AssemblyReport), AssemblyError> {
    if guess.z.iter().any(|x| !x.is_finite()) {
        return Err(AssemblyError::NonFinite { places: Vec::new() });
    }
    let inertia = Inertia::new(sys.topology());
    let mut s = guess.clone();
    let pulls = positions::assemble(sys, &inertia, &mut s)?;
    velocities::assemble(sys, &inertia, &mut s)?;
    let mut rows = Stacked::new(sys.topology(), Selection::CONSTRAINTS);
    rows.evaluate_positions(sys, &s);
    let report = report::describe(sys, &inertia, &mut rows, &guess, &s, &pulls)?;
    sys.accept(&mut s);
    Ok((s, report))
}
