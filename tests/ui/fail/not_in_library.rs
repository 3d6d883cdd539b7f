//! A model that the library does not have.

use mbdsl_macros::mbd;

mbd!(<heavy_topp>);

fn main() {}
