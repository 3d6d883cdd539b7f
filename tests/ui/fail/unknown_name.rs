//! A name that is not declared.

use mbdsl_macros::mbd;

mbd! {
    model Broken {
        particle p { mass = weight; }
    }
}

fn main() {}
