//! No model at all.

use mbdsl_macros::mbd;

mbd!();

fn main() {}
