//! A hinge without its axis.

use mbdsl_macros::mbd;

mbd! {
    model Broken {
        body top { mass = 1 kg; inertia = sphere(radius = 1 m); }
        joint hinge: revolute(ground.origin, top.origin);
    }
}

fn main() {}
