//! Some names are always there.

use mbdsl_macros::mbd;

mbd! {
    model Broken {
        param time = 1 s;
        particle p { mass = 1 kg; }
    }
}

fn main() {}
