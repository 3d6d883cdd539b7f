//! Rust itself refuses brackets that do not match.

use mbdsl_macros::mbd;

mbd! {
    model Broken {
        param m = (1 kg;
    }
}

fn main() {}
