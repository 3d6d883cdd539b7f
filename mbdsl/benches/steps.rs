//! Steps of models in the interpreter, against code written by hand for one of them.
//!
//! One iteration of a bench is one step, so that all times are times of a step. Before anything is measured, the
//! hand-written pendulum and the model file must agree; after the benches, ratios are measured in turns.

mod hand;

use std::hint::black_box;
use std::path::Path;
use std::time::Instant;

use divan::Bencher;
use hand::Pendulum;
use mbdsl::exec::session::{self, Choices, Loaded, Session};
use mbdsl::source::Sources;
use mbdsl_runtime::nalgebra::Vector3;
use mbdsl_runtime::state::State;
use mbdsl_runtime::steppers::euler::Euler;
use mbdsl_runtime::steppers::method::{Level, Method, Metric};
use mbdsl_runtime::system::{ConstraintDerivatives, ForceDerivatives, Jacobian, System};

/// Step of all pendulums, s.
const STEP: f64 = 1e-5;

/// Steps over which the hand-written code must agree with the model file: two repairs of the rotation are in.
const CHECKED: u64 = 2500;

/// Steps of one turn of a comparison, and number of turns.
const TURN: u64 = 5_000;
const TURNS: usize = 41;

const METHODS: [Method; 2] = [
    Method { level: Level::Index3, metric: Metric::Lagrangian },
    Method { level: Level::Index1, metric: Metric::Lagrangian },
];

fn main() {
    let args: Vec<String> = std::env::args().collect();
    for method in METHODS {
        check(method);
    }
    divan::main();
    // Whoever chooses benches or options wants those alone.
    if args[1..] == ["--bench"] {
        println!("\nfastest of {TURNS} turns of {TURN} steps, ns");
        for method in METHODS {
            compare(method);
        }
        for model in ["single_pendulum", "double_pendulum"] {
            METHODS.iter().for_each(|&method| shares(model, method));
        }
    }
}

/// A model file with its parameters bound.
fn load(model: &str, set: &[String]) -> Loaded {
    let mut sources = Sources::default();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("models").join(model).with_extension("mbd");
    let file = session::read(&mut sources, &path).expect("the model is there");
    let choices = Choices { set: set.to_vec(), ..Choices::default() };
    session::load(&mut sources, file, &choices).expect("the model compiles")
}

/// A model that is being stepped.
struct Running<'p> {
    session: Session<'p>,
    stepper: Euler,
    state: State,
    h: f64,
    steps: u64,
    iterations: u64,
}

impl<'p> Running<'p> {
    fn new(loaded: &'p Loaded, method: Method, h: f64) -> Self {
        let session = session::assemble(loaded).expect("the model can be assembled");
        let stepper = Euler::new(session.system.topology(), method);
        let state = session.start.clone();
        Self { session, stepper, state, h, steps: 0, iterations: 0 }
    }

    fn step(&mut self) {
        self.steps += 1;
        let t = self.steps as f64 * self.h;
        let report =
            self.stepper.step(&mut self.session.system, &mut self.state, self.h, t).expect("the step converges");
        self.iterations += report.iterations as u64;
    }
}

/// The pendulum of `single_pendulum.mbd` by hand, from the numbers of the model.
fn by_hand(loaded: &Loaded) -> Pendulum {
    let (body, guess) = (&loaded.binding.bodies[0], &loaded.binding.guess);
    let (arm, gravity) = (Vector3::new(0.0, -1.0, 0.0), Vector3::new(0.0, 0.0, -9.81));
    Pendulum::new(body.mass, body.inertia, arm, gravity, guess.r(0), guess.omega(0))
}

/// One step by hand.
fn step_by_hand(pendulum: &mut Pendulum, method: Method) -> usize {
    match method.level {
        Level::Index3 => pendulum.dae3l_le(STEP),
        Level::Index1 => pendulum.dae1l_lse(STEP),
        Level::Index2 | Level::Index2Stabilised => unreachable!("not written by hand"),
    }
}

/// Both programs must compute the same motion.
///
/// Positions and rotations to 1e-12, velocities to 1e-12 of their size. Index 3 takes its velocities from differences
/// of positions, whose last bit `eps |x|` becomes `eps |x|/h` there: for it the bound is on `h V`, the increments.
fn check(method: Method) {
    let loaded = load("single_pendulum", &[]);
    let mut running = Running::new(&loaded, method, STEP);
    let mut pendulum = by_hand(&loaded);
    let (mut of_q, mut of_v): (f64, f64) = (0.0, 0.0);
    let mut iterations = 0;
    for _ in 0..CHECKED {
        running.step();
        iterations += step_by_hand(&mut pendulum, method) as u64;
        let s = &running.state;
        of_q = of_q.max((s.x(0) - pendulum.x).amax()).max((s.r(0) - pendulum.r).amax());
        of_v = of_v.max((s.v(0) - pendulum.v).amax() / s.v(0).amax());
        of_v = of_v.max((s.omega(0) - pendulum.w).amax() / s.omega(0).amax());
    }
    println!(
        "{method}: by hand and by the model file differ by {of_q:.1e} in x, R and by {of_v:.1e} in V after \
         {CHECKED} steps, {:.2} and {:.2} iterations a step",
        iterations as f64 / CHECKED as f64,
        running.iterations as f64 / CHECKED as f64,
    );
    let bound = if method.level == Level::Index3 { 1e-12 / STEP } else { 1e-12 };
    assert!(of_q < 1e-12, "{method}: positions differ by {of_q:e}");
    assert!(of_v < bound, "{method}: velocities differ by {of_v:e}");
}

#[divan::bench(args = METHODS, sample_count = 50, sample_size = 20_000)]
fn single_pendulum_by_hand(bencher: Bencher<'_, '_>, method: Method) {
    let mut pendulum = by_hand(&load("single_pendulum", &[]));
    bencher.bench_local(|| step_by_hand(black_box(&mut pendulum), method));
}

#[divan::bench(args = METHODS, sample_count = 50, sample_size = 20_000)]
fn single_pendulum(bencher: Bencher<'_, '_>, method: Method) {
    let loaded = load("single_pendulum", &[]);
    let mut running = Running::new(&loaded, method, STEP);
    bencher.bench_local(|| running.step());
}

#[divan::bench(args = METHODS, sample_count = 25, sample_size = 10_000)]
fn double_pendulum(bencher: Bencher<'_, '_>, method: Method) {
    let loaded = load("double_pendulum", &[]);
    let mut running = Running::new(&loaded, method, STEP);
    bencher.bench_local(|| running.step());
}

/// The hanging chain with its bending springs and the step and stepper of its file; both ends are held.
#[divan::bench(args = [10, 100, 1000], sample_count = 10, sample_size = 2)]
fn chain(bencher: Bencher<'_, '_>, links: usize) {
    let loaded = load("chain", &[format!("N={links}")]);
    let setup = session::setup(&loaded, &Choices::default()).expect("the model says how");
    let mut running = Running::new(&loaded, setup.method, setup.plan.step);
    bencher.bench_local(|| running.step());
}

/// Time of one of many calls, ns.
fn time(calls: u64, mut call: impl FnMut()) -> f64 {
    let begin = Instant::now();
    for _ in 0..calls {
        call();
    }
    begin.elapsed().as_secs_f64() * 1e9 / calls as f64
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    values[values.len() / 2]
}

fn fastest(values: &[f64]) -> f64 {
    values.iter().copied().fold(f64::INFINITY, f64::min)
}

/// Steps by hand and by the interpreter in turns, so that both see the same machine; prints the ratio of the fastest
/// turns, which other programs disturbed least, and the median of the ratios of neighbouring turns.
fn compare(method: Method) {
    let loaded = load("single_pendulum", &[]);
    let mut running = Running::new(&loaded, method, STEP);
    let mut pendulum = by_hand(&loaded);
    let (mut hand, mut interpreted, mut ratio) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..TURNS {
        let by_hand = time(TURN, || {
            step_by_hand(black_box(&mut pendulum), method);
        });
        let by_interpreter = time(TURN, || running.step());
        hand.push(by_hand);
        interpreted.push(by_interpreter);
        ratio.push(by_interpreter / by_hand);
    }
    let (hand, interpreted) = (fastest(&hand), fastest(&interpreted));
    println!(
        "single_pendulum {method}: by hand {hand:.0}, interpreter {interpreted:.0}, ratio {:.1} (median of turns {:.1})",
        interpreted / hand,
        median(ratio)
    );
}

/// How much of a step is the evaluation of the kernels: the calls of a step repeated at the state of a running model.
fn shares(model: &str, method: Method) {
    let loaded = load(model, &[]);
    let mut running = Running::new(&loaded, method, STEP);
    running.step();
    let topology = running.session.system.topology().clone();
    let (nc, lam) = (topology.nc(), running.stepper.lambda().to_vec());
    let mu = (method.level == Level::Index1).then(|| vec![1e-9; nc]);
    let (mut jac, mut constraint) = (Jacobian::default(), ConstraintDerivatives::default());
    jac.phi = vec![0.0; nc];
    let (mut q, mut force, mut gamma) = (vec![0.0; topology.nv()], ForceDerivatives::default(), vec![0.0; nc]);
    let (mut steps, mut newton, mut forces, mut index1) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    running.iterations = 0;
    let before = running.steps;
    for _ in 0..TURNS {
        steps.push(time(TURN, || running.step()));
        let (system, state) = (&mut running.session.system, &running.state);
        newton.push(time(TURN, || system.constraint_newton(state, &lam, mu.as_deref(), &mut jac, &mut constraint)));
        forces.push(time(TURN, || system.force_newton(state, &mut q, &mut force)));
        index1.push(time(TURN, || {
            system.jacobian(state, &mut jac);
            system.convective(state, &mut gamma);
        }));
    }
    let iterations = running.iterations as f64 / (running.steps - before) as f64;
    let once = if method.level == Level::Index1 { fastest(&index1) } else { 0.0 };
    let (step, newton, forces) = (fastest(&steps), fastest(&newton), fastest(&forces));
    let kernels = iterations * (newton + forces) + once;
    println!(
        "{model} {method}: step {step:.0}; {iterations:.2} iterations of constraints {newton:.0}, forces {forces:.0}; \
         once {once:.0}; kernels {:.0} % of the step",
        100.0 * kernels / step
    );
}
