//! Radau and Gauss methods: errors and orders against references made by programs in generalised coordinates, levels and energy over long runs,
//! redundant and driven mechanisms, and steps much longer than the decays of a stiff model.

use mbdsl::exec::run::Outcome;
use mbdsl::exec::session::Loaded;
use mbdsl_runtime::steppers::implicit::Collocation;
use mbdsl_runtime::steppers::name::StepperName;
use mbdsl_tests::references::{RODS, TOP};

use crate::rig::{Steps, assemble, largest, load, load_library, run, run_session, stiff_pendulum, watch};

/// A run of 1 s.
fn second(loaded: &Loaded, method: StepperName, steps: u32) -> Outcome {
    run(loaded, Steps { method, h: 1.0 / f64::from(steps), until: 1.0 })
}

/// Largest distance of a centre of mass from its reference, m.
fn error(end: &Outcome, reference: &[f64]) -> f64 {
    let bodies = reference.chunks(3).enumerate();
    bodies.map(|(k, x)| (end.state.x(k) - nalgebra::Vector3::from_column_slice(x)).norm()).fold(0.0, f64::max)
}

/// Errors after 1000 steps are at most half as large again as those of an independent program, and fall by the order; so do those of the multipliers, which
/// those of the stages would not.
#[test]
fn errors_and_orders() {
    for (model, reference, bounds) in [
        ("heavy_top", &TOP[..], [1.8e-4, 3.7e-8, 5.5e-12, 1e-2, 7.4e-7, 6.9e-10]),
        ("double_pendulum", &RODS[..], [1.6e-3, 3.2e-7, 4.9e-11, 1e-2, 6.7e-6, 1.2e-9]),
    ] {
        let loaded = load_library(model);
        let exact = second(&loaded, "dop853".parse().expect("a stepper"), 1000).lambda;
        let scale = largest(exact.iter().copied());
        for (method, bound) in Collocation::ALL.into_iter().zip(bounds) {
            // Order 2 shows at finer steps only.
            let finer = if method == Collocation::Gauss2 { 8 } else { 1 };
            let ends = [500 * finer, 1000 * finer].map(|steps| second(&loaded, StepperName::Implicit(method), steps));
            let motion = ends.each_ref().map(|end| error(end, reference));
            let force = ends.each_ref().map(|end| largest(end.lambda.iter().zip(&exact).map(|(a, b)| (a - b) / scale)));
            let orders = [motion, force].map(|[coarse, fine]| (coarse / fine).log2());
            let iterations = ends[1].iterations as f64 / ends[1].steps as f64;
            println!(
                "{model}, {}: {motion:?}, {force:?}, orders {orders:.2?}, {iterations:.1} iterations",
                method.name()
            );
            assert!(motion[1] < 1.5 * bound, "{model}, {}: {motion:?}", method.name());
            for (order, errors) in orders.into_iter().zip([motion, force]) {
                let tolerance = match method {
                    Collocation::Radau3 => 0.15,
                    Collocation::Radau5 => 0.1,
                    // Errors are near those of the references.
                    _ if errors[1] < 1e-10 => 0.5,
                    // The next term of the error counts.
                    Collocation::Radau7 | Collocation::Gauss2 | Collocation::Gauss4 | Collocation::Gauss6 => 0.25,
                };
                let expected = f64::from(method.order());
                assert!((order - expected).abs() < tolerance, "{model}, {}: {errors:?}, order {order}", method.name());
            }
        }
    }
}

/// The top for a hundred seconds: levels stay at round-off and rotations orthogonal; energy falls by what an independent program has found, 1.7e-7 for Radau
/// and 3.4e-10 for Gauss.
#[test]
fn long_runs() {
    let loaded = load_library("heavy_top");
    for (method, bound) in [(Collocation::Radau5, 1.7e-7), (Collocation::Gauss6, 3.4e-10)] {
        let end = run(&loaded, Steps { method: StepperName::Implicit(method), h: 1e-3, until: 100.0 });
        let e = &end.extremes;
        println!("{method:?}: {e:?}");
        assert!(e.energy / e.scale < 1.5 * bound, "{method:?}: {e:?}");
        assert!(
            e.position < 1e-15 && e.velocity < 1e-13 && e.acceleration < 1e-10 && e.orthogonality < 1e-14,
            "{method:?}: {e:?}"
        );
    }
}

/// Three redundant rows of a four-bar of hinges for ten thousand steps, and driven, and a six-bar: no failure, levels at round-off, and energy where nothing
/// drives it.
#[test]
fn redundant_rows() {
    for (model, until) in [("four_bar_free", 50.0), ("four_bar", 5.0), ("bricard", 5.0)] {
        let loaded = load_library(model);
        for method in [Collocation::Radau5, Collocation::Gauss4] {
            let mut largest_lambda = 0.0_f64;
            let end = watch(&loaded, Steps { method: StepperName::Implicit(method), h: 5e-3, until }, |now| {
                largest_lambda = largest_lambda.max(largest(now.lambda.iter().copied()));
            });
            let e = &end.extremes;
            println!("{model}, {method:?}: {largest_lambda:.3e} {e:?}");
            assert!(e.position < 1.5e-14 && e.velocity < 1e-13 && largest_lambda.is_finite(), "{model}: {e:?}");
            if model != "four_bar" {
                assert!(e.energy / e.scale < 1e-4, "{model}, {method:?}: {e:?}");
            }
        }
    }
}

/// A four-bar whose drive leaves it no freedom is where the drive says, and multipliers are those of its motion, at whatever step by whatever method with all levels at
/// round-off: redundant rows and rows of time cost no digits.
#[test]
fn a_driven_mechanism_has_no_error() {
    let loaded = load_library("four_bar");
    let exact =
        run(&loaded, Steps { method: "dop853".parse::<StepperName>().expect("a stepper"), h: 1e-3, until: 1.0 });
    for name in ["dopri5", "dop853", "radau3", "radau5", "gauss4", "gauss6", "generalized_alpha"] {
        for h in [5e-3, 10e-3] {
            let end = run(&loaded, Steps { method: name.parse::<StepperName>().expect("a stepper"), h, until: 1.0 });
            let state = largest(end.state.z.iter().zip(&exact.state.z).map(|(a, b)| a - b));
            let force = largest(end.lambda.iter().zip(&exact.lambda).map(|(a, b)| a - b));
            println!("{name}, {h}: {state:.1e}, {force:.1e}");
            assert!(state < 1e-12 && force < 1e-10, "{name}, {h}: {state:e}, {force:e}");
        }
    }
}

/// The double pendulum at a tenth of its speed, with a spring and a damper from the first rod to the ground that together decay at 2e4/s: steps of a hundred
/// decays miss little, and steps of two hundred converge from `V = V0`; an explicit method with as many does not get through.
#[test]
fn stiff_models() {
    let loaded = load(&stiff_pendulum(), &[]);
    let radau = StepperName::Implicit(Collocation::Radau5);
    let [coarse, middle, exact] = [100, 200, 3200].map(|steps| second(&loaded, radau, steps));
    let errors = [coarse, middle].map(|end| {
        let e = &end.extremes;
        assert!(e.position < 1e-14 && e.velocity < 1e-13, "{e:?}");
        (0..2).map(|k| (end.state.x(k) - exact.state.x(k)).norm()).fold(0.0, f64::max)
    });
    println!("{errors:?}");
    assert!(errors[0] < 1e-5 && errors[1] < 1e-6, "{errors:?}");
    let steps = Steps { method: "dop853".parse::<StepperName>().expect("a stepper"), h: 1.0 / 200.0, until: 1.0 };
    let explicit = run_session(&loaded, &mut assemble(&loaded), steps, None);
    assert!(explicit.failed_step.is_some(), "{:?}", explicit.extremes);
}
