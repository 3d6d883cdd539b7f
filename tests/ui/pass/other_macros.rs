//! Calls from within other macros, with whatever those pass on.

mod runtime {
    pub use mbdsl_runtime as engine;
}

macro_rules! inline {
    ($(#[$docs:meta])* $name:ident, $mass:literal, $height:expr) => {
        mbdsl_macros::mbd! {
            $(#[$docs])*
            model $name {
                particle p { mass = $mass kg; pos = [0.5, -1, $height] m; }
                output up = p.pos.z;
            }
        }
    };
}
inline!(
    /// Tokens from two places.
    Wrapped,
    3,
    2e-3
);
inline!(Plain, 3, 1 + 1);

macro_rules! whole {
    ($($tokens:tt)*) => {
        mbdsl_macros::mbd! { $($tokens)* }
    };
}
whole! {
    /// All tokens from one place.
    model Whole {
        particle p { mass = 1 kg; pos = [0, 0, 1] m; }
    }
}
whole!("bead.mbd");
whole!(<chain>);

macro_rules! named {
    ($module:ident, $model:ident, $path:literal, $expression:expr, $runtime:path) => {
        mbdsl_macros::mbd!(#![module = $module] <$model>);
        mod files {
            mbdsl_macros::mbd!(#![runtime = $runtime] $path);
        }
        mod more {
            mbdsl_macros::mbd!(#![runtime = $crate::runtime::engine] $expression);
        }
    };
}
named!(top, heavy_top, "bead.mbd", "bead.mbd", crate::runtime::engine);

fn main() {
    let model = wrapped::Wrapped::new(wrapped::Params::default()).unwrap();
    assert_eq!(model.up(model.guess()), 2e-3);
    let model = plain::Plain::new(plain::Params::default()).unwrap();
    assert_eq!(model.up(model.guess()), 2.0);
    assert_eq!([whole::Whole::BODIES, bead::Bead::BODIES, top::HeavyTop::BODIES], [1; 3]);
    assert_eq!([files::bead::Bead::BODIES, more::bead::Bead::BODIES, chain::Chain::BODIES], [1, 1, 40]);
}
