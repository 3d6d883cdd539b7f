//! Generated models whose text asks for steps that a tolerance chooses.

use mbdsl::exec::run;
use mbdsl::exec::session::{self, Choices};
use mbdsl::source::Sources;
use mbdsl_runtime::prelude::*;

use crate::models::swing;

fn model() -> swing::Swing {
    swing::Swing::new(Default::default()).expect("good parameters")
}

/// The plan is that of the outputs, the stepper chooses its steps, and both do what the command does, to the bit.
#[test]
fn a_run_is_that_of_the_command() {
    let mut model = model();
    let (mut state, _) = model.assemble().expect("consistent");
    let mut stepper = model.stepper().expect("a known name");
    let plan = model.plan().expect("an end");
    assert_eq!((plan.step, plan.steps, model.every()), (0.05, 40, 0.05));
    let mut checks = Checks::new(&mut model, &state, &plan);
    let (summary, result) = simulate(&mut model, &mut stepper, &mut state, &plan, |_, model, state, stepper| {
        checks.see(model, state, stepper);
        ControlFlow::Continue(())
    });
    assert_eq!((summary.steps, result), (40, Ok(())));
    assert_eq!(checks.finish(&model, &state), []);
    let AnyStepper::Adaptive(adaptive) = &stepper else { panic!("its steps are chosen") };
    assert_eq!((adaptive.method(), adaptive.tolerance().get()), (Pair::Dop853.into(), 0.1 * 1e-7));

    let mut sources = Sources::default();
    let file = sources.add("swing.mbd", include_str!("swing.mbd"));
    let loaded = session::load(&mut sources, file, &Choices::default()).expect("a good model");
    let setup = session::setup(&loaded, &Choices::default()).expect("the model says how to run it");
    let mut session = session::assemble(&loaded).expect("an assembled start");
    let outcome = run::run(&loaded, &mut session, &setup, true, &mut []).expect("nothing is written");
    assert_eq!((outcome.failed_checks.len(), outcome.steps), (0, 40));
    assert_eq!(outcome.state, state);
    assert_eq!(outcome.statistics, stepper.statistics());
    assert_eq!(outcome.lambda, stepper.lambda());
}

#[test]
fn events_read_the_model() {
    let mut model = model();
    let (mut state, _) = model.assemble().expect("consistent");
    let mut stepper = Adaptive::new(model.topology(), Pair::Dop853, Tolerance::default());
    let found = stepper
        .step_to_event(&mut model, &mut state, 2.0, Crossing::Falling, |model, s| model.tip(s)[0])
        .expect("a motion");
    // Rods that fall from the horizontal hang down before the time of a pendulum's half swing.
    assert!(found && (0.1..0.9).contains(&state.t) && model.tip(&state)[0].abs() < 1e-12, "{}", state.t);
    assert!(model.tip(&state)[2] < -0.4);
}

#[test]
fn impossible_tolerances_are_named() {
    let model = swing::Swing::new(swing::Params::default().with_sharp(10.0)).expect("good parameters");
    let error = model.stepper().expect_err("an impossible tolerance");
    assert_eq!(error.to_string(), "no step can be chosen by a tolerance of 1.0: it must be from 1e-13 to 0.1");
}
