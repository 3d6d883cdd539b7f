//! Which one is meant?

use mbdsl_macros::mbd;

mbd! {
    model A { particle p { mass = 1 kg; } }
    model B { particle p { mass = 1 kg; } }
}

fn main() {}
