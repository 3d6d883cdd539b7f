//! A name of the library without its brackets.

use mbdsl_macros::mbd;

mbd!(heavy_top);

fn main() {}
