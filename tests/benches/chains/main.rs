//! Chains of spherical joints by generated code: time a link and step. Arguments: names of steppers if not all, `--long` for a chain of
//! a hundred thousand links too.

#[path = "../yardstick/mod.rs"]
mod yardstick;

use std::time::Instant;

use mbdsl_macros::mbd;
use mbdsl_runtime::state::State;
use mbdsl_runtime::steppers::{AnyStepper, Stepper as _};
use mbdsl_runtime::system::System;

mbd!(#![module = thousand] "chain.mbd");
mbd!(#![module = hundred_thousand, set(N = 100000)] "chain.mbd");

const STEP: f64 = 1e-3;
const STEPPERS: [&str; 4] = ["dae3l_le", "dae1l_lse", "splitting_exact", "splitting_dlm"];

fn main() {
    if std::env::args().any(|a| a == "--list") {
        return;
    }
    yardstick::print();
    let mut small = thousand::Chain::new(Default::default()).expect("parameters are possible");
    let (start, _) = small.assemble().expect("the model can be assembled");
    let named: Vec<String> = std::env::args().filter(|a| STEPPERS.contains(&a.as_str())).collect();
    let steppers = STEPPERS.into_iter().filter(|s| named.is_empty() || named.iter().any(|name| name == s));
    for stepper in steppers.clone() {
        row(&mut small, &start, stepper);
    }
    if std::env::args().any(|a| a == "--long") {
        let mut long = hundred_thousand::Chain::new(Default::default()).expect("parameters are possible");
        let (start, _) = long.assemble().expect("the model can be assembled");
        for stepper in steppers {
            row(&mut long, &start, stepper);
        }
    }
}

fn row<S: System>(system: &mut S, start: &State, name: &str) {
    let mut stepper = AnyStepper::new(system.topology(), name.parse().expect("a stepper")).expect("it suits");
    let mut s = start.clone();
    let n = start.len();
    let turns = 400_000 / n + 4;
    let (mut fastest, mut iterations) = (f64::INFINITY, 0);
    for k in 1..=turns {
        let begin = Instant::now();
        let report = stepper.step(system, &mut s, STEP, STEP * k as f64).expect("a step");
        if k > 4 {
            iterations += report.iterations;
            fastest = fastest.min(begin.elapsed().as_secs_f64());
        }
    }
    println!("| {n} | {name} | {:.0} | {:.2} |", 1e9 * fastest / n as f64, iterations as f64 / (turns - 4) as f64);
}
