//! All errors are shown, in order.

use mbdsl_macros::mbd;

mbd! {
    model Broken {
        param m = 1 kgs;
        particle p { mass = m; }
        particle q { mass = 2 m; }
    }
}

fn main() {}
