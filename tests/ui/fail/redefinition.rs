//! A name declared twice.

use mbdsl_macros::mbd;

mbd! {
    model Broken {
        param m = 1 kg;
        param m = 2 kg;
        particle p { mass = m; }
    }
}

fn main() {}
