//! Time that compiled models take to a given error with steps that a tolerance chooses, with constraints at round-off all the way.
//!
//! For each method the tolerance falls by a quarter of a power of ten until the error stays below the target; the fastest of several
//! runs counts; words after `--` choose models. What the errors are against is in `tests/src/references.rs`.

mod yardstick;

use std::time::Instant;

use mbdsl_macros::mbd;
use mbdsl_runtime::state::State;
use mbdsl_runtime::steppers::adaptive::{Adaptive, Method, Statistics, Tolerance};
use mbdsl_runtime::steppers::explicit::Pair;
use mbdsl_runtime::steppers::implicit::Radau;
use mbdsl_runtime::system::System;
use mbdsl_tests::references::{RODS, TOP, distance_of_centres, distance_of_squeezer};

mbd!(<andrews>);
mbd!(<heavy_top>);
mbd!(<double_pendulum>);

/// Runs of which the fastest counts.
const TURNS: usize = 15;

/// Quarters of powers of ten that tolerances go through.
const QUARTERS: core::ops::RangeInclusive<i32> = 8..=48;

fn main() {
    if std::env::args().any(|a| a == "--list") {
        return;
    }
    let words: Vec<String> = std::env::args().skip(1).filter(|a| a != "--bench").collect();
    let asked = |name: &str| words.is_empty() || words.iter().any(|word| word == name);
    yardstick::print();
    println!("| model | method | error | tolerance | steps | rejected | evaluations | ms | us an evaluation |");
    println!("|---|---|---|---|---|---|---|---|---|");
    if asked("heavy_top") {
        let mut top = heavy_top::HeavyTop::new(Default::default()).expect("parameters are possible");
        let (start, _) = top.assemble().expect("the model can be assembled");
        table("heavy top", &mut top, &start, 1.0, [1e-6, 1e-9], |end| distance_of_centres(end, &TOP));
    }
    if asked("double_pendulum") {
        let mut rods = double_pendulum::DoublePendulum::new(Default::default()).expect("parameters are possible");
        let (start, _) = rods.assemble().expect("the model can be assembled");
        table("double pendulum", &mut rods, &start, 1.0, [1e-6, 1e-9], |end| distance_of_centres(end, &RODS));
    }
    if asked("andrews") {
        let mut squeezer = andrews::Andrews::new(Default::default()).expect("parameters are possible");
        let (start, _) = squeezer.assemble().expect("the model can be assembled");
        table("Andrews", &mut squeezer, &start, 30e-3, [1e-6, 1e-8], distance_of_squeezer);
    }
}

/// A line for each method and target.
fn table<S: System>(
    name: &str,
    system: &mut S,
    start: &State,
    until: f64,
    targets: [f64; 2],
    error: impl Fn(&State) -> f64,
) {
    let methods: [Method; 4] = [Pair::Dopri5.into(), Pair::Dop853.into(), Radau::Radau5.into(), Radau::Radau7.into()];
    for method in methods {
        for target in targets {
            let good = QUARTERS.map(|quarters| 10_f64.powf(-0.25 * f64::from(quarters))).find(|tolerance| {
                [1.0, 0.56]
                    .iter()
                    .all(|factor| error(&run(system, start, method, tolerance * factor, until).0) <= target)
            });
            let tolerance = good.expect("some tolerance is small enough");
            let mut fastest = f64::INFINITY;
            for _ in 0..TURNS {
                let begin = Instant::now();
                let (end, _) = run(system, start, method, tolerance, until);
                fastest = fastest.min(begin.elapsed().as_secs_f64());
                assert!(error(&end) <= target);
            }
            let (_, Statistics { steps, rejected, evaluations, .. }) = run(system, start, method, tolerance, until);
            let (ms, each) = (1e3 * fastest, 1e6 * fastest / evaluations as f64);
            println!(
                "| {name} | `{}` | {target:.0e} | {tolerance:.1e} | {steps} | {rejected} | {evaluations} | {ms:.3} | {each:.2} |",
                method.name()
            );
        }
    }
}

/// The end of a run, and what it took.
fn run<S: System>(system: &mut S, start: &State, method: Method, tolerance: f64, until: f64) -> (State, Statistics) {
    let tolerance = Tolerance::new(tolerance).expect("the tolerance is possible");
    let mut stepper = Adaptive::new(system.topology(), method, tolerance).until(until);
    let mut state = start.clone();
    stepper.step(system, &mut state, until).expect("the motion can be followed");
    (state, stepper.statistics())
}
