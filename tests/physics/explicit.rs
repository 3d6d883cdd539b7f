//! The explicit methods with projection: errors and orders against references made by programs in generalised coordinates, levels and energy
//! over long runs, redundant and driven mechanisms.

use mbdsl_runtime::steppers::explicit::Pair;
use mbdsl_runtime::steppers::name::StepperName;
use mbdsl_tests::references::{RODS, TOP};

use crate::rig::{Steps, load_library, run, watch};

/// Largest distance of a centre of mass at 1 s from its reference, m.
fn error(model: &str, pair: Pair, steps: u32, reference: &[f64]) -> f64 {
    let loaded = load_library(model);
    let end = run(&loaded, Steps { method: StepperName::Explicit(pair), h: 1.0 / f64::from(steps), until: 1.0 });
    let bodies = reference.chunks(3).enumerate();
    bodies.map(|(k, x)| (end.state.x(k) - nalgebra::Vector3::from_column_slice(x)).norm()).fold(0.0, f64::max)
}

/// Errors are at most half as large again as those of an independent program with as many steps, and fall by the order.
#[test]
fn errors_and_orders() {
    for (model, reference, pair, steps, bound) in [
        ("heavy_top", &TOP[..], Pair::Dopri5, 1000, 2.5e-7),
        ("heavy_top", &TOP[..], Pair::Dop853, 250, 9.9e-9),
        ("double_pendulum", &RODS[..], Pair::Dopri5, 1000, 4.3e-7),
        ("double_pendulum", &RODS[..], Pair::Dop853, 250, 1.8e-8),
    ] {
        let [coarse, fine] = [steps / 2, steps].map(|steps| error(model, pair, steps, reference));
        let order = (coarse / fine).log2();
        println!("{model}, {}: {fine:.1e}, order {order:.2}", pair.name());
        assert!(fine < 1.5 * bound, "{model}, {}: {fine:e}", pair.name());
        let tolerance = if pair == Pair::Dopri5 { 0.5 } else { 0.9 };
        assert!((order - f64::from(pair.order())).abs() < tolerance, "{model}, {}: order {order}", pair.name());
    }
}

/// The top for a hundred seconds: levels stay at round-off, rotations orthogonal, and the energy errs by less than a unit in the last place of it a
/// step.
#[test]
fn long_runs() {
    let loaded = load_library("heavy_top");
    let end = run(&loaded, Steps { method: StepperName::Explicit(Pair::Dop853), h: 1e-3, until: 100.0 });
    let e = &end.extremes;
    println!("{e:?}");
    assert!(e.energy / e.scale < 5e-13, "{e:?}");
    assert!(e.position < 1e-15 && e.velocity < 1e-13 && e.acceleration < 1e-10 && e.orthogonality < 1e-14, "{e:?}");
}

/// Three redundant rows of a four-bar of hinges, driven and free for ten thousand steps: no failure, levels at round-off, and energy where nothing drives it.
#[test]
fn redundant_rows() {
    for (model, h, until) in [("four_bar_free", 5e-3, 50.0), ("four_bar", 5e-3, 5.0), ("bricard", 5e-3, 5.0)] {
        let loaded = load_library(model);
        let mut least = f64::INFINITY;
        let end = watch(&loaded, Steps { method: StepperName::Explicit(Pair::Dop853), h, until }, |now| {
            least = least.min(now.lambda.iter().map(|l| l * l).sum());
        });
        let e = &end.extremes;
        println!("{model}: {e:?}");
        assert!(e.position < 1.5e-14 && e.velocity < 1e-13 && least.is_finite(), "{model}: {e:?}");
        if model != "four_bar" {
            assert!(e.energy / e.scale < 1e-8, "{model}: {e:?}");
        }
    }
}
