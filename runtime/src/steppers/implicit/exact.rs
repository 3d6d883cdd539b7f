//! Newton's method with the derivatives of forces and constraints, one stage after the other, for stiff models.
//!
//! All stages at once would have a matrix of as many blocks as stages, or complex numbers. Instead `L` of `a = L U`, lower triangular beside a `U` with a unit
//! diagonal, takes the place of `a` in the derivative. With `l = h L_ii`, stage `i` then asks for the Newton matrix of an implicit Euler step of size `l`:
//!
//! ```text
//! e = h sum_{j<i} L_ij dA_j,   p = r + h sum_{j<i} L_ij dV_j          r = h sum_j a_ij T(d_j)^-1 V_j - d_i
//! (M - l Q_V + l^2 (K - Q_q)) dV_i + B^T l dlambda_i = l M f + M e - l (K - Q_q) p
//! (B + l (B V)_q) dV_i                               = -g - (B V)_q p
//! dA_i = (dV_i - e)/l,   dd_i = l dV_i + p
//! ```
//!
//! with the defects `f` and `g` of the stage. What is left out multiplies errors of stiff parts and of constraints by `1 - U`, whose power of as many factors as
//! stages is zero. Source: P. J. van der Houwen and J. J. B. de Swart, Triangularly implicit iteration methods for ODE-IVP solvers, SIAM J. Sci. Comput. 18
//! (1997) 41.

use alloc::vec::Vec;

use super::collocation::{Coefficients, Square};
use super::{Stages, add, combine, larger};
use crate::consistent::Failure;
use crate::inertia::Inertia;
use crate::newton_matrix::linearised::Linearised;
use crate::state::State;
use crate::system::System;
use crate::topology::Topology;

/// The matrices of all stages with their workspaces.
#[derive(Clone, Debug)]
pub(super) struct Exact {
    inertia: Inertia,
    lower: Square,
    stages: Vec<Linearised>,
    /// Updates of velocities.
    dv: Vec<Vec<f64>>,
    q: Vec<f64>,
    e: Vec<f64>,
    p: Vec<f64>,
    rhs: Vec<f64>,
}

impl Exact {
    /// Symbolic phase for the stages of a method.
    pub(super) fn new(topology: &Topology, inertia: &Inertia, coefficients: &Coefficients) -> Self {
        let count = coefficients.stages;
        let (nv, nc) = (topology.nv(), topology.nc());
        Self {
            lower: coefficients.lower(),
            stages: vec![Linearised::new(topology, inertia); count],
            dv: vec![vec![0.0; nv]; count],
            q: vec![0.0; nv],
            e: vec![0.0; nv],
            p: vec![0.0; nv],
            rhs: vec![0.0; nv + nc],
            inertia: inertia.clone(),
        }
    }

    /// Evaluates the derivatives of stage `i` at its state and multipliers, and factors its matrix on the rows that are `active`.
    pub(super) fn factor<S: System + ?Sized>(
        &mut self,
        sys: &mut S,
        i: usize,
        s: &State,
        lambda: &[f64],
        h: f64,
        active: &[bool],
    ) -> Result<(), Failure> {
        let l = h * self.lower[i][i];
        self.stages[i].factor(sys, s, lambda, [l, l], active)
    }

    /// Replaces the defects of all stages by the updates of their accelerations, and applies those of multipliers and of the chart. Returns the largest speeds
    /// among updates of velocities and of the chart, the latter by `h`.
    pub(super) fn solve(&mut self, a: &Square, stages: &mut Stages, h: f64) -> [f64; 2] {
        let (inertia, nv) = (&self.inertia, self.q.len());
        let Stages { lambda, d, rate, defect, open, .. } = stages;
        let mut sizes = [0.0; 2];
        for i in 0..self.stages.len() {
            let (row, l) = (&self.lower[i][..i], h * self.lower[i][i]);
            // `p`, with the old chart vector in `q`
            combine(row, &self.dv, h, &mut self.p);
            combine(&a[i], rate, h, &mut self.q);
            for ((p, new), old) in self.p.iter_mut().zip(&self.q).zip(&d[i]) {
                *p += new - old;
            }
            combine(row, defect, h, &mut self.e);
            for ((q, f), e) in self.q.iter_mut().zip(&defect[i]).zip(&self.e) {
                *q = l * f + e;
            }
            let (of_bodies, of_rows) = self.rhs.split_at_mut(nv);
            inertia.apply(&self.q, of_bodies);
            of_rows.copy_from_slice(&open[i]);
            self.stages[i].solve(&self.p, &mut self.rhs);
            let (of_bodies, of_rows) = self.rhs.split_at(nv);
            self.dv[i].copy_from_slice(of_bodies);
            for (lambda, impulse) in lambda[i].iter_mut().zip(of_rows) {
                *lambda += impulse / l;
            }
            for ((da, dv), e) in defect[i].iter_mut().zip(of_bodies).zip(&self.e) {
                *da = (dv - e) / l;
            }
            for (p, dv) in self.p.iter_mut().zip(of_bodies) {
                *p += l * dv;
            }
            add(&self.p, &mut d[i]);
            for p in &mut self.p {
                *p /= h;
            }
            for (size, update) in sizes.iter_mut().zip([&self.dv[i], &self.p]) {
                *size = larger(*size, inertia.largest_speed(update));
            }
        }
        sizes
    }

    /// `(1 - l J)^-1` of a change of chart vector and velocities, in place, with `J` and `l` of the last stage: what is left of the change after an
    /// implicit Euler step, tangential to the constraints.
    pub(super) fn filter(&mut self, h: f64, d: &mut [f64], v: &mut [f64]) {
        let Some(i) = self.stages.len().checked_sub(1) else { return };
        let l = h * self.lower[i][i];
        let (of_bodies, of_rows) = self.rhs.split_at_mut(v.len());
        self.inertia.apply(v, of_bodies);
        of_rows.fill(0.0);
        self.stages[i].solve(d, &mut self.rhs);
        v.copy_from_slice(&self.rhs[..v.len()]);
        for (d, v) in d.iter_mut().zip(v) {
            *d += l * *v;
        }
    }
}
