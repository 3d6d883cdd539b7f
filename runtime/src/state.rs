//! The state of a model: position, attitude and velocities of every body, the time, and the continuous angles.

use alloc::vec::Vec;

use nalgebra::{Matrix3, Vector3};

/// Numbers per body: `x` 0..3, `R` 3..12 (row-major), `v` 12..15, `Omega` 15..18.
pub const STRIDE: usize = 18;
/// Offset of `x`.
pub const POS: usize = 0;
/// Offset of `R`.
pub const ROT: usize = 3;
/// Offset of `v`.
pub const VEL: usize = 12;
/// Offset of `Omega`.
pub const OMEGA: usize = 15;

/// State on (R^3 x SO(3))^n: centre of mass `x` and its velocity `v` in inertial axes (m, m/s), rotation `R` from
/// body to inertial axes, angular velocity `Omega` in body axes (rad/s). Particles keep `R = I`, `Omega = 0`.
#[derive(Debug, PartialEq)]
pub struct State {
    /// Bodies one after another, [`STRIDE`] numbers each.
    pub z: Vec<f64>,
    /// Time, s.
    pub t: f64,
    /// Last accepted values of continuous angles, rad.
    pub memory: Vec<f64>,
}

impl Clone for State {
    fn clone(&self) -> Self {
        Self { z: self.z.clone(), t: self.t, memory: self.memory.clone() }
    }

    /// Keeps lists that have room: steppers copy states in each step.
    fn clone_from(&mut self, from: &Self) {
        self.z.clone_from(&from.z);
        self.t = from.t;
        self.memory.clone_from(&from.memory);
    }
}

impl State {
    /// `n` bodies at rest at the origin.
    #[must_use]
    pub fn new(n: usize, memory: usize) -> Self {
        let mut z = vec![0.0; n * STRIDE];
        for body in z.chunks_exact_mut(STRIDE) {
            for k in 0..3 {
                body[ROT + 4 * k] = 1.0;
            }
        }
        Self { z, t: 0.0, memory: vec![0.0; memory] }
    }

    /// Number of bodies.
    #[must_use]
    pub fn len(&self) -> usize {
        self.z.len() / STRIDE
    }

    /// Whether there is no body.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.z.is_empty()
    }

    fn vec3(&self, body: usize, at: usize) -> Vector3<f64> {
        let o = body * STRIDE + at;
        Vector3::new(self.z[o], self.z[o + 1], self.z[o + 2])
    }

    fn put3(&mut self, body: usize, at: usize, a: &Vector3<f64>) {
        self.z[body * STRIDE + at..][..3].copy_from_slice(a.as_slice());
    }

    /// Centre of mass of a body, m.
    #[must_use]
    pub fn x(&self, body: usize) -> Vector3<f64> {
        self.vec3(body, POS)
    }

    /// Rotation of a body.
    #[must_use]
    pub fn r(&self, body: usize) -> Matrix3<f64> {
        Matrix3::from_row_slice(&self.z[body * STRIDE + ROT..][..9])
    }

    /// Velocity of the centre of mass, m/s.
    #[must_use]
    pub fn v(&self, body: usize) -> Vector3<f64> {
        self.vec3(body, VEL)
    }

    /// Angular velocity in body axes, rad/s.
    #[must_use]
    pub fn omega(&self, body: usize) -> Vector3<f64> {
        self.vec3(body, OMEGA)
    }

    /// Sets the centre of mass.
    pub fn set_x(&mut self, body: usize, x: &Vector3<f64>) {
        self.put3(body, POS, x);
    }

    /// Sets the rotation.
    pub fn set_r(&mut self, body: usize, r: &Matrix3<f64>) {
        let o = body * STRIDE + ROT;
        for i in 0..3 {
            for j in 0..3 {
                self.z[o + 3 * i + j] = r[(i, j)];
            }
        }
    }

    /// Sets the velocity of the centre of mass.
    pub fn set_v(&mut self, body: usize, v: &Vector3<f64>) {
        self.put3(body, VEL, v);
    }

    /// Sets the angular velocity.
    pub fn set_omega(&mut self, body: usize, omega: &Vector3<f64>) {
        self.put3(body, OMEGA, omega);
    }
}
