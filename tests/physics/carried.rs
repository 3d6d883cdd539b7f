//! What each joint of the standard library carries, and what it leaves free: a loaded body at rest moves in the free
//! directions as if there were no joint, and the joint takes the rest of the load.

use mbdsl_runtime::nalgebra::Vector3;
use mbdsl_runtime::steppers::method::Method;

use crate::rig::{Steps, load, watch};

const FORCE: [f64; 3] = [1.0, 2.0, 3.0];

/// A body on one joint in the origin, loaded by [`FORCE`] and a torque; `slides` and `turns` are the free directions.
///
/// Loads are constant and free turns happen about the axis of symmetry x, so that velocities grow linearly: all methods
/// give them exactly, `n h F / m` and `n h T / J`, up to the rounding of a few units in each step.
fn check(joint: &str, torque: [f64; 3], slides: [bool; 3], turns: [bool; 3]) {
    let [x, y, z] = torque;
    let text = format!(
        "model Carried {{
            body b {{ mass = 2 kg; inertia = diag([0.04, 0.1, 0.1] [kg*m^2]); }}
            joint j: {joint};
            force push on b: [1, 2, 3] [N];
            torque twist on b: [{x}, {y}, {z}] [N*m];
            output reaction = j.reaction;
            output moment = j.reaction_torque;
            simulate {{ stepper = dae1l_lse; step = 10 ms; until = 1 s; }}
        }}"
    );
    let loaded = load(&text, &[]);
    let part = |a: [f64; 3], free: [bool; 3], wanted: bool| {
        Vector3::from_fn(|k, _| if free[k] == wanted { a[k] } else { 0.0 })
    };
    let (pushes, carried) = (part(FORCE, slides, true), part(FORCE, slides, false));
    let (twists, held) = (part(torque, turns, true), part(torque, turns, false));
    for method in Method::ALL {
        watch(&loaded, Steps { method, h: 0.01, until: 1.0 }, |s| {
            let t = s.state.t;
            let (v, w) = (s.state.v(0) - pushes * t / 2.0, s.state.omega(0) - twists * t / 0.04);
            assert!(v.amax() < 1e-13 && w.amax() < 1e-12, "{joint}, {method} at {t} s: {v} {w}");
            let reaction = Vector3::from_column_slice(&s.outputs[..3]) + carried;
            let moment = Vector3::from_column_slice(&s.outputs[3..]) + held;
            // Impulses round by a unit, and are divided by h = 0.01 s; the free motion is up to 7 rad/s fast.
            assert!(
                reaction.amax() < 1e-11 && moment.amax() < 1e-11,
                "{joint}, {method} at {t} s: {reaction} {moment}"
            );
        });
    }
}

const ALL: [bool; 3] = [true; 3];
const NONE: [bool; 3] = [false; 3];
const X: [bool; 3] = [true, false, false];

#[test]
fn ball_joint() {
    check("spherical(ground.origin, b.origin)", [0.3, 0.0, 0.0], NONE, ALL);
}

#[test]
fn hinge() {
    check("revolute(ground.origin, b.origin, axis = [1, 0, 0])", [0.3, 0.2, 0.1], NONE, X);
}

#[test]
fn weld() {
    check("weld(ground.origin, b.origin)", [0.3, 0.2, 0.1], NONE, NONE);
}

#[test]
fn slider() {
    check("prismatic(ground.origin, b.origin, axis = [1, 0, 0])", [0.3, 0.2, 0.1], X, NONE);
}

#[test]
fn sleeve() {
    check("cylindrical(ground.origin, b.origin, axis = [1, 0, 0])", [0.3, 0.2, 0.1], X, X);
}

/// Arms x and y: the third direction is held, at rest and while the body turns about the first arm.
#[test]
fn cross() {
    let joint = "universal(ground.origin, b.origin, axis = [1, 0, 0], axis_b = [0, 1, 0])";
    check(joint, [0.0, 0.0, 0.3], NONE, [true, true, false]);
    check(joint, [0.3, 0.0, 0.0], NONE, [true, true, false]);
}
