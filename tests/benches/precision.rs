//! Time that compiled models take to a given error at t = 1 s, with constraints at round-off all the way.
//!
//! For each stepper the number of steps grows by tenths until the error of the centres of mass stays below the target; the
//! fastest of several runs counts. What they are against is in `tests/src/references.rs`.

mod yardstick;

use std::time::Instant;

use mbdsl_macros::mbd;
use mbdsl_runtime::state::State;
use mbdsl_runtime::steppers::{AnyStepper, Stepper as _};
use mbdsl_runtime::system::System;
use mbdsl_tests::references::{RODS, TOP, distance_of_centres};

mbd!(<heavy_top>);
mbd!(<double_pendulum>);

/// End of the run, s.
const END: f64 = 1.0;

/// Errors that are asked for, m.
const TARGETS: [f64; 2] = [1e-6, 1e-9];

/// Runs of which the fastest counts.
const TURNS: usize = 15;

/// Most stages of a run that is tried.
const MOST: usize = 100_000;

/// A stepper and the stages of its step.
const STEPPERS: [(&str, usize); 12] = [
    ("dopri5", 6),
    ("dop853", 12),
    ("splitting_exact+suzuki4", 5),
    ("splitting_exact+kahan_li6", 9),
    ("splitting_exact+sofroniou_spaletta6", 13),
    ("splitting_exact+kahan_li8", 17),
    ("splitting_exact+sofroniou_spaletta8", 21),
    ("splitting_dlm+suzuki4", 5),
    ("splitting_dlm+sofroniou_spaletta6", 13),
    ("splitting_dlm+sofroniou_spaletta8", 21),
    ("variational_rrp+sofroniou_spaletta8", 21),
    ("splitting_dlm_cayley+sofroniou_spaletta8", 21),
];

fn main() {
    if std::env::args().any(|a| a == "--list") {
        return;
    }
    yardstick::print();
    println!("| model | stepper | error, m | steps | ms | ns a stage | updates a stage |");
    println!("|---|---|---|---|---|---|---|");
    let mut top = heavy_top::HeavyTop::new(Default::default()).expect("parameters are possible");
    let (start, _) = top.assemble().expect("the model can be assembled");
    table("heavy top", &mut top, &start, &TOP);
    let mut rods = double_pendulum::DoublePendulum::new(Default::default()).expect("parameters are possible");
    let (start, _) = rods.assemble().expect("the model can be assembled");
    table("double pendulum", &mut rods, &start, &RODS);
}

fn table<S: System>(name: &str, system: &mut S, start: &State, reference: &[f64]) {
    for (stepper, stages) in STEPPERS {
        for target in TARGETS {
            let Some(steps) = steps(system, start, reference, (stepper, stages), target) else {
                println!("| {name} | `{stepper}` | {target:.0e} | more than {} | | | |", MOST / stages);
                continue;
            };
            let (mut fastest, mut updates) = (f64::INFINITY, 0);
            for _ in 0..TURNS {
                let begin = Instant::now();
                let (end, found) = run(system, start, stepper, steps).expect("it has been run before");
                updates = found;
                fastest = fastest.min(begin.elapsed().as_secs_f64());
                assert!(distance_of_centres(&end, reference) <= target);
            }
            let stage = 1e9 * fastest / (steps * stages) as f64;
            let updates = updates as f64 / (steps * stages) as f64;
            let ms = 1e3 * fastest;
            println!("| {name} | `{stepper}` | {target:.0e} | {steps} | {ms:.3} | {stage:.0} | {updates:.2} |");
        }
    }
}

/// The smallest number of steps on a grid of tenths from which on the error is below a target.
fn steps<S: System>(
    system: &mut S,
    start: &State,
    reference: &[f64],
    (stepper, stages): (&str, usize),
    target: f64,
) -> Option<usize> {
    let mut good = None;
    let mut steps = MOST / stages;
    while steps > 4 {
        let is_good =
            run(system, start, stepper, steps).is_some_and(|(end, _)| distance_of_centres(&end, reference) <= target);
        if !is_good {
            break;
        }
        good = Some(steps);
        steps -= 1 + steps / 11;
    }
    good
}

/// The end of a run, and how many updates Newton's method made.
fn run<S: System>(system: &mut S, start: &State, stepper: &str, steps: usize) -> Option<(State, usize)> {
    let name = stepper.parse().expect("there is such a stepper");
    let mut stepper = AnyStepper::new(system.topology(), name).expect("it suits the model");
    let mut state = start.clone();
    let h = END / steps as f64;
    let mut updates = 0;
    for n in 1..=steps {
        updates += stepper.step(system, &mut state, h, h * n as f64).ok()?.iterations;
    }
    Some((state, updates))
}
