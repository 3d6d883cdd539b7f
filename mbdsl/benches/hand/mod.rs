//! The single pendulum stepped by code written for it alone: what the interpreter is measured against.
//!
//! Two methods of the Euler family for one rigid body on a ball joint, `Phi = x + R X`. Everything has a static size.
//! The Newton system is the exact one, tangent operator included; the translations and the multipliers are eliminated
//! on paper, so that three equations for the rotation are left. With `S = skew(X)`, `K(l) = S skew(R^T l)`,
//! `G = skew(Omega) J - skew(J Omega)`, `T` the tangent operator at the increment of rotation:
//!
//! ```text
//! dae3l_le:   (J + h G + (h K(lam) - m S^2) T) dw = -r_w + X x R^T (r_v - m r_phi)
//! dae1l_lse:  (I + (K(mu) - S^2 + h S skew(w x X)) T) a - (I - S^2) dw = -r_a + X x R^T (r_u - r_phi + r_b)
//!             h (K(lam) - m S skew(w x X)) T a + (J + h G - m S^2) dw  = -r_w + X x R^T (r_v - m r_b)
//! ```
//!
//! Unknowns: `u`, `a` (increments of position and rotation by `h`), `v`, `w`, `lam` (an impulse), and `mu/h`.

use mbdsl_runtime::nalgebra::{Matrix3, Vector3};

type V3 = Vector3<f64>;
type M3 = Matrix3<f64>;

/// Updates below this many units of round-off end the iteration.
const SETTLED: f64 = 4.0;

/// Updates below this many units of round-off that no longer fall are noise.
const NOISE: f64 = 1e4;

/// An iteration that converged quadratically so far does not need an update below this part of round-off.
const NEGLIGIBLE: f64 = 1e-3;

/// Iterations after which a step is given up.
const LIMIT: usize = 30;

/// Steps between two repairs of the rotation.
const POLISH_EVERY: u64 = 1000;

/// A rigid body on a ball joint at the origin, with its state and the multipliers of the last step.
#[derive(Clone, Debug)]
pub struct Pendulum {
    mass: f64,
    inertia: M3,
    gravity: V3,
    /// The pivot in the body, `X`.
    arm: V3,
    skew_arm: M3,
    /// `S^2`.
    squared: M3,
    /// `(I - S^2)^-1 = (B B^T)^-1` in body axes.
    projection: M3,
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
    /// `mu/h` of the last step.
    correction: V3,
    /// Accelerations of the last step, m/s^2 and rad/s^2.
    pub acceleration: [V3; 2],
    steps: u64,
}

impl Pendulum {
    /// A pendulum with its arm and what it starts from; the position follows from the rotation.
    pub fn new(mass: f64, inertia: M3, arm: V3, gravity: V3, r: M3, w: V3) -> Self {
        let skew_arm = skew(&arm);
        let squared = skew_arm * skew_arm;
        Self {
            mass,
            inertia,
            gravity,
            arm,
            skew_arm,
            squared,
            projection: (M3::identity() - squared).try_inverse().expect("I - S^2 is positive definite"),
            x: -(r * arm),
            r,
            v: r * arm.cross(&w),
            w,
            lambda: V3::zeros(),
            correction: V3::zeros(),
            acceleration: [V3::zeros(); 2],
            steps: 0,
        }
    }

    /// One step of `dae3l_le`; returns the number of iterations.
    pub fn dae3l_le(&mut self, h: f64) -> usize {
        let (x0, v0, w0, r0) = (self.x, self.v, self.w, self.start());
        let (mut v, mut w, mut lam) = (v0, w0, self.lambda * h);
        let mut stop = Stop::default();
        let drift = (x0.amax() + self.arm.norm()) / h;
        loop {
            let turn = Turn::new(&(w * h));
            let r = r0 + r0 * turn.increment;
            let lam_b = r.tr_mul(&lam);
            let jw = self.inertia * w;
            let r_v = (v - v0) * self.mass + lam - self.gravity * (self.mass * h);
            let r_w = self.inertia * (w - w0) + w.cross(&jw) * h + self.arm.cross(&lam_b);
            let r_phi = (x0 + v * h + r * self.arm) / h;

            let gyroscopic = skew(&w) * self.inertia - skew(&jw);
            let stiffness = self.skew_arm * skew(&lam_b) * h - self.squared * self.mass;
            let matrix = self.inertia + gyroscopic * h + stiffness * turn.tangent;
            let dw = solve(&matrix, &(self.arm.cross(&r.tr_mul(&(r_v - r_phi * self.mass))) - r_w));
            let dv = r * self.arm.cross(&(turn.tangent * dw)) - r_phi;
            let dlam = -r_v - dv * self.mass;
            v += dv;
            w += dw;
            lam += dlam;

            let size = self.speed(&dv, &dw).max(dlam.amax() / self.mass);
            if stop.is_reached(size / (f64::EPSILON * (self.speed(&v, &w) + drift))) {
                break;
            }
        }
        self.x = x0 + v * h;
        self.r = r0 + r0 * Turn::new(&(w * h)).increment;
        (self.v, self.w, self.lambda) = (v, w, lam / h);
        self.acceleration = [(v - v0) / h, (w - w0) / h];
        self.steps += 1;
        stop.count
    }

    /// One step of `dae1l_lse`; returns the number of iterations.
    pub fn dae1l_lse(&mut self, h: f64) -> usize {
        let (x0, v0, w0, r0) = (self.x, self.v, self.w, self.start());
        let (mut u, mut a, mut v, mut w) = (v0, w0, v0, w0);
        let (mut lam, mut m) = (self.lambda * h, self.correction);
        let mut stop = Stop::default();
        let drift = (x0.amax() + self.arm.norm()) / h;
        loop {
            let turn = Turn::new(&(a * h));
            let r = r0 + r0 * turn.increment;
            let (lam_b, m_b) = (r.tr_mul(&lam), r.tr_mul(&m));
            let jw = self.inertia * w;
            let swing = w.cross(&self.arm);
            let r_u = u - v + m;
            let r_a = a - w + self.arm.cross(&m_b);
            let r_v = (v - v0) * self.mass + lam - self.gravity * (self.mass * h);
            let r_w = self.inertia * (w - w0) + w.cross(&jw) * h + self.arm.cross(&lam_b);
            let r_phi = (x0 + u * h + r * self.arm) / h;
            let r_b = v + r * swing;

            // First row by rows of `a` and `dw`, then the second one; the first one gives `dw`.
            let carried = self.skew_arm * skew(&swing) * h;
            let of_mu = self.skew_arm * skew(&m_b) * h;
            let of_lam = self.skew_arm * skew(&lam_b) * h;
            let first_a = M3::identity() + (of_mu - self.squared + carried) * turn.tangent;
            let first = self.arm.cross(&r.tr_mul(&(r_u - r_phi + r_b))) - r_a;
            let second_a = (of_lam - carried * self.mass) * turn.tangent;
            let second_w = self.inertia + (skew(&w) * self.inertia - skew(&jw)) * h - self.squared * self.mass;
            let second = self.arm.cross(&r.tr_mul(&(r_v - r_b * self.mass))) - r_w;
            let through = second_w * self.projection;
            let da = solve(&(second_a + through * first_a), &(second + through * first));
            let dw = self.projection * (first_a * da - first);

            let turned = turn.tangent * da;
            let du = r * self.arm.cross(&turned) - r_phi;
            let dv = r * (self.arm.cross(&dw) + swing.cross(&turned) * h) - r_b;
            let dm = dv - du - r_u;
            let dlam = -r_v - dv * self.mass;
            u += du;
            a += da;
            v += dv;
            w += dw;
            m += dm;
            lam += dlam;

            let speed = self.speed(&v, &w);
            let of_u = self.speed(&du, &da) / (f64::EPSILON * (speed + drift));
            let of_v = self.speed(&dv, &dw).max(dlam.amax() / self.mass) / (f64::EPSILON * (speed + 0.1 * drift));
            if stop.is_reached(of_u.max(of_v)) {
                break;
            }
        }
        self.x = x0 + u * h;
        self.r = r0 + r0 * Turn::new(&(a * h)).increment;
        (self.v, self.w, self.lambda, self.correction) = (v, w, lam / h, m);
        // A = (V1 - V0)/h + B^T nu with B A + R (w x (w x X)) = 0, in body axes.
        let (of_v, of_w) = ((v - v0) / h, (w - w0) / h);
        let open = self.r.tr_mul(&of_v) + of_w.cross(&self.arm) + w.cross(&w.cross(&self.arm));
        let nu = -(self.projection * open);
        self.acceleration = [of_v + self.r * nu, of_w + self.arm.cross(&nu)];
        self.steps += 1;
        stop.count
    }

    /// The rotation that the step starts from, repaired now and then.
    fn start(&self) -> M3 {
        if (self.steps + 1).is_multiple_of(POLISH_EVERY) {
            self.r + self.r * ((M3::identity() - self.r.tr_mul(&self.r)) * 0.5)
        } else {
            self.r
        }
    }

    /// One number for a velocity or its change, m/s.
    fn speed(&self, v: &V3, w: &V3) -> f64 {
        v.amax().max(w.amax() * self.arm.norm())
    }
}

/// When the updates have come down to round-off.
#[derive(Clone, Copy, Debug, Default)]
struct Stop {
    last: f64,
    count: usize,
}

impl Stop {
    /// Takes the size of an update in units of round-off.
    fn is_reached(&mut self, units: f64) -> bool {
        let ratio = units / self.last;
        let again = self.count > 0;
        self.count += 1;
        self.last = units;
        assert!(units.is_finite() && self.count < LIMIT, "the iteration does not converge");
        units <= SETTLED
            || again && ((units < NOISE && ratio > 0.5) || (ratio < 1e-3 && units * ratio * ratio < NEGLIGIBLE))
    }
}

/// `exp(theta) - I` and the tangent operator of a rotation vector.
struct Turn {
    increment: M3,
    tangent: M3,
}

impl Turn {
    fn new(theta: &V3) -> Self {
        let s = theta.norm_squared();
        let [c1, c2, c3] = coefficients(s);
        let (first, second) = (skew(theta), theta * theta.transpose() - M3::identity() * s);
        Self { increment: first * c1 + second * c2, tangent: M3::identity() - first * c2 + second * c3 }
    }
}

/// `sin t / t`, `(1 - cos t)/t^2`, `(t - sin t)/t^3` for `s = t^2`.
fn coefficients(s: f64) -> [f64; 3] {
    if s < 1e-2 {
        // The first term left out is below 1e-16 of the first one.
        let series = |n: f64| {
            let term = |k: f64, rest: f64| 1.0 - rest * s / ((n + k) * (n + k + 1.0));
            term(1.0, term(3.0, term(5.0, term(7.0, 1.0))))
        };
        return [series(1.0), series(2.0) / 2.0, series(3.0) / 6.0];
    }
    let t = s.sqrt();
    let (sine, half) = (t.sin() / t, (0.5 * t).sin());
    [sine, 2.0 * half * half / s, (1.0 - sine) / s]
}

/// The matrix of the cross product.
fn skew(a: &V3) -> M3 {
    M3::new(0.0, -a.z, a.y, a.z, 0.0, -a.x, -a.y, a.x, 0.0)
}

/// Three equations by Cramer's rule: the matrix is a moment of inertia about the pivot and small terms.
fn solve(a: &M3, b: &V3) -> V3 {
    let (c0, c1, c2) = (a.column(0), a.column(1), a.column(2));
    let normal = c1.cross(&c2);
    let across = b.cross(&c2);
    let det = c0.dot(&normal);
    V3::new(b.dot(&normal), c0.dot(&across), c0.dot(&c1.cross(b))) / det
}
