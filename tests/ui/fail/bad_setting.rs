//! A setting without a value.

use mbdsl_macros::mbd;

mbd!(#![module] <heavy_top>);

fn main() {}
