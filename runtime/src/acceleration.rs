//! Accelerations and multipliers at a state: `[M B^T; B 0] (A, lambda) = (Q, -gamma)`.

use alloc::vec::Vec;

use crate::consistent::{Consistent, Failure};
use crate::state::State;
use crate::system::System;

/// Accelerations (`nv`; m/s^2, rad/s^2 in body axes) and multipliers (`nc`, a force or torque a row; of least norm where rows are
/// dependent) at a state that fulfils `Phi = 0` and `B V + Phi_t = 0`.
///
/// `S lambda = B M^-1 Q + gamma`, `A = M^-1 (Q - B^T lambda)`, with one refinement. Cost linear for chains; allocates.
///
/// # Errors
/// [`NoAccelerations`] if a constraint or a force is not finite there.
pub fn accelerations<S: System + ?Sized>(sys: &mut S, s: &State) -> Result<(Vec<f64>, Vec<f64>), NoAccelerations> {
    let mut solver = Consistent::new(sys.topology());
    let mut lambda = vec![0.0; sys.topology().nc()];
    solver.evaluate(sys, s)?;
    solver.accelerate(sys, s, 0.0)?;
    solver.deliver(&mut lambda);
    Ok((solver.acceleration, lambda))
}

/// A state at which equations are not finite.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoAccelerations;

impl From<Failure> for NoAccelerations {
    fn from(_: Failure) -> Self {
        Self
    }
}
