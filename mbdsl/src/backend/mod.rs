//! Back ends: what executes verified kernels.

#[cfg(feature = "cli")]
pub mod engine;
pub mod inputs;
pub mod interp;
#[cfg(feature = "cli")]
pub mod jit;
pub mod rust;
