//! A constraint compares.

use mbdsl_macros::mbd;

mbd! {
    model Broken {
        particle p { mass = 1 kg; }
        constraint c: p.pos.x = 0 m;
    }
}

fn main() {}
