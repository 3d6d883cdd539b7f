//! Forces beyond gravity and springs: on pivots, drag, pushes in time, elastic bonds of particles with attitudes, a wall.

use mbdsl_runtime::so3::skew;
use mbdsl_runtime::state::State;
use nalgebra::{Matrix3, Vector3};

type V3 = Vector3<f64>;

/// One load.
#[derive(Clone, Copy, Debug)]
pub enum Load {
    /// A constant force at a point of a body that turns about its origin: `U = -force . R arm`, no force on the origin.
    Pivot { body: usize, arm: V3, force: V3 },
    /// Force `-(linear + quadratic |v|) v`, torque `-spin Omega`.
    Drag { body: usize, linear: f64, quadratic: f64, spin: f64 },
    /// Force `amplitude cos(rate t)`.
    Shake { body: usize, amplitude: V3, rate: f64 },
    /// `U = kn/2 (|x_b - x_a| - rest)^2 + ks/2 |d|^2 + kr/2 (3 - tr R_a^T R_b)`, `d = x_b - R_b arm - x_a - R_a arm`.
    Bond { bodies: [usize; 2], arm: V3, rest: f64, stiffness: [f64; 3] },
    /// Hertz barrier at `z = 0`: `U = 2/5 k max(0, radius - z)^(5/2)`.
    Wall { body: usize, radius: f64, stiffness: f64 },
}

fn add(q: &mut [f64], at: usize, a: &V3) {
    for k in 0..3 {
        q[at + k] += a[k];
    }
}

/// Vector of the antisymmetric part: `vee(S - S^T)/2`.
fn vee(s: &Matrix3<f64>) -> V3 {
    V3::new(s[(2, 1)] - s[(1, 2)], s[(0, 2)] - s[(2, 0)], s[(1, 0)] - s[(0, 1)]) * 0.5
}

impl Load {
    pub fn depends_on_velocity(&self) -> bool {
        matches!(self, Self::Drag { .. })
    }

    /// Adds forces, torques in body axes.
    pub fn add(&self, s: &State, dof: &[usize], q: &mut [f64]) {
        match *self {
            Self::Pivot { body, arm, force } => add(q, dof[body] + 3, &arm.cross(&(s.r(body).transpose() * force))),
            Self::Drag { body, linear, quadratic, spin } => {
                let v = s.v(body);
                add(q, dof[body], &(v * -(linear + quadratic * v.norm())));
                if dof[body + 1] - dof[body] == 6 {
                    add(q, dof[body] + 3, &(s.omega(body) * -spin));
                }
            }
            Self::Shake { body, amplitude, rate } => add(q, dof[body], &(amplitude * libm::cos(rate * s.t))),
            Self::Bond { bodies: [a, b], arm, rest, stiffness: [kn, ks, kr] } => {
                let between = s.x(b) - s.x(a);
                let (arm_a, arm_b) = (s.r(a) * arm, s.r(b) * -arm);
                let gap = (between + arm_b - arm_a) * ks;
                let length = between.norm();
                let force = between * (kn * (length - rest) / length) + gap;
                let turn = vee(&(s.r(b) * s.r(a).transpose())) * kr;
                add(q, dof[a], &force);
                add(q, dof[b], &-force);
                add(q, dof[a] + 3, &(s.r(a).transpose() * (arm_a.cross(&gap) + turn)));
                add(q, dof[b] + 3, &(s.r(b).transpose() * (-arm_b.cross(&gap) - turn)));
            }
            Self::Wall { body, radius, stiffness } => {
                let depth = (radius - s.x(body).z).max(0.0);
                q[dof[body] + 2] += stiffness * depth * depth.sqrt();
            }
        }
    }

    /// Adds to the square block `dQ/dV` of the body of a drag.
    pub fn add_velocity_derivative(&self, s: &State, parts: &mut [f64]) {
        if let Self::Drag { body, linear, quadratic, spin } = *self {
            let v = s.v(body);
            let speed = v.norm();
            parts.fill(0.0);
            let (of_v, of_omega) = parts.split_at_mut(9);
            for i in 0..3 {
                of_v[4 * i] -= linear + quadratic * speed;
                for j in 0..3 {
                    of_v[3 * i + j] -= if speed > 0.0 { quadratic * v[i] * v[j] / speed } else { 0.0 };
                }
                if let Some(x) = of_omega.get_mut(4 * i) {
                    *x -= spin;
                }
            }
        }
    }

    pub fn potential(&self, s: &State) -> f64 {
        match *self {
            Self::Pivot { body, arm, force } => -force.dot(&(s.r(body) * arm)),
            Self::Drag { .. } | Self::Shake { .. } => 0.0,
            Self::Bond { bodies: [a, b], arm, rest, stiffness: [kn, ks, kr] } => {
                let between = s.x(b) - s.x(a);
                let gap = between - (s.r(b) + s.r(a)) * arm;
                let trace = s.r(a).dot(&s.r(b));
                let stretch = between.norm() - rest;
                0.5 * (kn * stretch * stretch + ks * gap.norm_squared() + kr * (3.0 - trace))
            }
            Self::Wall { body, radius, stiffness } => {
                let depth = (radius - s.x(body).z).max(0.0);
                0.4 * stiffness * depth * depth * depth.sqrt()
            }
        }
    }
}

/// Rows of `(R_a u) . (R_b w) = 0`: value, derivatives by small turns of both in body axes, and the convective acceleration.
pub fn dot_row(s: &State, (a, u): (usize, V3), b: Option<usize>, w: &V3) -> (f64, V3, V3, f64) {
    let (ra, wa) = (s.r(a), s.omega(a));
    let (rb, wb) = b.map_or((Matrix3::identity(), V3::zeros()), |b| (s.r(b), s.omega(b)));
    let (p, q) = (ra * u, rb * w);
    let (dp, dq) = (ra * wa.cross(&u), rb * wb.cross(w));
    let (ddp, ddq) = (ra * skew(&wa) * wa.cross(&u), rb * skew(&wb) * wb.cross(w));
    let convective = ddp.dot(&q) + 2.0 * dp.dot(&dq) + p.dot(&ddq);
    (p.dot(&q), u.cross(&(ra.transpose() * q)), w.cross(&(rb.transpose() * p)), convective)
}
