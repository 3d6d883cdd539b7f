//! A model rotated and shifted as a whole, with its gravity and its points on the ground, moves in the same way: no
//! direction of space is special, and closed loops stay closed in any orientation.

use mbdsl_runtime::nalgebra::Vector3;
use mbdsl_runtime::steppers::method::Level;

use crate::rig::{Steps, for_all_methods, load, run};

/// Two rods on ball joints.
const PENDULUM: &str = "
model Turned {
    let turn = TURN;
    let shift = SHIFT;
    gravity = turn * [0, 0, -9.81] [m/s^2];
    ground { point hook = shift; }
    define body Rod() {
        mass = 5 kg; inertia = cylinder(radius = 0.1 m, length = 1 m, axis = [0, 0, 1]);
        point near = [0, 0, -0.5] m; point far = [0, 0, 0.5] m;
    }
    body first:  Rod() { pos = shift + turn * [0, 0, 0.5] m; rot = turn; omega = fixed([10, 0, 0] [rad/s]); }
    body second: Rod() { pos = shift + turn * [0, 0, 1.5] m; rot = turn; omega = fixed([10, 10, 20] [rad/s]); }
    joint shoulder: spherical(ground.hook, first.near);
    joint elbow:    spherical(second.near, first.far);
    simulate { stepper = dae1l_lse; step = 0.1 ms; until = 0.1 s; }
}
";

/// A damped four-bar of three-dimensional hinges, closed as placed. The first body lies along its x axis.
const FOUR_BAR: &str = "
define body Bar(length) {
    solid beam: box([length, 0.05 m, 0.05 m], density = 7700 [kg/m^3]);
    point a = [-length / 2, 0, 0];
    point b = [ length / 2, 0, 0];
}
model Turned {
    let turn = TURN;
    let shift = SHIFT;
    let z = [0, 0, 1];
    gravity = turn * [0, -9.80665, 0] [m/s^2];
    ground { point A = shift; point D = shift + turn * [-0.15, 1, 0] m; }
    body crank:   Bar(0.4 m) { pos = shift + turn * [0.2, 0, 0] m; rot = turn; }
    body coupler: Bar(norm([0.1, 1.1, 0] m)) {
        pos = shift + turn * [0.45, 0.55, 0] m; rot = turn * about(z, atan2(1.1, 0.1));
    }
    body rocker:  Bar(norm([0.65, 0.1, 0] m)) {
        pos = shift + turn * [0.175, 1.05, 0] m; rot = turn * about(z, atan2(0.1, 0.65));
    }
    joint A: revolute(ground.A, crank.a, axis = turn * z, axis_b = z);
    joint B: revolute(crank.b, coupler.a, axis = z);
    joint C: revolute(coupler.b, rocker.b, axis = z);
    joint D: revolute(ground.D, rocker.a, axis = turn * z, axis_b = z);
    dissipation damping: 0.5 * 0.1 [N*m*s] * A.rate^2;
    simulate { stepper = dae1l_lse; step = 0.5 ms; until = 0.5 s; }
}
";

/// Runs a model as it stands and turned by `[1, -2, 0.5]`, 130 degrees, and shifted; positions, rotations and
/// velocities must correspond, relative to the largest length and speed (both of the order of `scale`, m and m/s).
///
/// A thousand steps round by a unit each, and do not gather in one direction so much that growth (a factor of ten in a
/// tenth of a second at 20 rad/s) could lift them above that. Index 3 takes velocities from positions: to these come
/// some ten units of positions, up to 4 m, over h.
fn check(template: &str, h: f64, until: f64, scale: f64) {
    let text = |turn: &str, shift: &str| template.replace("TURN", turn).replace("SHIFT", shift);
    let plain = load(&text("about([0, 0, 1], 0)", "[0, 0, 0] m"), &[]);
    let turned = load(&text("about([1, -2, 0.5], 130 deg)", "[3, -1, 2] m"), &[]);
    let shift = Vector3::new(3.0, -1.0, 2.0);
    let turn = turned.binding.guess.r(0);
    assert!((turn - plain.binding.guess.r(0)).amax() > 0.5);
    for_all_methods(|method| {
        let steps = Steps { method, h, until };
        let (a, b) = (run(&plain, steps), run(&turned, steps));
        let mut worst = 0.0_f64;
        for body in 0..a.state.len() {
            let (x, v) = (a.state.x(body), a.state.v(body));
            worst = worst
                .max((b.state.x(body) - shift - turn * x).amax() / scale)
                .max((b.state.v(body) - turn * v).amax() / scale)
                .max((b.state.omega(body) - a.state.omega(body)).amax() / scale)
                .max((b.state.r(body) - turn * a.state.r(body)).amax());
        }
        println!("{method}: {worst:.2e}, closed to {:.2e}", b.extremes.position);
        let differences = if method.level == Level::Index3 { 40.0 * f64::EPSILON / (h * scale) } else { 0.0 };
        let error = 1000.0 * f64::EPSILON + differences;
        assert!(worst < error, "{method}: {worst:e}");
        assert!((b.extremes.energy - a.extremes.energy).abs() < error * scale * a.extremes.scale, "{method}");
        // Four units of the shifted coordinates, below 4 m, for each of a few terms.
        let closed = 20.0 * f64::EPSILON * 4.0;
        assert!(method.level == Level::Index2 || b.extremes.position < closed, "{method}: {:e}", b.extremes.position);
    });
}

#[test]
fn double_pendulum_in_any_orientation() {
    check(PENDULUM, 1e-4, 0.1, 20.0);
}

/// Case 35, with three redundant equations.
#[test]
fn four_bar_in_any_orientation() {
    check(FOUR_BAR, 5e-4, 0.5, 10.0);
}
