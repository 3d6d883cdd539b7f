//! A start without half a kick, as of a leapfrog that reads its staggered momenta as synchronised: trajectories err by order 1, the
//! energy by order 2. From the usual start both err by order 2.

#[expect(dead_code, reason = "each test binary uses a part of the common models")]
mod common;

use common::runs::{distances, energy, order, run, spherical_pendulum};
use common::{Load, Model};
use mbdsl_runtime::state::State;
use mbdsl_runtime::steppers::name::StepperName;
use mbdsl_runtime::steppers::splitting::Splitting;
use mbdsl_runtime::system::System as _;
use nalgebra::Vector3;

type V3 = Vector3<f64>;

/// A ring of six spheres on the bonds of the torus, stretched at the start, so that a kick there matters.
fn ring() -> (Model, State) {
    let mut model = Model::new(0.0);
    let mut s = State::new(6, 0);
    for k in 0..6 {
        let (sin, cos) = (core::f64::consts::FRAC_PI_3 * k as f64).sin_cos();
        s.set_x(k, &V3::new(cos, sin, 0.1 * cos * sin));
        s.set_v(k, &V3::new(0.2 * sin, 0.0, 0.3 * cos));
        s.set_omega(k, &V3::new(0.5, sin, cos));
        model.rigid(1.0, [0.049; 3]);
    }
    for k in 0..6 {
        let bodies = [k, (k + 1) % 6];
        let between = s.x(bodies[1]) - s.x(bodies[0]);
        let rest = 0.9 * between.norm();
        model.load(Load::Bond { bodies, arm: between * 0.45, rest, stiffness: [200.0, 200.0, 10.0] });
    }
    (model, s)
}

/// The end of a run, and the largest change of its energy since the end of the first step.
fn end(case: &(Model, State), name: &str, is_staggered: bool, steps: u32, until: f64) -> (State, f64) {
    let (mut model, mut s) = case.clone();
    let StepperName::Splitting(scheme) = name.parse().expect("a stepper") else { panic!("{name} is a splitting") };
    let stepper = Splitting::new(model.topology(), scheme).expect("spheres");
    let mut stepper = if is_staggered { stepper.staggered() } else { stepper };
    let h = until / f64::from(steps);
    let (mut first, mut largest) = (None, 0.0_f64);
    for n in 1..=steps {
        stepper.step(&mut model, &mut s, h, f64::from(n) * h).expect("explicit");
        let now = energy(&mut model, &s);
        largest = largest.max((now - *first.get_or_insert(now)).abs());
    }
    (s, largest)
}

#[test]
fn orders_of_both_starts() {
    for (what, case, steps, until) in [("pendulum", spherical_pendulum(), 400, 10.0), ("ring", ring(), 400, 1.0)] {
        let exact = run(&case, "variational_rrp+kahan_li8", until / f64::from(steps), until);
        for name in ["variational_rrp", "variational_exp", "splitting_dlm"] {
            for (is_staggered, range) in [(true, 0.9..1.1), (false, 1.9..2.1)] {
                let [coarse, fine] = [4 * steps, 8 * steps].map(|steps| {
                    let (s, energy) = end(&case, name, is_staggered, steps, until);
                    let [x, turn, ..] = distances(&case.0, &s, &exact);
                    (x.max(turn), energy)
                });
                let orders = [order(coarse.0, fine.0), order(coarse.1, fine.1)];
                println!("{what}, {name}, staggered {is_staggered}: trajectory and energy {orders:.3?} of {fine:?}");
                assert!(range.contains(&orders[0]), "{what}, {name}: trajectory {orders:?}");
                assert!((1.9..2.1).contains(&orders[1]), "{what}, {name}: energy {orders:?}");
            }
        }
    }
}

/// Momenta of the middle of a step, made by half a kick beforehand, give the steps of the usual start to the bit.
#[test]
fn momenta_of_the_middle_of_a_step() {
    let (mut model, s) = ring();
    let StepperName::Splitting(scheme) = "variational_rrp".parse().expect("a stepper") else { panic!("a splitting") };
    let h = 1e-3;
    let mut force = vec![0.0; model.topology().nv()];
    model.forces(&s, &mut force);
    let mut middle = s.clone();
    for k in 0..s.len() {
        let half = |at: usize| V3::from_column_slice(&force[6 * k + at..6 * k + at + 3]) * (0.5 * h);
        middle.set_v(k, &(s.v(k) + half(0)));
        middle.set_omega(k, &(s.omega(k) + half(3) / 0.049));
    }
    let mut usual = Splitting::new(model.topology(), scheme).expect("spheres");
    let mut staggered = usual.clone().staggered();
    let mut ends = [s, middle];
    for n in 1..=100 {
        let t = f64::from(n) * h;
        usual.step(&mut model, &mut ends[0], h, t).expect("explicit");
        staggered.step(&mut model, &mut ends[1], h, t).expect("explicit");
    }
    let difference = ends[0].z.iter().zip(&ends[1].z).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    // The velocities are rounded another way.
    assert!(difference < 1e-12, "{difference:e}");
}
