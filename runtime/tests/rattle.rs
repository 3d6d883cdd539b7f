//! RATTLE around every drift: constraint levels, orders, momenta, structure, dependent rows, moving constraints, failures.

#[expect(dead_code, reason = "each test binary uses a part of the common models")]
mod common;

use core::f64::consts::PI;

use common::runs::{distances, energy, measure, momentum, order, run, run_watched, stepper};
use common::{Joint, Load, Model, Spring};
use mbdsl_runtime::assembly::assemble;
use mbdsl_runtime::error::StepErrorKind;
use mbdsl_runtime::so3::{exp, log};
use mbdsl_runtime::state::State;
use mbdsl_runtime::steppers::Stepper;
use mbdsl_runtime::system::{Jacobian, System};
use nalgebra::{Matrix3, Vector3};

type V3 = Vector3<f64>;
type Case = (Model, State);

const DRIFTS: [&str; 5] =
    ["splitting_dlm", "splitting_dlm_cayley", "splitting_exact", "variational_rrp", "variational_dmv"];

/// Closes the positions, and takes the nearest velocities.
fn assembled(mut model: Model, guess: State) -> Case {
    let (s, _) = assemble(&mut model, guess).expect("consistent");
    (model, s)
}

/// Two particles on a rod, free.
fn dumbbell() -> Case {
    let mut model = Model::new(0.0);
    model.particle(1.0);
    model.particle(3.0);
    model.joint(Joint::Rod { a: 0, b: Ok(1), length: 1.2 });
    let mut s = State::new(2, 0);
    s.set_x(0, &V3::new(0.6, 0.0, 0.0));
    s.set_x(1, &V3::new(-0.6, 0.0, 0.0));
    s.set_v(0, &V3::new(0.3, 1.5, -0.4));
    s.set_v(1, &V3::new(0.3, -0.2, 0.1));
    (model, s)
}

/// Two bodies without symmetry, hung one from the other by ball joints.
fn ball_pendulum() -> Case {
    let mut model = Model::new(9.81);
    model.rigid(1.0, [0.11, 0.07, 0.05]);
    model.rigid(0.7, [0.04, 0.06, 0.08]);
    model.ball((0, [0.1, 0.05, 0.4]), None, [0.0; 3]);
    model.ball((0, [-0.05, 0.0, -0.4]), Some((1, [0.0, 0.1, 0.3])), [0.0; 3]);
    let mut s = State::new(2, 0);
    s.set_r(0, &exp(&V3::new(0.9, 0.2, 0.1)));
    s.set_r(1, &exp(&V3::new(-0.4, 0.7, 0.3)));
    s.set_x(0, &-(s.r(0) * V3::new(0.1, 0.05, 0.4)));
    s.set_x(1, &(s.x(0) + s.r(0) * V3::new(-0.05, 0.0, -0.4) - s.r(1) * V3::new(0.0, 0.1, 0.3)));
    s.set_omega(0, &V3::new(1.0, -0.5, 2.0));
    s.set_omega(1, &V3::new(-2.0, 1.0, 0.5));
    assembled(model, s)
}

/// Two bodies on hinges about a skew axis.
fn hinged_pendulum() -> Case {
    let mut model = Model::new(9.81);
    model.rigid(1.0, [0.11, 0.07, 0.05]);
    model.rigid(0.7, [0.04, 0.06, 0.08]);
    let axis = V3::new(0.3, 1.0, 0.2).normalize();
    model.hinge((0, [0.1, 0.05, 0.4]), None, [0.0; 3], axis);
    model.hinge((0, [-0.05, 0.0, -0.4]), Some((1, [0.0, 0.1, 0.3])), [0.0; 3], axis);
    let mut s = State::new(2, 0);
    s.set_r(0, &exp(&(axis * 0.9)));
    s.set_r(1, &exp(&(axis * -0.4)));
    s.set_x(0, &-(s.r(0) * V3::new(0.1, 0.05, 0.4)));
    s.set_x(1, &(s.x(0) + s.r(0) * V3::new(-0.05, 0.0, -0.4) - s.r(1) * V3::new(0.0, 0.1, 0.3)));
    s.set_omega(0, &(axis * 2.0));
    s.set_omega(1, &(axis * -3.0));
    assembled(model, s)
}

/// Four bodies on ball joints in a closed ring, free.
fn ring() -> Case {
    let mut model = Model::new(0.0);
    let mut s = State::new(4, 0);
    for k in 0..4_u32 {
        model.rigid(1.0 + 0.2 * f64::from(k), [0.08, 0.1, 0.05 + 0.02 * f64::from(k)]);
        let turn = exp(&(V3::z() * (0.5 * PI * f64::from(k)))) * exp(&(V3::x() * (0.2 * f64::from(k))));
        s.set_r(k as usize, &turn);
        s.set_x(k as usize, &(exp(&(V3::z() * (0.5 * PI * f64::from(k)))) * V3::new(0.0, -0.5, 0.0)));
        s.set_omega(k as usize, &(V3::new(0.5 - f64::from(k), 0.3 * f64::from(k), 1.0) * 5.0));
        s.set_v(k as usize, &V3::new(0.2, 2.0 * f64::from(k), -1.3));
    }
    for k in 0..4_u32 {
        model.ball((k, [0.5, 0.0, 0.0]), Some(((k + 1) % 4, [-0.5, 0.0, 0.0])), [0.0; 3]);
    }
    let (model, mut s) = assembled(model, s);
    // Slow, so that coordinates stay small and keep their digits.
    let mass = |b: usize| model.topology.bodies[b].mass;
    let (total, p) = (0..4).fold((0.0, V3::zeros()), |(m, p), b| (m + mass(b), p + s.v(b) * mass(b)));
    for b in 0..4 {
        s.set_v(b, &(s.v(b) - p / total + V3::new(0.1, -0.05, 0.02)));
    }
    (model, s)
}

/// A planar four-bar of three moving bars on four hinges: three rows of twenty are dependent.
fn four_bar() -> Case {
    let mut model = Model::new(9.81);
    let lengths = [0.5, 1.2, 0.9];
    for length in lengths {
        model.rigid(length, [0.01, length * length * length / 12.0 + 0.01, length * length * length / 12.0]);
    }
    // In the x-z plane, about y; the ground link is 1 m long. The coupler's end is where two circles meet.
    let crank = V3::new(0.5 * libm::cos(1.1), 0.0, 0.5 * libm::sin(1.1));
    let far = V3::new(1.0, 0.0, 0.0) - crank;
    let (d, a, b) = (far.norm(), lengths[1], lengths[2]);
    let along = (a * a - b * b + d * d) / (2.0 * d);
    let across = libm::sqrt(a * a - along * along);
    let end = crank + far * (along / d) + V3::new(-far.z, 0.0, far.x) * (across / d);
    let axis = V3::y();
    let mut s = State::new(3, 0);
    for (k, (from, to)) in [(V3::zeros(), crank), (crank, end), (V3::new(1.0, 0.0, 0.0), end)].iter().enumerate() {
        let d = to - from;
        s.set_r(k, &exp(&(axis * -libm::atan2(d.z, d.x))));
        s.set_x(k, &((from + to) * 0.5));
    }
    let half = |k: usize, sign: f64| [0.5 * sign * lengths[k], 0.0, 0.0];
    model.hinge((0, half(0, -1.0)), None, [0.0; 3], axis);
    model.hinge((0, half(0, 1.0)), Some((1, half(1, -1.0))), [0.0; 3], axis);
    model.hinge((1, half(1, 1.0)), Some((2, half(2, 1.0))), [0.0; 3], axis);
    model.hinge((2, half(2, -1.0)), None, [1.0, 0.0, 0.0], axis);
    let (model, s) = assembled(model, s);
    (model, s)
}

/// Largest `|Phi|` relative to the coordinates, and largest `|B V + Phi_t|`, over all rows.
fn residuals(model: &mut Model, s: &State, stepper: &mbdsl_runtime::steppers::AnyStepper) -> [f64; 2] {
    let far = (0..s.len()).map(|b| s.x(b).amax()).fold(1.0, f64::max);
    let m = measure(model, s, stepper);
    [m.position_residual / far, m.velocity_residual]
}

/// Constraints hold to round-off after every step, and three or four iterations do.
#[test]
fn constraints_hold_to_roundoff() {
    for (what, case, bound) in [
        ("dumbbell", dumbbell(), 2e-15),
        ("ball pendulum", ball_pendulum(), 2e-15),
        ("hinged pendulum", hinged_pendulum(), 2e-15),
        ("ring", ring(), 2e-15),
        ("four-bar", four_bar(), 5e-15),
    ] {
        for name in DRIFTS.iter().flat_map(|drift| [(*drift).to_owned(), format!("{drift}+suzuki4")]) {
            let (mut largest, mut acceleration) = ([0.0_f64; 2], 0.0_f64);
            run_watched(&case, &name, 0.005, 400, |model, s, stepper| {
                for (largest, now) in largest.iter_mut().zip(residuals(model, s, stepper)) {
                    *largest = largest.max(now);
                }
                acceleration = acceleration.max(measure(model, s, stepper).acceleration_residual);
            });
            println!("{what}, {name}: Phi {:.1e}, B V {:.1e}, B A {acceleration:.1e}", largest[0], largest[1]);
            assert!(largest[0] <= bound, "{what}, {name}: Phi {:e}", largest[0]);
            assert!(largest[1] <= 5e-15, "{what}, {name}: B V {:e}", largest[1]);
            assert!(acceleration <= 1e-12, "{what}, {name}: B A {acceleration:e}");
        }
    }
}

/// Newton's method has the exact derivative: two or three updates without a guess, fewer with one.
#[test]
fn few_iterations() {
    for (what, case) in [("ball pendulum", ball_pendulum()), ("hinged pendulum", hinged_pendulum()), ("ring", ring())] {
        for (name, h) in DRIFTS.iter().flat_map(|name| [(*name, 0.01), (*name, 0.001)]) {
            let (mut model, mut s) = case.clone();
            let mut stepper = stepper(&model, name);
            let mut total = 0;
            let mut first = 0;
            for n in 1..=100 {
                let report = stepper.step(&mut model, &mut s, h, f64::from(n) * h).expect("converges");
                assert!(report.iterations <= 4, "{what}, {name}, step {n}: {}", report.iterations);
                total += report.iterations;
                first = if n == 1 { report.iterations } else { first };
            }
            println!("{what}, {name}, {h}: {first} at first, {:.2} on average", f64::from(total as u32) / 100.0);
            // One update where the guess from past steps is good.
            let most = if h < 0.005 { 130 } else { 250 };
            assert!(total <= most, "{what}, {name}, {h}: {total} iterations in 100 steps");
        }
    }
}

/// A free dumbbell turns about its mass centre at a constant rate: the error falls by four, energy and momenta stay.
#[test]
fn dumbbell_by_its_solution() {
    let case = dumbbell();
    let until = 2.0;
    let exact = {
        let (m0, m1) = (1.0, 3.0);
        let s = &case.1;
        let centre = (s.x(0) * m0 + s.x(1) * m1) / (m0 + m1);
        let drift = (s.v(0) * m0 + s.v(1) * m1) / (m0 + m1);
        let d = s.x(0) - s.x(1);
        let rate = (s.v(0) - s.v(1)).cross(&d) * (-1.0 / d.norm_squared());
        let turned = exp(&(rate * until)) * d;
        let centre = centre + drift * until;
        [centre + turned * (m1 / (m0 + m1)), centre - turned * (m0 / (m0 + m1))]
    };
    let error = |h: f64| {
        let s = run(&case, "splitting_dlm", h, until);
        (s.x(0) - exact[0]).norm().max((s.x(1) - exact[1]).norm())
    };
    let (coarse, fine) = (error(0.02), error(0.01));
    assert!((1.9..2.1).contains(&order(coarse, fine)), "{coarse:e} {fine:e}");
    let mut first = None;
    run_watched(&case, "splitting_dlm", 0.01, 800, |model, s, stepper| {
        let m = measure(model, s, stepper);
        let (e, p, l) = *first.get_or_insert((m.energy(), m.momentum, m.angular_momentum));
        assert!((m.energy() - e).abs() < 2e-14 * e && (m.momentum - p).amax() < 2e-14);
        assert!((m.angular_momentum - l).amax() < 2e-14, "{}", m.angular_momentum - l);
    });
}

/// Order 2 in positions, attitudes, velocities, momenta and energy; 4, 6 by compositions.
#[test]
fn orders() {
    let until = 1.0;
    for (what, case) in [
        ("ball pendulum", ball_pendulum()),
        ("hinged pendulum", hinged_pendulum()),
        ("ring", ring()),
        ("four-bar", four_bar()),
    ] {
        let reference = run(&case, "splitting_dlm+kahan_li8", 0.0025, until);
        let check = |name: &str, h: f64, range: core::ops::Range<f64>| {
            let [coarse, fine] = [h, 0.5 * h].map(|h| distances(&case.0, &run(&case, name, h, until), &reference));
            let orders: Vec<f64> = (0..4).map(|k| order(coarse[k], fine[k])).collect();
            println!("{what}, {name}: {orders:.2?} of {fine:?}");
            for (k, order) in orders.iter().enumerate() {
                assert!(range.contains(order), "{what}, {name}: {orders:?} of {fine:?}, {k}");
            }
        };
        for drift in DRIFTS {
            check(drift, 0.0025, 1.9..2.1);
        }
        check("splitting_dlm+yoshida4", 0.005, 3.8..4.2);
        check("splitting_dlm+suzuki4", 0.005, 3.8..4.2);
        check("variational_rrp+suzuki4", 0.0025, 3.8..4.2);
        check("splitting_dlm+kahan_li6", 0.01, 5.6..6.4);
    }
}

/// A free closed ring keeps both momenta; angular momentum about the mass centre.
#[test]
fn ring_keeps_both_momenta() {
    for name in ["splitting_dlm", "variational_rrp", "splitting_dlm+kahan_li6"] {
        let (mut first, mut worst) = (None, [0.0_f64; 2]);
        run_watched(&ring(), name, 0.01, 800, |model, s, stepper| {
            let m = measure(model, s, stepper);
            let (p, l) = *first.get_or_insert((m.momentum, m.angular_momentum));
            let (linear, angular) = ((m.momentum - p).norm(), (m.angular_momentum - l).norm());
            worst[0] = worst[0].max(linear / p.norm());
            worst[1] = worst[1].max(angular / l.norm());
        });
        println!("{name}: {worst:?}");
        assert!(worst[0] < 1e-13 && worst[1] < 1e-13, "{name}: {worst:?}");
    }
}

/// The energy of a double pendulum has no trend, and the constraints hold to the end.
#[test]
fn long_run() {
    for name in ["splitting_dlm", "variational_rrp"] {
        let case = ball_pendulum();
        let start = energy(&mut case.0.clone(), &case.1);
        let (mut sums, mut largest, mut n, mut worst) = ([0.0; 2], 0.0_f64, 0, [0.0_f64; 2]);
        let steps = 40_000;
        run_watched(&case, name, 0.0025, steps, |model, s, stepper| {
            let now = energy(model, s) - start;
            largest = largest.max(now.abs());
            sums[usize::from(n >= steps / 2)] += now;
            n += 1;
            for (worst, now) in worst.iter_mut().zip(residuals(model, s, stepper)) {
                *worst = worst.max(now);
            }
        });
        let trend = (sums[1] - sums[0]).abs() / f64::from(steps / 2);
        println!("{name}: largest {largest:.1e}, trend {trend:.1e}, residuals {worst:?}");
        // Chaotic: means wander by a tenth of the largest error.
        assert!(trend < 0.2 * largest && largest < 3e-2, "{name}: {trend:e} of {largest:e}");
        assert!(worst[0] <= 2e-15 && worst[1] <= 5e-15, "{name}: {worst:?}");
    }
}

/// Back by the same step of the other sign.
#[test]
fn reversible() {
    for (what, case) in [
        ("ball pendulum", ball_pendulum()),
        ("hinged pendulum", hinged_pendulum()),
        ("ring", ring()),
        ("drag", dragged()),
    ] {
        for name in DRIFTS {
            let (mut model, mut s) = case.clone();
            let mut stepper = stepper(&model, name);
            // The start is consistent to round-off only after a step.
            stepper.step(&mut model, &mut s, 0.01, 0.01).expect("converges");
            let before = s.clone();
            stepper.step(&mut model, &mut s, 0.01, 0.02).expect("converges");
            stepper.step(&mut model, &mut s, -0.01, 0.01).expect("converges");
            let d = distances(&model, &s, &before);
            println!("{what}, {name}: {d:?}");
            assert!(d[0] < 1e-14 && d[1] < 1e-14 && d[2] < 1e-13 && d[3] < 1e-14, "{what}, {name}: {d:?}");
        }
    }
}

/// Variations `(dx, dtheta, dv, dpi)` per body between two near states, divided by `size`.
fn variation(model: &Model, plus: &State, minus: &State, size: f64) -> Vec<[V3; 4]> {
    (0..plus.len())
        .map(|b| {
            let theta = log(&(minus.r(b).transpose() * plus.r(b)));
            let pi = momentum(model, plus, b) - momentum(model, minus, b);
            [plus.x(b) - minus.x(b), theta, plus.v(b) - minus.v(b), pi].map(|d| d / size)
        })
        .collect()
}

/// The symplectic form of two variations at a state.
fn form(model: &Model, s: &State, a: &[[V3; 4]], b: &[[V3; 4]]) -> f64 {
    let mut sum = 0.0;
    for (k, (a, b)) in a.iter().zip(b).enumerate() {
        let mass = model.topology.bodies[k].mass;
        sum += mass * (a[2].dot(&b[0]) - b[2].dot(&a[0]));
        sum += a[3].dot(&b[1]) - b[3].dot(&a[1]) - momentum(model, s, k).dot(&a[1].cross(&b[1]));
    }
    sum
}

/// The symplectic form restricted to the constraints is kept, to the noise of differences.
#[test]
fn constrained_form_is_kept() {
    let h = 0.05;
    let case = ball_pendulum();
    let delta = 1e-5;
    // States on the constraints beside the start, by assembly of perturbed ones.
    let beside = |seed: f64, sign: f64| {
        let (mut model, mut s) = case.clone();
        for b in 0..2 {
            let d = |k: f64| sign * delta * libm::sin(seed * (k + 7.0 * b as f64 + 1.0));
            s.set_r(b, &(s.r(b) * exp(&V3::new(d(1.0), d(2.0), d(3.0)))));
            s.set_x(b, &(s.x(b) + V3::new(d(4.0), d(5.0), d(6.0))));
            s.set_omega(b, &(s.omega(b) + V3::new(d(7.0), d(8.0), d(9.0)) * 3.0));
        }
        assemble(&mut model, s).expect("near").0
    };
    for name in DRIFTS {
        let moved = |s: &State| run_watched(&(case.0.clone(), s.clone()), name, h, 1, |_, _, _| {});
        let mut scale: f64 = 0.0;
        for (one, two) in [(1.3, 2.1), (0.7, 1.9), (3.3, 0.4)] {
            let states = [one, two].map(|seed| [beside(seed, 1.0), beside(seed, -1.0)]);
            let before = [0, 1].map(|k| variation(&case.0, &states[k][0], &states[k][1], 2.0 * delta));
            let after = [0, 1].map(|k| variation(&case.0, &moved(&states[k][0]), &moved(&states[k][1]), 2.0 * delta));
            let at_start = form(&case.0, &case.1, &before[0], &before[1]);
            let at_end = form(&case.0, &moved(&case.1), &after[0], &after[1]);
            scale = scale.max(at_start.abs());
            assert!((at_start - at_end).abs() < 1e-7, "{name}: {at_start} and {at_end}");
        }
        assert!(scale > 0.1, "{name}: variations of nothing");
    }
}

/// The discrete action along motions that the constraints allow is stationary for RRP and DMV, and not for DLM.
#[test]
fn discrete_action_is_stationary() {
    let h = 0.01;
    let case = ball_pendulum();
    let kinetic = |of: &str, model: &Model, a: &State, b: &State| {
        let mut sum = 0.0;
        for (k, body) in model.topology.bodies.iter().enumerate() {
            let f = a.r(k).transpose() * b.r(k);
            let off = V3::new(f[(2, 1)] - f[(1, 2)], f[(0, 2)] - f[(2, 0)], f[(1, 0)] - f[(0, 1)]);
            let xi = off * (2.0 / (1.0 + f.trace()));
            sum += 0.5 * body.mass * (b.x(k) - a.x(k)).norm_squared() / h;
            sum += match of {
                "variational_rrp" => 0.5 * xi.dot(&(body.inertia * xi)),
                _ => {
                    let other = Matrix3::identity() * (0.5 * body.inertia.trace()) - body.inertia;
                    other.trace() - (f * other).trace()
                }
            } / h;
        }
        sum
    };
    let slope = |name: &str, of: &str| {
        let mut states = vec![case.1.clone()];
        run_watched(&case, name, h, 8, |_, s, _| states.push(s.clone()));
        let mut model = case.0.clone();
        let (nv, nc) = (12, model.topology.nc());
        let mut jac =
            Jacobian { phi: vec![0.0; nc], phi_t: vec![0.0; nc], b: vec![0.0; model.topology.constraints.jac_len] };
        let mut largest: f64 = 0.0;
        for w in states.windows(3) {
            let delta = 1e-5;
            let mut gradient = nalgebra::DVector::zeros(nv);
            for k in 0..nv {
                let mut action = |size: f64| {
                    let mut s = w[1].clone();
                    let d = V3::ith(k % 3, size);
                    match k % 6 {
                        0..=2 => s.set_x(k / 6, &(s.x(k / 6) + d)),
                        _ => s.set_r(k / 6, &(s.r(k / 6) * exp(&d))),
                    }
                    kinetic(of, &model, &w[0], &s) + kinetic(of, &model, &s, &w[2]) - h * model.potential(&s)
                };
                gradient[k] = (action(delta) - action(-delta)) / (2.0 * delta);
            }
            // Off the constraint forces: the part in the null space of B.
            model.jacobian(&w[1], &mut jac);
            let mut b = nalgebra::DMatrix::zeros(nc, nv);
            for e in &model.topology.constraints.elements {
                for r in 0..e.rows {
                    let mut at = e.jac + r * e.dim;
                    for &body in model.topology.constraints.bodies(e) {
                        for c in 0..6 {
                            b[(e.row + r, 6 * body as usize + c)] = jac.b[at + c];
                        }
                        at += 6;
                    }
                }
            }
            let inverse = (&b * b.transpose()).try_inverse().expect("independent");
            let tangential = &gradient - b.transpose() * (inverse * (&b * &gradient));
            assert!(gradient.amax() > 1e-2, "constraints do nothing");
            largest = largest.max(tangential.amax());
        }
        largest
    };
    for name in ["variational_rrp", "variational_dmv"] {
        let own = slope(name, name);
        println!("{name}: {own:.1e}");
        assert!(own < 1e-8, "{name}: {own:e}");
    }
    let control = slope("splitting_dlm", "variational_rrp");
    assert!(control > 1e-6, "{control:e}");
}

/// A pendulum that is dragged along and shaken, with drag on all of it: moving constraints and forces of velocities.
fn dragged() -> Case {
    let mut model = Model::new(9.81);
    model.rigid(1.0, [0.11, 0.07, 0.05]);
    model.rigid(0.7, [0.04, 0.06, 0.08]);
    model.particle(0.5);
    model.spring(Spring { a: 1, b: 2, stiffness: 20.0, damping: 0.8 });
    let drift = V3::new(0.5, 1.0, -0.3);
    model.joint(Joint::Ball { a: (0, V3::new(0.1, 0.05, 0.4)), b: None, point: V3::zeros(), drift });
    model.ball((0, [-0.05, 0.0, -0.4]), Some((1, [0.0, 0.1, 0.3])), [0.0; 3]);
    model.load(Load::Drag { body: 0, linear: 0.3, quadratic: 0.4, spin: 0.05 });
    model.load(Load::Drag { body: 1, linear: 0.1, quadratic: 0.2, spin: 0.02 });
    model.load(Load::Shake { body: 2, amplitude: V3::new(1.0, 2.0, 0.5), rate: 3.0 });
    let (_, start) = ball_pendulum();
    let mut s = State::new(3, 0);
    for b in 0..2 {
        s.set_x(b, &start.x(b));
        s.set_r(b, &start.r(b));
        s.set_omega(b, &start.omega(b));
    }
    s.set_x(2, &(s.x(1) + V3::new(0.5, 0.2, 0.1)));
    assembled(model, s)
}

/// Moving constraints are followed exactly, with the orders of all other motions.
#[test]
fn moving_constraints_and_drag() {
    let case = dragged();
    let until = 0.8;
    let reference = run(&case, "splitting_exact+kahan_li8", 0.005, until);
    for (suffix, h, range) in [("", 0.0025, 1.9..2.1), ("+yoshida4", 0.005, 3.8..4.2), ("+suzuki4", 0.005, 3.8..4.2)] {
        for drift in ["splitting_dlm", "variational_rrp"] {
            let name = format!("{drift}{suffix}");
            let [coarse, fine] = [h, 0.5 * h].map(|h| distances(&case.0, &run(&case, &name, h, until), &reference));
            for k in 0..4 {
                let order = order(coarse[k], fine[k]);
                assert!(range.contains(&order), "{name} {k}: {order} of {:e}", fine[k]);
            }
            run_watched(&case, &name, 0.01, 80, |model, s, stepper| {
                let [position, velocity] = residuals(model, s, stepper);
                assert!(position <= 2e-15 && velocity <= 5e-15, "{name}: {position:e} {velocity:e}");
                assert!(measure(model, s, stepper).acceleration_residual < 1e-12, "{name}");
            });
        }
    }
}

/// A force that somebody switches on between two steps acts from the start of the next one on, in the motion and in what is reported.
#[test]
fn what_changes_between_steps_is_seen() {
    for (case, name) in [(ball_pendulum(), "splitting_dlm"), (dumbbell(), "variational_rrp+suzuki4")] {
        let (mut model, mut s) = case;
        model.is_changing = true;
        let mut stepper = stepper(&model, name);
        stepper.step(&mut model, &mut s, 0.01, 0.01).expect("converges");
        model.gravity = V3::new(3.0, -5.0, 1.0);
        let fresh = run(&(model.clone(), s.clone()), name, 0.01, 0.01);
        stepper.step(&mut model, &mut s, 0.01, 0.02).expect("converges");
        assert!(distances(&model, &s, &fresh).iter().all(|d| *d < 1e-14), "{name}");
    }
}

/// The same joint twice: the motion is that of one, the force is shared equally (least norm).
#[test]
fn doubled_joint_changes_nothing_but_the_sharing() {
    let once = ball_pendulum();
    let mut twice = once.clone();
    twice.0.ball((0, [0.1, 0.05, 0.4]), None, [0.0; 3]);
    for name in DRIFTS {
        let mut multipliers = Vec::new();
        let one = run_watched(&once, name, 0.01, 50, |_, _, stepper| multipliers.push(stepper.lambda().to_vec()));
        let mut n = 0;
        let two = run_watched(&twice, name, 0.01, 50, |_, _, stepper| {
            let single = &multipliers[n];
            for (k, lambda) in stepper.lambda().iter().enumerate() {
                let expected = if (3..6).contains(&k) { single[k] } else { 0.5 * single[k % 6] };
                assert!((lambda - expected).abs() < 1e-10 * expected.abs().max(1.0), "{name}: {lambda}, {expected}");
            }
            n += 1;
        });
        assert!(distances(&once.0, &one, &two).iter().all(|d| *d < 1e-12), "{name}");
    }
}

/// A parallelogram that starts flat, where one row is dependent, opens, and passes the flat position again.
#[test]
fn rows_are_chosen_anew_when_the_rank_changes() {
    for name in ["splitting_dlm", "splitting_dlm+suzuki4"] {
        let mut model = Model::new(0.0);
        let mut s = State::new(2, 0);
        model.particle(1.0);
        model.particle(1.0);
        for a in 0..2 {
            model.joint(Joint::Plane { a, normal: V3::z(), offset: 0.0 });
        }
        let right = V3::new(2.0, 0.0, 0.0);
        model.joint(Joint::Rod { a: 0, b: Err(V3::zeros()), length: 1.0 });
        model.joint(Joint::Rod { a: 1, b: Err(right), length: 1.0 });
        model.joint(Joint::Rod { a: 0, b: Ok(1), length: 2.0 });
        s.set_x(0, &V3::new(1.0, 0.0, 0.0));
        s.set_x(1, &V3::new(3.0, 0.0, 0.0));
        for a in 0..2 {
            s.set_v(a, &V3::new(0.0, 1.0, 0.0));
        }
        run_watched(&(model, s), name, 1e-3, 4000, |model, s, stepper| {
            let m = measure(model, s, stepper);
            assert!(m.position_residual < 1e-10, "{name} {}: {m:?}", s.t);
            // It goes on turning as the parallelogram that it is.
            assert!((s.v(0) - s.v(1)).norm() < 1e-6 && (s.v(0).norm() - 1.0).abs() < 1e-6, "{name} {}", s.t);
        });
    }
}

/// Contradictions, steps without a solution and numbers that are none are errors that keep the last good state.
#[test]
fn failed_steps_leave_the_last_good_state() {
    let mut model = Model::new(0.0);
    model.particle(1.0);
    model.joint(Joint::Rod { a: 0, b: Err(V3::zeros()), length: 1.0 });
    model.joint(Joint::Rod { a: 0, b: Err(V3::new(5.0, 0.0, 0.0)), length: 1.0 });
    let mut s = State::new(1, 0);
    s.set_x(0, &V3::new(1.0, 0.2, 0.0));
    let before = s.clone();
    for name in ["splitting_dlm", "variational_rrp+kahan_li6"] {
        let error = stepper(&model, name).step(&mut model, &mut s, 1e-3, 1e-3).expect_err("the rods are too short");
        assert_eq!(s, before);
        assert_eq!(error.residuals.len(), 2);
        assert!(error.to_string().starts_with(name) && error.to_string().contains("joint["), "{error}");
    }
    s.set_x(0, &V3::new(f64::NAN, 0.0, 0.0));
    let error = stepper(&model, "splitting_dlm").step(&mut model, &mut s, 1e-3, 1e-3).expect_err("not a number");
    assert_eq!(error.kind, StepErrorKind::NonFinite);

    // A step that is far too large, then one that is not: as if the first had not been tried.
    let (mut model, start) = ball_pendulum();
    let mut s = start.clone();
    let mut stepper = stepper(&model, "splitting_dlm");
    stepper.step(&mut model, &mut s, 0.01, 0.01).expect("converges");
    let before = s.clone();
    let error = stepper.step(&mut model, &mut s, 30.0, 30.01).expect_err("thirty seconds");
    assert!(!matches!(error.kind, StepErrorKind::Contradiction), "{error}");
    assert_eq!(s, before);
    stepper.step(&mut model, &mut s, 0.01, 0.02).expect("converges");
    let twice = run(&(model.clone(), start), "splitting_dlm", 0.01, 0.02);
    assert!(distances(&model, &s, &twice).iter().all(|d| *d < 1e-13));
}
