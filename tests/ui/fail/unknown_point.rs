//! A body without such a point.

use mbdsl_macros::mbd;

mbd! {
    model Broken {
        body top { mass = 1 kg; inertia = sphere(radius = 1 m); point tip = [0, 1, 0] m; }
        joint pivot: spherical(ground.origin, top.tpi);
    }
}

fn main() {}
