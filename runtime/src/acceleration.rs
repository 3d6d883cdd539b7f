//! Accelerations and multipliers at a state: `[M B^T; B 0] (A, lambda) = (Q, -gamma)`.

use alloc::vec::Vec;

use crate::inertia::Inertia;
use crate::linalg::block_lu::SingularBlock;
use crate::linalg::gram::{Gram, Weight};
use crate::linalg::rows;
use crate::state::State;
use crate::system::{Jacobian, System};
use crate::topology::Topology;
use crate::velocity;

/// Workspaces and results of the solve. Only the constructor allocates.
#[derive(Clone, Debug)]
pub struct AccelerationSolver {
    topology: Topology,
    inertia: Inertia,
    gram: Gram,
    jac: Jacobian,
    gamma: Vec<f64>,
    residual: Vec<f64>,
    q: Vec<f64>,
    v: Vec<f64>,
    /// Accelerations (`nv`; m/s^2, rad/s^2 in body axes).
    pub acceleration: Vec<f64>,
    /// Multipliers (`nc`), a force or torque a row; of least norm where rows are dependent.
    pub lambda: Vec<f64>,
    /// Number of independent rows at the last state.
    pub rank: usize,
}

impl AccelerationSolver {
    /// Symbolic phase for a model.
    #[must_use]
    pub fn new(topology: &Topology) -> Self {
        let (nv, nc) = (topology.nv(), topology.nc());
        Self {
            inertia: Inertia::new(topology),
            gram: Gram::new(topology, &topology.constraints, Weight::InverseMass),
            jac: Jacobian { phi: vec![0.0; nc], phi_t: vec![0.0; nc], b: vec![0.0; topology.constraints.jac_len] },
            gamma: vec![0.0; nc],
            residual: vec![0.0; nc],
            q: vec![0.0; nv],
            v: vec![0.0; nv],
            acceleration: vec![0.0; nv],
            lambda: vec![0.0; nc],
            rank: 0,
            topology: topology.clone(),
        }
    }

    /// Solves at a state that fulfils `Phi = 0` and `B V + Phi_t = 0`.
    ///
    /// `S lambda = B M^-1 Q + gamma`, `A = M^-1 (Q - B^T lambda)`, with one refinement. Cost linear for chains.
    ///
    /// # Errors
    /// [`SingularBlock`] names a constraint element whose Jacobian is not finite.
    pub fn solve<S: System + ?Sized>(&mut self, sys: &mut S, s: &State) -> Result<(), SingularBlock> {
        let (set, dof) = (&self.topology.constraints, &self.topology.dof[..]);
        sys.jacobian(s, &mut self.jac);
        sys.convective(s, &mut self.gamma);
        sys.forces(s, &mut self.q);
        velocity::read(&self.topology, s, &mut self.v);
        self.inertia.add_gyroscopic(&self.v, 1.0, &mut self.q);
        self.rank = self.gram.factor_ranked(&self.inertia, &self.jac.b)?;
        self.lambda.fill(0.0);
        self.inertia.apply_inverse(&self.q, &mut self.acceleration);
        for _ in 0..2 {
            rows::apply(set, dof, &self.jac.b, &self.acceleration, &mut self.residual);
            for (r, gamma) in self.residual.iter_mut().zip(&self.gamma) {
                *r += gamma;
            }
            self.gram.solve(&mut self.residual);
            for (lambda, r) in self.lambda.iter_mut().zip(&self.residual) {
                *lambda += r;
            }
            self.v.copy_from_slice(&self.q);
            rows::add_transposed(set, dof, &self.jac.b, &self.lambda, -1.0, &mut self.v);
            self.inertia.apply_inverse(&self.v, &mut self.acceleration);
        }
        self.gram.minimum_norm(&self.jac.b, &mut self.lambda);
        Ok(())
    }
}

/// One solve with new workspaces: accelerations (`nv`) and multipliers (`nc`).
///
/// # Errors
/// As [`AccelerationSolver::solve`].
pub fn accelerations<S: System + ?Sized>(sys: &mut S, s: &State) -> Result<(Vec<f64>, Vec<f64>), SingularBlock> {
    let mut solver = AccelerationSolver::new(sys.topology());
    solver.solve(sys, s)?;
    Ok((solver.acceleration, solver.lambda))
}
