//! A setting that is no number.

use mbdsl_macros::mbd;

mbd!(#![set(N = many)] <chain>);

fn main() {}
