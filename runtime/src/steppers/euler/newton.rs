//! The Newton iteration of one implicit Euler step: predictor, residuals, update, judgement.

use nalgebra::Vector3;

use super::super::iteration::{Iteration, LIMIT, Verdict};
use super::super::method::Metric;
use super::{Euler, Failure, POLISH_EVERY};
use crate::inertia::Inertia;
use crate::linalg::rows;
use crate::newton_matrix::{Form, Point};
use crate::so3::{dexp, exp_increment, polish};
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
        w.iteration = Iteration::new();
        let mut scales = Scales::default();
        for k in 0..LIMIT {
            self.move_trial(s, h);
            self.evaluate(sys, h);
            if k == 0 {
                scales = self.scales(h);
            }
            self.residuals(h);
            self.solve(h)?;
            match self.update(&scales) {
                Verdict::Continue => {}
                Verdict::Converged => {
                    self.move_trial(s, h);
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
        let w = &mut self.work;
        let polishing = (self.steps + 1).is_multiple_of(POLISH_EVERY);
        for (b, body) in self.topology.bodies.iter().enumerate() {
            let at = self.topology.dof[b];
            w.trial.set_x(b, &(s.x(b) + Vector3::from_column_slice(&w.u[at..at + 3]) * h));
            w.trial.set_v(b, &Vector3::from_column_slice(&w.v[at..at + 3]));
            if body.kind == BodyKind::Rigid {
                let theta = Vector3::from_column_slice(&w.u[at + 3..at + 6]) * h;
                let r0 = s.r(b);
                let r0 = if polishing { polish(&r0) } else { r0 };
                w.trial.set_r(b, &(r0 + r0 * exp_increment(&theta)));
                w.trial.set_omega(b, &Vector3::from_column_slice(&w.v[at + 3..at + 6]));
                w.tangents[b] = dexp(&theta);
            } else {
                w.trial.set_r(b, &s.r(b));
                w.trial.set_omega(b, &s.omega(b));
            }
        }
    }

    /// Constraints and forces with their derivatives at the trial state.
    fn evaluate<S: System + ?Sized>(&mut self, sys: &mut S, h: f64) {
        let w = &mut self.work;
        if self.topology.nc() > 0 {
            let mu = if self.form == Form::Both {
                for (mu, m) in w.mu.iter_mut().zip(&w.m) {
                    *mu = h * m;
                }
                Some(&w.mu[..])
            } else {
                None
            };
            sys.constraint_newton(&w.trial, &w.lam, mu, &mut w.jac, &mut w.constraint);
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
        w.momentum.fill(0.0);
        rows::add_transposed(&self.topology.constraints, &self.topology.dof, &w.jac.b, &w.lam, 1.0, &mut w.momentum);
        self.inertia.apply_inverse(&w.momentum, &mut w.correction);
        speed = speed.max(self.inertia.largest_speed(&w.correction));
        let far = (0..w.trial.len()).map(|b| w.trial.x(b).amax()).fold(0.0, f64::max);
        Scales { speed, drift: (far + self.inertia.largest_radius()) / h }
    }

    /// Right-hand side of the Newton system.
    fn residuals(&mut self, h: f64) {
        let w = &mut self.work;
        let (set, dof) = (&self.topology.constraints, &self.topology.dof[..]);
        let nv = self.topology.nv();
        w.rhs.fill(0.0);
        // -r_V = h Q - M (V1 - V0) - B^T lam
        for k in 0..nv {
            w.correction[k] = w.v[k] - w.v0[k];
        }
        self.inertia.apply(&w.correction, &mut w.momentum);
        for k in 0..nv {
            w.rhs[k] = h * w.q[k] - w.momentum[k];
        }
        rows::add_transposed(set, dof, &w.jac.b, &w.lam, -1.0, &mut w.rhs[..nv]);
        // r_B = B V1 + Phi_t
        rows::apply(set, dof, &w.jac.b, &w.v, &mut w.r_b);
        for (r, phi_t) in w.r_b.iter_mut().zip(&w.jac.phi_t) {
            *r += phi_t;
        }
        for (number, e) in set.elements.iter().enumerate() {
            let at = self.matrix.element_offset(number);
            for r in (0..e.rows).filter(|r| self.gram.independent[e.row + r]) {
                let (position, velocity) = (-w.jac.phi[e.row + r] / h, -w.r_b[e.row + r]);
                match self.form {
                    Form::Position => w.rhs[at + r] = position,
                    Form::Velocity => w.rhs[at + r] = velocity,
                    Form::Both => {
                        w.rhs[at + r] = position;
                        w.rhs[at + e.rows + r] = velocity - position;
                    }
                }
            }
        }
        // -r_d/h = V1 - u - W m
        if self.form == Form::Both {
            weigh(
                &self.inertia,
                &self.topology,
                self.method.metric,
                &w.jac.b,
                &w.m,
                &mut w.momentum,
                &mut w.correction,
            );
            let at = self.matrix.v_offset();
            for k in 0..nv {
                w.rhs[at + k] = w.v[k] - w.u[k] - w.correction[k];
            }
        }
    }

    /// Newton update in place of the right-hand side.
    fn solve(&mut self, h: f64) -> Result<(), Failure> {
        let w = &mut self.work;
        let point = Point {
            h,
            inertia: &self.inertia,
            hamiltonian: self.method.metric == Metric::Hamiltonian,
            tangents: &w.tangents,
            v: &w.v,
            jac: &w.jac,
            constraint: &w.constraint,
            force: &w.force,
            active: &self.gram.independent,
        };
        self.matrix.factor(&self.topology, &point).map_err(|block| match block.non_finite {
            true => Failure::NonFinite,
            false => Failure::Singular(self.matrix.owner(block.node)),
        })?;
        self.matrix.solve(&mut w.rhs);
        Ok(())
    }

    /// Applies the update and judges its size.
    fn update(&mut self, scales: &Scales) -> Verdict {
        let w = &mut self.work;
        let nv = self.topology.nv();
        let at = self.matrix.v_offset();
        for k in 0..nv {
            w.u[k] += w.rhs[k];
            w.v[k] += w.rhs[at + k];
        }
        for (number, e) in self.topology.constraints.elements.iter().enumerate() {
            let at = self.matrix.element_offset(number);
            for r in 0..e.rows {
                w.rows[e.row + r] = w.rhs[at + r];
                w.lam[e.row + r] += w.rhs[at + r];
                if self.form == Form::Both {
                    w.m[e.row + r] += w.rhs[at + e.rows + r];
                }
            }
        }
        // The impulse counts as the velocity that it gives.
        w.momentum.fill(0.0);
        rows::add_transposed(&self.topology.constraints, &self.topology.dof, &w.jac.b, &w.rows, 1.0, &mut w.momentum);
        self.inertia.apply_inverse(&w.momentum, &mut w.correction);
        let impulse = self.inertia.largest_speed(&w.correction);
        let of_u = self.inertia.largest_speed(&w.rhs[..nv]);
        let of_v = self.inertia.largest_speed(&w.rhs[at..at + nv]);
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
            Form::Both => (of_u / noise_u).max(of_v / noise_v),
        };
        // max drops NaN: a sum keeps it.
        if !(of_u + of_v).is_finite() {
            return w.iteration.judge(f64::NAN, f64::NAN);
        }
        let last = w.iteration.last_units();
        let verdict = w.iteration.judge(of_u.max(of_v) / speed, units);
        let is_enough =
            self.contraction.is_enough(self.history.is_full(), w.iteration.count, units * units, last * last);
        if is_enough && w.iteration.count == 1 { Verdict::Converged } else { verdict }
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
