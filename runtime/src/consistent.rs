//! Positions, velocities and accelerations that fulfil the constraints: the three projections at a state, with one factorisation of
//! `S = B M^-1 B^T`.
//!
//! ```text
//! positions:      S mu = Phi,            q <- q (+) -M^-1 B^T mu      with B of a state nearby, until Phi is round-off
//! velocities:     S nu = B V + Phi_t,    V <- V - M^-1 B^T nu         twice
//! accelerations:  S lambda = B M^-1 Q + gamma,    A = M^-1 (Q - B^T lambda)      with one refinement
//! ```

use alloc::vec::Vec;

use crate::error::StepErrorKind;
use crate::inertia::Inertia;
use crate::linalg::block_lu::SingularBlock;
use crate::linalg::gram::{CONTRADICTION, Gram, LEFT_OUT, PIVOT_FALL, Weight};
use crate::linalg::rows;
use crate::state::State;
use crate::steppers::explicit::displace;
use crate::system::{Jacobian, System};
use crate::topology::Topology;
use crate::velocity;

/// Passes of the projection of positions before giving up.
const LIMIT: usize = 20;

/// Rows are closed below so many units of their round-off.
const CLOSED: f64 = 1.0;

/// Why there is no such state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Failure {
    /// A body turns too far from the start of the step.
    Turning(usize),
    /// The Jacobian of a constraint element has no rank.
    Singular(usize),
    /// The equations do not say how a body moves.
    Undetermined(usize),
    NonFinite,
    NoConvergence,
    Contradiction,
}

impl Failure {
    /// The same with the names of the model.
    pub(crate) fn kind<S: System + ?Sized>(self, sys: &S) -> StepErrorKind {
        match self {
            Self::NoConvergence => StepErrorKind::NoConvergence,
            Self::Contradiction => StepErrorKind::Contradiction,
            Self::NonFinite => StepErrorKind::NonFinite,
            Self::Turning(body) => StepErrorKind::TurnsTooFar { body: sys.body_name(body).into() },
            Self::Undetermined(body) => StepErrorKind::Singular { place: sys.body_name(body) },
            Self::Singular(element) => StepErrorKind::Singular { place: sys.constraint_name(element) },
        }
    }
}

impl From<SingularBlock> for Failure {
    fn from(block: SingularBlock) -> Self {
        if block.non_finite { Self::NonFinite } else { Self::Singular(block.node) }
    }
}

/// Which rows count.
#[derive(Clone, Debug)]
struct Choice {
    independent: Vec<bool>,
    /// Whether rows are left out.
    has_dependent: bool,
    /// Per element the smallest pivot when the choice was made.
    pivots: Vec<f64>,
}

impl Choice {
    fn copy_from(&mut self, other: &Self) {
        self.independent.copy_from_slice(&other.independent);
        self.has_dependent = other.has_dependent;
        self.pivots.copy_from_slice(&other.pivots);
    }
}

/// Workspaces, and what was found last. Only the constructor allocates.
#[derive(Clone, Debug)]
pub(crate) struct Consistent {
    topology: Topology,
    inertia: Inertia,
    gram: Gram,
    /// What was chosen last, and what [`Consistent::return_to_choice`] goes back to.
    choice: Choice,
    kept: Choice,
    jac: Jacobian,
    gamma: Vec<f64>,
    /// Residual of the rows, and what it is solved to.
    residual: Vec<f64>,
    rows: Vec<f64>,
    roundoff: Vec<f64>,
    q: Vec<f64>,
    v: Vec<f64>,
    change: Vec<f64>,
    moved: State,
    lambda: Vec<f64>,
    /// Accelerations at the state of the last [`Consistent::accelerate`] (`nv`; m/s^2, rad/s^2).
    pub(crate) acceleration: Vec<f64>,
}

impl Consistent {
    pub(crate) fn new(topology: &Topology) -> Self {
        let (nb, nv, nc) = (topology.bodies.len(), topology.nv(), topology.nc());
        let pivots = vec![0.0; topology.constraints.elements.len()];
        let choice = Choice { independent: vec![true; nc], has_dependent: false, pivots };
        Self {
            inertia: Inertia::new(topology),
            gram: Gram::new(topology, &topology.constraints, Weight::InverseMass),
            kept: choice.clone(),
            choice,
            jac: Jacobian { phi: vec![0.0; nc], phi_t: vec![0.0; nc], b: vec![0.0; topology.constraints.jac_len] },
            gamma: vec![0.0; nc],
            residual: vec![0.0; nc],
            rows: vec![0.0; nc],
            roundoff: vec![0.0; nc],
            q: vec![0.0; nv],
            v: vec![0.0; nv],
            change: vec![0.0; nv],
            moved: State::new(nb, topology.memory),
            lambda: vec![0.0; nc],
            acceleration: vec![0.0; nv],
            topology: topology.clone(),
        }
    }

    /// `Phi` where positions were last closed, or tried to be.
    pub(crate) fn residual(&self) -> &[f64] {
        &self.residual
    }

    /// Which rows count: a maximal set of independent ones, as chosen by the last [`Consistent::evaluate`].
    pub(crate) fn independent(&self) -> &[bool] {
        &self.gram.independent
    }

    /// Solves `S y = r` on these rows, in place; the others get zero.
    pub(crate) fn solve(&mut self, r: &mut [f64]) {
        self.gram.solve(r);
    }

    /// The displacement `d = -M^-1 B^T S^-1 r`, the least in the metric of the masses of those with `B d = -r`; `r` becomes `S^-1 r`.
    pub(crate) fn least(&mut self, r: &mut [f64], d: &mut [f64]) {
        let (set, dof) = (&self.topology.constraints, &self.topology.dof[..]);
        self.gram.solve(r);
        self.q.fill(0.0);
        rows::add_transposed(set, dof, &self.jac.b, r, -1.0, &mut self.q);
        self.inertia.apply_inverse(&self.q, d);
    }

    /// Closes all three levels at a state, with `B` and `S` of the state that was evaluated last for positions; how often these were moved.
    pub(crate) fn close<S: System + ?Sized>(&mut self, sys: &mut S, s: &mut State) -> Result<usize, Failure> {
        let mut count = self.close_positions(sys, s)?;
        if self.is_open(&self.residual, &self.roundoff, LEFT_OUT) {
            self.evaluate(sys, s)?;
            count += self.close_positions(sys, s)?;
        }
        if !self.evaluate_again(sys, s)? {
            self.evaluate(sys, s)?;
        }
        self.close_velocities(s);
        if self.choice.has_dependent && self.velocities_are_open() {
            self.evaluate(sys, s)?;
            self.close_velocities(s);
        }
        self.accelerate(sys, s, 0.0)?;
        Ok(count)
    }

    /// Keeps the choice of rows at the end of a step that counts.
    pub(crate) fn keep_choice(&mut self) {
        self.kept.copy_from(&self.choice);
    }

    /// Goes back to that choice, from those at states that do not count: ends of rejected steps, and outputs between ends.
    pub(crate) fn return_to_choice(&mut self) {
        self.choice.copy_from(&self.kept);
        self.gram.independent.copy_from_slice(&self.kept.independent);
    }

    /// `B` and the factors of `S` at a state on the constraints, with the choice of the rows that count.
    pub(crate) fn evaluate<S: System + ?Sized>(&mut self, sys: &mut S, s: &State) -> Result<(), Failure> {
        sys.jacobian(s, &mut self.jac);
        let rank = self.gram.factor_ranked(&self.inertia, &self.jac.b)?;
        self.choice.independent.copy_from_slice(&self.gram.independent);
        self.choice.has_dependent = rank < self.topology.nc();
        for (element, pivot) in self.choice.pivots.iter_mut().enumerate() {
            *pivot = self.gram.smallest_pivot(element);
        }
        Ok(())
    }

    /// The same with the choice that was made before; whether it is as good there.
    fn evaluate_again<S: System + ?Sized>(&mut self, sys: &mut S, s: &State) -> Result<bool, Failure> {
        sys.jacobian(s, &mut self.jac);
        match self.gram.factor(&self.inertia, &self.jac.b) {
            Err(SingularBlock { non_finite: true, .. }) => Err(Failure::NonFinite),
            Err(SingularBlock { non_finite: false, .. }) => Ok(false),
            Ok(()) => {
                let mut pivots = self.choice.pivots.iter().enumerate();
                Ok(pivots.all(|(element, pivot)| self.gram.smallest_pivot(element) >= PIVOT_FALL * pivot))
            }
        }
    }

    /// The same at a state nearby, off the constraints: rows that follow from others would not seem to there, so that the choice is kept.
    pub(crate) fn evaluate_kept<S: System + ?Sized>(&mut self, sys: &mut S, s: &State) -> Result<(), Failure> {
        sys.jacobian(s, &mut self.jac);
        self.gram.factor(&self.inertia, &self.jac.b)?;
        Ok(())
    }

    /// Accelerations and multipliers at the state that was evaluated; without the refinement where the rows of the constraints are closed to
    /// this part, `enough`, of what is to be closed.
    pub(crate) fn accelerate<S: System + ?Sized>(
        &mut self,
        sys: &mut S,
        s: &State,
        enough: f64,
    ) -> Result<(), Failure> {
        let (set, dof) = (&self.topology.constraints, &self.topology.dof[..]);
        sys.forces(s, &mut self.q);
        velocity::read(&self.topology, s, &mut self.v);
        self.inertia.add_gyroscopic(&self.v, 1.0, &mut self.q);
        self.inertia.apply_inverse(&self.q, &mut self.acceleration);
        if set.rows == 0 {
            return Ok(());
        }
        sys.convective(s, &mut self.gamma);
        self.lambda.fill(0.0);
        let mut first = 0.0;
        for _ in 0..2 {
            rows::apply(set, dof, &self.jac.b, &self.acceleration, &mut self.rows);
            for (r, gamma) in self.rows.iter_mut().zip(&self.gamma) {
                *r += gamma;
            }
            if enough > 0.0 {
                let kept = self.rows.iter().zip(&self.gram.independent).filter(|(_, kept)| **kept);
                // `max` would drop what is not a number.
                let largest =
                    kept.fold(0.0, |most: f64, (r, _)| if most.is_nan() || r.abs() <= most { most } else { r.abs() });
                if largest <= enough * first {
                    return Ok(());
                }
                first = largest;
            }
            self.gram.solve(&mut self.rows);
            for (lambda, r) in self.lambda.iter_mut().zip(&self.rows) {
                *lambda += r;
            }
            self.change.copy_from_slice(&self.q);
            rows::add_transposed(set, dof, &self.jac.b, &self.lambda, -1.0, &mut self.change);
            self.inertia.apply_inverse(&self.change, &mut self.acceleration);
        }
        Ok(())
    }

    /// The multipliers of the last [`Consistent::accelerate`]; of least norm where rows are dependent.
    pub(crate) fn deliver(&mut self, lambda: &mut [f64]) {
        self.gram.minimum_norm(&self.inertia, &self.jac.b, &mut self.lambda);
        lambda.copy_from_slice(&self.lambda);
    }

    /// Moves a state onto `Phi = 0`, with `B` and `S` of the state that was evaluated last; how many moves it took.
    pub(crate) fn close_positions<S: System + ?Sized>(&mut self, sys: &mut S, s: &mut State) -> Result<usize, Failure> {
        let (set, dof) = (&self.topology.constraints, &self.topology.dof[..]);
        if set.rows == 0 {
            return Ok(0);
        }
        rows::position_roundoff(set, dof, &self.jac.b, &s.z, &mut self.roundoff);
        let mut last = f64::INFINITY;
        for count in 0..LIMIT {
            sys.residual(s, &mut self.residual);
            let mut worst = 0.0_f64;
            let kept = self.gram.independent.iter();
            for ((r, unit), _) in self.residual.iter().zip(&self.roundoff).zip(kept).filter(|(_, kept)| **kept) {
                if !r.is_finite() {
                    return Err(Failure::NonFinite);
                }
                worst = worst.max(r.abs() / unit.max(f64::MIN_POSITIVE));
            }
            // What does not halve any more is noise.
            if worst <= CLOSED || (worst > 0.5 * last && worst < 1e4) {
                return if self.is_open(&self.residual, &self.roundoff, CONTRADICTION) {
                    Err(Failure::Contradiction)
                } else {
                    Ok(count)
                };
            }
            last = worst;
            self.rows.copy_from_slice(&self.residual);
            self.gram.solve(&mut self.rows);
            self.v.fill(0.0);
            rows::add_transposed(set, dof, &self.jac.b, &self.rows, -1.0, &mut self.v);
            self.inertia.apply_inverse(&self.v, &mut self.change);
            self.moved.clone_from(s);
            displace(&self.topology, &self.moved, &self.change, s);
        }
        Err(Failure::NoConvergence)
    }

    /// Whether a row that others imply is open by so many units of its round-off where these are closed.
    fn is_open(&self, residual: &[f64], roundoff: &[f64], units: f64) -> bool {
        let open = |((r, unit), kept): ((&f64, &f64), &bool)| !kept && r.abs() > units * unit;
        residual.iter().zip(roundoff).zip(&self.gram.independent).any(open)
    }

    /// The same for the velocities that were closed last, so far that the row is not implied any more.
    fn velocities_are_open(&mut self) -> bool {
        let (set, dof) = (&self.topology.constraints, &self.topology.dof[..]);
        rows::apply(set, dof, &self.jac.b, &self.v, &mut self.rows);
        for (r, phi_t) in self.rows.iter_mut().zip(&self.jac.phi_t) {
            *r += phi_t;
        }
        rows::velocity_roundoff(set, dof, &self.jac.b, &self.v, &mut self.roundoff);
        self.is_open(&self.rows, &self.roundoff, LEFT_OUT)
    }

    /// Takes out of a change of velocities what is across the constraints, with `B` and `S` of the state that was evaluated last.
    pub(crate) fn project(&mut self, change: &mut [f64]) {
        let (set, dof) = (&self.topology.constraints, &self.topology.dof[..]);
        rows::apply(set, dof, &self.jac.b, change, &mut self.rows);
        self.gram.solve(&mut self.rows);
        self.q.fill(0.0);
        rows::add_transposed(set, dof, &self.jac.b, &self.rows, -1.0, &mut self.q);
        self.inertia.apply_inverse(&self.q, &mut self.change);
        for (v, change) in change.iter_mut().zip(&self.change) {
            *v += change;
        }
    }

    /// Changes the velocities of the state that was evaluated last so that `B V + Phi_t = 0`.
    pub(crate) fn close_velocities(&mut self, s: &mut State) {
        let (set, dof) = (&self.topology.constraints, &self.topology.dof[..]);
        velocity::read(&self.topology, s, &mut self.v);
        for _ in 0..2 {
            rows::apply(set, dof, &self.jac.b, &self.v, &mut self.rows);
            for (r, phi_t) in self.rows.iter_mut().zip(&self.jac.phi_t) {
                *r += phi_t;
            }
            self.gram.solve(&mut self.rows);
            self.q.fill(0.0);
            rows::add_transposed(set, dof, &self.jac.b, &self.rows, -1.0, &mut self.q);
            self.inertia.apply_inverse(&self.q, &mut self.change);
            for (v, change) in self.v.iter_mut().zip(&self.change) {
                *v += change;
            }
        }
        velocity::write(&self.topology, &self.v, s);
    }
}
