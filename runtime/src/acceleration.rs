//! Accelerations and multipliers at a state: `[M B^T; B 0] (A, lambda) = (Q, -gamma)`; and states near the constraints put onto them.

use alloc::vec::Vec;

use crate::consistent::{Consistent, Failure};
use crate::state::State;
use crate::system::System;
use crate::topology::Topology;

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
    if !solver.acceleration.iter().chain(&lambda).all(|x| x.is_finite()) {
        return Err(Failure::NonFinite.into());
    }
    Ok((solver.acceleration, lambda))
}

/// Puts states near the constraints onto them at all three levels: what methods with projection do at the end of each step.
///
/// ```text
/// q <- q (+) -M^-1 B^T mu  until Phi = 0,   V <- V - M^-1 B^T nu  with B V + Phi_t = 0,   then A and lambda
/// ```
///
/// For programs that change states: velocities after an impact, for instance, keep what the constraints allow of them, with the least change of kinetic energy. Cost linear for chains, two
/// factorisations of `B M^-1 B^T`; only the constructor allocates.
#[derive(Clone, Debug)]
pub struct Projector {
    consistent: Consistent,
    trial: State,
    lambda: Vec<f64>,
}

impl Projector {
    /// Symbolic phase for a model.
    #[must_use]
    pub fn new(topology: &Topology) -> Self {
        Self {
            consistent: Consistent::new(topology),
            trial: State::new(topology.bodies.len(), topology.memory),
            lambda: vec![0.0; topology.nc()],
        }
    }

    /// Moves positions, then velocities; how many moves of positions it took. Rows that follow from others are told apart within some `1e-6` of the constraints.
    ///
    /// # Errors
    /// [`NoAccelerations`] if something is not finite there, or if the constraints cannot be closed; the state is then as before.
    pub fn project<S: System + ?Sized>(&mut self, sys: &mut S, s: &mut State) -> Result<usize, NoAccelerations> {
        self.trial.clone_from(s);
        self.consistent.evaluate(sys, &self.trial)?;
        let count = self.consistent.close(sys, &mut self.trial)?;
        if !self.trial.z.iter().chain(&self.consistent.acceleration).all(|x| x.is_finite()) {
            return Err(NoAccelerations);
        }
        self.consistent.deliver(&mut self.lambda);
        s.clone_from(&self.trial);
        Ok(count)
    }

    /// Accelerations at the state that was projected last (`nv`; m/s^2, rad/s^2).
    #[must_use]
    pub fn acceleration(&self) -> &[f64] {
        &self.consistent.acceleration
    }

    /// Multipliers there (`nc`), of least norm where rows are dependent.
    #[must_use]
    pub fn lambda(&self) -> &[f64] {
        &self.lambda
    }
}

/// A state at which equations are not finite, or from which the constraints cannot be closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoAccelerations;

impl From<Failure> for NoAccelerations {
    fn from(_: Failure) -> Self {
        Self
    }
}
