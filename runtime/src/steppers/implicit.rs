//! Implicit Runge-Kutta-Munthe-Kaas methods, Radau IIA and Gauss, with velocities on the constraints at the stages and all levels at the end of each step.
//!
//! ```text
//! stage i:  V_i = V0 + h sum_j a_ij A_j,  d_i = h sum_j a_ij T(d_j)^-1 V_j,  q_i = q0 (+) d_i
//!           M A_i + B_i^T lambda_i = Q_i,  B_i V_i + Phi_t = 0       at (q_i, V_i, t0 + c_i h)
//! end:      V1 = V0 + h sum_j b_j A_j,  q1 = q0 (+) h sum_j b_j T(d_j)^-1 V_j,  then
//!           q1 <- q1 (+) -M^-1 B^T mu        until Phi(q1, t1) = 0
//!           V1 <- V1 - M^-1 B^T nu           with B V1 + Phi_t = 0
//!           (A1, lambda1) at (q1, V1, t1)
//! ```
//!
//! With multipliers `mu` at every stage, next to `V_i`, positions would be on the constraints at the stages as well, and one stage would be the Euler method
//! `dae1h_lse`. Orders at the ends of steps are the same without them, two rows of unknowns are saved, and Radau and Gauss become one method with other
//! coefficients. Multipliers of stages have a lower order than the state; `A1` and `lambda1` are functions of the end state and have all of it.
//! `(+)` and `T` as in [`crate::so3`]; the chart is that of the start of the step.
//!
//! **Newton's method** for `A_i` and `lambda_i`, with `S = B M^-1 B^T` of the predicted middle of the step for all stages, and without derivatives of forces and
//! constraints: with the defects `f_i = M^-1 (Q_i - B_i^T lambda_i) - A_i` and `g_i = B_i V_i + Phi_t`,
//!
//! ```text
//! S dlambda_i = B_i f_i + (1/h) sum_j w_ij g_j        dA_i = f_i - M^-1 B_i^T dlambda_i        w = a^-1
//! ```
//!
//! Its updates fall by a factor of about `h |Omega|`. Stiff forces need their derivatives: a stepper whose iteration has failed without them goes on with them
//! (`implicit/exact.rs`). Both start from the polynomials through the stages of the step before, or from `V = V0`.
//!
//! Rows that follow from others are told apart at the end of a step and have no multipliers in the next one, so that extrapolation has nothing to
//! amplify that the equations do not see.
//!
//! Sources: E. Hairer and G. Wanner, Solving Ordinary Differential Equations II, 2nd ed. (1996), chapters IV and VII; U. Ascher and L. Petzold, Projected
//! implicit Runge-Kutta methods for differential-algebraic equations, SIAM J. Numer. Anal. 28 (1991) 1097; H. Munthe-Kaas, High order Runge-Kutta methods on
//! manifolds, Appl. Numer. Math. 29 (1999) 115.

use alloc::boxed::Box;
use alloc::vec::Vec;

mod collocation;
mod embedded;
mod exact;

pub use collocation::Collocation;
pub(crate) use embedded::EmbeddedRadau;
pub use embedded::Radau;

use super::euler::StepReport;
use super::explicit::{chart_rate, check_turns, displace};
use super::iteration::{Convergence, FALLING, Iteration, LIMIT, NOISE, Verdict, WORTH};
use crate::consistent::{Consistent, Failure};
use crate::error::{StepError, largest_rows};
use crate::inertia::Inertia;
use crate::linalg::rows;
use crate::so3::polish;
use crate::state::State;
use crate::system::{Jacobian, System};
use crate::topology::{BodyKind, Topology};
use crate::velocity;
use collocation::Coefficients;
use exact::Exact;

/// Stages are not taken from a step that is so many times shorter.
const FARTHEST: f64 = 5.0;

/// One method with its workspaces for one model. Nothing is allocated in [`Implicit::step`] but for errors, and for the matrices of a stiff model in the first
/// step that needs them.
#[derive(Clone, Debug)]
pub struct Implicit {
    method: Collocation,
    coefficients: Coefficients,
    topology: Topology,
    inertia: Inertia,
    consistent: Consistent,
    /// Where the last step has ended, whose stages are known; at no time (NaN) before the first step and after an error.
    end: State,
    /// Size of the step whose stages are known, s; not a number where there is none.
    h: f64,
    /// Where the next step begins, in parts of that one.
    origin: f64,
    /// What updates may be left out, in parts of the speed of the model; below it is round-off.
    left: f64,
    /// How often stages and ends were evaluated.
    evaluations: u64,
    trial: State,
    stages: Stages,
    /// Newton's method for stiff models, from the first step on that needs it.
    exact: Option<Box<Exact>>,
    v0: Vec<f64>,
    /// Forces.
    q: Vec<f64>,
    change: Vec<f64>,
    rows: Vec<f64>,
    iteration: Iteration,
    acceleration: Vec<f64>,
    lambda: Vec<f64>,
}

/// What belongs to the stages, a vector for each. Names are those of the equations above.
#[derive(Clone, Debug)]
struct Stages {
    acceleration: Vec<Vec<f64>>,
    lambda: Vec<Vec<f64>>,
    d: Vec<Vec<f64>>,
    v: Vec<Vec<f64>>,
    /// `T(d)^-1 V`
    rate: Vec<Vec<f64>>,
    /// `f`, then the update of the acceleration.
    defect: Vec<Vec<f64>>,
    /// `g`
    open: Vec<Vec<f64>>,
    jac: Vec<Jacobian>,
}

impl Implicit {
    /// Symbolic phase for a model.
    #[must_use]
    pub fn new(topology: &Topology, method: Collocation) -> Self {
        let (nb, nv, nc) = (topology.bodies.len(), topology.nv(), topology.nc());
        let count = method.nodes().len();
        let of_velocities = || vec![vec![0.0; nv]; count];
        let jac = Jacobian { phi: vec![0.0; nc], phi_t: vec![0.0; nc], b: vec![0.0; topology.constraints.jac_len] };
        Self {
            method,
            coefficients: Coefficients::new(method),
            inertia: Inertia::new(topology),
            consistent: Consistent::new(topology),
            end: State { t: f64::NAN, ..State::new(nb, topology.memory) },
            h: f64::NAN,
            origin: 1.0,
            left: 0.0,
            evaluations: 0,
            trial: State::new(nb, topology.memory),
            stages: Stages {
                acceleration: of_velocities(),
                lambda: vec![vec![0.0; nc]; count],
                d: of_velocities(),
                v: of_velocities(),
                rate: of_velocities(),
                defect: of_velocities(),
                open: vec![vec![0.0; nc]; count],
                jac: vec![jac; count],
            },
            exact: None,
            v0: vec![0.0; nv],
            q: vec![0.0; nv],
            change: vec![0.0; nv],
            rows: vec![0.0; nc],
            iteration: Iteration::new(Convergence::Linear),
            acceleration: vec![0.0; nv],
            lambda: vec![0.0; nc],
            topology: topology.clone(),
        }
    }

    /// The method.
    #[must_use]
    pub const fn method(&self) -> Collocation {
        self.method
    }

    /// Multipliers `lambda` at the end of the last step, a force or torque a row (`nc`); of least norm where rows are dependent.
    #[must_use]
    pub fn lambda(&self) -> &[f64] {
        &self.lambda
    }

    /// Acceleration at the end of the last step (`nv`; m/s^2, rad/s^2).
    #[must_use]
    pub fn acceleration(&self) -> &[f64] {
        &self.acceleration
    }

    /// One step of size `h` (s) from `s` to the time `t1` (s, `n h`: the caller does not accumulate it).
    ///
    /// # Errors
    /// [`StepError`]; the state, multipliers and accelerations are then as before the call.
    pub fn step<S: System + ?Sized>(
        &mut self,
        sys: &mut S,
        s: &mut State,
        h: f64,
        t1: f64,
    ) -> Result<StepReport, StepError> {
        match self.advance(sys, s, h, t1) {
            Ok(iterations) => {
                self.consistent.deliver(&mut self.lambda);
                s.z.copy_from_slice(&self.trial.z);
                s.t = t1;
                sys.accept(s);
                self.end.clone_from(s);
                self.keep_stages(h, 1.0);
                Ok(StepReport { iterations })
            }
            Err(failure) => {
                self.end.t = f64::NAN;
                Err(self.error(sys, failure, h, t1))
            }
        }
    }

    /// The state at the end of the step in `trial`; how many iterations it took.
    fn advance<S: System + ?Sized>(&mut self, sys: &mut S, s: &State, h: f64, t1: f64) -> Result<usize, Failure> {
        self.iteration = Iteration::new(Convergence::Linear);
        velocity::read(&self.topology, s, &mut self.v0);
        let continues = *s == self.end;
        if !continues {
            self.consistent.evaluate(sys, s)?;
        }
        let is_predicted = continues && (h / self.h).abs() <= FARTHEST;
        if is_predicted {
            self.continue_stages(h / self.h);
        } else {
            self.rest_stages();
        }
        let mut outcome = self.iterate(sys, s, h, t1);
        let mut iterations = self.iteration.count;
        let gets_exact = outcome.is_err() && self.exact.is_none() && !self.topology.has_pairs;
        if gets_exact {
            self.exact = Some(Box::new(Exact::new(&self.topology, &self.inertia, &self.coefficients)));
        }
        if outcome.is_err() && (is_predicted || gets_exact) {
            self.rest_stages();
            outcome = self.iterate(sys, s, h, t1);
            iterations += self.iteration.count;
        }
        outcome?;
        self.finish(sys, s, h, t1)?;
        Ok(iterations)
    }

    /// The stages are those of a step of size `h`, and the next step begins at this part of it.
    const fn keep_stages(&mut self, h: f64, origin: f64) {
        (self.h, self.origin) = (h, origin);
    }

    /// The stages say nothing of the next step.
    const fn forget_stages(&mut self) {
        self.h = f64::NAN;
    }

    /// No slopes and no multipliers: where motion does not go on as it was, nothing else is sure not to lead astray.
    fn rest_stages(&mut self) {
        for list in self.stages.acceleration.iter_mut().chain(&mut self.stages.lambda) {
            list.fill(0.0);
        }
    }

    /// Slopes and multipliers of the stages from those that are known, by the polynomials through them, for a step that is longer by this factor.
    fn continue_stages(&mut self, factor: f64) {
        let Stages { acceleration, lambda, defect, open, .. } = &mut self.stages;
        for ((c, slope), multiplier) in self.method.nodes().iter().zip(defect.iter_mut()).zip(open.iter_mut()) {
            let row = self.coefficients.slopes_at(self.origin + factor * c);
            combine(&row, acceleration, 1.0, slope);
            combine(&row, lambda, 1.0, multiplier);
            // Rows may have come to follow from others at the end of that step.
            for (multiplier, _) in multiplier.iter_mut().zip(self.consistent.independent()).filter(|(_, kept)| !**kept)
            {
                *multiplier = 0.0;
            }
        }
        core::mem::swap(acceleration, defect);
        core::mem::swap(lambda, open);
    }

    /// Stages that fulfil their equations, from slopes and multipliers that are near them.
    fn iterate<S: System + ?Sized>(&mut self, sys: &mut S, s: &State, h: f64, t1: f64) -> Result<(), Failure> {
        self.iteration = Iteration::new(Convergence::Linear);
        let t0 = s.t;
        self.move_velocities(h);
        let Stages { d, v, .. } = &mut self.stages;
        for (row, d) in self.coefficients.a.iter().zip(d) {
            combine(row, v, h, d);
        }
        self.trial.memory.copy_from_slice(&s.memory);
        if self.exact.is_none() {
            self.factor_middle(sys, s, h, 0.5 * (t0 + t1))?;
        }
        let mut asks_derivatives = true;
        for _ in 0..LIMIT {
            let speed = self.evaluate(sys, s, h, t0, asks_derivatives)?;
            let last = self.iteration.last_units();
            let verdict = self.update(h, speed);
            let units = self.iteration.last_units();
            asks_derivatives = units > WORTH * last;
            match verdict {
                Verdict::NonFinite => return Err(Failure::NonFinite),
                Verdict::GivenUp => return Err(Failure::NoConvergence),
                Verdict::Continue if self.iteration.rest() < self.left => return Ok(()),
                Verdict::Continue => {}
                Verdict::Converged if units > NOISE && units < FALLING * last => {}
                Verdict::Converged => return Ok(()),
            }
        }
        Err(Failure::NoConvergence)
    }

    /// `V_i = V0 + h sum_j a_ij A_j`
    fn move_velocities(&mut self, h: f64) {
        let Stages { acceleration, v, .. } = &mut self.stages;
        for (row, v) in self.coefficients.a.iter().zip(v) {
            combine(row, acceleration, h, v);
            add(&self.v0, v);
        }
    }

    /// Factors `S` at `q0 (+) (h/2 V0 + h^2/8 A0)`, with the rows that count at the start of the step.
    fn factor_middle<S: System + ?Sized>(&mut self, sys: &mut S, s: &State, h: f64, t: f64) -> Result<(), Failure> {
        if self.topology.nc() == 0 {
            return Ok(());
        }
        let far = if *s == self.end { 0.125 * h * h } else { 0.0 };
        for ((d, v), a) in self.change.iter_mut().zip(&self.v0).zip(&self.acceleration) {
            *d = 0.5 * h * v + far * a;
        }
        self.trial.t = t;
        displace(&self.topology, s, &self.change, &mut self.trial);
        velocity::write(&self.topology, &self.v0, &mut self.trial);
        self.consistent.evaluate_kept(sys, &self.trial)
    }

    /// Velocities, rates of the chart, and defects of all stages; the speed of the model, m/s, against which updates are measured.
    fn evaluate<S: System + ?Sized>(
        &mut self,
        sys: &mut S,
        s: &State,
        h: f64,
        t0: f64,
        factors: bool,
    ) -> Result<f64, Failure> {
        self.move_velocities(h);
        self.evaluations += self.method.nodes().len() as u64;
        let (set, dof) = (&self.topology.constraints, &self.topology.dof[..]);
        let Stages { acceleration, lambda, d, v, rate, defect, open, jac } = &mut self.stages;
        let mut speed = self.inertia.largest_speed(&self.v0);
        for (i, c) in self.method.nodes().iter().enumerate() {
            check_turns(&self.topology, &d[i])?;
            self.trial.t = t0 + c * h;
            displace(&self.topology, s, &d[i], &mut self.trial);
            velocity::write(&self.topology, &v[i], &mut self.trial);
            chart_rate(&self.topology, &d[i], &v[i], &mut rate[i]);
            sys.forces(&self.trial, &mut self.q);
            self.inertia.add_gyroscopic(&v[i], 1.0, &mut self.q);
            self.inertia.apply_inverse(&self.q, &mut self.change);
            // A model at rest is judged by the speed that its forces would give it.
            speed =
                speed.max(self.inertia.largest_speed(&v[i])).max(h.abs() * self.inertia.largest_speed(&self.change));
            if set.rows > 0 {
                sys.jacobian(&self.trial, &mut jac[i]);
                rows::apply(set, dof, &jac[i].b, &v[i], &mut open[i]);
                add(&jac[i].phi_t, &mut open[i]);
                rows::add_transposed(set, dof, &jac[i].b, &lambda[i], -1.0, &mut self.q);
            }
            self.inertia.apply_inverse(&self.q, &mut defect[i]);
            for (f, a) in defect[i].iter_mut().zip(&acceleration[i]) {
                *f -= a;
            }
            if let Some(exact) = &mut self.exact
                && factors
            {
                exact.factor(sys, i, &self.trial, &lambda[i], h, self.consistent.independent())?;
            }
        }
        Ok(speed)
    }

    /// Applies the update that the defects ask for, and judges its size.
    fn update(&mut self, h: f64, speed: f64) -> Verdict {
        let [of_v, of_d] = match &mut self.exact {
            None => self.solve(h),
            Some(exact) => exact.solve(&self.coefficients.a, &mut self.stages, h),
        };
        let Stages { acceleration, defect, .. } = &mut self.stages;
        for (acceleration, update) in acceleration.iter_mut().zip(&*defect) {
            add(update, acceleration);
        }
        let size = larger(of_v, of_d);
        if size == 0.0 {
            return self.iteration.judge(0.0, 0.0);
        }
        self.iteration.judge(size / speed, size / (f64::EPSILON * speed))
    }

    /// Replaces the defects of all stages by the updates of their accelerations, and applies those of multipliers and of the chart. Returns the largest
    /// speeds among updates of velocities and of the chart, the latter by `h`.
    fn solve(&mut self, h: f64) -> [f64; 2] {
        let (set, dof) = (&self.topology.constraints, &self.topology.dof[..]);
        let Coefficients { a, w, .. } = &self.coefficients;
        let Stages { lambda, d, rate, defect, open, jac, .. } = &mut self.stages;
        if set.rows > 0 {
            for (i, (defect, lambda)) in defect.iter_mut().zip(lambda).enumerate() {
                let b = &jac[i].b;
                rows::apply(set, dof, b, defect, &mut self.rows);
                for (weight, open) in w[i].iter().zip(&*open) {
                    for (row, open) in self.rows.iter_mut().zip(open) {
                        *row += weight / h * open;
                    }
                }
                self.consistent.solve(&mut self.rows);
                add(&self.rows, lambda);
                self.q.fill(0.0);
                rows::add_transposed(set, dof, b, &self.rows, -1.0, &mut self.q);
                self.inertia.apply_inverse(&self.q, &mut self.change);
                add(&self.change, defect);
            }
        }
        let (mut of_v, mut of_d) = (0.0, 0.0);
        for (row, rate) in a.iter().zip(&mut *rate) {
            combine(row, defect, h, &mut self.change);
            of_v = larger(of_v, self.inertia.largest_speed(&self.change));
            add(&self.change, rate);
        }
        for (row, d) in a.iter().zip(d) {
            combine(row, rate, h, &mut self.change);
            core::mem::swap(d, &mut self.change);
            for (old, new) in self.change.iter_mut().zip(&*d) {
                *old = (new - *old) / h;
            }
            of_d = larger(of_d, self.inertia.largest_speed(&self.change));
        }
        [of_v, of_d]
    }

    /// The end of the step in `trial`, on the constraints at all levels.
    fn finish<S: System + ?Sized>(&mut self, sys: &mut S, s: &State, h: f64, t1: f64) -> Result<(), Failure> {
        self.move_velocities(h);
        let Stages { acceleration, d, v, rate, .. } = &mut self.stages;
        for ((d, v), rate) in d.iter().zip(v).zip(&mut *rate) {
            chart_rate(&self.topology, d, v, rate);
        }
        combine(&self.coefficients.b, rate, h, &mut self.change);
        check_turns(&self.topology, &self.change)?;
        self.trial.t = t1;
        displace(&self.topology, s, &self.change, &mut self.trial);
        combine(&self.coefficients.b, acceleration, h, &mut self.change);
        add(&self.v0, &mut self.change);
        velocity::write(&self.topology, &self.change, &mut self.trial);
        self.close(sys)?;
        Ok(())
    }

    /// Puts the state in `trial`, near the constraints, onto them; its accelerations, and how often positions were moved.
    fn close<S: System + ?Sized>(&mut self, sys: &mut S) -> Result<usize, Failure> {
        // Steps are long, so that they can afford to repair rotations every time.
        for (body, _) in self.topology.bodies.iter().enumerate().filter(|(_, body)| body.kind == BodyKind::Rigid) {
            self.trial.set_r(body, &polish(&self.trial.r(body)));
        }
        self.consistent.evaluate_kept(sys, &self.trial)?;
        self.evaluations += 1;
        let count = self.consistent.close(sys, &mut self.trial)?;
        let is_finite = |list: &[f64]| list.iter().all(|x| x.is_finite());
        if !is_finite(&self.trial.z) || !is_finite(&self.consistent.acceleration) {
            return Err(Failure::NonFinite);
        }
        self.acceleration.copy_from_slice(&self.consistent.acceleration);
        Ok(count)
    }

    #[cold]
    fn error<S: System + ?Sized>(&self, sys: &S, failure: Failure, h: f64, t1: f64) -> StepError {
        StepError {
            kind: failure.kind(sys),
            method: self.method.name(),
            is_velocity: false,
            time: t1,
            step: h,
            iterations: self.iteration.count,
            history: self.iteration.history().to_vec(),
            residuals: largest_rows(sys, &self.topology, self.consistent.residual()),
        }
    }
}

/// `out = factor sum_j weights_j list_j`
fn combine(weights: &[f64], list: &[Vec<f64>], factor: f64, out: &mut [f64]) {
    out.fill(0.0);
    for (weight, list) in weights.iter().zip(list) {
        for (out, x) in out.iter_mut().zip(list) {
            *out += factor * weight * x;
        }
    }
}

/// `out += list`
fn add(list: &[f64], out: &mut [f64]) {
    for (out, x) in out.iter_mut().zip(list) {
        *out += x;
    }
}

/// The larger one, or what is not a number.
fn larger(a: f64, b: f64) -> f64 {
    if a.is_nan() || a > b { a } else { b }
}
