//! Not a visibility.

use mbdsl_macros::mbd;

mbd!(#![visibility = public] <heavy_top>);

fn main() {}
