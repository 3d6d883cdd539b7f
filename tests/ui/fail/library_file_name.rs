//! The library has names, not files.

use mbdsl_macros::mbd;

mbd!(<heavy-top>);

fn main() {}
