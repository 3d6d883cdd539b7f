//! Mass matrix and its inverse, block by block.

use alloc::vec::Vec;

use nalgebra::{Matrix3, Vector3};

use crate::float::sqrt;
use crate::so3::skew;
use crate::topology::{Body, BodyKind, Topology};

/// `M = blockdiag(m I, J)` and `M^-1` of every body.
#[derive(Clone, Debug, Default)]
pub struct Inertia {
    bodies: Vec<Block>,
    dof: Vec<usize>,
}

#[derive(Clone, Copy, Debug)]
struct Block {
    kind: BodyKind,
    mass: f64,
    inverse_mass: f64,
    inertia: Matrix3<f64>,
    inverse_inertia: Matrix3<f64>,
    /// Radius of gyration, m: turns an angular velocity into a speed of the same kinetic energy, roughly.
    radius: f64,
}

impl Inertia {
    /// Inverts the blocks. A vanishing mass or principal moment is replaced by a small one (`1e-12` of the largest,
    /// or one) in the inverse only, so that weights by mass stay finite.
    #[must_use]
    pub fn new(topology: &Topology) -> Self {
        Self { bodies: topology.bodies.iter().map(Block::new).collect(), dof: topology.dof.clone() }
    }

    /// `out = M v`.
    pub fn apply(&self, v: &[f64], out: &mut [f64]) {
        self.map(v, out, |b| (b.mass, &b.inertia));
    }

    /// `out = M^-1 f`.
    pub fn apply_inverse(&self, f: &[f64], out: &mut [f64]) {
        self.map(f, out, |b| (b.inverse_mass, &b.inverse_inertia));
    }

    fn map(&self, v: &[f64], out: &mut [f64], of: impl Fn(&Block) -> (f64, &Matrix3<f64>)) {
        for (body, block) in self.bodies.iter().enumerate() {
            let at = self.dof[body];
            let (scalar, matrix) = of(block);
            for k in at..at + 3 {
                out[k] = scalar * v[k];
            }
            if block.kind == BodyKind::Rigid {
                let w = matrix * Vector3::from_column_slice(&v[at + 3..at + 6]);
                out[at + 3..at + 6].copy_from_slice(w.as_slice());
            }
        }
    }

    /// `out += factor` times the gyroscopic force `-Omega x J Omega`.
    pub fn add_gyroscopic(&self, v: &[f64], factor: f64, out: &mut [f64]) {
        for (body, block) in self.bodies.iter().enumerate() {
            if block.kind == BodyKind::Rigid {
                let at = self.dof[body] + 3;
                let omega = Vector3::from_column_slice(&v[at..at + 3]);
                let torque = omega.cross(&(block.inertia * omega)) * -factor;
                for k in 0..3 {
                    out[at + k] += torque[k];
                }
            }
        }
    }

    /// Derivative of the gyroscopic force of a body by its `Omega`: `skew(J Omega) - skew(Omega) J`.
    #[must_use]
    pub fn gyroscopic_derivative(&self, body: usize, omega: &Vector3<f64>) -> Matrix3<f64> {
        let j = &self.bodies[body].inertia;
        skew(&(j * omega)) - skew(omega) * j
    }

    /// Mass of a body, kg, and its inertia about the centre of mass in body axes, kg m^2.
    #[must_use]
    pub fn mass(&self, body: usize) -> (f64, &Matrix3<f64>) {
        (self.bodies[body].mass, &self.bodies[body].inertia)
    }

    /// Inverse mass and inverse inertia of a body.
    #[must_use]
    pub fn inverse(&self, body: usize) -> (f64, &Matrix3<f64>) {
        (self.bodies[body].inverse_mass, &self.bodies[body].inverse_inertia)
    }

    /// Largest radius of gyration, m.
    #[must_use]
    pub fn largest_radius(&self) -> f64 {
        self.bodies.iter().map(|b| b.radius).fold(0.0, f64::max)
    }

    /// Largest speed in a velocity-like vector, m/s: per body `|v|^2 + (r |Omega|)^2`, `r` the radius of gyration.
    #[must_use]
    pub fn largest_speed(&self, v: &[f64]) -> f64 {
        let mut largest = 0.0_f64;
        let mut finite = true;
        for (body, block) in self.bodies.iter().enumerate() {
            let v = &v[self.dof[body]..self.dof[body + 1]];
            let mut square = 0.0;
            for (k, x) in v.iter().enumerate() {
                let x = if k < 3 { *x } else { block.radius * x };
                square += x * x;
            }
            finite &= square.is_finite();
            largest = largest.max(square);
        }
        if finite { sqrt(largest) } else { f64::NAN }
    }
}

impl Block {
    fn new(body: &Body) -> Self {
        let mut inverse_inertia = Matrix3::zeros();
        let mut radius = 0.0;
        if body.kind == BodyKind::Rigid {
            let symmetric = (body.inertia + body.inertia.transpose()) * 0.5;
            inverse_inertia = match symmetric.try_inverse() {
                Some(inverse) if symmetric.symmetric_eigenvalues().min() > 1e-12 * symmetric.trace() => inverse,
                _ => floored_inverse(&symmetric),
            };
            if body.mass > 0.0 {
                radius = sqrt(0.5 * symmetric.trace() / body.mass);
            }
        }
        Self {
            kind: body.kind,
            mass: body.mass,
            inverse_mass: if body.mass > 0.0 { 1.0 / body.mass } else { 1.0 },
            inertia: body.inertia,
            inverse_inertia,
            radius,
        }
    }
}

/// Inverse with principal moments of at least `1e-12` of the largest, or of one where all vanish.
fn floored_inverse(inertia: &Matrix3<f64>) -> Matrix3<f64> {
    let eigen = inertia.symmetric_eigen();
    let largest = eigen.eigenvalues.max();
    if largest.is_nan() || largest <= 0.0 {
        return Matrix3::identity();
    }
    let inverse = eigen.eigenvalues.map(|x| 1.0 / x.max(1e-12 * largest));
    eigen.eigenvectors * Matrix3::from_diagonal(&inverse) * eigen.eigenvectors.transpose()
}
