//! An error in an included file.

use mbdsl_macros::mbd;

mbd!("broken.mbd");

fn main() {}
