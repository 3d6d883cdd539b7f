//! There is no such unit.

use mbdsl_macros::mbd;

mbd! {
    model Broken {
        param m = 1 kgs;
        particle p { mass = m; }
    }
}

fn main() {}
