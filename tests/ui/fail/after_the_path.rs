//! One file a call.

use mbdsl_macros::mbd;

mbd!("broken.mbd", "other.mbd");

fn main() {}
