//! Numerical functions for the evaluation of expressions, written apart from those of the back ends, so that one checks
//! the other. They favour accuracy over speed.

use std::f64::consts::PI;

/// A matrix, by rows.
pub type Mat3 = [[f64; 3]; 3];

/// Stumpff function `c_k(s) = sum_j (-s)^j / (k + 2 j)!`.
///
/// Below `s = (k + 1)(k + 2) / 2` the terms of the series fall, so that it is summed; above, `c_k = (1/(k-2)! - c_{k-2}) / s`
/// cancels no more than one digit.
#[must_use]
pub fn stumpff(k: u8, s: f64) -> f64 {
    let order = f64::from(k);
    if s <= 0.5 * (order + 1.0) * (order + 2.0) {
        let mut term = 1.0 / factorial(k);
        let mut sum = term;
        let mut n = order;
        while libm::fabs(term) > f64::EPSILON * 0.01 * libm::fabs(sum) && sum.is_finite() {
            term *= -s / ((n + 1.0) * (n + 2.0));
            sum += term;
            n += 2.0;
        }
        return sum;
    }
    let t = libm::sqrt(s);
    match k {
        0 => libm::cos(t),
        1 => libm::sin(t) / t,
        2 => {
            // 1 - cos t, without cancellation near full turns.
            let h = libm::sin(0.5 * t);
            2.0 * h * h / s
        }
        3.. => (1.0 / factorial(k - 2) - stumpff(k - 2, s)) / s,
    }
}

fn factorial(k: u8) -> f64 {
    (1..=k).fold(1.0, |p, j| p * f64::from(j))
}

/// n-th derivative by `s` of `g(s) = (1 - (t/2) cot(t/2)) / t^2`, `t = sqrt s`.
///
/// `g = sum_m 2 / ((2 pi m)^2 - s)`: the nearest pole as it stands, the others by their power series, which converges
/// like `(s / (4 pi)^2)^k`. Meant for `s` up to about `(2 pi)^2`, where the pole is.
#[must_use]
pub fn log_coefficient(n: u8, s: f64) -> f64 {
    let pole = 4.0 * PI * PI;
    let order = f64::from(n);
    let nearest = 2.0 * factorial(n) / powi(pole - s, u32::from(n) + 1);
    // sum_{k > n} 2 (zeta(2k) - 1) / (2 pi)^{2k} (k-1)! / (k-1-n)! s^{k-1-n}
    let mut rest = 0.0;
    let mut power = factorial(n) / powi(pole, u32::from(n) + 1);
    for j in 0..60_u32 {
        let j_num = f64::from(j);
        rest += 2.0 * zeta_minus_one(2 * (j + u32::from(n) + 1)) * power;
        power *= s / pole * (j_num + order + 1.0) / (j_num + 1.0);
    }
    nearest + rest
}

/// `zeta(n) - 1`, n even.
fn zeta_minus_one(n: u32) -> f64 {
    match n {
        2 => PI * PI / 6.0 - 1.0,
        4 => powi(PI, 4) / 90.0 - 1.0,
        6 => powi(PI, 6) / 945.0 - 1.0,
        // Smallest terms first.
        _ => (2..=200_u32).rev().map(|m| 1.0 / powi(f64::from(m), n)).sum(),
    }
}

fn powi(x: f64, n: u32) -> f64 {
    (0..n).fold(1.0, |p, _| p * x)
}

/// `atan2(n, w) / n` for `n >= 0`, also at `n = 0`.
#[must_use]
pub fn atan2_over(n: f64, w: f64) -> f64 {
    // There the next term of the series, (n/w)^4 / 5, is below the last bit.
    if w > 0.0 && n < 1e-4 * w {
        let r = n / w;
        return (1.0 - r * r / 3.0) / w;
    }
    libm::atan2(n, w) / n
}

/// `angle + 2 pi k` with the integer `k` that brings it nearest to `memory`.
#[must_use]
pub fn unwrap_angle(angle: f64, memory: f64) -> f64 {
    let turn = 2.0 * PI;
    angle + turn * libm::floor((memory - angle) / turn + 0.5)
}

/// Remainder with the sign of the divisor.
#[must_use]
pub fn modulo(a: f64, b: f64) -> f64 {
    a - b * libm::floor(a / b)
}

/// `a . b`
#[must_use]
pub fn dot(a: [f64; 3], b: [f64; 3]) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

/// `a x b`
#[must_use]
pub fn cross(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

/// `m a`
#[must_use]
pub fn mat_vec(m: Mat3, a: [f64; 3]) -> [f64; 3] {
    m.map(|row| dot(row, a))
}

/// `m n`
#[must_use]
pub fn mat_mul(m: Mat3, n: Mat3) -> Mat3 {
    let nt = transpose(n);
    m.map(|row| nt.map(|column| dot(row, column)))
}

/// `m^T`
#[must_use]
pub fn transpose(m: Mat3) -> Mat3 {
    [0, 1, 2].map(|j| [m[0][j], m[1][j], m[2][j]])
}

/// `skew(a)`
#[must_use]
pub fn skew(a: [f64; 3]) -> Mat3 {
    [[0.0, -a[2], a[1]], [a[2], 0.0, -a[0]], [-a[1], a[0], 0.0]]
}

/// Rotation of the rotation vector `w`: `I + c_1 skew(w) + c_2 skew(w)^2`.
#[must_use]
pub fn exp_so3(w: [f64; 3]) -> Mat3 {
    let s = dot(w, w);
    rodrigues(w, stumpff(1, s), stumpff(2, s))
}

/// Rotation by an angle about an axis of any length but zero.
#[must_use]
pub fn about(axis: [f64; 3], angle: f64) -> Mat3 {
    let length = libm::sqrt(dot(axis, axis));
    let h = libm::sin(0.5 * angle);
    rodrigues(axis.map(|c| c / length), libm::sin(angle), 2.0 * h * h)
}

fn rodrigues(w: [f64; 3], c1: f64, c2: f64) -> Mat3 {
    let k = skew(w);
    let kk = mat_mul(k, k);
    let mut m = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
    for i in 0..3 {
        for j in 0..3 {
            m[i][j] += c1 * k[i][j] + c2 * kk[i][j];
        }
    }
    m
}

/// Rotation vector, of length up to pi, of a rotation: by the quaternion whose largest component is found first, so that
/// neither the identity nor a half turn is special.
#[must_use]
pub fn log_so3(m: Mat3) -> [f64; 3] {
    let trace = m[0][0] + m[1][1] + m[2][2];
    // The axis whose component is the largest one.
    let i = (1..3).fold(0, |best, i| if m[i][i] > m[best][best] { i } else { best });
    let (j, k) = ((i + 1) % 3, (i + 2) % 3);
    let (mut w, mut v);
    if trace >= m[i][i] {
        let r = 2.0 * libm::sqrt(1.0 + trace);
        w = 0.25 * r;
        v = [(m[2][1] - m[1][2]) / r, (m[0][2] - m[2][0]) / r, (m[1][0] - m[0][1]) / r];
    } else {
        let r = 2.0 * libm::sqrt(1.0 + m[i][i] - m[j][j] - m[k][k]);
        w = (m[k][j] - m[j][k]) / r;
        v = [0.0; 3];
        v[i] = 0.25 * r;
        v[j] = (m[j][i] + m[i][j]) / r;
        v[k] = (m[k][i] + m[i][k]) / r;
    }
    if w < 0.0 {
        w = -w;
        v = v.map(|c| -c);
    }
    let factor = 2.0 * atan2_over(libm::sqrt(dot(v, v)), w);
    v.map(|c| factor * c)
}

/// The vectors `perp1(a)` and `perp2(a)`, unit vectors that make a right-handed triad with `a`.
///
/// `perp1` is the part across `a` of the axis after the one along which `a` is longest.
#[must_use]
pub fn perp(a: [f64; 3]) -> ([f64; 3], [f64; 3]) {
    let k = (1..3).fold(0, |best, k| if libm::fabs(a[k]) > libm::fabs(a[best]) { k } else { best });
    let axis = (k + 1) % 3;
    let square = dot(a, a);
    let mut p = a.map(|c| -c * a[axis] / square);
    p[axis] += 1.0;
    let length = libm::sqrt(dot(p, p));
    let p = p.map(|c| c / length);
    let a_length = libm::sqrt(square);
    (p, cross(a, p).map(|c| c / a_length))
}

#[cfg(test)]
mod tests;
