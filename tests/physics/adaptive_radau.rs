//! Radau methods whose steps a tolerance chooses: errors at the end and between the ends of steps, and a stiff model.

use mbdsl_runtime::nalgebra::Vector3;
use mbdsl_runtime::so3::log;
use mbdsl_runtime::state::State;
use mbdsl_runtime::steppers::adaptive::{Adaptive, Method, Tolerance};
use mbdsl_runtime::steppers::explicit::Pair;
use mbdsl_runtime::steppers::implicit::Radau;
use mbdsl_runtime::system::System as _;
use mbdsl_tests::references::{RODS, TOP};

use crate::rig::{Auto, assemble, largest, load, load_library, run_auto, text, watch_auto};

fn second(method: impl Into<Method>, tolerance: f64) -> Auto {
    Auto { method: method.into(), tolerance, every: 1.0, until: 1.0 }
}

/// Errors at 1 s are in proportion to the tolerance over six decades, and hardly a step is made in vain but where the pendulum's rods turn by a radian in a step.
#[test]
fn errors_follow_the_tolerance() {
    for (model, reference) in [("heavy_top", &TOP[..]), ("double_pendulum", &RODS[..])] {
        let loaded = load_library(model);
        for (radau, finest) in [(Radau::Radau3, 8), (Radau::Radau5, 10), (Radau::Radau7, 10)] {
            for tolerance in (4..=finest).map(|power| 10.0_f64.powi(-power)) {
                let outcome = watch_auto(&loaded, second(radau, tolerance), |_| {});
                let bodies = reference.chunks(3).enumerate();
                let error = largest(bodies.map(|(k, x)| (outcome.state.x(k) - Vector3::from_column_slice(x)).norm()));
                let done = outcome.statistics.expect("the steps were chosen");
                println!("{model}, {radau:?}, {tolerance:e}: {:.2} tolerances, {done:?}", error / tolerance);
                assert!((2.0..30.0).contains(&(error / tolerance)), "{model}, {radau:?}, {tolerance:e}: {error:e}");
                assert!(done.rejected * 3 <= done.steps, "{model}, {radau:?}, {tolerance:e}: {done:?}");
            }
        }
    }
}

/// A spring and a damper that together decay at 2e4/s: steps follow the motion, which is slow, and the first ones, which are short, do not count; an explicit method
/// that resolves the decay takes thousands.
#[test]
fn stiff_models() {
    let text = text("double_pendulum").replace("20 * pi", "2 * pi").replace("10 * pi", "pi").replace(
        "joint shoulder",
        "ground { point post = [0.3, 0.4, 0.5] m; }
        force stiff: spring(ground.post, first.far, k = 1e5 [N/m], rest = sqrt(0.5) * 1 m);
        force oil: damper(ground.post, first.far, c = 1e5 [N*s/m]);
        joint shoulder",
    );
    let loaded = load(&text, &[]);
    let exact = watch_auto(&loaded, second(Radau::Radau7, 1e-11), |_| {});
    for (radau, most) in [(Radau::Radau3, 1300), (Radau::Radau5, 160), (Radau::Radau7, 80)] {
        let end = watch_auto(&loaded, second(radau, 1e-6), |_| {});
        let error = largest((0..2).map(|k| (end.state.x(k) - exact.state.x(k)).norm()));
        let done = end.statistics.expect("the steps were chosen");
        println!("{radau:?}: {error:.1e}, {done:?}");
        assert!(error < 1e-6 && done.steps < most, "{radau:?}: {error:e}, {done:?}");
        assert!(done.rejected >= 1 && done.longest > 500.0 * done.shortest, "{radau:?}: {done:?}");
    }
    let explicit = run_auto(&loaded, second(Pair::Dop853, 1e-6), |_| {});
    assert!(explicit.failed_step.is_some_and(|d| d.message.contains("stiff")));
}

/// Largest distance of centres of mass, m, and angle of attitudes, rad.
fn distance(a: &State, b: &State) -> f64 {
    largest((0..a.len()).map(|k| (a.x(k) - b.x(k)).norm() + log(&a.r(k).tr_mul(&b.r(k))).norm()))
}

/// Between the ends of steps the motion errs by no more than at the ends, but with four stages, whose steps are so long that it does by ten times as much.
#[test]
fn outputs_between_the_ends_of_steps() {
    for model in ["heavy_top", "double_pendulum"] {
        let loaded = load_library(model);
        for (radau, bound) in [(Radau::Radau3, 1.0), (Radau::Radau5, 1.0), (Radau::Radau7, 10.0)] {
            for value in [1e-4, 1e-6, 1e-8] {
                let mut session = assemble(&loaded);
                let stepper = |method: Method, value| {
                    let tolerance = Tolerance::new(value).expect("a tolerance");
                    Adaptive::new(session.system.topology(), method, tolerance)
                };
                let (mut fine, mut one) = (stepper(Pair::Dop853.into(), 1e-12), stepper(radau.into(), value));
                let (mut a, mut b) = (session.start.clone(), session.start.clone());
                let mut error = 0.0_f64;
                for t in (1..=500).map(|n| 2e-4 * f64::from(n)) {
                    one.step(&mut session.system, &mut a, t).expect("a step");
                    fine.step(&mut session.system, &mut b, t).expect("a step");
                    error = error.max(distance(&a, &b));
                }
                println!("{model}, {radau:?}, {value:e}: {error:.1e}, {:.1e} at the end", distance(&a, &b));
                assert!(error < bound * value, "{model}, {radau:?}, {value:e}: {error:e}");
            }
        }
    }
}
