//! A vector where a number stands.

use mbdsl_macros::mbd;

mbd! {
    model Broken {
        particle p { mass = [1, 2, 3] kg; }
    }
}

fn main() {}
