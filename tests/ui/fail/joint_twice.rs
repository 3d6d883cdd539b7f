//! A joint is declared once.

use mbdsl_macros::mbd;

mbd! {
    model Broken {
        body top { mass = 1 kg; inertia = sphere(radius = 1 m); }
        joint pivot: spherical(ground.origin, top.origin);
        joint pivot: revolute(ground.origin, top.origin, axis = [0, 0, 1]);
    }
}

fn main() {}
