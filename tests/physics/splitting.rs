//! Splitting and variational steppers on compiled models: golden values, constraint levels, orders, momenta, refusals.

use mbdsl::exec::failure::Failure;
use mbdsl::exec::session::{self, Choices};
use mbdsl_runtime::so3::log;
use mbdsl_runtime::state::State;
use mbdsl_runtime::steppers::method::Method;
use mbdsl_runtime::steppers::name::StepperName;
use nalgebra::{Matrix3, Vector3};

use crate::rig::{Steps, assemble, load, load_library, run, text};

type V3 = Vector3<f64>;

fn named(name: &str) -> StepperName {
    name.parse().expect("a stepper")
}

/// The steppers of this family that suit a model.
fn applicable(loaded: &session::Loaded) -> Vec<StepperName> {
    let mut all = session::applicable(loaded, &Choices::default());
    all.retain(|stepper| matches!(stepper, StepperName::Splitting(_)));
    assert!(all.len() >= 5);
    all
}

/// Attitude and momentum at the end to ten digits, from independent programs, by every drift with eighth order: through ball joints where
/// the reference turns about a fixed point.
#[test]
fn golden_values() {
    // Model, step of turns of a tenth, moments about the pivot, momentum there, what the body sees of an axis in space.
    let cases = [
        (
            "free_body",
            0.05,
            [1.0, 2.0, 2.5],
            [0.923008390979341, 0.8113772618766003, -1.9156519644996475],
            (V3::y(), [0.10549195773108197, -0.11135565217971026, -0.9881656569531725]),
        ),
        (
            "pendulum_3d",
            0.04,
            [0.8; 3],
            [-0.551812314152617, 0.499917199463016, 0.18967065738427],
            (V3::z(), [0.3024111185022505, 0.6880494766062735, 0.6596479615280038]),
        ),
        (
            "asymmetric_top",
            0.02,
            [1.0, 1.4, 0.6],
            [0.410951073123194, -0.286510321755088, 2.165204423040444],
            (V3::z(), [-0.4941669726352632, -0.7200558131905805, 0.487153599029044]),
        ),
    ];
    for (name, h, moments, momentum, (axis, seen)) in cases {
        let loaded = load_library(name);
        let until = loaded.binding.until.expect("it gives its end");
        for drift in applicable(&loaded) {
            let method = named(&format!("{drift}+kahan_li8"));
            let s = run(&loaded, Steps { method, h, until }).state;
            let pi = V3::from(moments).component_mul(&s.omega(0)) - V3::from(momentum);
            let axis = s.r(0).transpose() * axis - V3::from(seen);
            println!("{name}, {method}: momentum {:.1e}, axis {:.1e}", pi.amax(), axis.amax());
            assert!(pi.amax() < 1e-10 && axis.amax() < 1e-10, "{name}, {method}: {pi} {axis}");
        }
    }
}

/// Largest distances of positions and angles between attitudes.
fn distance(a: &State, b: &State) -> f64 {
    (0..a.len()).map(|k| (a.x(k) - b.x(k)).norm() + log(&(a.r(k).transpose() * b.r(k))).norm()).fold(0.0, f64::max)
}

/// Orders of compositions on a closed ring and on hinges with redundant equations, written in the language.
#[test]
fn orders_on_compiled_models() {
    for (name, until) in [("closed_ring", 0.5), ("four_bar_free", 0.4), ("four_bar", 0.2)] {
        let loaded = load_library(name);
        let end = |method: &str, h: f64| run(&loaded, Steps { method: named(method), h, until }).state;
        let reference = end("splitting_dlm+kahan_li8", 2.5e-3);
        for (method, h, range) in [
            ("splitting_dlm", 2.5e-3, 1.9..2.1),
            ("variational_rrp", 2.5e-3, 1.9..2.1),
            ("splitting_exact+suzuki4", 2.5e-3, 3.7..4.3),
        ] {
            let [coarse, fine] = [h, h / 2.0].map(|h| distance(&end(method, h), &reference));
            let order = (coarse / fine).log2();
            println!("{name}, {method}: {order:.3} of {fine:.1e}");
            // Where the drive leaves no freedom the motion has no error at all; other errors come to round-off.
            assert!(range.contains(&order) || coarse < 1e-11, "{name}, {method}: {order} of {fine:e}");
        }
    }
}

/// The Euler methods come to the same motion as their step falls: the families solve the same equations.
#[test]
fn families_agree() {
    let loaded = load_library("spring_network");
    let until = 0.02;
    let exact = run(&loaded, Steps { method: named("splitting_dlm+suzuki4"), h: 2e-4, until }).state;
    let [coarse, fine] =
        [2e-4, 1e-4].map(|h| distance(&run(&loaded, Steps { method: Method::ALL[3], h, until }).state, &exact));
    assert!((0.9..1.1).contains(&(coarse / fine).log2()) && fine < 1e-3, "{coarse:e} {fine:e}");
}

/// What does not suit is refused with the name of the body, at the place in the model or as a wrong use of the command.
#[test]
fn refusals() {
    let plate = "model M { body plate { mass = 1 kg; inertia = box([1, 1, 0.1] m); }
        simulate { stepper = variational_exp + suzuki4; step = 1 ms; until = 1 s; } }";
    let loaded = load(plate, &[]);
    let of = |stepper: Option<&str>| {
        let choices = Choices { stepper: stepper.map(str::to_owned), ..Choices::default() };
        session::setup(&loaded, &choices)
    };
    let Err(Failure::Model(list)) = of(None) else { panic!("it must be refused") };
    assert_eq!(list[0].code.to_string(), "MBD0175");
    assert!(list[0].message.contains("`variational_exp+suzuki4` moves bodies with three equal"), "{list:?}");
    assert!(list[0].message.contains("`plate`"), "{list:?}");
    for (name, words) in [
        ("variational_cayley", "`plate`"),
        ("dae1l_lse+yoshida4", "`dae1l_lse` takes no composition"),
        ("splitting_dlm+yoshida", "+yoshida4, +suzuki4"),
        ("splitting", "splitting_dlm, splitting_dlm_cayley"),
    ] {
        let Err(Failure::Usage(message)) = of(Some(name)) else { panic!("{name} must be refused") };
        assert!(message.contains(words), "{name}: {message}");
    }
    assert!(of(Some("variational_rrp+kahan_li6")).is_ok());
    assert_eq!(session::applicable(&loaded, &Choices::default()).len(), 22);
    assert_eq!(session::applicable(&load_library("spring_network"), &Choices::default()).len(), 24);
}

/// A turn too far is an error that names the body, and what came before stands.
#[test]
fn a_turn_too_far() {
    let loaded = load_library("free_body");
    let mut session = assemble(&loaded);
    let steps = Steps { method: named("variational_dmv"), h: 5.0, until: 10.0 };
    let outcome = crate::rig::run_session(&loaded, &mut session, steps, None);
    let failed = outcome.failed_step.expect("five radians a step");
    assert!(failed.message.contains("`rotor` turns too far in one step"), "{failed:?}");
    assert_eq!((outcome.steps, outcome.state.r(0)), (0, Matrix3::identity()));
    assert!(text("free_body").contains("splitting_exact"));
}
