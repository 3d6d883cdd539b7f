//! A setting for what is no `const`.

use mbdsl_macros::mbd;

mbd! {
    #![set(N = 3, m = 2)]
    model Some {
        const N = 2;
        param m = 1 kg;
        particle p[i in 0..N] { mass = m; pos = [i * 1 m, 0, 0]; }
    }
}

fn main() {}
