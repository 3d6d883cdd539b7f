//! Splitting and variational steppers on bodies without constraints: orders, golden values, invariants, structure.

#[expect(dead_code, reason = "each test binary uses a part of the common models")]
mod common;

use common::runs::{
    distances, energy, free_body, heavy_top, measure, momentum, order, run, run_watched, spherical_pendulum, stepper,
    tilted, turning,
};
use common::{Load, Model, Spring};
use mbdsl_runtime::error::StepErrorKind;
use mbdsl_runtime::so3::{exp, log};
use mbdsl_runtime::state::State;
use mbdsl_runtime::steppers::name::StepperName;
use mbdsl_runtime::steppers::{AnyStepper, Stepper};
use mbdsl_runtime::system::System;
use mbdsl_runtime::topology::{Body, BodyKind};
use nalgebra::{Matrix3, Vector3};

type V3 = Vector3<f64>;
type Case = (Model, State);

/// Drifts for bodies of any shape.
const GENERAL: [&str; 5] =
    ["splitting_dlm", "splitting_dlm_cayley", "splitting_exact", "variational_rrp", "variational_dmv"];

/// Drifts for spherical bodies, those for all among them.
const SPHERICAL: [&str; 7] = [
    "splitting_dlm",
    "splitting_dlm_cayley",
    "splitting_exact",
    "variational_rrp",
    "variational_dmv",
    "variational_exp",
    "variational_cayley",
];

/// The end of a motion to fifteen digits, by an independent program with 80-bit numbers: `pi` and the third row of `R`.
struct Golden {
    case: Case,
    until: f64,
    pi: [f64; 3],
    row: [f64; 3],
}

fn golden() -> [Golden; 3] {
    [
        Golden {
            case: free_body(),
            until: 20.0,
            pi: [-0.396630306441669, -2.07017261761106, -0.858527654362608],
            row: [0.0504577360885038, 0.7802391712681451, -0.6234427419479843],
        },
        Golden {
            case: heavy_top(),
            until: 10.0,
            pi: [0.410951073123194, -0.286510321755088, 2.165204423040444],
            row: [-0.4941669726352632, -0.7200558131905805, 0.487153599029044],
        },
        Golden {
            case: spherical_pendulum(),
            until: 10.0,
            pi: [-0.551812314152617, 0.499917199463016, 0.18967065738427],
            row: [0.3024111185022505, 0.6880494766062735, 0.6596479615280038],
        },
    ]
}

#[test]
fn golden_values() {
    for (k, golden) in golden().iter().enumerate() {
        // Round-off of some 1e4 turns.
        for name in if k == 2 { &SPHERICAL[..] } else { &GENERAL[..] } {
            let s = run(&golden.case, &format!("{name}+kahan_li8"), 0.02, golden.until);
            let pi = (momentum(&golden.case.0, &s, 0) - V3::from(golden.pi)).amax();
            let row = (s.r(0).row(2).transpose() - V3::from(golden.row)).amax();
            println!("{k} {name}: pi {pi:.1e}, row {row:.1e}");
            assert!(pi.max(row) < 1e-11, "case {k}, {name}: pi {pi:e}, row {row:e}");
        }
    }
}

/// Errors of angle and momentum at the end, and the largest error of the energy.
fn errors((case, reference): (&Case, &State), name: &str, h: f64, until: f64) -> [f64; 3] {
    let start = energy(&mut case.0.clone(), &case.1);
    let mut largest: f64 = 0.0;
    let steps = (until / h).round();
    let end = run_watched(case, name, until / steps, steps as u32, |model, s, _| {
        largest = largest.max((energy(model, s) - start).abs());
    });
    let [_, angle, _, pi] = distances(&case.0, &end, reference);
    [angle, pi, largest]
}

/// Angle, momentum and energy are of order 2 where a step turns the body by at most a twentieth.
#[test]
fn order_two() {
    for (case, names) in
        [(free_body(), &GENERAL[..]), (heavy_top(), &GENERAL[..]), (spherical_pendulum(), &SPHERICAL[..])]
    {
        let until = 10.0;
        let reference = run(&case, "splitting_dlm+kahan_li8", 0.01, until);
        let rate = case.1.omega(0).norm();
        for name in names {
            let [coarse, fine] = [0.04, 0.02].map(|a| errors((&case, &reference), name, a / rate, until));
            let orders: [f64; 3] = core::array::from_fn(|k| order(coarse[k], fine[k]));
            println!("{name}: {orders:.3?} of {fine:?}");
            for (k, order) in orders.iter().enumerate() {
                // Exact: nothing but the kicks has errors. DMV keeps the energy of a free body.
                let is_exact = fine[k] < 1e-11;
                assert!(is_exact || (1.9..2.1).contains(order), "{name}: {orders:?} of {fine:?}");
            }
        }
    }
}

/// Compositions have the orders 4, 6 and 8, whatever the drift.
#[test]
fn orders_of_compositions() {
    let case = heavy_top();
    let until = 4.0;
    let reference = run(&case, "splitting_dlm+kahan_li8", 0.005, until);
    let check = |name: &str, steps: [f64; 2], range: core::ops::Range<f64>| {
        let [coarse, fine] = steps.map(|h| distances(&case.0, &run(&case, name, h, until), &reference)[1]);
        println!("{name}: {:.3} of {fine:.1e}", order(coarse, fine));
        assert!(fine > 1e-12, "{name}: {fine:e} is round-off");
        assert!(range.contains(&order(coarse, fine)), "{name}: {} of {fine:e}", order(coarse, fine));
    };
    for drift in ["splitting_dlm", "splitting_dlm_cayley", "splitting_exact"] {
        check(&format!("{drift}+yoshida4"), [0.05, 0.025], 3.8..4.2);
        check(&format!("{drift}+suzuki4"), [0.05, 0.025], 3.8..4.2);
        check(&format!("{drift}+kahan_li6"), [0.05, 0.025], 5.8..6.2);
        check(&format!("{drift}+kahan_li8"), [0.2, 0.1], 7.6..8.3);
        check(&format!("{drift}+sofroniou_spaletta6"), [0.1, 0.05], 5.8..6.2);
        // Between the tenth power of h, which still counts, and round-off.
        check(&format!("{drift}+sofroniou_spaletta8"), [0.26, 0.13], 7.6..9.2);
    }
    for drift in ["variational_rrp", "variational_dmv"] {
        check(&format!("{drift}+yoshida4"), [0.025, 0.0125], 3.8..4.2);
        check(&format!("{drift}+suzuki4"), [0.025, 0.0125], 3.8..4.2);
        check(&format!("{drift}+kahan_li6"), [0.025, 0.0125], 5.8..6.2);
        check(&format!("{drift}+kahan_li8"), [0.06, 0.03], 7.6..8.3);
    }
}

/// A body with its principal axes anywhere.
fn tilted_body() -> Case {
    let mut model = Model::new(0.0);
    let turn = exp(&V3::new(0.4, -1.1, 0.6));
    let inertia = turn * Matrix3::from_diagonal(&V3::new(2.1, 0.9, 1.7)) * turn.transpose();
    model.body(Body { kind: BodyKind::Rigid, mass: 2.0, inertia });
    let mut s = State::new(1, 0);
    s.set_r(0, &tilted());
    s.set_omega(0, &V3::new(0.8, -0.5, 0.9));
    (model, s)
}

/// `|pi|` and `R pi` of a free body over 3200 and over a million steps.
#[test]
fn free_bodies_keep_their_momentum() {
    let asymmetric = turning([0.7, 1.9, 1.3], tilted(), [1.1, -0.4, 0.8]);
    let flat = turning([3.0, 1.6, 1.5], tilted(), [-0.3, 1.4, 2.0]);
    let ball = turning([0.8; 3], tilted(), [0.4, -0.3, 0.7]);
    let cases: [(&str, &Case, u32, f64, f64); 13] = [
        ("splitting_dlm", &asymmetric, 1_000_000, 0.02, 1e-12),
        ("splitting_dlm", &flat, 1_000_000, 0.1, 1e-12),
        ("splitting_dlm", &tilted_body(), 1_000_000, 0.05, 1e-12),
        ("splitting_dlm_cayley", &asymmetric, 1_000_000, 0.02, 1e-12),
        ("splitting_dlm_cayley", &flat, 1_000_000, 0.1, 1e-12),
        ("splitting_dlm", &free_body(), 3200, 0.02, 5e-14),
        ("splitting_dlm_cayley", &free_body(), 3200, 0.02, 5e-14),
        ("splitting_exact", &asymmetric, 1_000_000, 0.02, 1e-12),
        ("variational_rrp", &asymmetric, 1_000_000, 0.02, 1e-12),
        ("variational_dmv", &asymmetric, 1_000_000, 0.02, 1e-12),
        ("variational_rrp", &ball, 1_000_000, 0.02, 1e-12),
        ("variational_exp", &ball, 1_000_000, 0.02, 1e-12),
        ("variational_cayley", &ball, 1_000_000, 0.02, 1e-12),
    ];
    for (name, case, steps, h, bound) in cases {
        let pi = momentum(&case.0, &case.1, 0);
        let l = case.1.r(0) * pi;
        let kinetic = energy(&mut case.0.clone(), &case.1);
        let (mut casimir, mut spatial, mut drift) = (0.0_f64, 0.0_f64, 0.0_f64);
        let mut n = 0;
        run_watched(case, name, h, steps, |model, s, _| {
            n += 1;
            if n % 16 == 0 {
                let now = momentum(model, s, 0);
                casimir = casimir.max((now.norm() / pi.norm() - 1.0).abs());
                spatial = spatial.max((s.r(0) * now - l).norm() / l.norm());
                drift = drift.max((0.5 * now.dot(&s.omega(0)) / kinetic - 1.0).abs());
            }
        });
        println!("{name}, {steps} steps of {h}: |pi| {casimir:.1e}, R pi {spatial:.1e}, energy {drift:.1e}");
        assert!(casimir < bound && spatial < bound, "{name}: |pi| {casimir:e}, R pi {spatial:e}");
        if name == "variational_dmv" {
            assert!(drift < 1e-12, "{name}: energy {drift:e}");
        }
    }
}

/// Energy has no trend in a million steps, falls by four with half the step, and the vertical momentum stays.
#[test]
fn tops_keep_their_energy_without_a_trend() {
    for (case, name, h) in [
        (heavy_top(), "splitting_dlm", 0.05),
        (spherical_pendulum(), "variational_exp", 0.05),
        (spherical_pendulum(), "variational_rrp", 0.05),
    ] {
        let steps = 1_000_000;
        let start = energy(&mut case.0.clone(), &case.1);
        let vertical = |model: &Model, s: &State| (s.r(0) * momentum(model, s, 0)).z;
        let before = vertical(&case.0, &case.1);
        let (mut sums, mut largest, mut moved, mut n) = ([0.0; 2], 0.0_f64, 0.0_f64, 0);
        run_watched(&case, name, h, steps, |model, s, _| {
            let inertia = model.topology.bodies[0].inertia;
            let now = 0.5 * s.omega(0).dot(&(inertia * s.omega(0))) + model.potential(s) - start;
            largest = largest.max(now.abs());
            moved = moved.max((vertical(model, s) - before).abs());
            if n < steps / 10 {
                sums[0] += now;
            } else if n >= steps - steps / 10 {
                sums[1] += now;
            }
            n += 1;
        });
        let trend = (sums[1] - sums[0]).abs() / f64::from(steps / 10) / largest;
        println!("{name}: trend {trend:.1e} of {largest:.1e}, vertical momentum {moved:.1e}");
        assert!(trend < 1e-2, "{name}: {trend:e}");
        assert!(moved < 2e-12, "{name}: {moved:e}");
        let [_, _, coarse] = errors((&case, &case.1), name, h, 200.0);
        let [_, _, fine] = errors((&case, &case.1), name, 0.5 * h, 200.0);
        assert!((3.6..4.4).contains(&(coarse / fine)), "{name}: {coarse:e} and {fine:e}");
    }
}

/// Back by the same step of the other sign.
#[test]
fn reversible() {
    for (case, names) in
        [(heavy_top(), &GENERAL[..]), (spherical_pendulum(), &SPHERICAL[..]), (dragged(), &GENERAL[..])]
    {
        for name in names.iter().flat_map(|name| [(*name).to_owned(), format!("{name}+kahan_li8")]) {
            let (mut model, mut s) = case.clone();
            let mut stepper = stepper(&model, &name);
            stepper.step(&mut model, &mut s, 0.05, 0.05).expect("converges");
            stepper.step(&mut model, &mut s, -0.05, 0.0).expect("converges");
            for d in distances(&model, &s, &case.1) {
                assert!(d < 1e-14, "{name}: {d:e}");
            }
        }
    }
}

/// A map of a body's attitude and momentum, perturbed by `(eta, dpi)`.
fn mapped(case: &Case, step: &dyn Fn(&mut Model, &mut State), d: &[f64; 6]) -> State {
    let (mut model, mut s) = case.clone();
    let inertia = model.topology.bodies[0].inertia;
    s.set_r(0, &(s.r(0) * exp(&V3::new(d[0], d[1], d[2]))));
    s.set_omega(0, &(s.omega(0) + inertia.try_inverse().expect("positive") * V3::new(d[3], d[4], d[5])));
    step(&mut model, &mut s);
    s
}

/// Largest change of the symplectic form `dpi1 . eta2 - dpi2 . eta1 + eta1 . (pi x eta2)` by a map.
fn symplectic_defect(case: &Case, step: &dyn Fn(&mut Model, &mut State)) -> f64 {
    let form = |pi: V3| {
        let mut m = nalgebra::Matrix6::zeros();
        m.fixed_view_mut::<3, 3>(0, 0).copy_from(&mbdsl_runtime::so3::skew(&pi));
        m.fixed_view_mut::<3, 3>(0, 3).copy_from(&-Matrix3::identity());
        m.fixed_view_mut::<3, 3>(3, 0).copy_from(&Matrix3::identity());
        m
    };
    let delta = 1e-5;
    let mut derivative = nalgebra::Matrix6::zeros();
    for k in 0..6 {
        let at = |sign: f64| {
            let mut d = [0.0; 6];
            d[k] = sign * delta;
            mapped(case, step, &d)
        };
        let (plus, minus) = (at(1.0), at(-1.0));
        let eta = log(&(minus.r(0).transpose() * plus.r(0))) / (2.0 * delta);
        let dpi = (momentum(&case.0, &plus, 0) - momentum(&case.0, &minus, 0)) / (2.0 * delta);
        for i in 0..3 {
            derivative[(i, k)] = eta[i];
            derivative[(3 + i, k)] = dpi[i];
        }
    }
    let end = mapped(case, step, &[0.0; 6]);
    // The middle of two perturbed attitudes is the attitude up to the second order.
    let after = derivative.transpose() * form(momentum(&case.0, &end, 0)) * derivative;
    (after - form(momentum(&case.0, &case.1, 0))).amax()
}

/// An explicit Lie-group midpoint rule, which is not symplectic.
fn runge_kutta(model: &mut Model, s: &mut State, h: f64) {
    let inertia = model.topology.bodies[0].inertia;
    let inverse = inertia.try_inverse().expect("positive");
    let mut q = [0.0; 6];
    model.forces(s, &mut q);
    let rate = |omega: V3, q: &[f64; 6]| inverse * (V3::new(q[3], q[4], q[5]) - omega.cross(&(inertia * omega)));
    let mut middle = s.clone();
    middle.set_r(0, &(s.r(0) * exp(&(s.omega(0) * (0.5 * h)))));
    middle.set_omega(0, &(s.omega(0) + rate(s.omega(0), &q) * (0.5 * h)));
    model.forces(&middle, &mut q);
    s.set_r(0, &(s.r(0) * exp(&(middle.omega(0) * h))));
    s.set_omega(0, &(s.omega(0) + rate(middle.omega(0), &q) * h));
}

/// The symplectic form is kept to the noise of differences; a method that is not symplectic fails by far.
#[test]
fn symplectic() {
    for (case, names) in [(heavy_top(), &GENERAL[..]), (spherical_pendulum(), &SPHERICAL[..])] {
        let h = 0.3;
        for name in names {
            // DMV has no solution for turns of one radian.
            let h = if *name == "variational_dmv" { 0.1 } else { h };
            let step = |model: &mut Model, s: &mut State| {
                stepper(model, name).step(model, s, h, h).expect("converges");
            };
            let defect = symplectic_defect(&case, &step);
            println!("{name}: {defect:.1e}");
            assert!(defect < 1e-8, "{name}: {defect:e}");
        }
        let control = symplectic_defect(&case, &|model, s| runge_kutta(model, s, h));
        assert!(control > 1e-3, "{control:e}");
    }
}

/// `xi` of `cay(xi) = R0^T R1`.
fn rescaled_rodrigues(r0: &Matrix3<f64>, r1: &Matrix3<f64>) -> V3 {
    let f = r0.transpose() * r1;
    let off = V3::new(f[(2, 1)] - f[(1, 2)], f[(0, 2)] - f[(2, 0)], f[(1, 0)] - f[(0, 1)]);
    off * (2.0 / (1.0 + f.trace()))
}

/// Discrete kinetic Lagrangians times `h`.
fn lagrangian(name: &str, inertia: &Matrix3<f64>, r0: &Matrix3<f64>, r1: &Matrix3<f64>) -> f64 {
    let xi = rescaled_rodrigues(r0, r1);
    let j = inertia[(0, 0)];
    match name {
        "variational_rrp" => 0.5 * xi.dot(&(inertia * xi)),
        "variational_dmv" => {
            let other = Matrix3::identity() * (0.5 * inertia.trace()) - inertia;
            other.trace() - (r0.transpose() * r1 * other).trace()
        }
        "variational_exp" => 0.5 * j * log(&(r0.transpose() * r1)).norm_squared(),
        "variational_cayley" => 2.0 * j * (0.25 * xi.norm_squared()).ln_1p(),
        other => panic!("no Lagrangian for {other}"),
    }
}

/// Derivative of the discrete action by the middle one of three attitudes of a trajectory.
fn action_slope(case: &Case, name: &str, of: &str, h: f64) -> f64 {
    let mut attitudes = vec![case.1.r(0)];
    run_watched(case, name, h, 12, |_, s, _| attitudes.push(s.r(0)));
    let (mut model, mut s) = case.clone();
    let inertia = model.topology.bodies[0].inertia;
    let mut largest: f64 = 0.0;
    for window in attitudes.windows(3) {
        for axis in 0..3 {
            let delta = 1e-5;
            let mut action = |size: f64| {
                let middle = window[1] * exp(&V3::ith(axis, size));
                s.set_r(0, &middle);
                (lagrangian(of, &inertia, &window[0], &middle) + lagrangian(of, &inertia, &middle, &window[2])) / h
                    - h * model.potential(&s)
            };
            largest = largest.max(((action(delta) - action(-delta)) / (2.0 * delta)).abs());
        }
    }
    largest
}

/// Trajectories of the variational steppers make the discrete action stationary; those of others do not.
#[test]
fn discrete_action_is_stationary() {
    let h = 0.1;
    for (case, names) in [
        (heavy_top(), &["variational_rrp", "variational_dmv"][..]),
        (spherical_pendulum(), &["variational_rrp", "variational_dmv", "variational_exp", "variational_cayley"][..]),
    ] {
        for name in names {
            let slope = action_slope(&case, name, name, h);
            println!("{name}: {slope:.1e}");
            assert!(slope < 1e-8, "{name}: {slope:e}");
            let other = if *name == "variational_rrp" { "variational_dmv" } else { "variational_rrp" };
            let control = action_slope(&case, name, other, h);
            assert!(control > 1e-5, "{name} as {other}: {control:e}");
        }
    }
    assert!(action_slope(&heavy_top(), "splitting_dlm", "variational_rrp", h) > 1e-5);
}

/// Springs with dampers, drag of both kinds and a push in time on bodies and a particle.
fn dragged() -> Case {
    let mut model = Model::new(1.0);
    let mut s = State::new(3, 0);
    model.rigid(2.0, [0.1, 0.2, 0.25]);
    model.particle(1.0);
    model.rigid(3.0, [0.3, 0.2, 0.25]);
    model.spring(Spring { a: 0, b: 1, stiffness: 30.0, damping: 2.0 });
    model.spring(Spring { a: 1, b: 2, stiffness: 20.0, damping: 0.5 });
    model.load(Load::Drag { body: 0, linear: 0.3, quadratic: 0.4, spin: 0.05 });
    model.load(Load::Drag { body: 1, linear: 0.0, quadratic: 0.5, spin: 0.0 });
    model.load(Load::Shake { body: 2, amplitude: V3::new(1.0, 2.0, 0.5), rate: 3.0 });
    model.load(Load::Pivot { body: 0, arm: V3::new(0.1, 0.0, 0.2), force: V3::new(0.0, 1.0, -1.0) });
    s.set_x(1, &V3::new(0.3, 1.0, 0.2));
    s.set_x(2, &V3::new(0.6, -0.5, 0.0));
    s.set_v(1, &V3::new(0.3, -1.0, 0.5));
    s.set_omega(0, &V3::new(1.0, -2.0, 3.0));
    s.set_omega(2, &V3::new(0.4, 1.0, -1.0));
    (model, s)
}

/// Forces of velocities and of time change neither the order nor those of compositions.
#[test]
fn order_with_drag_and_time() {
    let case = dragged();
    let until = 1.0;
    let reference = run(&case, "splitting_exact+kahan_li8", 0.005, until);
    for (suffix, steps, range) in [
        ("", [0.01, 0.005], 1.9..2.1),
        ("+yoshida4", [0.02, 0.01], 3.8..4.2),
        ("+suzuki4", [0.02, 0.01], 3.8..4.2),
        // Even powers of h above the sixth still count here.
        ("+kahan_li6", [0.04, 0.02], 5.8..6.5),
    ] {
        for drift in ["splitting_dlm", "variational_dmv"] {
            let name = format!("{drift}{suffix}");
            let [coarse, fine] = steps.map(|h| distances(&case.0, &run(&case, &name, h, until), &reference));
            for k in 0..4 {
                let order = order(coarse[k], fine[k]);
                println!("{name} {k}: {order:.3} of {:.1e}", fine[k]);
                assert!(fine[k] > 1e-13 && range.contains(&order), "{name} {k}: {order} of {:e}", fine[k]);
            }
        }
    }
}

/// Drag far beyond what an explicit method would bear: what is left of a velocity in a step is `(1 - z)/(1 + z)`.
#[test]
fn stiff_drag_is_solved() {
    let mut model = Model::new(0.0);
    model.particle(1.0);
    model.load(Load::Drag { body: 0, linear: 1e4, quadratic: 0.0, spin: 0.0 });
    let mut s = State::new(1, 0);
    s.set_v(0, &V3::x());
    let mut stepper = stepper(&model, "splitting_dlm");
    let report = stepper.step(&mut model, &mut s, 0.01, 0.01).expect("linear");
    let z = 0.5 * 0.01 * 1e4;
    // Forces are known up to z times the round-off of the speed z in the middle.
    assert!((s.v(0).x - (1.0 - z) / (1.0 + z)).abs() < 4.0 * f64::EPSILON * z * z, "{}", s.v(0));
    assert!(report.iterations <= 2, "{report:?}");
}

/// The motion does not depend on where the body axes are.
#[test]
fn principal_axes_do_not_matter() {
    for name in GENERAL {
        let turn = exp(&V3::new(0.4, -1.1, 0.6));
        let moments = V3::new(2.1, 0.9, 1.7);
        let mut ends = Vec::new();
        for axes in [Matrix3::identity(), turn] {
            let mut model = Model::new(0.0);
            let inertia = axes * Matrix3::from_diagonal(&moments) * axes.transpose();
            model.body(Body { kind: BodyKind::Rigid, mass: 2.0, inertia });
            model.load(Load::Pivot { body: 0, arm: axes * V3::new(0.1, 0.3, -0.2), force: V3::z() * -2.0 });
            let mut s = State::new(1, 0);
            s.set_r(0, &(tilted() * axes.transpose()));
            s.set_omega(0, &(axes * V3::new(0.8, -0.5, 0.9)));
            let end = run(&(model, s), name, 0.05, 5.0);
            ends.push((end.r(0) * axes, axes.transpose() * end.omega(0)));
        }
        assert!((ends[0].0 - ends[1].0).amax() < 1e-13 && (ends[0].1 - ends[1].1).amax() < 1e-13, "{name}");
    }
}

/// Momenta of a model without outer forces, and its acceleration at the end of a step.
#[test]
fn springs_keep_both_momenta() {
    for name in GENERAL {
        let (mut model, s) = dragged();
        (model.gravity, model.loads) = (V3::zeros(), Vec::new());
        model.springs.iter_mut().for_each(|spring| spring.damping = 0.0);
        let case = (model, s);
        let mut before = None;
        run_watched(&case, name, 0.01, 1000, |model, s, stepper| {
            let m = measure(model, s, stepper);
            let (p, l) = *before.get_or_insert((m.momentum, m.angular_momentum));
            assert!((m.momentum - p).amax() < 1e-13 && (m.angular_momentum - l).amax() < 1e-13, "{name}");
        });
    }
    let case = heavy_top();
    let (mut a, mut v) = (V3::zeros(), Vec::new());
    let h = 1e-4;
    run_watched(&case, "splitting_dlm", h, 3, |_, s, stepper| {
        v.push(s.omega(0));
        if v.len() == 2 {
            a = V3::from_column_slice(&stepper.acceleration()[3..]);
        }
    });
    assert!((a - (v[2] - v[0]) / (2.0 * h)).amax() < 1e-6, "{a}");
}

/// What a drift cannot do is said, and the state stays.
#[test]
fn refusals() {
    let unsuited = |name: &str, model: &Model| {
        let name: StepperName = name.parse().expect("a stepper");
        AnyStepper::new(model.topology(), name).err().map(|e| e.message(|_| "rotor".to_owned()))
    };
    let (top, _) = heavy_top();
    for name in ["variational_exp+suzuki4", "variational_cayley"] {
        let message = unsuited(name, &top).expect("not spherical");
        assert!(message.starts_with(&format!("`{name}` moves bodies with three equal")), "{message}");
        assert!(message.contains("`rotor`"), "{message}");
    }
    assert_eq!(unsuited("variational_exp", &spherical_pendulum().0), None);

    let (mut model, mut s) = free_body();
    let before = s.clone();
    let mut dmv = stepper(&model, "variational_dmv");
    let error = dmv.step(&mut model, &mut s, 5.0, 5.0).expect_err("five radians");
    assert_eq!(error.kind, StepErrorKind::TurnsTooFar { body: "body[0]".into() });
    assert!(error.to_string().ends_with("`body[0]` turns too far in one step; try a smaller step"), "{error}");
    assert_eq!(s, before);
    // It goes on as if nothing had happened.
    dmv.step(&mut model, &mut s, 0.01, 0.01).expect("a small step");
    let mut fresh = before.clone();
    stepper(&model, "variational_dmv").step(&mut model, &mut fresh, 0.01, 0.01).expect("a small step");
    assert_eq!(s, fresh);

    for (name, value) in GENERAL.iter().flat_map(|name| [(name, V3::zeros()), (name, V3::x() * f64::INFINITY)]) {
        s.set_v(0, &V3::new(f64::NAN, 0.0, 0.0));
        s.set_omega(0, &value);
        let before = s.z.clone();
        let error = stepper(&model, name).step(&mut model, &mut s, 0.01, 0.02).expect_err("not a number");
        assert_eq!(error.kind, StepErrorKind::NonFinite, "{name}");
        assert!(s.z.iter().zip(&before).all(|(a, b)| a.to_bits() == b.to_bits()));
    }
}
