//! A crate is named by its path.

use mbdsl_macros::mbd;

mbd!(#![runtime = "engine"] <heavy_top>);

fn main() {}
