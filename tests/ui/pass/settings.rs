//! Every setting.

use mbdsl_macros::mbd;

mod renamed {
    pub use mbdsl_runtime as engine;
}

mod hidden {
    use mbdsl_macros::mbd;

    mbd!(#![visibility = priv] "bead.mbd");
    mbd!(#![module = of_the_crate, visibility = pub(crate)] "bead.mbd");
    mbd!(#![module = of_all, visibility = pub,] "bead.mbd");
    mbd!(#![module = of_the_parent, visibility = pub(in crate)] "bead.mbd");

    pub fn bodies() -> usize {
        bead::Bead::BODIES
    }
}

mbd! {
    #![runtime = crate::renamed::engine]
    model Engine {
        particle p { mass = 1 kg; }
    }
}

mbd! {
    #![model = Second]
    model First { particle p { mass = 1 kg; } }
    model Second { particle p { mass = 1 kg; } particle q { mass = 1 kg; pos = [1, 0, 0] m; } }
}

mbd!(#![statements = 20, module = in_parts] <heavy_top>);
mbd!(#![] <single_pendulum>);

fn main() {
    assert_eq!(hidden::bodies(), 1);
    assert_eq!([hidden::of_the_crate::Bead::BODIES, hidden::of_all::Bead::BODIES], [1; 2]);
    assert_eq!(hidden::of_the_parent::Bead::BODIES, 1);
    assert_eq!(engine::Engine::BODIES, 1);
    assert_eq!(second::Second::BODIES, 2);
    assert_eq!(in_parts::HeavyTop::BODIES, single_pendulum::SinglePendulum::BODIES);
}
