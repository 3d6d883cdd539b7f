//! From a model to the steppers: the published pendulum, against states of an independent program.

use std::path::Path;

use mbdsl_runtime::assembly::assemble;
use mbdsl_runtime::steppers::euler::Euler;
use mbdsl_runtime::steppers::method::Method;
use mbdsl_runtime::system::System;

use super::{models, program};
use crate::backend::engine::{Backend, Engine};
use crate::exec::bind::bind;
use crate::exec::system::ProgramSystem;

/// Rows of the table: method, step number, then x, R, v, Omega and lambda.
fn table() -> Vec<(String, u64, Vec<f64>)> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/physics/data/single_pendulum_states.csv");
    let text = std::fs::read_to_string(path).expect("the table is part of the repository");
    let mut rows = Vec::new();
    for line in text.lines().skip(1) {
        let cells: Vec<_> = line.split(',').collect();
        let numbers = cells[3..].iter().map(|c| c.parse().expect("a number")).collect();
        rows.push((cells[0].to_lowercase(), cells[2].parse().expect("a step"), numbers));
    }
    rows
}

#[test]
fn single_pendulum_follows_the_published_states() {
    let program = program(&models::single_pendulum());
    let binding = bind(&program, &[]).expect("good values");
    let mut system = ProgramSystem::new(&program, &binding, &Engine::new(Backend::Interp)).expect("small kernels");
    let (start, _) = assemble(&mut system, binding.guess).expect("it is assembled already");
    system.set_start(&start);
    let rows = table();
    for method in Method::ALL {
        let mut stepper = Euler::new(system.topology(), method);
        let mut state = start.clone();
        let h = 1e-4;
        for n in 1..=1000_u64 {
            stepper.step(&mut system, &mut state, h, n as f64 * h).expect("a step");
            let Some((.., expected)) = rows.iter().find(|(name, step, _)| *name == method.name() && *step == n) else {
                continue;
            };
            let found = state.z.iter().chain(stepper.lambda());
            let largest = |part: &[f64]| part.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
            for (k, (a, b)) in found.zip(expected).enumerate() {
                // The independent program promises these digits.
                let (scale, tolerance) = match k {
                    0..3 => (largest(&expected[0..3]), 1e-9),
                    3..12 => (1.0, 1e-9),
                    12..15 => (largest(&expected[12..15]), 1e-9),
                    15..18 => (largest(&expected[15..18]), 1e-9),
                    18.. => (largest(&expected[18..]), 1e-7),
                };
                assert!((a - b).abs() <= tolerance * scale, "{method}, step {n}, number {k}: {a} against {b}");
            }
        }
    }
}
