//! Time steppers, one file per family.

pub mod composition;
pub mod drift;
pub mod euler;
mod history;
mod iteration;
pub mod method;
