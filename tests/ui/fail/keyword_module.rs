//! A word of Rust is no name of a module.

use mbdsl_macros::mbd;

mbd!(#![module = loop] <heavy_top>);

fn main() {}
