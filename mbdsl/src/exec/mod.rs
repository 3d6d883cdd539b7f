//! Running models: programs with bound parameters as systems for the runtime's steppers, and what runs write.

pub mod bind;
pub mod error;
pub mod instances;
pub mod observe;
pub mod system;
