//! The same for a name that is nearly one of the library.

use mbdsl_macros::mbd;
use mbdsl_runtime::prelude::*;

mbd!(<heavy_topp>);

use heavy_top::HeavyTop;

fn height(model: &HeavyTop) -> f64 {
    model.tip(model.guess()).pos.z
}

fn main() {
    let mut model = HeavyTop::new(heavy_top::Params { mass: 1.0, ..Default::default() }.with_length(2.0)).unwrap();
    let (mut state, report) = model.assemble().expect("consistent");
    let mut stepper = Euler::new(model.topology(), Method::ALL[0]);
    let result = stepper.step(&mut model, &mut state, 1e-3, 1e-3);
    println!("{:?} {} {}", report.redundant, model.tip(&state).pos.z, model.lift(&state, stepper.lambda())[0]);
    assert!(result.is_ok() && height(&model) > 0.0 && HeavyTop::BODIES == 1);
}
