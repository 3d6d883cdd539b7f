//! A torus of 480 spheres, bonded elastically, flies against a smooth elastic wall and off again.

#[expect(dead_code, reason = "each test binary uses a part of the common models")]
mod common;

use core::f64::consts::PI;

use common::runs::{energy, order, stepper};
use common::{Load, Model};
use mbdsl_runtime::so3::exp;
use mbdsl_runtime::state::State;
use mbdsl_runtime::steppers::Stepper;
use mbdsl_runtime::system::System;
use nalgebra::Vector3;

type V3 = Vector3<f64>;

const AROUND: u32 = 40;
const ACROSS: u32 = 12;
const RADIUS: f64 = 0.35;

/// The model: unit masses on a torus of radii 6.5 and 2, tilted by 30 degrees about x.
fn torus() -> (Model, State) {
    let mut model = Model::new(0.0);
    let n = (AROUND * ACROSS) as usize;
    let mut s = State::new(n, 0);
    let tilt = exp(&(V3::x() * (PI / 6.0)));
    let number = |a: u32, b: u32| ((a % AROUND) * ACROSS + b % ACROSS) as usize;
    for a in 0..AROUND {
        for b in 0..ACROSS {
            let (big, small) =
                (2.0 * PI * f64::from(a) / f64::from(AROUND), 2.0 * PI * f64::from(b) / f64::from(ACROSS));
            let r = 6.5 + 2.0 * libm::cos(small);
            let x = V3::new(r * libm::cos(big), r * libm::sin(big), 2.0 * libm::sin(small));
            s.set_x(number(a, b), &(tilt * x));
            model.rigid(1.0, [0.4 * RADIUS * RADIUS; 3]);
        }
    }
    let lowest = (0..n).map(|k| s.x(k).z).fold(f64::INFINITY, f64::min);
    let mut centre = V3::zeros();
    for k in 0..n {
        s.set_x(k, &(s.x(k) + V3::z() * (RADIUS + 0.2 - lowest)));
        centre += s.x(k) / n as f64;
    }
    let (v, w) = (V3::new(0.3, 0.0, -1.0), V3::new(0.05, -0.1, 0.2));
    for k in 0..n {
        s.set_v(k, &(v + w.cross(&(s.x(k) - centre))));
        s.set_omega(k, &w);
        model.load(Load::Wall { body: k, radius: RADIUS, stiffness: 500.0 });
    }
    for a in 0..AROUND {
        for b in 0..ACROSS {
            for (da, db) in [(1, 0), (0, 1), (1, 1), (1, ACROSS - 1)] {
                let bodies = [number(a, b), number(a + da, b + db)];
                let between = s.x(bodies[1]) - s.x(bodies[0]);
                let stiffness = [200.0, 200.0, 10.0];
                model.load(Load::Bond { bodies, arm: between * 0.5, rest: between.norm(), stiffness });
            }
        }
    }
    (model, s)
}

/// Linear and angular momentum about the origin.
fn momenta(model: &Model, s: &State) -> (V3, V3) {
    let (mut p, mut l) = (V3::zeros(), V3::zeros());
    for (k, body) in model.topology.bodies.iter().enumerate() {
        p += s.v(k) * body.mass;
        l += s.x(k).cross(&s.v(k)) * body.mass + s.r(k) * (body.inertia * s.omega(k));
    }
    (p, l)
}

/// What a run of the impact shows.
struct Impact {
    energy_error: f64,
    /// Largest changes of the momenta along the wall and about its normal, as parts of the whole.
    along: f64,
    about: f64,
    /// Error of the impulse of the wall, as a part of the momentum.
    impulse: f64,
    /// Momentum at the end.
    momentum: V3,
}

fn impact(name: &str, h: f64, until: f64) -> Impact {
    let (mut model, mut s) = torus();
    let mut stepper = stepper(&model, name);
    let start = energy(&mut model, &s);
    let (p0, l0) = momenta(&model, &s);
    let wall = |model: &Model, s: &State| {
        let mut q = vec![0.0; model.topology.nv()];
        let walls = model.loads.iter().filter(|load| matches!(load, Load::Wall { .. }));
        walls.for_each(|load| load.add(s, &model.topology.dof, &mut q));
        q.iter().skip(2).step_by(6).sum::<f64>()
    };
    let mut out = Impact { energy_error: 0.0, along: 0.0, about: 0.0, impulse: 0.0, momentum: p0 };
    let (mut given, mut last) = (0.0, wall(&model, &s));
    for n in 1..=(until / h).round() as u32 {
        stepper.step(&mut model, &mut s, h, f64::from(n) * h).expect("explicit");
        let now = wall(&model, &s);
        given += 0.5 * h * (last + now);
        last = now;
        let (p, l) = momenta(&model, &s);
        out.momentum = p;
        out.energy_error = out.energy_error.max((energy(&mut model, &s) / start - 1.0).abs());
        out.along = out.along.max((p - p0).xy().amax() / p0.norm());
        out.about = out.about.max((l - l0).z.abs() / l0.norm());
        out.impulse = out.impulse.max((p.z - p0.z - given).abs() / p0.norm());
    }
    out
}

/// Energy of the start, momenta of the start, and their numbers from an independent program.
#[test]
fn the_start_is_the_published_one() {
    let (mut model, s) = torus();
    let (p, l) = momenta(&model, &s);
    let potential = model.potential(&s);
    assert!((energy(&mut model, &s) - 806.825454).abs() < 1e-6 && potential.abs() < 1e-20);
    assert!((p - V3::new(144.0, 0.0, -480.0)).amax() < 1e-10);
    assert!((l - V3::new(580.176, -1403.2325, 4187.9943)).amax() < 1e-3, "{l}");
}

/// The impact by the explicit steppers of spheres: energy of order 2, momenta along the wall and its impulse to round-off.
#[test]
fn impact_on_a_wall() {
    let [coarse, fine] = [0.008, 0.004].map(|h| impact("variational_rrp", h, 1.6));
    println!("rrp: energy {:e} {:e}", coarse.energy_error, fine.energy_error);
    assert!((1.9..2.1).contains(&order(coarse.energy_error, fine.energy_error)));
    for impact in [coarse, fine, impact("variational_exp", 0.008, 1.6), impact("splitting_dlm", 0.008, 1.6)] {
        let Impact { along, about, impulse, .. } = impact;
        println!("along {along:e}, about {about:e}, impulse {impulse:e}");
        assert!(along < 1e-13 && about < 1e-13 && impulse < 1e-12);
        assert!(impact.energy_error < 2e-5);
    }
}

/// Two contacts with the wall, and the numbers that an independent program has after them for this step.
#[test]
fn agrees_with_an_independent_program() {
    let end = impact("variational_rrp", 0.008, 12.0);
    println!("energy {:e}, momentum {}", end.energy_error, end.momentum);
    assert!((end.energy_error - 1.62e-5).abs() < 0.005e-5);
    assert!((end.momentum - V3::new(144.0, 0.0, 271.22647)).amax() < 1e-5);
}
