//! A model moves something.

use mbdsl_macros::mbd;

mbd! {
    model Broken {
        param m = 1 kg;
    }
}

fn main() {}
