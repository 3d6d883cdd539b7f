//! A joint that does not exist.

use mbdsl_macros::mbd;

mbd! {
    model Broken {
        body top { mass = 1 kg; inertia = sphere(radius = 1 m); }
        joint pivot: sphericl(ground.origin, top.origin);
    }
}

fn main() {}
