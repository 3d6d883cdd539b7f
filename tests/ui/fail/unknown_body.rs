//! A body that is not declared.

use mbdsl_macros::mbd;

mbd! {
    model Broken {
        body top { mass = 1 kg; inertia = sphere(radius = 1 m); }
        joint pivot: spherical(ground.origin, tip.origin);
    }
}

fn main() {}
