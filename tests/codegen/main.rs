//! The code that the macro writes: agreement with the interpreter, its use from Rust, its text; that steps do not
//! allocate, for which the allocator of this program counts.

mod adaptive;
mod agreement;
mod allocations;
mod checks;
mod models;
mod text;
mod usage;
