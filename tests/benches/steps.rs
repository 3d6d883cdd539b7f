//! Steps of models as generated code, as native code made during a run, and in the interpreter, against code written by hand for two of them.
//!
//! All programs of a model must first agree in the motion and in the number of iterations. Then they step in turns, so that
//! they see the same machine; what counts is the ratio of the fastest turns, which other programs disturbed least.

mod hand;
mod yardstick;

use std::hint::black_box;
use std::path::Path;
use std::time::Instant;

use hand::double::{DoublePendulum, Rod};
use hand::single::Pendulum;
use mbdsl::backend::engine::Backend;
use mbdsl::exec::session::{self, Choices, Loaded};
use mbdsl::source::Sources;
use mbdsl_macros::mbd;
use mbdsl_runtime::state::State;
use mbdsl_runtime::steppers::method::{Level, Method, Metric};
use mbdsl_runtime::steppers::name::StepperName;
use mbdsl_runtime::steppers::{AnyStepper, Stepper as _};
use mbdsl_runtime::system::System;
use nalgebra::{Matrix3, Vector3};

mbd!(<single_pendulum>);
mbd!(<double_pendulum>);

/// Step of all pendulums, s.
const STEP: f64 = 1e-5;

/// Steps over which the programs must agree: two repairs of the rotation are in.
const CHECKED: u64 = 2500;

/// Steps of one turn, short enough to be left alone by other programs now and then, and number of turns.
const TURN: u64 = 500;
const TURNS: usize = 400;

/// Both back ends of the command.
const BACKENDS: [Backend; 2] = [Backend::Jit, Backend::Interp];

const METHODS: [Method; 2] = [
    Method { level: Level::Index3, metric: Metric::Lagrangian },
    Method { level: Level::Index1, metric: Metric::Lagrangian },
];

/// Something that makes steps: iterations, and position, rotation, velocity, angular velocity of its last body.
trait Program {
    fn step(&mut self) -> usize;
    fn last(&self) -> (Vector3<f64>, Matrix3<f64>, Vector3<f64>, Vector3<f64>);
}

/// A system with a stepper.
struct Running<S> {
    system: S,
    stepper: AnyStepper,
    state: State,
    h: f64,
    steps: u64,
}

impl<S: System> Running<S> {
    fn new(system: S, state: State, method: impl Into<StepperName>, h: f64) -> Self {
        let stepper = AnyStepper::new(system.topology(), method.into()).expect("it suits the model");
        Self { system, stepper, state, h, steps: 0 }
    }
}

impl<S: System> Program for Running<S> {
    fn step(&mut self) -> usize {
        self.steps += 1;
        let t = self.steps as f64 * self.h;
        self.stepper.step(&mut self.system, &mut self.state, self.h, t).expect("the step converges").iterations
    }

    fn last(&self) -> (Vector3<f64>, Matrix3<f64>, Vector3<f64>, Vector3<f64>) {
        let (s, body) = (&self.state, self.state.len() - 1);
        (s.x(body), s.r(body), s.v(body), s.omega(body))
    }
}

/// A pendulum by hand.
struct Hand<P>(P, Method);

impl Program for Hand<Pendulum> {
    fn step(&mut self) -> usize {
        if self.1.level == Level::Index3 { self.0.dae3l_le(STEP) } else { self.0.dae1l_lse(STEP) }
    }

    fn last(&self) -> (Vector3<f64>, Matrix3<f64>, Vector3<f64>, Vector3<f64>) {
        (self.0.x, self.0.r, self.0.v, self.0.w)
    }
}

impl Program for Hand<DoublePendulum> {
    fn step(&mut self) -> usize {
        if self.1.level == Level::Index3 { self.0.dae3l_le(STEP) } else { self.0.dae1l_lse(STEP) }
    }

    fn last(&self) -> (Vector3<f64>, Matrix3<f64>, Vector3<f64>, Vector3<f64>) {
        let rod = &self.0.rods[1];
        (rod.x, rod.r, rod.v, rod.w)
    }
}

fn main() {
    if std::env::args().any(|a| a == "--list") {
        return;
    }
    yardstick::print();
    println!("| model, step 10 us | stepper | by hand, ns | generated | `jit` | `interp` |");
    println!("|---|---|---|---|---|---|");
    let gravity = Vector3::new(0.0, 0.0, -9.81);
    for method in METHODS {
        let mut model = single_pendulum::SinglePendulum::new(Default::default()).expect("parameters are possible");
        let (start, _) = model.assemble().expect("the model can be assembled");
        let body = model.topology().bodies[0];
        let arm = Vector3::new(0.0, -1.0, 0.0);
        let hand = Pendulum::new(body.mass, body.inertia, arm, gravity, start.r(0), start.omega(0));
        compare("single pendulum", method, Hand(hand, method), Running::new(model, start, method, STEP));
    }
    for method in METHODS {
        let mut model = double_pendulum::DoublePendulum::new(Default::default()).expect("parameters are possible");
        let (s, _) = model.assemble().expect("the model can be assembled");
        let rods = [0, 1].map(|k| {
            let body = model.topology().bodies[k];
            Rod { mass: body.mass, inertia: body.inertia, x: s.x(k), r: s.r(k), v: s.v(k), w: s.omega(k) }
        });
        let near = Vector3::new(0.0, 0.0, -0.5);
        let hand = DoublePendulum::new(rods, [near, near], -near, gravity);
        compare("double pendulum", method, Hand(hand, method), Running::new(model, s, method, STEP));
    }
    println!("\n| chain.mbd, its own step and stepper | ns a link and step, `jit` | `interp` |");
    println!("|---|---|---|");
    for links in [10_u64, 100, 1000] {
        let loaded = BACKENDS.map(|backend| load("chain", &[format!("N={links}")], backend));
        let mut running = loaded.each_ref().map(|loaded| {
            let setup = session::setup(loaded, &Choices::default()).expect("the model says how");
            let session = session::assemble(loaded).expect("the model can be assembled");
            Running::new(session.system, session.start, setup.method, setup.plan.step)
        });
        let steps = 2000 / links;
        let mut turns = running.each_mut().map(|r| -> Turn<'_> { Box::new(|| repeat(steps, r)) });
        let [native, interpreted] = fastest_of(&mut turns, steps).map(|ns| ns / links as f64);
        println!("| {links} links | {native:.0} | {interpreted:.0} |");
    }
}

/// A model file with its parameters bound.
fn load(model: &str, set: &[String], backend: Backend) -> Loaded {
    let mut sources = Sources::default();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../models").join(model).with_extension("mbd");
    let file = session::read(&mut sources, &path).expect("the model is there");
    let choices = Choices { set: set.to_vec(), backend, ..Choices::default() };
    session::load(&mut sources, file, &choices).expect("the model compiles")
}

/// Checks that four programs for a model agree, and prints what their steps take.
fn compare(name: &str, method: Method, mut hand: impl Program, mut generated: impl Program) {
    let loaded = BACKENDS.map(|backend| load(&name.replace(' ', "_"), &[], backend));
    let [mut native, mut interpreted] = loaded.each_ref().map(|loaded| {
        let session = session::assemble(loaded).expect("the model can be assembled");
        Running::new(session.system, session.start, method, STEP)
    });
    check(method, [&mut hand, &mut generated, &mut native, &mut interpreted]);
    let mut turns: [Turn<'_>; 4] = [
        Box::new(|| repeat(TURN, black_box(&mut hand))),
        Box::new(|| repeat(TURN, black_box(&mut generated))),
        Box::new(|| repeat(TURN, black_box(&mut native))),
        Box::new(|| repeat(TURN, black_box(&mut interpreted))),
    ];
    let [by_hand, ours @ ..] = fastest_of(&mut turns, TURN);
    let [generated, native, interpreted] = ours.map(|ns| ns / by_hand);
    println!("| {name} | {method} | {by_hand:.0} | {generated:.2} | {native:.2} | {interpreted:.1} |");
}

/// The programs must compute the same motion.
///
/// Positions and rotations to 1e-12, velocities to 1e-12 of their size. Index 3 takes its velocities from differences
/// of positions, whose last bit `eps |x|` becomes `eps |x|/h` there: for it the bound is on `h V`, the increments.
fn check(method: Method, programs: [&mut dyn Program; 4]) {
    let bound = if method.level == Level::Index3 { 1e-12 / STEP } else { 1e-12 };
    let mut iterations = [0; 4];
    for _ in 0..CHECKED {
        for k in 0..4 {
            iterations[k] += programs[k].step();
        }
        let (x, r, v, w) = programs[0].last();
        for program in &programs[1..] {
            let (x1, r1, v1, w1) = program.last();
            let of_q = (x - x1).amax().max((r - r1).amax());
            let of_v = ((v - v1).amax() / v.amax()).max((w - w1).amax() / w.amax());
            assert!(of_q < 1e-12 && of_v < bound, "{method}: positions differ by {of_q:e}, velocities by {of_v:e}");
        }
    }
    // One a step, and few more at the start and for control.
    let most = CHECKED as usize * 102 / 100;
    assert!(iterations.iter().all(|&k| k < most), "{method}: {iterations:?} iterations in {CHECKED} steps");
}

fn repeat(steps: u64, program: &mut impl Program) {
    for _ in 0..steps {
        program.step();
    }
}

/// Steps to be timed.
type Turn<'a> = Box<dyn FnMut() + 'a>;

/// Time of one of the steps of the fastest turn of each program, ns; the programs take turns.
fn fastest_of<const N: usize>(programs: &mut [Turn<'_>; N], steps: u64) -> [f64; N] {
    let mut fastest = [f64::INFINITY; N];
    for _ in 0..TURNS {
        for (program, fastest) in programs.iter_mut().zip(&mut fastest) {
            let begin = Instant::now();
            program();
            *fastest = fastest.min(begin.elapsed().as_secs_f64() * 1e9 / steps as f64);
        }
    }
    fastest
}
