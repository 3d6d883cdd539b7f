//! Laws that hold for every method: orthogonality, free bodies, momentum, dependent rows, long chains, errors.

#[expect(dead_code, reason = "each test binary uses a part of the common models")]
mod common;

use core::ops::ControlFlow;
use std::time::Instant;

use common::{Joint, Model, Spring, chain, single_pendulum};
use mbdsl_runtime::assembly::assemble;
use mbdsl_runtime::error::StepErrorKind;
use mbdsl_runtime::monitor::Monitor;
use mbdsl_runtime::simulate::{Plan, simulate};
use mbdsl_runtime::so3::orthogonality_error;
use mbdsl_runtime::state::State;
use mbdsl_runtime::steppers::euler::Euler;
use mbdsl_runtime::steppers::method::{Level, Method, Metric};
use mbdsl_runtime::system::System;
use nalgebra::Vector3;

const DAE1L: Method = Method { level: Level::Index1, metric: Metric::Lagrangian };

fn free_body(omega: Vector3<f64>) -> (Model, State) {
    let mut model = Model::new(0.0);
    model.rigid(1.0, [5.2988, 1.1775, 4.3568]);
    let mut s = State::new(1, 0);
    s.set_omega(0, &omega);
    s.set_v(0, &Vector3::new(1.0, 2.0, 3.0));
    (model, s)
}

/// Rounding errors of the increment form over a thousand steps stay below 1e-12 at any angle of a step.
#[test]
fn rotations_stay_orthogonal_over_a_million_steps() {
    for turn in [0.0015, 0.15] {
        // A spherical body keeps its angular velocity, so every step turns by the same angle.
        let mut model = Model::new(0.0);
        model.rigid(1.0, [1.0; 3]);
        let mut s = State::new(1, 0);
        s.set_omega(0, &Vector3::new(0.6, -0.48, 0.64));
        let mut euler = Euler::new(model.topology(), DAE1L);
        let mut worst: f64 = 0.0;
        for n in 1..=1_000_000_u32 {
            euler.step(&mut model, &mut s, turn, f64::from(n) * turn).expect("a free body converges");
            worst = worst.max(orthogonality_error(&s.r(0)));
        }
        println!("turn {turn}: |R^T R - I| <= {worst:e}");
        assert!(worst < 1e-12, "turn {turn}: {worst:e}");
    }
}

/// First order: half the step, half the error against the series of an independent program (9 digits).
#[test]
fn free_body_converges_to_the_exact_motion() {
    let error = |h: f64| {
        let (mut model, mut s) = free_body(Vector3::new(2.0, 4.0, 6.0));
        let mut euler = Euler::new(model.topology(), DAE1L);
        let plan = Plan::new(h, 0.05).expect("valid");
        let (_, outcome) = simulate(&mut model, &mut euler, &mut s, &plan, |_, _, _, _| ControlFlow::Continue(()));
        outcome.expect("converges");
        assert!((s.x(0) - Vector3::new(0.05, 0.1, 0.15)).amax() < 1e-14);
        (s.omega(0) - Vector3::new(1.300768248602, 3.594813403688, 6.295928948953)).norm()
    };
    let (coarse, fine) = (error(1e-4), error(5e-5));
    assert!((coarse / fine - 2.0).abs() < 0.02 && fine < 1e-3, "{coarse:e} {fine:e}");
}

/// Internal forces and joints leave the momentum of the model alone.
#[test]
fn momentum_is_kept() {
    for method in Method::ALL {
        let mut model = Model::new(0.0);
        let mut s = State::new(3, 0);
        model.rigid(2.0, [0.1, 0.2, 0.25]);
        model.particle(1.0);
        model.rigid(3.0, [0.3, 0.2, 0.25]);
        model.ball((0, [1.0, 0.0, 0.0]), Some((2, [-1.0, 0.5, 0.0])), [0.0; 3]);
        model.spring(Spring { a: 1, b: 2, stiffness: 300.0, damping: 2.0 });
        model.spring(Spring { a: 0, b: 1, stiffness: 100.0, damping: 0.0 });
        s.set_x(1, &Vector3::new(0.3, 1.0, 0.2));
        s.set_x(2, &Vector3::new(2.0, -0.5, 0.0));
        s.set_omega(0, &Vector3::new(1.0, -2.0, 3.0));
        let (mut s, _) = assemble(&mut model, s).expect("consistent");
        let mut monitor = Monitor::new(model.topology());
        let nothing = vec![0.0; model.topology().nv()];
        let before = monitor.measure(&mut model, &s, &nothing).momentum;
        let mut euler = Euler::new(model.topology(), method);
        for n in 1..=200 {
            let report = euler.step(&mut model, &mut s, 1e-3, f64::from(n) * 1e-3).expect("converges");
            assert!(report.iterations <= 5, "{method}: {} iterations", report.iterations);
        }
        let after = monitor.measure(&mut model, &s, euler.acceleration()).momentum;
        assert!((after - before).amax() < 1e-12, "{method}: {before} {after}");
    }
}

/// The same joint twice: the motion is that of one, the force is shared equally (least norm).
#[test]
fn doubled_joint_changes_nothing_but_the_sharing() {
    for method in Method::ALL {
        let (mut once, mut s1) = single_pendulum();
        let (mut twice, mut s2) = single_pendulum();
        twice.ball((0, [0.0, -1.0, 0.0]), None, [0.0; 3]);
        let mut a = Euler::new(once.topology(), method);
        let mut b = Euler::new(twice.topology(), method);
        for n in 1..=50 {
            let t = f64::from(n) * 1e-4;
            a.step(&mut once, &mut s1, 1e-4, t).expect("converges");
            b.step(&mut twice, &mut s2, 1e-4, t).expect("converges");
        }
        for (x, y) in s1.z.iter().zip(&s2.z) {
            assert!((x - y).abs() < 1e-10, "{method}: {x} and {y}");
        }
        for (k, lambda) in b.lambda().iter().enumerate() {
            let half = 0.5 * a.lambda()[k % 3];
            // Multipliers of index 3 carry rounding errors of eps/h^2.
            assert!((lambda - half).abs() < 1e-5 * half.abs().max(1.0), "{method}: {lambda} and {half}");
        }
    }
}

/// A parallelogram that starts flat: there one row is dependent; it must come back once the linkage opens.
#[test]
fn rows_are_chosen_anew_when_the_rank_changes() {
    for method in Method::ALL {
        let mut model = Model::new(0.0);
        let mut s = State::new(2, 0);
        model.particle(1.0);
        model.particle(1.0);
        for a in 0..2 {
            model.joint(Joint::Plane { a, normal: Vector3::z(), offset: 0.0 });
        }
        let right = Vector3::new(2.0, 0.0, 0.0);
        model.joint(Joint::Rod { a: 0, b: Err(Vector3::zeros()), length: 1.0 });
        model.joint(Joint::Rod { a: 1, b: Err(right), length: 1.0 });
        model.joint(Joint::Rod { a: 0, b: Ok(1), length: 2.0 });
        model.joint(Joint::Rod { a: 0, b: Err(right * -3.0), length: 7.0 });
        s.set_x(0, &Vector3::new(1.0, 0.0, 0.0));
        s.set_x(1, &Vector3::new(3.0, 0.0, 0.0));
        // The last rod touches: it allows no motion to first order beyond that of the first one, and stops it later.
        let flat = assemble(&mut model, s.clone()).expect("flat is consistent").1;
        assert!(flat.rank < flat.rows, "{flat:?}");
        model = without_last(&model);
        for a in 0..2 {
            s.set_v(a, &Vector3::new(0.0, 1.0, 0.0));
        }
        let mut euler = Euler::new(model.topology(), method);
        let mut monitor = Monitor::new(model.topology());
        // Past half a turn, where the linkage is flat again.
        for n in 1..=4000 {
            let t = f64::from(n) * 1e-3;
            euler.step(&mut model, &mut s, 1e-3, t).unwrap_or_else(|e| panic!("{e}"));
            let m = monitor.measure(&mut model, &s, euler.acceleration());
            match method.level {
                Level::Index2 => assert!(m.velocity_residual < 1e-10, "{method} {n}: {m:?}"),
                Level::Index3 | Level::Index2Stabilised | Level::Index1 => {
                    assert!(m.position_residual < 1e-10, "{method} {n}: {m:?}");
                }
            }
        }
    }
}

fn without_last(model: &Model) -> Model {
    let mut out = Model { joints: Vec::new(), ..model.clone() };
    out.topology.constraints = Default::default();
    for joint in &model.joints[..model.joints.len() - 1] {
        out.joint(*joint);
    }
    out
}

/// Ten thousand links: assembly and steps in linear time.
#[test]
fn long_chain() {
    let n = 10_000;
    for method in [Method::ALL[0], Method::ALL[1], Method::ALL[2], DAE1L, Method::ALL[7]] {
        let (mut model, s) = chain(n);
        let clock = Instant::now();
        let (mut s, report) = assemble(&mut model, s).expect("consistent");
        assert_eq!((report.rank, report.degrees_of_freedom), (3 * n, 3 * n));
        let assembled = clock.elapsed();
        let clock = Instant::now();
        let mut euler = Euler::new(model.topology(), method);
        let symbolic = clock.elapsed();
        let clock = Instant::now();
        let mut iterations = 0;
        for k in 1..=5 {
            iterations += euler.step(&mut model, &mut s, 1e-3, f64::from(k) * 1e-3).expect("converges").iterations;
        }
        println!(
            "{method}, {n} links: assembly {assembled:.0?}, symbolic {symbolic:.0?}, step {:.1?}, {iterations} iterations in 5 steps",
            clock.elapsed() / 5
        );
        let m = Monitor::new(model.topology()).measure(&mut model, &s, euler.acceleration());
        // Round-off of coordinates of 1e4 m.
        match method.level {
            Level::Index2 => assert!(m.velocity_residual < 1e-12, "{m:?}"),
            Level::Index3 => assert!(m.position_residual < 1e-11, "{m:?}"),
            Level::Index2Stabilised | Level::Index1 => {
                assert!(m.position_residual < 1e-11 && m.velocity_residual < 1e-12, "{method} {m:?}");
            }
        }
    }
}

/// A pendulum on a moving point: the constraint holds with its explicit time derivative, at large steps too.
#[test]
fn moving_points_are_followed() {
    for method in Method::ALL {
        let mut model = Model::new(9.81);
        model.rigid(1.0, [0.1, 0.2, 0.25]);
        let drift = Vector3::new(0.5, 2.0, 0.0);
        model.joint(Joint::Ball { a: (0, Vector3::new(0.1, 0.2, 1.0)), b: None, point: Vector3::zeros(), drift });
        let mut s = State::new(1, 0);
        s.set_omega(0, &Vector3::new(3.0, 0.0, 5.0));
        let (mut s, _) = assemble(&mut model, s).expect("consistent");
        let mut euler = Euler::new(model.topology(), method);
        let mut monitor = Monitor::new(model.topology());
        for n in 1..=100 {
            let report = euler.step(&mut model, &mut s, 0.02, f64::from(n) * 0.02).unwrap_or_else(|e| panic!("{e}"));
            // A turn of a tenth of a radian a step is far from linear; quadratic convergence needs five, and finding out that the
            // cheaper matrix of the stabilised forms does not have it needs two more.
            let most = if n <= 5 { 8 } else { 6 };
            assert!(report.iterations <= most, "{method}: {} iterations", report.iterations);
            let m = monitor.measure(&mut model, &s, euler.acceleration());
            let (position, velocity, acceleration) = match method.level {
                Level::Index3 => (1e-14, f64::INFINITY, f64::INFINITY),
                Level::Index2 => (f64::INFINITY, 1e-13, f64::INFINITY),
                Level::Index2Stabilised => (1e-14, 1e-13, f64::INFINITY),
                Level::Index1 => (1e-14, 1e-13, 1e-12),
            };
            assert!(m.position_residual < position, "{method} {n}: {m:?}");
            assert!(m.velocity_residual < velocity, "{method} {n}: {m:?}");
            assert!(m.acceleration_residual < acceleration, "{method} {n}: {m:?}");
        }
    }
}

/// Balanced models stay where they are, however stiff and however far from the origin.
#[test]
fn rest_is_kept() {
    for method in Method::ALL {
        for (stiffness, away) in [(1e3, 0.0), (1e9, 1.0), (1e9, 1e4)] {
            let mut model = Model::new(9.81);
            let mut s = State::new(5, 0);
            for b in 0..5 {
                model.particle(1.0 + b as f64 * 0.1);
                s.set_x(b, &Vector3::new(away + 0.1 * b as f64, 0.3 * away, 1.0));
            }
            for a in [0, 1, 2, 3] {
                model.spring(Spring { a, b: a + 1, stiffness, damping: 1.0 });
            }
            for a in 0..5 {
                for (axis, offset) in [Vector3::x(), Vector3::y(), Vector3::z()].iter().zip(s.x(a).as_slice()) {
                    model.joint(Joint::Plane { a: a as u32, normal: *axis, offset: *offset });
                }
            }
            let before = s.clone();
            let mut euler = Euler::new(model.topology(), method);
            for n in 1..=10 {
                euler.step(&mut model, &mut s, 1e-3, f64::from(n) * 1e-3).unwrap_or_else(|e| panic!("{e}"));
            }
            for (a, b) in s.z.iter().zip(&before.z) {
                assert!((a - b).abs() <= 1e-12 * (1.0 + away), "{method}, {stiffness:e}: {a} and {b}");
            }
        }
        // Prestressed springs in balance, nothing else.
        let mut model = Model::new(0.0);
        let mut s = State::new(3, 0);
        for b in 0..3 {
            model.particle(1.0);
            s.set_x(b, &Vector3::new(0.1 + 0.7 * b as f64, 0.2, 0.3));
        }
        for (a, offset) in [(0, 0.1), (2, 1.5)] {
            model.joint(Joint::Plane { a, normal: Vector3::x(), offset });
        }
        for (a, b) in [(0, 1), (1, 2)] {
            model.spring(Spring { a, b, stiffness: 1e7, damping: 0.0 });
        }
        let mut euler = Euler::new(model.topology(), method);
        for n in 1..=100 {
            euler.step(&mut model, &mut s, 1e-3, f64::from(n) * 1e-3).unwrap_or_else(|e| panic!("{e}"));
        }
        assert!((s.x(1) - Vector3::new(0.8, 0.2, 0.3)).amax() < 1e-12, "{method} {}", s.x(1));
    }
}

/// Errors name the place and leave the state alone.
#[test]
fn failed_steps_leave_the_last_good_state() {
    // A particle pulled through a rod's centre by a moving point it cannot follow: no solution.
    let mut model = Model::new(0.0);
    model.particle(1.0);
    model.joint(Joint::Rod { a: 0, b: Err(Vector3::zeros()), length: 1.0 });
    model.joint(Joint::Rod { a: 0, b: Err(Vector3::new(5.0, 0.0, 0.0)), length: 1.0 });
    let mut s = State::new(1, 0);
    s.set_x(0, &Vector3::new(1.0, 0.2, 0.0));
    let before = s.clone();
    let mut euler = Euler::new(model.topology(), Method::ALL[0]);
    let error = euler.step(&mut model, &mut s, 1e-3, 1e-3).expect_err("the rods are too short");
    assert_eq!(s, before);
    assert_eq!(error.residuals.len(), 2);
    assert!(error.to_string().contains("joint["), "{error}");
    s.set_x(0, &Vector3::new(f64::NAN, 0.0, 0.0));
    let error = euler.step(&mut model, &mut s, 1e-3, 1e-3).expect_err("not a number");
    assert_eq!(error.kind, StepErrorKind::NonFinite);
}

/// Microseconds per step of the single pendulum, for the record.
#[test]
fn pendulum_timing() {
    for method in Method::ALL {
        let (mut model, mut s) = single_pendulum();
        let mut euler = Euler::new(model.topology(), method);
        let clock = Instant::now();
        let mut iterations = 0;
        let n = 20_000;
        for k in 1..=n {
            iterations += euler.step(&mut model, &mut s, 1e-5, f64::from(k) * 1e-5).expect("converges").iterations;
        }
        let each = clock.elapsed().as_secs_f64() / f64::from(n) * 1e6;
        println!("{method}: {each:.2} us a step, {:.2} iterations", iterations as f64 / f64::from(n));
    }
}
