//! A setting that does not exist.

use mbdsl_macros::mbd;

mbd!(#![modul = top] <heavy_top>);

fn main() {}
