//! Small models that tripped other tools: frames of velocities, derivatives at singular points of the rotation group,
//! accelerations of points, integer division, parameters by position, expressions that blow up.

use mbdsl::backend::engine::{Backend, Engine};
use mbdsl::exec::system::ProgramSystem;
use mbdsl::ir::VerifiedKernel;
use mbdsl::ir::text::{OperationCount, count};
use mbdsl_runtime::nalgebra::{Matrix3, Vector3};
use mbdsl_runtime::steppers::method::Method;
use mbdsl_runtime::system::System as _;

use crate::rig::{
    Steps, assemble, check_first_order, for_all_methods, halved, load, load_library, run, try_load, watch,
};

/// Case 12: `vel` is in space, `omega` in the body. A cube turned by 90 degrees about z spins about the y axis of space
/// when its omega is along its x axis; it flies along the x axis of space.
#[test]
fn velocities_have_their_frames() {
    let text = "
model Cube {
    body cube { mass = 1 kg; inertia = box([2, 2, 2] m); rot = about([0, 0, 1], 90 deg);
                vel = [10, 0, 0] [m/s]; omega = [1, 0, 0] [rad/s]; }
    output spin = cube.omega_world;
    simulate { stepper = dae1l_lse; step = 10 ms; until = 1 s; }
}";
    let loaded = load(text, &[]);
    for method in Method::ALL {
        let outcome = watch(&loaded, Steps { method, h: 0.01, until: 1.0 }, |s| {
            let spin = Vector3::from_column_slice(s.outputs);
            assert!((spin - Vector3::y()).amax() < 1e-14, "{method}: {spin}");
        });
        let about = |axis: Vector3<f64>, angle: f64| mbdsl_runtime::so3::exp(&(axis * angle));
        let r: Matrix3<f64> = about(Vector3::y(), 1.0) * about(Vector3::z(), std::f64::consts::FRAC_PI_2);
        assert!((outcome.state.r(0) - r).amax() < 1e-13, "{method}");
        assert!((outcome.state.x(0) - Vector3::new(10.0, 0.0, 0.0)).amax() < 1e-13, "{method}");
    }
}

/// A spring that turns a body back: its energy is a function of the rotation vector.
const BUSHING: &str = "
model Bushing {
    param angle = 0.3;
    param rate = 0 [rad/s];
    body b { mass = 1 kg; inertia = diag([2, 2, 2] [kg*m^2]); rot = about([1, 2, 2], angle);
             omega = [1, 2, 2] / 3 * rate; }
    potential back: 0.5 * 8 [N*m] * norm2(log_so3(b.rot));
    simulate { stepper = dae1l_lse; step = 1 ms; until = 1 s; }
}
";

/// Case 18: at the identity the derivatives of `log_so3` are finite, so the body oscillates with w = sqrt(k/J).
#[test]
fn rotation_vector_is_smooth_at_the_identity() {
    let resting = load(BUSHING, &["angle=0"]);
    let kicked = load(BUSHING, &["angle=0", "rate=0.5"]);
    for_all_methods(|method| {
        let s = run(&resting, Steps { method, h: 1e-3, until: 0.1 }).state;
        assert_eq!((s.r(0), s.omega(0)), (Matrix3::identity(), Vector3::zeros()), "{method}");
        let [errors] = halved(1e-3, |h| {
            let s = run(&kicked, Steps { method, h, until: 1.0 }).state;
            // Motion about a fixed axis: phi = rate / w sin(w t), w = 2 rad/s.
            let exact = Vector3::new(1.0, 2.0, 2.0) / 3.0 * 0.25 * 2.0_f64.sin();
            [(mbdsl_runtime::so3::log(&s.r(0)) - exact).norm()]
        });
        check_first_order("bushing", method, errors);
    });
}

/// Case 18: at a half turn the direction of the torque is a matter of choice, but it is a torque, not a NaN.
#[test]
fn rotation_vector_is_finite_at_a_half_turn() {
    let loaded = load(BUSHING, &["angle=180deg"]);
    assert!((loaded.binding.guess.r(0).trace() + 1.0).abs() < 1e-15, "it is a half turn");
    for method in Method::ALL {
        let outcome = run(&loaded, Steps { method, h: 1e-3, until: 0.2 });
        assert!(outcome.state.z.iter().all(|x| x.is_finite()), "{method}");
        // U = k pi^2 / 2 at the start.
        let start = 4.0 * std::f64::consts::PI.powi(2);
        assert!((outcome.energy_start - start).abs() < 1e-12, "{method}: {}", outcome.energy_start);
        // After 0.2 s the body turns back with about k pi / J * 0.2 s = 2.5 rad/s.
        let speed = outcome.state.omega(0).norm();
        assert!((2.2..2.6).contains(&speed), "{method}: {speed}");
    }
}

/// Case 39: the convective term of a rotating arm is the classical acceleration of its point: `-w^2 r`, and the
/// derivative of `B V` along `V`.
#[test]
fn convective_term_is_the_centripetal_acceleration() {
    let text = "
model Arm {
    body arm { mass = 1 kg; inertia = diag([1, 1, 1] [kg*m^2]); point tip = [0.7, 0, 0] m; omega = [0, 0, 3] [rad/s]; }
    joint pin: spherical(ground.origin, arm.tip);
    simulate { stepper = dae1l_lse; step = 1 ms; until = 1 s; }
}";
    let loaded = load(text, &[]);
    let mut system = ProgramSystem::new(&loaded.compiled.program, &loaded.binding, &Engine::new(Backend::Interp))
        .expect("small kernels");
    let s = &loaded.binding.guess;
    let mut gamma = [f64::NAN; 3];
    system.convective(s, &mut gamma);
    assert!((Vector3::from(gamma) - Vector3::new(-9.0 * 0.7, 0.0, 0.0)).amax() < 1e-14, "{gamma:?}");
    // B V = Omega x tip in space after turning by +-eps about z.
    let mut rate = |eps: f64| {
        let mut turned = s.clone();
        turned.set_r(0, &mbdsl_runtime::so3::exp(&Vector3::new(0.0, 0.0, 3.0 * eps)));
        let mut jac = mbdsl_runtime::system::Jacobian::default();
        system.jacobian(&turned, &mut jac);
        let v = [0.0, 0.0, 0.0, 0.0, 0.0, 3.0];
        Vector3::from_fn(|row, _| (0..6).map(|k| jac.b[6 * row + k] * v[k]).sum::<f64>())
    };
    let eps = 1e-5;
    let difference = (rate(eps) - rate(-eps)) / (2.0 * eps);
    // Central difference: w^4 r eps^2 / 6 and rounding 1e-16 / eps.
    assert!((difference - Vector3::from(gamma)).amax() < 1e-9, "{difference}");
}

/// Case 57: `1/2` is a half, and stays one inside powers and products.
#[test]
fn quotients_of_integers_are_numbers() {
    let text = "
model Half {
    const N = 3;
    param half = 1/2;
    particle p { mass = 1 kg; pos = [1/2, 0, 0] m; vel = [2 * 1/4, 0, 0] [m/s]; }
    output a = 1/2;
    output b = 4^(1/2);
    output c = (1/2) * p.pos.x / 1 [m];
    output d = half;
    output e = 7/2/7;
    output f = N/2;
    output g = -1/2 * 3 - 2^-1;
    simulate { stepper = dae1l_lse; step = 10 ms; until = 10 ms; }
}";
    let loaded = load(text, &[]);
    let mut seen = Vec::new();
    let outcome = watch(&loaded, Steps { method: Method::ALL[0], h: 0.01, until: 0.01 }, |s| {
        if s.n == 0 {
            seen = s.outputs.to_vec();
        }
    });
    assert_eq!(seen, [0.5, 2.0, 0.25, 0.5, 0.5, 1.5, -2.0]);
    assert_eq!(outcome.state.v(0).x, 0.5);
}

/// Case 62: one mass on spring and damper, state (1, 2): the acceleration for m = 1, c = 2, k = 3 is -7, whatever the
/// order in which the parameters are declared or set.
#[test]
fn parameters_are_set_by_name() {
    let text = "
model Oscillator {
    param k = 1 [N/m];
    param m = 3 kg;
    param c = 2 [N*s/m];
    particle p { mass = m; pos = [1, 0, 0] m; vel = [2, 0, 0] [m/s]; }
    potential spring: 0.5 * k * p.pos.x^2;
    dissipation damper: 0.5 * c * p.vel.x^2;
    simulate { stepper = dae1l_lse; step = 1 ms; until = 1 s; }
}";
    let acceleration = |set: &[&str]| {
        let loaded = load(text, set);
        let mut session = assemble(&loaded);
        let (a, _) = mbdsl_runtime::acceleration::accelerations(&mut session.system, &session.start).expect("a mass");
        a[0]
    };
    assert_eq!(acceleration(&["m=1", "c=2", "k=3"]), -7.0);
    assert_eq!(acceleration(&["k=3 [N/m]", "m=1kg"]), -7.0);
    assert!((acceleration(&[]) - -5.0 / 3.0).abs() < 1e-15);
    assert!(try_load(text, &["mass=1"]).is_err(), "there is no such parameter");
    assert!(try_load(text, &["m=1 s"]).is_err(), "a mass is no time");
}

/// Additions, multiplications and dearer operations of a kernel.
fn cost(kernel: &VerifiedKernel) -> (usize, OperationCount) {
    let c = count(kernel.get());
    (c.adds + c.muls + c.divs + c.sqrts + c.functions, c)
}

/// Case 58: expressions share what they have in common, so that all that Newton needs of an element costs a small
/// multiple of what is written to its blocks: 260 operations for a hinge between two bodies.
#[test]
fn kernels_stay_small() {
    for name in ["single_pendulum", "double_pendulum", "chain", "four_bar", "bricard"] {
        let loaded = load_library(name);
        for c in &loaded.compiled.program.constraints {
            let (newton, detail) = cost(&c.newton);
            // What it could write: Phi, Phi_t, B, d(B V)/dq and d(B^T lambda)/dq. Much of it is zero for a joint, so an
            // operation for each is enough; an angle is a quotient of products, and its derivatives are dearer.
            let written = 2 * c.rows + 2 * c.rows * c.dim + c.dim * c.dim;
            let enough = if c.family.name == "drive" { 2 * written } else { written };
            assert!(newton < enough, "{name} {}: {newton} operations for {written} numbers", c.family.name);
            assert!(cost(&c.jacobian).0 < newton && cost(&c.value).0 < cost(&c.jacobian).0, "{name} {}", c.family.name);
            // Rotations are states, not angles: no kernel of a joint calls a function, unless its angle is driven.
            assert!(detail.functions == 0 || c.family.name == "drive", "{name} {}: {detail}", c.family.name);
        }
    }
}
