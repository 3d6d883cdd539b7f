//! The suites of mbdsl: one binary each, declared in `Cargo.toml`.

pub mod references;
