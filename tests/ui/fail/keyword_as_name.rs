//! Words that begin a statement cannot be names.

use mbdsl_macros::mbd;

mbd! {
    model Broken {
        param point = 1 m;
        particle p { mass = 1 kg; }
    }
}

fn main() {}
