//! Torque-free motion of one body over a step, exact or symmetric and of order 2: what stands between two kicks.
//!
//! A body turns with `Q' = Q skew(I^-1 pi)`, `pi' = pi x I^-1 pi` in its principal axes: `Q` takes principal to inertial
//! coordinates, `pi` is the angular momentum in principal axes. Every drift keeps `|pi|` and `Q pi` to round-off and is
//! symplectic on T*SO(3); they differ in the kinetic energy whose exact flow they are near to.

pub mod dlm;
pub mod dmv;
mod elliptic;
pub mod rotor;
pub mod rrp;
pub mod spherical;

use nalgebra::{ArrayStorage, Matrix3, Vector3};

use crate::lanes::{F64x8, Real, matrix_lane, vector_lane};
use crate::math::stumpff;
use crate::so3::{polish, skew, skew_squared};
use crate::topology::Body;

/// Principal moments that differ by less than this part of the largest are equal: sums over solids leave rounding
/// errors of a few `1e-16`, and nobody means a body that is aspherical by a part in `1e12`.
const EQUAL_MOMENTS: f64 = 1e-12;

/// Smallest principal moment, as a part of the largest, with which velocities are computed.
const SMALLEST_MOMENT: f64 = 1e-12;

/// Symmetry of the inertia of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// All moments are equal.
    Spherical,
    /// Two moments are equal; the third one belongs to the axis with this number.
    Symmetric {
        /// Number of the symmetry axis: 0 or 2, since moments ascend.
        axis: usize,
    },
    /// No two moments are equal.
    Asymmetric,
}

/// The inertia of one body in its principal axes, or of eight bodies of one shape.
///
/// Invariant: moments ascend and are positive; the axes are right-handed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rotor<F = f64> {
    /// Principal axes in body coordinates, as columns.
    pub axes: Matrix3<F>,
    /// Principal moments, kg m^2, ascending.
    pub moments: Vector3<F>,
    /// Their inverses.
    pub inverse: Vector3<F>,
    /// Which moments are equal.
    pub shape: Shape,
    order: Order,
}

/// How principal axes stand in the body: most of them are body axes.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Order {
    /// Axes 0, 1, 2 of the body.
    Same,
    /// Axes 1, 2, 0.
    Next,
    /// Axes 2, 0, 1.
    Last,
    Any,
}

impl Order {
    fn of(axes: &Matrix3<f64>) -> Self {
        let is = |order: [usize; 3]| *axes == Matrix3::from_columns(&order.map(|k| Vector3::ith(k, 1.0)));
        if is([0, 1, 2]) {
            Self::Same
        } else if is([1, 2, 0]) {
            Self::Next
        } else if is([2, 0, 1]) {
            Self::Last
        } else {
            Self::Any
        }
    }
}

/// Attitude and angular momentum of one body in principal axes, or of eight.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spin<F = f64> {
    /// Takes principal to inertial coordinates.
    pub q: Matrix3<F>,
    /// Angular momentum in principal axes, kg m^2/s.
    pub pi: Vector3<F>,
}

/// A body turns so far in a step that the equation of the drift has no solution, or none that could be trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TurnsTooFar;

/// A map of `(Q, pi)` over the time `h` (s, of either sign).
pub trait Drift {
    /// Advances a body.
    ///
    /// # Errors
    /// [`TurnsTooFar`]; the spin is then as before.
    fn advance(rotor: &Rotor, h: f64, spin: &mut Spin) -> Result<(), TurnsTooFar>;

    /// Advances eight bodies of one shape, to the same bits as one after the other.
    ///
    /// # Errors
    /// [`TurnsTooFar`] if one of them does; the spins are then as before.
    fn advance_eight(rotor: &Rotor<F64x8>, h: f64, spin: &mut Spin<F64x8>) -> Result<(), TurnsTooFar> {
        one_by_one::<Self>(rotor, h, spin)
    }

    /// Advances a body, and gives the derivative of the attitude at the end by the momentum at the start:
    /// `dQ1 = Q1 skew(D dpi0)` at constant `Q0`, in principal axes, 1/(kg m^2/s).
    ///
    /// # Errors
    /// [`TurnsTooFar`]; the spin is then as before.
    fn linearise(rotor: &Rotor, h: f64, spin: &mut Spin) -> Result<Matrix3<f64>, TurnsTooFar>;
}

/// The drifts by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DriftKind {
    /// [`dlm::Dlm`]
    Dlm,
    /// [`dlm::DlmCayley`]
    DlmCayley,
    /// [`rotor::Exact`]
    Exact,
    /// [`rrp::Rrp`]
    Rrp,
    /// [`dmv::Dmv`]
    Dmv,
    /// [`spherical::Exp`]
    Exp,
    /// [`spherical::Cayley`]
    Cayley,
}

impl DriftKind {
    /// All.
    pub const ALL: [Self; 7] = [Self::Dlm, Self::DlmCayley, Self::Exact, Self::Rrp, Self::Dmv, Self::Exp, Self::Cayley];

    /// Whether it moves bodies of a shape.
    #[must_use]
    pub const fn suits(self, shape: Shape) -> bool {
        match self {
            Self::Dlm | Self::DlmCayley | Self::Exact | Self::Rrp | Self::Dmv => true,
            Self::Exp | Self::Cayley => matches!(shape, Shape::Spherical),
        }
    }
}

/// Calls a function that is generic over the drift.
macro_rules! with_drift {
    ($kind:expr, $f:ident($($argument:expr),*)) => {{
        use $crate::steppers::drift;
        match $kind {
            drift::DriftKind::Dlm => $f::<drift::dlm::Dlm>($($argument),*),
            drift::DriftKind::DlmCayley => $f::<drift::dlm::DlmCayley>($($argument),*),
            drift::DriftKind::Exact => $f::<drift::rotor::Exact>($($argument),*),
            drift::DriftKind::Rrp => $f::<drift::rrp::Rrp>($($argument),*),
            drift::DriftKind::Dmv => $f::<drift::dmv::Dmv>($($argument),*),
            drift::DriftKind::Exp => $f::<drift::spherical::Exp>($($argument),*),
            drift::DriftKind::Cayley => $f::<drift::spherical::Cayley>($($argument),*),
        }
    }};
}
pub(super) use with_drift;

impl Spin {
    /// No rotation and no momentum.
    pub const REST: Self =
        Self { q: Matrix3::new(1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0), pi: Vector3::new(0.0, 0.0, 0.0) };
}

impl<F: Real> Spin<F> {
    /// That of one body.
    pub(super) fn lane(&self, k: usize) -> Spin {
        Spin { q: matrix_lane(&self.q, k), pi: vector_lane(&self.pi, k) }
    }

    pub(super) fn from_lanes(of: impl Fn(usize) -> Spin) -> Self {
        Self {
            q: Matrix3::from_fn(|i, j| F::from_lanes(|k| of(k).q[(i, j)])),
            pi: Vector3::from_fn(|i, _| F::from_lanes(|k| of(k).pi[i])),
        }
    }
}

impl Rotor {
    /// Principal axes and moments of a body. Cost: one eigenvalue problem, unless the inertia is diagonal.
    #[must_use]
    pub fn new(body: &Body) -> Self {
        let inertia = (body.inertia + body.inertia.transpose()) * 0.5;
        let is_diagonal = inertia[(0, 1)] == 0.0 && inertia[(0, 2)] == 0.0 && inertia[(1, 2)] == 0.0;
        let axes = if is_diagonal { Matrix3::identity() } else { polish(&inertia.symmetric_eigen().eigenvectors) };
        let moment = |axis: usize| axes.column(axis).dot(&(inertia * axes.column(axis)));
        // A stable order: axes that are sorted already stay where they are.
        let mut order = [0, 1, 2];
        order.sort_by(|&a, &b| moment(a).total_cmp(&moment(b)));
        let mut sorted = Matrix3::from_columns(&order.map(|axis| axes.column(axis).into_owned()));
        let moments = Vector3::from(order.map(moment));
        if sorted.determinant() < 0.0 {
            // Where two moments are equal, body axes can stay what they are.
            match (moments[0] == moments[1], moments[1] == moments[2]) {
                (true, _) => sorted.swap_columns(0, 1),
                (false, true) => sorted.swap_columns(1, 2),
                (false, false) => sorted.column_mut(1).neg_mut(),
            }
        }
        Self::principal(sorted, moments)
    }

    /// From axes and ascending moments.
    fn principal(axes: Matrix3<f64>, moments: Vector3<f64>) -> Self {
        let largest = if moments[2] > 0.0 { moments[2] } else { 1.0 };
        let moments = moments.map(|m| m.max(SMALLEST_MOMENT * largest));
        let equal = |a: usize, b: usize| moments[b] - moments[a] <= EQUAL_MOMENTS * largest;
        let shape = match (equal(0, 1), equal(1, 2)) {
            (true, true) => Shape::Spherical,
            (true, false) => Shape::Symmetric { axis: 2 },
            (false, true) => Shape::Symmetric { axis: 0 },
            (false, false) => Shape::Asymmetric,
        };
        let inverse = moments.map(|m| 1.0 / m);
        Self { axes, moments, inverse, shape, order: Order::of(&axes) }
    }
}

impl<F: Real> Rotor<F> {
    /// Bodies whose moments are equal as those of the first, and whose axes stand in the body as those of the first do.
    pub(super) fn from_lanes(of: impl Fn(usize) -> Rotor) -> Self {
        let Rotor { shape, order, .. } = of(0);
        Self {
            axes: Matrix3::from_fn(|i, j| F::from_lanes(|k| of(k).axes[(i, j)])),
            moments: Vector3::from_fn(|i, _| F::from_lanes(|k| of(k).moments[i])),
            inverse: Vector3::from_fn(|i, _| F::from_lanes(|k| of(k).inverse[i])),
            shape,
            order,
        }
    }

    /// Whether the principal axes are the body axes.
    pub(super) fn is_aligned(&self) -> bool {
        self.order == Order::Same
    }

    /// That of one body.
    pub(super) fn lane(&self, k: usize) -> Rotor {
        Rotor {
            axes: matrix_lane(&self.axes, k),
            moments: vector_lane(&self.moments, k),
            inverse: vector_lane(&self.inverse, k),
            shape: self.shape,
            order: self.order,
        }
    }

    /// Attitude and momentum in principal axes of a body with rotation `R` and angular velocity `Omega`.
    #[must_use]
    pub fn spin(&self, r: &Matrix3<F>, omega: &Vector3<F>) -> Spin<F> {
        Spin {
            q: match self.order {
                Order::Same => *r,
                Order::Next | Order::Last | Order::Any => r * self.axes,
            },
            pi: self.to_principal(omega).component_mul(&self.moments),
        }
    }

    /// Rotation `R` of the body axes.
    #[inline]
    #[must_use]
    pub fn rotation(&self, spin: &Spin<F>) -> Matrix3<F> {
        let [a, b, c] = spin.q.data.0;
        match self.order {
            Order::Same => spin.q,
            Order::Next => Matrix3::from_data(ArrayStorage([c, a, b])),
            Order::Last => Matrix3::from_data(ArrayStorage([b, c, a])),
            Order::Any => spin.q * self.axes.transpose(),
        }
    }

    /// Angular velocity in body axes, rad/s.
    #[inline]
    #[must_use]
    pub fn omega(&self, spin: &Spin<F>) -> Vector3<F> {
        self.vector_to_body(&spin.pi.component_mul(&self.inverse))
    }

    /// Angular acceleration in body axes under a torque in body axes, rad/s^2: `I Omega' = torque + pi x Omega`.
    #[inline]
    #[must_use]
    pub fn acceleration(&self, spin: &Spin<F>, torque: &Vector3<F>) -> Vector3<F> {
        let gyroscopic = spin.pi.cross(&spin.pi.component_mul(&self.inverse));
        self.vector_to_body(&(self.to_principal(torque) + gyroscopic).component_mul(&self.inverse))
    }

    /// A vector of principal coordinates in body axes.
    #[inline]
    fn vector_to_body(&self, a: &Vector3<F>) -> Vector3<F> {
        match self.order {
            Order::Same => *a,
            Order::Next => Vector3::new(a.z, a.x, a.y),
            Order::Last => Vector3::new(a.y, a.z, a.x),
            Order::Any => self.axes * a,
        }
    }

    /// A vector of body coordinates in principal axes.
    #[inline]
    #[must_use]
    pub fn to_principal(&self, a: &Vector3<F>) -> Vector3<F> {
        match self.order {
            Order::Same => *a,
            Order::Next => Vector3::new(a.y, a.z, a.x),
            Order::Last => Vector3::new(a.z, a.x, a.y),
            Order::Any => self.axes.tr_mul(a),
        }
    }
}

impl Rotor {
    /// A linear map of principal coordinates in body axes.
    #[inline]
    #[must_use]
    pub fn to_body(&self, m: &Matrix3<f64>) -> Matrix3<f64> {
        let [[a, b, c], [d, e, f], [g, h, i]] = m.data.0;
        match self.order {
            Order::Same => *m,
            Order::Next => Matrix3::from_data(ArrayStorage([[i, g, h], [c, a, b], [f, d, e]])),
            Order::Last => Matrix3::from_data(ArrayStorage([[e, f, d], [h, i, g], [b, c, a]])),
            Order::Any => self.axes * m * self.axes.transpose(),
        }
    }
}

/// Eight bodies one after the other.
#[inline(never)]
fn one_by_one<D: Drift + ?Sized>(rotor: &Rotor<F64x8>, h: f64, spin: &mut Spin<F64x8>) -> Result<(), TurnsTooFar> {
    let mut ends = [Spin::REST; F64x8::LANES];
    for (k, end) in ends.iter_mut().enumerate() {
        *end = spin.lane(k);
        D::advance(&rotor.lane(k), h, end)?;
    }
    *spin = Spin::from_lanes(|k| ends[k]);
    Ok(())
}

/// Largest square of an angle for a series of so many pairs of terms: there the next term is below `2^-54` of what they are added to.
const fn largest(pairs: usize) -> f64 {
    if pairs < 4 { 0.25 } else { 1.0 }
}

/// Coefficients of `(sin a/a - 1)/a^2` and of `((1 - cos a)/a^2 - 1/2)/a^2`, by powers of `a^2`, in pairs.
const SINE: [[f64; 2]; 4] = [
    [1.0 / -6.0, 1.0 / 120.0],
    [1.0 / -5_040.0, 1.0 / 362_880.0],
    [1.0 / -39_916_800.0, 1.0 / 6_227_020_800.0],
    [1.0 / -1_307_674_368_000.0, 1.0 / 355_687_428_096_000.0],
];
const VERSINE: [[f64; 2]; 4] = [
    [1.0 / -24.0, 1.0 / 720.0],
    [1.0 / -40_320.0, 1.0 / 3_628_800.0],
    [1.0 / -479_001_600.0, 1.0 / 87_178_291_200.0],
    [1.0 / -20_922_789_888_000.0, 1.0 / 6_402_373_705_728_000.0],
];

/// `(sin a/a - 1)/a^2` and `((1 - cos a)/a^2 - 1/2)/a^2` of `x = a^2` up to [`largest`], by three or four pairs of terms.
#[inline(always)]
fn series<const PAIRS: usize, F: Real>(x: F) -> (F, F) {
    let x2 = x * x;
    let sum = |terms: &[[f64; 2]; 4]| {
        // Pairs first, so that the chain of dependent operations is short.
        let pair = |k: usize| F::splat(terms[k][0]) + x * F::splat(terms[k][1]);
        let high = if PAIRS < 4 { pair(2) } else { pair(2) + x2 * pair(3) };
        (pair(0) + x2 * pair(1)) + x2 * x2 * high
    };
    (sum(&SINE), sum(&VERSINE))
}

/// `sin t/t`, `(1 - cos t)/t^2`, `(t - sin t)/t^3` of `t^2`.
#[inline]
fn exponential_coefficients<F: Real>(square: F) -> [F; 3] {
    if square.all_at_most(largest(4)) {
        return small_coefficients(square);
    }
    let one = |k: u32, square: f64| {
        if square > largest(4) { stumpff(k, square) } else { small_coefficients(square)[k as usize - 1] }
    };
    [1, 2, 3].map(|k| square.map(|square| one(k, square)))
}

/// The same up to [`largest`] of four pairs.
#[inline]
fn small_coefficients<F: Real>(square: F) -> [F; 3] {
    let (s, v) = series::<4, F>(square);
    [F::one() + square * s, F::splat(0.5) + square * v, -s]
}

/// A turn `exp(theta)`.
struct Exponential<F = f64> {
    theta: Vector3<F>,
    coefficients: [F; 3],
}

impl<F: Real> Exponential<F> {
    #[inline]
    fn new(theta: Vector3<F>) -> Self {
        Self { coefficients: exponential_coefficients(theta.dot(&theta)), theta }
    }

    /// `Q <- Q exp(theta)`, in increment form.
    #[inline]
    fn turn(&self, q: &mut Matrix3<F>) {
        let [first, second, _] = self.coefficients;
        let increment = skew(&self.theta) * first + skew_squared(&self.theta) * second;
        // Columns of Q are combined: three numbers at a time.
        let [a, b, c] = q.data.0;
        for (column, &[x, y, z]) in q.data.0.iter_mut().zip(&increment.data.0) {
            for row in 0..3 {
                column[row] += a[row] * x + b[row] * y + c[row] * z;
            }
        }
    }
}

impl Exponential {
    /// Its left-trivialised variation: `dtheta_left = (1 - c2 skew + c3 skew^2) dtheta`.
    #[inline]
    fn tangent(&self) -> Matrix3<f64> {
        let [_, second, third] = self.coefficients;
        Matrix3::identity() - skew(&self.theta) * second + skew_squared(&self.theta) * third
    }
}

/// `Q <- Q exp(theta)` of a turn whose cube is nothing.
#[inline]
pub(super) fn turn_little(q: &mut Matrix3<f64>, theta: &Vector3<f64>) {
    Exponential { theta: *theta, coefficients: [1.0, 0.5, 1.0 / 6.0] }.turn(q);
}

/// `4/(4 + |xi|^2)`.
#[inline]
fn cayley_factor<F: Real>(xi: &Vector3<F>) -> F {
    let four = F::splat(4.0);
    four / (four + xi.dot(xi))
}

/// `a (cay(xi) - 1)` for a row vector `a`, with `cay(xi) = 1 + 4/(4+|xi|^2) (skew(xi) + skew(xi)^2/2)`: rounding errors are
/// as small as the turn.
#[inline(always)]
fn cayley_increment<F: Real>(a: &Vector3<F>, xi: &Vector3<F>, factor: F) -> Vector3<F> {
    // a^T skew(xi) = (a x xi)^T
    let first = a.cross(xi);
    (first + first.cross(xi) * F::splat(0.5)) * factor
}

/// `Q <- Q cay(xi)`.
#[inline(always)]
fn turn_by_cayley<F: Real>(q: &mut Matrix3<F>, xi: &Vector3<F>) {
    let factor = cayley_factor(xi);
    for row in 0..3 {
        let a = q.row(row).transpose();
        q.set_row(row, &(a + cayley_increment(&a, xi, factor)).transpose());
    }
}

/// Left-trivialised variation of `cay(xi)`: `dtheta = 4/(4+|xi|^2) (1 - skew(xi)/2) dxi`.
fn cayley_tangent(xi: &Vector3<f64>) -> Matrix3<f64> {
    (Matrix3::identity() - skew(xi) * 0.5) * cayley_factor(xi)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::so3::exp;
    use crate::topology::BodyKind;

    /// A body with the given principal moments along its axes.
    pub(crate) fn rotor(moments: [f64; 3]) -> Rotor {
        let inertia = Matrix3::from_diagonal(&Vector3::from(moments));
        Rotor::new(&Body { kind: BodyKind::Rigid, mass: 1.0, inertia })
    }

    #[test]
    fn principal_axes_are_sorted_and_right_handed() {
        let turn = exp(&Vector3::new(0.3, -1.0, 0.7));
        let odd = [[2.0, 1.0, 2.5], [1.0, 2.0, 1.0], [2.0, 1.0, 2.0]];
        for moments in
            [[1.0, 2.0, 2.5], [2.5, 1.0, 2.0], [2.0, 2.5, 1.0], [2.0, 2.0, 1.0], [1.0; 3]].into_iter().chain(odd)
        {
            let diagonal = Matrix3::from_diagonal(&Vector3::from(moments));
            for inertia in [diagonal, turn * diagonal * turn.transpose()] {
                let r = Rotor::new(&Body { kind: BodyKind::Rigid, mass: 1.0, inertia });
                assert!(r.moments[0] <= r.moments[1] && r.moments[1] <= r.moments[2]);
                assert!((r.axes.determinant() - 1.0).abs() < 1e-15);
                assert!((r.to_body(&Matrix3::from_diagonal(&r.moments)) - inertia).amax() < 4e-15);
                let m = Matrix3::new(0.1, 0.2, -0.3, 0.7, 0.4, 0.5, -0.6, 0.9, 0.8);
                assert!((r.to_body(&m) - r.axes * m * r.axes.transpose()).amax() < 1e-15);
                assert!((r.to_principal(&Vector3::x()) - r.axes.tr_mul(&Vector3::x())).amax() < 1e-15);
                let omega = Vector3::new(0.1, 0.2, -0.3);
                let spin = r.spin(&turn, &omega);
                assert!((r.omega(&spin) - omega).amax() < 1e-15 && (r.rotation(&spin) - turn).amax() < 1e-15);
            }
        }
        assert_eq!(rotor([2.0, 2.0, 3.0]).shape, Shape::Symmetric { axis: 2 });
        assert_eq!(rotor([3.0, 2.0, 3.0]).shape, Shape::Symmetric { axis: 0 });
        assert_eq!(rotor([2.0; 3]).shape, Shape::Spherical);
        assert_eq!(rotor([1.0, 2.0, 3.0]).shape, Shape::Asymmetric);
    }

    /// `linearise` gives the derivative of `advance`, by central differences.
    pub(crate) fn check_derivative<D: Drift>(rotor: &Rotor, pi: Vector3<f64>, h: f64) {
        let start = Spin { q: exp(&Vector3::new(0.4, 0.2, -0.9)), pi };
        let end = |spin: Spin| {
            let mut spin = spin;
            D::advance(rotor, h, &mut spin).expect("small enough");
            spin
        };
        let mut spin = start;
        let derivative = D::linearise(rotor, h, &mut spin).expect("small enough");
        let same = end(start);
        assert!((spin.q - same.q).amax() < 1e-15 && (spin.pi - same.pi).amax() < 1e-15 * pi.norm());
        let delta = 1e-5;
        for axis in 0..3 {
            let mut step = Vector3::zeros();
            step[axis] = delta;
            let (plus, minus) = (end(Spin { pi: pi + step, ..start }), end(Spin { pi: pi - step, ..start }));
            let difference = crate::so3::log(&(minus.q.transpose() * plus.q)) / (2.0 * delta);
            assert!((derivative.column(axis) - difference).amax() < 1e-9, "axis {axis}: {derivative} {difference}");
        }
    }
}
