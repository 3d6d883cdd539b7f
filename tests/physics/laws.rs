//! Laws of mechanics that hold whatever the numbers are: momentum, energy and spin of free bodies, moving observers,
//! rotations that stay rotations.

use mbdsl_runtime::nalgebra::{Matrix3, Vector3};
use mbdsl_runtime::steppers::method::Method;

use crate::rig::{Steps, check_first_order, for_all_methods, halved, load, run, watch};

/// A body that tumbles through empty space.
const FREE: &str = "
model Free {
    param v = [1, -2, 3] [m/s];
    param w = [2, 4, 6] [rad/s];
    param J = diag([5.2988, 1.1775, 4.3568] [kg*m^2]);
    body b { mass = 2 kg; inertia = J; pos = [0.3, 0, -1] m; rot = about([1, 1, 0], 50 deg); vel = v; omega = w; }
    simulate { stepper = dae1l_lse; step = 1 ms; until = 1 s; }
}
";

/// Without forces the momentum equation is `M (v1 - v0) = 0`: not even rounding changes it.
#[test]
fn free_body_keeps_its_linear_momentum_exactly() {
    let loaded = load(FREE, &[]);
    for method in Method::ALL {
        let start = Vector3::new(2.0, -4.0, 6.0);
        let outcome = watch(&loaded, Steps { method, h: 1e-3, until: 1.0 }, |s| {
            assert_eq!(s.measures.momentum, start, "{method} at {} s", s.state.t);
        });
        let end = Vector3::new(0.3, 0.0, -1.0) + Vector3::new(1.0, -2.0, 3.0);
        // A thousand sums of numbers below 4, each rounded by half a unit of 4.4e-16.
        assert!((outcome.state.x(0) - end).amax() < 1000.0 * 4.5e-16, "{method}");
    }
}

/// Spatial angular momentum and energy drift by O(h); the spin follows a reference computed by an independent program.
#[test]
fn free_body_keeps_spin_and_energy_to_first_order() {
    let loaded = load(FREE, &[]);
    let exact = Vector3::new(-4.793_398_394_209, 6.426_668_269_973, 2.466_170_727_012);
    for_all_methods(|method| {
        let errors = halved(2e-4, |h| {
            let (mut first, mut spin) = (None, 0.0_f64);
            let outcome = watch(&loaded, Steps { method, h, until: 0.5 }, |s| {
                let l = s.measures.angular_momentum;
                spin = spin.max((l - *first.get_or_insert(l)).norm());
            });
            // T = w J w / 2 + m v^2 / 2 = 98.44 / 2 + ..., |J w| = 28.597808489463: both of the start, to round-off.
            assert!((first.expect("the start is shown").norm() - 28.597_808_489_463).abs() < 1e-12);
            assert!((outcome.energy_start - 98.44 - 14.0).abs() < 1e-12);
            [(outcome.state.omega(0) - exact).norm(), outcome.extremes.energy, spin]
        });
        for (what, errors) in ["omega", "energy", "angular momentum"].into_iter().zip(errors) {
            check_first_order(&format!("free body, {what}"), method, errors);
        }
    });
}

/// Case 23: a body that spins about a principal axis keeps doing so, and turns by exactly the angle `w t`.
#[test]
fn uniform_motion_is_exact() {
    let loaded = load(FREE, &["v=[0.5,0.25,-1] m/s", "w=[0,0,3] rad/s"]);
    let start = mbdsl_runtime::so3::exp(&(Vector3::new(1.0, 1.0, 0.0).normalize() * 50_f64.to_radians()));
    for method in Method::ALL {
        let s = run(&loaded, Steps { method, h: 0.01, until: 2.0 }).state;
        let r = start * mbdsl_runtime::so3::exp(&Vector3::new(0.0, 0.0, 6.0));
        // Two hundred steps of a few units of rounding.
        assert!((s.r(0) - r).amax() < 200.0 * 4.0 * f64::EPSILON, "{method}: {} against {r}", s.r(0));
        assert_eq!(s.omega(0), Vector3::new(0.0, 0.0, 3.0), "{method}");
        assert!((s.x(0) - Vector3::new(1.3, 0.5, -3.0)).amax() < 200.0 * 4.5e-16, "{method}");
    }
}

/// Two bodies on a ball joint with a spring and a torque between them, seen by an observer who moves.
const PAIR: &str = "
model Pair {
    param u = [0, 0, 0] [m/s];
    body a { mass = 2 kg; inertia = diag([0.1, 0.2, 0.25] [kg*m^2]);
             point tip = [1, 0, 0] m; point side = [0, 0.5, 0] m;
             vel = fixed(u); omega = fixed([1, -2, 3] [rad/s]); }
    body b { mass = 3 kg; inertia = diag([0.3, 0.2, 0.25] [kg*m^2]); point tip = [-1, 0.5, 0] m; pos = [2, -0.5, 0] m;
             omega = fixed([0.5, 0, -1] [rad/s]); }
    particle c { mass = 1 kg; pos = [0.3, 1, 0.2] m; vel = u + [0, 0.1, 0] [m/s]; }
    joint j: spherical(a.tip, b.tip);
    force pull: spring(a.side, c, k = 300 [N/m], rest = 0.5 m);
    force drag: damper(b.origin, c, c = 2 [N*s/m]);
    force push on a.side, b.origin: [3, -1, 2] [N] * cos(5 [rad/s] * time);
    torque twist on a, b: [0.2, 0.1, -0.3] [N*m];
    output stretch = pull.length;
    simulate { stepper = dae1l_lse; step = 1 ms; until = 0.5 s; }
}
";

/// Joints, springs, dampers, and loads with their reactions are internal: the momentum stays.
#[test]
fn internal_forces_keep_the_momentum() {
    let loaded = load(PAIR, &["u=[1,2,-0.5] m/s"]);
    for_all_methods(|method| {
        let mut first = None;
        watch(&loaded, Steps { method, h: 1e-3, until: 0.5 }, |s| {
            let p = s.measures.momentum;
            let change = (p - *first.get_or_insert(p)).amax();
            // Impulses of a step are below 1 N s and cancel up to rounding, five of them in each of 500 steps.
            assert!(change < 500.0 * 5.0 * f64::EPSILON * 2.0, "{method} at {} s: {change:e}", s.state.t);
        });
    });
}

/// What an observer in uniform motion sees differs by the motion of the observer only.
#[test]
fn moving_observers_see_the_same_motion() {
    let u = Vector3::new(4.0, -2.0, 1.0);
    let (still, moving) = (load(PAIR, &[]), load(PAIR, &["u=[4,-2,1] m/s"]));
    for_all_methods(|method| {
        let steps = Steps { method, h: 1e-3, until: 0.5 };
        let (a, b) = (run(&still, steps), run(&moving, steps));
        for body in 0..3 {
            let x = b.state.x(body) - a.state.x(body) - u * 0.5;
            let v = b.state.v(body) - a.state.v(body) - u;
            let r: Matrix3<f64> = b.state.r(body) - a.state.r(body);
            // Rounding of speeds below 16 m/s and of springs with w h = 0.02 over 500 steps, nothing unstable.
            let error = x.amax().max(v.amax()).max(r.amax());
            assert!(error < 500.0 * 16.0 * f64::EPSILON * 10.0, "{method}, body {body}: {error:e}");
        }
    });
}

/// A million steps of a spherical body: every step turns by the same angle, a small, a large and a very large one.
#[test]
fn rotations_stay_rotations_over_a_million_steps() {
    std::thread::scope(|scope| {
        for turn in [0.0015, 0.15, 1.0] {
            scope.spawn(move || {
                let loaded = load(FREE, &["J=[[1,0,0],[0,1,0],[0,0,1]] kg*m^2", "w=[0.6,-0.48,0.64] rad/s"]);
                let steps = Steps { method: Method::ALL[3], h: turn, until: 1e6 * turn };
                let outcome = run(&loaded, steps);
                assert_eq!(outcome.steps, 1_000_000);
                let worst = outcome.extremes.orthogonality;
                println!("h |Omega| = {turn}: |R^T R - I| <= {worst:.2e}");
                assert!(worst < 1e-12, "h |Omega| = {turn}: {worst:e}");
            });
        }
    });
}
