//! Runs of a model by a stepper of any name, and how far two states are apart.

use mbdsl_runtime::monitor::{Measures, Monitor};
use mbdsl_runtime::so3::{exp, log};
use mbdsl_runtime::state::State;
use mbdsl_runtime::steppers::{AnyStepper, Stepper};
use mbdsl_runtime::system::System;
use mbdsl_runtime::topology::BodyKind;
use nalgebra::{Matrix3, Vector3};

use super::{Load, Model};

type V3 = Vector3<f64>;

/// A stepper by its name.
pub fn stepper(model: &Model, name: &str) -> AnyStepper {
    AnyStepper::new(model.topology(), name.parse().expect("a stepper")).expect("it suits the model")
}

/// The state after `steps` steps of size `h`; `watch` sees each.
pub fn run_watched(
    (model, start): &(Model, State),
    name: &str,
    h: f64,
    steps: u32,
    mut watch: impl FnMut(&mut Model, &State, &AnyStepper),
) -> State {
    let (mut model, mut s) = (model.clone(), start.clone());
    let mut stepper = stepper(&model, name);
    let t0 = s.t;
    for n in 1..=steps {
        stepper.step(&mut model, &mut s, h, t0 + f64::from(n) * h).unwrap_or_else(|e| panic!("{name}: {e}"));
        watch(&mut model, &s, &stepper);
    }
    s
}

/// The state at the time `until` by steps of about `h`.
pub fn run(case: &(Model, State), name: &str, h: f64, until: f64) -> State {
    let steps = (until / h).round();
    run_watched(case, name, until / steps, steps as u32, |_, _, _| {})
}

/// Energies, momenta and residuals of a state.
pub fn measure(model: &mut Model, s: &State, stepper: &AnyStepper) -> Measures {
    Monitor::new(model.topology()).measure(model, s, stepper.acceleration())
}

/// Energy of a state.
pub fn energy(model: &mut Model, s: &State) -> f64 {
    let nothing = vec![0.0; model.topology().nv()];
    Monitor::new(model.topology()).measure(model, s, &nothing).energy()
}

/// Angular momentum of a body in its axes.
pub fn momentum(model: &Model, s: &State, body: usize) -> V3 {
    model.topology.bodies[body].inertia * s.omega(body)
}

/// Largest differences of positions, attitudes (angle), velocities, angular momenta.
pub fn distances(model: &Model, a: &State, b: &State) -> [f64; 4] {
    let mut largest = [0.0_f64; 4];
    for (k, body) in model.topology.bodies.iter().enumerate() {
        let mut here = [(a.x(k) - b.x(k)).norm(), 0.0, (a.v(k) - b.v(k)).norm(), 0.0];
        if body.kind == BodyKind::Rigid {
            here[1] = log(&(a.r(k).transpose() * b.r(k))).norm();
            here[3] = (momentum(model, a, k) - momentum(model, b, k)).norm();
        }
        for (largest, here) in largest.iter_mut().zip(here) {
            *largest = largest.max(here);
        }
    }
    largest
}

/// `log2` of the ratio of two errors: the order where the second step is half of the first.
pub fn order(coarse: f64, fine: f64) -> f64 {
    (coarse / fine).log2()
}

/// A body that turns about its origin, with `pi` its angular momentum in body axes.
pub fn turning(inertia: [f64; 3], r: Matrix3<f64>, pi: [f64; 3]) -> (Model, State) {
    let mut model = Model::new(0.0);
    model.rigid(1.0, inertia);
    let mut s = State::new(1, 0);
    s.set_r(0, &r);
    s.set_omega(0, &V3::from(core::array::from_fn(|k| pi[k] / inertia[k])));
    (model, s)
}

/// The free body whose motion is known to fifteen digits.
pub fn free_body() -> (Model, State) {
    turning([1.0, 2.0, 3.5], Matrix3::identity(), [0.6, 1.9, -1.1])
}

/// The tilted start of the tops.
pub fn tilted() -> Matrix3<f64> {
    exp(&(V3::z() * 0.3)) * exp(&(V3::x() * 0.8)) * exp(&(V3::z() * 0.1))
}

/// A heavy top without symmetry.
pub fn heavy_top() -> (Model, State) {
    let (mut model, s) = turning([1.0, 1.4, 0.6], tilted(), [0.3, -0.5, 2.0]);
    model.load(Load::Pivot { body: 0, arm: V3::new(0.05, 0.1, 0.5), force: V3::z() * -2.0 });
    (model, s)
}

/// A pendulum with three equal moments about its pivot.
pub fn spherical_pendulum() -> (Model, State) {
    let (mut model, s) = turning([0.8; 3], tilted(), [0.4, -0.3, 0.7]);
    model.load(Load::Pivot { body: 0, arm: V3::new(0.1, -0.2, -0.5), force: V3::z() * -2.0 });
    (model, s)
}
