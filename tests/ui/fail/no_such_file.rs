//! A path that leads nowhere.

use mbdsl_macros::mbd;

mbd!("models/nowhere.mbd");

fn main() {}
