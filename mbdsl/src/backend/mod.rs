//! Back ends: what executes verified kernels.

pub mod interp;
pub mod rust;
