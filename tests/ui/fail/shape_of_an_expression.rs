//! The message points at the whole of an expression.

use mbdsl_macros::mbd;

mbd! {
    model Broken {
        particle p { mass = 1 kg; pos = 2 * (3 m + 1 m); }
    }
}

fn main() {}
