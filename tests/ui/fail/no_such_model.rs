//! A name that the text does not have.

use mbdsl_macros::mbd;

mbd! {
    #![model = C]
    model A { particle p { mass = 1 kg; } }
}

use c::C;

fn main() {
    let _ = C::new(c::Params::default());
}
