//! The numerical functions against their definitions.

use super::*;

fn close(found: f64, expected: f64, ulps: f64) {
    assert!((found - expected).abs() <= ulps * f64::EPSILON * expected.abs(), "{found} instead of {expected}");
}

#[test]
fn stumpff_functions_meet_their_recursion_and_their_slope() {
    // c_k + s c_{k+2} = 1 / k!, across the border between series and closed form.
    for k in 0..12_u8 {
        for i in 0..400 {
            let s = f64::from(i) * 0.1 - 5.0;
            let (a, b) = (stumpff(k, s), s * stumpff(k + 2, s));
            let size = a.abs().max(b.abs()).max(1.0 / factorial(k));
            assert!((a + b - 1.0 / factorial(k)).abs() <= 8.0 * f64::EPSILON * size, "c_{k} at {s}");
        }
    }
    close(stumpff(0, PI * PI), -1.0, 2.0);
    close(stumpff(2, 1e-20), 0.5, 1.0);
    close(stumpff(3, 0.0), 1.0 / 6.0, 1.0);
    // (1 - cos t) / t^2 and (t - sin t) / t^3 at t = 2, worked out with 30 digits.
    close(stumpff(2, 4.0), 0.354_036_709_136_785_6, 4.0);
    close(stumpff(3, 4.0), 0.136_337_821_646_789_8, 4.0);
}

#[test]
fn log_coefficients_meet_the_closed_form_and_the_pole() {
    for i in 1..60 {
        let t = 0.1 * f64::from(i);
        let half = 0.5 * t;
        let closed = (1.0 - half / libm::tan(half)) / (t * t);
        // The closed form cancels as t falls.
        close(log_coefficient(0, t * t), closed, 40.0 / (t * t).min(1.0));
    }
    // Bernoulli numbers: 1/12, 1/720, 2/30240, 6/1209600.
    close(log_coefficient(0, 0.0), 1.0 / 12.0, 4.0);
    close(log_coefficient(1, 0.0), 1.0 / 720.0, 4.0);
    close(log_coefficient(2, 0.0), 2.0 / 30_240.0, 4.0);
    close(log_coefficient(3, 0.0), 6.0 / 1_209_600.0, 4.0);
    // cot(pi / 2) = 0.
    close(log_coefficient(0, PI * PI), 1.0 / (PI * PI), 4.0);
}

#[test]
fn rotations_are_orthogonal_and_come_back() {
    let directions = [[1.0, 0.0, 0.0], [0.0, -1.0, 0.0], [0.0, 0.0, 1.0], [0.6, 0.0, -0.8], [-0.48, 0.6, 0.64]];
    for direction in directions {
        for angle in [0.0, 1e-300, 1e-12, 1e-6, 1e-3, 0.5, 2.0, 3.0, PI - 1e-6, PI - 1e-12, PI] {
            let w = direction.map(|c| c * angle);
            let m = exp_so3(w);
            let square = mat_mul(transpose(m), m);
            let other = about(direction.map(|c| 3.0 * c), angle);
            for i in 0..3 {
                for j in 0..3 {
                    let identity = if i == j { 1.0 } else { 0.0 };
                    assert!((square[i][j] - identity).abs() <= 8.0 * f64::EPSILON, "{direction:?} {angle}");
                    assert!((m[i][j] - other[i][j]).abs() <= 8.0 * f64::EPSILON, "{direction:?} {angle}");
                }
            }
            // At a half turn either sign will do.
            let back = log_so3(m);
            let sign = if dot(back, w) < 0.0 { -1.0 } else { 1.0 };
            for i in 0..3 {
                assert!((sign * back[i] - w[i]).abs() <= 20.0 * f64::EPSILON * angle.max(1e-16), "{w:?} {back:?}");
            }
            assert!(sign > 0.0 || angle > PI - 1e-9);
        }
    }
}

#[test]
fn triads_are_right_handed() {
    for a in [[0.0, 0.0, 2.0], [0.0, 3.0, 0.0], [-1.0, 0.0, 0.0], [1.0, 1.0, 1.0], [0.1, -5.0, 4.9]] {
        let (p, q) = perp(a);
        let length = libm::sqrt(dot(a, a));
        for (x, y) in [(dot(p, p), 1.0), (dot(q, q), 1.0), (dot(p, q), 0.0), (dot(p, a), 0.0), (dot(q, a), 0.0)] {
            assert!((x - y).abs() < 1e-14);
        }
        assert!((dot(cross(p, q), a) - length).abs() < 1e-14);
    }
    assert_eq!(perp([0.0, 0.0, 2.0]), ([1.0, 0.0, 0.0], [0.0, 1.0, 0.0]));
}

#[test]
fn angles_wrap() {
    close(unwrap_angle(0.1, 6.5), 0.1 + 2.0 * PI, 1.0);
    close(unwrap_angle(-3.0, 3.1), 2.0 * PI - 3.0, 1.0);
    close(modulo(-1.0, 3.0), 2.0, 0.0);
    close(atan2_over(1e-9, 1.0), 1.0, 1.0);
    close(atan2_over(0.0, 0.5), 2.0, 0.0);
    close(atan2_over(1.0, 0.0), 0.5 * PI, 1.0);
}
