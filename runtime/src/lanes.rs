//! One number, or eight side by side: what is written once for one body and runs for eight of them at the same time.
//!
//! Eight lanes are two vectors of four: two chains of dependent operations at once, where the processor has such vectors, and
//! plain numbers where it has none. Operations are those of single numbers, lane by lane, neither fused nor reassociated: a body
//! moves to the same bits alone and among others.

use core::fmt::Debug;
use core::ops::{Add, AddAssign, Div, DivAssign, Mul, MulAssign, Neg, Sub, SubAssign};

use nalgebra::{ClosedAddAssign, ClosedDivAssign, ClosedMulAssign, ClosedSubAssign, Matrix3, Scalar, Vector3};
use num_traits::{One, Zero};
use wide::{CmpEq as _, CmpLe as _, f64x4};

use crate::float::sqrt;

/// A number in each lane.
pub trait Real:
    Scalar
    + Copy
    + Send
    + Sync
    + ClosedAddAssign
    + ClosedSubAssign
    + ClosedMulAssign
    + ClosedDivAssign
    + Neg<Output = Self>
    + Zero
    + One
{
    /// Number of lanes.
    const LANES: usize;

    /// The same number in all lanes.
    fn splat(x: f64) -> Self;

    /// The number `of(k)` in lane `k`.
    fn from_lanes(of: impl FnMut(usize) -> f64) -> Self;

    /// The number in lane `k`.
    fn lane(self, k: usize) -> f64;

    /// Roots, correctly rounded.
    fn sqrt(self) -> Self;

    /// Whether all are at most `bound`.
    fn all_at_most(self, bound: f64) -> bool;

    /// Whether all are equal to those of another.
    fn all_equal(self, other: Self) -> bool;

    /// Four numbers of each lane, column by column.
    fn columns(row: impl FnMut(usize) -> [f64; 4]) -> [Self; 4];

    /// Hands the four numbers of each lane over, row by row.
    fn rows(columns: [Self; 4], row: impl FnMut(usize, [f64; 4]));

    /// A function of single numbers, lane by lane.
    #[inline]
    fn map(self, f: impl Fn(f64) -> f64) -> Self {
        Self::from_lanes(|k| f(self.lane(k)))
    }
}

impl Real for f64 {
    const LANES: usize = 1;

    #[inline(always)]
    fn splat(x: f64) -> Self {
        x
    }

    #[inline(always)]
    fn from_lanes(mut of: impl FnMut(usize) -> f64) -> Self {
        of(0)
    }

    #[inline(always)]
    fn lane(self, _: usize) -> f64 {
        self
    }

    #[inline(always)]
    fn sqrt(self) -> Self {
        sqrt(self)
    }

    #[inline(always)]
    fn all_at_most(self, bound: f64) -> bool {
        self <= bound
    }

    #[inline(always)]
    fn all_equal(self, other: Self) -> bool {
        self == other
    }

    #[inline(always)]
    fn columns(mut row: impl FnMut(usize) -> [f64; 4]) -> [Self; 4] {
        row(0)
    }

    #[inline(always)]
    fn rows(columns: [Self; 4], mut row: impl FnMut(usize, [f64; 4])) {
        row(0, columns);
    }
}

/// Eight numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct F64x8([f64x4; 2]);

impl Real for F64x8 {
    const LANES: usize = 8;

    #[inline(always)]
    fn splat(x: f64) -> Self {
        Self([f64x4::splat(x); 2])
    }

    #[inline(always)]
    fn from_lanes(mut of: impl FnMut(usize) -> f64) -> Self {
        Self([0, 4].map(|k| f64x4::new([of(k), of(k + 1), of(k + 2), of(k + 3)])))
    }

    #[inline(always)]
    fn lane(self, k: usize) -> f64 {
        self.0[k / 4].as_array_ref()[k % 4]
    }

    #[inline(always)]
    fn sqrt(self) -> Self {
        // By the roots of single numbers where there are no vectors: those of `wide` would not be rounded there.
        if cfg!(target_feature = "sse2") { Self(self.0.map(f64x4::sqrt)) } else { self.map(sqrt) }
    }

    #[inline(always)]
    fn all_at_most(self, bound: f64) -> bool {
        let Self([a, b]) = self;
        (a.cmp_le(f64x4::splat(bound)) & b.cmp_le(f64x4::splat(bound))).all()
    }

    #[inline(always)]
    fn all_equal(self, other: Self) -> bool {
        (self.0[0].cmp_eq(other.0[0]) & self.0[1].cmp_eq(other.0[1])).all()
    }

    #[inline(always)]
    fn columns(mut row: impl FnMut(usize) -> [f64; 4]) -> [Self; 4] {
        let mut half = |k: usize| transposed([row(k), row(k + 1), row(k + 2), row(k + 3)].map(f64x4::new));
        let ([a, b, c, d], [e, f, g, h]) = (half(0), half(4));
        [Self([a, e]), Self([b, f]), Self([c, g]), Self([d, h])]
    }

    #[inline(always)]
    fn rows(columns: [Self; 4], mut row: impl FnMut(usize, [f64; 4])) {
        for half in 0..2 {
            let [a, b, c, d] = transposed(columns.map(|column| column.0[half]));
            for (k, numbers) in [a, b, c, d].into_iter().enumerate() {
                row(4 * half + k, numbers.to_array());
            }
        }
    }
}

/// Spelled out, because compilers make shuffles of it then.
#[inline(always)]
fn transposed([a, b, c, d]: [f64x4; 4]) -> [f64x4; 4] {
    let [a0, a1, a2, a3] = a.to_array();
    let [b0, b1, b2, b3] = b.to_array();
    let [c0, c1, c2, c3] = c.to_array();
    let [d0, d1, d2, d3] = d.to_array();
    [
        f64x4::new([a0, b0, c0, d0]),
        f64x4::new([a1, b1, c1, d1]),
        f64x4::new([a2, b2, c2, d2]),
        f64x4::new([a3, b3, c3, d3]),
    ]
}

/// An operation lane by lane, and its assignment.
macro_rules! lanewise {
    ($($operation:ident $method:ident $assign:ident $assigned:ident),*) => {$(
        impl $operation for F64x8 {
            type Output = Self;
            #[inline(always)]
            fn $method(self, other: Self) -> Self {
                Self([self.0[0].$method(other.0[0]), self.0[1].$method(other.0[1])])
            }
        }

        impl $assign for F64x8 {
            #[inline(always)]
            fn $assigned(&mut self, other: Self) {
                *self = self.$method(other);
            }
        }
    )*};
}

lanewise!(Add add AddAssign add_assign, Sub sub SubAssign sub_assign, Mul mul MulAssign mul_assign, Div div DivAssign div_assign);

impl Neg for F64x8 {
    type Output = Self;

    #[inline(always)]
    fn neg(self) -> Self {
        Self(self.0.map(|x| -x))
    }
}

impl Zero for F64x8 {
    #[inline(always)]
    fn zero() -> Self {
        Self::splat(0.0)
    }

    #[inline(always)]
    fn is_zero(&self) -> bool {
        self.all_equal(Self::zero())
    }
}

impl One for F64x8 {
    #[inline(always)]
    fn one() -> Self {
        Self::splat(1.0)
    }
}

/// One body's vector.
#[inline]
pub(crate) fn vector_lane<F: Real>(a: &Vector3<F>, k: usize) -> Vector3<f64> {
    a.map(|x| x.lane(k))
}

/// One body's matrix.
#[inline]
pub(crate) fn matrix_lane<F: Real>(m: &Matrix3<F>, k: usize) -> Matrix3<f64> {
    m.map(|x| x.lane(k))
}
