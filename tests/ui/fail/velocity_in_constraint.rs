//! Constraints are of positions.

use mbdsl_macros::mbd;

mbd! {
    model Broken {
        particle p { mass = 1 kg; }
        constraint slow: norm(p.vel) == 1 [m/s];
    }
}

fn main() {}
