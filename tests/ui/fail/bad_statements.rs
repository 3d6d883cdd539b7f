//! A function has at least one statement.

use mbdsl_macros::mbd;

mbd!(#![statements = 0] <heavy_top>);

fn main() {}
