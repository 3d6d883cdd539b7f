//! Steps do not allocate: every model of the library, generated and interpreted, under all steppers, with an allocator that counts.

use allocation_counter::measure;
use mbdsl::backend::engine::Backend;
use mbdsl::catalogue::MODELS;
use mbdsl::exec::session::{self, Choices};
use mbdsl::source::Sources;
use mbdsl_runtime::prelude::*;

use crate::models;

/// Steps of each stepper: enough for the pivots, and for redundant rows to be looked at again.
const STEPS: u64 = 50;

/// Fails if a step that a tolerance chooses, its outputs, or what leads to an event allocates, in the last of so many rounds.
fn check_adaptive(name: &str, system: &mut dyn System, start: &State, plan: &Plan, rounds: usize) {
    for (round, called) in
        (1..=rounds).flat_map(|round| ["dopri5", "dop853", "radau5", "radau7"].map(|stepper| (round, stepper)))
    {
        let method = called.parse::<StepperName>().expect("a stepper").adaptive().expect("it estimates its error");
        // One step may need derivatives of forces for the first time, and makes room for them.
        let mut first = called.starts_with("radau");
        let mut stepper = Adaptive::new(system.topology(), method, Tolerance::default());
        let mut state = start.clone();
        // Some outputs lie in one step, some steps between two outputs.
        let times = (1..=20).flat_map(|n| [plan.time(n), plan.time(n) + 0.3 * plan.step]);
        for t in times.map(|t| t.max(state.t)).collect::<Vec<_>>() {
            let mut result = None;
            let info = measure(|| result = Some(stepper.step(system, &mut state, t)));
            result.expect("a step was made").unwrap_or_else(|e| panic!("{name}, {called}: {e}"));
            let is_first = info.count_total > 0 && core::mem::take(&mut first);
            assert!(round < rounds || is_first || info.count_total == 0, "{name}, {called}, {t} s: {info:?}");
        }
        let (height, end) = (state.x(0).z, state.t + 5.0 * plan.step);
        let mut result = None;
        let info = measure(|| {
            result = Some(stepper.step_to_event(system, &mut state, end, Crossing::Either, |_, s| s.x(0).z - height));
        });
        result.expect("a step was made").unwrap_or_else(|e| panic!("{name}, {called}: {e}"));
        assert!(round < rounds || first || info.count_total == 0, "{name}, {called}, event: {info:?}");
    }
}

/// Fails if one of the first steps of a stepper allocates, the very first included, in the last of so many rounds.
fn check(name: &str, system: &mut dyn System, start: &State, plan: &Plan, rounds: usize) {
    for (round, method) in (1..=rounds).flat_map(|round| StepperName::basic().map(move |method| (round, method))) {
        if method.check(system.topology()).is_err() {
            continue;
        }
        let mut state = start.clone();
        let mut stepper = None;
        let made = measure(|| stepper = Some(AnyStepper::new(system.topology(), method)));
        assert!(made.count_total > 0, "{name}, {method}: the allocator does not count");
        let mut stepper = stepper.expect("made above").expect("it suits the bodies");
        // Their steps evaluate a model some thirty times.
        let steps = if matches!(method, StepperName::Implicit(_)) { STEPS / 10 } else { STEPS };
        for n in 1..=steps {
            let (size, time) = (plan.size(n), plan.time(n));
            let mut result = None;
            let info = measure(|| result = Some(stepper.step(system, &mut state, size, time)));
            // An error allocates, for the names that it shows.
            result.expect("a step was made").unwrap_or_else(|e| panic!("{name}, {method}: {e}"));
            assert!(round < rounds || info.count_total == 0, "{name}, {method}, step {n}: {info:?}");
        }
    }
}

#[test]
fn steps_of_interpreted_models() {
    for (name, text) in MODELS {
        let mut sources = Sources::default();
        let file = sources.add(name, text);
        // As in `models`.
        let set = if name == "rigid_water" { vec!["n=2".to_owned()] } else { Vec::new() };
        let choices = Choices { set, backend: Backend::Interp, ..Choices::default() };
        let loaded = session::load(&mut sources, file, &choices).expect("a good model");
        let setup = session::setup(&loaded, &choices).expect("the model says how to run it");
        let mut session = session::assemble(&loaded).expect("an assembled start");
        let start = session.start.clone();
        // Machines of the interpreter are made when they first run.
        check(name, &mut session.system, &start, &setup.plan, 2);
        check_adaptive(name, &mut session.system, &start, &setup.plan, 2);
    }
}

/// A test for each model of the library, by the name of its module.
macro_rules! generated {
    ($($module:ident::$model:ident,)*) => {
        $(#[test]
        fn $module() {
            use models::$module::{$model, Params};
            let mut model = $model::new(Params::default()).expect("good parameters");
            let (start, _) = model.assemble().expect("an assembled start");
            let plan = model.plan().expect("the model says how to run it");
            check(stringify!($module), &mut model, &start, &plan, 1);
            check_adaptive(stringify!($module), &mut model, &start, &plan, 1);
        })*

        #[test]
        fn no_model_is_missing() {
            assert_eq!([$(stringify!($module)),*], MODELS.map(|(name, _)| name));
        }
    };
}

generated! {
    andrews::Andrews,
    argon::Argon,
    asymmetric_top::AsymmetricTop,
    bricard::Bricard,
    chain::Chain,
    closed_ring::ClosedRing,
    double_ball::DoubleBall,
    double_pendulum::DoublePendulum,
    dumbbell::Dumbbell,
    dzhanibekov::Dzhanibekov,
    four_bar::FourBar,
    four_bar_free::FourBarFree,
    free_body::FreeBody,
    heavy_top::HeavyTop,
    pendulum_3d::Pendulum3d,
    rigid_water::RigidWater,
    simple_pendulum::SimplePendulum,
    single_pendulum::SinglePendulum,
    spring_network::SpringNetwork,
    torus_impact::TorusImpact,
}
