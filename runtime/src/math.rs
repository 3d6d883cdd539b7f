//! Scalar functions with removable singularities. One file for generated code and, by a link, for the interpreter of the compiler, so
//! that all back ends agree to the bit.

use core::f64::consts::{PI, TAU};

/// Largest order of [`stumpff`].
pub const MAX_STUMPFF: u8 = 12;

/// Highest derivative of [`log_coefficient`].
pub const MAX_LOG_DERIVATIVE: u8 = 3;

/// Arguments of [`stumpff`] below which seven terms of the series are exact: `0.1^7 k!/(k + 14)! < 2e-18`.
const SMALL: f64 = 0.1;

/// `1/k!` for `k = 0..=24`.
const INVERSE_FACTORIAL: [f64; 25] = [
    1.0,
    1.0,
    1.0 / 2.0,
    1.0 / 6.0,
    1.0 / 24.0,
    1.0 / 120.0,
    1.0 / 720.0,
    1.0 / 5_040.0,
    1.0 / 40_320.0,
    1.0 / 362_880.0,
    1.0 / 3_628_800.0,
    1.0 / 39_916_800.0,
    1.0 / 479_001_600.0,
    1.0 / 6_227_020_800.0,
    1.0 / 87_178_291_200.0,
    1.0 / 1_307_674_368_000.0,
    1.0 / 20_922_789_888_000.0,
    1.0 / 355_687_428_096_000.0,
    1.0 / 6_402_373_705_728_000.0,
    1.0 / 121_645_100_408_832_000.0,
    1.0 / 2_432_902_008_176_640_000.0,
    1.0 / 51_090_942_171_709_440_000.0,
    1.0 / 1_124_000_727_777_607_680_000.0,
    1.0 / 25_852_016_738_884_976_640_000.0,
    1.0 / 620_448_401_733_239_439_360_000.0,
];

/// Stumpff function `c_k(s) = sum_j (-s)^j / (k + 2 j)!`.
///
/// `c_0 = cos sqrt s`, `c_1 = sin sqrt s / sqrt s`, `c_2 = (1 - cos sqrt s)/s`, and so on; for `s < 0` the hyperbolic
/// functions. `k <= 12` (larger orders are clamped). Smooth through `s = 0`.
///
/// From order 3 the recurrence `s c_k = 1/(k-2)! - c_(k-2)` amplifies rounding errors by about `k (k-1)/|s|`, while
/// the terms of the series fall from the start for `|s| < (k+1)(k+2)`: the change from one to the other at
/// `|s| = k (k-1)` loses no more than a few units in the last place on either side.
#[inline]
#[must_use]
pub fn stumpff(k: u32, s: f64) -> f64 {
    let k = k.min(u32::from(MAX_STUMPFF));
    if s.abs() < SMALL { stumpff_series(k, s) } else { stumpff_function(k, s) }
}

/// [`stumpff`] for small arguments: of the terms that are left out, the first is below `1e-17` of the sum.
#[inline]
fn stumpff_series(k: u32, s: f64) -> f64 {
    let k = k as usize;
    let c: &[f64] = &INVERSE_FACTORIAL[k..];
    c[0] - s * (c[2] - s * (c[4] - s * (c[6] - s * (c[8] - s * (c[10] - s * c[12])))))
}

/// [`stumpff`] of the orders 1 and 2 for `s >= 0`, by the sine and cosine of one angle: `c_1(s) = c_1(s/4) c_0(s/4)`, `c_2(s) = c_1(s/4)^2 / 2`.
#[inline]
#[must_use]
pub fn turn_coefficients(s: f64) -> [f64; 2] {
    if s < SMALL {
        return [stumpff_series(1, s), stumpff_series(2, s)];
    }
    // Ten terms are exact below 1: two series at once take less than a root, a sine and two quotients.
    if s < 1.0 {
        let mut sums = [0.0; 2];
        for j in (0..10).rev() {
            for (k, sum) in sums.iter_mut().enumerate() {
                *sum = INVERSE_FACTORIAL[1 + k + 2 * j] - s * *sum;
            }
        }
        return sums;
    }
    let t = 0.5 * libm::sqrt(s);
    let (sine, cosine) = libm::sincos(t);
    let half = sine / t;
    [half * cosine, 0.5 * half * half]
}

fn stumpff_function(k: u32, s: f64) -> f64 {
    match k {
        0 if s < 0.0 => libm::cosh(libm::sqrt(-s)),
        0 => libm::cos(libm::sqrt(s)),
        1 => {
            let t = libm::sqrt(s.abs());
            if t == 0.0 {
                1.0
            } else if s < 0.0 {
                libm::sinh(t) / t
            } else {
                libm::sin(t) / t
            }
        }
        // 1 - cos t = 2 sin^2(t/2): c_2(s) = c_1(s/4)^2 / 2 without cancellation.
        2 => {
            let half = stumpff_function(1, 0.25 * s);
            0.5 * half * half
        }
        _ => {
            if s.abs() > f64::from(k * (k - 1)) {
                return (INVERSE_FACTORIAL[(k - 2) as usize] - stumpff(k - 2, s)) / s;
            }
            let mut n = f64::from(k);
            let mut term = INVERSE_FACTORIAL[k as usize];
            let mut sum = term;
            // Terms fall at least geometrically; 40 bound the loop for NaN, which never satisfies the comparison.
            for _ in 0..40 {
                term *= -s / ((n + 1.0) * (n + 2.0));
                n += 2.0;
                let next = sum + term;
                if next == sum {
                    break;
                }
                sum = next;
            }
            sum
        }
    }
}

/// `zeta(2 n) - 1` for `n = 1..=28`.
const ZETA_EVEN_LESS_ONE: [f64; 28] = [
    0.6449340668482264,
    0.08232323371113819,
    0.01734306198444914,
    0.00407735619794434,
    0.0009945751278180853,
    0.0002460865533080483,
    6.124813505870483e-05,
    1.528225940865187e-05,
    3.81729326499984e-06,
    9.539620338727962e-07,
    2.38450502727733e-07,
    5.960818905125948e-08,
    1.4901554828365043e-08,
    3.725334024788457e-09,
    9.313274324196682e-10,
    2.3283118336765053e-10,
    5.820772087902701e-11,
    1.4551921891041985e-11,
    3.637979547378651e-12,
    9.094947840263888e-13,
    2.2737368458246524e-13,
    5.684341987627585e-14,
    1.4210854828031608e-14,
    3.552713691337114e-15,
    8.881784210930816e-16,
    2.220446050798042e-16,
    5.551115124845481e-17,
    1.3877787809725232e-17,
];

/// Derivative number `n` (0 to 3, larger ones are clamped) by `s` of the coefficient of `skew^2` in the inverse of
/// the tangent operator: `g(s) = (1 - (t/2) cot(t/2))/t^2`, `t = sqrt s`.
///
/// `g(s) = (1 / 2 pi^2) ( 1/(1 - y) + sum_(n>=1) (zeta(2 n) - 1) y^(n-1) )`, `y = s / 4 pi^2`: the pole at one full turn
/// is split off, what remains converges like `(y/4)^n`. All terms are positive for `s >= 0`, so value and derivatives
/// keep full precision from 0 to a full turn, the pole; `g(0) = 1/12`.
#[must_use]
pub fn log_coefficient(n: u32, s: f64) -> f64 {
    const INVERSE_TAU_SQUARED: f64 = 1.0 / (TAU * TAU);
    /// Below `y = 1/32`, about 1.1 rad, so many terms are exact: `12!/9! (1/32)^9 4^-13 < 1e-18`.
    const NEAR: usize = 12;
    let n = n.min(u32::from(MAX_LOG_DERIVATIVE));
    let y = s * INVERSE_TAU_SQUARED;
    let mut sum = 0.0;
    // Horner from the smallest term; the derivative of order n turns y^p into p!/(p-n)! y^(p-n).
    let terms = if y.abs() < 1.0 / 32.0 { &ZETA_EVEN_LESS_ONE[..NEAR] } else { &ZETA_EVEN_LESS_ONE[..] };
    for (p, zeta) in terms.iter().enumerate().skip(n as usize).rev() {
        let mut falling = 1.0;
        for i in 0..n as usize {
            falling *= (p - i) as f64;
        }
        sum = sum * y + zeta * falling;
    }
    let pole = 1.0 / (1.0 - y);
    let mut head = pole;
    let mut scale = 1.0 / (2.0 * PI * PI);
    for i in 1..=n {
        head *= f64::from(i) * pole;
        scale *= INVERSE_TAU_SQUARED;
    }
    scale * (head + sum)
}

/// `2 atan2(n, w) / n` for the norm `n >= 0` of the vector part and the scalar part `w` of a quaternion: what turns the
/// vector part into the rotation vector.
///
/// Near `n = 0` with `w > 0`, `(2/w)(1 - r^2/3 + r^4/5)`, `r = n/w`; below `r = 1e-3` the next term is under `1e-18`.
/// At `n = 0` it is finite for every `w`, so that its product with the zero vector is zero.
#[must_use]
pub fn atan2_over(n: f64, w: f64) -> f64 {
    if n <= 1e-3 * w {
        if w == 0.0 {
            return 0.0;
        }
        let r = n / w;
        let r2 = r * r;
        return 2.0 / w * (1.0 - r2 * (1.0 / 3.0 - r2 / 5.0));
    }
    if n == 0.0 {
        return 2.0 / w;
    }
    2.0 * libm::atan2(n, w) / n
}

/// The representative of `angle` modulo a full turn that lies nearest to `reference`, rad:
/// `angle + 2 pi round((reference - angle) / (2 pi))`.
#[must_use]
pub fn unwrap_angle(angle: f64, reference: f64) -> f64 {
    angle + TAU * libm::round((reference - angle) / TAU)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Plain partial sums in ascending order: the independent route, good for |s| <= 1.
    fn reference(k: u32, s: f64) -> f64 {
        let mut factorial: f64 = (1..=k).map(f64::from).product();
        let mut sum = 0.0;
        let mut power = 1.0;
        for j in 0..20 {
            sum += power / factorial;
            power *= -s;
            let n = f64::from(k + 2 * j);
            factorial *= (n + 1.0) * (n + 2.0);
        }
        sum
    }

    #[test]
    fn stumpff_matches_its_series() {
        for k in 0..=9 {
            for s in [-1.0, -1e-3, 0.0, 1e-18, 1e-9, 1e-4, 0.3, 1.0] {
                let (a, b) = (stumpff(k, s), reference(k, s));
                assert!((a - b).abs() <= 4.0 * f64::EPSILON * b.abs(), "k = {k}, s = {s}: {a} and {b}");
            }
        }
    }

    #[test]
    fn coefficients_of_turns() {
        for s in [0.0, 1e-300, 1e-3, 0.099, 0.101, 1.0, 4.0, 9.0, 30.0] {
            let [c_1, c_2] = turn_coefficients(s);
            assert!((c_1 - stumpff(1, s)).abs() < 3e-16 && (c_2 - stumpff(2, s)).abs() < 2e-16, "{s}");
        }
    }

    #[test]
    fn stumpff_is_continuous_where_the_formula_changes() {
        for k in 3..=9_u32 {
            let s = f64::from(k * (k - 1));
            let (a, b) = (stumpff(k, s), stumpff(k, s * (1.0 + 1e-15)));
            assert!((a - b).abs() <= 2e-14 * a.abs(), "k = {k}: {a} and {b}");
        }
    }

    #[test]
    fn log_coefficient_matches_closed_form_and_equation() {
        for t in [0.5, 1.0, 2.0, 3.0, 3.1, 4.0] {
            let s: f64 = t * t;
            let closed = (1.0 - 0.5 * t / libm::tan(0.5 * t)) / s;
            let g = log_coefficient(0, s);
            assert!((g - closed).abs() < 1e-14, "{t}: {g} and {closed}");
            // s g' = 1/8 - 3 g/2 + s g^2/2 and its derivatives.
            let (g1, g2, g3) = (log_coefficient(1, s), log_coefficient(2, s), log_coefficient(3, s));
            assert!((s * g1 - (0.125 - 1.5 * g + 0.5 * s * g * g)).abs() < 1e-15);
            assert!((g1 + s * g2 - (-1.5 * g1 + 0.5 * g * g + s * g * g1)).abs() < 1e-15);
            assert!((2.0 * g2 + s * g3 - (-1.5 * g2 + 2.0 * g * g1 + s * (g1 * g1 + g * g2))).abs() < 1e-15);
        }
        for (n, value) in [(0, 1.0 / 12.0), (1, 1.0 / 720.0), (2, 2.0 / 30240.0), (3, 6.0 / 1_209_600.0)] {
            let g = log_coefficient(n, 0.0);
            assert!((g - value).abs() <= 4.0 * f64::EPSILON * value, "{n}: {g} and {value}");
        }
    }

    #[test]
    fn angles() {
        assert_eq!(atan2_over(0.0, 1.0), 2.0);
        assert!(atan2_over(0.0, 0.0).is_finite() && atan2_over(0.0, -1.0).is_finite());
        assert!((atan2_over(1e-3, 1.0) - 2.0 * libm::atan(1e-3) / 1e-3).abs() < 1e-15);
        assert!((atan2_over(1.0, 0.0) - PI).abs() < 1e-15);
        assert!((unwrap_angle(-3.0, 3.2) - (TAU - 3.0)).abs() < 1e-15);
        assert_eq!(unwrap_angle(0.1, 0.0), 0.1);
    }
}
