//! Every derivative of every model against central differences on the group.

use mbdsl_runtime::point::Point;
use mbdsl_runtime::state::State;
use mbdsl_runtime::system::{ConstraintDerivatives, ForceDerivatives, Jacobian, System};

use super::models;
use super::{Noise, dense_rows, dense_square, moved, program, times, times_transposed, velocities};
use crate::backend::engine::{Backend, Engine};
use crate::backend::interp::Machine;
use crate::exec::bind::bind;
use crate::exec::instances::Instances;
use crate::exec::system::ProgramSystem;
use crate::ir::program::Program;
use crate::model::Model;

/// Step of central differences: the cube root of the rounding error balances it against the truncation error.
const STEP: f64 = 6e-6;

/// Both errors are about `STEP^2` times a third derivative, which these models keep below a hundred.
const TOLERANCE: f64 = 1e-8;

/// Columns of central differences of `f`, one for each direction.
fn differences(nv: usize, mut f: impl FnMut(&[f64]) -> Vec<f64>) -> Vec<f64> {
    let mut columns = Vec::new();
    for direction in 0..nv {
        let mut d = vec![0.0; nv];
        d[direction] = STEP;
        let plus = f(&d);
        d[direction] = -STEP;
        let minus = f(&d);
        columns.push(plus.iter().zip(&minus).map(|(a, b)| (a - b) / (2.0 * STEP)).collect::<Vec<_>>());
    }
    let rows = columns.first().map_or(0, Vec::len);
    (0..rows).flat_map(|r| columns.iter().map(move |c| c[r])).collect()
}

fn assert_close(what: &str, exact: &[f64], difference: &[f64]) {
    assert_eq!(exact.len(), difference.len(), "{what}");
    let scale = exact.iter().fold(1.0_f64, |m, x| m.max(x.abs()));
    for (k, (a, b)) in exact.iter().zip(difference).enumerate() {
        assert!((a - b).abs() < TOLERANCE * scale, "{what}, element {k}: {a} against {b}");
    }
}

fn rate(system: &mut ProgramSystem<'_>, s: &State) -> Vec<f64> {
    let topology = system.topology().clone();
    let mut jac = Jacobian::default();
    system.jacobian(s, &mut jac);
    let mut out = times(&dense_rows(&topology, &topology.constraints, &jac.b), &velocities(&topology, s));
    out.iter_mut().zip(&jac.phi_t).for_each(|(o, p)| *o += p);
    out
}

fn pull(system: &mut ProgramSystem<'_>, s: &State, lam: &[f64]) -> Vec<f64> {
    let topology = system.topology().clone();
    let mut jac = Jacobian::default();
    system.jacobian(s, &mut jac);
    times_transposed(&dense_rows(&topology, &topology.constraints, &jac.b), topology.nv(), lam)
}

fn gamma(system: &mut ProgramSystem<'_>, s: &State) -> Vec<f64> {
    let mut out = vec![0.0; system.topology().nc()];
    system.convective(s, &mut out);
    out
}

fn force(system: &mut ProgramSystem<'_>, s: &State) -> Vec<f64> {
    let mut q = vec![0.0; system.topology().nv()];
    system.forces(s, &mut q);
    q
}

fn check(model: &Model) {
    let program = program(model);
    let binding = bind(&program, &[]).expect("good values");
    let mut system = ProgramSystem::new(&program, &binding, &Engine::new(Backend::Interp)).expect("small kernels");
    let topology = system.topology().clone();
    let (nv, nc) = (topology.nv(), topology.nc());
    let mut noise = Noise(7);
    let start = noise.state(&topology);
    system.set_start(&start);
    let mut s = noise.state(&topology);
    system.accept(&mut s);
    let lam = noise.list(nc);
    let set = &topology.constraints;

    let (mut jac, mut derivatives) = (Jacobian::default(), ConstraintDerivatives::default());
    system.constraint_newton(&s, &lam, &mut jac, &mut derivatives);
    let mut plain = Jacobian::default();
    system.jacobian(&s, &mut plain);
    assert_eq!(jac.b, plain.b, "the same bits from both kernels");
    let mut phi = vec![0.0; nc];
    system.residual(&s, &mut phi);
    assert_eq!(phi, jac.phi, "the same bits from both kernels");

    let b = differences(nv, |d| {
        let mut phi = vec![0.0; nc];
        system.residual(&moved(&topology, &s, d, true), &mut phi);
        phi
    });
    assert_close("B", &dense_rows(&topology, set, &jac.b), &b);
    let bv_q = differences(nv, |d| rate(&mut system, &moved(&topology, &s, d, true)));
    assert_close("d(B V + Phi_t)/dq", &dense_rows(&topology, set, &derivatives.bv_q), &bv_q);
    let k_lam = differences(nv, |d| pull(&mut system, &moved(&topology, &s, d, true), &lam));
    assert_close("d(B^T lambda)/dq", &dense_square(&topology, set, &derivatives.k_lam), &k_lam);

    // Along the motion, and in time.
    let v = velocities(&topology, &s);
    let along = |system: &mut ProgramSystem<'_>, f: fn(&mut ProgramSystem<'_>, &State) -> Vec<f64>| {
        let mut at = |h: f64| {
            let d: Vec<_> = v.iter().map(|v| v * h).collect();
            let mut later = moved(&topology, &s, &d, true);
            later.t += h;
            f(system, &later)
        };
        let (plus, minus) = (at(STEP), at(-STEP));
        plus.iter().zip(&minus).map(|(a, b)| (a - b) / (2.0 * STEP)).collect::<Vec<_>>()
    };
    let phi_rate = along(&mut system, |system, s| {
        let mut phi = vec![0.0; system.topology().nc()];
        system.residual(s, &mut phi);
        phi
    });
    assert_close("B V + Phi_t", &rate(&mut system, &s), &phi_rate);
    let rate_rate = along(&mut system, rate);
    assert_close("gamma", &gamma(&mut system, &s), &rate_rate);

    let (gamma_q, gamma_v) = convective_derivatives(&program, &binding.params, &start, &s);
    let by_q = differences(nv, |d| gamma(&mut system, &moved(&topology, &s, d, true)));
    assert_close("d gamma/dq", &dense_rows(&topology, set, &gamma_q), &by_q);
    let by_v = differences(nv, |d| gamma(&mut system, &moved(&topology, &s, d, false)));
    assert_close("d gamma/dV", &dense_rows(&topology, set, &gamma_v), &by_v);

    let (mut q, mut force_derivatives) = (vec![0.0; nv], ForceDerivatives::default());
    system.force_newton(&s, &mut q, &mut force_derivatives);
    assert_eq!(q, force(&mut system, &s), "the same bits from both kernels");
    let q_q = differences(nv, |d| force(&mut system, &moved(&topology, &s, d, true)));
    assert_close("dQ/dq", &dense_square(&topology, &topology.forces, &force_derivatives.q_q), &q_q);
    let q_v = differences(nv, |d| force(&mut system, &moved(&topology, &s, d, false)));
    assert_close("dQ/dV", &dense_square(&topology, &topology.forces, &force_derivatives.q_v), &q_v);

    let mut conditions = Jacobian::default();
    system.position_conditions(&s, &mut conditions);
    let exact = dense_rows(&topology, &topology.position_conditions, &conditions.b);
    let by_q = differences(nv, |d| {
        system.position_conditions(&moved(&topology, &s, d, true), &mut conditions);
        conditions.phi.clone()
    });
    assert_close("position conditions", &exact, &by_q);
    system.velocity_conditions(&s, &mut conditions);
    let exact = dense_rows(&topology, &topology.velocity_conditions, &conditions.b);
    let by_v = differences(nv, |d| {
        system.velocity_conditions(&moved(&topology, &s, d, false), &mut conditions);
        conditions.phi.clone()
    });
    assert_close("velocity conditions", &exact, &by_v);
}

fn point(s: &State) -> Point<'_> {
    Point::of(s)
}

/// Blocks of `d gamma/dq` and `d gamma/dV` of all constraints.
fn convective_derivatives(program: &Program, params: &[f64], start: &State, s: &State) -> (Vec<f64>, Vec<f64>) {
    let (mut by_q, mut by_v) = (Vec::new(), Vec::new());
    for c in &program.constraints {
        let mut instances = Instances::new(&c.family, params, &Engine::new(Backend::Interp)).expect("small kernels");
        instances.set_start(&point(start));
        let mut machine = Machine::new(&c.convective_newton).expect("a small kernel");
        for k in 0..instances.count() {
            let mut out = vec![0.0; 2 * c.rows * c.dim];
            machine.run(&instances.inputs(k, &point(s)), &mut out);
            by_q.extend_from_slice(&out[..c.rows * c.dim]);
            by_v.extend_from_slice(&out[c.rows * c.dim..]);
        }
    }
    (by_q, by_v)
}

#[test]
fn single_pendulum() {
    check(&models::single_pendulum());
}

#[test]
fn double_pendulum() {
    check(&models::double_pendulum());
}

#[test]
fn driven_hinge_with_memory() {
    check(&models::driven_hinge());
}

#[test]
fn chain_with_particles() {
    check(&models::chain(4));
}
