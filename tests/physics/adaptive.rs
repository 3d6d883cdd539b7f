//! Steps that a tolerance chooses: what the tolerance promises, outputs and events between the ends of steps, and where there are no such steps.

use mbdsl::exec::run::Snapshot;
use mbdsl_runtime::error::StepErrorKind;
use mbdsl_runtime::nalgebra::Vector3;
use mbdsl_runtime::simulate::{Plan, simulate_controlled};
use mbdsl_runtime::so3::log;
use mbdsl_runtime::state::State;
use mbdsl_runtime::steppers::adaptive::{Adaptive, Crossing, Method, Tolerance};
use mbdsl_runtime::steppers::explicit::Pair;
use mbdsl_runtime::steppers::implicit::Radau;
use mbdsl_runtime::steppers::{AnyStepper, Stepper as _};
use mbdsl_runtime::system::System as _;

use crate::rig::{Auto, assemble, largest, load, load_library, run_auto, watch_auto};
use mbdsl_tests::references::{RODS, TOP};

fn tolerance(value: f64) -> Tolerance {
    Tolerance::new(value).expect("a tolerance")
}

/// All methods that estimate their errors.
fn methods() -> impl Iterator<Item = Method> {
    Pair::ALL.into_iter().map(Method::from).chain(Radau::ALL.into_iter().map(Method::from))
}

/// A stepper for the model of a session.
fn adaptive(session: &mbdsl::exec::session::Session<'_>, method: impl Into<Method>, value: f64) -> Adaptive {
    Adaptive::new(session.system.topology(), method, tolerance(value))
}

/// Largest distance of centres of mass, m, and angle of attitudes, rad.
fn distance(a: &State, b: &State) -> f64 {
    largest((0..a.len()).map(|k| (a.x(k) - b.x(k)).norm() + log(&a.r(k).tr_mul(&b.r(k))).norm()))
}

/// Errors at 1 s are in proportion to the tolerance, and at most twice those of an independent program with the same rules; it takes as many steps, by a
/// tenth, and rejects hardly any.
#[test]
fn errors_follow_the_tolerance() {
    let tolerances = [1e-6, 1e-8, 1e-10];
    for (model, reference, pair, bounds, steps) in [
        ("heavy_top", &TOP[..], Pair::Dopri5, [3e-5, 3e-7, 3e-9], [440, 1100, 2760]),
        ("heavy_top", &TOP[..], Pair::Dop853, [1e-5, 1e-7, 1e-9], [132, 220, 374]),
        ("double_pendulum", &RODS[..], Pair::Dopri5, [3.5e-5, 4e-7, 4e-9], [377, 947, 2378]),
        ("double_pendulum", &RODS[..], Pair::Dop853, [2e-5, 9e-8, 7e-10], [121, 218, 389]),
    ] {
        let loaded = load_library(model);
        for ((tolerance, bound), steps) in tolerances.into_iter().zip(bounds).zip(steps) {
            let outcome = watch_auto(&loaded, Auto { method: pair.into(), tolerance, every: 1.0, until: 1.0 }, |_| {});
            let bodies = reference.chunks(3).enumerate();
            let error = largest(bodies.map(|(k, x)| (outcome.state.x(k) - Vector3::from_column_slice(x)).norm()));
            let done = outcome.statistics.expect("the steps were chosen");
            println!("{model}, {}, {tolerance:e}: {error:.2e}, {done:?}", pair.name());
            assert!(error < 2.0 * bound, "{model}, {}, {tolerance:e}: {error:e}", pair.name());
            assert!(
                done.steps.abs_diff(steps) * 10 <= steps && done.rejected <= 2,
                "{model}, {}: {done:?}",
                pair.name()
            );
        }
    }
}

/// Outputs at times that have nothing to do with the steps: all three levels are at round-off there, also with redundant and with moving
/// constraints, and steps do not depend on them.
#[test]
fn outputs_fulfil_all_levels() {
    for (model, every, until) in [
        ("double_pendulum", 0.37e-3, 0.2),
        ("four_bar_free", 3.1e-3, 2.0),
        ("four_bar", 3.1e-3, 2.0),
        ("bricard", 3.1e-3, 2.0),
        ("closed_ring", 7.3e-3, 2.0),
    ] {
        let loaded = load_library(model);
        for method in methods() {
            let run = |every: f64| {
                let mut count = 0;
                let see = |now: &Snapshot<'_>| count += usize::from(now.n > 0);
                let outcome = watch_auto(&loaded, Auto { method, tolerance: 1e-6, every, until }, see);
                (outcome, count)
            };
            let (outcome, count) = run(every);
            let e = &outcome.extremes;
            println!("{model}, {}: {e:?}, {:?}", method.name(), outcome.statistics);
            assert_eq!(count, (until / every).ceil() as usize);
            assert!(e.position < 1.5e-14 && e.velocity < 1e-12 && e.acceleration < 1e-9, "{model}: {e:?}");
            assert!(e.orthogonality < 1e-15, "{model}: {e:?}");
            let (other, _) = run(until);
            assert_eq!(outcome.state, other.state, "{model}, {}", method.name());
            let steps =
                |outcome: &mbdsl::exec::run::Outcome| outcome.statistics.map(|s| (s.steps, s.shortest, s.longest));
            assert_eq!(steps(&outcome), steps(&other), "{model}, {}", method.name());
        }
    }
}

/// Largest error inside of one step of a size, which a bad tolerance allows and the end of the run cuts off.
fn error_inside(model: &str, pair: Pair, h: f64) -> f64 {
    let loaded = load_library(model);
    let mut session = assemble(&loaded);
    let (mut one, mut fine) = (adaptive(&session, pair, 0.1).until(h), adaptive(&session, Pair::Dop853, 1e-13));
    let (mut a, mut b) = (session.start.clone(), session.start.clone());
    let mut error = 0.0_f64;
    for t in [0.25, 0.5, 0.75].map(|part| part * h) {
        one.step(&mut session.system, &mut a, t).expect("a step");
        fine.step(&mut session.system, &mut b, t).expect("a step");
        error = error.max(distance(&a, &b));
    }
    assert_eq!(one.statistics().steps, 1, "the step is one");
    error
}

/// Half the step makes the error inside of it smaller by the fifth and by the eighth power of two.
#[test]
fn the_interpolant_has_the_order_of_the_method() {
    for (model, pair, h, range) in [
        ("heavy_top", Pair::Dopri5, 1e-3, 4.7..5.6),
        ("heavy_top", Pair::Dop853, 2.5e-3, 7.6..9.2),
        ("double_pendulum", Pair::Dopri5, 2e-3, 4.7..5.6),
        ("double_pendulum", Pair::Dop853, 4e-3, 7.6..9.2),
    ] {
        let [coarse, fine] = [h, h / 2.0].map(|h| error_inside(model, pair, h));
        let order = (coarse / fine).log2();
        println!("{model}, {}: {fine:.2e}, order {order:.2}", pair.name());
        assert!(range.contains(&order), "{model}, {}: {coarse:e} {fine:e}, order {order}", pair.name());
    }
}

/// Rises of the first centre of mass of the double pendulum through z = 0, s: by an independent program at a tolerance of 1e-12.
const RISES: [f64; 5] =
    [0.139_336_172_663_29, 0.327_810_864_343_54, 0.515_361_147_150_11, 0.701_371_201_507_56, 0.890_668_815_503_13];

#[test]
fn events_of_the_double_pendulum() {
    let loaded = load_library("double_pendulum");
    for (method, bound) in [
        (Pair::Dop853.into(), 1e-9),
        (Pair::Dopri5.into(), 1e-8),
        (Radau::Radau5.into(), 1e-8),
        (Radau::Radau7.into(), 1e-8),
    ] {
        let method: Method = method;
        let mut session = assemble(&loaded);
        let mut stepper = adaptive(&session, method, 1e-8);
        let mut s = session.start.clone();
        let system = &mut session.system;
        for expected in RISES {
            let found =
                stepper.step_to_event(system, &mut s, 1.0, Crossing::Rising, |_, s| s.x(0).z).expect("no failure");
            println!("{}: {:e}", method.name(), s.t - expected);
            assert!(found && (s.t - expected).abs() < bound, "{}: {} and {expected}", method.name(), s.t);
            assert!(s.v(0).z > 0.0 && s.x(0).z.abs() < 1e-7, "{}: {:?}", method.name(), s.x(0));
            let mut phi = vec![0.0; system.topology().nc()];
            system.residual(&s, &mut phi);
            assert!(largest(phi) < 1e-15, "positions are closed at an event");
        }
        let found = stepper.step_to_event(system, &mut s, 1.0, Crossing::Rising, |_, s| s.x(0).z).expect("no failure");
        assert!(!found && s.t == 1.0, "there are five");
        let exact = Vector3::from_column_slice(&RODS[..3]);
        assert!((s.x(0) - exact).norm() < 1e-6, "events have not changed the motion");
    }
}

/// A body at rest that is asked for no time, and then for some, gets there: nothing but the interval chooses its steps.
#[test]
fn rest() {
    let loaded = load("model Rest { particle dust { mass = 1 kg; pos = [0, 0, 1] m; } }", &[]);
    let mut session = assemble(&loaded);
    let mut stepper = adaptive(&session, Pair::Dopri5, 1e-8);
    let mut s = session.start.clone();
    for t1 in [0.0, 1.0] {
        stepper.step(&mut session.system, &mut s, t1).expect("nothing stands in the way");
        assert_eq!((s.t, s.x(0)), (t1, session.start.x(0)));
    }
}

/// A ball that falls from 1 m and loses a fifth of its speed at each impact: times are sums of a geometric series.
#[test]
fn impacts() {
    let text = "
model Ball {
    gravity = [0, 0, -10] [m/s^2];
    particle ball { mass = 1 kg; pos = [0, 0, 1] m; }
}";
    let loaded = load(text, &[]);
    let mut session = assemble(&loaded);
    // A parabola has no error that would bound the steps.
    let mut stepper = adaptive(&session, Pair::Dop853, 1e-10).longest(0.1);
    let mut s = session.start.clone();
    let fall = 0.2_f64.sqrt();
    let mut expected = fall;
    for n in 0..20 {
        // Whatever its direction, the event that the ball leaves from is not found again.
        let system = &mut session.system;
        let found =
            stepper.step_to_event(system, &mut s, 100.0, Crossing::Either, |_, s| s.x(0).z).expect("no failure");
        assert!(found && (s.t - expected).abs() < 1e-13 * f64::from(n + 1), "impact {n}: {} and {expected}", s.t);
        expected += 2.0 * fall * 0.8_f64.powi(n + 1);
        let v = s.v(0);
        s.set_v(0, &Vector3::new(v.x, v.y, -0.8 * v.z));
    }
}

/// A parabola that touches zero, or misses it by little: the touch is found where it goes through by more than rounding.
#[test]
fn grazing_is_found() {
    let text = "
model Ball {
    gravity = [0, 0, -10] [m/s^2];
    particle ball { mass = 1 kg; pos = [0, 0, 0] m; vel = [0, 0, 5] [m/s]; }
}";
    let loaded = load(text, &[]);
    for (height, expected) in [(1.25 - 1e-9, true), (1.25 + 1e-9, false)] {
        let mut session = assemble(&loaded);
        let mut stepper = adaptive(&session, Pair::Dop853, 1e-10);
        let mut s = session.start.clone();
        let above = |_: &mut _, s: &State| s.x(0).z - height;
        let found =
            stepper.step_to_event(&mut session.system, &mut s, 2.0, Crossing::Rising, above).expect("no failure");
        assert_eq!(found, expected, "{height}");
        assert!(!found || (s.t - 0.5).abs() < 1e-4, "{}", s.t);
    }
}

/// A wall that is met between two outputs: steps are rejected there until they are short. What the kink of the force adds to the error is more than the
/// estimate tells, a hundred times the tolerance.
#[test]
fn steps_are_rejected_where_forces_begin() {
    let text = "
model Wall {
    particle ball { mass = 1 kg; pos = [-1, 0, 0] m; vel = [1, 0, 0] [m/s]; }
    potential wall: select(ball.pos.x > 0 m, 0.5 * 1e4 [N/m] * ball.pos.x^2, 0 J);
}";
    let loaded = load(text, &[]);
    // Half an oscillation of 100 rad/s in the wall, then back.
    let exact = -(2.0 - 1.0 - std::f64::consts::PI / 100.0);
    for pair in Pair::ALL {
        let value = 1e-6;
        let outcome =
            watch_auto(&loaded, Auto { method: pair.into(), tolerance: value, every: 0.1, until: 2.0 }, |_| {});
        let done = outcome.statistics.expect("the steps were chosen");
        let error = (outcome.state.x(0).x - exact).abs();
        println!("{}: {error:.1e}, {done:?}", pair.name());
        assert!(done.rejected >= 2 && done.longest > 20.0 * done.shortest, "{done:?}");
        assert!(error < 100.0 * value, "{}: {error:e}", pair.name());
    }
}

/// What is set at an output acts until the next one, as with fixed steps: here against the exact motion.
#[test]
fn inputs_are_held_between_outputs() {
    let text = "
model Pushed {
    input push = 0 N;
    particle p { mass = 1 kg; }
    force f on p: [push, 0, 0];
}";
    let loaded = load(text, &[]);
    let mut session = assemble(&loaded);
    let topology = session.system.topology().clone();
    let mut stepper =
        AnyStepper::adaptive(&topology, "dop853".parse().expect("a stepper"), tolerance(1e-8), 1.0).expect("it suits");
    let plan = Plan::outputs(Some(0.1), 1.0).expect("outputs");
    let mut s = session.start.clone();
    let (mut x, mut v) = (0.0, 0.0);
    let (_, result) = simulate_controlled(
        &mut session.system,
        &mut stepper,
        &mut s,
        &plan,
        |system, s| system.signals_mut()[0] = s.t * s.t - 0.3,
        |n, _, s, stepper| {
            let (t, h) = (plan.time(n - 1), plan.size(n));
            let a = t * t - 0.3;
            x += h * v + 0.5 * h * h * a;
            v += h * a;
            assert!((s.x(0).x - x).abs() < 1e-15 && (s.v(0).x - v).abs() < 1e-15, "{n}: {} and {x}", s.x(0).x);
            assert!((stepper.acceleration()[0] - a).abs() < 1e-15);
            std::ops::ControlFlow::Continue(())
        },
    );
    result.expect("no failure");
}

/// A damper that is too fast for explicit steps stops the run and names what to take; motion that only takes many steps goes on.
#[test]
fn stiffness_is_found_and_nothing_else() {
    let text = "
model Damped {
    param c = 1e5 [N*s/m];
    particle p { mass = 1 kg; pos = [1, 0, 0] m; }
    particle q { mass = 1 kg; pos = [2, 0, 0] m; }
    joint rod: distance(ground.origin, p, length = 1 m);
    gravity = [0, 0, -9.81] [m/s^2];
    force slow: damper(p, q, c = c);
}";
    let loaded = load(text, &[]);
    for pair in Pair::ALL {
        let outcome = run_auto(&loaded, Auto { method: pair.into(), tolerance: 1e-6, every: 0.5, until: 1.0 }, |_| {});
        let failed = outcome.failed_step.expect("it is stiff");
        assert_eq!(failed.code.to_string(), "MBD0183", "{failed:?}");
        assert!(failed.message.contains("stiff") && failed.help.is_some_and(|h| h.contains("dae1l_lse")));
        let steps = outcome.statistics.expect("the steps were chosen").steps;
        assert!((1000..1100).contains(&steps), "{steps}");
        assert_eq!(outcome.state.t, 0.0, "no output was reached");
    }
    let top = load_library("heavy_top");
    let outcome =
        watch_auto(&top, Auto { method: Pair::Dop853.into(), tolerance: 1e-8, every: 1.0, until: 25.0 }, |_| {});
    assert!(outcome.statistics.is_some_and(|s| s.steps > 4000), "{:?}", outcome.statistics);
}

/// Two bodies that fall into one another: steps end with an error that says when, and the last output stands.
#[test]
fn no_step_is_short_enough_for_a_collapse() {
    let text = "
model Fall {
    particle p { mass = 1 kg; pos = [1, 0, 0] m; }
    potential pull: -1 [J*m] / norm(p.pos);
}";
    // From rest at r = 1 with a = -1/r^2.
    let end = std::f64::consts::PI / 8.0_f64.sqrt();
    let loaded = load(text, &[]);
    let mut session = assemble(&loaded);
    let mut stepper = adaptive(&session, Pair::Dop853, 1e-8);
    let mut s = session.start.clone();
    stepper.step(&mut session.system, &mut s, 1.0).expect("before the collapse");
    let before = s.clone();
    let error = stepper.step(&mut session.system, &mut s, 2.0).expect_err("there is no motion beyond");
    println!("{error}");
    assert!(matches!(error.kind, StepErrorKind::TooShort | StepErrorKind::NonFinite), "{error}");
    assert!((error.time - end).abs() < 1e-6, "{} and {end}", error.time);
    assert_eq!(s, before);
    // From the same state the motion can go on.
    stepper.step(&mut session.system, &mut s, 1.05).expect("before the collapse");
    let error = stepper.step(&mut session.system, &mut s, 1.0).expect_err("back in time");
    assert_eq!(error.kind, StepErrorKind::Backwards);
}

/// The same swing in metres and seconds and in nanometres and picoseconds: the same steps.
#[test]
fn units_do_not_matter() {
    let text = "
model Swing {
    param length = 1 m;
    param second = 1 s;
    gravity = [0, 0, -10] * length / second^2;
    body bob {
        mass = 1 kg;
        point end = [-1, 0, 0] * length;
        inertia = diag([0.2, 0.3, 0.4]) * (1 kg) * length^2;
        pos = [1, 0, 0] * length;
        omega = [1, 2, 3] / second;
    }
    joint pivot: spherical(ground.origin, bob.end);
}";
    let steps = |set: &[&str], second: f64| {
        let loaded = load(text, set);
        let auto = Auto { method: Pair::Dop853.into(), tolerance: 1e-8, every: 10.0 * second, until: 10.0 * second };
        let outcome = watch_auto(&loaded, auto, |_| {});
        let s = outcome.statistics.expect("the steps were chosen");
        (s.steps, s.rejected, s.shortest / second)
    };
    let [(a, x, h), (b, y, k)] = [steps(&[], 1.0), steps(&["length=1 nm", "second=1e-12 s"], 1e-12)];
    assert_eq!((a, x), (b, y));
    assert!((h / k - 1.0).abs() < 1e-6 && a > 20, "{h} and {k}, {a} steps");
}
