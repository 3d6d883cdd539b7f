//! Every form of call.

use mbdsl_macros::mbd;

mbd! {
    /// In place.
    model Here {
        param m = 1 kg; // with a comment of Rust
        particle p { mass = m; pos = [0.5, -1, 2e-3] m; }
        output up = p.pos.z;
    }
}

// Beside this file.
mbd!("bead.mbd");

// Of the library.
mbd!(<heavy_top>);

mod deeper {
    use mbdsl_macros::mbd;

    mbd!(#![module = other] "../pass/bead.mbd");
    mbd!(#![module = raw] r"bead.mbd");
}

mbd! [ model Brackets { particle p { mass = 1 kg; } } ];

mbd!(
    model Parentheses { particle p { mass = 1 kg; } }
);

fn main() {
    let model = here::Here::new(here::Params::default().with_m(2.0)).unwrap();
    assert_eq!(model.up(model.guess()), 2e-3);
    let model = bead::Bead::new(bead::Params::default()).unwrap();
    assert_eq!(model.height(model.guess()), 0.25);
    let model = deeper::other::Bead::new(deeper::other::Params::default()).unwrap();
    assert_eq!(model.height(model.guess()), 0.25);
    assert_eq!(heavy_top::HeavyTop::BODIES, 1);
    assert_eq!([deeper::raw::Bead::BODIES, brackets::Brackets::BODIES, parentheses::Parentheses::BODIES], [1; 3]);
}
