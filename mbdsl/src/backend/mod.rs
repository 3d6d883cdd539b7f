//! Back ends: what executes verified kernels.

pub mod interp;
