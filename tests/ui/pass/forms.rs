//! Every form of call, also inside another macro, with a renamed runtime and names that Rust does not allow.

use mbdsl_macros::mbd;

mod renamed {
    pub use mbdsl_runtime as engine;
}

mbd!(#![module = library, visibility = pub(crate)] <heavy_top>);

mbd! {
    #![runtime = crate::renamed::engine]
    model Loop {
        param type = 1 kg; // a keyword of Rust
        particle self_ { mass = type; }
        particle match { mass = type; pos = [1, 0, 0] m; }
        output move = match.pos.x;
    }
}

macro_rules! wrapped {
    ($name:ident, $mass:literal) => {
        mbd! {
            /// Tokens from two places.
            model $name {
                particle p { mass = $mass kg; pos = [0.5, -1, 2e-3] m; }
                output up = p.pos.z;
            }
        }
    };
}
wrapped!(Wrapped, 3);

fn main() {
    let top = library::HeavyTop::new(library::Params::default()).unwrap();
    assert_eq!(library::HeavyTop::BODIES, 1);
    let _ = top;
    let model = loop_::Loop::new(Default::default());
    let _ = model;
    let model = wrapped::Wrapped::new(wrapped::Params::default()).unwrap();
    assert_eq!(model.up(model.guess()), 2e-3);
}
