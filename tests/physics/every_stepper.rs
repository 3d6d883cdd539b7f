//! Every model of the library under every stepper: the constraint levels that a method promises are at round-off, energy and
//! motion err by its order, nothing is ever not a number; and what does not suit a model says why, and what to take.
//!
//! Errors are against `splitting_dlm+kahan_li8` with the same step, computed once a model: its error of order 8 is below the others by as
//! many digits as their orders differ. Half the step must then make a half (Euler family) or a quarter (splitting).

use mbdsl::exec::failure::Failure;
use mbdsl::exec::run::{Extremes, Outcome};
use mbdsl::exec::session::{self, Choices, Loaded};
use mbdsl_runtime::so3::log;
use mbdsl_runtime::state::State;
use mbdsl_runtime::steppers::method::Level;
use mbdsl_runtime::steppers::name::StepperName;

use crate::rig::{Steps, assemble, library, load, text, watch};

/// Steps of each run.
const STEPS: u32 = 100;

/// How a model is run: of a size that all steppers move in a moment, with steps that resolve its vibrations.
struct Case {
    set: &'static [&'static str],
    /// Longest step, s.
    longest: f64,
    /// Whether neither drive nor damper changes the energy.
    is_conservative: bool,
}

/// Most models are run as they are, with steps of at most 5 ms: those of compositions are longer.
fn case(name: &str) -> Case {
    let plain = Case { set: &[], longest: 5e-3, is_conservative: true };
    match name {
        "four_bar" => Case { is_conservative: false, ..plain },
        "chain" => Case { set: &["N=6"], longest: 1e-4, ..plain },
        "spring_network" => Case { set: &["n=2"], is_conservative: false, ..plain },
        "torus_impact" => Case { set: &["around=8", "across=4", "R=1.5", "r=0.8", "gap=0"], longest: 1e-3, ..plain },
        "argon" => Case { set: &["n=3"], ..plain },
        "rigid_water" => Case { set: &["n=2"], ..plain },
        _ => plain,
    }
}

/// A run to its end, and the energy there.
fn run(loaded: &Loaded, method: StepperName, h: f64, until: f64) -> (Outcome, f64) {
    let mut energy = f64::NAN;
    let outcome = watch(loaded, Steps { method, h, until }, |now| energy = now.measures.energy());
    (outcome, energy)
}

/// Largest distances of positions, in parts of the extent of molecules, and angles between attitudes; and those of velocities.
fn distances(a: &State, b: &State) -> [f64; 2] {
    let extent = (0..b.len()).map(|k| b.x(k).amax()).fold(f64::MIN_POSITIVE, f64::max).min(1.0);
    let largest = |size: &dyn Fn(usize) -> f64| (0..a.len()).map(size).fold(0.0, f64::max);
    [
        largest(&|k| (a.x(k) - b.x(k)).norm() / extent + log(&(a.r(k).transpose() * b.r(k))).norm()),
        largest(&|k| (a.v(k) - b.v(k)).norm() + (a.omega(k) - b.omega(k)).norm()),
    ]
}

/// What each method makes round-off. Coordinates are below 15 m, speeds below 160 m/s, accelerations below 3e4 m/s^2 in all models.
fn check_levels(what: &str, method: StepperName, e: &Extremes, is_redundant: bool) {
    let (position, velocity, acceleration) = match method {
        StepperName::Splitting(_) => (Some(if is_redundant { 1.5e-14 } else { 6e-15 }), Some(1e-12), Some(1e-9)),
        StepperName::Euler(method) => match method.level {
            Level::Index3 => (Some(1e-13), None, None),
            // Where positions drift, redundant rows stop to follow from the others, and are left open by O(h).
            Level::Index2 => (None, Some(if is_redundant { 1e-2 } else { 1e-12 }), None),
            Level::Index2Stabilised => (Some(1e-13), Some(1e-12), None),
            Level::Index1 => (Some(1e-13), Some(1e-12), Some(1e-9)),
        },
    };
    for (level, found, bound) in [
        ("position", e.position, position),
        ("velocity", e.velocity, velocity),
        ("acceleration", e.acceleration, acceleration),
    ] {
        assert!(bound.is_none_or(|bound| found <= bound), "{what}: {level} residual {found:e}");
    }
    // Rotations are repaired every thousand steps; until then a step loses about a unit.
    assert!(e.orthogonality < f64::from(STEPS) * f64::EPSILON, "{what}: {e:?}");
}

/// Errors of a step and of half of it, in parts of the whole, fall by the order of the method, or both are round-off: of motion that the
/// constraints or the method leave no error.
fn check_order(what: &str, method: StepperName, kind: &str, [coarse, fine]: [f64; 2]) {
    let order = (coarse / fine).log2();
    println!("{what}: {kind} {fine:.2e}, order {order:.3}");
    let range = match method {
        StepperName::Euler(_) => 0.9..1.1,
        StepperName::Splitting(_) => 1.9..2.1,
    };
    assert!(range.contains(&order) || coarse.max(fine) < 5e-13, "{what}: {kind} {coarse:e} {fine:e}, order {order}");
}

#[test]
fn every_model_with_every_stepper() {
    let all = library();
    assert!(all.len() >= 17, "the library is found");
    for path in all {
        let name = path.file_stem().and_then(|s| s.to_str()).expect("a name").to_owned();
        let case = case(&name);
        let loaded = load(&text(&name), case.set);
        let is_redundant = !assemble(&loaded).report.dependent.is_empty();
        let h = loaded.binding.step.expect("a model of the library gives its step").min(case.longest);
        let until = h * f64::from(STEPS);
        let (reference, end) = run(&loaded, "splitting_dlm+kahan_li8".parse().expect("a stepper"), h, until);
        for method in session::applicable(&loaded) {
            let what = format!("{name}, {method}");
            let runs = [h, h / 2.0].map(|h| run(&loaded, method, h, until));
            for (outcome, _) in &runs {
                assert!(outcome.state.z.iter().chain(&outcome.lambda).all(|x| x.is_finite()), "{what}");
                check_levels(&what, method, &outcome.extremes, is_redundant);
                let most = if matches!(method, StepperName::Euler(_)) { 6 } else { 4 };
                assert!(outcome.iterations <= most * outcome.steps, "{what}: {} iterations", outcome.iterations);
            }
            let energies =
                runs.each_ref().map(
                    |(outcome, energy)| {
                        if case.is_conservative { outcome.extremes.energy } else { (energy - end).abs() }
                    },
                );
            let speed = reference.state.z.iter().fold(0.0, |most: f64, z| most.max(z.abs()));
            let motion = runs.each_ref().map(|(outcome, _)| distances(&outcome.state, &reference.state));
            check_order(&what, method, "energy", energies.map(|e| e / reference.extremes.scale));
            for (k, (kind, scale)) in [("motion", 1.0), ("velocity", 1.0 + speed)].into_iter().enumerate() {
                check_order(&what, method, kind, motion.map(|errors| errors[k] / scale));
            }
        }
    }
}

/// Steppers that move spheres only are refused for all other bodies, by name of the body and with what to take instead.
#[test]
fn what_does_not_suit_says_what_to_take() {
    let mut refused = 0;
    for path in library() {
        let name = path.file_stem().and_then(|s| s.to_str()).expect("a name").to_owned();
        let loaded = load(&text(&name), case(&name).set);
        let suits = session::applicable(&loaded);
        for method in StepperName::basic().filter(|method| !suits.contains(method)) {
            let choices = Choices { stepper: Some(method.name().to_owned()), ..Choices::default() };
            let Err(Failure::Usage(message)) = session::setup(&loaded, &choices) else { panic!("{name}, {method}") };
            let expected = match method {
                StepperName::Euler(_) => format!(
                    "`{method}` is implicit and needs to know all pairs of a potential before the run, without a distance in `where`: take a `splitting_...` or `variational_rrp`"
                ),
                StepperName::Splitting(scheme) => {
                    let body =
                        loaded.binding.bodies.iter().position(|b| scheme.check(core::slice::from_ref(b)).is_err());
                    let body = loaded.compiled.model.body_name(body.expect("one is not a sphere"));
                    format!(
                        "`{method}` moves bodies with three equal moments of inertia only, and those of `{body}` are not equal: take `variational_rrp` or a `splitting_...`"
                    )
                }
            };
            assert!(message.contains(&expected), "{name}: {message}");
            refused += 1;
        }
    }
    assert!(refused >= 2 * 13, "two steppers of spheres, and most models have other bodies: {refused}");
}
