//! Pendulums stepped by code written for each of them alone: what interpreted and generated code is measured against.
//!
//! Everything has a static size, Newton's matrices are exact, tangent operators included, and eliminated on paper; unknowns
//! are extrapolated from four steps; the size of an update decides whether another one is needed.

pub mod double;
pub mod single;

use nalgebra::{Matrix3, SVector, Vector3};

type V3 = Vector3<f64>;
type M3 = Matrix3<f64>;

/// Square of the units of round-off that an update must come down to.
const ENOUGH: f64 = 16.0;

/// Squares of units below which updates that no longer fall are noise.
const NOISE: f64 = 1e8;

/// Iterations after which a step is given up.
const LIMIT: usize = 30;

/// Steps between two repairs of the rotation.
const POLISH_EVERY: u64 = 1000;

/// Steps after which it is measured again how iterations converge.
const MEASURE_EVERY: u32 = 128;

/// The unknowns of the last four steps.
#[derive(Clone, Debug)]
struct History<const N: usize> {
    values: [SVector<f64, N>; 4],
    head: usize,
    known: usize,
}

impl<const N: usize> Default for History<N> {
    fn default() -> Self {
        Self { values: [SVector::zeros(); 4], head: 0, known: 0 }
    }
}

impl<const N: usize> History<N> {
    /// The cubic through four steps, or less where fewer are known; `start` where none is.
    #[inline(always)]
    fn predict(&self, start: impl Fn() -> SVector<f64, N>) -> SVector<f64, N> {
        let [a, b, c, d] = [0, 1, 2, 3].map(|ago| &self.values[(self.head + 4 - ago) % 4]);
        match self.known {
            0 => start(),
            1 => *a,
            2 => a * 2.0 - b,
            3 => (a - b) * 3.0 + c,
            _ => (a + c) * 4.0 - b * 6.0 - d,
        }
    }

    #[inline(always)]
    fn push(&mut self, y: &SVector<f64, N>) {
        self.head = (self.head + 1) % 4;
        self.values[self.head] = *y;
        self.known = (self.known + 1).min(4);
    }
}

/// How the iteration of recent steps has converged: first update and the one after it.
#[derive(Clone, Copy, Debug)]
struct Contraction {
    first: f64,
    second: f64,
    age: u32,
}

impl Default for Contraction {
    fn default() -> Self {
        Self { first: 0.0, second: 0.0, age: MEASURE_EVERY }
    }
}

impl Contraction {
    /// Whether update number `count`, whose size squared is so many units of round-off after `last`, is the last one.
    #[inline(always)]
    fn is_enough(&mut self, count: usize, units: f64, last: f64) -> bool {
        if count == 1 {
            self.age += 1;
            let ratio = units / self.first;
            return units <= ENOUGH || self.age < MEASURE_EVERY && self.second * ratio.max(ratio * ratio) <= ENOUGH;
        }
        let ratio = units / last;
        if count == 2 {
            *self = Self { first: last, second: units, age: 0 };
        }
        units <= ENOUGH || (units < NOISE && ratio > 0.25) || units * ratio <= 1.0
    }
}

/// The rotation, repaired.
fn polished(r: &M3) -> M3 {
    r + r * ((M3::identity() - r.tr_mul(r)) * 0.5)
}

/// Inverse by the adjugate.
#[inline(always)]
fn inverse(a: &M3) -> M3 {
    let (c0, c1, c2) = (a.column(0), a.column(1), a.column(2));
    let rows = [c1.cross(&c2), c2.cross(&c0), c0.cross(&c1)];
    let scale = 1.0 / c0.dot(&rows[0]);
    M3::from_rows(&rows.map(|row| (row * scale).transpose()))
}

/// `exp(theta) - I` and the tangent operator of a rotation vector.
struct Turn {
    increment: M3,
    tangent: M3,
}

impl Turn {
    #[inline(always)]
    fn new(theta: &V3) -> Self {
        let s = theta.norm_squared();
        let [c1, c2, c3] = coefficients(s);
        let (first, second) = (skew(theta), theta * theta.transpose() - M3::identity() * s);
        Self { increment: first * c1 + second * c2, tangent: M3::identity() - first * c2 + second * c3 }
    }
}

/// `sin t / t`, `(1 - cos t)/t^2`, `(t - sin t)/t^3` for `s = t^2`.
#[inline(always)]
fn coefficients(s: f64) -> [f64; 3] {
    const C: [f64; 12] = inverse_factorials();
    if s < 1e-2 {
        // The first term left out is below 1e-16 of the first one.
        let series = |k: usize| C[k] - s * (C[k + 2] - s * (C[k + 4] - s * (C[k + 6] - s * C[k + 8])));
        let c3 = series(3);
        return [1.0 - s * c3, series(2), c3];
    }
    let t = s.sqrt();
    let (sine, half) = (t.sin() / t, (0.5 * t).sin());
    [sine, 2.0 * half * half / s, (1.0 - sine) / s]
}

const fn inverse_factorials() -> [f64; 12] {
    let mut all = [1.0; 12];
    let mut k = 1;
    while k < 12 {
        all[k] = all[k - 1] / k as f64;
        k += 1;
    }
    all
}

/// The matrix of the cross product.
#[inline(always)]
fn skew(a: &V3) -> M3 {
    M3::new(0.0, -a.z, a.y, a.z, 0.0, -a.x, -a.y, a.x, 0.0)
}
