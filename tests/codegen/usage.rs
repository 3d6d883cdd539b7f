//! Generated models as a Rust program uses them: parameters, names, outputs, runs as the model asks for.

use std::ops::ControlFlow;

use mbdsl_runtime::prelude::*;
use mbdsl_runtime::setup::{ParamsFault, SetupFault};

use crate::models::{chain, inline, particles, servo, short_chain, single_pendulum, told};

#[test]
fn defaults_are_those_of_the_text() {
    let p = single_pendulum::Params::default();
    assert_eq!((p.m, p.l, p.Omega), (15.0, 1.0, [0.0, 150.0, -4.6154]));
}

#[test]
fn defaults_follow_what_they_depend_on() {
    let p = inline::Params::default();
    assert_eq!((p.k, p.c), (20.0, 0.05 * 20.0));
    assert_eq!(p.with_k(40.0).c, 0.05 * 40.0);
    assert_eq!(p.with_k(40.0).with_c(3.0).c, 3.0);
    assert_eq!(inline::Params { k: 40.0, ..p }.c, p.c);
}

#[test]
fn impossible_parameters_are_named() {
    let p = single_pendulum::Params::default().with_m(-1.0);
    let error = single_pendulum::SinglePendulum::new(p).expect_err("a negative mass");
    assert_eq!(error.faults[0], ParamsFault::Body { name: "top".to_owned(), fault: SetupFault::Mass { mass: -1.0 } });
    let p = inline::Params::default().with_k(-20.0);
    let error = inline::Inline::new(p).expect_err("a check fails");
    // The check `k > 0` is `0 < k`.
    assert_eq!(error.to_string(), "the check `stiff` fails: 0 and -20");
    let p = inline::Params { m: f64::NAN, ..inline::Params::default() };
    let error = inline::Inline::new(p).expect_err("not a number");
    assert_eq!(error.faults[0], ParamsFault::Param { name: "m" });
}

#[test]
fn a_run_takes_five_lines() {
    let mut model = single_pendulum::SinglePendulum::new(Default::default()).expect("good parameters");
    let (mut state, _) = model.assemble().expect("consistent");
    let mut stepper = model.stepper().expect("a known name");
    let plan = Plan { steps: 100, ..model.plan().expect("a step and an end") };
    let (summary, result) =
        simulate(&mut model, &mut stepper, &mut state, &plan, |_, _, _, _| ControlFlow::Continue(()));
    assert_eq!((summary.steps, result), (100, Ok(())));
    // The output is the centre of mass, where the reference frame is.
    assert_eq!(model.cm(&state), <[f64; 3]>::from(model.top(&state).pos));
    let lambda = stepper.lambda();
    assert_eq!(model.lift(&state, lambda), model.pivot(lambda).map(|x| -x));
}

#[test]
fn outputs_know_the_start_and_the_energy() {
    let mut model = inline::Inline::new(Default::default()).expect("good parameters");
    let (mut state, _) = model.assemble().expect("consistent");
    assert_eq!(model.moved(&state), 0.0);
    state.z[0] += 0.25;
    assert!((model.moved(&state) - 0.25).abs() < 1e-15);
    assert_eq!(model.stored(&state, &[7.0; 9]), 7.0);
}

#[test]
fn arrays_have_instances() {
    let mut model = chain::Chain::new(Default::default()).expect("good parameters");
    let (state, _) = model.assemble().expect("consistent");
    let lowest = (0..40).map(|k| model.link(&state, k).pos.z).fold(f64::INFINITY, f64::min);
    assert_eq!(model.sag(&state), lowest);
    let lambda: Vec<f64> = (0..model.topology().nc()).map(|k| k as f64).collect();
    assert_eq!(model.pin(1, &lambda), &[6.0, 7.0, 8.0]);

    let model = particles::Particles::new(Default::default()).expect("good parameters");
    let s = model.guess();
    assert!((model.middle(s) - 0.3).abs() < 1e-15);
    assert_eq!(model.reach(2, s), (0..2).map(|j| model.p(s, 4 + j).pos.norm()).fold(0.0, f64::max));
}

#[test]
fn inputs_start_at_their_defaults_and_belong_to_an_instance() {
    let params = servo::Params::default().with_k(50.0);
    let mut model = servo::Servo::new(params).expect("good parameters");
    let start = *model.inputs();
    // The default of the moment follows from the stiffness.
    assert_eq!((start.moment, start.place, start.level), (0.2 * 50.0, [0.5, 0.0, 0.0], 0.0));
    let other = model.clone();
    model.inputs_mut().moment = 3.0;
    assert_eq!((model.inputs().moment, other.inputs().moment), (3.0, 10.0));
    *model.inputs_mut() = servo::Inputs::new(&params);
    assert_eq!(model.inputs(), &start);
}

/// The controller sees the state that a step starts from, and the step holds what it sets.
#[test]
fn a_controller_acts_before_each_step() {
    let mut model = servo::Servo::new(Default::default()).expect("good parameters");
    let (mut state, _) = model.assemble().expect("consistent");
    let mut stepper = model.stepper().expect("a known name");
    let plan = Plan { steps: 5, ..model.plan().expect("a step and an end") };
    let (mut seen, mut held) = (Vec::new(), Vec::new());
    let (summary, result) = simulate_controlled(
        &mut model,
        &mut stepper,
        &mut state,
        &plan,
        |model, state| {
            seen.push(state.t);
            model.inputs_mut().moment = 1e3 * state.t;
        },
        |n, model, state, _| {
            held.push((state.t, model.inputs().moment));
            if n == 4 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        },
    );
    assert_eq!((summary.steps, summary.stopped, result), (4, true, Ok(())));
    let time = |n: u64| plan.time(n);
    assert_eq!(seen, [0, 1, 2, 3].map(time));
    assert_eq!(held, [1, 2, 3, 4].map(|n| (time(n), 1e3 * time(n - 1))));
}

#[test]
fn sizes_are_set_where_the_macro_is_called() {
    assert_eq!((chain::Chain::BODIES, short_chain::Chain::BODIES), (40, 5));
    let mut model = short_chain::Chain::new(Default::default()).expect("good parameters");
    let (state, _) = model.assemble().expect("consistent");
    assert_eq!(model.body_name(4), "link[4]");
    let lowest = (0..5).map(|k| model.link(&state, k).pos.z).fold(f64::INFINITY, f64::min);
    assert_eq!(model.sag(&state), lowest);
}

/// A drive jumps with its input in one step, by whatever stepper; but those that fulfil the equations of velocities only do not
/// see it, since the rate of an input counts as zero.
#[test]
fn a_drive_follows_the_jump_of_its_input() {
    for name in StepperName::basic() {
        let mut model = told::Told::new(Default::default()).expect("good parameters");
        let (mut state, _) = model.assemble().expect("consistent");
        // Some move spherical bodies only.
        let Ok(mut stepper) = AnyStepper::new(model.topology(), name) else { continue };
        let plan = Plan::new(1e-3, 0.04).expect("a step and an end");
        let mut angles = Vec::new();
        let (_, result) = simulate_controlled(
            &mut model,
            &mut stepper,
            &mut state,
            &plan,
            |model, state| model.inputs_mut().target = if state.t < 0.0195 { 0.3 } else { 0.4 },
            |_, model, state, _| {
                angles.push(model.angle(state));
                ControlFlow::Continue(())
            },
        );
        let name = stepper.name();
        assert_eq!(result, Ok(()), "{name}");
        let is_blind = name.starts_with("dae2") && !name.ends_with("lse");
        let (before, after) = angles.split_at(20);
        // Positions at velocity level drift by the order of the step.
        let tolerance = if is_blind { 1e-2 } else { 1e-11 };
        assert!(before.iter().all(|angle| (angle - 0.3).abs() < tolerance), "{name}: {before:?}");
        let target = if is_blind { 0.3 } else { 0.4 };
        assert!(after.iter().all(|angle| (angle - target).abs() < tolerance), "{name}: {after:?}");
    }
}
