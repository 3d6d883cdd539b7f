//! Many bodies without constraints move to the same bits as each of them alone: in lanes, in groups of different kinds, and where
//! somebody changes a state between steps.

#[expect(dead_code, reason = "each test binary uses a part of the common models")]
mod common;

use common::runs::stepper;
use common::{Load, Model};
use mbdsl_runtime::so3::exp;
use mbdsl_runtime::state::{STRIDE, State};
use mbdsl_runtime::steppers::Stepper as _;
use mbdsl_runtime::topology::{Body, BodyKind};
use nalgebra::{Matrix3, Vector3};

type V3 = Vector3<f64>;

/// Of one body its inertia and what acts on it, by its number.
#[derive(Clone, Copy, Debug)]
struct One {
    body: Body,
    number: usize,
}

/// Size of the steps, s: bodies turn by up to 0.7 rad in one, some of them in the range of the series for small angles.
const H: f64 = 0.1;

fn start(number: usize) -> [V3; 4] {
    let [a, b, c] = [0.7, 1.3, 2.9].map(|rate| (rate * number as f64).sin());
    let fast = if number.is_multiple_of(3) { 0.5 } else { 6.0 };
    [V3::new(a, number as f64, c), V3::new(c, b, a), V3::new(b, a, c), V3::new(b, c, 0.4 + a).normalize() * fast]
}

/// Bodies with their numbers, under forces or free.
fn model(all: &[One], is_free: bool) -> (Model, State) {
    let mut model = Model::new(if is_free { 0.0 } else { 1.0 });
    let mut s = State::new(all.len(), 0);
    for (k, one) in all.iter().enumerate() {
        let [x, v, turn, omega] = start(one.number);
        model.body(one.body);
        s.set_x(k, &x);
        s.set_v(k, &v);
        if one.body.kind == BodyKind::Rigid {
            s.set_r(k, &exp(&turn));
            s.set_omega(k, &omega);
            if !is_free {
                model.load(Load::Pivot { body: k, arm: v * 0.1, force: turn });
            }
        }
    }
    (model, s)
}

/// Spheres, bodies of three different moments with and without principal axes, particles; some of each kind in a row, and some alone.
fn mixed() -> Vec<One> {
    let body = |number: usize| {
        let axes = exp(&V3::new(0.4, -1.1, 0.6));
        let moments = V3::new(0.9 + 0.01 * number as f64, 1.7, 2.1);
        let turned = axes * Matrix3::from_diagonal(&moments) * axes.transpose();
        let (kind, inertia) = match number {
            0..10 | 40 | 50 => (BodyKind::Rigid, Matrix3::from_diagonal_element(0.5)),
            10..27 | 41 => (BodyKind::Rigid, Matrix3::from_diagonal(&moments)),
            27..36 | 43 => (BodyKind::Rigid, turned),
            _ => (BodyKind::Particle, Matrix3::zeros()),
        };
        One { body: Body { kind, mass: 1.0 + 0.1 * number as f64, inertia }, number }
    };
    (0..60).map(body).collect()
}

fn row(s: &State, k: usize) -> [u64; STRIDE] {
    s.z.as_chunks::<STRIDE>().0[k].map(f64::to_bits)
}

/// Each body after some steps, alone and among all; `change` may change a body between two steps.
fn check(all: &[One], name: &str, steps: u32, change: impl Fn(u32, usize, usize, &mut State)) {
    for is_free in [true, false] {
        let run = |bodies: &[One]| {
            let (mut model, mut s) = model(bodies, is_free);
            let mut stepper = stepper(&model, name);
            for n in 1..=steps {
                stepper.step(&mut model, &mut s, H, H * f64::from(n)).expect("a step");
                for (k, one) in bodies.iter().enumerate() {
                    change(n, one.number, k, &mut s);
                }
            }
            (s, stepper.acceleration().to_vec())
        };
        let (together, accelerations) = run(all);
        let mut dof = 0;
        for (k, one) in all.iter().enumerate() {
            let (alone, acceleration) = run(core::slice::from_ref(one));
            assert_eq!(row(&together, k), row(&alone, 0), "{name}, body {k}, free: {is_free}");
            assert_eq!(accelerations[dof..dof + acceleration.len()], acceleration, "{name}, body {k}");
            dof += acceleration.len();
        }
    }
}

#[test]
fn together_as_alone() {
    let all = mixed();
    for name in ["splitting_dlm", "splitting_dlm_cayley", "splitting_exact", "variational_rrp", "variational_dmv"] {
        check(&all, name, 20, |_, _, _, _| {});
    }
    check(&all, "splitting_dlm+suzuki4", 5, |_, _, _, _| {});
    // Attitudes are polished in the thousandth step.
    check(&all[..36], "splitting_dlm_cayley", 1002, |_, _, _, _| {});
    for name in ["variational_exp", "variational_cayley"] {
        check(&all[..10], name, 20, |_, _, _, _| {});
    }
}

#[test]
fn changes_between_steps_are_seen() {
    for name in ["splitting_dlm", "variational_rrp"] {
        check(&mixed(), name, 6, |n, number, k, s| match (n, number) {
            (2, 3 | 12 | 30 | 55) => s.set_x(k, &V3::x()),
            (3, 4 | 13 | 31) => s.set_omega(k, &V3::new(0.1, 0.2, 0.3)),
            (4, 5 | 14 | 32) => s.set_r(k, &Matrix3::identity()),
            (4, 6 | 15 | 33 | 56) => s.set_v(k, &V3::y()),
            _ => {}
        });
    }
}
