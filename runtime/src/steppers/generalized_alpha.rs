//! The generalized-alpha method on Lie groups, with positions and velocities on the constraints in each step and accelerations at its end.
//!
//! ```text
//! d = h V0 + h^2 ((1/2 - beta) a0 + beta a1) - W mu,   q1 = q0 (+) d,   V1 = V0 + h ((1 - gamma) a0 + gamma a1)
//! (1 - am) a1 + am a0 = (1 - af) Vdot1 + af Vdot0,     M Vdot1 + B^T lambda = Q      at (q1, V1, t1)
//! Phi(q1, t1) = 0,   B V1 + Phi_t = 0
//! am = (2 rho - 1)/(rho + 1),   af = rho/(rho + 1),   gamma = 1/2 + af - am,   beta = (gamma + 1/2)^2/4
//! ```
//!
//! This is the index-2 form of Gear, Gupta and Leimkuhler, with `W = T(d)^-1 M^-1 B^T` where the step is predicted to end, `T` as in [`crate::so3`]. A vibration that steps do not resolve
//! falls by the factor `rho` a step. Positions, velocities and multipliers have order 2.
//!
//! `a` and `Vdot` belong to the recurrence. What the step delivers are the accelerations and multipliers of its end state, which fulfil the third level of the
//! constraints, have order 2 as well, and never go into the recurrence: there they would make errors of the energy larger. `a` stands for the
//! acceleration at the time `t + (am - af) h`, so that it begins with `a0 = A0 + (am - af) (A1 - A0)`, where `A1` is the end of a first step with `a0 = A0`, made for this
//! alone. With `a0 = A0` multipliers of the recurrence would err by `O(h)` in the first steps.
//!
//! **Newton's method** eliminates `a1` and `Vdot1`: `d = dc + kd V1 - W mu` and `Vdot1 = ac + ka V1`, with
//!
//! ```text
//! kd = h beta/gamma          dc = h V0 + (1/2 - beta) h^2 a0 - kd (V0 + (1 - gamma) h a0)
//! ka = (1 - am)/((1 - af) gamma h)      ac = -ka (V0 + (1 - gamma) h a0) + (am a0 - af Vdot0)/(1 - af)
//! ```
//!
//! An update closes positions along `W` first, `p = -M^-1 B^T dmu` with `B p = -Phi + kd (B V1 + Phi_t)`; then velocities and multipliers follow from the equations linearised at the
//! predicted end (`newton_matrix::Linearised` with `h = kd`, `h_v = 1/ka`), which are linearised anew where updates do not fall.
//!
//! Sources: M. Arnold, O. Bruels, A. Cardona, Error analysis of generalized-alpha Lie group time integration methods for constrained mechanical systems,
//! Numer. Math. 129 (2015) 149; J. Chung, G. M. Hulbert, A time integration algorithm for structural dynamics with improved numerical dissipation, J. Appl.
//! Mech. 60 (1993) 371.

use alloc::vec::Vec;
use core::hash::{Hash, Hasher};

use nalgebra::Vector3;

use super::euler::StepReport;
use super::explicit::{chart_rate, check_turns, displace};
use super::history::History;
use super::iteration::{Convergence, FALLING, Iteration, LIMIT, NOISE, Verdict, WORTH};
use crate::consistent::{Consistent, Failure};
use crate::error::{StepError, largest_rows};
use crate::inertia::Inertia;
use crate::linalg::rows;
use crate::newton_matrix::linearised::Linearised;
use crate::so3::{dexp, polish};
use crate::state::State;
use crate::system::{Jacobian, System};
use crate::topology::{BodyKind, Topology};
use crate::velocity;

/// Inputs that change accelerations by so many times what the last step did make them jump, which is a new start.
const JUMP: f64 = 10.0;

/// Steps that unknowns are extrapolated from.
const DEPTH: usize = 4;

/// By which factor a vibration falls in a step that is much longer than it: from 0, where none is left after three steps, to 1, where all go on.
/// Smaller values also take more from vibrations that are resolved. By default 0.8, [`SpectralRadius::USUAL`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SpectralRadius(f64);

impl SpectralRadius {
    /// 0.8: what is not resolved has fallen by a thousand after thirty steps, and what is resolved hardly at all.
    pub const USUAL: Self = Self(0.8);

    /// A number from 0 to 1.
    #[must_use]
    pub const fn new(value: f64) -> Option<Self> {
        // Zero has one sign, so that equal numbers have equal bits.
        if value >= 0.0 && value <= 1.0 { Some(Self(value + 0.0)) } else { None }
    }

    /// Name of the method, as in model files and on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        "generalized_alpha"
    }

    /// The number.
    #[must_use]
    pub const fn get(self) -> f64 {
        self.0
    }
}

impl Default for SpectralRadius {
    fn default() -> Self {
        Self::USUAL
    }
}

impl Eq for SpectralRadius {}

impl Hash for SpectralRadius {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.to_bits().hash(state);
    }
}

/// The method with its workspaces for one model. Nothing is allocated in [`GeneralizedAlpha::step`] but for errors.
#[derive(Clone, Debug)]
pub struct GeneralizedAlpha {
    radius: SpectralRadius,
    am: f64,
    af: f64,
    gamma: f64,
    beta: f64,
    topology: Topology,
    inertia: Inertia,
    consistent: Consistent,
    linearised: Linearised,
    /// Where the last step has ended, from which the recurrence goes on; at no time (NaN) before the first step and after an error.
    end: State,
    /// Size of that step, s.
    h: f64,
    /// `a0`
    a: Vec<f64>,
    /// `Vdot0`
    rate: Vec<f64>,
    /// By how much accelerations have changed in that step, m/s^2.
    usual: f64,
    /// Whether the recurrence began in it.
    is_new: bool,
    /// Velocities and multipliers of the recurrence at the ends of the last steps, one after the other.
    history: History<DEPTH>,
    acceleration: Vec<f64>,
    lambda: Vec<f64>,
    trial: State,
    v0: Vec<f64>,
    dc: Vec<f64>,
    ac: Vec<f64>,
    d: Vec<f64>,
    /// `V1` and `lambda`, one after the other.
    y: Vec<f64>,
    /// Forces.
    q: Vec<f64>,
    jac: Jacobian,
    /// Right-hand side, then the update of velocities and multipliers.
    rhs: Vec<f64>,
    p: Vec<f64>,
    rows: Vec<f64>,
    change: Vec<f64>,
    iteration: Iteration,
}

impl GeneralizedAlpha {
    /// Symbolic phase for a model.
    #[must_use]
    pub fn new(topology: &Topology, radius: SpectralRadius) -> Self {
        let (nb, nv, nc) = (topology.bodies.len(), topology.nv(), topology.nc());
        let rho = radius.get();
        let (am, af) = ((2.0 * rho - 1.0) / (rho + 1.0), rho / (rho + 1.0));
        let gamma = 0.5 + af - am;
        let inertia = Inertia::new(topology);
        Self {
            radius,
            am,
            af,
            gamma,
            beta: 0.25 * (gamma + 0.5) * (gamma + 0.5),
            consistent: Consistent::new(topology),
            linearised: Linearised::new(topology, &inertia),
            end: State { t: f64::NAN, ..State::new(nb, topology.memory) },
            h: f64::NAN,
            a: vec![0.0; nv],
            rate: vec![0.0; nv],
            usual: 0.0,
            is_new: true,
            history: History::new(nv + nc),
            acceleration: vec![0.0; nv],
            lambda: vec![0.0; nc],
            trial: State::new(nb, topology.memory),
            v0: vec![0.0; nv],
            dc: vec![0.0; nv],
            ac: vec![0.0; nv],
            d: vec![0.0; nv],
            y: vec![0.0; nv + nc],
            q: vec![0.0; nv],
            jac: Jacobian { phi: vec![0.0; nc], phi_t: vec![0.0; nc], b: vec![0.0; topology.constraints.jac_len] },
            rhs: vec![0.0; nv + nc],
            p: vec![0.0; nv],
            rows: vec![0.0; nc],
            change: vec![0.0; nv],
            iteration: Iteration::new(Convergence::Linear),
            inertia,
            topology: topology.clone(),
        }
    }

    /// The spectral radius.
    #[must_use]
    pub const fn radius(&self) -> SpectralRadius {
        self.radius
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

    /// `Vdot` of the recurrence at the end of the last step (`nv`; m/s^2, rad/s^2): accelerations under its own multipliers, which fulfil no level of the constraints.
    #[must_use]
    pub fn rate(&self) -> &[f64] {
        &self.rate
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
                // Where the recurrence began in this step, it did so with the accelerations at its start.
                let before = if self.is_new { &self.rate } else { &self.acceleration };
                self.usual = distance(&self.inertia, &self.consistent.acceleration, before, &mut self.change);
                self.acceleration.copy_from_slice(&self.consistent.acceleration);
                self.go_on(h);
                s.z.copy_from_slice(&self.trial.z);
                s.t = t1;
                sys.accept(s);
                self.end.clone_from(s);
                self.h = h;
                Ok(StepReport { iterations })
            }
            Err(failure) => {
                self.end.t = f64::NAN;
                Err(self.error(sys, failure, h, t1))
            }
        }
    }

    /// The state at the end of the step in `trial`, its unknowns in `y`; how many iterations it took.
    fn advance<S: System + ?Sized>(&mut self, sys: &mut S, s: &State, h: f64, t1: f64) -> Result<usize, Failure> {
        self.iteration = Iteration::new(Convergence::Linear);
        velocity::read(&self.topology, s, &mut self.v0);
        let mut continues = *s == self.end && h == self.h;
        if !continues {
            self.consistent.evaluate(sys, s)?;
            self.consistent.accelerate(sys, s, 0.0)?;
        } else if sys.has_inputs() {
            self.consistent.evaluate_kept(sys, s)?;
            self.consistent.accelerate(sys, s, 0.0)?;
            let now = &self.consistent.acceleration;
            let jump = distance(&self.inertia, now, &self.acceleration, &mut self.change);
            continues = jump <= JUMP * self.usual;
        }
        let mut iterations = 0;
        self.is_new = !continues;
        if !continues {
            self.history.clear();
            self.a.copy_from_slice(&self.consistent.acceleration);
            self.rate.copy_from_slice(&self.a);
            let ahead = self.am - self.af;
            if ahead != 0.0 {
                iterations += self.attempt(sys, s, h, t1)?;
                self.history.push(&self.y);
                for ((a, start), end) in self.a.iter_mut().zip(&self.rate).zip(&self.consistent.acceleration) {
                    *a = start + ahead * (end - start);
                }
            }
        }
        Ok(iterations + self.attempt(sys, s, h, t1)?)
    }

    /// The step from what the last ones extrapolate to, or from rest where that leads nowhere.
    fn attempt<S: System + ?Sized>(&mut self, sys: &mut S, s: &State, h: f64, t1: f64) -> Result<usize, Failure> {
        let mut outcome = self.iterate(sys, s, h, t1);
        let mut iterations = self.iteration.count;
        if outcome.is_err() && !self.history.is_empty() {
            self.history.clear();
            outcome = self.iterate(sys, s, h, t1);
            iterations += self.iteration.count;
        }
        outcome?;
        self.finish(sys, s, t1)?;
        Ok(iterations)
    }

    /// `kd` and `1/ka`, s.
    fn steps(&self, h: f64) -> [f64; 2] {
        [h * self.beta / self.gamma, (1.0 - self.af) * self.gamma * h / (1.0 - self.am)]
    }

    /// Unknowns that fulfil the equations of the step.
    fn iterate<S: System + ?Sized>(&mut self, sys: &mut S, s: &State, h: f64, t1: f64) -> Result<(), Failure> {
        self.iteration = Iteration::new(Convergence::Linear);
        let nv = self.v0.len();
        self.fix_constants(h);
        if self.history.is_empty() {
            self.y[..nv].copy_from_slice(&self.v0);
            self.y[nv..].fill(0.0);
        } else {
            self.history.extrapolate(&mut self.y);
            // Rows may have come to follow from others.
            for (lambda, _) in self.y[nv..].iter_mut().zip(self.consistent.independent()).filter(|(_, kept)| !**kept) {
                *lambda = 0.0;
            }
        }
        let [kd, _] = self.steps(h);
        for ((d, dc), v) in self.d.iter_mut().zip(&self.dc).zip(&self.y) {
            *d = dc + kd * v;
        }
        self.trial.memory.copy_from_slice(&s.memory);
        self.trial.t = t1;
        let mut asks_derivatives = true;
        for pass in 0..LIMIT {
            self.place(s)?;
            if pass == 0 {
                self.consistent.evaluate_kept(sys, &self.trial)?;
            }
            if asks_derivatives {
                self.turn_tangents();
                let active = self.consistent.independent();
                self.linearised.factor(sys, &self.trial, &self.y[nv..], self.steps(h), active)?;
            }
            let last = self.iteration.last_units();
            let verdict = self.update(sys, h);
            let units = self.iteration.last_units();
            asks_derivatives = units > WORTH * last;
            match verdict {
                Verdict::NonFinite => return Err(Failure::NonFinite),
                Verdict::GivenUp => return Err(Failure::NoConvergence),
                Verdict::Continue => {}
                Verdict::Converged if units > NOISE && units < FALLING * last => {}
                Verdict::Converged => return Ok(()),
            }
        }
        Err(Failure::NoConvergence)
    }

    /// `dc` and `ac`.
    fn fix_constants(&mut self, h: f64) {
        let [kd, of_v] = self.steps(h);
        let (am, af, gamma, beta) = (self.am, self.af, self.gamma, self.beta);
        for k in 0..self.v0.len() {
            let (v0, a0) = (self.v0[k], self.a[k]);
            let kicked = v0 + (1.0 - gamma) * h * a0;
            self.dc[k] = h * v0 + (0.5 - beta) * h * h * a0 - kd * kicked;
            self.ac[k] = (am * a0 - af * self.rate[k]) / (1.0 - af) - kicked / of_v;
        }
    }

    /// The iterate in `trial`.
    fn place(&mut self, s: &State) -> Result<(), Failure> {
        check_turns(&self.topology, &self.d)?;
        displace(&self.topology, s, &self.d, &mut self.trial);
        velocity::write(&self.topology, &self.y[..self.v0.len()], &mut self.trial);
        Ok(())
    }

    /// `T(d)` of all bodies.
    fn turn_tangents(&mut self) {
        for (tangent, range) in self.linearised.tangents.iter_mut().zip(self.topology.dof.windows(2)) {
            if let [_, _, _, x, y, z] = self.d[range[0]..range[1]] {
                *tangent = dexp(&Vector3::new(x, y, z));
            }
        }
    }

    /// Applies the update that the equations at the iterate ask for, and judges its size.
    fn update<S: System + ?Sized>(&mut self, sys: &mut S, h: f64) -> Verdict {
        let (set, dof) = (&self.topology.constraints, &self.topology.dof[..]);
        let [kd, of_v] = self.steps(h);
        let nv = self.v0.len();
        let (v, lambda) = self.y.split_at_mut(nv);
        sys.forces(&self.trial, &mut self.q);
        self.inertia.add_gyroscopic(v, 1.0, &mut self.q);
        // A model at rest is judged by the speed that its forces would give it.
        self.inertia.apply_inverse(&self.q, &mut self.change);
        let speeds = [h.abs() * self.inertia.largest_speed(&self.change)];
        let speeds = speeds.into_iter().chain([&self.v0, &*v].map(|v| self.inertia.largest_speed(v)));
        let speed = speeds.fold(0.0, f64::max);

        let (of_bodies, of_rows) = self.rhs.split_at_mut(nv);
        // h_v r_V = (Q - B^T lambda)/ka - M (V1 + ac/ka)
        for ((change, ac), v) in self.change.iter_mut().zip(&self.ac).zip(&*v) {
            *change = v + of_v * ac;
        }
        self.inertia.apply(&self.change, of_bodies);
        if set.rows > 0 {
            sys.jacobian(&self.trial, &mut self.jac);
            rows::add_transposed(set, dof, &self.jac.b, lambda, -1.0, &mut self.q);
            rows::apply(set, dof, &self.jac.b, v, of_rows);
            for (((open, phi_t), phi), row) in
                of_rows.iter_mut().zip(&self.jac.phi_t).zip(&self.jac.phi).zip(&mut self.rows)
            {
                *open += phi_t;
                *row = phi - kd * *open;
            }
            self.consistent.least(&mut self.rows, &mut self.p);
        } else {
            self.p.fill(0.0);
        }
        for (r, q) in of_bodies.iter_mut().zip(&self.q) {
            *r = of_v * q - *r;
        }
        self.linearised.solve(&self.p, &mut self.rhs);

        // From directions at the end to those of the chart.
        chart_rate(&self.topology, &self.d, &self.p, &mut self.change);
        let (dv, impulse) = self.rhs.split_at(nv);
        for (lambda, impulse) in lambda.iter_mut().zip(impulse) {
            *lambda += impulse / of_v;
        }
        for (k, dv) in dv.iter().enumerate() {
            let dd = kd * dv + self.change[k];
            v[k] += dv;
            self.d[k] += dd;
            self.p[k] = dd / h;
        }
        let [of_v, of_d] = [dv, &self.p].map(|update| self.inertia.largest_speed(update));
        let size = of_v + of_d;
        if size == 0.0 {
            return self.iteration.judge(0.0, 0.0);
        }
        // Rounding errors of coordinates, divided by h, enter displacements through Phi in full; forces see them too.
        let far = (0..self.trial.len()).map(|b| self.trial.x(b).amax()).fold(0.0, f64::max);
        let drift = (far + self.inertia.largest_radius()) / h.abs();
        let units = (of_v / (speed + 0.1 * drift) + of_d / (speed + drift)) / f64::EPSILON;
        self.iteration.judge(size / speed, units)
    }

    /// The end of the step in `trial`, on the constraints at all levels, with its accelerations and multipliers.
    fn finish<S: System + ?Sized>(&mut self, sys: &mut S, s: &State, t1: f64) -> Result<(), Failure> {
        self.place(s)?;
        self.trial.t = t1;
        for (body, _) in self.topology.bodies.iter().enumerate().filter(|(_, body)| body.kind == BodyKind::Rigid) {
            self.trial.set_r(body, &polish(&self.trial.r(body)));
        }
        self.consistent.close(sys, &mut self.trial)?;
        let is_finite = |list: &[f64]| list.iter().all(|x| x.is_finite());
        let all = [&self.trial.z, &self.consistent.acceleration, &self.y];
        if all.into_iter().all(|list| is_finite(list)) { Ok(()) } else { Err(Failure::NonFinite) }
    }

    /// `a1` and `Vdot1` take the places of `a0` and `Vdot0`.
    fn go_on(&mut self, h: f64) {
        let [_, of_v] = self.steps(h);
        for (k, v0) in self.v0.iter().enumerate() {
            self.rate[k] = self.ac[k] + self.y[k] / of_v;
            self.a[k] = (self.y[k] - v0 - (1.0 - self.gamma) * h * self.a[k]) / (self.gamma * h);
        }
        self.history.push(&self.y);
    }

    #[cold]
    fn error<S: System + ?Sized>(&self, sys: &S, failure: Failure, h: f64, t1: f64) -> StepError {
        StepError {
            kind: failure.kind(sys),
            method: self.radius.name(),
            is_velocity: false,
            time: t1,
            step: h,
            iterations: self.iteration.count,
            history: self.iteration.history().to_vec(),
            residuals: largest_rows(sys, &self.topology, &self.jac.phi),
        }
    }
}

/// How far accelerations are from others, m/s^2; their difference in `change`.
fn distance(inertia: &Inertia, a: &[f64], b: &[f64], change: &mut [f64]) -> f64 {
    for ((change, a), b) in change.iter_mut().zip(a).zip(b) {
        *change = a - b;
    }
    inertia.largest_speed(change)
}
