//! Jacobi's elliptic functions, and the elliptic integral of the third kind by Carlson's symmetric integrals.
//!
//! Source: B. C. Carlson, Numerical algorithms 10 (1995) 13 (duplication), and Abramowitz and Stegun 16.4 (arithmetic-geometric
//! mean). The complementary parameter `1 - m` is an argument of its own, so that nothing cancels near `m = 1`.

use core::f64::consts::PI;

/// `sn`, `cn`, `dn` at one argument.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Jacobi {
    pub(super) sn: f64,
    pub(super) cn: f64,
    pub(super) dn: f64,
}

/// Steps of the arithmetic-geometric mean: it converges quadratically, in at most eight for `1 - m > 1e-16`.
const MEANS: usize = 12;

/// The functions at `u`, with `u` reduced by `k` half periods `2 K` to at most `K` in size: the functions at the reduced
/// argument, and `k`. (An odd `k` changes the signs of `sn` and `cn`.)
pub(super) fn jacobi(u: f64, m: f64, complement: f64) -> (Jacobi, f64) {
    let (mut a, mut c) = ([0.0; MEANS + 1], [0.0; MEANS + 1]);
    a[0] = 1.0;
    c[0] = libm::sqrt(m);
    let mut b = libm::sqrt(complement);
    let mut n = 0;
    while n < MEANS && c[n] > f64::EPSILON * a[n] {
        (a[n + 1], c[n + 1]) = (0.5 * (a[n] + b), 0.5 * (a[n] - b));
        b = libm::sqrt(a[n] * b);
        n += 1;
    }
    let half_period = PI / a[n];
    let turns = libm::round(u / half_period);
    let u = u - turns * half_period;
    let mut phi = a[n] * u * f64::from(1_u32 << n);
    for k in (1..=n).rev() {
        phi = 0.5 * (phi + libm::asin(c[k] / a[k] * libm::sin(phi)));
    }
    let (sn, cn) = (libm::sin(phi), libm::cos(phi));
    (Jacobi { sn, cn, dn: libm::sqrt(cn * cn + complement * sn * sn) }, turns)
}

impl Jacobi {
    /// The functions at the sum of two arguments.
    pub(super) fn plus(&self, v: &Self, m: f64) -> Self {
        let (s1, c1, d1, s2, c2, d2) = (self.sn, self.cn, self.dn, v.sn, v.cn, v.dn);
        // 1 - m s1^2 s2^2 without cancellation
        let inverse = 1.0 / (c2 * c2 + s2 * s2 * d1 * d1);
        Self {
            sn: (s1 * c2 * d2 + s2 * c1 * d1) * inverse,
            cn: (c1 * c2 - s1 * d1 * s2 * d2) * inverse,
            dn: (d1 * d2 - m * s1 * c1 * s2 * c2) * inverse,
        }
    }

    /// Amplitude in `(-pi, pi]`.
    fn amplitude(&self) -> f64 {
        libm::atan2(self.sn, self.cn)
    }
}

/// `Pi(n; am u1) - Pi(n; am u0)` for `u1 - u0` of at most `K` in size, `n < 1`; `Pi(n; phi)` is the integral of
/// `1/((1 - n sin^2) sqrt(1 - m sin^2))` from 0 to `phi`. With it the size of what was subtracted.
pub(super) fn third_kind_between(n: f64, complement: f64, from: &Jacobi, to: &Jacobi) -> (f64, f64) {
    let (a0, mut a1) = (from.amplitude(), to.amplitude());
    // The amplitude changes by less than a half turn.
    if a1 - a0 > PI {
        a1 -= 2.0 * PI;
    } else if a0 - a1 > PI {
        a1 += 2.0 * PI;
    }
    let half_turns = |a: f64| libm::round(a / PI);
    let (k0, k1) = (half_turns(a0), half_turns(a1));
    let sign = |k: f64| if k % 2.0 == 0.0 { 1.0 } else { -1.0 };
    let (f0, f1) = (sign(k0) * third_kind(n, complement, from), sign(k1) * third_kind(n, complement, to));
    let whole = if k0 == k1 { 0.0 } else { 2.0 * (k1 - k0) * complete_third_kind(n, complement) };
    (f1 - f0 + whole, f0.abs() + f1.abs() + whole.abs())
}

/// `Pi(n; phi)` for `sn = sin phi`, `|phi| <= pi/2`.
fn third_kind(n: f64, complement: f64, at: &Jacobi) -> f64 {
    let (s2, c2) = (at.sn * at.sn, at.cn * at.cn);
    let d2 = c2 + complement * s2;
    at.sn * (rf(c2, d2, 1.0) + n / 3.0 * s2 * rj(c2, d2, 1.0, c2 + (1.0 - n) * s2))
}

/// `Pi(n; pi/2)`.
pub(super) fn complete_third_kind(n: f64, complement: f64) -> f64 {
    third_kind(n, complement, &Jacobi { sn: 1.0, cn: 0.0, dn: libm::sqrt(complement) })
}

/// Relative distance of the arguments from their mean at which the series of Carlson, of order 7 without its highest terms,
/// is exact to round-off: `(eps/4)^(1/6)`.
const NEAR: f64 = 1.9e-3;

/// Duplications before giving up: each quarters the distance, so that thirty suffice for any ratio of doubles that occurs.
const DUPLICATIONS: usize = 60;

/// Carlson's `R_F(x, y, z)`: half the integral of `1/sqrt((t+x)(t+y)(t+z))` over `t > 0`; at most one argument is zero.
fn rf(mut x: f64, mut y: f64, mut z: f64) -> f64 {
    let mut mean = (x + y + z) / 3.0;
    for _ in 0..DUPLICATIONS {
        if (mean - x).abs().max((mean - y).abs()).max((mean - z).abs()) <= NEAR * mean {
            break;
        }
        let (rx, ry, rz) = (libm::sqrt(x), libm::sqrt(y), libm::sqrt(z));
        let lambda = rx * ry + ry * rz + rz * rx;
        (x, y, z) = (0.25 * (x + lambda), 0.25 * (y + lambda), 0.25 * (z + lambda));
        mean = 0.25 * (mean + lambda);
    }
    let (x, y) = ((mean - x) / mean, (mean - y) / mean);
    let z = -x - y;
    let (e2, e3) = (x * y - z * z, x * y * z);
    (1.0 - e2 / 10.0 + e3 / 14.0 + e2 * e2 / 24.0 - 3.0 * e2 * e3 / 44.0) / libm::sqrt(mean)
}

/// Carlson's `R_C(1, 1 + e)`, `e > -1`.
fn rc(e: f64) -> f64 {
    if e.abs() < 1e-3 {
        // The next term is e^6/13.
        return 1.0 - e * (1.0 / 3.0 - e * (1.0 / 5.0 - e * (1.0 / 7.0 - e * (1.0 / 9.0 - e / 11.0))));
    }
    let r = libm::sqrt(e.abs());
    if e > 0.0 { libm::atan(r) / r } else { libm::atanh(r) / r }
}

/// Carlson's `R_J(x, y, z, p)`: 3/2 of the integral of `1/((t+p) sqrt((t+x)(t+y)(t+z)))` over `t > 0`, `p > 0`.
fn rj(mut x: f64, mut y: f64, mut z: f64, mut p: f64) -> f64 {
    let mut mean = (x + y + z + 2.0 * p) / 5.0;
    let mut delta = (p - x) * (p - y) * (p - z);
    let (mut sum, mut scale) = (0.0, 1.0);
    for _ in 0..DUPLICATIONS {
        let far = (mean - x).abs().max((mean - y).abs()).max((mean - z).abs()).max((mean - p).abs());
        if far <= NEAR * mean {
            break;
        }
        let (rx, ry, rz, rp) = (libm::sqrt(x), libm::sqrt(y), libm::sqrt(z), libm::sqrt(p));
        let lambda = rx * ry + ry * rz + rz * rx;
        let d = (rp + rx) * (rp + ry) * (rp + rz);
        sum += scale / d * rc(delta / (d * d));
        scale *= 0.25;
        delta /= 64.0;
        (x, y, z, p) = (0.25 * (x + lambda), 0.25 * (y + lambda), 0.25 * (z + lambda), 0.25 * (p + lambda));
        mean = 0.25 * (mean + lambda);
    }
    let (x, y, z) = ((mean - x) / mean, (mean - y) / mean, (mean - z) / mean);
    let p = -0.5 * (x + y + z);
    let e2 = x * y + y * z + z * x - 3.0 * p * p;
    let xyz = x * y * z;
    let e3 = xyz + 2.0 * e2 * p + 4.0 * p * p * p;
    let e4 = (2.0 * xyz + e2 * p + 3.0 * p * p * p) * p;
    let e5 = xyz * p * p;
    let series = 1.0 - 3.0 * e2 / 14.0 + e3 / 6.0 + 9.0 * e2 * e2 / 88.0 - 3.0 * e4 / 22.0 - 9.0 * e2 * e3 / 52.0
        + 3.0 * e5 / 26.0;
    scale * series / (mean * libm::sqrt(mean)) + 6.0 * sum
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(a: f64, b: f64) {
        assert!((a - b).abs() <= 4e-15 * b.abs().max(1.0), "{a} and {b}");
    }

    #[test]
    fn symmetric_integrals() {
        // Published check values of Carlson's algorithms.
        close(rf(1.0, 2.0, 0.0), 1.311_028_777_146_059_9);
        close(rf(2.0, 3.0, 4.0), 0.584_082_841_677_151_7);
        close(rj(0.0, 1.0, 2.0, 3.0), 0.776_886_237_785_823_3);
        close(rj(2.0, 3.0, 4.0, 5.0), 0.142_975_796_671_567_54);
        close(rc(0.0), 1.0);
        let r = libm::sqrt(9.99e-4);
        close(rc(9.99e-4), libm::atan(r) / r);
        close(rc(-9.99e-4), libm::atanh(r) / r);
    }

    #[test]
    fn functions_at_known_places() {
        // m = 0 and nearly 1: circular and hyperbolic functions.
        let (at, turns) = jacobi(0.7, 0.0, 1.0);
        close(at.sn, libm::sin(0.7));
        assert_eq!((at.dn, turns), (1.0, 0.0));
        let (at, _) = jacobi(0.7, 1.0 - 1e-14, 1e-14);
        assert!((at.sn - libm::tanh(0.7)).abs() < 1e-13);
        // Half of the quarter period: sn^2 = 1/(1 + sqrt(1 - m)).
        let (m, complement) = (0.36, 0.64);
        let quarter = complete_third_kind(0.0, complement);
        let (half, _) = jacobi(0.5 * quarter, m, complement);
        close(half.sn * half.sn, 1.0 / 1.8);
        let whole = half.plus(&half, m);
        close(whole.sn, 1.0);
        close(whole.dn, 0.8);
        let (past, turns) = jacobi(2.3 * quarter, m, complement);
        assert_eq!(turns, 1.0);
        let (rest, _) = jacobi(0.3 * quarter, m, complement);
        close(past.sn, rest.sn);
    }

    #[test]
    fn third_kind_is_the_integral() {
        let (m, complement, n) = (0.7, 0.3, -2.3);
        // Simpson's rule over u from -0.4 to 5.2 K: past several half turns.
        let quarter = complete_third_kind(0.0, complement);
        let at = |u: f64| {
            let (mut j, turns) = jacobi(u, m, complement);
            if turns % 2.0 != 0.0 {
                (j.sn, j.cn) = (-j.sn, -j.cn);
            }
            j
        };
        for (u0, u1) in [(-0.4, 0.3), (0.9, 1.8), (1.8, 2.6), (2.7, 3.5), (0.3, -0.4), (3.1, 2.2), (5.0, 4.9)] {
            let (u0, u1) = (u0 * quarter, u1 * quarter);
            let steps = 400;
            let du = (u1 - u0) / f64::from(steps);
            let mut sum = 0.0;
            for k in 0..=steps {
                let sn = at(u0 + f64::from(k) * du).sn;
                let weight = if k == 0 || k == steps { 1.0 } else { f64::from(2 + 2 * (k % 2)) };
                sum += weight / (1.0 - n * sn * sn);
            }
            let (found, size) = third_kind_between(n, complement, &at(u0), &at(u1));
            assert!((found - sum * du / 3.0).abs() < 1e-9, "{u0} {u1}: {found}, {}", sum * du / 3.0);
            assert!(size >= found.abs());
        }
        close(third_kind_between(n, complement, &at(0.0), &at(quarter)).0, complete_third_kind(n, complement));
    }
}
