//! There are two things to print.

use mbdsl_macros::mbd;

mbd!(#![print = "asm"] <heavy_top>);

fn main() {}
