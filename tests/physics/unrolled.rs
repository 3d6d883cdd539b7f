//! Steps of small models by kernels that are written out for the whole model, against the block matrix, which does the same
//! another way; and that motion that is smooth costs one iteration a step.

use mbdsl::exec::session::Loaded;
use mbdsl_runtime::steppers::method::{Level, Method};
use mbdsl_runtime::steppers::name::StepperName;

use crate::rig::{Steps, for_all_methods, largest, load, load_library, run};

/// A body on a ball joint and a particle, with a spring and a damper between them: forces of positions and velocities that
/// couple bodies.
const COUPLED: &str = "
model Coupled {
    body ball {
        mass = 2 kg; inertia = diag([0.3, 0.2, 0.4] [kg*m^2]);
        omega = fixed([0.3, 2, -1] [rad/s]);
        point top = [0, 0, 0.8] [m];
    }
    particle bob { mass = 0.5 kg; pos = fixed([0.3, 0, -1.9] [m]); vel = fixed([0, 0.7, 0] [m/s]); }
    joint pivot: spherical(ground.origin, ball.top);
    force pull: spring(ball.origin, bob, k = 400 [N/m], rest = 0.9 m);
    force drag: damper(ball.origin, bob, c = 3 [N*s/m]);
    gravity = [0, 0, -9.81] [m/s^2];
}";

fn without_unrolling(mut loaded: Loaded) -> Loaded {
    assert!(loaded.compiled.program.unrolled.is_some(), "the model is small");
    loaded.compiled.program.unrolled = None;
    loaded
}

/// Both ends of the same steps: they solve the same equations to round-off, with another elimination.
fn compare(what: &str, make: impl Fn() -> Loaded, h: f64) {
    let (unrolled, blocks) = (make(), without_unrolling(make()));
    for_all_methods(|method| {
        let steps = Steps { method, h, until: 200.0 * h };
        let [a, b] = [&unrolled, &blocks].map(|loaded| run(loaded, steps));
        let speed = largest(b.state.z.iter().map(|z| z.abs()));
        let difference = largest(a.state.z.iter().zip(&b.state.z).map(|(a, b)| (a - b).abs()));
        // Index 3 takes velocities from differences of positions: their last bit over h. Forces and rates see a tenth of that, at
        // which the iteration ends. Errors of 200 steps add up.
        let seen = if method.level == Level::Index3 { 1.0 } else { 0.1 };
        let per_step = f64::EPSILON * (speed + seen / h);
        assert!(difference < 200.0 * 10.0 * per_step, "{what}, {method}: {difference:e} of {speed}");
    });
}

#[test]
fn unrolled_steps_are_those_of_the_block_matrix() {
    for (name, h) in [
        ("single_pendulum", 1e-4),
        ("double_pendulum", 1e-4),
        ("heavy_top", 1e-3),
        ("simple_pendulum", 1e-2),
        ("dumbbell", 1e-3),
        ("asymmetric_top", 1e-3),
    ] {
        compare(name, || load_library(name), h);
    }
    compare("coupled", || load(COUPLED, &[]), 1e-3);
}

/// RATTLE by its kernels is RATTLE by block matrices: other roundings, and impulses that differ by what is left out.
#[test]
fn unrolled_stages_are_those_of_block_matrices() {
    for (name, h) in [
        ("single_pendulum", 1e-3),
        ("double_pendulum", 1e-3),
        ("heavy_top", 1e-3),
        ("simple_pendulum", 1e-2),
        ("dumbbell", 1e-2),
        ("asymmetric_top", 1e-2),
    ] {
        let (unrolled, blocks) = (load_library(name), without_unrolling(load_library(name)));
        for stepper in ["splitting_dlm", "splitting_exact+suzuki4", "variational_rrp+sofroniou_spaletta6"] {
            let method: StepperName = stepper.parse().expect("a stepper");
            let steps = Steps { method, h, until: 100.0 * h };
            let [a, b] = [&unrolled, &blocks].map(|loaded| run(loaded, steps));
            let size = largest(b.state.z.iter().map(|z| z.abs()));
            let difference = largest(a.state.z.iter().zip(&b.state.z).map(|(a, b)| (a - b).abs()));
            println!("{name}, {stepper}: {difference:.1e} of {size:.1e}");
            // Impulses are known to round-off of positions over h, and the errors of 100 steps of up to 13 stages add up.
            let per_stage = f64::EPSILON * size * (1.0 + 1.0 / (h * size));
            assert!(difference < 1300.0 * 10.0 * per_stage, "{name}, {stepper}: {difference:e} of {size}");
        }
    }
}

/// Where a step turns a body by more than a radian, the past says nothing of the next impulse: guesses must not lead astray.
#[test]
fn long_steps_stay_on_their_motion() {
    let loaded = load_library("heavy_top");
    let method: StepperName = "splitting_dlm".parse().expect("a stepper");
    let outcome = run(&loaded, Steps { method, h: 10e-3, until: 5.0 });
    assert!(outcome.failed_step.is_none());
    // Of an energy of 5436 J the oscillating error of such steps is 8; guesses that lead astray make it thousands.
    assert!(outcome.extremes.energy < 16.0, "{:?}", outcome.extremes);
}

/// The error of an extrapolated start is `(h Omega)^4` of the speed, that of the update its square: one iteration, but at the
/// start and every 128th step, where it is measured again.
#[test]
fn smooth_motion_takes_one_iteration_a_step() {
    for name in ["single_pendulum", "double_pendulum", "heavy_top"] {
        let loaded = load_library(name);
        for_all_methods(|method: Method| {
            let steps = 2000_u32;
            let outcome = run(&loaded, Steps { method, h: 1e-5, until: 1e-5 * f64::from(steps) });
            assert!(
                outcome.iterations < u64::from(steps) * 102 / 100 + 10,
                "{name}, {method}: {} iterations in {steps} steps",
                outcome.iterations
            );
        });
    }
}
