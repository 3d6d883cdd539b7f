//! Rescaled Rodrigues parameters: the drift of the discrete Lagrangian `xi . I xi/2h` with `Q1 = Q0 cay(xi)`.
//!
//! ```text
//! h pi0 = I xi + xi x I xi/2 + (xi . I xi) xi/4,     Q1 = Q0 cay(xi),     pi1 = cay(xi)^T pi0
//! ```
//!
//! For a spherical body this is one cubic, `x (1 + x^2/4) = a` with `x = |xi|`, `a = h |pi|/J`, solved in closed form: the
//! step is explicit. For others Newton's method on three unknowns. Source: "Time integrator based on rescaled Rodrigues
//! parameters" (Baker and Gonzalez, arXiv:2112.01623), whose abstract this construction follows.

use nalgebra::{Matrix3, Vector3};

use super::{
    Drift, Rotor, Shape, Spin, TurnsTooFar, cayley_factor, cayley_increment, cayley_tangent, one_by_one, turn_by_cayley,
};
use crate::lanes::{F64x8, Real};
use crate::so3::skew;

/// The drift.
#[derive(Clone, Copy, Debug)]
pub struct Rrp;

/// Iterations before giving up; eight have been the most in thousands of bodies.
const LIMIT: usize = 30;

/// Largest `|xi|` (a turn by 113 degrees) that is accepted from Newton's method: solutions are unique well beyond it.
const LARGEST: f64 = 3.0;

/// Up to here two Newton steps bring the series of the root to round-off: its error is below `a^7/5`, and each step squares the
/// relative error.
const SERIES: f64 = 0.125;

/// The root `x >= 0` of `x (1 + x^2/4) = a`, `a >= 0`: series or closed form, and Newton steps that bring it to round-off.
#[inline(always)]
#[must_use]
pub fn cubic_root<F: Real>(a: F) -> F {
    if a.all_at_most(SERIES) {
        small_root(a)
    } else {
        a.map(|a| if a <= SERIES { small_root(a) } else { large_root(a) })
    }
}

/// One Newton step.
#[inline(always)]
fn polished<F: Real>(a: F, x: F) -> F {
    let (one, quarter, three) = (F::one(), F::splat(0.25), F::splat(0.75));
    x - (x * (one + quarter * x * x) - a) / (one + three * x * x)
}

/// [`cubic_root`] up to [`SERIES`].
#[inline(always)]
fn small_root<F: Real>(a: F) -> F {
    let square = a * a;
    polished(a, polished(a, a * (F::one() - square * (F::splat(0.25) - square * F::splat(0.1875)))))
}

/// [`cubic_root`] beyond.
fn large_root(a: f64) -> f64 {
    // 3 sqrt 3/4 and 4/sqrt 3
    const INNER: f64 = 1.299_038_105_676_658;
    const OUTER: f64 = 2.309_401_076_758_503;
    polished(a, OUTER * libm::sinh(libm::asinh(INNER * a) / 3.0))
}

/// `xi`, and the matrix `A` of `A dxi = h dpi0` (all but [`Shape::Spherical`]).
fn solve(rotor: &Rotor, h: f64, pi: &Vector3<f64>) -> Result<(Vector3<f64>, Matrix3<f64>), TurnsTooFar> {
    let moments = &rotor.moments;
    let b = pi * h;
    let mut x = b.component_mul(&rotor.inverse);
    let mut last = f64::INFINITY;
    for _ in 0..LIMIT {
        let (residual, matrix) = equation(moments, &x, &b);
        let inverse = matrix.try_inverse().ok_or(TurnsTooFar)?;
        let update = inverse * residual;
        x -= update;
        let size = update.norm();
        // Quadratic convergence: small updates that do not fall any more are round-off.
        if size <= 2e-16 * x.norm() || (size <= 1e-13 * x.norm() && size >= 0.5 * last) {
            return if x.norm() < LARGEST { Ok((x, matrix)) } else { Err(TurnsTooFar) };
        }
        last = size;
    }
    Err(TurnsTooFar)
}

/// Residual of the equation and its derivative by `xi`.
fn equation(moments: &Vector3<f64>, x: &Vector3<f64>, b: &Vector3<f64>) -> (Vector3<f64>, Matrix3<f64>) {
    let y = moments.component_mul(x);
    let quarter = 0.25 * x.dot(&y);
    let residual = y + x.cross(&y) * 0.5 + x * quarter - b;
    let inertia = Matrix3::from_diagonal(moments);
    let matrix = inertia
        + (skew(x) * inertia - skew(&y)) * 0.5
        + Matrix3::from_diagonal_element(quarter)
        + x * y.transpose() * 0.5;
    (residual, matrix)
}

/// `xi` of a spherical body.
#[inline(always)]
fn spherical<F: Real>(rotor: &Rotor<F>, h: f64, pi: &Vector3<F>) -> Vector3<F> {
    let scaled = pi * (F::splat(h) * rotor.inverse[0]);
    let x = cubic_root(scaled.dot(&scaled).sqrt());
    scaled / (F::one() + F::splat(0.25) * x * x)
}

impl Drift for Rrp {
    fn advance(rotor: &Rotor, h: f64, spin: &mut Spin) -> Result<(), TurnsTooFar> {
        if rotor.shape == Shape::Spherical {
            turn_by_cayley(&mut spin.q, &spherical(rotor, h, &spin.pi));
        } else {
            let (xi, _) = solve(rotor, h, &spin.pi)?;
            turn_by_cayley(&mut spin.q, &xi);
            spin.pi += cayley_increment(&spin.pi, &xi, cayley_factor(&xi));
        }
        Ok(())
    }

    #[inline(always)]
    fn advance_eight(rotor: &Rotor<F64x8>, h: f64, spin: &mut Spin<F64x8>) -> Result<(), TurnsTooFar> {
        if rotor.shape == Shape::Spherical {
            turn_by_cayley(&mut spin.q, &spherical(rotor, h, &spin.pi));
            return Ok(());
        }
        one_by_one::<Self>(rotor, h, spin)
    }

    fn linearise(rotor: &Rotor, h: f64, spin: &mut Spin) -> Result<Matrix3<f64>, TurnsTooFar> {
        if rotor.shape == Shape::Spherical {
            let xi = spherical(rotor, h, &spin.pi);
            let square = xi.norm_squared();
            let g = 1.0 + 0.25 * square;
            turn_by_cayley(&mut spin.q, &xi);
            // (g 1 + xi xi^T/2)^-1
            let inverse = (Matrix3::identity() - xi * xi.transpose() / (2.0 * g + square)) / g;
            return Ok(cayley_tangent(&xi) * inverse * (h * rotor.inverse[0]));
        }
        let (xi, matrix) = solve(rotor, h, &spin.pi)?;
        let inverse = matrix.try_inverse().ok_or(TurnsTooFar)?;
        turn_by_cayley(&mut spin.q, &xi);
        spin.pi += cayley_increment(&spin.pi, &xi, cayley_factor(&xi));
        Ok(cayley_tangent(&xi) * inverse * h)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{check_derivative, rotor};
    use super::*;

    #[test]
    fn cubic_root_to_roundoff() {
        for k in 0..=15_000 {
            let a = libm::pow(10.0, -12.0 + f64::from(k) * 1e-3);
            let x = cubic_root(a);
            assert!((x * (1.0 + 0.25 * x * x) - a).abs() <= 2e-15 * a, "{a}");
        }
        assert_eq!(cubic_root(0.0), 0.0);
    }

    #[test]
    fn spherical_bodies_fulfil_the_general_equation() {
        let (body, pi) = (rotor([0.8; 3]), Vector3::new(0.6, 1.9, -1.1));
        let xi = spherical(&body, 0.3, &pi);
        assert!(equation(&body.moments, &xi, &(pi * 0.3)).0.amax() < 1e-15);
    }

    #[test]
    fn derivatives() {
        let pi = Vector3::new(0.6, 1.9, -1.1);
        for moments in [[0.8; 3], [1.0, 2.0, 2.0], [1.0, 2.0, 3.0]] {
            check_derivative::<Rrp>(&rotor(moments), pi, 0.3);
        }
    }

    #[test]
    fn turns_that_are_not_unique_are_refused() {
        let body = rotor([1.0, 2.0, 2.5]);
        let start = Spin { q: Matrix3::identity(), pi: Vector3::new(100.0, 0.0, 1.0) };
        let mut spin = start;
        assert_eq!(Rrp::advance(&body, 1.0, &mut spin), Err(TurnsTooFar));
        assert_eq!(spin, start);
    }
}
