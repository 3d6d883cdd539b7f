//! Generated models on the tasks of `tests/peers`, which measures other systems on them: `peers TASK SIZE` prints a line of JSON for each
//! stepper, with the CPU time of a run and the bodies at its end.

use std::process::ExitCode;

use cpu_time::ProcessTime;
use mbdsl_macros::mbd;
use mbdsl_runtime::state::State;
use mbdsl_runtime::steppers::{AnyStepper, Stepper as _};
use mbdsl_runtime::system::System;
use serde_json::json;

mbd!(<heavy_top>);
mbd!(<double_pendulum>);
mbd!(#![module = ten, set(N = 10)] "chains/chain.mbd");
mbd!(#![module = hundred, set(N = 100)] "chains/chain.mbd");
mbd!(#![module = thousand] "chains/chain.mbd");
mbd!("bodies/free.mbd");

/// CPU time that runs are repeated for, s; the median counts.
const TIME: f64 = 0.3;

/// Step of chains and free bodies, s.
const STEP: f64 = 1e-3;

/// A stepper, its number of steps, and their size, s.
type Run = (&'static str, usize, f64);

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|a| a != "--bench").collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words[..] {
        ["top", "1e-6"] => show(top(), &[until_1s("splitting_exact+sofroniou_spaletta6", 99)]),
        ["top", "1e-9"] => show(top(), &[until_1s("splitting_exact+sofroniou_spaletta8", 134)]),
        ["pendulum", "1e-6"] => show(rods(), &[until_1s("splitting_exact+sofroniou_spaletta6", 200)]),
        ["pendulum", "1e-9"] => show(rods(), &[until_1s("splitting_exact+sofroniou_spaletta8", 220)]),
        ["chain", "10"] => show(chain_of_10(), &chain(1000)),
        ["chain", "100"] => show(chain_of_100(), &chain(500)),
        ["chain", "1000"] => show(chain_of_1000(), &chain(50)),
        ["bodies", "1000"] => show(free_bodies(), &[("splitting_dlm", 1000, STEP)]),
        // Tests start every bench without a task, to see that it starts.
        [] | ["--list"] => {}
        _ => {
            eprintln!("usage: peers top|pendulum 1e-6|1e-9, peers chain 10|100|1000, peers bodies 1000");
            return ExitCode::from(2);
        }
    }
    ExitCode::SUCCESS
}

fn until_1s(stepper: &'static str, steps: usize) -> Run {
    (stepper, steps, 1.0 / steps as f64)
}

fn chain(steps: usize) -> [Run; 2] {
    ["splitting_dlm", "dae1l_lse"].map(|stepper| (stepper, steps, STEP))
}

fn top() -> (impl System, State) {
    let mut model = heavy_top::HeavyTop::new(Default::default()).expect("parameters are possible");
    let (start, _) = model.assemble().expect("the model can be assembled");
    (model, start)
}

fn rods() -> (impl System, State) {
    let mut model = double_pendulum::DoublePendulum::new(Default::default()).expect("parameters are possible");
    let (start, _) = model.assemble().expect("the model can be assembled");
    (model, start)
}

fn chain_of_10() -> (impl System, State) {
    let mut model = ten::Chain::new(Default::default()).expect("parameters are possible");
    let (start, _) = model.assemble().expect("the model can be assembled");
    (model, start)
}

fn chain_of_100() -> (impl System, State) {
    let mut model = hundred::Chain::new(Default::default()).expect("parameters are possible");
    let (start, _) = model.assemble().expect("the model can be assembled");
    (model, start)
}

fn chain_of_1000() -> (impl System, State) {
    let mut model = thousand::Chain::new(Default::default()).expect("parameters are possible");
    let (start, _) = model.assemble().expect("the model can be assembled");
    (model, start)
}

fn free_bodies() -> (impl System, State) {
    let mut model = free::Free::new(Default::default()).expect("parameters are possible");
    let (start, _) = model.assemble().expect("the model can be assembled");
    (model, start)
}

/// Prints a line for each run of a model.
fn show((mut system, start): (impl System, State), runs: &[Run]) {
    for &(name, steps, h) in runs {
        let (mut times, mut end) = (Vec::new(), start.clone());
        while times.iter().sum::<f64>() < TIME {
            let (taken, state) = run(&mut system, &start, (name, steps, h));
            times.push(taken);
            end = state;
        }
        times.sort_by(f64::total_cmp);
        let line = json!({
            "method": format!("`{name}`"),
            "steps": steps,
            "seconds": times[times.len() / 2],
            "bodies": (0..end.len()).map(|k| numbers(&end, k)).collect::<Vec<_>>(),
        });
        println!("{line}");
    }
}

/// CPU time of the steps, s, and the state after them.
fn run(system: &mut impl System, start: &State, (name, steps, h): Run) -> (f64, State) {
    let name = name.parse().expect("there is such a stepper");
    let mut stepper = AnyStepper::new(system.topology(), name).expect("it suits the model");
    let mut state = start.clone();
    let begin = ProcessTime::now();
    for n in 1..=steps {
        stepper.step(system, &mut state, h, h * n as f64).expect("the step converges");
    }
    (begin.elapsed().as_secs_f64(), state)
}

/// Position, rotation by rows, velocity, angular velocity in body axes.
fn numbers(state: &State, body: usize) -> Vec<f64> {
    let rotation = state.r(body).transpose();
    let vector = |v: &nalgebra::Vector3<f64>| v.as_slice().to_vec();
    [vector(&state.x(body)), rotation.as_slice().to_vec(), vector(&state.v(body)), vector(&state.omega(body))].concat()
}
