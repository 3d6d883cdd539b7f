//! Running models: programs with bound parameters as systems for the runtime's steppers, and what runs write.

pub mod bind;
pub mod choice;
pub mod command;
pub mod csv_out;
pub mod error;
pub mod failure;
pub mod finish;
pub mod instances;
pub mod observe;
mod pairs;
pub mod plot;
pub mod quantity;
pub mod record;
pub mod run;
pub mod session;
pub mod sinks;
pub mod stepper;
pub mod summary;
pub mod system;
pub mod table;
mod unrolled;
pub mod work_precision;
