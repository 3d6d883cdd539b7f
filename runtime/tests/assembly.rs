//! Consistent initial values from guesses near and far, with wishes, dependent rows and contradictions.

#[expect(dead_code, reason = "each test binary uses a part of the common models")]
mod common;

use common::{Condition, Joint, Model, chain, double_pendulum, single_pendulum};
use mbdsl_runtime::acceleration::accelerations;
use mbdsl_runtime::assembly::{AssemblyError, assemble};
use mbdsl_runtime::monitor::Monitor;
use mbdsl_runtime::state::State;
use mbdsl_runtime::system::System;
use nalgebra::Vector3;

fn residuals(model: &mut Model, s: &State) -> (f64, f64) {
    let a = vec![0.0; model.topology().nv()];
    let m = Monitor::new(model.topology()).measure(model, s, &a);
    assert!(m.orthogonality < 1e-14);
    (m.position_residual, m.velocity_residual)
}

#[test]
fn consistent_guess_stays() {
    for (mut model, guess) in [single_pendulum(), double_pendulum()] {
        let (s, report) = assemble(&mut model, guess.clone()).expect("consistent");
        for (a, b) in s.z.iter().zip(&guess.z) {
            assert!((a - b).abs() < 1e-13);
        }
        assert!(report.moved.is_empty() && report.dependent.is_empty());
        assert_eq!(report.degrees_of_freedom, 3 * s.len());
    }
}

#[test]
fn far_guesses_are_closed_to_roundoff() {
    let (mut model, mut guess) = double_pendulum();
    guess.set_x(0, &Vector3::new(2.0, -1.0, 0.3));
    guess.set_x(1, &Vector3::new(-1.0, 4.0, 2.0));
    let (s, report) = assemble(&mut model, guess).expect("can be closed");
    let (position, velocity) = residuals(&mut model, &s);
    assert!(position < 1e-15 && velocity < 1e-13, "{position:e} {velocity:e}");
    assert_eq!(report.moved.len(), 2);
    assert!(report.moved[1].cause == "joint[1]", "{report:?}");
}

/// One particle on a sphere: the nearest point is the radial projection, whatever the path.
#[test]
fn least_change_from_the_guess() {
    let mut model = Model::new(0.0);
    model.particle(2.0);
    model.particle(1.0);
    model.joint(Joint::Rod { a: 0, b: Err(Vector3::zeros()), length: 1.0 });
    model.joint(Joint::Rod { a: 0, b: Ok(1), length: 1.0 });
    let mut guess = State::new(2, 0);
    let (a, b) = (Vector3::new(1.3, 0.4, 0.2), Vector3::new(1.5, -1.0, 0.1));
    guess.set_x(0, &a);
    guess.set_x(1, &b);
    let (s, _) = assemble(&mut model, guess).expect("can be closed");
    let (p, _) = residuals(&mut model, &s);
    assert!(p < 1e-15, "{p:e}");
    // Stationary: M xi is a combination of the gradients of the two constraints.
    let (x, y) = (s.x(0), s.x(1));
    let force_on_second = y - b;
    let along = x - y;
    assert!(force_on_second.cross(&along).norm() < 1e-8, "{}", force_on_second.cross(&along));
    assert!(((x - a) * 2.0 + force_on_second).cross(&x).norm() < 1e-8);
}

#[test]
fn atomic_and_large_lengths() {
    for length in [1e-10, 1.0, 1e4] {
        let mut model = Model::new(0.0);
        let mut guess = State::new(3, 0);
        for a in 0..3_u32 {
            model.particle(1e-26);
            guess.set_x(a as usize, &(Vector3::new(f64::from(a), f64::from(a * a) * 0.7, 0.1) * length));
        }
        for (a, b) in [(0, 1), (1, 2), (2, 0)] {
            model.joint(Joint::Rod { a, b: Ok(b), length });
        }
        let (s, report) = assemble(&mut model, guess).expect("a triangle");
        let (position, _) = residuals(&mut model, &s);
        assert!(position < 1e-14 * length, "{length:e}: {position:e}");
        assert_eq!(report.degrees_of_freedom, 6);
    }
}

#[test]
fn coinciding_points_are_separated() {
    let mut model = Model::new(0.0);
    model.particle(1.0);
    model.particle(1.0);
    model.joint(Joint::Rod { a: 0, b: Ok(1), length: 0.5 });
    let (s, _) = assemble(&mut model, State::new(2, 0)).expect("the guess has no direction, but a way out");
    assert!(((s.x(0) - s.x(1)).norm() - 0.5).abs() < 1e-15);
}

#[test]
fn wishes_and_fixed_values() {
    let (mut model, guess) = single_pendulum();
    model.hold_position(Condition { body: 0, axis: 2, value: 0.6 }, true);
    model.hold_position(Condition { body: 0, axis: 0, value: 0.0 }, false);
    model.hold_velocity(Condition { body: 0, axis: 4, value: 3.0 }, true);
    let (s, _) = assemble(&mut model, guess).expect("consistent");
    assert!((s.x(0) - Vector3::new(0.0, 0.8, 0.6)).amax() < 1e-12, "{}", s.x(0));
    assert!((s.omega(0).y - 3.0).abs() < 1e-14);
    // A wish beyond reach is given up as far as needed; the same value fixed is an error.
    for fixed in [false, true] {
        let (mut model, guess) = single_pendulum();
        model.hold_position(Condition { body: 0, axis: 2, value: 1.4 }, fixed);
        match assemble(&mut model, guess) {
            Ok((s, _)) => {
                assert!(!fixed);
                assert!((s.x(0).norm() - 1.0).abs() < 1e-14 && s.x(0).z > 0.9, "{}", s.x(0));
            }
            Err(error) => {
                assert!(fixed, "{error}");
                assert!(
                    matches!(error, AssemblyError::Open { .. }) && error.to_string().contains("body[0].pos"),
                    "{error}"
                );
            }
        }
    }
}

#[test]
fn contradictory_velocities_are_named() {
    let (mut model, guess) = single_pendulum();
    for (axis, value) in [(3, 1.0), (4, 0.0), (5, 0.0), (2, 5.0)] {
        model.hold_velocity(Condition { body: 0, axis, value }, true);
    }
    let error = assemble(&mut model, guess).expect_err("v_z = Omega_x = 1 contradicts 5");
    let AssemblyError::ContradictoryVelocities { conflicts } = &error else { panic!("{error}") };
    assert!(!conflicts.is_empty() && conflicts[0].with.iter().any(|name| name.contains("vel")), "{error}");
}

#[test]
fn overlapping_joints_are_named() {
    let (mut model, guess) = double_pendulum();
    model.ball((1, [0.0, 0.0, -0.5]), Some((0, [0.0, 0.0, 0.5])), [0.0; 3]);
    let (s, report) = assemble(&mut model, guess).expect("consistent");
    assert_eq!((report.rows, report.rank, report.degrees_of_freedom), (9, 6, 6));
    for row in &report.dependent {
        let mut both = row.overlaps.clone();
        both.push(row.element_name.clone());
        assert!(both.contains(&"joint[1]".to_owned()) && both.contains(&"joint[2]".to_owned()), "{report:?}");
        assert!(!both.contains(&"joint[0]".to_owned()), "{report:?}");
    }
    // Equal and opposite joints share the force: least norm.
    let (_, lambda) = accelerations(&mut model, &s).expect("finite");
    for k in 0..3 {
        assert!((lambda[3 + k] + lambda[6 + k]).abs() < 1e-9 * lambda[3 + k].abs().max(1.0));
    }
}

#[test]
fn moving_points_give_their_velocity() {
    let mut model = Model::new(9.81);
    model.rigid(1.0, [0.1, 0.1, 0.1]);
    let drift = Vector3::new(2.0, 0.0, 0.0);
    model.joint(Joint::Ball { a: (0, Vector3::new(0.0, 0.0, 1.0)), b: None, point: Vector3::zeros(), drift });
    let (s, _) = assemble(&mut model, State::new(1, 0)).expect("consistent");
    let (position, velocity) = residuals(&mut model, &s);
    assert!(position < 1e-15 && velocity < 1e-14);
    // Least kinetic energy: the body neither only slides nor only turns.
    assert!(s.v(0).x > 0.0 && s.v(0).x < 2.0);
}

#[test]
fn chain_out_of_place() {
    let n = 300;
    let (mut model, mut guess) = chain(n);
    for b in 0..n {
        let x = guess.x(b) + Vector3::new(libm::sin(b as f64), libm::cos(3.0 * b as f64), 0.0) * 0.2;
        guess.set_x(b, &x);
    }
    let (s, report) = assemble(&mut model, guess).expect("can be closed");
    assert!(residuals(&mut model, &s).0 < 1e-12);
    assert_eq!(report.rank, 3 * n);
}
