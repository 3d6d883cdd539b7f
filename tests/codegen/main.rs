//! The code that the macro writes: agreement with the interpreter, its use from Rust, its text.

mod agreement;
mod models;
mod text;
mod usage;
