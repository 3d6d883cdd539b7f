//! Splitting of the kinetic energy along the principal axes (Dullweber, Leimkuhler, McLachlan, J. Chem. Phys. 107, 5840).
//!
//! `pi_i^2/2 I_i` alone turns the body about its axis `i` at the constant rate `pi_i/I_i`. Five such turns, about the axes
//! 0, 1, 2, 1, 0 with the fractions 1/2, 1/2, 1, 1/2, 1/2 of the step, are symmetric: order 2. The moments ascend, so that
//! the axis of the largest moment stands in the middle: the smallest error for most bodies.
//!
//! With an angle `a = h pi_i/I_i` the turn is that by `a` ([`Dlm`]), or the Cayley one by `2 atan(a/2)` ([`DlmCayley`]).
//! The latter is the exact flow of another function of `pi_i`, so it is as symplectic and keeps the same invariants.

use nalgebra::{ArrayStorage, Matrix3};

use super::{Drift, Rotor, Spin, TurnsTooFar, largest, series};
use crate::lanes::{F64x8, Real};

/// Turns by the angle.
#[derive(Clone, Copy, Debug)]
pub struct Dlm;

/// Turns by `2 atan(a/2)`: no trigonometric function.
#[derive(Clone, Copy, Debug)]
pub struct DlmCayley;

/// The angle of a turn about one axis as a function of `a = h pi_i/I_i`.
pub(super) trait Turn {
    /// `sin` of the angle, and `1 - cos` of it without cancellation.
    fn sin_versin<F: Real>(a: F) -> (F, F);
    /// Derivative of the angle by `a`.
    fn rate(a: f64) -> f64;
}

impl Turn for Dlm {
    #[inline(always)]
    fn sin_versin<F: Real>(a: F) -> (F, F) {
        sin_versin::<3, F>(a)
    }

    #[inline]
    fn rate(_: f64) -> f64 {
        1.0
    }
}

impl Turn for DlmCayley {
    #[inline(always)]
    fn sin_versin<F: Real>(a: F) -> (F, F) {
        let r = a / (F::one() + F::splat(0.25) * a * a);
        (r, F::splat(0.5) * a * r)
    }

    #[inline]
    fn rate(a: f64) -> f64 {
        1.0 / (1.0 + 0.25 * a * a)
    }
}

/// `sin a` and `1 - cos a`, each to a unit in the last place. A series of three pairs of terms is enough for half a radian, one of
/// four for twice as much.
#[inline(always)]
pub(super) fn sin_versin<const PAIRS: usize, F: Real>(a: F) -> (F, F) {
    let x = a * a;
    if x.all_at_most(largest(PAIRS)) {
        let (s, v) = series::<PAIRS, F>(x);
        return (a + a * x * s, x * (F::splat(0.5) + x * v));
    }
    (a.map(|a| wide_sin_versin::<PAIRS>(a).0), a.map(|a| wide_sin_versin::<PAIRS>(a).1))
}

/// The same where not all lanes are as small as the series asks for.
#[cold]
fn wide_sin_versin<const PAIRS: usize>(a: f64) -> (f64, f64) {
    if a * a <= largest(PAIRS) {
        return sin_versin::<PAIRS, f64>(a);
    }
    let half = libm::sin(0.5 * a);
    (libm::sin(a), 2.0 * half * half)
}

/// Turns `(a_j, a_k)` by minus the angle, in increment form: what a turn of the body about axis `i` does to body
/// coordinates, `(i, j, k)` cyclic.
#[inline(always)]
pub(super) fn turn_pair<F: Real>(j: &mut F, k: &mut F, s: F, v: F) {
    let (x, y) = (*j, *k);
    *j = x + (s * y - v * x);
    *k = y - (s * x + v * y);
}

/// One turn about axis `I` by the angle that `scale pi_I` stands for.
#[inline(always)]
pub(super) fn turn<const I: usize, T: Turn, F: Real>(q: &mut [[F; 3]; 3], pi: &mut [F; 3], scale: F) {
    let (s, v) = T::sin_versin(scale * pi[I]);
    turn_by::<I, F>(q, pi, s, v);
}

/// One turn about axis `I` by an angle, given by `sin` and `1 - cos`.
#[inline(always)]
pub(super) fn turn_by<const I: usize, F: Real>(q: &mut [[F; 3]; 3], pi: &mut [F; 3], s: F, v: F) {
    let (j, k) = ((I + 1) % 3, (I + 2) % 3);
    let (mut x, mut y) = (pi[j], pi[k]);
    turn_pair(&mut x, &mut y, s, v);
    (pi[j], pi[k]) = (x, y);
    // Columns of Q are rows of body coordinates.
    let (mut left, mut right) = (q[j], q[k]);
    for r in 0..3 {
        turn_pair(&mut left[r], &mut right[r], s, v);
    }
    (q[j], q[k]) = (left, right);
}

#[inline(always)]
pub(super) fn advance<T: Turn, F: Real>(rotor: &Rotor<F>, h: f64, spin: &mut Spin<F>) {
    let (mut q, mut pi) = (spin.q.data.0, spin.pi.data.0[0]);
    let (half, whole) = (F::splat(0.5 * h), F::splat(h));
    let [a, b, c] = rotor.inverse.data.0[0];
    turn::<0, T, F>(&mut q, &mut pi, half * a);
    turn::<1, T, F>(&mut q, &mut pi, half * b);
    turn::<2, T, F>(&mut q, &mut pi, whole * c);
    turn::<1, T, F>(&mut q, &mut pi, half * b);
    turn::<0, T, F>(&mut q, &mut pi, half * a);
    (spin.q.data.0, spin.pi.data.0[0]) = (q, pi);
}

/// Variations of attitude and momentum by the initial momentum, column by column, in principal axes.
pub(super) struct Variation {
    theta: [[f64; 3]; 3],
    pi: [[f64; 3]; 3],
}

impl Variation {
    /// At the start: the attitude does not depend on the momentum.
    pub(super) fn new() -> Self {
        Self { theta: [[0.0; 3]; 3], pi: Matrix3::identity().data.0 }
    }

    /// Derivative of the attitude, left-trivialised.
    pub(super) fn of_attitude(&self) -> Matrix3<f64> {
        Matrix3::from_data(ArrayStorage(self.theta))
    }

    /// One turn: `dtheta <- M^T dtheta + e_i dphi`, `dpi <- M^T dpi + (pi x e_i) dphi`, `dphi = rate scale dpi_i`.
    #[inline(always)]
    fn turn<const I: usize, T: Turn>(&mut self, spin: &mut Spin, scale: f64) {
        let (j, k) = ((I + 1) % 3, (I + 2) % 3);
        let a = scale * spin.pi[I];
        let (s, v) = T::sin_versin(a);
        turn::<I, T, f64>(&mut spin.q.data.0, &mut spin.pi.data.0[0], scale);
        let rate = T::rate(a) * scale;
        for (theta, pi) in self.theta.iter_mut().zip(&mut self.pi) {
            for w in [&mut *theta, &mut *pi] {
                let (mut x, mut y) = (w[j], w[k]);
                turn_pair(&mut x, &mut y, s, v);
                (w[j], w[k]) = (x, y);
            }
            let phi = rate * pi[I];
            theta[I] += phi;
            pi[j] += spin.pi[k] * phi;
            pi[k] -= spin.pi[j] * phi;
        }
    }

    /// Takes a body and the variation along for a step.
    pub(super) fn advance<T: Turn>(&mut self, rotor: &Rotor, h: f64, spin: &mut Spin) {
        let half = 0.5 * h;
        let [a, b, c] = rotor.inverse.data.0[0];
        self.turn::<0, T>(spin, half * a);
        self.turn::<1, T>(spin, half * b);
        self.turn::<2, T>(spin, h * c);
        self.turn::<1, T>(spin, half * b);
        self.turn::<0, T>(spin, half * a);
    }
}

fn linearise<T: Turn>(rotor: &Rotor, h: f64, spin: &mut Spin) -> Matrix3<f64> {
    let mut variation = Variation::new();
    variation.advance::<T>(rotor, h, spin);
    variation.of_attitude()
}

impl Drift for Dlm {
    #[inline(always)]
    fn advance(rotor: &Rotor, h: f64, spin: &mut Spin) -> Result<(), TurnsTooFar> {
        advance::<Self, f64>(rotor, h, spin);
        Ok(())
    }

    #[inline(always)]
    fn advance_eight(rotor: &Rotor<F64x8>, h: f64, spin: &mut Spin<F64x8>) -> Result<(), TurnsTooFar> {
        advance::<Self, F64x8>(rotor, h, spin);
        Ok(())
    }

    fn linearise(rotor: &Rotor, h: f64, spin: &mut Spin) -> Result<Matrix3<f64>, TurnsTooFar> {
        Ok(linearise::<Self>(rotor, h, spin))
    }
}

impl Drift for DlmCayley {
    #[inline(always)]
    fn advance(rotor: &Rotor, h: f64, spin: &mut Spin) -> Result<(), TurnsTooFar> {
        advance::<Self, f64>(rotor, h, spin);
        Ok(())
    }

    #[inline(always)]
    fn advance_eight(rotor: &Rotor<F64x8>, h: f64, spin: &mut Spin<F64x8>) -> Result<(), TurnsTooFar> {
        advance::<Self, F64x8>(rotor, h, spin);
        Ok(())
    }

    fn linearise(rotor: &Rotor, h: f64, spin: &mut Spin) -> Result<Matrix3<f64>, TurnsTooFar> {
        Ok(linearise::<Self>(rotor, h, spin))
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{check_derivative, rotor};
    use super::*;
    use nalgebra::Vector3;

    #[test]
    fn series_of_sine_and_versine() {
        for a in [0.0, 1e-300, 1e-9, 0.013, 0.2, 0.4999, 0.5, 0.5001, 0.83, 0.9999, 1.0001, 1.7, 3.0, 40.0] {
            for a in [a, -a] {
                let half = libm::sin(0.5 * a);
                let (sin, versin) = (libm::sin(a), 2.0 * half * half);
                for (s, v) in [sin_versin::<3, f64>(a), sin_versin::<4, f64>(a)] {
                    assert!((s - sin).abs() <= 2.3e-16 * sin.abs(), "{a}: {s} and {sin}");
                    assert!((v - versin).abs() <= 6e-16 * versin.abs(), "{a}: {v} and {versin}");
                }
            }
        }
    }

    #[test]
    fn derivatives() {
        for h in [0.3, -0.2] {
            check_derivative::<Dlm>(&rotor([1.0, 2.0, 3.5]), Vector3::new(0.6, 1.9, -1.1), h);
            check_derivative::<DlmCayley>(&rotor([1.0, 2.0, 3.5]), Vector3::new(0.6, 1.9, -1.1), h);
        }
    }
}
