//! The single pendulum: one rigid body on a ball joint, `Phi = x + R X`.
//!
//! Translations and multipliers are eliminated, so that three equations for the rotation are left. With `S = skew(X)`,
//! `K = h S skew(R^T lam) T`, `D = J + h (skew(w) J - skew(J w)) + K`, in body axes (`R^T` before translations):
//!
//! ```text
//! dae3l_le:   (D - m S^2 T) dw              = r_w - X x (r_v + m Phi/h)
//! dae1l_lse:  (D - m S (S + C)) dw          = r_w - X x (r_v + m r_b),   C = h skew(w x X) T
//!             (I - S^2) dm                  = v + dv - u - m + Phi/h + ...
//! ```
//!
//! The stabilised method then closes the positions by three symmetric equations, and solves the first ones once more for what
//! that does to the velocities.

use nalgebra::SVector;

use super::{Contraction, History, LIMIT, M3, POLISH_EVERY, Turn, V3, inverse, polished, skew};

/// A rigid body on a ball joint at the origin, with its state and the multipliers of the last step.
#[derive(Clone, Debug)]
pub struct Pendulum {
    mass: f64,
    inertia: M3,
    gravity: V3,
    /// The pivot in the body, `X`.
    arm: V3,
    skew_arm: M3,
    /// `(I - S^2)^-1 = (B B^T)^-1` in body axes.
    projection: M3,
    /// Square of the radius of gyration.
    gyration: f64,
    /// Centre of mass, m.
    pub x: V3,
    /// Rotation.
    pub r: M3,
    /// Velocity of the centre of mass, m/s.
    pub v: V3,
    /// Angular velocity in body axes, rad/s.
    pub w: V3,
    /// Force of the joint, N.
    pub lambda: V3,
    /// Accelerations of the last step, m/s^2 and rad/s^2.
    pub acceleration: [V3; 2],
    position: History<9>,
    stabilised: History<18>,
    contraction: Contraction,
    steps: u64,
}

/// Number `k` of the vectors that unknowns consist of.
#[inline(always)]
fn part<const N: usize>(y: &SVector<f64, N>, k: usize) -> V3 {
    V3::new(y[3 * k], y[3 * k + 1], y[3 * k + 2])
}

/// Vectors as unknowns.
#[inline(always)]
fn join<const N: usize>(parts: &[V3]) -> SVector<f64, N> {
    let mut y = SVector::<f64, N>::zeros();
    for (k, part) in parts.iter().enumerate() {
        y.fixed_rows_mut::<3>(3 * k).copy_from(part);
    }
    y
}

impl Pendulum {
    /// A pendulum with its arm and what it starts from; the position follows from the rotation.
    pub fn new(mass: f64, inertia: M3, arm: V3, gravity: V3, r: M3, w: V3) -> Self {
        let skew_arm = skew(&arm);
        Self {
            mass,
            inertia,
            gravity,
            arm,
            skew_arm,
            projection: inverse(&(M3::identity() - skew_arm * skew_arm)),
            gyration: 0.5 * inertia.trace() / mass,
            x: -(r * arm),
            r,
            v: r * arm.cross(&w),
            w,
            lambda: V3::zeros(),
            acceleration: [V3::zeros(); 2],
            position: History::default(),
            stabilised: History::default(),
            contraction: Contraction::default(),
            steps: 0,
        }
    }

    fn start(&mut self) {
        if (self.steps + 1).is_multiple_of(POLISH_EVERY) {
            self.r = polished(&self.r);
        }
    }

    /// Square of the size of a velocity.
    #[inline(always)]
    fn size(&self, v: &V3, w: &V3) -> f64 {
        v.norm_squared() + w.norm_squared() * self.gyration
    }

    /// One step of `dae3l_le`; returns the number of iterations.
    pub fn dae3l_le(&mut self, h: f64) -> usize {
        self.start();
        let mut y: SVector<f64, 9> = self.position.predict(|| join(&[self.v, self.w]));
        let (mut count, mut last) = (0, 0.0);
        loop {
            let (v, w, lam) = (part(&y, 0), part(&y, 1), part(&y, 2));
            let turn = Turn::new(&(w * h));
            let r = self.r + self.r * turn.increment;
            let x = self.x + v * h;
            let lam_b = r.tr_mul(&lam);
            let jw = self.inertia * w;
            let r_v = (self.gravity * h - (v - self.v)) * self.mass - lam;
            let r_w = jw.cross(&w) * h - self.inertia * (w - self.w) - self.arm.cross(&lam_b);
            let gap = (x + r * self.arm) * (1.0 / h);
            let stiffness =
                (self.skew_arm * skew(&lam_b) * h - self.skew_arm * self.skew_arm * self.mass) * turn.tangent;
            let d = self.inertia + (skew(&w) * self.inertia - skew(&jw)) * h + stiffness;
            let dw = inverse(&d) * (r_w - self.arm.cross(&r.tr_mul(&(r_v + gap * self.mass))));
            let dv = r * self.arm.cross(&(turn.tangent * dw)) - gap;
            let dlam = r_v - dv * self.mass;
            y += join::<9>(&[dv, dw, dlam]);
            count += 1;
            let noise = self.size(&v, &w) + (x.norm_squared() + self.gyration) / (h * h);
            let units = self.size(&dv, &dw) / (f64::EPSILON * f64::EPSILON * noise);
            if self.contraction.is_enough(count, units, last) {
                break;
            }
            assert!(units.is_finite() && count < LIMIT, "the iteration does not converge");
            last = units;
        }
        self.position.push(&y);
        let (v, w) = (part(&y, 0), part(&y, 1));
        self.finish(&v, &w, &v, &w, &part(&y, 2), h);
        count
    }

    /// One step of `dae1l_lse`; returns the number of iterations.
    pub fn dae1l_lse(&mut self, h: f64) -> usize {
        self.start();
        let mut y: SVector<f64, 18> = self.stabilised.predict(|| join(&[self.v, self.w, self.v, self.w]));
        let (mut count, mut last) = (0, 0.0);
        loop {
            let [u, a, v, w, lam, m] = [0, 1, 2, 3, 4, 5].map(|k| part(&y, k));
            let turn = Turn::new(&(a * h));
            let r = self.r + self.r * turn.increment;
            let x = self.x + u * h;
            let lam_b = r.tr_mul(&lam);
            let jw = self.inertia * w;
            let swing = w.cross(&self.arm);
            let r_v = (self.gravity * h - (v - self.v)) * self.mass - lam;
            let r_w = jw.cross(&w) * h - self.inertia * (w - self.w) - self.arm.cross(&lam_b);
            let gap = (x + r * self.arm) * (1.0 / h);
            let open = v + r * swing;
            let carried = skew(&swing) * turn.tangent * h;
            let stiffness = self.skew_arm * skew(&lam_b) * turn.tangent * h;
            let d = self.inertia + (skew(&w) * self.inertia - skew(&jw)) * h + stiffness
                - self.skew_arm * (self.skew_arm + carried) * self.mass;
            let d = inverse(&d);
            let mut dw = d * (r_w - self.arm.cross(&r.tr_mul(&(r_v + open * self.mass))));
            let mut dv = r * (self.arm.cross(&dw) + carried * dw) - open;

            // u = V - B^T m closes the positions.
            let sum_u = dv + v - u - m;
            let sum_a = dw + w - a - self.arm.cross(&r.tr_mul(&m));
            let gap = r.tr_mul(&(sum_u + gap)) - self.arm.cross(&(turn.tangent * sum_a));
            let dm_b = self.projection * gap;
            let dm = r * dm_b;
            let (du, da) = (sum_u - dm, sum_a - self.arm.cross(&dm_b));

            let apart = dw - da;
            let of_rows = carried * apart;
            let again = d * (stiffness * apart - self.skew_arm * of_rows * self.mass);
            dw += again;
            dv += r * (self.arm.cross(&again) + carried * again - of_rows);
            let dlam = r_v - dv * self.mass;
            y += join::<18>(&[du, da, dv, dw, dlam, dm]);
            count += 1;
            const EPSILON: f64 = f64::EPSILON * f64::EPSILON;
            let (speed, drift) = (self.size(&v, &w), (x.norm_squared() + self.gyration) / (h * h));
            let units = self.size(&du, &da) / (EPSILON * (speed + drift))
                + self.size(&dv, &dw) / (EPSILON * (speed + 1e-6 * drift));
            if self.contraction.is_enough(count, units, last) {
                break;
            }
            assert!(units.is_finite() && count < LIMIT, "the iteration does not converge");
            last = units;
        }
        self.stabilised.push(&y);
        let [u, a, v, w, lam] = [0, 1, 2, 3, 4].map(|k| part(&y, k));
        self.finish(&u, &a, &v, &w, &lam, h);
        // A = (V1 - V0)/h + B^T nu with B A + R (w x (w x X)) = 0, in body axes.
        let [of_v, of_w] = self.acceleration;
        let open = self.r.tr_mul(&of_v) + of_w.cross(&self.arm) + w.cross(&w.cross(&self.arm));
        let nu = -(self.projection * open);
        self.acceleration = [of_v + self.r * nu, of_w + self.arm.cross(&nu)];
        count
    }

    #[inline(always)]
    fn finish(&mut self, u: &V3, a: &V3, v: &V3, w: &V3, lam: &V3, h: f64) {
        self.x += u * h;
        self.r += self.r * Turn::new(&(a * h)).increment;
        self.acceleration = [(v - self.v) * (1.0 / h), (w - self.w) * (1.0 / h)];
        (self.v, self.w, self.lambda) = (*v, *w, lam * (1.0 / h));
        self.steps += 1;
    }
}
