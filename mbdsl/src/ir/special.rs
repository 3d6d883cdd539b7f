//! The entire and meromorphic functions of rotation vectors, accurate to round-off at their removable singularities.
//!
//! Stumpff functions `c_k(s) = sum_j (-s)^j / (k + 2j)!` (with `s = t^2`: `c_0 = cos t`, `c_1 = sin t / t`):
//! - below `s = 5 k` by the series: the ratio of the first two terms, `s / ((k+1)(k+2))`, stays below 1 for every `k >= 3`,
//!   so that cancellation costs less than two units in the last place, and 16 terms leave less than 1e-17;
//! - above by the recurrence `c_{k+2} = (1/k! - c_k) / s`, which amplifies errors by `c_k / (1/k! - c_k)`, below 1 there,
//!   from `c_1 = sin t / t` or `c_2 = 2 (sin(t/2) / t)^2`, which have no cancellation.
//!
//! The coefficient in `dexp^-1`, `g(s) = (1 - (t/2) cot(t/2)) / t^2 = sum_n 2 / (4 pi^2 n^2 - s)` (partial fractions): the first two
//! poles as they stand, the rest as its series `sum_j 2 (zeta(2j+2) - 1 - 4^-(j+1)) / (2 pi)^(2j+2) s^j`, which converges with
//! ratio `s / (36 pi^2)`. All terms are positive for `0 <= s < 4 pi^2`, hence no cancellation, in any derivative.

use std::f64::consts::PI;

/// Largest `k` of [`stumpff`].
pub const MAX_STUMPFF: u8 = 12;

/// Highest derivative of [`log_coefficient`].
pub const MAX_LOG_DERIVATIVE: u8 = 3;

/// Terms after the first for `|s| <= 1`: the next one is below 1/20!.
const FEW_TERMS: usize = 9;

/// Terms after the first for `s <= 5 k`: `s^17 k! / (k + 34)!` is below 1e-18 for every k.
const MANY_TERMS: usize = 16;

/// `1/n!`; exact products up to 22!, and the later ones only weigh terms that are small.
const INVERSE_FACTORIAL: [f64; MAX_STUMPFF as usize + 2 * MANY_TERMS + 1] = {
    let mut table = [1.0; MAX_STUMPFF as usize + 2 * MANY_TERMS + 1];
    let mut factorial = 1.0;
    let mut n = 1;
    while n < table.len() {
        factorial *= n as f64;
        table[n] = 1.0 / factorial;
        n += 1;
    }
    table
};

/// Stumpff function `c_k(s)`, `k <= 12`, for every `s` of either sign (accurate for `s >= -40`).
///
/// # Panics
/// If `k > 12`.
#[must_use]
pub fn stumpff(k: u8, s: f64) -> f64 {
    let k = usize::from(k);
    let bound = if k < 3 { 1.0 } else { 5.0 * k as f64 };
    if s <= bound {
        let terms = if s.abs() <= 1.0 { FEW_TERMS } else { MANY_TERMS };
        return (0..terms)
            .rev()
            .fold(INVERSE_FACTORIAL[k + 2 * terms], |sum, j| INVERSE_FACTORIAL[k + 2 * j] - s * sum);
    }
    let t = s.sqrt();
    if k == 0 {
        return libm::cos(t);
    }
    let half = libm::sin(0.5 * t) / t;
    let (mut c, mut j) = if k % 2 == 1 { (libm::sin(t) / t, 1) } else { (2.0 * half * half, 2) };
    while j < k {
        c = (INVERSE_FACTORIAL[j] - c) / s;
        j += 2;
    }
    c
}

/// `2 (zeta(2j+2) - 1 - 4^-(j+1)) / (2 pi)^(2j+2)`; at `s = 4 pi^2` the 17th term is below 1e-14 of the second pole.
const LOG_SERIES: [f64; 16] = [
    0.020007593556872226,
    2.543812068862562e-05,
    5.584568390494415e-08,
    1.4088241574761048e-10,
    3.756716200215798e-13,
    1.028012537536046e-15,
    2.850022129213791e-18,
    7.955575410719845e-21,
    2.2289326645537012e-23,
    6.257471150805773e-26,
    1.758673049290968e-28,
    4.945846950057938e-31,
    1.391382678908088e-33,
    3.9150442526453145e-36,
    1.1017268914671419e-38,
    3.1005426917707373e-41,
];

/// Derivative number `n <= 3` by `s` of `g(s) = (1 - (t/2) cot(t/2)) / t^2`, `t = sqrt s`.
///
/// Full accuracy for `-10 <= s < 4 pi^2` (rotation vectors of less than a turn); beyond the pole by the closed form and the
/// differential equation `s g' = 1/8 - 3/2 g + s g^2 / 2`.
///
/// # Panics
/// If `n > 3`.
#[must_use]
pub fn log_coefficient(n: u8, s: f64) -> f64 {
    assert!(n <= MAX_LOG_DERIVATIVE, "derivatives of the coefficient in dexp^-1 are known up to the third");
    const FIRST_POLE: f64 = 4.0 * PI * PI;
    if s >= FIRST_POLE {
        return log_coefficient_beyond(n, s);
    }
    let n = usize::from(n);
    let tail = (n..LOG_SERIES.len()).rev().fold(0.0, |sum, j| {
        let falling: usize = (0..n).map(|i| j - i).product();
        LOG_SERIES[j] * falling as f64 + s * sum
    });
    let (p, q) = (1.0 / (FIRST_POLE - s), 1.0 / (4.0 * FIRST_POLE - s));
    let (mut p_power, mut q_power) = (2.0 * p, 2.0 * q);
    for i in 1..=n {
        p_power *= p * i as f64;
        q_power *= q * i as f64;
    }
    p_power + (q_power + tail)
}

fn log_coefficient_beyond(n: u8, s: f64) -> f64 {
    let half = 0.5 * s.sqrt();
    let g = (1.0 - half * libm::cos(half) / libm::sin(half)) / s;
    let g1 = (0.125 - 1.5 * g + 0.5 * s * g * g) / s;
    let g2 = (-2.5 * g1 + 0.5 * g * g + s * g * g1) / s;
    let g3 = (-3.5 * g2 + 2.0 * g * g1 + s * (g1 * g1 + g * g2)) / s;
    [g, g1, g2, g3][usize::from(n)]
}

/// `2 atan2(a, b) / a`; `2 / b` where `(a/b)^2 / 3`, the next term of the series, is below round-off.
#[must_use]
pub fn atan2_over(a: f64, b: f64) -> f64 {
    if b > 0.0 && a.abs() <= 1e-8 * b { 2.0 / b } else { 2.0 * libm::atan2(a, b) / a }
}

/// `a + 2 pi k` with the integer `k` that brings it nearest to `b`.
#[must_use]
pub fn unwrap_angle(a: f64, b: f64) -> f64 {
    a + 2.0 * PI * libm::round((b - a) / (2.0 * PI))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Relative error that one unit in the last place of `s` explains, plus a few roundings.
    fn check(name: &str, value: f64, exact: f64, slope: f64, s: f64) {
        let tolerance = 1e-15 * exact.abs() * 6.0 + 2.3e-16 * (s * slope).abs();
        assert!((value - exact).abs() <= tolerance, "{name}({s}) = {value:e}, not {exact:e}");
    }

    /// Double-double sum of the series: no cancellation of double rounding up to s = 400.
    mod exact {
        #[derive(Clone, Copy)]
        pub struct Dd(pub f64, pub f64);

        impl Dd {
            fn sum(a: f64, b: f64) -> Self {
                let s = a + b;
                let t = s - a;
                Self(s, (a - (s - t)) + (b - t))
            }

            pub fn add(self, o: Self) -> Self {
                let Self(h, l) = Self::sum(self.0, o.0);
                let Self(h2, l2) = Self::sum(self.1, o.1);
                let Self(h, l) = Self::sum(h, l + h2);
                Self::sum(h, l + l2)
            }

            pub fn mul(self, x: f64) -> Self {
                let p = self.0 * x;
                let e = self.0.mul_add(x, -p);
                Self::sum(p, e + self.1 * x)
            }

            pub fn div(self, x: f64) -> Self {
                let q = self.0 / x;
                let r = q.mul_add(-x, self.0) + self.1;
                Self::sum(q, r / x)
            }
        }

        pub fn stumpff(k: u32, s: f64) -> f64 {
            let mut term = Dd(1.0, 0.0);
            for i in 1..=k {
                term = term.div(f64::from(i));
            }
            let mut sum = term;
            for j in 0..120 {
                term = term.mul(-s).div(f64::from((k + 2 * j + 1) * (k + 2 * j + 2)));
                sum = sum.add(term);
            }
            sum.0
        }
    }

    #[test]
    fn stumpff_agrees_with_its_series() {
        for k in 0..=12_u8 {
            for i in 0..4000 {
                let s = 0.0375 * f64::from(i) - 10.0;
                let exact = exact::stumpff(u32::from(k), s);
                // c_k' = (k c_{k+2} - c_{k+1}) / 2
                let slope =
                    0.5 * (f64::from(k) * exact::stumpff(u32::from(k) + 2, s) - exact::stumpff(u32::from(k) + 1, s));
                // The value at a double zero of c_2 is known to the square of what one rounding of t explains.
                check(&format!("c_{k}"), stumpff(k, s), exact, slope + 1e-3 * exact.abs(), s);
            }
            assert_eq!(stumpff(k, 0.0), INVERSE_FACTORIAL[usize::from(k)]);
        }
    }

    #[test]
    fn stumpff_is_continuous_at_its_thresholds() {
        for k in 0..=12_u8 {
            for s in [-1.0, 1.0, 5.0 * f64::from(k)] {
                let (a, b) = (stumpff(k, s), stumpff(k, s + 1e-15 * (1.0 + s.abs())));
                assert!((a - b).abs() <= 1e-14 * a.abs(), "c_{k} at {s}: {a} {b}");
            }
        }
    }

    #[test]
    fn log_coefficient_has_the_known_series() {
        let bernoulli = [1.0 / 12.0, 1.0 / 720.0, 1.0 / 30240.0, 1.0 / 1_209_600.0, 1.0 / 47_900_160.0];
        let mut factorial = 1.0;
        for n in 0..=3_u8 {
            check("g", log_coefficient(n, 0.0), bernoulli[usize::from(n)] * factorial, 0.0, 0.0);
            factorial *= f64::from(n) + 1.0;
        }
    }

    #[test]
    fn log_coefficient_agrees_with_partial_fractions() {
        for n in 0..=3_i32 {
            let factorial = f64::from((1..=n).product::<i32>());
            for i in -50..=394 {
                let s = 0.1 * f64::from(i);
                // The tail of the sum over poles beyond N by the midpoint rule, error O(N^-3) of it.
                let poles = 80_000;
                let term = |m: f64| 2.0 * factorial / (4.0 * PI * PI * m * m - s).powi(n + 1);
                let mut exact: f64 = (1..=poles).rev().map(|m| term(f64::from(m))).sum();
                if n == 0 {
                    exact += 2.0 / (4.0 * PI * PI * (f64::from(poles) + 0.5));
                }
                let value = log_coefficient(u8::try_from(n).expect("small"), s);
                let near_pole = f64::from(n + 1) * s.abs() / (4.0 * PI * PI - s).abs() * 2.3e-16;
                assert!(
                    (value - exact).abs() <= (4e-15 + near_pole) * exact.abs(),
                    "g^({n})({s}) = {value:e}, not {exact:e}"
                );
            }
        }
    }

    #[test]
    fn log_coefficient_beyond_the_pole_obeys_its_equation() {
        for s in [45.0, 70.0, 120.0] {
            for n in 0..3_u8 {
                let h = 1e-4;
                let difference = (log_coefficient(n, s + h) - log_coefficient(n, s - h)) / (2.0 * h);
                let derivative = log_coefficient(n + 1, s);
                assert!(
                    (difference - derivative).abs() <= 1e-6 * derivative.abs(),
                    "{n} {s}: {difference} {derivative}"
                );
            }
        }
        // Both forms hold between half a turn and a turn.
        for s in [12.0, 20.0, 35.0] {
            let (a, b) = (log_coefficient(0, s), log_coefficient_beyond(0, s));
            assert!((a - b).abs() <= 1e-14 * a);
        }
    }

    #[test]
    fn atan2_over_is_continuous_at_zero() {
        assert_eq!(atan2_over(0.0, 2.0), 1.0);
        for b in [0.3, 1.0, 40.0] {
            for a in [1e-8 * b, 1.000_001e-8 * b, 3e-9 * b] {
                assert!((atan2_over(a, b) - 2.0 / b).abs() <= 1e-15 / b);
            }
        }
        assert_eq!(atan2_over(1.0, 0.0), PI);
    }

    #[test]
    fn unwrap_finds_the_nearest_turn() {
        for turns in -3..=3 {
            let target = 0.4 + 2.0 * PI * f64::from(turns);
            assert!((unwrap_angle(0.3, target) - (target - 0.1)).abs() < 1e-14);
        }
    }
}
