//! A setting with two values.

use mbdsl_macros::mbd;

mbd!(#![module = a, model = HeavyTop, module = b] <heavy_top>);

fn main() {}
