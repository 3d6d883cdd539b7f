//! Checks from Rust: what fails, with the numbers that the interpreter compares.

use std::ops::ControlFlow;

use mbdsl::backend::engine::{Backend, Engine};
use mbdsl::driver;
use mbdsl::exec::bind;
use mbdsl::exec::observe::Observers;
use mbdsl::source::Sources;
use mbdsl_runtime::generated;
use mbdsl_runtime::prelude::*;

use crate::models::watched::{Params, Watched};

/// Runs with `steps` steps and a wind, and gives what fails by the generated code and by the interpreter.
fn failures(params: Params, set: &[(usize, Vec<f64>)], steps: u64, wind: f64) -> [Vec<FailedCheck>; 2] {
    let mut sources = Sources::default();
    let file = sources.add("watched.mbd", include_str!("watched.mbd"));
    let compiled = driver::compile(&mut sources, file, &Default::default()).expect("a good model");
    let binding = bind::bind(&compiled.program, set).expect("good parameters");
    let mut observers =
        Observers::new(&compiled.program, &binding, &Engine::new(Backend::Interp)).expect("small kernels");
    observers.signals_mut()[0] = wind;

    let mut model = Watched::new(params).expect("good parameters");
    model.inputs_mut().wind = wind;
    let (mut state, _) = model.assemble().expect("consistent");
    let mut stepper = model.stepper().expect("a known name");
    let plan = Plan { steps, ..model.plan().expect("a step and an end") };
    let mut checks = Checks::new(&mut model, &state, &plan);

    let mut expected = Vec::new();
    let take = |t: f64, f: mbdsl::exec::observe::Failure| {
        let check = &compiled.program.checks[f.check];
        let (sign, is_incomplete) = (check.comparison.map_or("", |c| c.sign()), f.is_incomplete);
        // Only lengths, energies, forces and plain numbers are compared.
        let unit = ["m", "kg*m^2/s^2", "kg*m/s^2"].into_iter().find(|unit| *unit == check.unit).unwrap_or_default();
        FailedCheck { check: f.check, name: f.name, t, sides: f.sides, sign, unit, is_incomplete }
    };
    let (lambda, globals) = generated::observe(&mut model, &state);
    observers.set_start(&state, &lambda, &globals);
    observers.record(&state, &lambda, &globals, plan.step);
    expected.extend(observers.first_failure(&state, &lambda, &globals).map(|f| take(0.0, f)));
    let (mut lambda, mut globals) = (lambda, globals);
    let mut monitor = Monitor::new(model.topology());
    let (_, result) = simulate(&mut model, &mut stepper, &mut state, &plan, |_, model, state, stepper| {
        checks.see(model, state, stepper);
        lambda = stepper.lambda().to_vec();
        globals = monitor.measure(model, state, stepper.acceleration()).globals();
        observers.record(state, &lambda, &globals, plan.step);
        if expected.is_empty() {
            expected.extend(observers.first_failure(state, &lambda, &globals).map(|f| take(state.t, f)));
        }
        ControlFlow::Continue(())
    });
    result.expect("good steps");
    let last = observers.final_failures(&state, &lambda, &globals);
    expected.extend(last.into_iter().map(|f| take(state.t, f)));
    [checks.finish(&model, &state), expected]
}

#[track_caller]
fn check(limit: f64, late: f64, steps: u64, wind: f64, texts: &[&str]) {
    let params = Params { limit, late, ..Params::default() };
    let [found, expected] = failures(params, &[(0, vec![limit]), (1, vec![late])], steps, wind);
    assert_eq!(found, expected);
    let found: Vec<String> = found.iter().map(ToString::to_string).collect();
    assert_eq!(found, texts);
}

#[test]
fn a_good_run_fails_nothing() {
    check(10.0, 0.05, 60, 0.0, &[]);
}

#[test]
fn the_first_failure_of_the_run_comes_first() {
    // Implicit Euler falls by n (n + 1) / 2 g h^2: more than 1 mm from n = 14 on.
    let [found, expected] = failures(Params { limit: 1e-3, ..Params::default() }, &[(0, vec![1e-3])], 60, 0.0);
    assert_eq!(found, expected);
    let names: Vec<(&str, f64)> = found.iter().map(|f| (f.name.as_str(), f.t)).collect();
    // The balls are higher than that from the start, and the sum of three is not near the one.
    assert_eq!(names, [("height", 0.0), ("spread", 0.06)]);
    let (left, right) = found[1].sides.expect("a comparison");
    assert!((left - 2.0).abs() < 0.1 && right == 1e-3, "{left}");
}

#[test]
fn times_that_are_not_reached_are_told() {
    check(10.0, 0.07, 60, 0.0, &["check `spread` asks for a time that the run did not reach"]);
    check(
        10.0,
        0.01,
        15,
        0.0,
        &[
            "check `early[1]` asks for a time that the run did not reach",
            "check `early[2]` asks for a time that the run did not reach",
            "check `whole[0]` asks for a time that the run did not reach",
            "check `whole[1]` asks for a time that the run did not reach",
            "check `whole[2]` asks for a time that the run did not reach",
        ],
    );
}

#[test]
fn inputs_are_seen() {
    check(10.0, 0.05, 60, 0.25, &["check `still` fails at t = 0.06 s: 0.25 == 0.0 kg*m/s^2 is false"]);
}
