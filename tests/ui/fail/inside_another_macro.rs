//! Tokens from two places: the message points at the one that is wrong.

use mbdsl_macros::mbd;

macro_rules! weight {
    ($name:ident, $mass:expr) => {
        mbd! {
            model $name {
                particle p { mass = $mass; pos = [0, 0, 1] m; }
            }
        }
    };
}
weight!(Weight, 3);

fn main() {}
