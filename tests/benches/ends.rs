//! What the end of a step costs where it puts the state onto the constraints at all three levels, as a part of the whole step.
//!
//! The same block ends the steps of all methods with projection: positions, velocities, accelerations, with two evaluations and factorisations of `B M^-1 B^T`, of which
//! explicit methods and generalized-alpha save the first one. It is timed alone, on states along a run that are moved off the constraints by as much as a good step leaves.

mod yardstick;

use std::time::Instant;

use mbdsl_macros::mbd;
use mbdsl_runtime::acceleration::Projector;
use mbdsl_runtime::state::{STRIDE, State};
use mbdsl_runtime::steppers::{AnyStepper, Stepper as _};
use mbdsl_runtime::system::System;

mbd!(<heavy_top>);
mbd!(<double_pendulum>);
mbd!(<four_bar_free>);

/// Steps of a turn.
const STEPS: u32 = 200;

/// Turns of which the fastest counts.
const TURNS: usize = 100;

/// How far states are moved off the constraints, m and m/s.
const OFF: f64 = 1e-8;

const STEPPERS: [&str; 5] = ["dopri5", "dop853", "radau5", "gauss6", "generalized_alpha"];

fn main() {
    if std::env::args().any(|a| a == "--list") {
        return;
    }
    yardstick::print();
    println!("| model | stepper | us a step | us its end | part |");
    println!("|---|---|---|---|---|");
    let mut top = heavy_top::HeavyTop::new(Default::default()).expect("parameters are possible");
    let (start, _) = top.assemble().expect("the model can be assembled");
    table("heavy top, 1 ms", &mut top, &start, 1e-3);
    let mut rods = double_pendulum::DoublePendulum::new(Default::default()).expect("parameters are possible");
    let (start, _) = rods.assemble().expect("the model can be assembled");
    table("double pendulum, 1 ms", &mut rods, &start, 1e-3);
    let mut bars = four_bar_free::FourBarFree::new(Default::default()).expect("parameters are possible");
    let (start, _) = bars.assemble().expect("the model can be assembled");
    table("four-bar, 5 ms", &mut bars, &start, 5e-3);
}

fn table<S: System>(name: &str, system: &mut S, start: &State, h: f64) {
    let mut states = Vec::new();
    run(system, start, "dop853", h, |state| states.push(state.clone()));
    for state in &mut states {
        for (k, body) in state.z.chunks_exact_mut(STRIDE).enumerate() {
            body[k % 3] += OFF;
            body[mbdsl_runtime::state::VEL + (k + 1) % 3] += OFF;
        }
    }
    let mut projector = Projector::new(system.topology());
    let mut scratch = start.clone();
    let end = fastest(|| {
        for state in &states {
            scratch.clone_from(state);
            projector.project(system, &mut scratch).expect("the constraints are near");
        }
    });
    for stepper in STEPPERS {
        let step = fastest(|| run(system, start, stepper, h, |_| {}));
        println!("| {name} | `{stepper}` | {:.2} | {:.2} | {:.2} |", 1e6 * step, 1e6 * end, end / step);
    }
}

/// Time of a step, s, in the fastest turn.
fn fastest(mut turn: impl FnMut()) -> f64 {
    let mut fastest = f64::INFINITY;
    for _ in 0..TURNS {
        let begin = Instant::now();
        turn();
        fastest = fastest.min(begin.elapsed().as_secs_f64());
    }
    fastest / f64::from(STEPS)
}

/// Steps from the start, and shows each state.
fn run<S: System>(system: &mut S, start: &State, stepper: &str, h: f64, mut see: impl FnMut(&State)) {
    let name = stepper.parse().expect("there is such a stepper");
    let mut stepper = AnyStepper::new(system.topology(), name).expect("it suits the model");
    let mut state = start.clone();
    for n in 1..=STEPS {
        stepper.step(system, &mut state, h, h * f64::from(n)).expect("a step");
        see(&state);
    }
}
