//! A body needs a mass.

use mbdsl_macros::mbd;

mbd! {
    model Broken {
        body top { inertia = sphere(radius = 1 m); }
    }
}

fn main() {}
