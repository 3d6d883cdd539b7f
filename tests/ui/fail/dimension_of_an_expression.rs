//! A product of several tokens in the wrong dimension.

use mbdsl_macros::mbd;

mbd! {
    model Broken {
        param a = 2 m;
        particle p { mass = a * (1 kg + 2 kg); }
    }
}

fn main() {}
