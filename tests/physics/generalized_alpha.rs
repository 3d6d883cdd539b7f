//! The generalized-alpha method: errors and orders against references made by programs in generalised coordinates, levels, its recurrence, what becomes of
//! vibrations that steps do not resolve, and a stiff model.

use mbdsl::exec::run::Outcome;
use mbdsl::exec::session::Loaded;
use mbdsl_runtime::steppers::generalized_alpha::{GeneralizedAlpha, SpectralRadius};
use mbdsl_runtime::steppers::name::StepperName;
use mbdsl_runtime::system::System as _;
use mbdsl_tests::references::{RODS, TOP};

use crate::rig::{Steps, assemble, largest, load, load_library, run, stiff_pendulum, watch};

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

/// A particle on a spring, one dimension of a vibration of 1e5 rad/s in steps of 10 ms: `h omega` is 1000. In the limit of long steps all three roots of the recurrence are
/// `-rho`, so that `(E + rho)^3 x = 0` with the shift `E`, up to `1/(h omega)^2`. With `rho = 1` the method is the rule of the trapezoid, which keeps the energy.
#[test]
fn unresolved_vibrations_fall_by_the_spectral_radius() {
    let loaded = load(
        "model Oscillator {
            const k = 1e10 [N/m];
            particle p { mass = 1 kg; pos = [1, 0, 0] m; }
            potential hold: k * norm2(p.pos) / 2;
        }",
        &[],
    );
    for rho in [0.0, 0.3, 0.5, 0.8, 0.95] {
        let mut x = vec![1.0];
        watch(&loaded, Steps { method: alpha(rho), h: 1e-2, until: 0.5 }, |now| x.push(now.state.x(0).x));
        for n in 1..x.len() - 3 {
            let terms = [x[n + 3], 3.0 * rho * x[n + 2], 3.0 * rho * rho * x[n + 1], rho.powi(3) * x[n]];
            let left = terms.iter().sum::<f64>().abs();
            let scale = if rho == 0.0 { 1.0 } else { largest(terms) };
            assert!(left < 1e-4 * scale, "rho = {rho}, step {n}: {terms:?}");
        }
        let last = x.last().expect("a run").abs();
        println!("rho = {rho}: {last:.2e} of {:.2e}, {:.2e}", x[1], x[2]);
    }
    let e = run(&loaded, Steps { method: alpha(1.0), h: 1e-2, until: 10.0 }).extremes;
    println!("rho = 1: {e:?}");
    assert!(e.energy < 1e-9 * e.scale, "{e:?}");
}

/// Steps of fifty and a hundred decays of a stiff spring and damper, of which each leaves four fifths: errors are below those of an independent program, and of order 2.
#[test]
fn stiff_models() {
    let loaded = load(&stiff_pendulum(), &[]);
    let exact = second(&loaded, "radau5".parse().expect("a stepper"), 3200);
    let errors = [200, 400, 800].map(|steps| {
        let end = second(&loaded, alpha(0.8), steps);
        let e = &end.extremes;
        assert!(e.position < 1e-14 && e.velocity < 1e-12, "{e:?}");
        (0..2).map(|k| (end.state.x(k) - exact.state.x(k)).norm()).fold(0.0, f64::max)
    });
    println!("{errors:?}");
    assert!(errors[0] < 0.4 && errors[1] < 4.5e-2 && errors[2] < errors[1] / 3.5, "{errors:?}");
}

/// A new step and a new state are a new start, to the bit; a failed step leaves the state as it was.
#[test]
fn new_starts() {
    let loaded = load_library("double_pendulum");
    let mut session = assemble(&loaded);
    let topology = session.system.topology().clone();
    let new = || GeneralizedAlpha::new(&topology, SpectralRadius::default());
    let mut stepper = new();
    let mut state = session.start.clone();
    let (h, mut t) = (1e-3, 0.0);
    for _ in 0..20 {
        t += h;
        stepper.step(&mut session.system, &mut state, h, t).expect("a step");
    }
    // Another step, then velocities that are turned back, which the constraints allow.
    for (h, is_reversed) in [(0.5e-3, false), (0.5e-3, true)] {
        if is_reversed {
            for body in 0..state.len() {
                let (v, omega) = (-state.v(body), -state.omega(body));
                state.set_v(body, &v);
                state.set_omega(body, &omega);
            }
        }
        let (mut fresh, mut other) = (new(), state.clone());
        t += h;
        stepper.step(&mut session.system, &mut state, h, t).expect("a step");
        fresh.step(&mut session.system, &mut other, h, t).expect("a step");
        assert_eq!((&state, stepper.rate()), (&other, fresh.rate()));
    }
    let before = state.clone();
    let (lambda, acceleration) = (stepper.lambda().to_vec(), stepper.acceleration().to_vec());
    stepper.step(&mut session.system, &mut state, 1.0, t + 1.0).expect_err("rods turn by tens of rad in a step");
    assert_eq!(state, before);
    assert_eq!((stepper.lambda(), stepper.acceleration()), (&lambda[..], &acceleration[..]));
}

/// Three redundant rows of a four-bar of hinges for ten thousand steps, and driven, and a six-bar.
#[test]
fn redundant_rows() {
    for (model, until) in [("four_bar_free", 50.0), ("four_bar", 5.0), ("bricard", 5.0)] {
        let loaded = load_library(model);
        let mut largest_lambda = 0.0_f64;
        let end = watch(&loaded, Steps { method: alpha(0.8), h: 5e-3, until }, |now| {
            largest_lambda = largest_lambda.max(largest(now.lambda.iter().copied()));
        });
        let e = &end.extremes;
        println!("{model}: {largest_lambda:.3e} {} {e:?}", end.iterations as f64 / end.steps as f64);
        assert!(e.position < 1.5e-14 && e.velocity < 1e-13 && largest_lambda.is_finite(), "{model}: {e:?}");
    }
}
