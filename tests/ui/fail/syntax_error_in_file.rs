//! An included file without the end of a statement.

use mbdsl_macros::mbd;

mbd!("unfinished.mbd");

fn main() {}
