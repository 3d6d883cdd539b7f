//! Starts that cannot be, and runs that cannot go on: refused with the element named, or stopped with the last good
//! state kept.

use mbdsl::diag::Diagnostic;
use mbdsl::exec::failure::Failure;
use mbdsl::exec::session;
use mbdsl_runtime::steppers::method::Method;

use crate::rig::{Steps, assemble, for_all_methods, load, run_session, text};

/// The failure to assemble a text: its only message, which must point at `place` and name `element`.
#[track_caller]
fn check_refused(source: &str, code: &str, element: &str, place: &str) -> Diagnostic {
    let loaded = load(source, &[]);
    let Err(failure) = session::assemble(&loaded) else { panic!("it must be refused") };
    assert_eq!(failure.exit_code(), 1);
    let Failure::Model(messages) = failure else { panic!("{failure:?}") };
    let [message] = messages.as_slice() else { panic!("{messages:?}") };
    assert_eq!(message.code.to_string(), code, "{message:?}");
    assert!(message.message.contains(&format!("`{element}")), "{message:?}");
    let span = message.primary.span;
    let pointed = &source[span.start as usize..span.end as usize];
    assert!(pointed.contains(place), "it points at {pointed}");
    message.clone()
}

#[test]
fn two_distances_that_cannot_both_hold() {
    let source = "
model Apart {
    particle p { mass = 1 kg; pos = [1, 0.5, 0] m; }
    joint left:  distance(ground.origin, p, length = 1 m);
    ground { point far = [5, 0, 0] m; }
    joint right: distance(ground.far, p, length = 1 m);
    simulate { stepper = dae1l_lse; step = 1 ms; until = 1 s; }
}";
    let message = check_refused(source, "MBD0170", "", "distance");
    let all = format!("{message:?}");
    assert!(all.contains("`left") && all.contains("`right"), "both are open: {all}");
    // Five metres between the grounds, two of rods: three are missing, and shared.
    assert!(all.contains("mm"), "{all}");
}

#[test]
fn a_body_held_away_from_its_joint() {
    let source = "
model Held {
    body b { mass = 1 kg; inertia = sphere(radius = 0.1 m); point top = [0, 0, 0.5] m; pos = fixed([0, 0, -0.6] m);
             rot = fixed(about([0, 0, 1], 0)); }
    joint pivot: spherical(ground.origin, b.top);
    simulate { stepper = dae1l_lse; step = 1 ms; until = 1 s; }
}";
    check_refused(source, "MBD0170", "pivot", "joint pivot");
}

/// Case 47: a start that violates an equation is not accepted in silence: the particle is held 0.3 m off its plane.
#[test]
fn a_start_that_violates_an_equation() {
    let source = "
model Off {
    particle p { mass = 1 kg; pos = fixed([0, 0, 0.3] m); }
    constraint plane: p.pos.z == 0;
    simulate { stepper = dae1l_lse; step = 1 ms; until = 1 s; }
}";
    let message = check_refused(source, "MBD0170", "plane", "constraint plane");
    // Where nothing can give, the least squares share the 0.3 m.
    let all = format!("{message:?}");
    assert!(all.contains("150.0000 mm") && all.contains("`p.pos"), "{all}");
}

#[test]
fn velocities_held_against_a_constraint() {
    let source = "
model Radial {
    particle p { mass = 1 kg; pos = [1, 0, 0] m; vel = fixed([1, 0, 0] [m/s]); }
    joint rod: distance(ground.origin, p, length = 1 m);
    simulate { stepper = dae1l_lse; step = 1 ms; until = 1 s; }
}";
    let message = check_refused(source, "MBD0171", "rod", "joint rod");
    let all = format!("{message:?}");
    assert!(all.contains("p.vel") && all.contains("rod"), "{all}");
}

#[test]
fn velocities_held_against_one_another() {
    let source = "
model Twice {
    body b { mass = 1 kg; inertia = sphere(radius = 0.1 m); omega = fixed([0, 0, 1] [rad/s]); }
    joint hinge: revolute(ground.origin, b.origin, axis = [0, 0, 1]) { rate = fixed(2 [rad/s]); }
    simulate { stepper = dae1l_lse; step = 1 ms; until = 1 s; }
}";
    let message = check_refused(source, "MBD0171", "hinge.rate", "rate = fixed");
    let all = format!("{message:?}");
    assert!(all.contains("b.omega") && all.contains("hinge.rate"), "{all}");
}

#[test]
fn points_that_coincide_where_a_direction_is_needed() {
    let source = "
model Same {
    particle p { mass = 1 kg; pos = [0, 0, 0] m; }
    particle q { mass = 1 kg; pos = [0, 0, 0] m; }
    potential bond: 1 [N*m^2] / dist(p.pos, q.pos);
    simulate { stepper = dae1l_lse; step = 1 ms; until = 1 s; }
}";
    // A force that is infinite at the start is found by the first step.
    let loaded = load(source, &[]);
    check_fails(&loaded, Steps { method: Method::ALL[3], h: 1e-3, until: 1.0 }, 0..1);
}

/// Runs to the step that fails: code 180, in `range` of the steps, the last good state finite and at its own time.
#[track_caller]
fn check_fails(loaded: &session::Loaded, steps: Steps, range: std::ops::Range<u64>) -> Diagnostic {
    let (mut n, mut last) = (0, None);
    let mut session = assemble(loaded);
    let mut see = |s: &mbdsl::exec::run::Snapshot<'_>| {
        n = s.n;
        last = Some(s.state.clone());
    };
    let outcome = run_session(loaded, &mut session, steps, Some(&mut see));
    let Some(failed) = outcome.failed_step else { panic!("{}: it must fail, {:?}", steps.method, outcome.extremes) };
    assert_eq!(failed.code.to_string(), "MBD0180");
    assert!(range.contains(&n), "{}: failed after {n} steps", steps.method);
    assert_eq!(outcome.steps, n, "the last good step is the last one shown");
    assert_eq!(Some(&outcome.state), last.as_ref(), "the last good state is kept");
    assert!(outcome.state.z.iter().all(|x| x.is_finite()));
    assert!(outcome.lambda.iter().all(|x| x.is_finite()));
    assert!(failed.message.contains(steps.method.name()), "{failed:?}");
    assert!(failed.help.is_some(), "{failed:?}");
    assert_eq!(Failure::Step(Box::new(failed.clone())).exit_code(), 3);
    failed
}

/// A particle thrown across the edge of the domain of its energy, c z^(3/2): there is no force behind it.
#[test]
fn a_force_that_ends() {
    let source = "
model Edge {
    particle p { mass = 1 kg; pos = [0, 0, 0.1] m; vel = [0, 0, -1] [m/s]; }
    potential shelf: -1 [N/m^0.5] * p.pos.z^1.5;
    simulate { stepper = dae1l_lse; step = 1 ms; until = 1 s; }
}";
    let loaded = load(source, &[]);
    for_all_methods(|method| {
        // 0.1 m at a speed that begins with 1 m/s.
        check_fails(&loaded, Steps { method, h: 1e-3, until: 1.0 }, 90..140);
    });
}

/// The crank of a linkage that cannot turn around, driven at a constant speed: the drive stops at the dead point.
#[test]
fn a_drive_through_a_dead_point() {
    // Crank and base longer than coupler and rocker allow: 200 + 220 > 130 + 200 mm.
    let source = text("four_bar")
        .replace("crank_l   = 100 mm", "crank_l   = 200 mm")
        .replace("coupler_l = 250 mm", "coupler_l = 130 mm");
    assert_ne!(source, text("four_bar"));
    let loaded = load(&source, &[]);
    // |B - D|^2 = 0.2^2 + 0.22^2 - 2 0.2 0.22 cos(a) = 0.33^2 at the dead point a = 103.5 deg: from 60 deg with
    // 360 deg/s after 0.1208 s.
    let dead = ((0.2_f64.powi(2) + 0.22_f64.powi(2) - 0.33_f64.powi(2)) / (2.0 * 0.2 * 0.22)).acos().to_degrees();
    let steps = ((dead - 60.0) / 360.0 / 1e-3).floor() as u64;
    for_all_methods(|method| {
        let failed = check_fails(&loaded, Steps { method, h: 1e-3, until: 0.5 }, steps - 20..steps + 3);
        assert!(!failed.notes.is_empty(), "{failed:?}");
    });
}
