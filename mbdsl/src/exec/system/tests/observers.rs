//! Outputs and checks: reductions, multipliers, recorded values, continuous angles.

use mbdsl_runtime::nalgebra::Vector3;
use mbdsl_runtime::so3;
use mbdsl_runtime::system::System;

use super::{Noise, models, program, row_names};
use crate::backend::engine::{Backend, Engine};
use crate::exec::bind::bind;
use crate::exec::observe::Observers;
use crate::exec::system::ProgramSystem;

#[test]
fn reductions_and_multipliers_of_a_chain() {
    let mut model = models::chain(4);
    models::add_reach(&mut model, 4);
    let program = program(&model);
    let binding = bind(&program, &[]).expect("good values");
    let mut observers = Observers::new(&program, &binding, &Engine::new(Backend::Interp)).expect("small kernels");
    let names = ["sag", "mean", "tension[1].x", "tension[1].y", "tension[1].z", "tension[2].x"];
    assert_eq!(observers.columns()[..6], names);
    assert_eq!(observers.columns()[11..], ["reach[1]", "reach[2]", "reach[3]"]);

    let mut state = binding.guess.clone();
    state.set_x(2, &Vector3::new(1.0, 0.0, -3.0));
    let lambda: Vec<f64> = (0..16).map(f64::from).collect();
    let row = observers.outputs(&state, &lambda, &[0.0; 9]).to_vec();
    assert_eq!(row[..2], [-3.0, 0.75], "links stand at 0, 0.5, 1 and 1.5");
    // The pivot has the rows 0..3.
    assert_eq!(row[2..11], [3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0]);
    assert_eq!(row[11..], [0.5, 1.0, 1.5]);
    assert_eq!(observers.first_failure(&state, &lambda, &[0.0; 9]), None);
    state.set_x(1, &Vector3::new(0.0, 0.0, -2000.0));
    let failure = observers.first_failure(&state, &lambda, &[0.0; 9]).expect("too deep");
    assert_eq!((failure.name.as_str(), failure.sides), ("shallow", Some((-1000.0, -2000.0))));
}

#[test]
fn values_are_recorded_at_the_nearest_step() {
    let mut model = models::single_pendulum();
    models::add_checks(&mut model);
    let program = program(&model);
    let binding = bind(&program, &[]).expect("good values");
    let mut observers = Observers::new(&program, &binding, &Engine::new(Backend::Interp)).expect("small kernels");
    let mut state = binding.guess.clone();
    let globals = [0.0; 9];
    assert!(observers.final_failures(&state, &[], &globals)[0].is_incomplete);
    for (t, y) in [(0.0, 5.0), (0.02, 6.0), (0.04, 7.0), (0.06, 8.0), (0.08, 9.0)] {
        state.t = t;
        state.set_x(0, &Vector3::new(0.0, y, 0.0));
        observers.record(&state, &[], &globals, 0.02);
    }
    let failure = observers.final_failures(&state, &[], &globals).remove(0);
    let (gap, _) = failure.sides.expect("a comparison");
    assert!(!failure.is_incomplete);
    assert_eq!(gap, 2.0, "0.045 s is nearer to 0.04 s");
    let bad = bind(&program, &[(1, vec![-1.0])]).expect_err("a length below zero");
    assert_eq!(
        bad[0].diagnostic(&model).message,
        "check `length` does not hold: -1 against 0 1",
        "sides and unit are shown"
    );
}

#[test]
fn angles_count_turns() {
    let program = program(&models::driven_hinge());
    let binding = bind(&program, &[]).expect("good values");
    let mut system = ProgramSystem::new(&program, &binding, &Engine::new(Backend::Interp)).expect("small kernels");
    let mut state = binding.guess.clone();
    for turn in 1..=40 {
        let angle = 0.25 * f64::from(turn);
        state.set_r(1, &so3::exp(&Vector3::new(0.0, 0.0, angle)));
        system.accept(&mut state);
        assert!((state.memory[0] - angle).abs() < 1e-14 * angle.max(1.0) * 10.0);
    }
    let mut observers = Observers::new(&program, &binding, &Engine::new(Backend::Interp)).expect("small kernels");
    let turned = observers.outputs(&state, &[], &[0.0; 9])[0];
    assert!((turned - 10.0).abs() < 1e-13);
}

#[test]
fn rows_have_names() {
    let program = program(&models::driven_hinge());
    let binding = bind(&program, &[]).expect("good values");
    let system = ProgramSystem::new(&program, &binding, &Engine::new(Backend::Interp)).expect("small kernels");
    let names = row_names(&system, 1, 5);
    assert_eq!(names, ["hinge pos.x", "hinge pos.y", "hinge pos.z", "hinge tilt1", "hinge tilt2"]);
    assert_eq!(system.row_name(1, 0), "equation");
    assert_eq!(system.position_condition_name(0), "hinge.angle");
    assert_eq!(Noise(1).list(2).len(), 2);
}

#[test]
fn reductions_nest() {
    let n = 5;
    let mut model = models::chain(n);
    models::add_pair_distance(&mut model, n);
    let program = program(&model);
    let binding = bind(&program, &[]).expect("good values");
    let mut observers = Observers::new(&program, &binding, &Engine::new(Backend::Interp)).expect("small kernels");
    let at = observers.columns().iter().position(|c| c == "pairs").expect("an output");
    // Links stand at 0, 0.5, ... 2: the distances of pairs are 4 times 0.5, 3 times 1, 2 times 1.5 and 2.
    assert_eq!(observers.outputs(&binding.guess, &[0.0; 19], &[0.0; 9])[at], 10.0);
}
