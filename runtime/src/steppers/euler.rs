//! Constraint-stabilised implicit Lie-group Euler methods.
//!
//! One step from `(q0, V0)` to `(q1, V1)`, with `B`, `Phi`, `Q` at `(q1, V1, t1)`, `W = B^T` or `M^-1 B^T`:
//!
//! ```text
//! x1 = x0 + d_x,  R1 = R0 exp(d_theta),      d = h V1 - W mu        (mu: stabilised forms only)
//! M (V1 - V0) + B^T lam = h Q,               lam = h lambda
//! Phi(q1, t1) = 0  and / or  B V1 + Phi_t = 0
//! h A1 = V1 - V0 + W nu,  B A1 + gamma = 0   (index 1; does not feed back)
//! ```
//!
//! Source: "The constraint-stabilized implicit methods on Lie group for differential-algebraic equations of multibody
//! system dynamics", with its last row read as above. Order 1 in all variables.

use alloc::vec::Vec;

mod newton;
pub mod unrolled;

use nalgebra::Matrix3;

use super::history::History;
use super::iteration::{Contraction, Convergence, Iteration};
use super::method::{Level, Method, Metric};
use crate::error::{StepError, StepErrorKind, largest_rows};
use crate::inertia::Inertia;
use crate::linalg::block_lu::SingularBlock;
use crate::linalg::gram::{CONTRADICTION, Gram, LEFT_OUT, PIVOT_FALL, Weight};
use crate::linalg::rows;
use crate::newton_matrix::whole::Whole;
use crate::newton_matrix::{self, NewtonMatrix, Owner};
use crate::so3::POLISH_EVERY;
use crate::state::State;
use crate::system::{ConstraintDerivatives, ForceDerivatives, Jacobian, System};
use crate::topology::Topology;
use newton::weigh;
use unrolled::{Delivered, Unrolled, UnrolledForm, unknowns};

/// Iterations of a step that tell that something new has happened, so that older steps say nothing about it.
const SURPRISE: usize = 3;

/// Steps that unknowns are extrapolated from: a cubic goes through four.
const DEPTH: usize = 4;

/// What a step did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StepReport {
    /// Newton iterations.
    pub iterations: usize,
}

/// What a step solves for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    /// `Phi(q1) = 0`.
    Position,
    /// `B(q1) V1 + Phi_t = 0`.
    Velocity,
    /// Both, with `mu`.
    Stabilised,
}

/// One method with its workspaces for one model. Nothing is allocated in [`Euler::step`] but for errors.
#[derive(Clone, Debug)]
pub struct Euler {
    method: Method,
    form: Form,
    topology: Topology,
    inertia: Inertia,
    matrix: NewtonMatrix,
    /// All unknowns of the stabilised forms at once, from the first step on whose iteration has been slow without it.
    exact: Option<Exact>,
    /// Rank of the rows, and multipliers of least norm.
    gram: Gram,
    /// `B W` of the stabilised Lagrangian forms; of the Hamiltonian ones it is `gram`.
    projection: Option<Gram>,
    chosen: bool,
    /// Most rows that may count as independent.
    most: usize,
    all_independent: bool,
    /// Per constraint element the smallest pivot when the rows were chosen; negative until known.
    pivots: Vec<f64>,
    steps: u64,
    lambda: Vec<f64>,
    acceleration: Vec<f64>,
    last: Multipliers,
    /// Unknowns of the last steps of size `h`, as in [`UnrolledForm`]; empty where that says nothing about the next one.
    history: History<DEPTH>,
    h: f64,
    contraction: Contraction,
    unrolled: Unrolled,
    work: Work,
}

/// The Newton matrix with `u` and `m`, and its right-hand side.
#[derive(Clone, Debug)]
struct Exact {
    matrix: Whole,
    rhs: Vec<f64>,
}

/// Multipliers as the iteration starts from them: `lam/h` and `m`.
#[derive(Clone, Debug)]
struct Multipliers {
    force: Vec<f64>,
    m: Vec<f64>,
}

/// Scratch of one step.
#[derive(Clone, Debug)]
struct Work {
    trial: State,
    v0: Vec<f64>,
    v: Vec<f64>,
    u: Vec<f64>,
    lam: Vec<f64>,
    m: Vec<f64>,
    gamma: Vec<f64>,
    jac: Jacobian,
    constraint: ConstraintDerivatives,
    q: Vec<f64>,
    force: ForceDerivatives,
    tangents: Vec<Matrix3<f64>>,
    /// Right-hand side of the velocities and rows, then their update.
    rhs: Vec<f64>,
    du: Vec<f64>,
    dm: Vec<f64>,
    open: Vec<f64>,
    /// What the update of `u` changes in the equations of velocities and rows.
    seen: Vec<f64>,
    r_b: Vec<f64>,
    rows: Vec<f64>,
    /// `-B^T lam`
    reaction: Vec<f64>,
    momentum: Vec<f64>,
    correction: Vec<f64>,
    /// All unknowns in one vector, as in [`UnrolledForm`].
    y: Vec<f64>,
    iteration: Iteration,
}

impl Work {
    /// Copies the unknowns into one vector.
    fn gather(&mut self, form: Form) {
        let parts = [&self.u, &self.v, &self.lam, &self.m];
        let mut at = 0;
        for part in if form == Form::Stabilised { &parts[..] } else { &parts[1..3] } {
            self.y[at..at + part.len()].copy_from_slice(part);
            at += part.len();
        }
    }

    /// Copies the unknowns out of that vector.
    fn scatter(&mut self, form: Form) {
        let mut at = 0;
        let mut take = |part: &mut [f64]| {
            part.copy_from_slice(&self.y[at..at + part.len()]);
            at += part.len();
        };
        if form == Form::Stabilised {
            take(&mut self.u);
        }
        take(&mut self.v);
        take(&mut self.lam);
        if form == Form::Stabilised {
            take(&mut self.m);
        } else {
            self.u.copy_from_slice(&self.v);
        }
    }
}

/// Why an attempt failed, before names are looked up.
enum Failure {
    Singular(Owner),
    NonFinite,
    NoConvergence,
    Contradiction,
}

impl Failure {
    /// A bad block of the Gram matrix, whose nodes are the constraint elements.
    fn of_rows(block: SingularBlock) -> Self {
        if block.non_finite { Self::NonFinite } else { Self::Singular(Owner::Element(block.node)) }
    }
}

impl Euler {
    /// Symbolic phase for a model.
    #[must_use]
    pub fn new(topology: &Topology, method: Method) -> Self {
        let (nb, nv, nc) = (topology.bodies.len(), topology.nv(), topology.nc());
        let set = &topology.constraints;
        // Without constraints there is nothing to stabilise.
        let form = match method.level {
            _ if nc == 0 => Form::Position,
            Level::Index3 => Form::Position,
            Level::Index2 => Form::Velocity,
            Level::Index2Stabilised | Level::Index1 => Form::Stabilised,
        };
        let closed = match form {
            Form::Position => newton_matrix::Form::Position,
            Form::Velocity | Form::Stabilised => newton_matrix::Form::Velocity,
        };
        let is_index1 = method.level == Level::Index1 && nc > 0;
        let is_own = form == Form::Stabilised && method.metric == Metric::Lagrangian;
        let unrolled_form = match (form, method.metric) {
            (Form::Position, _) => UnrolledForm::Position,
            (Form::Velocity, _) => UnrolledForm::Velocity,
            (Form::Stabilised, Metric::Lagrangian) => UnrolledForm::Lagrangian,
            (Form::Stabilised, Metric::Hamiltonian) => UnrolledForm::Hamiltonian,
        };
        let len = unknowns(unrolled_form, nv, nc);
        Self {
            method,
            form,
            inertia: Inertia::new(topology),
            gram: Gram::new(topology, set, Weight::InverseMass),
            projection: is_own.then(|| Gram::new(topology, set, Weight::Identity)),
            chosen: false,
            most: usize::MAX,
            all_independent: true,
            pivots: vec![-1.0; set.elements.len()],
            steps: 0,
            lambda: vec![0.0; nc],
            acceleration: vec![0.0; nv],
            last: Multipliers { force: vec![0.0; nc], m: vec![0.0; nc] },
            history: History::new(len),
            h: f64::NAN,
            contraction: Contraction::default(),
            unrolled: Unrolled::new(unrolled_form, is_index1, nb, nv, nc),
            work: Work {
                trial: State::new(nb, topology.memory),
                v0: vec![0.0; nv],
                v: vec![0.0; nv],
                u: vec![0.0; nv],
                lam: vec![0.0; nc],
                m: vec![0.0; nc],
                gamma: vec![0.0; nc],
                jac: Jacobian { phi: vec![0.0; nc], phi_t: vec![0.0; nc], b: vec![0.0; set.jac_len] },
                constraint: ConstraintDerivatives { bv_q: vec![0.0; set.jac_len], k_lam: vec![0.0; set.square_len] },
                q: vec![0.0; nv],
                force: ForceDerivatives {
                    q_q: vec![0.0; topology.forces.square_len],
                    q_v: vec![0.0; topology.forces.square_len],
                },
                tangents: vec![Matrix3::identity(); nb],
                rhs: vec![0.0; nv + nc],
                du: vec![0.0; nv],
                dm: vec![0.0; nc],
                open: vec![0.0; nc],
                seen: vec![0.0; nv + nc],
                r_b: vec![0.0; nc],
                rows: vec![0.0; nc],
                reaction: vec![0.0; nv],
                momentum: vec![0.0; nv],
                correction: vec![0.0; nv],
                y: vec![0.0; len],
                iteration: Iteration::new(Convergence::Quadratic),
            },
            matrix: NewtonMatrix::new(topology, closed),
            exact: None,
            topology: topology.clone(),
        }
    }

    /// The method.
    #[must_use]
    pub const fn method(&self) -> Method {
        self.method
    }

    /// Multipliers `lambda` of the last step, a force or torque a row (`nc`); of least norm where rows are dependent.
    #[must_use]
    pub fn lambda(&self) -> &[f64] {
        &self.lambda
    }

    /// Acceleration of the last step (`nv`; m/s^2, rad/s^2): `A1` of index 1, `(V1 - V0)/h` of the others.
    #[must_use]
    pub fn acceleration(&self) -> &[f64] {
        &self.acceleration
    }

    /// One step of size `h` (s) from `s` to the time `t1` (s, `n h`: the caller does not accumulate it).
    ///
    /// # Errors
    /// [`StepError`]; the state and the stepper are then as before the call.
    pub fn step<S: System + ?Sized>(
        &mut self,
        sys: &mut S,
        s: &mut State,
        h: f64,
        t1: f64,
    ) -> Result<StepReport, StepError> {
        if h != self.h {
            self.history.clear();
            self.contraction = Contraction::default();
            self.unrolled.forget_contraction();
            self.h = h;
        }
        if self.chosen && self.all_independent && !self.is_polishing() {
            let Self { history, lambda, acceleration, unrolled, .. } = self;
            let delivered = Delivered { history, lambda, acceleration };
            if let Some(iterations) = sys.unrolled_step(unrolled, delivered, s, h, t1) {
                s.t = t1;
                sys.accept(s);
                self.steps += 1;
                return Ok(StepReport { iterations });
            }
        }
        self.general_step(sys, s, h, t1)
    }
}

impl Euler {
    /// Whether the rotations are repaired in the next step.
    fn is_polishing(&self) -> bool {
        (self.steps + 1).is_multiple_of(POLISH_EVERY)
    }

    /// One step with the block matrix.
    fn general_step<S: System + ?Sized>(
        &mut self,
        sys: &mut S,
        s: &mut State,
        h: f64,
        t1: f64,
    ) -> Result<StepReport, StepError> {
        if !self.chosen {
            sys.jacobian(s, &mut self.work.jac);
            if let Err(singular) = self.choose_rows() {
                self.work.iteration = Iteration::new(Convergence::Quadratic);
                return Err(self.error(sys, &Failure::of_rows(singular), h, t1));
            }
        }
        let mut iterations = 0;
        // One new choice of rows at the start of the step, one at its end; a third attempt would repeat them.
        for attempt in 0..3 {
            let outcome = self.iterate(sys, s, h, t1);
            iterations += self.work.iteration.count;
            match outcome {
                Ok(()) => {
                    if attempt == 2 || !self.rows_are_suspect(sys) || !self.choice_changes() {
                        break;
                    }
                }
                Err(failure) => {
                    // Described first: the new choice overwrites the residuals.
                    let error = self.error(sys, &failure, h, t1);
                    sys.jacobian(s, &mut self.work.jac);
                    if attempt > 0 || !self.choice_changes() {
                        return Err(error);
                    }
                }
            }
        }
        if self.rows_contradict(sys) {
            return Err(self.error(sys, &Failure::Contradiction, h, t1));
        }
        if let Err(failure) = self.finish(sys, h) {
            return Err(self.error(sys, &failure, h, t1));
        }
        s.z.copy_from_slice(&self.work.trial.z);
        s.t = t1;
        sys.accept(s);
        Ok(StepReport { iterations })
    }

    /// Chooses the independent rows at the Jacobian in the workspace.
    ///
    /// Where positions drift, rows that follow from others seem independent, and to take them for such would lock the
    /// mechanism: index 2 never counts more rows than at its first state.
    fn choose_rows(&mut self) -> Result<(), SingularBlock> {
        let rank = self.gram.factor_ranked_at_most(&self.inertia, &self.work.jac.b, self.most)?;
        self.all_independent = rank == self.topology.nc();
        self.chosen = true;
        if self.form == Form::Velocity && self.most == usize::MAX {
            self.most = rank;
        }
        self.pivots.fill(-1.0);
        self.unrolled.forget_pivots();
        Ok(())
    }

    /// Chooses the rows anew and tells whether the set of left-out rows is another one.
    fn choice_changes(&mut self) -> bool {
        for (old, &kept) in self.work.rows.iter_mut().zip(&self.gram.independent) {
            *old = f64::from(u8::from(kept));
        }
        if self.choose_rows().is_err() {
            self.chosen = false;
            return false;
        }
        let changed = |(old, &kept): (&f64, &bool)| (*old == 1.0) != kept;
        let changed = self.work.rows.iter().zip(&self.gram.independent).any(changed);
        if changed {
            self.history.clear();
        }
        changed
    }

    /// Whether the converged step speaks against the choice of rows: a pivot has fallen, or a left-out row is open.
    fn rows_are_suspect<S: System + ?Sized>(&mut self, sys: &mut S) -> bool {
        let mut fallen = false;
        for (number, pivot) in self.pivots.iter_mut().enumerate() {
            let now = self.matrix.smallest_pivot(number);
            if *pivot < 0.0 {
                *pivot = now;
            }
            fallen |= now < PIVOT_FALL * *pivot;
        }
        // Rows that were left out open with the drift of the positions in the velocity form.
        if self.all_independent || self.form == Form::Velocity {
            return fallen;
        }
        let w = &mut self.work;
        let (set, dof) = (&self.topology.constraints, &self.topology.dof[..]);
        sys.jacobian(&w.trial, &mut w.jac);
        rows::position_roundoff(set, dof, &w.jac.b, &w.trial.z, &mut w.rows);
        let mut open = left_out_is_open(&w.jac.phi, &w.rows, &self.gram.independent);
        if self.form != Form::Position {
            rows::velocity_roundoff(set, dof, &w.jac.b, &w.v, &mut w.rows);
            rows::apply(set, dof, &w.jac.b, &w.v, &mut w.r_b);
            for (r, phi_t) in w.r_b.iter_mut().zip(&w.jac.phi_t) {
                *r += phi_t;
            }
            open |= left_out_is_open(&w.r_b, &w.rows, &self.gram.independent);
        }
        fallen || open
    }

    /// Whether a row that was left out because others imply it is open by far more than round-off whatever is chosen: it
    /// does not follow from them any more, and no motion fulfils all. Positions of index 2 drift and tell nothing.
    fn rows_contradict<S: System + ?Sized>(&mut self, sys: &mut S) -> bool {
        if self.all_independent || self.form == Form::Velocity {
            return false;
        }
        let w = &mut self.work;
        sys.jacobian(&w.trial, &mut w.jac);
        rows::position_roundoff(&self.topology.constraints, &self.topology.dof, &w.jac.b, &w.trial.z, &mut w.rows);
        is_open(&w.jac.phi, &w.rows, &self.gram.independent, CONTRADICTION)
    }

    /// Acceleration, reported multipliers, and the multipliers for the next start.
    fn finish<S: System + ?Sized>(&mut self, sys: &mut S, h: f64) -> Result<(), Failure> {
        let finite = |a: &[f64]| a.iter().all(|x| x.is_finite());
        if !finite(&self.work.trial.z) || !finite(&self.work.lam) {
            return Err(Failure::NonFinite);
        }
        let w = &mut self.work;
        w.gather(self.form);
        for k in 0..self.topology.nv() {
            w.u[k] = (w.v[k] - w.v0[k]) / h;
        }
        for (force, lam) in w.rows.iter_mut().zip(&w.lam) {
            *force = lam / h;
        }
        let index1 = self.method.level == Level::Index1 && self.topology.nc() > 0;
        if index1 || !self.all_independent {
            sys.jacobian(&w.trial, &mut w.jac);
        }
        if !self.all_independent {
            self.gram.factor(&self.inertia, &self.work.jac.b).map_err(Failure::of_rows)?;
        }
        if index1 {
            self.correct_acceleration(sys)?;
        }
        let w = &mut self.work;
        self.last.force.copy_from_slice(&w.rows);
        self.last.m.copy_from_slice(&w.m);
        if !self.all_independent {
            self.gram.minimum_norm(&self.inertia, &w.jac.b, &mut w.rows);
        }
        self.lambda.copy_from_slice(&w.rows);
        self.acceleration.copy_from_slice(&w.u);
        if w.iteration.count > SURPRISE {
            self.history.restart();
        }
        self.history.push(&w.y);
        self.steps += 1;
        Ok(())
    }

    /// `A1 = (V1 - V0 + W nu)/h` with `B A1 + gamma = 0`: solved with the factors of `B W` that the last iteration has made.
    /// These are off by the last update: each solve leaves that part of what it finds.
    fn correct_acceleration<S: System + ?Sized>(&mut self, sys: &mut S) -> Result<(), Failure> {
        if self.exact.is_some() {
            self.factor_projection().map_err(Failure::of_rows)?;
        }
        let gram = self.projection.as_mut().unwrap_or(&mut self.gram);
        let w = &mut self.work;
        let (set, dof) = (&self.topology.constraints, &self.topology.dof[..]);
        sys.convective(&w.trial, &mut w.gamma);
        for _ in 0..3 {
            rows::apply(set, dof, &w.jac.b, &w.u, &mut w.r_b);
            for (r, gamma) in w.r_b.iter_mut().zip(&w.gamma) {
                *r = -(*r + gamma);
            }
            gram.solve(&mut w.r_b);
            weigh(
                &self.inertia,
                &self.topology,
                self.method.metric,
                &w.jac.b,
                &w.r_b,
                &mut w.momentum,
                &mut w.correction,
            );
            for (a, c) in w.u.iter_mut().zip(&w.correction) {
                *a += c;
            }
        }
        if w.u.iter().all(|x| x.is_finite()) { Ok(()) } else { Err(Failure::NonFinite) }
    }

    /// Looks up the names that belong to a failure.
    #[cold]
    fn error<S: System + ?Sized>(&mut self, sys: &S, failure: &Failure, h: f64, t1: f64) -> StepError {
        let kind = match failure {
            Failure::NoConvergence => StepErrorKind::NoConvergence,
            Failure::Contradiction => StepErrorKind::Contradiction,
            Failure::NonFinite => StepErrorKind::NonFinite,
            Failure::Singular(Owner::Body(body)) => StepErrorKind::Singular { place: sys.body_name(*body) },
            Failure::Singular(Owner::Element(e)) => StepErrorKind::Singular { place: sys.constraint_name(*e) },
        };
        // The choice of rows may have been disturbed; it is made again by the next step.
        self.chosen = false;
        let residual = if self.form == Form::Velocity { &self.work.r_b } else { &self.work.jac.phi };
        StepError {
            kind,
            method: self.method.name(),
            is_velocity: self.form == Form::Velocity,
            time: t1,
            step: h,
            iterations: self.work.iteration.count,
            history: self.work.iteration.history().to_vec(),
            residuals: largest_rows(sys, &self.topology, residual),
        }
    }
}

fn left_out_is_open(residual: &[f64], roundoff: &[f64], kept: &[bool]) -> bool {
    is_open(residual, roundoff, kept, LEFT_OUT)
}

/// Whether a left-out row is open by more than so many times its round-off.
fn is_open(residual: &[f64], roundoff: &[f64], kept: &[bool], most: f64) -> bool {
    let open = |((r, eps), kept): ((&f64, &f64), &bool)| !kept && r.abs() > most * eps;
    residual.iter().zip(roundoff).zip(kept).any(open)
}
