//! A word that is nearly one of the language.

use mbdsl_macros::mbd;

mbd! {
    model Broken {
        bdy top { mass = 1 kg; }
    }
}

fn main() {}
