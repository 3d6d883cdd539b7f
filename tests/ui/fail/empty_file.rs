//! A file without a model.

use mbdsl_macros::mbd;

mbd!("empty.mbd");

fn main() {}
