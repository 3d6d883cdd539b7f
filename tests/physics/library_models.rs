//! Every model of the library with every stepper: what a method promises of the constraints is at round-off, the energy
//! stays bounded, nothing is ever not a number.

use mbdsl::exec::run::Extremes;
use mbdsl_runtime::steppers::method::{Level, Method};

use crate::rig::{Steps, assemble, for_all_methods, library, load_small, run};

/// Steps of each run.
const STEPS: u32 = 200;

/// Longest step, s.
const LONGEST: f64 = 5e-3;

#[test]
fn every_model_with_every_stepper() {
    let all = library();
    assert!(all.len() >= 8, "the library is found");
    for path in all {
        let name = path.file_stem().and_then(|s| s.to_str()).expect("a name").to_owned();
        let loaded = load_small(&name);
        // Implicit steppers do not move pairs that are found during a run.
        if !loaded.compiled.program.pairs.is_empty() {
            continue;
        }
        let report = assemble(&loaded).report;
        // Steps of order 8 are long; these methods have order 1.
        let h = loaded.binding.step.expect("a model of the library gives its step").min(LONGEST);
        for_all_methods(|method| {
            let outcome = run(&loaded, Steps { method, h, until: h * f64::from(STEPS) });
            assert_eq!(outcome.steps, u64::from(STEPS), "{name} {method}");
            assert!(outcome.state.z.iter().chain(&outcome.lambda).all(|x| x.is_finite()), "{name} {method}");
            let e = outcome.extremes;
            check_levels(&name, method, &e, report.rank < report.rows);
            // Rotations are repaired every thousand steps; until then a step loses about a unit.
            assert!(e.orthogonality < f64::from(STEPS) * f64::EPSILON, "{name} {method}: {e:?}");
            // Newton with exact derivatives: from an extrapolated start a handful.
            assert!(outcome.iterations <= 6 * outcome.steps, "{name} {method}");
            assert!(e.energy <= e.scale, "{name} {method}: {e:?}");
            // Without drive and dampers the change is the error of the method, and falls with the step; the waves in
            // the chain are faster than its steps.
            if name != "four_bar" && name != "chain" && name != "spring_network" {
                let half = run(&loaded, Steps { method, h: h / 2.0, until: h * f64::from(STEPS) }).extremes;
                println!("{name} {method}: {:e} J, with half the step {:e} J", e.energy, half.energy);
                assert!(half.energy < 0.75 * e.energy, "{name} {method}: {e:?} and {half:?}");
            }
        });
    }
}

fn check_levels(name: &str, method: Method, e: &Extremes, is_redundant: bool) {
    let (position, velocity, acceleration) = match method.level {
        Level::Index3 => (true, false, false),
        Level::Index2 => (false, true, false),
        Level::Index2Stabilised => (true, true, false),
        Level::Index1 => (true, true, true),
    };
    // Lengths are below 3 m, speeds below 160 m/s, accelerations below 3e4 m/s^2 in all models.
    assert!(!position || e.position < 1e-13, "{name} {method}: {e:?}");
    // Where positions drift, redundant rows stop to follow from the others, and are left open by O(h).
    let bound = if is_redundant && !position { 1e-2 } else { 1e-12 };
    assert!(!velocity || e.velocity < bound, "{name} {method}: {e:?}");
    assert!(!acceleration || e.acceleration < 1e-9, "{name} {method}: {e:?}");
}
