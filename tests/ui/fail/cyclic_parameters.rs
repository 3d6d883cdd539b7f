//! Parameters that follow from one another.

use mbdsl_macros::mbd;

mbd! {
    model Broken {
        param a = b + 1 m;
        param b = 2 * a;
        particle p { mass = 1 kg; pos = [a, 0, 0]; }
    }
}

fn main() {}
