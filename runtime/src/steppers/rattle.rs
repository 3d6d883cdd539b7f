//! RATTLE around a drift: impulses at both ends of a step that keep `Phi = 0` and `B V + Phi_t = 0`.
//!
//! ```text
//! P = P0 - B0^T lam,     q1 = D_h(q0, P),     Phi(q1, t1) = 0          lam: an impulse, N s
//! P1 = P - B1^T mu,      B1 V1 + Phi_t = 0
//! ```
//!
//! Both kicks act at positions that fulfil the constraints, where a multiplier that depends on the state adds
//! `dlam ^ dPhi = 0` to the symplectic form: symplectic and symmetric whenever the drift is. Newton's method for `lam` has the
//! exact derivative `-B1 W B0^T`, `W = blockdiag(h/m, D)`, `D` the derivative of the attitude by the momentum. Between the
//! stages of a composition `mu` is left out: it has the direction of the next stage's `lam` and changes nothing.
//!
//! Dependent rows are left out as well; the others imply them. Source: Andersen, J. Comput. Phys. 52 (1983) 24; Leimkuhler
//! and Reich, Simulating Hamiltonian dynamics, 7.2.

use alloc::vec::Vec;

use nalgebra::{Matrix3, RowVector3, Vector3};

mod impulses;
pub mod unrolled;

use super::iteration::Contraction;
use super::motion::{Bodies, Motion, Turning};
use crate::linalg::between::Between;
use crate::linalg::block_lu::SingularBlock;
use crate::linalg::gram::{CONTRADICTION, Gram, LEFT_OUT, PIVOT_FALL, Weight};
use crate::linalg::rows;
use crate::state::State;
use crate::system::{Jacobian, System};
use impulses::Impulses;
use unrolled::{SMALL_TURN, Stage, StepEnd, UnrolledRattle};

/// Iterations before giving up: an exact Newton method needs three or four, or goes astray.
const LIMIT: usize = 30;

/// Residuals of so many units of their round-off are zero: adding up a row costs about one, the drift another.
const SETTLED: f64 = 2.0;

/// Below so many units residuals that do not halve any more are noise, whatever the conditioning of the model.
const NOISE: f64 = 1e3;

/// The derivative is used again while it reduces residuals by this factor.
const REUSE: f64 = 1e-4;

/// Why a step failed, before names are looked up.
#[derive(Clone, Copy, Debug)]
pub(super) enum Failure {
    /// A body turns too far in one drift.
    Turning(usize),
    /// The matrix of a constraint element is singular.
    Singular(usize),
    /// The matrix of a body is singular.
    SingularBody(usize),
    NonFinite,
    NoConvergence,
    Contradiction,
}

impl From<Turning> for Failure {
    fn from(turning: Turning) -> Self {
        Self::Turning(turning.body)
    }
}

impl From<SingularBlock> for Failure {
    fn from(block: SingularBlock) -> Self {
        if block.non_finite { Self::NonFinite } else { Self::Singular(block.node) }
    }
}

/// Constraints of one model with their workspaces.
#[derive(Clone, Debug)]
pub(super) struct Rattle {
    /// `B M^-1 B^T`, and the choice of rows.
    gram: Gram,
    /// `B1 W B0^T`.
    between: Between,
    /// At the start of the stage, then at its end, if it is known.
    pub(super) jac: Jacobian,
    has_jac: bool,
    next: Jacobian,
    is_chosen: bool,
    all_independent: bool,
    /// Per constraint element the smallest pivot when the rows were chosen.
    pivots: Vec<f64>,
    /// Size of the step that the past belongs to, s.
    h: f64,
    impulses: Impulses,
    unrolled: UnrolledRattle,
    /// Per stage, of residuals.
    contraction: Vec<Contraction>,
    /// Accelerations and multipliers at the end of the step, if they came with the velocities.
    delivered: (Vec<f64>, Vec<f64>),
    is_delivered: bool,
    lam: Vec<f64>,
    rows: Vec<f64>,
    roundoff: Vec<f64>,
    has_roundoff: bool,
    kick: Vec<f64>,
    v: Vec<f64>,
    start: Vec<Motion>,
    derivatives: Vec<Matrix3<f64>>,
    /// Number of updates in the last stage.
    pub(super) iterations: usize,
    /// Largest opening of a left-out row in units of its round-off, in this step.
    open: f64,
}

impl Rattle {
    pub(super) fn new(bodies: &Bodies, stages: usize) -> Self {
        let topology = &bodies.topology;
        let (nb, nv, nc) = (topology.bodies.len(), topology.nv(), topology.nc());
        let set = &topology.constraints;
        let jac = Jacobian { phi: vec![0.0; nc], phi_t: vec![0.0; nc], b: vec![0.0; set.jac_len] };
        Self {
            gram: Gram::new(topology, set, Weight::InverseMass),
            between: Between::new(topology, set),
            next: jac.clone(),
            jac,
            has_jac: false,
            is_chosen: false,
            all_independent: true,
            pivots: vec![0.0; set.elements.len()],
            h: 0.0,
            impulses: Impulses::new(stages, nc),
            unrolled: UnrolledRattle::new(bodies, stages),
            contraction: vec![Contraction::default(); stages],
            delivered: (vec![0.0; nv], vec![0.0; nc]),
            is_delivered: false,
            lam: vec![0.0; nc],
            rows: vec![0.0; nc],
            roundoff: vec![0.0; nc],
            has_roundoff: false,
            kick: vec![0.0; nv],
            v: vec![0.0; nv],
            start: vec![Motion::REST; nb],
            derivatives: vec![Matrix3::zeros(); nb],
            iterations: 0,
            open: 0.0,
        }
    }

    /// Independent rows as they are chosen now.
    pub(super) fn independent(&self) -> &[bool] {
        &self.gram.independent
    }

    /// `Phi` where the last iteration ended.
    pub(super) fn residual(&self) -> &[f64] {
        &self.next.phi
    }

    /// Forgets what it knows of past steps.
    pub(super) fn forget(&mut self) {
        self.is_chosen = false;
        self.interrupt();
    }

    /// Forgets the impulses of past steps and how iterations converged: what comes does not continue them.
    pub(super) fn interrupt(&mut self) {
        self.impulses.clear();
        self.contraction.fill(Contraction::default());
        self.unrolled.forget_contraction();
    }

    /// The Jacobian at the end of the last stage, which is `trial`.
    pub(super) fn jacobian<S: System + ?Sized>(&mut self, sys: &mut S, trial: &State) -> &Jacobian {
        if !self.has_jac {
            sys.jacobian(trial, &mut self.jac);
            self.has_jac = true;
        }
        &self.jac
    }

    /// Forgets the Jacobian: the next step begins elsewhere.
    pub(super) fn forget_jacobian(&mut self) {
        self.has_jac = false;
    }

    /// Prepares a step of size `h` from the positions of `s`.
    pub(super) fn begin<S: System + ?Sized>(
        &mut self,
        bodies: &Bodies,
        sys: &mut S,
        s: &State,
        h: f64,
    ) -> Result<(), Failure> {
        if h != self.h {
            self.interrupt();
            self.h = h;
        }
        self.open = 0.0;
        self.has_roundoff = false;
        if !self.is_chosen {
            self.jacobian(sys, s);
            self.choose(bodies)?;
        }
        Ok(())
    }

    /// Chooses independent rows at the current Jacobian.
    fn choose(&mut self, bodies: &Bodies) -> Result<(), Failure> {
        let rank = self.gram.factor_ranked(&bodies.inertia, &self.jac.b)?;
        self.all_independent = rank == bodies.topology.nc();
        self.between.independent.copy_from_slice(&self.gram.independent);
        for (element, pivot) in self.pivots.iter_mut().enumerate() {
            *pivot = self.gram.smallest_pivot(element);
        }
        self.is_chosen = true;
        self.unrolled.forget_pivots();
        self.interrupt();
        Ok(())
    }

    /// Chooses rows anew at the end of an attempted step, and tells whether they are others than before.
    pub(super) fn choice_changes(&mut self, bodies: &Bodies) -> bool {
        for (old, &kept) in self.rows.iter_mut().zip(&self.gram.independent) {
            *old = f64::from(u8::from(kept));
        }
        if self.choose(bodies).is_err() {
            self.is_chosen = false;
            return false;
        }
        let changed = |(old, &kept): (&f64, &bool)| (*old == 1.0) != kept;
        self.rows.iter().zip(&self.gram.independent).any(changed)
    }

    /// Whether a left-out row has opened in this step.
    pub(super) fn is_open(&self) -> bool {
        self.open > LEFT_OUT
    }

    /// Whether a left-out row is open so far that no motion fulfils all rows.
    pub(super) fn contradicts(&self) -> bool {
        self.open > CONTRADICTION
    }

    /// One stage of size `h` from `trial` to the time `t1`, kicked already: impulses and drift. Afterwards `trial` is its end, without
    /// velocities.
    pub(super) fn stage<S: System + ?Sized>(
        &mut self,
        bodies: &Bodies,
        sys: &mut S,
        (motions, trial): (&mut [Motion], &mut State),
        (h, t1): (f64, f64),
        number: usize,
    ) -> Result<(), Failure> {
        if self.all_independent {
            let impulses = &mut self.impulses;
            let stage = Stage { bodies, motions, trial, impulses, h, t1, number };
            if let Some(iterations) = sys.unrolled_stage(&mut self.unrolled, stage) {
                self.iterations = iterations;
                self.has_jac = false;
                return Ok(());
            }
        }
        self.general_stage(bodies, sys, (motions, trial), (h, t1), number)
    }

    /// One stage with block matrices. Afterwards the Jacobian is that at its end.
    fn general_stage<S: System + ?Sized>(
        &mut self,
        bodies: &Bodies,
        sys: &mut S,
        (motions, trial): (&mut [Motion], &mut State),
        (h, t1): (f64, f64),
        number: usize,
    ) -> Result<(), Failure> {
        self.jacobian(sys, trial);
        if !self.has_roundoff {
            let (set, dof) = (&bodies.topology.constraints, &bodies.topology.dof);
            rows::position_roundoff(set, dof, &self.jac.b, &trial.z, &mut self.roundoff);
            self.has_roundoff = true;
        }
        self.start.copy_from_slice(motions);
        trial.t = t1;
        let is_usual = self.impulses.predict(number, h, &mut self.lam);
        let outcome = self.iterate(bodies, sys, (motions, trial), h, (number, is_usual));
        if outcome.is_err() && self.impulses.drop_guess(number, &mut self.lam) {
            self.iterate(bodies, sys, (motions, trial), h, (number, false))?;
        } else {
            outcome?;
        }
        self.impulses.learn(number, h, &self.lam, self.iterations);
        core::mem::swap(&mut self.jac, &mut self.next);
        if !self.all_independent {
            self.open = self.open.max(self.largest(&self.jac.phi, false));
        }
        Ok(())
    }

    /// Newton's method for `Phi(q1) = 0` in a stage, from a guess of the impulses that is `usual` or not. Afterwards `next` is the Jacobian at
    /// the end.
    fn iterate<S: System + ?Sized>(
        &mut self,
        bodies: &Bodies,
        sys: &mut S,
        (motions, trial): (&mut [Motion], &mut State),
        h: f64,
        (number, is_usual): (usize, bool),
    ) -> Result<(), Failure> {
        let mut last = f64::INFINITY;
        let mut is_factored = false;
        self.iterations = 0;
        for k in 0..=LIMIT {
            self.aim(bodies, motions);
            if is_factored {
                bodies.drift(motions, h)?;
            } else {
                bodies.linearise(motions, h, &mut self.derivatives)?;
            }
            bodies.write_positions(motions, trial);
            sys.jacobian(trial, &mut self.next);
            let units = self.largest(&self.next.phi, true);
            if !units.is_finite() {
                return Err(Failure::NonFinite);
            }
            let count = k + 1;
            // From the second update on it only learns.
            let (size, of_last, of_next) = (units * units, last * last, f64::INFINITY);
            let is_enough = self.contraction[number].is_enough(is_usual, count, size, of_last, of_next);
            if units <= SETTLED || (units < NOISE && units > 0.5 * last) {
                return Ok(());
            }
            if k == LIMIT {
                break;
            }
            if is_factored && units > REUSE * last {
                self.aim(bodies, motions);
                bodies.linearise(motions, h, &mut self.derivatives)?;
                is_factored = false;
            }
            if !is_factored {
                self.factor(bodies, h)?;
                is_factored = true;
            }
            self.rows.copy_from_slice(&self.next.phi);
            self.between.solve(&mut self.rows);
            for (lam, update) in self.lam.iter_mut().zip(&self.rows) {
                *lam += update;
            }
            self.iterations = count;
            last = units;
            // Rows that are left out see errors of the others that have to be looked at.
            if is_enough && count == 1 && self.all_independent && self.correct(bodies, motions, h) {
                bodies.write_positions(motions, trial);
                sys.jacobian(trial, &mut self.next);
                return Ok(());
            }
        }
        Err(Failure::NoConvergence)
    }

    /// Applies the update of the impulses in `rows` to the ends of the drift, by its derivative. Whether that is as good as another drift:
    /// if not, nothing has changed.
    fn correct(&mut self, bodies: &Bodies, motions: &mut [Motion], h: f64) -> bool {
        self.kick.fill(0.0);
        let (set, dof) = (&bodies.topology.constraints, &bodies.topology.dof[..]);
        rows::add_transposed(set, dof, &self.jac.b, &self.rows, -1.0, &mut self.kick);
        let mut turn = 0.0_f64;
        for (body, range) in dof.windows(2).enumerate() {
            let (kick, out) = (&self.kick[range[0]..range[1]], &mut self.v[range[0]..range[1]]);
            let scale = h * bodies.inertia.inverse(body).0;
            for (out, kick) in out[..3].iter_mut().zip(kick) {
                *out = scale * kick;
            }
            if let ([_, _, _, a, b, c], [_, _, _, x, y, z]) = (kick, out) {
                let theta = self.derivatives[body] * Vector3::new(*a, *b, *c);
                (*x, *y, *z) = (theta[0], theta[1], theta[2]);
                turn = turn.max(theta.norm_squared());
            }
        }
        if turn <= SMALL_TURN {
            bodies.correct(motions, &self.start, &self.kick, &self.v);
        }
        turn <= SMALL_TURN
    }

    /// The start of the stage with the impulse `-B0^T lam`.
    fn aim(&mut self, bodies: &Bodies, motions: &mut [Motion]) {
        motions.copy_from_slice(&self.start);
        self.kick.fill(0.0);
        rows::add_transposed(
            &bodies.topology.constraints,
            &bodies.topology.dof,
            &self.jac.b,
            &self.lam,
            -1.0,
            &mut self.kick,
        );
        bodies.kick(motions, &self.kick, 1.0);
    }

    /// Factors `B1 W B0^T`.
    fn factor(&mut self, bodies: &Bodies, h: f64) -> Result<(), Failure> {
        let derivatives = &self.derivatives;
        self.between.factor(&self.next.b, &self.jac.b, |body, row| {
            let scale = h * bodies.inertia.inverse(body).0;
            for x in &mut row[..3] {
                *x *= scale;
            }
            if let [_, _, _, a, b, c] = row {
                let turned = RowVector3::new(*a, *b, *c) * derivatives[body];
                (*a, *b, *c) = (turned[0], turned[1], turned[2]);
            }
        })?;
        Ok(())
    }

    /// Largest residual in units of the round-off of its row, among the independent rows or the others.
    fn largest(&self, residual: &[f64], independent: bool) -> f64 {
        let mut largest = 0.0_f64;
        let mut sum: f64 = 0.0;
        for ((r, unit), &kept) in residual.iter().zip(&self.roundoff).zip(&self.gram.independent) {
            if kept == independent && *r != 0.0 {
                largest = largest.max(r.abs() / unit);
                sum += r;
            }
        }
        // max drops NaN: a sum keeps it.
        if sum.is_nan() { f64::NAN } else { largest }
    }

    /// Impulses at the end of a step, which is `trial`, that bring the velocities onto the constraints; `force` are the forces there.
    pub(super) fn project<S: System + ?Sized>(
        &mut self,
        bodies: &Bodies,
        sys: &mut S,
        motions: &mut [Motion],
        trial: &State,
        force: &[f64],
    ) -> Result<(), Failure> {
        self.is_delivered = false;
        if self.all_independent {
            let (acceleration, lambda) = (&mut self.delivered.0[..], &mut self.delivered.1[..]);
            let end = StepEnd { bodies, motions, trial, force, acceleration, lambda };
            self.is_delivered = sys.unrolled_end(&mut self.unrolled, end).is_some();
            if self.is_delivered {
                return Ok(());
            }
        }
        self.jacobian(sys, trial);
        let (set, dof) = (&bodies.topology.constraints, &bodies.topology.dof[..]);
        self.gram.factor(&bodies.inertia, &self.jac.b)?;
        // The second pass removes the rounding errors of the first.
        for _ in 0..2 {
            self.velocity_residual(bodies, motions);
            self.gram.solve(&mut self.rows);
            self.kick.fill(0.0);
            rows::add_transposed(set, dof, &self.jac.b, &self.rows, -1.0, &mut self.kick);
            bodies.kick(motions, &self.kick, 1.0);
        }
        if !self.all_independent {
            self.velocity_residual(bodies, motions);
            rows::velocity_roundoff(set, dof, &self.jac.b, &self.v, &mut self.lam);
            for ((r, unit), kept) in self.rows.iter().zip(&self.lam).zip(&self.gram.independent) {
                if !kept && *r != 0.0 {
                    self.open = self.open.max(r.abs() / unit);
                }
            }
        }
        Ok(())
    }

    /// `B V + Phi_t` into `rows`, `V` into `v`.
    fn velocity_residual(&mut self, bodies: &Bodies, motions: &[Motion]) {
        bodies.velocities(motions, &mut self.v);
        rows::apply(&bodies.topology.constraints, &bodies.topology.dof, &self.jac.b, &self.v, &mut self.rows);
        for (r, phi_t) in self.rows.iter_mut().zip(&self.jac.phi_t) {
            *r += phi_t;
        }
    }

    /// Accelerations and multipliers at the end of a step: `[M B^T; B 0] (A, lambda) = (Q, -gamma)` for forces `q`, gyroscopic
    /// ones included, with the factors of [`Rattle::project`].
    pub(super) fn accelerate<S: System + ?Sized>(
        &mut self,
        bodies: &Bodies,
        sys: &mut S,
        trial: &State,
        q: &[f64],
        acceleration: &mut [f64],
        lambda: &mut [f64],
    ) {
        if self.is_delivered {
            acceleration.copy_from_slice(&self.delivered.0);
            lambda.copy_from_slice(&self.delivered.1);
            return;
        }
        let (set, dof) = (&bodies.topology.constraints, &bodies.topology.dof[..]);
        // lam has been used up.
        let gamma = &mut self.lam;
        sys.convective(trial, gamma);
        bodies.inertia.apply_inverse(q, acceleration);
        lambda.fill(0.0);
        for _ in 0..2 {
            rows::apply(set, dof, &self.jac.b, acceleration, &mut self.rows);
            for (r, gamma) in self.rows.iter_mut().zip(gamma.iter()) {
                *r += gamma;
            }
            self.gram.solve(&mut self.rows);
            for (lambda, r) in lambda.iter_mut().zip(&self.rows) {
                *lambda += r;
            }
            self.kick.copy_from_slice(q);
            rows::add_transposed(set, dof, &self.jac.b, lambda, -1.0, &mut self.kick);
            bodies.inertia.apply_inverse(&self.kick, acceleration);
        }
        if !self.all_independent {
            self.gram.minimum_norm(&bodies.inertia, &self.jac.b, lambda);
        }
    }

    /// Accepts a step: remembers its impulses, and looks whether the choice of rows still stands.
    pub(super) fn accept(&mut self) {
        self.impulses.accept();
        if self.is_delivered {
            // Pivots have been looked at.
            return;
        }
        for (element, pivot) in self.pivots.iter().enumerate() {
            if self.gram.smallest_pivot(element) < PIVOT_FALL * pivot {
                self.is_chosen = false;
            }
        }
    }
}
