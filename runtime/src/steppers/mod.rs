//! Time steppers, one file per family.

pub mod euler;
mod iteration;
pub mod method;
