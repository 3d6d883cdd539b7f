//! One Newton iteration and the accelerations of index 1, as nodes.
//!
//! With `H = blockdiag(I, T(h u_theta))` and everything at the state that `y` leads to:
//!
//! ```text
//! (M - h Q_V + h (K(lam) - h Q_q) H) dV + B^T dlam = h Q - M (V - V0) - B^T lam
//! position:            B H dV                      = -Phi/h
//! velocity:            (B + h (BV)_q H) dV         = -(B V + Phi_t)
//! stabilised, too:     B W dm                      = B H (dV + r) + Phi/h,   r = V - u - W m
//!                      du                          = dV + r - W dm
//! ```
//!
//! The first two are exact. In the stabilised ones the first rows should have `du` where what stands there is due to a
//! displacement. `du - dV` is of the order of `h Omega dV`, and so is what it does: two small systems, the second one
//! symmetric, are solved one after the other instead of one of twice the size, and the first one once more with the
//! displacement that the second one has found. What remains is an error of `(h Omega)^3` of each update.
//!
//! Elimination first puts what joints say of positions into the equations, then takes the bodies, then what is left of the
//! constraints, of which always one with fewest neighbours.

use std::collections::{BTreeMap, BTreeSet};

use super::super::scope::number;
use super::eliminate::{Factors, Matrix, dot};
use super::inline::{BodyNodes, Instance};
use super::motion::{Matrix3, Vector, after, apply, cross, product, skew, zip};
use super::{Body, Form, Metric, Unroller};
use crate::ir::program::{Constraint, Coupling, Force, SIZES};
use crate::ir::{Bin, Graph, Input, Reg};

/// Values of one instance of a constraint.
pub(super) struct ConstraintValues {
    /// First row among all.
    row: usize,
    rows: usize,
    /// Velocity that belongs to each column.
    columns: Vec<usize>,
    pub phi: Vec<Reg>,
    pub phi_t: Vec<Reg>,
    b: Vec<Reg>,
    bv_q: Vec<Reg>,
    k_lam: Vec<Reg>,
}

/// Values of one instance of a force.
struct ForceValues {
    columns: Vec<usize>,
    q: Vec<Reg>,
    q_q: Vec<Reg>,
    q_v: Vec<Reg>,
}

/// Entries of a sparse matrix.
pub(super) type Entries = BTreeMap<(usize, usize), Reg>;

/// The unknowns and what they lead to.
struct Iterate {
    h: Reg,
    u: Vec<Reg>,
    v: Vec<Reg>,
    lam: Vec<Reg>,
    m: Vec<Reg>,
    /// States of the bodies.
    at: Vec<BodyNodes>,
    tangents: Vec<Matrix3>,
    constraints: Vec<ConstraintValues>,
    forces: Vec<ForceValues>,
    /// `h Q`
    impulse: Vec<Reg>,
    /// `Phi/h`
    gaps: Vec<Reg>,
}

/// Equations of `(V, lam)`.
struct Rows {
    rhs: Vec<Reg>,
    /// Entries that multiply the displacement by `h`, whose update is `du`.
    by_displacement: Entries,
    by_velocity: Entries,
}

impl Unroller<'_> {
    /// Velocities of the bodies of an instance.
    fn columns(&self, slots: &[u32]) -> Vec<usize> {
        slots
            .iter()
            .flat_map(|&b| {
                let body = &self.bodies[b as usize];
                body.dof..body.dof + body.dim()
            })
            .collect()
    }

    fn constraint(
        &mut self,
        c: &Constraint,
        k: usize,
        row: usize,
        (at, time): (&[BodyNodes], Reg),
        lam: &[Reg],
    ) -> Option<ConstraintValues> {
        let instance = Instance::new(&mut self.g, &mut self.foreign, &c.family, k, &self.before)?.at(time);
        let (rows, block) = (c.rows, c.rows * c.dim);
        let values = instance.inline(&mut self.g, &mut self.foreign, c.newton.get(), at, &lam[row..row + rows])?;
        let (phi, rest) = values.split_at(rows);
        let (phi_t, rest) = rest.split_at(rows);
        let (b, rest) = rest.split_at(block);
        let (bv_q, k_lam) = rest.split_at(block);
        Some(ConstraintValues {
            row,
            rows,
            columns: self.columns(instance.slots()),
            phi: phi.to_vec(),
            phi_t: phi_t.to_vec(),
            b: b.to_vec(),
            bv_q: bv_q.to_vec(),
            k_lam: dense(&mut self.g, c.dim, &c.couplings, k_lam),
        })
    }

    /// Constraints at positions, velocities and a time. Without multipliers, what they are multiplied by must not be written.
    pub(super) fn constraints(&mut self, at: &[BodyNodes], time: Reg, lam: &[Reg]) -> Option<Vec<ConstraintValues>> {
        let program = self.program;
        let mut row = 0;
        let mut out = Vec::new();
        for c in &program.constraints {
            for k in 0..c.family.table.count {
                out.push(self.constraint(c, k, row, (at, time), lam)?);
                row += c.rows;
            }
        }
        Some(out)
    }

    fn force(&mut self, f: &Force, k: usize, at: &[BodyNodes]) -> Option<ForceValues> {
        let instance = Instance::new(&mut self.g, &mut self.foreign, &f.family, k, &self.before)?;
        let values = instance.inline(&mut self.g, &mut self.foreign, f.newton.get(), at, &[])?;
        let (q, rest) = values.split_at(f.dim);
        let (q_q, q_v) = rest.split_at(9 * f.couplings.len());
        Some(ForceValues {
            columns: self.columns(instance.slots()),
            q: q.to_vec(),
            q_q: dense(&mut self.g, f.dim, &f.couplings, q_q),
            q_v: dense(&mut self.g, f.dim, &f.couplings, q_v),
        })
    }

    /// Forces with the gyroscopic ones.
    fn forces(&mut self, at: &[BodyNodes]) -> Option<Vec<ForceValues>> {
        let program = self.program;
        let mut out = Vec::new();
        for f in &program.forces {
            for k in 0..f.family.table.count {
                out.push(self.force(f, k, at)?);
            }
        }
        for (body, state) in self.bodies.iter().zip(at).filter(|(body, _)| body.is_rigid) {
            let g = &mut self.g;
            let omega: Vector = [state[15], state[16], state[17]];
            let (momentum, torque) = gyroscopic(g, body, &omega);
            let (spin, turn) = (skew(g, momentum), skew(g, omega));
            let carried = product(g, &turn, &body.inertia);
            let q_v = zip(g, Bin::Sub, &spin, &carried);
            let zero = g.num(0.0);
            out.push(ForceValues {
                columns: (body.dof + 3..body.dof + 6).collect(),
                q: torque.to_vec(),
                q_q: vec![zero; 9],
                q_v: q_v.to_vec(),
            });
        }
        Some(out)
    }

    /// `M`, entry by entry.
    fn mass(&mut self) -> Entries {
        let mut out = Entries::new();
        for body in &self.bodies {
            for k in 0..3 {
                out.insert((body.dof + k, body.dof + k), body.mass);
            }
            if body.is_rigid {
                for k in 0..9 {
                    out.insert((body.dof + 3 + k / 3, body.dof + 3 + k % 3), body.inertia[k]);
                }
            }
        }
        out
    }

    /// `M^-1`, entry by entry.
    pub(super) fn inverse_mass(&mut self) -> Entries {
        let mut out = Entries::new();
        for body in &self.bodies {
            let one = self.g.num(1.0);
            let inverse = self.g.div(one, body.mass);
            for k in 0..3 {
                out.insert((body.dof + k, body.dof + k), inverse);
            }
            if body.is_rigid {
                for k in 0..9 {
                    out.insert((body.dof + 3 + k / 3, body.dof + 3 + k % 3), body.inverse[k]);
                }
            }
        }
        out
    }

    /// `G v`
    fn weigh(&mut self, metric: Metric, v: Vec<Reg>) -> Vec<Reg> {
        match metric {
            Metric::Lagrangian => v,
            Metric::Hamiltonian => {
                let inverse = self.inverse_mass();
                times(self, &inverse, &v)
            }
        }
    }

    /// `d` times the columns of a body's attitude by its tangent operator: a row of a block times `H`.
    fn times_h(&mut self, row: &[Reg], columns: &[usize], tangents: &[Matrix3]) -> Vec<Reg> {
        let mut out = row.to_vec();
        for (body, tangent) in self.bodies.iter().zip(tangents).filter(|(body, _)| body.is_rigid) {
            for start in (0..columns.len()).filter(|&c| columns[c] == body.dof + 3) {
                for j in 0..3 {
                    let column = [tangent[j], tangent[3 + j], tangent[6 + j]];
                    out[start + j] = dot(&mut self.g, &row[start..start + 3], &column);
                }
            }
        }
        out
    }

    /// The unknowns, and everything at the state that they lead to.
    fn evaluate(&mut self, form: Form) -> Option<Iterate> {
        let (nv, nc) = (self.nv, self.nc);
        let is_stabilised = matches!(form, Form::Stabilised(_));
        let mut next = 0;
        let mut take = |count: usize| -> Vec<Reg> {
            next += count;
            (next - count..next).map(|k| self.g.load(Input::Iterate(number(k)))).collect()
        };
        let h = take(1)[0];
        let u = take(nv);
        let v = if is_stabilised { take(nv) } else { u.clone() };
        let lam = take(nc);
        let m = if is_stabilised { take(nc) } else { Vec::new() };
        let (mut at, mut tangents) = (Vec::new(), Vec::new());
        for body in 0..self.bodies.len() {
            let (dof, dim) = (self.bodies[body].dof, self.bodies[body].dim());
            let moved = self.moved(body, h, &u[dof..dof + dim]);
            at.push(after(&mut self.g, &moved.x, &moved.r, &v[dof..dof + dim]));
            tangents.push(moved.tangent);
        }
        let time = self.g.load(Input::Time);
        let constraints = self.constraints(&at, time, &lam)?;
        let forces = self.forces(&at)?;
        let mut q = vec![self.g.num(0.0); nv];
        for f in &forces {
            for (&k, &x) in f.columns.iter().zip(&f.q) {
                q[k] = self.g.add(q[k], x);
            }
        }
        let impulse = q.into_iter().map(|q| self.g.mul(h, q)).collect();
        let one = self.g.num(1.0);
        let rate = self.g.div(one, h);
        let gaps = constraints.iter().flat_map(|c| &c.phi).map(|&phi| self.g.mul(phi, rate)).collect();
        Some(Iterate { h, u, v, lam, m, at, tangents, constraints, forces, impulse, gaps })
    }

    /// The update of `y`, sizes, and the determinants of the constraints' pivots.
    pub(super) fn newton(&mut self, form: Form) -> Option<(Vec<Reg>, usize)> {
        let nv = self.nv;
        let y = self.evaluate(form)?;
        let Rows { rhs, by_displacement, by_velocity } = self.rows(form, &y);
        let mut matrix = Matrix::new(&mut self.g, rhs.len(), false);
        for (&(i, j), &x) in by_displacement.iter().chain(&by_velocity) {
            matrix.add(&mut self.g, i, j, x);
        }
        let sorted = self.sorted(&y.constraints);
        let mut groups = Vec::new();
        for body in &self.bodies {
            groups.extend((body.dof..body.dof + body.dim()).step_by(3).map(|k| (k..k + 3).collect::<Vec<_>>()));
        }
        groups.extend(sorted.iter().map(|rows| rows.iter().map(|r| nv + r).collect::<Vec<_>>()));
        let mut elimination = matrix.eliminate();
        elimination.unit_pairs(&mut self.g, nv..rhs.len(), 0..nv);
        let factors = elimination.groups(&mut self.g, &groups);
        let mut x = factors.solve(&mut self.g, &rhs);
        let mut pivots: Vec<Reg> = factors.pivots.iter().filter(|p| p.0 >= nv).map(|p| p.1).collect();

        let mut out = Vec::new();
        let (mut du, mut dm) = (x[..nv].to_vec(), Vec::new());
        if let Form::Stabilised(metric) = form {
            let (projection, b, w) = self.projection(metric, &y.constraints, &sorted);
            (du, dm) = self.correct(&y, &x[..nv], &projection, &b, &w, metric);
            pivots.extend(projection.pivots.iter().map(|p| p.1));
            let apart: Vec<Reg> = (0..nv).map(|k| self.g.sub(x[k], du[k])).collect();
            let mut seen = vec![self.g.num(0.0); rhs.len()];
            for (&(i, j), &factor) in &by_displacement {
                let term = self.g.mul(factor, apart[j]);
                seen[i] = self.g.add(seen[i], term);
            }
            for (x, dx) in x.iter_mut().zip(factors.solve(&mut self.g, &seen)) {
                *x = self.g.add(*x, dx);
            }
            out.extend(&du);
        }
        out.extend(&x);
        out.extend(dm);
        let sizes = self.sizes(&y, &du, &x[..nv]);
        out.extend(sizes);
        let count = pivots.len();
        out.extend(pivots);
        Some((out, count))
    }

    /// The equations of `(V, lam)`.
    fn rows(&mut self, form: Form, y: &Iterate) -> Rows {
        let nv = self.nv;
        let mut rhs = self.balance(y);
        let (mut by_displacement, mut by_velocity) = (Entries::new(), self.mass());
        for f in &y.forces {
            let width = f.columns.len();
            for (i, &row) in f.columns.iter().enumerate() {
                let by_q = self.times_h(&f.q_q[i * width..(i + 1) * width], &f.columns, &y.tangents);
                for (j, &column) in f.columns.iter().enumerate() {
                    let (of_q, of_v) = (self.g.mul(y.h, by_q[j]), self.g.mul(y.h, f.q_v[i * width + j]));
                    let of_q = self.g.mul(y.h, of_q);
                    let (of_q, of_v) = (self.g.neg(of_q), self.g.neg(of_v));
                    self.accumulate(&mut by_displacement, (row, column), of_q);
                    self.accumulate(&mut by_velocity, (row, column), of_v);
                }
            }
        }
        for c in &y.constraints {
            let width = c.columns.len();
            for (i, &row) in c.columns.iter().enumerate() {
                let stiffness = self.times_h(&c.k_lam[i * width..(i + 1) * width], &c.columns, &y.tangents);
                for (&column, &x) in c.columns.iter().zip(&stiffness) {
                    let x = self.g.mul(y.h, x);
                    self.accumulate(&mut by_displacement, (row, column), x);
                }
                for r in 0..c.rows {
                    self.accumulate(&mut by_velocity, (row, nv + c.row + r), c.b[r * width + i]);
                }
            }
            for (r, (b, turn)) in c.b.chunks(width).zip(c.bv_q.chunks(width)).enumerate() {
                let row = nv + c.row + r;
                if form == Form::Position {
                    rhs.push(self.g.neg(y.gaps[c.row + r]));
                    for (&column, x) in c.columns.iter().zip(self.times_h(b, &c.columns, &y.tangents)) {
                        self.accumulate(&mut by_displacement, (row, column), x);
                    }
                } else {
                    let v: Vec<Reg> = c.columns.iter().map(|&k| y.v[k]).collect();
                    let open = dot(&mut self.g, b, &v);
                    let open = self.g.add(open, c.phi_t[r]);
                    rhs.push(self.g.neg(open));
                    let turn = self.times_h(turn, &c.columns, &y.tangents);
                    for ((&column, &b), turn) in c.columns.iter().zip(b).zip(turn) {
                        let turn = self.g.mul(y.h, turn);
                        self.accumulate(&mut by_displacement, (row, column), turn);
                        self.accumulate(&mut by_velocity, (row, column), b);
                    }
                }
            }
        }
        Rows { rhs, by_displacement, by_velocity }
    }

    /// Adds to an entry; zeros are left out.
    fn accumulate(&mut self, entries: &mut Entries, place: (usize, usize), x: Reg) {
        if self.g.literal(x) != Some(0.0) {
            let sum = entries.get(&place).map_or(x, |&sum| self.g.add(sum, x));
            entries.insert(place, sum);
        }
    }

    /// Updates of `u` and `m` that close the positions, for an update of `V`.
    fn correct(
        &mut self,
        y: &Iterate,
        dv: &[Reg],
        projection: &Factors,
        b: &[Vec<Reg>],
        w: &[Vec<Reg>],
        metric: Metric,
    ) -> (Vec<Reg>, Vec<Reg>) {
        let push = self.transposed(&y.constraints, &y.m);
        let correction = self.weigh(metric, push);
        let mut du: Vec<Reg> = (0..self.nv)
            .map(|k| {
                let rest = self.g.sub(y.v[k], y.u[k]);
                let rest = self.g.sub(rest, correction[k]);
                self.g.add(dv[k], rest)
            })
            .collect();
        let mut turned = du.clone();
        for (body, tangent) in self.bodies.iter().zip(&y.tangents).filter(|(body, _)| body.is_rigid) {
            let at = body.dof + 3;
            let rotation = apply(&mut self.g, tangent, &[du[at], du[at + 1], du[at + 2]]);
            turned[at..at + 3].copy_from_slice(&rotation);
        }
        let mut open = Vec::new();
        for (row, &gap) in b.iter().zip(&y.gaps) {
            let rate = dot(&mut self.g, row, &turned);
            open.push(self.g.add(rate, gap));
        }
        let dm = projection.solve(&mut self.g, &open);
        for (k, du) in du.iter_mut().enumerate() {
            let column: Vec<Reg> = w.iter().map(|w| w[k]).collect();
            let back = dot(&mut self.g, &column, &dm);
            *du = self.g.sub(*du, back);
        }
        (du, dm)
    }

    /// `B` with all columns.
    pub(super) fn dense(&mut self, constraints: &[ConstraintValues]) -> Vec<Vec<Reg>> {
        let zero = self.g.num(0.0);
        let mut out = Vec::new();
        for c in constraints {
            for b in c.b.chunks(c.columns.len()) {
                let mut row = vec![zero; self.nv];
                for (&k, &x) in c.columns.iter().zip(b) {
                    row[k] = self.g.add(row[k], x);
                }
                out.push(row);
            }
        }
        out
    }

    /// `B W` eliminated, `B` and `W^T`.
    pub(super) fn projection(
        &mut self,
        metric: Metric,
        constraints: &[ConstraintValues],
        sorted: &[Vec<usize>],
    ) -> (Factors, Vec<Vec<Reg>>, Vec<Vec<Reg>>) {
        let b = self.dense(constraints);
        let w: Vec<Vec<Reg>> = b.iter().map(|row| self.weigh(metric, row.clone())).collect();
        let mut matrix = Matrix::new(&mut self.g, b.len(), true);
        for (i, b) in b.iter().enumerate() {
            for (j, w) in w.iter().enumerate().skip(i) {
                let x = dot(&mut self.g, b, w);
                matrix.add(&mut self.g, i, j, x);
            }
        }
        (matrix.eliminate().groups(&mut self.g, sorted), b, w)
    }

    /// Rows of the constraints in the order of elimination.
    pub(super) fn sorted(&self, constraints: &[ConstraintValues]) -> Vec<Vec<usize>> {
        let columns: Vec<_> = constraints.iter().map(|c| c.columns.clone()).collect();
        let rows =
            |number: usize| (constraints[number].row..constraints[number].row + constraints[number].rows).collect();
        order(&columns).into_iter().map(rows).collect()
    }

    /// `B^T lam`
    pub(super) fn transposed(&mut self, constraints: &[ConstraintValues], lam: &[Reg]) -> Vec<Reg> {
        let mut out = vec![self.g.num(0.0); self.nv];
        for c in constraints {
            let width = c.columns.len();
            for (j, &k) in c.columns.iter().enumerate() {
                let column: Vec<Reg> = (0..c.rows).map(|r| c.b[r * width + j]).collect();
                let sum = dot(&mut self.g, &column, &lam[c.row..c.row + c.rows]);
                out[k] = self.g.add(out[k], sum);
            }
        }
        out
    }

    /// `h Q - M (V - V0) - B^T lam`
    fn balance(&mut self, y: &Iterate) -> Vec<Reg> {
        let mut change = Vec::with_capacity(self.nv);
        for (body, before) in self.bodies.iter().zip(&self.before) {
            for k in 0..body.dim() {
                change.push(self.g.sub(y.v[body.dof + k], before[12 + k]));
            }
        }
        let mass = self.mass();
        let momentum = times(self, &mass, &change);
        let joints = self.transposed(&y.constraints, &y.lam);
        (0..self.nv)
            .map(|k| {
                let rest = self.g.sub(y.impulse[k], momentum[k]);
                self.g.sub(rest, joints[k])
            })
            .collect()
    }

    /// Squares of sizes, in the order of [`SIZES`].
    fn sizes(&mut self, y: &Iterate, du: &[Reg], dv: &[Reg]) -> [Reg; SIZES] {
        let apart: Vec<Reg> = du.iter().zip(dv).map(|(&du, &dv)| self.g.sub(du, dv)).collect();
        let g = &mut self.g;
        let mut sums = [g.num(0.0); SIZES];
        for (body, state) in self.bodies.iter().zip(&y.at) {
            let one = g.num(1.0);
            // Squares of the radius of gyration and of the mass.
            let radius = if body.is_rigid { radius_squared(g, body) } else { g.num(0.0) };
            let mass = g.mul(body.mass, body.mass);
            let lightness = g.div(one, mass);
            let turning = if body.is_rigid { g.div(lightness, radius) } else { one };
            let mut size = |x: &[Reg], translation: Reg, rotation: Reg| {
                let mut square = |k: usize| dot(g, &x[k..k + 3], &x[k..k + 3]);
                let first = square(body.dof);
                let second = if body.is_rigid { square(body.dof + 3) } else { first };
                let first = g.mul(translation, first);
                if !body.is_rigid {
                    return first;
                }
                let second = g.mul(rotation, second);
                g.add(first, second)
            };
            let (of_u, of_v) = (size(du, one, radius), size(dv, one, radius));
            let (speed, push) = (size(&y.v, one, radius), size(&y.impulse, lightness, turning));
            let of_apart = size(&apart, one, radius);
            let spin = if body.is_rigid { dot(g, &state[15..], &state[15..]) } else { g.num(0.0) };
            let distance = dot(g, &state[..3], &state[..3]);
            let (speed, extent) = (g.add(speed, push), g.add(distance, radius));
            for (sum, x) in sums.iter_mut().zip([of_u, of_v, speed, extent, of_apart, spin]) {
                *sum = g.add(*sum, x);
            }
        }
        sums
    }

    /// `gamma` at positions and velocities.
    pub(super) fn convective(&mut self, at: &[BodyNodes]) -> Option<Vec<Reg>> {
        let program = self.program;
        let mut out = Vec::new();
        for c in &program.constraints {
            for k in 0..c.family.table.count {
                let instance = Instance::new(&mut self.g, &mut self.foreign, &c.family, k, &self.before)?;
                out.extend(instance.inline(&mut self.g, &mut self.foreign, c.convective.get(), at, &[])?);
            }
        }
        Some(out)
    }

    /// `A + W nu` with `B (A + W nu) + gamma = 0`, from `A` and the state at the end of the step.
    pub(super) fn accelerate(&mut self, metric: Metric) -> Option<Vec<Reg>> {
        let (nv, nc) = (self.nv, self.nc);
        let a: Vec<Reg> = (0..nv).map(|k| self.iterate(k)).collect();
        let at = self.before.clone();
        let none = vec![self.g.num(0.0); nc];
        let time = self.g.load(Input::Time);
        let constraints = self.constraints(&at, time, &none)?;
        let gamma = self.convective(&at)?;
        let sorted = self.sorted(&constraints);
        let (projection, b, w) = self.projection(metric, &constraints, &sorted);
        let mut open = Vec::new();
        for (row, &gamma) in b.iter().zip(&gamma) {
            let rate = dot(&mut self.g, row, &a);
            let sum = self.g.add(rate, gamma);
            open.push(self.g.neg(sum));
        }
        let nu = projection.solve(&mut self.g, &open);
        let corrected = a.iter().enumerate().map(|(k, &a)| {
            let column: Vec<Reg> = w.iter().map(|w| w[k]).collect();
            let correction = dot(&mut self.g, &column, &nu);
            self.g.add(a, correction)
        });
        Some(corrected.collect())
    }
}

/// Momentum and torque of a turning body: `J Omega`, `J Omega x Omega`.
pub(super) fn gyroscopic(g: &mut Graph, body: &Body, omega: &Vector) -> (Vector, Vector) {
    let momentum = apply(g, &body.inertia, omega);
    let torque = cross(g, &momentum, omega);
    (momentum, torque)
}

/// Square of the radius of gyration of a rigid body.
pub(super) fn radius_squared(g: &mut Graph, body: &Body) -> Reg {
    let half = g.num(0.5);
    let trace = g.add(body.inertia[0], body.inertia[4]);
    let trace = g.add(trace, body.inertia[8]);
    let trace = g.mul(half, trace);
    g.div(trace, body.mass)
}

/// A sparse matrix times a vector.
pub(super) fn times(unroller: &mut Unroller<'_>, matrix: &Entries, v: &[Reg]) -> Vec<Reg> {
    let mut out = vec![unroller.g.num(0.0); v.len()];
    for (&(i, j), &x) in matrix {
        let term = unroller.g.mul(x, v[j]);
        out[i] = unroller.g.add(out[i], term);
    }
    out
}

/// Constraints, given by the velocities that they see, in the order of elimination: always one that shares bodies with
/// fewest of those that are left.
fn order(columns: &[Vec<usize>]) -> Vec<usize> {
    let shares = |a: &[usize], b: &[usize]| a.iter().any(|k| b.contains(k));
    let mut neighbours: Vec<BTreeSet<usize>> = columns
        .iter()
        .enumerate()
        .map(|(i, a)| (0..columns.len()).filter(|&j| j != i && shares(a, &columns[j])).collect())
        .collect();
    let mut left: BTreeSet<usize> = (0..columns.len()).collect();
    let mut out = Vec::new();
    while let Some(&next) = left.iter().min_by_key(|&&k| neighbours[k].len()) {
        left.remove(&next);
        out.push(next);
        let around = std::mem::take(&mut neighbours[next]);
        for &k in &around {
            neighbours[k].remove(&next);
            neighbours[k].extend(around.iter().filter(|&&j| j != k));
        }
    }
    out
}

/// A square block, row by row, of its stored parts.
fn dense(g: &mut Graph, dim: usize, couplings: &[Coupling], parts: &[Reg]) -> Vec<Reg> {
    let mut out = vec![g.num(0.0); dim * dim];
    for (&[row, col], part) in couplings.iter().zip(parts.as_chunks::<9>().0) {
        for (k, &x) in part.iter().enumerate() {
            out[(3 * row as usize + k / 3) * dim + 3 * col as usize + k % 3] = x;
        }
    }
    out
}
