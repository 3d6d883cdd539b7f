//! Generated code and interpreter agree to the bit: every method of `System` on random states, and trajectories.
//!
//! Systems are trait objects here, since steppers compiled for each model would take rustc minutes.

use mbdsl::backend::engine::{Backend, Engine};
use mbdsl::driver;
use mbdsl::exec::bind;
use mbdsl::exec::observe::Observers;
use mbdsl::exec::system::ProgramSystem;
use mbdsl::sema::Options;
use mbdsl::source::Sources;
use mbdsl_runtime::nalgebra::Vector3;
use mbdsl_runtime::prelude::*;
use mbdsl_runtime::so3;
use mbdsl_runtime::system::{ConstraintDerivatives, ForceDerivatives, Jacobian};
use mbdsl_runtime::wind::wind;

use crate::models;

/// Random states on which kernels are compared.
const STATES: usize = 1000;

/// Numbers in (-1, 1), always the same.
struct Random(u64);

impl Random {
    fn next(&mut self) -> f64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    }

    fn vector(&mut self) -> Vector3<f64> {
        Vector3::new(self.next(), self.next(), self.next())
    }
}

#[track_caller]
fn same(what: &str, a: &[f64], b: &[f64]) {
    assert_eq!(a.len(), b.len(), "{what}");
    for (k, (x, y)) in a.iter().zip(b).enumerate() {
        assert!(x.to_bits() == y.to_bits() || (x.is_nan() && y.is_nan()), "{what}[{k}]: {x:e} and {y:e}");
    }
}

fn disturb(s: &mut State, start: &State, random: &mut Random) {
    s.t = 3.0 * random.next();
    for body in 0..s.len() {
        s.set_x(body, &(start.x(body) + random.vector()));
        s.set_r(body, &(start.r(body) * so3::exp(&(random.vector() * 2.0))));
        s.set_v(body, &(start.v(body) + random.vector()));
        s.set_omega(body, &(start.omega(body) + random.vector()));
    }
    s.memory.iter_mut().for_each(|angle| *angle = 10.0 * random.next());
}

fn same_kernels(a: &mut dyn System, b: &mut dyn System, start: &State) {
    let mut random = Random(88_172_645_463_325_252);
    let (nc, nv) = (a.topology().nc(), a.topology().nv());
    let mut s = start.clone();
    let mut jac = [Jacobian::default(), Jacobian::default()];
    let mut out = [ConstraintDerivatives::default(), ConstraintDerivatives::default()];
    let mut forces = [ForceDerivatives::default(), ForceDerivatives::default()];
    let (mut x, mut y) = (vec![0.0; nc], vec![0.0; nc]);
    let (mut p, mut q) = (vec![0.0; nv], vec![0.0; nv]);
    // As many states as keep the number of evaluated bodies within bounds.
    for _ in 0..STATES.min(40_000 / start.len()) {
        disturb(&mut s, start, &mut random);
        let lam: Vec<f64> = (0..nc).map(|_| random.next()).collect();
        a.residual(&s, &mut x);
        b.residual(&s, &mut y);
        same("residual", &x, &y);
        a.convective(&s, &mut x);
        b.convective(&s, &mut y);
        same("convective", &x, &y);
        let [ja, jb] = &mut jac;
        let [oa, ob] = &mut out;
        a.constraint_newton(&s, &lam, ja, oa);
        b.constraint_newton(&s, &lam, jb, ob);
        same("phi", &ja.phi, &jb.phi);
        same("phi_t", &ja.phi_t, &jb.phi_t);
        same("b", &ja.b, &jb.b);
        same("bv_q", &oa.bv_q, &ob.bv_q);
        same("k_lam", &oa.k_lam, &ob.k_lam);
        a.jacobian(&s, ja);
        b.jacobian(&s, jb);
        same("b of the Jacobian", &ja.b, &jb.b);
        let [fa, fb] = &mut forces;
        a.force_newton(&s, &mut p, fa);
        b.force_newton(&s, &mut q, fb);
        same("q", &p, &q);
        same("q_q", &fa.q_q, &fb.q_q);
        same("q_v", &fa.q_v, &fb.q_v);
        a.forces(&s, &mut p);
        b.forces(&s, &mut q);
        same("forces", &p, &q);
        same("potential", &[a.potential(&s)], &[b.potential(&s)]);
        let mut both = [Jacobian::default(), Jacobian::default()];
        let [ja, jb] = &mut both;
        a.position_conditions(&s, ja);
        b.position_conditions(&s, jb);
        same("position conditions", &ja.b, &jb.b);
        same("position conditions", &ja.phi, &jb.phi);
        a.velocity_conditions(&s, ja);
        b.velocity_conditions(&s, jb);
        same("velocity conditions", &ja.b, &jb.b);
        same("velocity conditions", &ja.phi, &jb.phi);
        let mut other = s.clone();
        a.accept(&mut s);
        b.accept(&mut other);
        same("memory", &s.memory, &other.memory);
    }
}

/// Steps that change the state by the same bits, for all steppers and some compositions.
fn same_trajectories(a: &mut dyn System, b: &mut dyn System, start: &State, step: f64, steps: usize) {
    let compositions = ["splitting_dlm+yoshida4", "variational_rrp+suzuki4", "splitting_exact+kahan_li8"];
    let compositions = compositions.map(|name| name.parse().expect("there is such a stepper"));
    for method in StepperName::basic().chain(compositions) {
        let [Ok(mut one), Ok(mut other)] = [a.topology(), b.topology()].map(|t| AnyStepper::new(t, method)) else {
            assert!(method.check(a.topology()).is_err(), "{method}");
            continue;
        };
        let (mut s, mut z) = (start.clone(), start.clone());
        let mut made = 0;
        for n in 1..=steps {
            let t = n as f64 * step;
            let found = [one.step(a, &mut s, step, t), other.step(b, &mut z, step, t)];
            let [Ok(_), Ok(_)] = found else {
                let [first, second] = found.map(|r| r.err().map(|e| e.to_string()));
                assert_eq!(first, second, "{method}, step {n}");
                break;
            };
            same(&format!("{method}, step {n}"), &s.z, &z.z);
            made = n;
        }
        assert!(made >= steps.min(10), "{method}: {made} steps");
        same("multipliers", one.lambda(), other.lambda());
        same("accelerations", one.acceleration(), other.acceleration());
    }
}

/// Names and structure.
fn same_structure(a: &dyn System, b: &dyn System) {
    assert_eq!(a.topology(), b.topology());
    for k in 0..a.topology().bodies.len() {
        assert_eq!(a.body_name(k), b.body_name(k));
    }
    for (k, e) in a.topology().constraints.elements.iter().enumerate() {
        assert_eq!(a.constraint_name(k), b.constraint_name(k));
        for row in 0..e.rows {
            assert_eq!(a.row_name(k, row), b.row_name(k, row));
        }
    }
    for k in 0..a.topology().position_conditions.elements.len() {
        assert_eq!(a.position_condition_name(k), b.position_condition_name(k));
    }
    for k in 0..a.topology().velocity_conditions.elements.len() {
        assert_eq!(a.velocity_condition_name(k), b.velocity_condition_name(k));
    }
}

fn check<M: System>(
    text: &str,
    model: Result<M, ParamsError>,
    assemble: impl Fn(&mut M) -> Result<(State, AssemblyReport), AssemblyError>,
    steps: usize,
) {
    let mut generated = model.expect("good parameters");
    let mut sources = Sources::default();
    let file = sources.add("model.mbd", text);
    let compiled = driver::compile(&mut sources, file, &Default::default()).expect("a good model");
    let binding = bind::bind(&compiled.program, &[]).expect("good parameters");
    let step = binding.step.expect("the model gives a step");
    let (start, _) = assemble(&mut generated).expect("an assembled start");
    let native = Engine::eager().expect("a code generator");
    // What kernels compute is all that back ends differ in, so that long runs of one of them are enough.
    for (engine, steps) in [(Engine::new(Backend::Interp), steps), (native, steps / 10)] {
        let mut system = ProgramSystem::new(&compiled.program, &binding, &engine).expect("small kernels");
        same_structure(&generated, &system);
        let mut guess = binding.guess.clone();
        wind(&mut system, &mut guess);
        let (other, _) = mbdsl_runtime::assembly::assemble(&mut system, guess).expect("an assembled start");
        system.set_start(&other);
        same("start", &start.z, &other.z);
        same("memory of the start", &start.memory, &other.memory);
        same_kernels(&mut generated, &mut system, &start);
        same_trajectories(&mut generated, &mut system, &start, step, steps);
    }
}

/// Twelve spheres, whose long bonds want shorter steps.
fn torus_of_twelve() -> String {
    let text = include_str!("../../models/torus_impact.mbd");
    text.replace("around = 40", "around = 4").replace("across = 12", "across = 3").replace("step = 8 ms", "step = 1 ms")
}

macro_rules! agreement {
    ($($test:ident: $module:ident::$model:ident, $text:expr, $steps:literal;)*) => {$(
        #[test]
        fn $test() {
            use models::$module::{$model, Params};
            check($text, $model::new(Params::default()), |m| m.assemble(), $steps);
        }
    )*};
}

agreement! {
    // The motor never stops: short steps follow it for as many.
    andrews: andrews::Andrews, &include_str!("../../models/andrews.mbd").replace("step = 0.1 ms", "step = 2 us"), 10_000;
    argon: argon::Argon, include_str!("../../models/argon.mbd"), 100;
    asymmetric_top: asymmetric_top::AsymmetricTop, include_str!("../../models/asymmetric_top.mbd"), 10_000;
    bricard: bricard::Bricard, include_str!("../../models/bricard.mbd"), 10_000;
    bricard_in_parts: cut::Bricard, include_str!("../../models/bricard.mbd"), 100;
    chain: chain::Chain, include_str!("../../models/chain.mbd"), 10_000;
    closed_ring: closed_ring::ClosedRing, include_str!("../../models/closed_ring.mbd"), 10_000;
    double_ball: double_ball::DoubleBall, include_str!("../../models/double_ball.mbd"), 10_000;
    double_pendulum: double_pendulum::DoublePendulum, include_str!("../../models/double_pendulum.mbd"), 10_000;
    dumbbell: dumbbell::Dumbbell, include_str!("../../models/dumbbell.mbd"), 10_000;
    dzhanibekov: dzhanibekov::Dzhanibekov, include_str!("../../models/dzhanibekov.mbd"), 10_000;
    four_bar: four_bar::FourBar, include_str!("../../models/four_bar.mbd"), 10_000;
    four_bar_free: four_bar_free::FourBarFree, include_str!("../../models/four_bar_free.mbd"), 10_000;
    free_body: free_body::FreeBody, include_str!("../../models/free_body.mbd"), 10_000;
    heavy_top: heavy_top::HeavyTop, include_str!("../../models/heavy_top.mbd"), 10_000;
    pendulum_3d: pendulum_3d::Pendulum3d, include_str!("../../models/pendulum_3d.mbd"), 10_000;
    rigid_water: rigid_water::RigidWater, &include_str!("../../models/rigid_water.mbd").replace("n     = 4", "n     = 2"), 10_000;
    simple_pendulum: simple_pendulum::SimplePendulum, include_str!("../../models/simple_pendulum.mbd"), 10_000;
    single_pendulum: single_pendulum::SinglePendulum, include_str!("../../models/single_pendulum.mbd"), 10_000;
    spring_network: spring_network::SpringNetwork, include_str!("../../models/spring_network.mbd"), 10_000;
    pairs: pairs::Pairs, include_str!("pairs.mbd"), 1_000;
    // Of few bodies over many steps, and as they are over few.
    small_argon: small_argon::Argon, &include_str!("../../models/argon.mbd").replace("n      = 6", "n      = 3"), 10_000;
    small_torus: small_torus::TorusImpact, &torus_of_twelve(), 10_000;
    torus_impact: torus_impact::TorusImpact, include_str!("../../models/torus_impact.mbd"), 20;
    particles: particles::Particles, include_str!("particles.mbd"), 1_000;
    servo: servo::Servo, include_str!("servo.mbd"), 100;
    watched: watched::Watched, include_str!("watched.mbd"), 60;
}

/// Inputs that are others before every step give the same bits, in kernels, steps and outputs.
macro_rules! changing_inputs {
    ($test:ident: $module:ident, $arms:literal) => {
        #[test]
        fn $test() {
            let mut generated = models::$module::Servo::new(Default::default()).expect("good parameters");
            let mut sources = Sources::default();
            let file = sources.add("servo.mbd", include_str!("servo.mbd"));
            let options = Options { overrides: vec![("N".to_owned(), $arms)], ..Options::default() };
            let compiled = driver::compile(&mut sources, file, &options).expect("a good model");
            assert_eq!(compiled.program.unrolled.is_some(), $arms < 3.0);
            let binding = bind::bind(&compiled.program, &[]).expect("good parameters");
            let mut interpreted =
                ProgramSystem::new(&compiled.program, &binding, &Engine::new(Backend::Interp)).expect("small kernels");
            let mut observers =
                Observers::new(&compiled.program, &binding, &Engine::new(Backend::Interp)).expect("small kernels");

            let (start, _) = generated.assemble().expect("consistent");
            interpreted.set_start(&start);
            observers.set_start(&start, &[], &[0.0; 9]);
            let mut random = Random(1_234_567);
            for method in Method::ALL {
                let (mut s, mut z) = (start.clone(), start.clone());
                let mut one = Euler::new(generated.topology(), method);
                let mut other = Euler::new(interpreted.topology(), method);
                for n in 1..=100 {
                    let mut numbers: [f64; 14] = core::array::from_fn(|_| random.next());
                    numbers[13] *= 1e-3;
                    let inputs = generated.inputs_mut();
                    inputs.moment = numbers[0];
                    inputs.place = [numbers[1], numbers[2], numbers[3]];
                    inputs.turned = [0, 3, 6].map(|k| [numbers[4 + k], numbers[5 + k], numbers[6 + k]]);
                    inputs.level = numbers[13];
                    interpreted.signals_mut().copy_from_slice(&numbers);
                    observers.signals_mut().copy_from_slice(&numbers);
                    let t = f64::from(n) * 1e-3;
                    one.step(&mut generated, &mut s, 1e-3, t).expect("a step");
                    other.step(&mut interpreted, &mut z, 1e-3, t).expect("a step");
                    same(&format!("{method}, step {n}"), &s.z, &z.z);
                    let mut outputs = vec![generated.away(&s)];
                    outputs.extend(generated.set(&s));
                    outputs.push(generated.most(&s));
                    same("outputs", &outputs, observers.outputs(&z, &[], &[0.0; 9]));
                }
            }
            let mut s = start.clone();
            disturb(&mut s, &start, &mut random);
            same_kernels(&mut generated, &mut interpreted, &s);
            // The last inputs count, not the first.
            assert!((generated.set(&s)[0] - (generated.inputs().place[0] - 0.5)).abs() < 1e-15);
        }
    };
}

// Two arms are few enough for iterations that are written out, three are not.
changing_inputs!(inputs_that_change_every_step: servo, 3.0);
changing_inputs!(inputs_that_change_every_step_of_a_small_model: small_servo, 2.0);
