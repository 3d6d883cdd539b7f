//! The joints of the standard library, one body each, against time series of ADAMS.
//!
//! The series are right to 2e-6 (hinge, ball joint, spring), 5e-6 (distance), 5e-5 (sleeve, slider) and 2e-4 (cross),
//! all in m; the errors of the methods at the steps below are larger by a factor of thirty and more, so that their
//! order shows.

use mbdsl_runtime::nalgebra::Vector3;

use crate::data::table;
use crate::rig::{Steps, check_first_order, for_all_methods, halved, load, watch};

/// One body, at rest in a uniform field, with what holds it; largest error of its position up to a time.
fn check(series: &str, until: f64, placement: &str, held: &str) {
    let text = format!(
        "model Single {{
            gravity = [0, 0, -9.80665] [m/s^2];
            ground {{ point P = [1, 2, 3] m; }}
            body b {{ mass = 1 kg; {placement} }}
            {held}
            simulate {{ stepper = dae1l_lse; step = 1 ms; until = 2 s; }}
        }}"
    );
    let loaded = load(&text, &[]);
    let expected = table(&format!("adams/{series}"));
    for_all_methods(|method| {
        let [errors] = halved(2e-3, |h| {
            let mut worst = 0.0_f64;
            let every = (0.05 / h).round() as u64;
            watch(&loaded, Steps { method, h, until }, |s| {
                if s.n % every == 0 {
                    let t = (s.n / every) as f64 * 0.05;
                    let exact = Vector3::from(expected.at(t, ["Pos_0", "Pos_1", "Pos_2"]));
                    worst = worst.max((s.state.x(0) - exact).norm());
                }
            });
            [worst]
        });
        check_first_order(series, method, errors);
    });
}

const ROD: &str = "inertia = diag([0.04, 0.1, 0.1] [kg*m^2]);";

#[test]
fn hinge() {
    check(
        "Revolute_Case02",
        2.0,
        &format!("{ROD} point top = [-2, 0, 0] m; pos = [3, 2, 3] m; rot = about([1, 0, 0], -45 deg);"),
        "joint j: revolute(ground.P, b.top, axis = [0, 1, 1], axis_b = [0, 0, 1]);",
    );
}

#[test]
fn ball_joint() {
    check(
        "Spherical_Case02",
        2.0,
        &format!("{ROD} point top = [-2, 0, 0] m; pos = [3, 2, 3] m; rot = about([1, 0, 0], -45 deg);"),
        "joint j: spherical(ground.P, b.top);",
    );
}

#[test]
fn sleeve() {
    check(
        "Cylindrical_Case01",
        2.0,
        &format!("{ROD} point top = [-2, 0, 0] m; pos = [2, 0, 0] m;"),
        "joint j: cylindrical(ground.origin, b.top, axis = [0, 0, 1]);",
    );
}

#[test]
fn slider() {
    check(
        "Prismatic_Case01",
        2.0,
        &format!("{ROD} point top = [-2, 0, 0] m; pos = [2, 0, 0] m;"),
        "joint j: prismatic(ground.origin, b.top, axis = [0, 0, 1]);",
    );
}

/// The body hangs by its end on the rod, a double pendulum: half a second, before its sensitivity takes over.
#[test]
fn rod() {
    check(
        "Distance_Case02",
        0.5,
        &format!("{ROD} point end = [2, 0, 0] m; pos = [-1, 4, 3] m;"),
        "joint j: distance(ground.P, b.end, length = 2 m);",
    );
}

#[test]
fn cross() {
    check(
        "Universal_Case01",
        2.0,
        "inertia = diag([0.1, 0.1, 0.04] [kg*m^2]); point top = [0, 0, 2] m;
         pos = [0, 2, 0] m; rot = about([1, 0, 0], 90 deg);",
        "joint j: universal(ground.origin, b.top, axis = [1, 0, 0], axis_b = [0, 1, 0]);",
    );
}

#[test]
fn hinge_with_spring_and_damper() {
    check(
        "RotSpring_Case01",
        2.0,
        &format!("{ROD} point top = [-2, 0, 0] m; pos = [2, 0, 0] m; rot = about([1, 0, 0], -90 deg);"),
        "joint j: revolute(ground.origin, b.top, axis = [0, 1, 0], axis_b = [0, 0, 1]);
         potential spring: 0.5 * 200 [N*m] * (j.angle - start(j.angle))^2;
         dissipation damper: 0.5 * 10 [N*m*s] * j.rate^2;",
    );
}
