//! The double pendulum stepped by code written for it alone: two rigid bodies, a ball joint to the ground, a ball joint between.
//!
//! `Phi_1 = x_1 + R_1 a_1`, `Phi_2 = x_2 + R_2 a_2 - x_1 - R_1 b`. With `P = -R S(arm)` the Jacobians by the rotations, the
//! bodies' matrices `D_i = J_i + h G_i + h K_i T_i` and the translations are eliminated on paper; six equations for
//! the impulses are left, solved by two blocks of three. The stabilised method solves the velocities with the impulses
//! first, then six symmetric equations for the corrections, then the velocities once more for what the corrections did.

use nalgebra::{SMatrix, SVector};

use super::{Contraction, History, LIMIT, M3, POLISH_EVERY, Turn, V3, inverse, polished, skew};

/// One of the bodies: its constants and state.
#[derive(Clone, Copy, Debug)]
pub struct Rod {
    /// Mass, kg.
    pub mass: f64,
    /// Inertia, kg m^2.
    pub inertia: M3,
    /// Centre of mass, m.
    pub x: V3,
    /// Rotation.
    pub r: M3,
    /// Velocity, m/s.
    pub v: V3,
    /// Angular velocity in body axes, rad/s.
    pub w: V3,
}

/// Two rods with their joints.
#[derive(Clone, Debug)]
pub struct DoublePendulum {
    /// The bodies, from the ground.
    pub rods: [Rod; 2],
    gravity: V3,
    near: [V3; 2],
    far: V3,
    /// Forces of the joints, N.
    pub lambda: [V3; 2],
    /// Accelerations.
    pub acceleration: [[V3; 2]; 2],
    position: History<18>,
    stabilised: History<36>,
    contraction: Contraction,
    steps: u64,
}

/// A body where the iterate leads it.
#[derive(Clone, Copy)]
struct At {
    x: V3,
    r: M3,
    t: M3,
    /// `-R S(arm)` of the near and the far joint.
    p: [M3; 2],
}

/// Velocities and impulses as an update or an iterate.
#[derive(Clone, Copy)]
struct Motion {
    v: [V3; 2],
    w: [V3; 2],
    lam: [V3; 2],
}

/// What the velocity level needs of a factored matrix.
struct Factors {
    /// `D^-1` of the rotations.
    d: [M3; 2],
    /// Jacobians by rotations as they multiply updates.
    left: [M3; 3],
    /// `D^-1 P^T`.
    right: [M3; 3],
    s: Blocks,
}

/// Two by two blocks, eliminated.
struct Blocks {
    first: M3,
    upper: M3,
    lower: M3,
    second: M3,
}

impl Blocks {
    #[inline(always)]
    fn new(a: M3, b: M3, c: M3, d: M3) -> Self {
        let first = inverse(&a);
        let upper = first * b;
        Self { first, upper, lower: c, second: inverse(&(d - c * upper)) }
    }

    #[inline(always)]
    fn solve(&self, f: [V3; 2]) -> [V3; 2] {
        let x = self.first * f[0];
        let y = self.second * (f[1] - self.lower * x);
        [x - self.upper * y, y]
    }
}

impl DoublePendulum {
    /// A double pendulum from its bodies, which must be where the joints hold them.
    pub fn new(rods: [Rod; 2], near: [V3; 2], far: V3, gravity: V3) -> Self {
        Self {
            rods,
            gravity,
            near,
            far,
            lambda: [V3::zeros(); 2],
            acceleration: [[V3::zeros(); 2]; 2],
            position: History::default(),
            stabilised: History::default(),
            contraction: Contraction::default(),
            steps: 0,
        }
    }

    fn start(&mut self) {
        if (self.steps + 1).is_multiple_of(POLISH_EVERY) {
            self.rods.iter_mut().for_each(|rod| rod.r = polished(&rod.r));
        }
    }

    #[inline(always)]
    fn at(&self, u: &[V3; 2], a: &[V3; 2], h: f64) -> [At; 2] {
        [0, 1].map(|i| {
            let rod = &self.rods[i];
            let turn = Turn::new(&(a[i] * h));
            let r = rod.r + rod.r * turn.increment;
            let p = [-(r * skew(&self.near[i])), -(r * skew(&self.far))];
            At { x: rod.x + u[i] * h, r, t: turn.tangent, p }
        })
    }

    #[inline(always)]
    fn residual(&self, at: &[At; 2]) -> [V3; 2] {
        let [a, b] = at;
        [a.x + a.r * self.near[0], b.x + b.r * self.near[1] - a.x - a.r * self.far]
    }

    /// `h Q - M (V - V0) - B^T lam` for translations and rotations, and `D`.
    #[inline(always)]
    fn dynamics(&self, at: &[At; 2], y: &Motion, h: f64) -> ([V3; 2], [V3; 2], [M3; 2], [M3; 2]) {
        let push = [y.lam[0] - y.lam[1], y.lam[1]];
        let mut of_v = [V3::zeros(); 2];
        let mut of_w = [V3::zeros(); 2];
        let mut d = [M3::zeros(); 2];
        let mut stiffness = [M3::zeros(); 2];
        for i in 0..2 {
            let (rod, w) = (&self.rods[i], &y.w[i]);
            let jw = rod.inertia * w;
            of_v[i] = (self.gravity * h - (y.v[i] - rod.v)) * rod.mass - push[i];
            let near = at[i].r.tr_mul(&y.lam[i]);
            let mut torque = self.near[i].cross(&near);
            let mut k = skew(&self.near[i]) * skew(&near);
            if i == 0 {
                let far = at[0].r.tr_mul(&y.lam[1]);
                torque -= self.far.cross(&far);
                k -= skew(&self.far) * skew(&far);
            }
            of_w[i] = jw.cross(w) * h - rod.inertia * (w - rod.w) - torque;
            stiffness[i] = k * at[i].t * h;
            d[i] = rod.inertia + (skew(w) * rod.inertia - skew(&jw)) * h + stiffness[i];
        }
        (of_v, of_w, d, stiffness)
    }

    /// Eliminates the bodies: `left` are the Jacobians by rotations of joint 1, of joint 2 at body 1 and at body 2.
    #[inline(always)]
    fn factor(&self, at: &[At; 2], d: &[M3; 2], left: [M3; 3]) -> Factors {
        let d = [inverse(&d[0]), inverse(&d[1])];
        let right = [d[0] * at[0].p[0].transpose(), d[0] * at[0].p[1].transpose(), d[1] * at[1].p[0].transpose()];
        let light =
            [M3::from_diagonal_element(1.0 / self.rods[0].mass), M3::from_diagonal_element(1.0 / self.rods[1].mass)];
        let s = Blocks::new(
            light[0] + left[0] * right[0],
            -(light[0] + left[0] * right[1]),
            -(light[0] + left[1] * right[0]),
            light[0] + light[1] + left[1] * right[1] + left[2] * right[2],
        );
        Factors { d, left, right, s }
    }

    /// Solves for velocities and impulses.
    #[inline(always)]
    fn solve(&self, f: &Factors, of_v: &[V3; 2], of_w: &[V3; 2], of_rows: &[V3; 2]) -> Motion {
        let free_v = [of_v[0] / self.rods[0].mass, of_v[1] / self.rods[1].mass];
        let free_w = [f.d[0] * of_w[0], f.d[1] * of_w[1]];
        let open = [
            free_v[0] + f.left[0] * free_w[0] - of_rows[0],
            free_v[1] + f.left[2] * free_w[1] - free_v[0] - f.left[1] * free_w[0] - of_rows[1],
        ];
        let lam = f.s.solve(open);
        let v = [free_v[0] - (lam[0] - lam[1]) / self.rods[0].mass, free_v[1] - lam[1] / self.rods[1].mass];
        let w = [free_w[0] - f.right[0] * lam[0] + f.right[1] * lam[1], free_w[1] - f.right[2] * lam[1]];
        Motion { v, w, lam }
    }

    /// Square of the size of a velocity.
    #[inline(always)]
    fn size(&self, v: &[V3; 2], w: &[V3; 2]) -> f64 {
        let of = |i: usize| {
            let rod = &self.rods[i];
            v[i].norm_squared() + w[i].norm_squared() * (0.5 * rod.inertia.trace() / rod.mass)
        };
        of(0) + of(1)
    }

    /// Square of the extent of the model.
    #[inline(always)]
    fn extent(&self, at: &[At; 2]) -> f64 {
        let of = |i: usize| at[i].x.norm_squared() + 0.5 * self.rods[i].inertia.trace() / self.rods[i].mass;
        of(0) + of(1)
    }

    #[inline(always)]
    fn finish(&mut self, u: &[V3; 2], a: &[V3; 2], y: &Motion, h: f64) {
        let at = self.at(u, a, h);
        for (i, at) in at.iter().enumerate() {
            let rod = &mut self.rods[i];
            self.acceleration[i] = [(y.v[i] - rod.v) * (1.0 / h), (y.w[i] - rod.w) * (1.0 / h)];
            (rod.x, rod.r, rod.v, rod.w) = (at.x, at.r, y.v[i], y.w[i]);
        }
        self.lambda = y.lam.map(|l| l * (1.0 / h));
        self.steps += 1;
    }

    /// One step of `dae3l_le`; returns the number of iterations.
    pub fn dae3l_le(&mut self, h: f64) -> usize {
        self.start();
        let mut y = self.position.predict(|| pack(&self.motion()));
        let mut count = 0;
        let mut last = 0.0;
        loop {
            let m = unpack(&y, 0);
            let at = self.at(&m.v, &m.w, h);
            let phi = self.residual(&at);
            let (of_v, of_w, d, _) = self.dynamics(&at, &m, h);
            let left = [at[0].p[0] * at[0].t, at[0].p[1] * at[0].t, at[1].p[0] * at[1].t];
            let f = self.factor(&at, &d, left);
            let step = self.solve(&f, &of_v, &of_w, &phi.map(|phi| phi * (-1.0 / h)));
            y += pack(&step);
            count += 1;
            let noise = self.size(&m.v, &m.w) + self.extent(&at) / (h * h);
            let units = self.size(&step.v, &step.w) / (f64::EPSILON * f64::EPSILON * noise);
            if self.contraction.is_enough(count, units, last) {
                break;
            }
            assert!(units.is_finite() && count < LIMIT, "the iteration does not converge");
            last = units;
        }
        self.position.push(&y);
        let m = unpack(&y, 0);
        self.finish(&m.v, &m.w, &m, h);
        count
    }

    /// One step of `dae1l_lse`; returns the number of iterations.
    pub fn dae1l_lse(&mut self, h: f64) -> usize {
        self.start();
        let mut y = self.stabilised.predict(|| {
            let m = pack(&self.motion());
            let mut y = SVector::<f64, 36>::zeros();
            y.fixed_rows_mut::<12>(0).copy_from(&m.fixed_rows::<12>(0));
            y.fixed_rows_mut::<18>(12).copy_from(&m);
            y
        });
        let mut count = 0;
        let mut last = 0.0;
        loop {
            let u = [0, 6].map(|k| V3::new(y[k], y[k + 1], y[k + 2]));
            let a = [3, 9].map(|k| V3::new(y[k], y[k + 1], y[k + 2]));
            let m = unpack(&y, 12);
            let mu = [30, 33].map(|k| V3::new(y[k], y[k + 1], y[k + 2]));
            let at = self.at(&u, &a, h);
            let phi = self.residual(&at);
            let (of_v, of_w, d, stiffness) = self.dynamics(&at, &m, h);
            // Velocities of the joints' points, and what a turn makes of them in the step.
            let swing = [m.w[0].cross(&self.near[0]), m.w[0].cross(&self.far), m.w[1].cross(&self.near[1])];
            let turned = [
                at[0].r * skew(&swing[0]) * at[0].t * (-h),
                at[0].r * skew(&swing[1]) * at[0].t * (-h),
                at[1].r * skew(&swing[2]) * at[1].t * (-h),
            ];
            let rate = [m.v[0] + at[0].r * swing[0], m.v[1] + at[1].r * swing[2] - m.v[0] - at[0].r * swing[1]];
            let left = [at[0].p[0] + turned[0], at[0].p[1] + turned[1], at[1].p[0] + turned[2]];
            let f = self.factor(&at, &d, left);
            let mut step = self.solve(&f, &of_v, &of_w, &rate.map(|r| -r));

            let sum_v = [step.v[0] + m.v[0] - u[0] - (mu[0] - mu[1]), step.v[1] + m.v[1] - u[1] - mu[1]];
            let sum_w = [
                step.w[0] + m.w[0] - a[0] - (at[0].p[0].tr_mul(&mu[0]) - at[0].p[1].tr_mul(&mu[1])),
                step.w[1] + m.w[1] - a[1] - at[1].p[0].tr_mul(&mu[1]),
            ];
            let turn = [at[0].t * sum_w[0], at[1].t * sum_w[1]];
            let open = [
                sum_v[0] + at[0].p[0] * turn[0] + phi[0] * (1.0 / h),
                sum_v[1] + at[1].p[0] * turn[1] - sum_v[0] - at[0].p[1] * turn[0] + phi[1] * (1.0 / h),
            ];
            let dm = projection(&at).solve(open);
            let du = [sum_v[0] - (dm[0] - dm[1]), sum_v[1] - dm[1]];
            let da = [
                sum_w[0] - (at[0].p[0].tr_mul(&dm[0]) - at[0].p[1].tr_mul(&dm[1])),
                sum_w[1] - at[1].p[0].tr_mul(&dm[1]),
            ];
            // What the corrections do to the velocities.
            let apart = [step.w[0] - da[0], step.w[1] - da[1]];
            let again = self.solve(
                &f,
                &[V3::zeros(); 2],
                &[stiffness[0] * apart[0], stiffness[1] * apart[1]],
                &[turned[0] * apart[0], turned[2] * apart[1] - turned[1] * apart[0]],
            );
            for i in 0..2 {
                step.v[i] += again.v[i];
                step.w[i] += again.w[i];
                step.lam[i] += again.lam[i];
            }
            let mut update = SVector::<f64, 36>::zeros();
            for i in 0..2 {
                update.fixed_rows_mut::<3>(6 * i).copy_from(&du[i]);
                update.fixed_rows_mut::<3>(6 * i + 3).copy_from(&da[i]);
                update.fixed_rows_mut::<3>(30 + 3 * i).copy_from(&dm[i]);
            }
            update.fixed_rows_mut::<18>(12).copy_from(&pack(&step));
            y += update;
            count += 1;
            let (speed, drift) = (self.size(&m.v, &m.w), self.extent(&at) / (h * h));
            const EPSILON: f64 = f64::EPSILON * f64::EPSILON;
            let units = self.size(&du, &da) / (EPSILON * (speed + drift))
                + self.size(&step.v, &step.w) / (EPSILON * (speed + 1e-6 * drift));
            if self.contraction.is_enough(count, units, last) {
                break;
            }
            assert!(units.is_finite() && count < LIMIT, "the iteration does not converge");
            last = units;
        }
        self.stabilised.push(&y);
        let u = [0, 6].map(|k| V3::new(y[k], y[k + 1], y[k + 2]));
        let a = [3, 9].map(|k| V3::new(y[k], y[k + 1], y[k + 2]));
        self.finish(&u, &a, &unpack(&y, 12), h);
        self.accelerate();
        count
    }

    /// `A + B^T nu` with `B A + gamma = 0`.
    #[inline(always)]
    fn accelerate(&mut self) {
        let at = [0, 1].map(|i| {
            let rod = &self.rods[i];
            At {
                x: rod.x,
                r: rod.r,
                t: M3::identity(),
                p: [-(rod.r * skew(&self.near[i])), -(rod.r * skew(&self.far))],
            }
        });
        let [[a1, b1], [a2, b2]] = self.acceleration;
        let (w1, w2) = (self.rods[0].w, self.rods[1].w);
        let point = |i: usize, w: &V3, b: &V3, arm: &V3| at[i].r * (b.cross(arm) + w.cross(&w.cross(arm)));
        let near = a1 + point(0, &w1, &b1, &self.near[0]);
        let elbow = a2 + point(1, &w2, &b2, &self.near[1]) - a1 - point(0, &w1, &b1, &self.far);
        let nu = projection(&at).solve([-near, -elbow]);
        self.acceleration = [
            [a1 + nu[0] - nu[1], b1 + at[0].p[0].tr_mul(&nu[0]) - at[0].p[1].tr_mul(&nu[1])],
            [a2 + nu[1], b2 + at[1].p[0].tr_mul(&nu[1])],
        ];
    }

    fn motion(&self) -> Motion {
        let [a, b] = &self.rods;
        Motion { v: [a.v, b.v], w: [a.w, b.w], lam: [V3::zeros(); 2] }
    }
}

/// `B B^T`, eliminated.
#[inline(always)]
fn projection(at: &[At; 2]) -> Blocks {
    let (one, [p, q], r) = (M3::identity(), at[0].p, at[1].p[0]);
    let cross = one + p * q.transpose();
    Blocks::new(one + p * p.transpose(), -cross, -cross.transpose(), one * 2.0 + q * q.transpose() + r * r.transpose())
}

/// `v_1, w_1, v_2, w_2, lam_1, lam_2`
#[inline(always)]
fn pack(m: &Motion) -> SVector<f64, 18> {
    let all: SMatrix<f64, 3, 6> = SMatrix::from_columns(&[m.v[0], m.w[0], m.v[1], m.w[1], m.lam[0], m.lam[1]]);
    SVector::from_column_slice(all.as_slice())
}

#[inline(always)]
fn unpack<const N: usize>(y: &SVector<f64, N>, first: usize) -> Motion {
    let at = |k: usize| V3::new(y[first + k], y[first + k + 1], y[first + k + 2]);
    Motion { v: [at(0), at(6)], w: [at(3), at(9)], lam: [at(12), at(15)] }
}
