//! Potentials of pairs below a distance: equal to the sum over all pairs to the bit, in linear time, and what they keep.

use std::time::Duration;

use mbdsl::exec::failure::Failure;
use mbdsl::exec::session::{self, Choices};
use mbdsl_runtime::monitor::Monitor;
use mbdsl_runtime::nalgebra::Vector3;
use mbdsl_runtime::prelude::*;
use mbdsl_runtime::so3;

use crate::cost::now;
use crate::rig::{Steps, assemble, load, load_library, run, text, try_load, words};

/// Particles and bodies, pairs of either and of both, points off the centre, numbers that belong to a body. With `near` the pairs
/// are found, else all are listed and those that are far have no energy.
fn model(near: bool, particles: usize, bodies: usize) -> String {
    let potential = |name: &str, sets: &str, condition: &str, distance: &str, energy: &str| {
        let and = if condition.is_empty() { "" } else { " && " };
        if near {
            return format!("potential {name}[{sets} where {condition}{and}{distance}]: {energy};\n");
        }
        let all = if condition.is_empty() { String::new() } else { format!(" where {condition}") };
        format!("potential {name}[{sets}{all}]: select({distance}, {energy}, 0);\n")
    };
    let energies = [
        potential(
            "aa",
            "p in a, q in a",
            "p < q",
            "dist(p.pos, q.pos) < r",
            "p.c * q.c * 1 J * bump(dist(p.pos, q.pos) / r)",
        ),
        potential(
            "bb",
            "p in b, q in b",
            "p < q",
            "norm(p.tip - q.com) <= 1.5 * r",
            "1 J * bump(norm(p.tip - q.com) / (1.5 * r))",
        ),
        potential("ab", "p in b, q in a", "", "r > dist(q.pos, p.tip)", "q.c * 1 J * bump(dist(q.pos, p.tip) / r)"),
    ];
    format!(
        "define fn bump(s) = (1 - s^2)^5;
        model M {{
            param r = 1 m;
            particle a[i in 0..{particles}] {{ let c = 1 + 0.1 * (i % 7); mass = 1 kg; pos = [0.7 * i, i % 3, 0] m; vel = [0, sin(i), cos(i)] [m/s]; }}
            body b[k in 0..{bodies}] {{
                mass = 2 kg; inertia = diag([1, 2, 2.5] [kg*m^2]); point tip = [0.3 + 0.01 * k, 0.2, 0] m; pos = [0.8 * k, 0, 1] m;
                omega = [1, sin(k), 0.5] [rad/s];
            }}
            particle other {{ mass = 1 kg; pos = [0, 50, 0] m; }}
            {}
        }}",
        energies.concat()
    )
}

/// Numbers in (-1, 1), always the same.
struct Random(u64);

impl Random {
    fn vector(&mut self) -> Vector3<f64> {
        Vector3::from_fn(|_, _| {
            self.0 ^= self.0 << 13;
            self.0 ^= self.0 >> 7;
            self.0 ^= self.0 << 17;
            (self.0 >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
        })
    }
}

#[test]
fn forces_are_those_of_the_direct_sum() {
    for (particles, bodies) in [(40, 12), (1, 1), (2, 0), (0, 2), (0, 0)] {
        let (near, all) = (load(&model(true, particles, bodies), &[]), load(&model(false, particles, bodies), &[]));
        let (mut near, mut all) = (assemble(&near), assemble(&all));
        let mut random = Random(88_172_645_463_325_252);
        let mut s = near.start.clone();
        let nv = near.system.topology().nv();
        let (mut p, mut q) = (vec![0.0; nv], vec![0.0; nv]);
        let mut acting = 0;
        // A cluster, a gas, a few that meet, and nobody near; then motion in steps that are small beside the distance, and jumps.
        let scattered = [0.4, 2.0, 5.0, 1e3, 1e9].into_iter().flat_map(|size| std::iter::repeat_n((size, 0.0), 10));
        let moving = (0..400).map(|k| if k % 100 == 0 { (2.0, 0.0) } else { (0.03, 1.0) });
        for (size, keep) in scattered.chain(moving) {
            for body in 0..s.len() {
                s.set_x(body, &(keep * s.x(body) + size * random.vector()));
                s.set_r(body, &(s.r(body) * so3::exp(&(size.min(3.0) * random.vector()))));
            }
            near.system.forces(&s, &mut p);
            all.system.forces(&s, &mut q);
            assert!(p.iter().zip(&q).all(|(x, y)| x.to_bits() == y.to_bits()), "{size}");
            let energies = [near.system.potential(&s), all.system.potential(&s)];
            assert_eq!(energies[0].to_bits(), energies[1].to_bits(), "{energies:?}");
            acting += usize::from(energies[0] != 0.0);
        }
        assert!(acting >= if particles + bodies > 2 { 400 } else { 0 }, "{acting}");
    }
}

/// The shortest time of an evaluation of all forces of `n^3` atoms for which the pairs are found anew.
fn evaluation(n: usize) -> Duration {
    let loaded = load(&text("argon"), &[&format!("n={n}")]);
    let mut session = assemble(&loaded);
    let mut q = vec![0.0; session.system.topology().nv()];
    let mut s = session.start.clone();
    let shift = Vector3::new(1e-9, 0.0, 0.0);
    let times = (0..5).map(|_| {
        (0..s.len()).for_each(|body| s.set_x(body, &(s.x(body) + shift)));
        let begin = now();
        session.system.forces(&s, &mut q);
        now() - begin
    });
    times.min().expect("five of them")
}

/// The time follows the number of atoms: 3.9 times as many take less than twice that, and would take 15 times as long if all
/// pairs were looked at.
#[test]
fn ten_thousand_atoms_take_linear_time() {
    let (small, large) = (evaluation(14), evaluation(22));
    println!("2744 atoms: {small:?}, 10648 atoms: {large:?}");
    assert!(large < 7 * small, "{small:?} and {large:?}");
}

#[test]
fn momenta_are_kept_and_energy_is_of_order_two() {
    let loaded = load(&model(true, 12, 6), &[]);
    let (h, until) = (0.01, 4.0);
    for name in ["splitting_dlm", "splitting_exact", "variational_rrp", "splitting_dlm_cayley+suzuki4"] {
        let method: StepperName = name.parse().expect("there is such a stepper");
        let mut session = assemble(&loaded);
        let topology = session.system.topology().clone();
        let mut momenta =
            |s: &State| Monitor::new(&topology).measure(&mut session.system, s, &vec![0.0; topology.nv()]).globals();
        let start = momenta(&session.start);
        let outcome = run(&loaded, Steps { method, h, until });
        let end = momenta(&outcome.state);
        // 19 bodies in up to 2000 parts of steps, momenta of order 10, of which each kick rounds the sum of a few forces.
        let bound = 1e-12;
        for k in 3..9 {
            assert!((end[k] - start[k]).abs() < bound, "{name}: {end:?} and {start:?}");
        }
        let coarse = outcome.extremes.energy;
        let fine = run(&loaded, Steps { method, h: h / 2.0, until }).extremes.energy;
        println!("{name}: {coarse:e} J, with half the step {fine:e} J");
        assert!(coarse > 1e-9 && end[2] != start[2], "{name}: something acts");
        let ratio = if name.contains("suzuki4") { 10.0..24.0 } else { 3.4..4.6 };
        assert!(ratio.contains(&(coarse / fine)), "{name}: {coarse:e} and {fine:e}");
    }
}

/// Implicit steppers are refused with what to take instead, and not compared.
#[test]
fn implicit_steppers_do_not_move_them() {
    let loaded = load_library("argon");
    let choices = Choices { stepper: Some("dae1l_lse".to_owned()), ..Choices::default() };
    let Err(Failure::Usage(message)) = session::setup(&loaded, &choices) else { panic!("it must be refused") };
    assert!(message.contains("`dae1l_lse` is implicit"), "{message}");
    assert!(
        session::applicable(&loaded, &Choices::default()).iter().all(|method| !matches!(method, StepperName::Euler(_)))
    );
    let told = text("argon").replace("splitting_dlm", "dae3h_le");
    let loaded = try_load(&told, &[]).expect("it compiles");
    let Err(failure) = session::setup(&loaded, &Choices::default()) else { panic!("it must be refused") };
    let message = words(&told, &failure);
    assert!(message.contains("MBD0175") && message.contains("`splitting_...`"), "{message}");
}
