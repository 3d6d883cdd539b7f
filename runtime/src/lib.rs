//! What simulation code generated from `.mbd` models links against.

pub mod acceleration;
pub mod assembly;
pub mod error;
pub mod generated;
pub mod inertia;
pub mod linalg;
pub mod math;
pub mod monitor;
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
