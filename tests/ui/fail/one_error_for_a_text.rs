//! The same where the text has no form.

use mbdsl_macros::mbd;
use mbdsl_runtime::prelude::*;

mbd! {
    model Broken {
        param m = 1 kg
        particle tip { mass = m; }
    }
}

use broken::Broken;

fn height(model: &Broken) -> f64 {
    model.tip(model.guess()).pos.z
}

fn main() {
    let mut model = Broken::new(broken::Params { mass: 1.0, ..Default::default() }.with_length(2.0)).unwrap();
    let (mut state, report) = model.assemble().expect("consistent");
    let mut stepper = Euler::new(model.topology(), Method::ALL[0]);
    let result = stepper.step(&mut model, &mut state, 1e-3, 1e-3);
    println!("{:?} {} {}", report.redundant, model.tip(&state).pos.z, model.lift(&state, stepper.lambda())[0]);
    assert!(result.is_ok() && height(&model) > 0.0 && Broken::BODIES == 1);
}
