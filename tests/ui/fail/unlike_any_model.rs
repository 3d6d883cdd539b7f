//! Nothing of the library is meant.

use mbdsl_macros::mbd;

mbd!(<unicycle>);

fn main() {}
