//! A length is no mass.

use mbdsl_macros::mbd;

mbd! {
    model Broken {
        particle p { mass = 1 m; }
    }
}

fn main() {}
