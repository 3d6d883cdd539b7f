//! A statement ends with a semicolon.

use mbdsl_macros::mbd;

mbd! {
    model Broken {
        param m = 1 kg
        particle p { mass = m; }
    }
}

fn main() {}
