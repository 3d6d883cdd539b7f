//! Books that must balance: energy against dissipated power, weight against reactions, springs against weights.

use mbdsl_runtime::nalgebra::Vector3;
use mbdsl_runtime::steppers::method::Method;

use crate::rig::{Steps, assemble, check_first_order, for_all_methods, halved, load, run, run_session, watch};

/// A hinge with friction and a damper between two bodies; `power` is twice the sum of the Rayleigh functions.
const DAMPED: &str = "
model Damped {
    gravity = [0, 0, -9.81] [m/s^2];
    body arm { mass = 2 kg; inertia = cylinder(radius = 20 mm, length = 1 m, axis = [1, 0, 0]);
               point top = [-0.5, 0, 0] m; point tip = [0.5, 0, 0] m; pos = [0.5, 0, 0] m; }
    particle bob { mass = 0.5 kg; pos = [1, 0, -0.8] m; vel = [0.5, 1, 0] [m/s]; }
    joint hinge: revolute(ground.origin, arm.top, axis = [0, 1, 0]);
    force s: spring(arm.tip, bob, k = 40 [N/m], rest = 0.5 m);
    force d: damper(arm.tip, bob, c = 3 [N*s/m]);
    dissipation friction: 0.5 * 0.4 [N*m*s] * hinge.rate^2;
    output power = 0.4 [N*m*s] * hinge.rate^2 + 3 [N*s/m] * d.rate^2;
    simulate { stepper = dae1l_lse; step = 1 ms; until = 1 s; }
}
";

/// Energy lost is the integral of the dissipated power, up to the O(h) of the methods; it falls in every step.
#[test]
fn lost_energy_is_dissipated_energy() {
    let loaded = load(DAMPED, &[]);
    for_all_methods(|method| {
        let [errors] = halved(1e-3, |h| {
            let (mut work, mut energies, mut last) = (0.0, Vec::new(), None);
            watch(&loaded, Steps { method, h, until: 1.0 }, |s| {
                // Trapezium rule: its own error is O(h^2).
                let now = s.outputs[0];
                work += last.map_or(0.0, |last: f64| 0.5 * h * (last + now));
                last = Some(now);
                energies.push(s.measures.energy());
            });
            let lost = energies[0] - energies[energies.len() - 1];
            assert!(lost > 1.0, "there is something to lose: {lost}");
            [(lost - work).abs()]
        });
        check_first_order("damped arm, energy against work", method, errors);
    });
}

/// A body at rest under its joint: the reaction is its weight, and nothing moves.
const HANGING: &str = "
model Hanging {
    param m = 7 kg;
    gravity = [0, 0, -9.81] [m/s^2];
    body lamp { mass = m; inertia = sphere(radius = 0.1 m); point hook = [0, 0, 0.4] m; pos = [0, 0, -0.4] m; }
    joint hook: JOINT;
    output reaction = hook.reaction;
    simulate { stepper = dae1l_lse; step = 10 ms; until = 1 s; }
}
";

#[test]
fn reaction_of_a_hanging_body_is_its_weight() {
    let weight = Vector3::new(0.0, 0.0, 7.0 * 9.81);
    for joint in [
        "spherical(ground.origin, lamp.hook)",
        "revolute(ground.origin, lamp.hook, axis = [0, 1, 0])",
        "universal(ground.origin, lamp.hook, axis = [1, 0, 0], axis_b = [0, 1, 0])",
        "weld(ground.origin, lamp.hook)",
    ] {
        let loaded = load(&HANGING.replace("JOINT", joint), &[]);
        for method in Method::ALL {
            let outcome = watch(&loaded, Steps { method, h: 0.01, until: 1.0 }, |s| {
                let found = Vector3::from_column_slice(s.outputs);
                // At the start from the accelerations, later from the steps; 69 N to a few units.
                assert!((found - weight).amax() < 1e-12, "{joint}, {method}: {found}");
            });
            let s = outcome.state;
            assert!((s.x(0) - Vector3::new(0.0, 0.0, -0.4)).amax() < 1e-14, "{joint}, {method}");
            assert!(s.v(0).amax().max(s.omega(0).amax()) < 1e-14, "{joint}, {method}");
        }
    }
}

/// The rod of a hanging particle pulls with its weight: the multiplier of `distance` is a tension in newtons.
#[test]
fn multiplier_of_a_rod_is_its_tension() {
    let text = "
model Rod {
    gravity = [0, 0, -9.81] [m/s^2];
    particle bob { mass = 3 kg; pos = [0, 0, -2] m; }
    joint rod: distance(ground.origin, bob, length = 2 m);
    output tension = rod.multiplier;
    output pull = rod.reaction;
    simulate { stepper = dae1l_lse; step = 10 ms; until = 0.1 s; }
}";
    let loaded = load(text, &[]);
    for method in Method::ALL {
        watch(&loaded, Steps { method, h: 0.01, until: 0.1 }, |s| {
            let weight = 3.0 * 9.81;
            let [tension, x, y, z] = s.outputs else { panic!("four numbers") };
            assert!((tension - weight).abs() < 1e-13 && (z - weight).abs() < 1e-13, "{method}: {:?}", s.outputs);
            assert_eq!((*x, *y), (0.0, 0.0), "{method}");
        });
    }
}

/// A damped mass comes to rest at `rest + m g / k` below its spring, from any start.
#[test]
fn spring_carries_its_weight() {
    let text = "
model Static {
    param k = 200 [N/m];
    gravity = [0, 0, -9.81] [m/s^2];
    particle bob { mass = 1 kg; pos = [0, 0, -0.3] m; }
    force s: spring(ground.origin, bob, k = k, rest = 0.2 m);
    force d: damper(ground.origin, bob, c = 20 [N*s/m]);
    simulate { stepper = dae1l_lse; step = 5 ms; until = 5 s; }
}";
    let loaded = load(text, &[]);
    for method in Method::ALL {
        let s = run(&loaded, Steps { method, h: 5e-3, until: 5.0 }).state;
        // Decays with 10 1/s: exp(-50) is below round-off.
        let expected = Vector3::new(0.0, 0.0, -0.2 - 9.81 / 200.0);
        assert!((s.x(0) - expected).amax() < 1e-14, "{method}: {}", s.x(0));
    }
}

/// Case 42: a mass that falls from near its suspension swings between 0.3 m and 49.15 m, period 9.9346 s, on a line.
#[test]
fn mass_on_a_soft_spring_swings_on_a_line() {
    let text = "
model Soft {
    gravity = [0, 0, -9.81] [m/s^2];
    particle bob { mass = 100 kg; pos = [0, 0, -0.3] m; }
    force s: spring(ground.origin, bob, k = 40 [N/m], rest = 0.2 m);
    simulate { stepper = dae1l_lse; step = 1 ms; until = 10 s; }
}";
    let loaded = load(text, &[]);
    for_all_methods(|method| {
        let period = 2.0 * std::f64::consts::PI * 2.5_f64.sqrt();
        let [errors] = halved(2e-3, |h| {
            let s = run(&loaded, Steps { method, h, until: period / 2.0 }).state;
            assert_eq!((s.x(0).x, s.x(0).y), (0.0, 0.0));
            [(s.x(0).z + 2.0 * (0.2 + 100.0 * 9.81 / 40.0) - 0.3).abs()]
        });
        check_first_order("mass on a soft spring", method, errors);
    });
}

/// Case 21: a spring on a hinge that is wound up over several turns; its energy has no jumps.
#[test]
fn angles_count_turns() {
    let text = "
model Wound {
    body rotor { mass = 1 kg; inertia = diag([1, 1, 1] [kg*m^2]); }
    joint hinge: revolute(ground.origin, rotor.origin, axis = [0, 0, 1]) {
        angle = fixed(0 deg); rate = fixed(20 [rad/s]);
    }
    potential spring: 0.5 * 1 [N*m] * hinge.angle^2;
    output angle = hinge.angle;
    simulate { stepper = dae1l_lse; step = 1 ms; until = 7 s; }
}";
    let loaded = load(text, &[]);
    for_all_methods(|method| {
        let [errors] = halved(1e-3, |h| {
            let (mut most, mut worst) = (0.0_f64, 0.0_f64);
            watch(&loaded, Steps { method, h, until: 7.0 }, |s| {
                // phi = 20 sin t, more than three turns to each side.
                worst = worst.max((s.outputs[0] - 20.0 * s.state.t.sin()).abs());
                most = most.max(s.outputs[0].abs());
            });
            assert!(most > 19.0, "{method}: {most}");
            [worst]
        });
        check_first_order("wound spring", method, errors);
    });
}

/// A drive does the work that the model gains: its torque is the negative multiplier.
#[test]
fn work_of_a_drive_is_gained_energy() {
    let text = "
model Driven {
    gravity = [0, 0, -9.81] [m/s^2];
    body arm { mass = 2 kg; inertia = cylinder(radius = 20 mm, length = 1 m, axis = [1, 0, 0]);
               point top = [-0.5, 0, 0] m; pos = [0.5, 0, 0] m; }
    joint hinge: revolute(ground.origin, arm.top, axis = [0, -1, 0]);
    constraint drive: hinge.angle == 0.5 * 3 [rad/s^2] * time^2;
    output effort = -drive.multiplier;
    output rate = hinge.rate;
    simulate { stepper = dae1l_lse; step = 1 ms; until = 1 s; }
}";
    let loaded = load(text, &[]);
    for_all_methods(|method| {
        let [errors] = halved(1e-3, |h| {
            let (mut work, mut first, mut last) = (0.0, None, 0.0);
            let mut session = assemble(&loaded);
            let outcome = run_session(
                &loaded,
                &mut session,
                Steps { method, h, until: 1.0 },
                Some(&mut |s| {
                    if s.n > 0 {
                        // Torque and rate of the step.
                        work += h * s.outputs[0] * s.outputs[1];
                    }
                    last = s.measures.energy();
                    first.get_or_insert(last);
                }),
            );
            assert!(outcome.failed_step.is_none(), "{:?}", outcome.failed_step);
            let gained = last - first.unwrap_or(f64::NAN);
            assert!(gained > 5.0);
            [(gained - work).abs()]
        });
        check_first_order("driven arm, energy against work", method, errors);
    });
}
