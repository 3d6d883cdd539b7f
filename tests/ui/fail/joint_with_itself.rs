//! A joint holds two bodies.

use mbdsl_macros::mbd;

mbd! {
    model Broken {
        body top { mass = 1 kg; inertia = sphere(radius = 1 m); }
        joint pivot: spherical(top.origin, top.com);
    }
}

fn main() {}
