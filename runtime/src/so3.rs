//! Rotations: exponential and logarithm, the tangent operator and its inverse, and repair of orthogonality.
//!
//! A rotation vector `theta` (rad) is the axis times the angle; `t = |theta|`.

use nalgebra::{Matrix3, Vector3};

use crate::lanes::Real;
use crate::math::{atan2_over, log_coefficient, stumpff, turn_coefficients};

/// Steps between two repairs of orthogonality. The increment form loses about `1e-19` a step and less at small
/// rotations, so that a thousand stay at round-off, and the repair costs nothing that can be measured.
pub(crate) const POLISH_EVERY: u64 = 1000;

/// The matrix of the cross product: `skew(a) b = a x b`.
#[must_use]
pub fn skew<F: Real>(a: &Vector3<F>) -> Matrix3<F> {
    let zero = F::zero();
    Matrix3::new(zero, -a.z, a.y, a.z, zero, -a.x, -a.y, a.x, zero)
}

/// `skew(a)^2 = a a^T - |a|^2 I`.
#[inline]
pub(crate) fn skew_squared<F: Real>(a: &Vector3<F>) -> Matrix3<F> {
    let (xx, yy, zz) = (a.x * a.x, a.y * a.y, a.z * a.z);
    let (xy, xz, yz) = (a.x * a.y, a.x * a.z, a.y * a.z);
    Matrix3::new(-(yy + zz), xy, xz, xy, -(xx + zz), yz, xz, yz, -(xx + yy))
}

/// Increment of the exponential, `E(theta) = exp(theta) - I = c_1 skew + c_2 skew^2`.
///
/// `c_1 = sin t / t`, `c_2 = 2 sin^2(t/2) / t^2`. Adding `R E` to `R` keeps the rounding errors of a small rotation
/// small, which the product `R exp(theta)` does not.
#[must_use]
pub fn exp_increment(theta: &Vector3<f64>) -> Matrix3<f64> {
    let [c_1, c_2] = turn_coefficients(theta.norm_squared());
    skew(theta) * c_1 + skew_squared(theta) * c_2
}

/// Exponential of a rotation vector.
#[must_use]
pub fn exp(theta: &Vector3<f64>) -> Matrix3<f64> {
    Matrix3::identity() + exp_increment(theta)
}

/// Rotation vector of a rotation, `|log R| <= pi`.
///
/// By the quaternion with the largest component computed first (Shepperd): no loss of digits near 0 and near half
/// turns. At a half turn either of the two vectors may come out.
#[must_use]
pub fn log(r: &Matrix3<f64>) -> Vector3<f64> {
    let trace = r.trace();
    let squares = [trace, r[(0, 0)], r[(1, 1)], r[(2, 2)]];
    let mut largest = 0;
    for k in 1..4 {
        if squares[k] > squares[largest] {
            largest = k;
        }
    }
    let off = Vector3::new(r[(2, 1)] - r[(1, 2)], r[(0, 2)] - r[(2, 0)], r[(1, 0)] - r[(0, 1)]);
    // Four times the component `largest` times the quaternion (w, v).
    let (mut w, mut v) = if largest == 0 {
        (1.0 + trace, off)
    } else {
        let i = largest - 1;
        let (j, k) = ((i + 1) % 3, (i + 2) % 3);
        let mut v = Vector3::zeros();
        v[i] = 1.0 + r[(i, i)] - r[(j, j)] - r[(k, k)];
        v[j] = r[(i, j)] + r[(j, i)];
        v[k] = r[(i, k)] + r[(k, i)];
        (off[i], v)
    };
    if w < 0.0 {
        w = -w;
        v = -v;
    }
    v * atan2_over(v.norm(), w)
}

/// Tangent operator: the left-trivialised variation is `T(theta)` times the variation of the rotation vector,
/// `T = I - c_2 skew + c_3 skew^2`, `c_2 = (1 - cos t)/t^2`, `c_3 = (t - sin t)/t^3`.
#[must_use]
pub fn dexp(theta: &Vector3<f64>) -> Matrix3<f64> {
    let s = theta.norm_squared();
    Matrix3::identity() - skew(theta) * stumpff(2, s) + skew_squared(theta) * stumpff(3, s)
}

/// [`exp_increment`] and [`dexp`] of the same vector.
#[must_use]
pub(crate) fn exp_increment_and_dexp(theta: &Vector3<f64>) -> (Matrix3<f64>, Matrix3<f64>) {
    let s = theta.norm_squared();
    let (once, twice, [c_1, c_2]) = (skew(theta), skew_squared(theta), turn_coefficients(s));
    (once * c_1 + twice * c_2, Matrix3::identity() - once * c_2 + twice * stumpff(3, s))
}

/// Inverse of [`dexp`]: `I + skew/2 + g skew^2`, `g = (1 - (t/2) cot(t/2))/t^2`; singular at a full turn.
#[must_use]
pub fn dexp_inverse(theta: &Vector3<f64>) -> Matrix3<f64> {
    let s = theta.norm_squared();
    Matrix3::identity() + skew(theta) * 0.5 + skew_squared(theta) * log_coefficient(0, s)
}

/// [`dexp_inverse`] of a vector times another one.
pub(crate) fn dexp_inverse_times(theta: &Vector3<f64>, v: &Vector3<f64>) -> Vector3<f64> {
    let once = theta.cross(v);
    v + once * 0.5 + theta.cross(&once) * log_coefficient(0, theta.norm_squared())
}

/// `(T(theta)^-1)' v` at the rate `rate` of `theta`.
pub(crate) fn dexp_inverse_rate(theta: &Vector3<f64>, rate: &Vector3<f64>, v: &Vector3<f64>) -> Vector3<f64> {
    let s = theta.norm_squared();
    let (once, moved) = (theta.cross(v), rate.cross(v));
    let slope = 2.0 * theta.dot(rate) * log_coefficient(1, s);
    moved * 0.5 + theta.cross(&once) * slope + (rate.cross(&once) + theta.cross(&moved)) * log_coefficient(0, s)
}

/// One Newton step to the nearest rotation, `R (3 I - R^T R)/2`: squares the orthogonality error.
#[must_use]
pub fn polish<F: Real>(r: &Matrix3<F>) -> Matrix3<F> {
    // In increment form, so that an exact rotation is left as it is up to the last bit.
    r + r * ((Matrix3::identity() - r.tr_mul(r)) * F::splat(0.5))
}

/// Largest absolute component of `R^T R - I`.
#[must_use]
pub fn orthogonality_error(r: &Matrix3<f64>) -> f64 {
    (r.tr_mul(r) - Matrix3::identity()).amax()
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::f64::consts::PI;

    fn close(a: &Vector3<f64>, b: &Vector3<f64>, tolerance: f64) {
        assert!((a - b).amax() < tolerance, "{a} and {b}");
    }

    #[test]
    fn composition_of_rotation_vectors() {
        // Published unit numbers of a public Lie-group integrator, 15 digits.
        let a = Vector3::new(0.814723686393179, 0.905791937075619, 0.126986816293506);
        let b = Vector3::new(0.913375856139019, 0.632359246225410, 0.097540404999410);
        close(
            &log(&(exp(&a) * exp(&b))),
            &Vector3::new(1.723793103824437, 1.555433894116284, 0.047932757694710),
            5e-15,
        );
    }

    #[test]
    fn inverse_tangent_operator() {
        // Published unit numbers of the same integrator; its operator is that of left-trivialised variations, as here.
        let ones = Vector3::new(1.0, 1.0, 1.0);
        for (theta, expected) in [
            (Vector3::new(1.0, 2.0, 3.0), Vector3::new(-0.402160845072268, 1.774459788731933, 0.951080422536134)),
            (
                Vector3::new(0.141886338627215, 0.421761282626275, 0.915735525189067),
                Vector3::new(0.682902413227995, 1.351928852030877, 0.887043643491090),
            ),
        ] {
            close(&(dexp_inverse(&theta) * ones), &expected, 2e-15);
            close(&(dexp(&theta) * expected), &ones, 4e-15);
        }
    }

    #[test]
    fn log_inverts_exp_up_to_half_turns() {
        let axis = Vector3::new(0.6, -0.48, 0.64);
        for t in [0.0, 1e-300, 1e-12, 1e-8, 1e-3, 1.0, 3.0, PI - 1e-7, PI - 1e-12] {
            close(&log(&exp(&(axis * t))), &(axis * t), 4e-15);
        }
        for axis in [Vector3::x(), Vector3::y(), Vector3::z(), axis] {
            let v = log(&exp(&(axis * PI)));
            assert!((v.norm() - PI).abs() < 1e-14 && v.cross(&axis).amax() < 1e-14, "{v}");
        }
        close(&log(&Matrix3::from_diagonal(&Vector3::new(1.0, -1.0, -1.0))), &Vector3::new(PI, 0.0, 0.0), 1e-15);
    }

    #[test]
    fn tangent_operator_is_the_derivative_of_exp() {
        let theta = Vector3::new(0.3, -1.1, 0.7);
        let delta = Vector3::new(0.2, 0.5, -0.4);
        let h = 1e-5;
        let difference = log(&(exp(&(theta - delta * h)).transpose() * exp(&(theta + delta * h)))) / (2.0 * h);
        close(&difference, &(dexp(&theta) * delta), 1e-9);
    }

    #[test]
    fn nothing_is_undefined_at_zero() {
        let zero = Vector3::zeros();
        assert_eq!(exp(&zero), Matrix3::identity());
        assert_eq!(dexp(&zero), Matrix3::identity());
        assert_eq!(dexp_inverse(&zero), Matrix3::identity());
        assert_eq!(log(&Matrix3::identity()), zero);
    }

    #[test]
    fn polish_squares_the_error() {
        let r = exp(&Vector3::new(0.1, 2.0, -0.3)) + Matrix3::new(1.0, -2.0, 0.5, 0.3, 0.7, -1.0, 0.2, 0.1, 0.9) * 1e-6;
        assert!(orthogonality_error(&r) > 1e-7);
        assert!(orthogonality_error(&polish(&r)) < 2e-11);
        assert!(orthogonality_error(&polish(&polish(&r))) < 1e-15);
    }

    /// Against the central difference, whose error is the square of its step.
    #[test]
    fn rate_of_the_inverse_tangent_operator() {
        let (rate, v) = (Vector3::new(0.3, -1.1, 0.7), Vector3::new(-0.4, 0.2, 0.9));
        for theta in
            [Vector3::zeros(), Vector3::new(1e-3, 2e-3, 0.0), Vector3::new(0.9, -0.4, 1.2), Vector3::new(0.0, 3.0, 0.5)]
        {
            let step = 1e-5;
            let at = |sign: f64| dexp_inverse_times(&(theta + rate * (sign * step)), &v);
            let difference = (at(1.0) - at(-1.0)) / (2.0 * step);
            close(&dexp_inverse_rate(&theta, &rate, &v), &difference, 1e-9);
        }
    }
}
