//! All eight methods against states computed by an independent program.

#[expect(dead_code, reason = "each test binary uses a part of the common models")]
mod common;

use common::{Model, double_pendulum, single_pendulum};
use mbdsl_runtime::state::State;
use mbdsl_runtime::steppers::euler::Euler;
use mbdsl_runtime::steppers::method::{Level, Method};
use mbdsl_runtime::system::{Jacobian, System};

/// Differences relative to the largest number of the same kind: 1e-9 of x, R, V; 1e-7 of lambda.
fn check(file: &str, model: fn() -> (Model, State)) {
    let path = format!("{}/../tests/physics/data/{file}", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(path).expect("the data are part of the repository");
    let mut lines = 0;
    for method in Method::ALL {
        let (mut system, mut s) = model();
        let mut euler = Euler::new(system.topology(), method);
        let (mut step, mut most, mut total) = (0_u32, 0, 0);
        for line in text.lines().filter(|l| l.to_lowercase().starts_with(&format!("{method},"))) {
            let numbers: Vec<f64> = line.split(',').skip(1).map(|x| x.parse().expect("a number")).collect();
            let h = numbers[0];
            while f64::from(step) < numbers[1] {
                step += 1;
                let report = euler.step(&mut system, &mut s, h, f64::from(step) * h).expect("the step converges");
                most = most.max(report.iterations);
                total += report.iterations;
            }
            let (states, lambda) = numbers[2..].split_at(s.z.len());
            for (k, (a, b)) in s.z.iter().zip(states).enumerate() {
                let kind = [(0, 3), (3, 12), (12, 15), (15, 18)].into_iter().find(|r| k % 18 < r.1);
                let (from, to) = kind.expect("k % 18 < 18");
                let at = k - k % 18;
                let scale = states[at + from..at + to].iter().fold(0.0, |m: f64, x| m.max(x.abs()));
                assert!((a - b).abs() <= 1e-9 * scale, "{method}, step {step}, number {k}: {a} and {b}");
            }
            let scale = lambda.iter().fold(0.0, |m: f64, x| m.max(x.abs()));
            for (a, b) in euler.lambda().iter().zip(lambda) {
                assert!((a - b).abs() <= 1e-7 * scale, "{method}, step {step}: lambda {a} and {b}");
            }
            residuals(method, &mut system, &s, euler.acceleration());
            lines += 1;
        }
        assert!(most <= 4, "{method}: {most} iterations");
        println!("{file} {method}: {} iterations a step, at most {most}", total as f64 / f64::from(step));
    }
    assert_eq!(lines, 32);
}

fn residuals(method: Method, system: &mut Model, s: &State, a: &[f64]) {
    let (nc, len) = (system.topology.nc(), system.topology.constraints.jac_len);
    let mut jac = Jacobian { phi: vec![0.0; nc], phi_t: vec![0.0; nc], b: vec![0.0; len] };
    system.jacobian(s, &mut jac);
    let mut v = Vec::new();
    for body in 0..s.len() {
        v.extend_from_slice(s.v(body).as_slice());
        v.extend_from_slice(s.omega(body).as_slice());
    }
    let product = |v: &[f64]| {
        let mut out = vec![0.0; nc];
        mbdsl_runtime::linalg::rows::apply(&system.topology.constraints, &system.topology.dof, &jac.b, v, &mut out);
        out
    };
    let (bv, mut ba) = (product(&v), product(a));
    let mut gamma = vec![0.0; nc];
    system.convective(s, &mut gamma);
    for (a, g) in ba.iter_mut().zip(&gamma) {
        *a += g;
    }
    let largest = |a: &[f64]| a.iter().fold(0.0, |m: f64, x| m.max(x.abs()));
    // Round-off of products of size |B V| = 150 and |gamma| = 2e4, a few units each.
    let (position, velocity, acceleration) = match method.level {
        Level::Index3 => (1e-14, f64::INFINITY, f64::INFINITY),
        Level::Index2 => (f64::INFINITY, 1e-13, f64::INFINITY),
        Level::Index2Stabilised => (1e-14, 1e-13, f64::INFINITY),
        Level::Index1 => (1e-14, 1e-13, 1e-11),
    };
    let (p, v, a) = (largest(&jac.phi), largest(&bv), largest(&ba));
    assert!(p < position && v < velocity && a < acceleration, "{method}: {p:e} {v:e} {a:e}");
}

#[test]
fn single_pendulum_states() {
    check("single_pendulum_states.csv", single_pendulum);
}

#[test]
fn double_pendulum_states() {
    check("double_pendulum_states.csv", double_pendulum);
}
