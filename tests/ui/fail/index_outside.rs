//! An index beyond its set.

use mbdsl_macros::mbd;

mbd! {
    model Broken {
        const N = 3;
        particle p[i in 0..N] { mass = 1 kg; }
        output x = p[N].pos.x;
    }
}

fn main() {}
