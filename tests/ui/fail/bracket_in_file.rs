//! An included file with a bracket that does not close, which Rust never sees.

use mbdsl_macros::mbd;

mbd!("unbalanced.mbd");

fn main() {}
