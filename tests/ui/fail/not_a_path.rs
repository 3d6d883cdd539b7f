//! A number is no model.

use mbdsl_macros::mbd;

mbd!(42);

fn main() {}
