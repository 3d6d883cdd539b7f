//! Andrews' squeezing mechanism: 50 equations of rank 41 on the 42 coordinates of seven bodies, against a program that knows nothing of bodies in space.

use mbdsl_runtime::steppers::explicit::Pair;
use mbdsl_runtime::steppers::name::StepperName;
use mbdsl_tests::references::distance_of_squeezer;

use crate::data::table;
use crate::rig::{Auto, Steps, assemble, load_library, run, watch, watch_auto};

/// Angles of the model's outputs, in the order of the table.
const ANGLES: [&str; 7] = ["beta", "Theta", "gamma", "Phi", "delta", "Omega", "epsilon"];

#[test]
fn nine_equations_say_nothing_new() {
    let report = assemble(&load_library("andrews")).report;
    assert_eq!((report.rows, report.rank, report.degrees_of_freedom), (50, 41, 1));
    assert_eq!(report.dependent.len(), 9);
}

/// All seven angles, turns of the crank included, at a hundred times: the table has 13 digits, and errors grow with the turns.
#[test]
fn angles_over_time() {
    let expected = table("andrews_history");
    let loaded = load_library("andrews");
    let until = 50e-3;
    let mut seen = 0;
    let outcome =
        watch_auto(&loaded, Auto { method: Pair::Dop853.into(), tolerance: 1e-12, every: 0.5e-3, until }, |now| {
            let reference = expected.at(now.state.t, ANGLES);
            for ((name, value), reference) in ANGLES.iter().zip(now.outputs).zip(reference) {
                assert!((value - reference).abs() < 2e-10, "{name} at {} s: {value} and {reference}", now.state.t);
            }
            seen += 1;
        });
    assert_eq!(seen, 101);
    let e = &outcome.extremes;
    // Lengths are below 0.1 m, speeds below 20 m/s, accelerations below 4e4 m/s^2.
    assert!(e.position < 1e-15 && e.velocity < 1e-13 && e.acceleration < 1e-9, "{e:?}");
}

/// Steps that a tolerance of 1e-8 chooses: the angles to 2e-8, by as many evaluations as an independent program takes (984), up to a tenth.
#[test]
fn steps_by_tolerance() {
    let loaded = load_library("andrews");
    let until = 30e-3;
    let outcome =
        watch_auto(&loaded, Auto { method: Pair::Dop853.into(), tolerance: 1e-8, every: until, until }, |_| {});
    let done = outcome.statistics.expect("the steps were chosen");
    let error = distance_of_squeezer(&outcome.state);
    println!("{error:e}, {done:?}");
    assert!(error < 2e-8 / 22.0 && done.evaluations < 1083, "{error:e}, {done:?}");
}

fn steps(method: &str, h: f64, until: f64) -> Steps<StepperName> {
    Steps { method: method.parse().expect("a stepper"), h, until }
}

/// Steps of 50 us: largest errors that were measured with an independent program, by at most half more; the crank and its arm err by as much, which
/// makes the norm of all errors greater by a root of two. (Its Gauss method has other stages; here errors of order 6 are those of Newton's method.)
#[test]
fn errors_of_fixed_steps() {
    let loaded = load_library("andrews");
    let until = 30e-3;
    for (method, error) in [("dopri5", 1.9e-9), ("radau3", 2.5e-4), ("radau5", 3.7e-8), ("gauss6", 5e-11)] {
        let outcome = watch(&loaded, steps(method, 50e-6, until), |_| {});
        let found = 22.4 / 2.0_f64.sqrt() * distance_of_squeezer(&outcome.state);
        println!("{method}: {found:e}");
        assert!(found < 1.5 * error, "{method}: {found:e}");
    }
    let end = run(&loaded, steps("dop853", 0.1e-3, until)).state;
    assert!(22.0 * distance_of_squeezer(&end) < 2e-12, "{:e}", distance_of_squeezer(&end));
}
