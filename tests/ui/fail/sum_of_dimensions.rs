//! A force and a length.

use mbdsl_macros::mbd;

mbd! {
    model Broken {
        param f = 1 N;
        param l = 1 m;
        particle p { mass = 1 kg; }
        output s = f + l;
    }
}

fn main() {}
