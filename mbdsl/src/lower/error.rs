//! What lowering cannot resolve: a scope that does not fit its expressions, which is a bug of the caller.

use std::fmt;

use crate::symbolic::{BodyRef, ElementRef, ExprId};

/// A failure of lowering.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LowerError {
    /// A body that is no slot of the element.
    Body(BodyRef),
    /// A continuous angle that is not of the element.
    Memory(ElementRef, u32),
    /// Multipliers that the element does not read.
    Multiplier(ElementRef, u32),
    /// A contraction symbol without rows.
    Symbol(u32),
    /// A parameter without a place.
    Param(u32),
    /// An input without a place.
    Input(u32),
    /// An index variable that the instance does not have.
    Index(u32),
    /// A reduction that is not in the list.
    Reduction(ExprId),
    /// A recorded value that is not in the list.
    Recorded(ExprId),
    /// An output outside of the kernel, or written twice.
    Output {
        /// Offset.
        offset: usize,
        /// Length of the output.
        size: usize,
    },
}

impl fmt::Display for LowerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Body(b) => write!(f, "body reference {} is no slot of the element", b.0),
            Self::Memory(e, site) => write!(f, "angle {site} of element reference {} is no memory of the element", e.0),
            Self::Multiplier(e, group) => {
                write!(f, "multipliers {group} of element reference {} are not read by the element", e.0)
            }
            Self::Symbol(k) => write!(f, "symbol {k} has no rows"),
            Self::Param(k) => write!(f, "parameter {k} has no place"),
            Self::Input(k) => write!(f, "input {k} has no place"),
            Self::Index(k) => write!(f, "index variable {k} is not of the instance"),
            Self::Reduction(e) => write!(f, "reduction {} is not in the list of the scope", e.0),
            Self::Recorded(e) => write!(f, "recorded value {} is not in the list of the scope", e.0),
            Self::Output { offset, size } => {
                write!(f, "output {offset} is written twice or lies outside of the {size} of the kernel")
            }
        }
    }
}

impl std::error::Error for LowerError {}
