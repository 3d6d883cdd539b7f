//! What the operations mean on numbers: the one definition that constant folding and the interpreter share.
//!
//! Sums, products, quotients and roots are rounded correctly by the hardware; the functions of reals come from `libm`, so that
//! they are the same on every machine and in every back end.

use super::kernel::{Bin, Un};
use super::special;

/// A truth value as a number.
#[inline]
fn truth(x: bool) -> f64 {
    if x { 1.0 } else { 0.0 }
}

/// Value of an operation of one operand.
#[inline]
#[must_use]
pub fn un(op: Un, a: f64) -> f64 {
    match op {
        Un::Neg => -a,
        Un::Sqrt => a.sqrt(),
        Un::Sin => libm::sin(a),
        Un::Cos => libm::cos(a),
        Un::Tan => libm::tan(a),
        Un::Asin => libm::asin(a),
        Un::Acos => libm::acos(a),
        Un::Exp => libm::exp(a),
        Un::Ln => libm::log(a),
        Un::Abs => a.abs(),
        // Zero and NaN are their own signs.
        Un::Sign => {
            if a > 0.0 {
                1.0
            } else if a < 0.0 {
                -1.0
            } else {
                a
            }
        }
        Un::Floor => a.floor(),
        Un::Not => truth(a == 0.0),
        Un::Stumpff(k) => special::stumpff(u32::from(k), a),
        Un::LogCoefficient(n) => special::log_coefficient(u32::from(n), a),
    }
}

/// Value of an operation of two operands.
#[inline]
#[must_use]
pub fn bin(op: Bin, a: f64, b: f64) -> f64 {
    match op {
        Bin::Add => a + b,
        Bin::Sub => a - b,
        Bin::Mul => a * b,
        Bin::Div => a / b,
        Bin::Atan2 => libm::atan2(a, b),
        Bin::Atan2Over => special::atan2_over(a, b),
        Bin::Min => {
            if a < b {
                a
            } else {
                b
            }
        }
        Bin::Max => {
            if a > b {
                a
            } else {
                b
            }
        }
        Bin::Pow => libm::pow(a, b),
        Bin::Mod => a - b * (a / b).floor(),
        Bin::Unwrap => special::unwrap_angle(a, b),
        Bin::Lt => truth(a < b),
        Bin::Le => truth(a <= b),
        Bin::Eq => truth(a == b),
        Bin::And => truth(a != 0.0 && b != 0.0),
        Bin::Or => truth(a != 0.0 || b != 0.0),
    }
}

/// Value of `c ? a : b`.
#[inline]
#[must_use]
pub fn select(c: f64, a: f64, b: f64) -> f64 {
    if c != 0.0 { a } else { b }
}

/// Whether every machine computes the same result, so that the compiler may compute it.
#[must_use]
pub fn folds_un(op: Un) -> bool {
    match op {
        Un::Neg | Un::Sqrt | Un::Abs | Un::Sign | Un::Floor | Un::Not => true,
        Un::Sin
        | Un::Cos
        | Un::Tan
        | Un::Asin
        | Un::Acos
        | Un::Exp
        | Un::Ln
        | Un::Stumpff(_)
        | Un::LogCoefficient(_) => false,
    }
}

/// Whether every machine computes the same result, so that the compiler may compute it.
#[must_use]
pub fn folds_bin(op: Bin) -> bool {
    match op {
        Bin::Add
        | Bin::Sub
        | Bin::Mul
        | Bin::Div
        | Bin::Min
        | Bin::Max
        | Bin::Mod
        | Bin::Lt
        | Bin::Le
        | Bin::Eq
        | Bin::And
        | Bin::Or => true,
        Bin::Atan2 | Bin::Atan2Over | Bin::Pow | Bin::Unwrap => false,
    }
}
