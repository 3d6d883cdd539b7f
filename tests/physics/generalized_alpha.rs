//! The generalized-alpha method: errors and orders against references made by programs in generalised coordinates, levels, its recurrence, what becomes of
//! vibrations that steps do not resolve, and a stiff model.

use mbdsl::exec::run::Outcome;
use mbdsl::exec::session::Loaded;
use mbdsl_runtime::steppers::generalized_alpha::{GeneralizedAlpha, SpectralRadius};
use mbdsl_runtime::steppers::name::StepperName;
use mbdsl_runtime::system::System as _;
use mbdsl_tests::references::{RODS, TOP};

use crate::rig::{Steps, assemble, largest, load_library, run};

/// The method with a parameter.
fn alpha(rho: f64) -> StepperName {
    StepperName::GeneralizedAlpha(SpectralRadius::new(rho).expect("from 0 to 1"))
}

/// A run of 1 s.
fn second(loaded: &Loaded, method: StepperName, steps: u32) -> Outcome {
    run(loaded, Steps { method, h: 1.0 / f64::from(steps), until: 1.0 })
}

/// Largest distance of a centre of mass from its reference, m.
fn error(end: &Outcome, reference: &[f64]) -> f64 {
    let bodies = reference.chunks(3).enumerate();
    bodies.map(|(k, x)| (end.state.x(k) - nalgebra::Vector3::from_column_slice(x)).norm()).fold(0.0, f64::max)
}

/// A run of 1 s that shows the stepper after each step.
fn walk(loaded: &Loaded, steps: u32, mut see: impl FnMut(&GeneralizedAlpha)) {
    let mut session = assemble(loaded);
    let mut stepper = GeneralizedAlpha::new(session.system.topology(), SpectralRadius::default());
    let mut state = session.start.clone();
    for n in 1..=steps {
        let (h, t1) = (1.0 / f64::from(steps), f64::from(n) / f64::from(steps));
        stepper.step(&mut session.system, &mut state, h, t1).expect("a step");
        see(&stepper);
    }
}

/// Errors are at most half as large again as those of an independent program, and motion, multipliers and accelerations have order 2; all levels are at round-off, the
/// third one in parts of the largest acceleration.
#[test]
fn errors_orders_and_levels() {
    for (model, reference, steps, bound) in
        [("heavy_top", &TOP[..], 1000, 1.9e-3), ("double_pendulum", &RODS[..], 8000, 4.4e-4)]
    {
        let loaded = load_library(model);
        let exact = second(&loaded, "dop853".parse().expect("a stepper"), 1000);
        let scale = |list: &[f64]| largest(list.iter().copied());
        let ends = [steps / 2, steps].map(|steps| second(&loaded, alpha(0.8), steps));
        let mut acceleration = 0.0_f64;
        walk(&loaded, steps, |stepper| acceleration = acceleration.max(scale(stepper.acceleration())));
        let motion = ends.each_ref().map(|end| error(end, reference));
        let force = ends.each_ref().map(|end| largest(end.lambda.iter().zip(&exact.lambda).map(|(a, b)| a - b)));
        let orders = [motion, force].map(|[coarse, fine]| (coarse / fine).log2());
        let iterations = ends[1].iterations as f64 / ends[1].steps as f64;
        println!("{model}: {motion:?}, {force:?}, orders {orders:.3?}, {iterations:.2} iterations");
        assert!(motion[1] < 1.5 * bound, "{model}: {motion:?}");
        assert!(orders.iter().all(|order| (order - 2.0).abs() < 0.05), "{model}: {orders:?}");
        for end in &ends {
            let e = &end.extremes;
            println!("{e:?} {acceleration}");
            let third = 1e-14 * acceleration * (end.steps as f64).sqrt();
            assert!(e.position < 1e-14 && e.velocity < 1e-12 && e.acceleration < third, "{model}: {e:?}");
            assert!(e.orthogonality < 1e-14, "{model}: {e:?}");
        }
    }
}

/// Multipliers of the recurrence are within `O(h^2)` of those that the end state has, in the first steps as well: `M (Vdot - A) = -B^T (lambda_recurrence - lambda)`.
#[test]
fn the_recurrence_begins_with_order_two() {
    let loaded = load_library("heavy_top");
    let apart = [1000, 4000, 8000].map(|steps| {
        let mut apart = 0.0_f64;
        walk(&loaded, steps, |stepper| {
            apart = apart.max(largest(stepper.rate().iter().zip(stepper.acceleration()).map(|(a, b)| a - b)));
        });
        apart
    });
    let orders = [(apart[0] / apart[1]).log2() / 2.0, (apart[1] / apart[2]).log2()];
    println!("{apart:?}, orders {orders:.3?}");
    assert!(orders.iter().all(|order| (order - 2.0).abs() < 0.1), "{apart:?}, orders {orders:?}");
}
