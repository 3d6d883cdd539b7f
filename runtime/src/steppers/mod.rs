//! Time steppers, one file per family.

pub mod euler;
mod history;
mod iteration;
pub mod method;
