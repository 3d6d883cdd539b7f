//! The Newton iteration of one implicit Euler step: predictor, residuals, update, judgement.
//!
//! The stabilised forms need `du`, `dV`, `dlam` and `dm` from
//!
//! ```text
//! (M - h Q_V) dV + h (K(lam) - h Q_q) H du + B^T dlam  = -r_V
//! B dV + h (BV)_q H du                                 = -r_B
//! B W dm = B H (dV + r) + r_Phi/h,    du = dV + r - W dm,    r = V - u - W m
//! ```
//!
//! `du - dV` is of the order of `h Omega dV`, and what a displacement does of the order of `h Omega` of what a velocity does.
//! So two systems of half the size are solved one after the other, the first one with `du = dV`, and once more for the
//! displacement that the second one has found. What remains is an error of `(h Omega)^3` of each update. Where that is much, in fast
//! turns or with forces that are stiff in a step, all unknowns are solved for at once from then on.

use nalgebra::{Matrix3, Vector3};

use super::super::iteration::{Convergence, Iteration, LIMIT, NOISE, SLOW, Verdict};
use super::super::method::Metric;
use super::{Euler, Exact, Failure, Form};
use crate::inertia::Inertia;
use crate::linalg::block_lu::SingularBlock;
use crate::linalg::rows;
use crate::newton_matrix::whole::Whole;
use crate::newton_matrix::{self, Point};
use crate::so3::{POLISH_EVERY, exp_increment, exp_increment_and_dexp, polish};
use crate::state::State;
use crate::system::System;
use crate::topology::{BodyKind, Topology};
use crate::velocity;

/// What updates are measured against, m/s.
#[derive(Clone, Copy, Debug, Default)]
struct Scales {
    /// Speed of the model, or what forces and impulses would make of it in the step.
    speed: f64,
    /// Extent of the model divided by `h`: `eps` times this moves coordinates by their last bit.
    drift: f64,
}

impl Euler {
    /// Newton iteration from what the last steps extrapolate to; without them from `d = h V0`, `V1 = V0` and the last
    /// multipliers.
    pub(super) fn iterate<S: System + ?Sized>(
        &mut self,
        sys: &mut S,
        s: &State,
        h: f64,
        t1: f64,
    ) -> Result<(), Failure> {
        let nc = self.topology.nc();
        let w = &mut self.work;
        w.trial.memory.copy_from_slice(&s.memory);
        w.trial.t = t1;
        velocity::read(&self.topology, s, &mut w.v0);
        w.v.copy_from_slice(&w.v0);
        w.u.copy_from_slice(&w.v0);
        if !self.history.is_empty() {
            self.history.extrapolate(&mut w.y);
            w.scatter(self.form);
        }
        for row in 0..nc {
            let kept = self.gram.independent[row];
            if !kept {
                w.lam[row] = 0.0;
                w.m[row] = 0.0;
            } else if self.history.is_empty() {
                w.lam[row] = h * self.last.force[row];
                w.m[row] = self.last.m[row];
            }
        }
        w.iteration = Iteration::new(match (self.form, &self.exact) {
            (Form::Stabilised, None) => Convergence::Linear,
            (Form::Stabilised, Some(_)) | (Form::Position | Form::Velocity, _) => Convergence::Quadratic,
        });
        let mut scales = Scales::default();
        for k in 0..LIMIT {
            self.move_trial(s, h);
            self.evaluate(sys);
            self.residuals(h);
            if k == 0 {
                scales = self.scales(h);
            }
            self.solve(h)?;
            match self.update(&scales) {
                Verdict::Continue => {}
                Verdict::Converged => {
                    self.end_trial(s, h);
                    return Ok(());
                }
                Verdict::NonFinite => return Err(Failure::NonFinite),
                Verdict::GivenUp => return Err(Failure::NoConvergence),
            }
        }
        Err(Failure::NoConvergence)
    }

    /// `q1 = q0 (+) h u`, `V1 = V`, and the tangent operators.
    fn move_trial(&mut self, s: &State, h: f64) {
        self.place(s, h, |theta, tangent| {
            let (increment, dexp) = exp_increment_and_dexp(theta);
            *tangent = dexp;
            increment
        });
    }

    /// The same without the tangent operators.
    fn end_trial(&mut self, s: &State, h: f64) {
        self.place(s, h, |theta, _| exp_increment(theta));
    }

    /// Places the trial; `increment` gives that of a rotation vector.
    #[inline(always)]
    fn place(&mut self, s: &State, h: f64, increment: impl Fn(&Vector3<f64>, &mut Matrix3<f64>) -> Matrix3<f64>) {
        let w = &mut self.work;
        let polishing = (self.steps + 1).is_multiple_of(POLISH_EVERY);
        let three = |list: &[f64], at: usize| Vector3::new(list[at], list[at + 1], list[at + 2]);
        for (b, body) in self.topology.bodies.iter().enumerate() {
            let at = self.topology.dof[b];
            w.trial.set_x(b, &(s.x(b) + three(&w.u, at) * h));
            w.trial.set_v(b, &three(&w.v, at));
            if body.kind == BodyKind::Rigid {
                let theta = three(&w.u, at + 3) * h;
                let r0 = s.r(b);
                let r0 = if polishing { polish(&r0) } else { r0 };
                w.trial.set_r(b, &(r0 + r0 * increment(&theta, &mut w.tangents[b])));
                w.trial.set_omega(b, &three(&w.v, at + 3));
            } else {
                w.trial.set_r(b, &s.r(b));
                w.trial.set_omega(b, &s.omega(b));
            }
        }
    }

    /// Constraints and forces with their derivatives at the trial state.
    fn evaluate<S: System + ?Sized>(&mut self, sys: &mut S) {
        let w = &mut self.work;
        if self.topology.nc() > 0 {
            sys.constraint_newton(&w.trial, &w.lam, &mut w.jac, &mut w.constraint);
        }
        sys.force_newton(&w.trial, &mut w.q, &mut w.force);
        self.inertia.add_gyroscopic(&w.v, 1.0, &mut w.q);
    }

    /// What the updates are measured against.
    fn scales(&mut self, h: f64) -> Scales {
        let w = &mut self.work;
        let mut speed = self.inertia.largest_speed(&w.v0);
        // A model at rest is judged by the speed that its forces would give it.
        self.inertia.apply_inverse(&w.q, &mut w.correction);
        speed = speed.max(h * self.inertia.largest_speed(&w.correction));
        self.inertia.apply_inverse(&w.reaction, &mut w.correction);
        speed = speed.max(self.inertia.largest_speed(&w.correction));
        let far = (0..w.trial.len()).map(|b| w.trial.x(b).amax()).fold(0.0, f64::max);
        Scales { speed, drift: (far + self.inertia.largest_radius()) / h }
    }

    /// Right-hand side of the Newton system.
    fn residuals(&mut self, h: f64) {
        let w = &mut self.work;
        let (set, dof) = (&self.topology.constraints, &self.topology.dof[..]);
        let nv = self.topology.nv();
        // -r_V = h Q - M (V1 - V0) - B^T lam
        for k in 0..nv {
            w.correction[k] = w.v[k] - w.v0[k];
        }
        self.inertia.apply(&w.correction, &mut w.momentum);
        w.reaction.fill(0.0);
        rows::add_transposed(set, dof, &w.jac.b, &w.lam, -1.0, &mut w.reaction);
        for k in 0..nv {
            w.rhs[k] = h * w.q[k] - w.momentum[k] + w.reaction[k];
        }
        // r_B = B V1 + Phi_t
        rows::apply(set, dof, &w.jac.b, &w.v, &mut w.r_b);
        for (r, phi_t) in w.r_b.iter_mut().zip(&w.jac.phi_t) {
            *r += phi_t;
        }
        for (row, &kept) in self.gram.independent.iter().enumerate() {
            w.rhs[nv + row] = match self.form {
                _ if !kept => 0.0,
                Form::Position => -w.jac.phi[row] / h,
                Form::Velocity | Form::Stabilised => -w.r_b[row],
            };
        }
    }

    /// Newton update in place of the right-hand side, and that of `u` and `m` beside it.
    fn solve(&mut self, h: f64) -> Result<(), Failure> {
        let w = &mut self.work;
        let point = Point {
            h,
            h_v: h,
            inertia: &self.inertia,
            hamiltonian: self.method.metric == Metric::Hamiltonian,
            tangents: &w.tangents,
            v: &w.v,
            jac: &w.jac,
            constraint: &w.constraint,
            force: &w.force,
            active: &self.gram.independent,
        };
        let outcome = match &mut self.exact {
            Some(exact) => exact.matrix.factor(&self.topology, &point),
            None => self.matrix.factor(&self.topology, &point),
        };
        outcome.map_err(|block| match block.non_finite {
            true => Failure::NonFinite,
            false => Failure::Singular(newton_matrix::owner(&self.topology, block.node)),
        })?;
        if self.exact.is_some() {
            self.solve_exactly(h);
            return Ok(());
        }
        self.matrix.solve(&self.topology, &w.jac, &mut w.rhs);
        match self.form {
            Form::Position | Form::Velocity => {
                w.du.copy_from_slice(&w.rhs[..self.topology.nv()]);
                Ok(())
            }
            Form::Stabilised => self.correct(h),
        }
    }

    /// All updates of the stabilised forms by one system.
    fn solve_exactly(&mut self, h: f64) {
        let Some(Exact { matrix, rhs }) = &mut self.exact else { return };
        let w = &mut self.work;
        let (metric, nv) = (self.method.metric, self.topology.nv());
        let (at, elements) = (matrix.v_offset(), &self.topology.constraints.elements);
        weigh(&self.inertia, &self.topology, metric, &w.jac.b, &w.m, &mut w.momentum, &mut w.correction);
        rhs[..nv].copy_from_slice(&w.rhs[..nv]);
        for k in 0..nv {
            rhs[at + k] = w.v[k] - w.u[k] - w.correction[k];
        }
        for (number, e) in elements.iter().enumerate() {
            let at = matrix.element_offset(number);
            for (r, row) in (e.row..e.row + e.rows).enumerate() {
                let open = if self.gram.independent[row] { -w.jac.phi[row] / h } else { 0.0 };
                rhs[at + r] = open;
                rhs[at + e.rows + r] = w.rhs[nv + row] - open;
            }
        }
        matrix.solve(rhs);
        w.du.copy_from_slice(&rhs[..nv]);
        w.rhs[..nv].copy_from_slice(&rhs[at..at + nv]);
        for (number, e) in elements.iter().enumerate() {
            let at = matrix.element_offset(number);
            w.rhs[nv + e.row..][..e.rows].copy_from_slice(&rhs[at..at + e.rows]);
            w.dm[e.row..e.row + e.rows].copy_from_slice(&rhs[at + e.rows..at + 2 * e.rows]);
        }
    }

    /// Updates of `u` and `m` that close the positions, and what they change in the update of `V` and `lam`.
    fn correct(&mut self, h: f64) -> Result<(), Failure> {
        self.factor_projection().map_err(Failure::of_rows)?;
        let gram = self.projection.as_mut().unwrap_or(&mut self.gram);
        let w = &mut self.work;
        let (set, dof) = (&self.topology.constraints, &self.topology.dof[..]);
        let nv = self.topology.nv();
        let metric = self.method.metric;
        weigh(&self.inertia, &self.topology, metric, &w.jac.b, &w.m, &mut w.momentum, &mut w.correction);
        for k in 0..nv {
            w.du[k] = w.rhs[k] + (w.v[k] - w.u[k] - w.correction[k]);
        }
        // `B W` stands for `B H W`: what it leaves open is closed by a second turn.
        w.dm.fill(0.0);
        for _ in 0..2 {
            turn(&w.tangents, dof, &w.du, &mut w.momentum);
            rows::apply(set, dof, &w.jac.b, &w.momentum, &mut w.open);
            for (open, phi) in w.open.iter_mut().zip(&w.jac.phi) {
                *open += phi / h;
            }
            gram.solve(&mut w.open);
            weigh(&self.inertia, &self.topology, metric, &w.jac.b, &w.open, &mut w.momentum, &mut w.correction);
            for (dm, open) in w.dm.iter_mut().zip(&w.open) {
                *dm += open;
            }
            for (du, correction) in w.du.iter_mut().zip(&w.correction) {
                *du -= correction;
            }
        }
        for k in 0..nv {
            w.correction[k] = w.rhs[k] - w.du[k];
        }
        turn(&w.tangents, dof, &w.correction, &mut w.momentum);
        w.seen.fill(0.0);
        let (of_bodies, of_rows) = w.seen.split_at_mut(nv);
        rows::add_square(set, dof, &w.constraint.k_lam, &w.momentum, h, of_bodies);
        rows::add_square(&self.topology.forces, dof, &w.force.q_q, &w.momentum, -h * h, of_bodies);
        rows::apply(set, dof, &w.constraint.bv_q, &w.momentum, of_rows);
        for (seen, &kept) in of_rows.iter_mut().zip(&self.gram.independent) {
            *seen = if kept { h * *seen } else { 0.0 };
        }
        self.matrix.solve(&self.topology, &w.jac, &mut w.seen);
        for (x, seen) in w.rhs.iter_mut().zip(&w.seen) {
            *x += seen;
        }
        Ok(())
    }

    /// Factors `B W` at the Jacobian in the workspace, on the rows that are kept.
    pub(super) fn factor_projection(&mut self) -> Result<(), SingularBlock> {
        match &mut self.projection {
            Some(projection) => {
                projection.independent.copy_from_slice(&self.gram.independent);
                projection.factor(&self.inertia, &self.work.jac.b)
            }
            None => self.gram.factor(&self.inertia, &self.work.jac.b),
        }
    }

    /// Applies the update and judges its size.
    fn update(&mut self, scales: &Scales) -> Verdict {
        let w = &mut self.work;
        let nv = self.topology.nv();
        for k in 0..nv {
            w.u[k] += w.du[k];
            w.v[k] += w.rhs[k];
        }
        for (lam, update) in w.lam.iter_mut().zip(&w.rhs[nv..]) {
            *lam += update;
        }
        if self.form == Form::Stabilised {
            for (m, update) in w.m.iter_mut().zip(&w.dm) {
                *m += update;
            }
        }
        // The impulse counts as the velocity that it gives.
        w.momentum.fill(0.0);
        rows::add_transposed(
            &self.topology.constraints,
            &self.topology.dof,
            &w.jac.b,
            &w.rhs[nv..],
            1.0,
            &mut w.momentum,
        );
        self.inertia.apply_inverse(&w.momentum, &mut w.correction);
        let impulse = self.inertia.largest_speed(&w.correction);
        let of_u = self.inertia.largest_speed(&w.du);
        let of_v = self.inertia.largest_speed(&w.rhs[..nv]);
        if of_u == 0.0 && of_v == 0.0 && impulse == 0.0 {
            return w.iteration.judge(0.0, 0.0);
        }
        let of_v = of_v.max(impulse);
        let speed = scales.speed.max(self.inertia.largest_speed(&w.v));
        // Rounding errors of coordinates, divided by h, enter u through Phi in full; forces see them too.
        let noise_v = f64::EPSILON * (speed + 0.1 * scales.drift);
        let noise_u = f64::EPSILON * (speed + scales.drift);
        let units = match self.form {
            Form::Position => of_u.max(of_v) / noise_u,
            Form::Velocity => of_u.max(of_v) / noise_v,
            Form::Stabilised => (of_u / noise_u).max(of_v / noise_v),
        };
        // max drops NaN: a sum keeps it.
        if !(of_u + of_v).is_finite() {
            return w.iteration.judge(f64::NAN, f64::NAN);
        }
        let last = w.iteration.last_units();
        // The first updates of an unusual step may be large for other reasons.
        let is_telling = w.iteration.count > if self.history.is_full() { 0 } else { 3 };
        let is_slow = is_telling && units > SLOW * last && units > NOISE;
        if is_slow && self.form == Form::Stabilised && self.exact.is_none() {
            let matrix = Whole::new(&self.topology, newton_matrix::Form::Both);
            self.exact = Some(Exact { rhs: vec![0.0; matrix.rows()], matrix });
        }
        let verdict = w.iteration.judge(of_u.max(of_v) / speed, units);
        // Only the first update ends an iteration here.
        let (is_usual, next) = (self.history.is_full(), f64::INFINITY);
        let is_enough = self.contraction.is_enough(is_usual, w.iteration.count, units * units, last * last, next);
        if is_enough && w.iteration.count == 1 { Verdict::Converged } else { verdict }
    }
}

/// `out = H d`: the rotations of `d` by the tangent operators.
fn turn(tangents: &[Matrix3<f64>], dof: &[usize], d: &[f64], out: &mut [f64]) {
    for (tangent, range) in tangents.iter().zip(dof.windows(2)) {
        let (from, to) = (&d[range[0]..range[1]], &mut out[range[0]..range[1]]);
        to.copy_from_slice(from);
        if from.len() == 6 {
            to[3..].copy_from_slice((tangent * Vector3::from_column_slice(&from[3..])).as_slice());
        }
    }
}

/// `out = W lam` with `W = B^T` or `M^-1 B^T`; `momentum` is scratch.
pub(super) fn weigh(
    inertia: &Inertia,
    topology: &Topology,
    metric: Metric,
    b: &[f64],
    lam: &[f64],
    momentum: &mut [f64],
    out: &mut [f64],
) {
    let into = if metric == Metric::Hamiltonian { &mut *momentum } else { &mut *out };
    into.fill(0.0);
    rows::add_transposed(&topology.constraints, &topology.dof, b, lam, 1.0, into);
    if metric == Metric::Hamiltonian {
        inertia.apply_inverse(momentum, out);
    }
}
