//! First order of every method: half the step, half the error, against closed forms and independent programs.

use mbdsl_runtime::nalgebra::{Matrix3, Quaternion, UnitQuaternion, Vector3};

use crate::data::table;
use crate::rig::{Steps, check_first_order, for_all_methods, halved, load_library, run, watch};

/// Heavy top: position of the mass centre, angular velocity in body axes, and attitude.
#[test]
fn heavy_top_against_an_independent_program() {
    let expected = table("heavytop_bruls_cardona");
    let loaded = load_library("heavy_top");
    for until in [0.01, 0.1] {
        let [x, y, z] = expected.at(until, ["x", "y", "z"]);
        let [wx, wy, wz] = expected.at(until, ["Wx_body", "Wy_body", "Wz_body"]);
        let [e0, e1, e2, e3] = expected.at(until, ["e0", "e1", "e2", "e3"]);
        let attitude: Matrix3<f64> =
            UnitQuaternion::from_quaternion(Quaternion::new(e0, e1, e2, e3)).to_rotation_matrix().into();
        for_all_methods(|method| {
            let errors = halved(1e-4, |h| {
                let s = run(&loaded, Steps { method, h, until }).state;
                [
                    (s.x(0) - Vector3::new(x, y, z)).norm(),
                    (s.omega(0) - Vector3::new(wx, wy, wz)).norm(),
                    (s.r(0) - attitude).norm(),
                ]
            });
            for (what, errors) in ["position", "angular velocity", "attitude"].into_iter().zip(errors) {
                check_first_order(&format!("heavy top, {what} at {until} s"), method, errors);
            }
        });
    }
}

/// Jacobi's `sn(u)` and the quarter period `K` for the parameter `m`, by the arithmetic-geometric mean.
fn jacobi_sn(u: f64, m: f64) -> (f64, f64) {
    let (mut a, mut b) = (1.0_f64, (1.0 - m).sqrt());
    let mut ratios = Vec::new();
    // Quadratic convergence: the difference falls below round-off after five means for m = 1/2.
    while (a - b).abs() > 4.0 * f64::EPSILON * a {
        let c = (a - b) / 2.0;
        (a, b) = ((a + b) / 2.0, (a * b).sqrt());
        ratios.push(c / a);
    }
    let quarter = std::f64::consts::FRAC_PI_2 / a;
    let mut phi = 2.0_f64.powi(i32::try_from(ratios.len()).expect("a few")) * a * u;
    for ratio in ratios.iter().rev() {
        phi = (phi + (ratio * phi.sin()).asin()) / 2.0;
    }
    (phi.sin(), quarter)
}

/// Pendulum of 1 m released at rest from (-1, 0): the angle from the vertical is `-2 asin(k sn(K + w t))`, k^2 = 1/2.
fn pendulum(t: f64) -> Vector3<f64> {
    let (m, w) = (0.5_f64, 9.81_f64.sqrt());
    let (_, quarter) = jacobi_sn(0.0, m);
    let (sn, _) = jacobi_sn(quarter + w * t, m);
    let angle = -2.0 * (m.sqrt() * sn).asin();
    Vector3::new(angle.sin(), -angle.cos(), 0.0)
}

#[test]
fn closed_form_of_the_pendulum_agrees_with_the_table() {
    let (_, quarter) = jacobi_sn(0.0, 0.5);
    let period = 4.0 * quarter / 9.81_f64.sqrt();
    assert!((period - 2.367_841_947_576_237_4).abs() < 1e-15 * 10.0, "{period}");
    let expected = table("A01_simple_pendulum");
    assert_eq!(expected.rows.len(), 201);
    for row in &expected.rows {
        // Seventeen digits are given; the phase w t <= 32 rounds to a few 1e-15.
        let error = (pendulum(row[0]) - Vector3::new(row[1], row[2], 0.0)).norm();
        assert!(error < 1e-13, "t = {}: {error:e}", row[0]);
    }
}

/// The largest error of a run: at single times the leading terms of amplitude and phase may cancel.
#[test]
fn simple_pendulum_against_its_closed_form() {
    let loaded = load_library("simple_pendulum");
    for_all_methods(|method| {
        let [errors] = halved(4e-4, |h| {
            let mut error = 0.0_f64;
            watch(&loaded, Steps { method, h, until: 2.0 }, |snapshot| {
                error = error.max((snapshot.state.x(0) - pendulum(snapshot.state.t)).norm());
            });
            [error]
        });
        check_first_order("simple pendulum", method, errors);
    });
}
