//! RATTLE on a small model as nodes: impulses at the start of a stage, a Newton iteration for them, and the end of a step.
//!
//! With everything at the start of a stage without an index or with 0, and at the end of its drift with 1:
//!
//! ```text
//! kick:      -B0^T lam
//! iteration: B1 W B0^T dlam = Phi1,  dP = -B0^T dlam,  dq = W dP,          W = blockdiag(h/m, D)
//! end:       B M^-1 B^T mu = B V + Phi_t,  dP = -B^T mu,  V1 = V + M^-1 dP
//!            M A + B^T lambda = Q + gyroscopic,  B A + gamma = 0
//! ```
//!
//! Where the drift has led to is among the unknowns that the runtime gives: `(h, t1)`, then for each body `x1`, and for rigid ones
//! `R1` and `D`, the derivative of the attitude by the momentum. So the kernels are the same for all drifts.

use super::eliminate::{Factors, Matrix, dot};
use super::inline::BodyNodes;
use super::motion::{Matrix3, Vector, after, apply};
use super::newton::{gyroscopic, radius_squared, times};
use super::{Metric, Unroller};
use crate::ir::{Input, Reg};

/// Where a drift has led to.
struct Drifted {
    h: Reg,
    time: Reg,
    at: Vec<BodyNodes>,
    /// Derivatives of the attitudes by the momenta; unused for particles.
    derivatives: Vec<Matrix3>,
}

impl Unroller<'_> {
    /// Numbers of what [`Unroller::rattle_newton`] loads besides the state.
    pub(super) fn drifted_len(&self) -> usize {
        2 + self.bodies.iter().map(|body| if body.is_rigid { 21 } else { 3 }).sum::<usize>()
    }

    /// `-B0^T lam` from `lam`.
    pub(super) fn rattle_kick(&mut self) -> Option<Vec<Reg>> {
        let lam: Vec<Reg> = (0..self.nc).map(|k| self.iterate(k)).collect();
        let at = self.before.clone();
        let time = self.g.load(Input::Time);
        let constraints = self.constraints(&at, time, &lam)?;
        let push = self.transposed(&constraints, &lam);
        Some(push.into_iter().map(|x| self.g.neg(x)).collect())
    }

    /// `dlam`, `dP`, `dq`; squares of the sizes of `dq` and of the model, and of the turns in `dq`; the determinants of the pivots.
    pub(super) fn rattle_newton(&mut self) -> Option<(Vec<Reg>, usize)> {
        let Drifted { h, time, at, derivatives } = self.drifted();
        let none = vec![self.g.num(0.0); self.nc];
        let (before, now) = (self.before.clone(), self.g.load(Input::Time));
        let start = self.constraints(&before, now, &none)?;
        let end = self.constraints(&at, time, &none)?;
        let (b0, b1) = (self.dense(&start), self.dense(&end));
        let one = self.g.num(1.0);
        let rate = self.g.div(one, h);
        // Divided by h, pivots do not depend on it.
        let mut matrix = Matrix::new(&mut self.g, self.nc, false);
        for (i, row) in b1.iter().enumerate() {
            let weighed = self.times_w(row, rate, &derivatives);
            for (j, b0) in b0.iter().enumerate() {
                let x = dot(&mut self.g, &weighed, b0);
                matrix.add(&mut self.g, i, j, x);
            }
        }
        let sorted = self.sorted(&end);
        let factors = matrix.eliminate().groups(&mut self.g, &sorted);
        let open: Vec<Reg> = end.iter().flat_map(|c| &c.phi).map(|&phi| self.g.mul(phi, rate)).collect();
        let dlam = factors.solve(&mut self.g, &open);
        let push = self.transposed(&start, &dlam);
        let kick: Vec<Reg> = push.into_iter().map(|x| self.g.neg(x)).collect();
        let displacement = self.displacement(&kick, h, &derivatives);

        let [mut of_update, mut extent, mut turn] = [self.g.num(0.0); 3];
        for (body, state) in self.bodies.iter().zip(&at) {
            let g = &mut self.g;
            let d = &displacement[body.dof..];
            let moved = dot(g, &d[..3], &d[..3]);
            let distance = dot(g, &state[..3], &state[..3]);
            (of_update, extent) = (g.add(of_update, moved), g.add(extent, distance));
            if body.is_rigid {
                let square = dot(g, &d[3..6], &d[3..6]);
                turn = g.add(turn, square);
                let radius = radius_squared(g, body);
                let turned = g.mul(radius, square);
                (of_update, extent) = (g.add(of_update, turned), g.add(extent, radius));
            }
        }
        let pivots: Vec<Reg> = factors.pivots.iter().map(|p| p.1).collect();
        let count = pivots.len();
        Some(([dlam, kick, displacement, vec![of_update, extent, turn], pivots].concat(), count))
    }

    /// `dP`, `A`, `lambda`, and the determinants of the pivots, from `V` and `Q`.
    pub(super) fn rattle_end(&mut self) -> Option<(Vec<Reg>, usize)> {
        let (nv, nc) = (self.nv, self.nc);
        let mut v: Vec<Reg> = (0..nv).map(|k| self.iterate(k)).collect();
        let q: Vec<Reg> = (0..nv).map(|k| self.iterate(nv + k)).collect();
        let none = vec![self.g.num(0.0); nc];
        let (before, time) = (self.before.clone(), self.g.load(Input::Time));
        let at = self.with_velocities(&before, &v);
        let constraints = self.constraints(&at, time, &none)?;
        let sorted = self.sorted(&constraints);
        let (projection, b, w) = self.projection(Metric::Hamiltonian, &constraints, &sorted);
        let phi_t: Vec<Reg> = constraints.iter().flat_map(|c| c.phi_t.clone()).collect();

        // Of both systems, the second solution removes the rounding errors of the first.
        let mut mu = none.clone();
        for _ in 0..2 {
            self.refine(&projection, &b, &w, &phi_t, &mut v, &mut mu);
        }
        let push = self.transposed(&constraints, &mu);
        let kick: Vec<Reg> = push.into_iter().map(|x| self.g.neg(x)).collect();

        let at = self.with_velocities(&before, &v);
        let gamma = self.convective(&at)?;
        let mut force = q;
        for (body, state) in self.bodies.iter().zip(&at).filter(|(body, _)| body.is_rigid) {
            let (_, torque) = gyroscopic(&mut self.g, body, &[state[15], state[16], state[17]]);
            for (k, torque) in torque.into_iter().enumerate() {
                force[body.dof + 3 + k] = self.g.add(force[body.dof + 3 + k], torque);
            }
        }
        let inverse = self.inverse_mass();
        let mut a = times(self, &inverse, &force);
        let mut lambda = none;
        for _ in 0..2 {
            self.refine(&projection, &b, &w, &gamma, &mut a, &mut lambda);
        }
        let pivots: Vec<Reg> = projection.pivots.iter().map(|p| p.1).collect();
        let count = pivots.len();
        Some(([kick, a, lambda, pivots].concat(), count))
    }

    /// Where the drift has led to, as the runtime gives it.
    fn drifted(&mut self) -> Drifted {
        let mut next = 0;
        let mut take = |unroller: &mut Self| {
            next += 1;
            unroller.iterate(next - 1)
        };
        let (h, time) = (take(self), take(self));
        let (mut at, mut derivatives) = (Vec::new(), Vec::new());
        for body in 0..self.bodies.len() {
            let x: Vector = std::array::from_fn(|_| take(self));
            let (mut r, mut derivative): (Matrix3, Matrix3) =
                (self.before[body][3..12].try_into().expect("nine numbers"), [self.g.num(0.0); 9]);
            if self.bodies[body].is_rigid {
                r = std::array::from_fn(|_| take(self));
                derivative = std::array::from_fn(|_| take(self));
            }
            at.push(after(&mut self.g, &x, &r, &[]));
            derivatives.push(derivative);
        }
        Drifted { h, time, at, derivatives }
    }

    /// A row of `B` times `W/h`.
    fn times_w(&mut self, row: &[Reg], rate: Reg, derivatives: &[Matrix3]) -> Vec<Reg> {
        let mut out = row.to_vec();
        let g = &mut self.g;
        let one = g.num(1.0);
        for (body, d) in self.bodies.iter().zip(derivatives) {
            let mobility = g.div(one, body.mass);
            for x in &mut out[body.dof..body.dof + 3] {
                *x = g.mul(*x, mobility);
            }
            if body.is_rigid {
                let at = body.dof + 3;
                for j in 0..3 {
                    let sum = dot(g, &row[at..at + 3], &[d[j], d[3 + j], d[6 + j]]);
                    out[at + j] = g.mul(sum, rate);
                }
            }
        }
        out
    }

    /// `W dP`
    fn displacement(&mut self, kick: &[Reg], h: Reg, derivatives: &[Matrix3]) -> Vec<Reg> {
        let mut out = Vec::with_capacity(kick.len());
        let g = &mut self.g;
        let one = g.num(1.0);
        for (body, derivative) in self.bodies.iter().zip(derivatives) {
            let mobility = g.div(one, body.mass);
            let mobility = g.mul(h, mobility);
            let kick = &kick[body.dof..];
            out.extend((0..3).map(|k| g.mul(mobility, kick[k])));
            if body.is_rigid {
                out.extend(apply(g, derivative, &[kick[3], kick[4], kick[5]]));
            }
        }
        out
    }

    /// Bodies with other velocities.
    fn with_velocities(&mut self, at: &[BodyNodes], v: &[Reg]) -> Vec<BodyNodes> {
        let mut out = Vec::with_capacity(at.len());
        for (body, state) in self.bodies.iter().zip(at) {
            let mut state = *state;
            state[12..12 + body.dim()].copy_from_slice(&v[body.dof..body.dof + body.dim()]);
            out.push(state);
        }
        out
    }

    /// Brings `x` nearer to `B x + c = 0` by `-M^-1 B^T y`, and adds `y` to a sum.
    fn refine(
        &mut self,
        projection: &Factors,
        b: &[Vec<Reg>],
        w: &[Vec<Reg>],
        c: &[Reg],
        x: &mut [Reg],
        sum: &mut [Reg],
    ) {
        let g = &mut self.g;
        let mut open = Vec::with_capacity(c.len());
        for (row, &c) in b.iter().zip(c) {
            let product = dot(g, row, x);
            open.push(g.add(product, c));
        }
        let y = projection.solve(g, &open);
        for (k, x) in x.iter_mut().enumerate() {
            let column: Vec<Reg> = w.iter().map(|w| w[k]).collect();
            let change = dot(g, &column, &y);
            *x = g.sub(*x, change);
        }
        for (sum, y) in sum.iter_mut().zip(y) {
            *sum = g.add(*sum, y);
        }
    }
}
