//! Many bodies by splitting steppers, against loops written by hand in the same run: free bodies by five rotations a step, and
//! the torus of elastically bonded spheres.

mod free;
mod torus;
#[path = "../yardstick/mod.rs"]
mod yardstick;

use std::hint::black_box;
use std::time::Instant;

use free::{Bodies, Body};
use mbdsl_macros::mbd;
use mbdsl_runtime::state::State;
use mbdsl_runtime::steppers::{AnyStepper, Stepper as _};
use mbdsl_runtime::system::System;
use nalgebra::{Matrix3, Vector3};
use torus::Torus;

type V3 = Vector3<f64>;
type M3 = Matrix3<f64>;

mbd!(#![module = few] "free.mbd");
mbd!(#![module = many, set(N = 100000)] "free.mbd");
mbd!(<torus_impact>);

/// Step of free bodies, s: turns of some thousandths, as in a run that resolves its rotations.
const STEP: f64 = 1e-3;

/// Seconds that each program is measured for, and the least number of turns of which the fastest counts.
const TIME: f64 = 2.0;
const TURNS: usize = 5;

fn main() {
    if std::env::args().any(|a| a == "--list") {
        return;
    }
    yardstick::print();
    println!(
        "| free bodies | by hand, ns a body and step | `splitting_dlm` | `splitting_dlm_cayley` | on {} threads |",
        threads()
    );
    println!("|---|---|---|---|---|");
    let mut few = few::Free::new(Default::default()).expect("parameters are possible");
    let (start, _) = few.assemble().expect("the model can be assembled");
    free_bodies(&mut few, &start);
    let mut more = many::Free::new(Default::default()).expect("parameters are possible");
    let (start, _) = more.assemble().expect("the model can be assembled");
    free_bodies(&mut more, &start);

    println!("\n| torus of 480 spheres | by hand, us a step | `variational_rrp` | ratio |");
    println!("|---|---|---|---|");
    impact();
}

fn threads() -> usize {
    rayon::current_num_threads()
}

/// A model with a stepper.
struct Running<'a, S> {
    system: &'a mut S,
    stepper: AnyStepper,
    state: State,
    steps: u64,
    h: f64,
}

impl<'a, S: System> Running<'a, S> {
    fn new(system: &'a mut S, start: &State, stepper: &str, h: f64) -> Self {
        let name = stepper.parse().expect("there is such a stepper");
        let stepper = AnyStepper::new(system.topology(), name).expect("it suits the model");
        Self { system, stepper, state: start.clone(), steps: 0, h }
    }

    fn step(&mut self) {
        self.steps += 1;
        let t = self.h * self.steps as f64;
        self.stepper.step(self.system, &mut self.state, self.h, t).expect("a step");
    }
}

/// Fastest time of `steps` calls, ns each.
fn fastest(steps: usize, mut step: impl FnMut()) -> f64 {
    let (begin, mut fastest, mut turns) = (Instant::now(), f64::INFINITY, 0);
    while turns < TURNS || begin.elapsed().as_secs_f64() < TIME {
        let turn = Instant::now();
        for _ in 0..steps {
            step();
        }
        fastest = fastest.min(turn.elapsed().as_secs_f64());
        turns += 1;
    }
    1e9 * fastest / steps as f64
}

fn free_bodies<S: System + Send>(system: &mut S, start: &State) {
    let n = start.len();
    let steps = (100_000 / n).max(1);
    let moments = system.topology().bodies[0].inertia.diagonal();
    let body =
        |k: usize| Body { x: start.x(k), v: start.v(k), r: start.r(k), p: start.omega(k).component_mul(&moments) };
    let mut hand = Bodies { all: (0..n).map(body).collect(), inverse: moments.map(|moment| 1.0 / moment) };
    let by_hand = fastest(steps, || hand.step(STEP)) / n as f64;
    black_box(&hand);
    let one = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a pool of one thread");
    let times = ["splitting_dlm", "splitting_dlm_cayley"].map(|stepper| {
        let mut running = Running::new(system, start, stepper, STEP);
        one.install(|| fastest(steps, || running.step())) / n as f64
    });
    let mut running = Running::new(system, start, "splitting_dlm", STEP);
    let all = fastest(steps, || running.step()) / n as f64;
    println!("| {n} | {by_hand:.1} | {:.1} | {:.1} | {all:.1} |", times[0], times[1]);
}

fn impact() {
    const H: f64 = 8e-3;
    const AROUND: usize = 40;
    const ACROSS: usize = 12;
    let mut model = torus_impact::TorusImpact::new(Default::default()).expect("parameters are possible");
    let (start, _) = model.assemble().expect("the model can be assembled");
    let each = |f: &dyn Fn(usize) -> V3| (0..start.len()).map(f).collect::<Vec<_>>();
    let number = |i: usize, j: usize| (i % AROUND) * ACROSS + j % ACROSS;
    let bonds = (0..AROUND).flat_map(|i| (0..ACROSS).map(move |j| (i, j))).flat_map(|(i, j)| {
        let next = [(i + 1, j), (i, j + 1), (i + 1, j + 1), (i + 1, j + ACROSS - 1)];
        next.map(|(k, l)| [number(i, j), number(k, l)])
    });
    let omega = each(&|k| start.omega(k));
    let mut hand = Torus::new(each(&|k| start.x(k)), each(&|k| start.v(k)), &omega, bonds);
    let mut running = Running::new(&mut model, &start, "variational_rrp", H);
    // Both go through the impact before they are timed, and must agree in it.
    for _ in 0..500 {
        hand.step(H);
        running.step();
    }
    let apart = (0..start.len()).map(|k| (running.state.x(k) - hand.x[k]).norm()).fold(0.0, f64::max);
    assert!(apart < 1e-9, "the programs are {apart:e} m apart");
    let by_hand = fastest(50, || hand.step(H)) / 1e3;
    let generated = fastest(50, || running.step()) / 1e3;
    println!("| 480 | {by_hand:.1} | {generated:.1} | {:.2} |", generated / by_hand);
}
