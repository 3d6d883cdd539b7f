//! A path is no name of a module.

use mbdsl_macros::mbd;

mbd!(#![module = models::top] <heavy_top>);

fn main() {}
