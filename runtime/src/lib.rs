//! What simulation code generated from `.mbd` models links against.
//!
//! Without the feature `std` it needs only `core` and `alloc`. Models and steppers allocate when they are made; steps do
//! not.

#![no_std]
#![forbid(unsafe_code)]

#[macro_use]
extern crate alloc;
#[cfg(any(test, feature = "std"))]
extern crate std;

pub mod acceleration;
pub mod assembly;
pub mod checks;
mod consistent;
pub mod error;
mod float;
pub mod generated;
pub mod inertia;
pub mod lanes;
pub mod linalg;
pub mod math;
pub mod monitor;
pub mod neighbours;
mod newton_matrix;
pub mod point;
pub mod prelude;
pub mod setup;
pub mod simulate;
pub mod so3;
pub mod state;
pub mod steppers;
pub mod system;
pub mod topology;
pub mod velocity;
pub mod wind;

pub use nalgebra;
