//! States after steps 1, 10, 100 and 1000 of all eight methods against an independent program, from the models of the
//! library.
//!
//! The program solves every step to round-off, so what differs is rounding: 1e-9 of the largest number of the same kind
//! for x, R, v and Omega, 1e-7 for lambda, which is a difference quotient of velocities over h = 1e-4 s.

use crate::data::table;
use crate::rig::{Steps, for_all_methods, largest, load_library, watch};

/// Numbers of a body in the state, by kind.
const KINDS: [(usize, usize); 4] = [(0, 3), (3, 12), (12, 15), (15, 18)];

fn check(name: &str) {
    let expected = table(&format!("{name}_states"));
    assert_eq!(expected.rows.len(), 32, "eight methods, four states each");
    let loaded = load_library(name);
    for_all_methods(|method| {
        let mut seen = 0;
        watch(&loaded, Steps { method, h: 1e-4, until: 0.1 }, |snapshot| {
            let is_here = |(label, row): &(&String, &Vec<f64>)| {
                label.to_lowercase() == method.name() && row[2] == snapshot.n as f64
            };
            let Some((_, row)) = expected.labels.iter().zip(&expected.rows).find(is_here) else { return };
            let (z, lambda) = row[3..].split_at(snapshot.state.z.len());
            for body in (0..z.len()).step_by(18) {
                for (from, to) in KINDS {
                    let (a, b) = (&snapshot.state.z[body + from..body + to], &z[body + from..body + to]);
                    let error = largest(a.iter().zip(b).map(|(a, b)| a - b));
                    let scale = largest(b.iter().copied());
                    assert!(error <= 1e-9 * scale, "{name} {method}, step {}: {a:?} against {b:?}", snapshot.n);
                }
            }
            assert_eq!(lambda.len(), snapshot.lambda.len());
            let error = largest(snapshot.lambda.iter().zip(lambda).map(|(a, b)| a - b));
            let scale = largest(lambda.iter().copied());
            assert!(error <= 1e-7 * scale, "{name} {method}, step {}: {:?}", snapshot.n, snapshot.lambda);
            seen += 1;
        });
        assert_eq!(seen, 4, "{name} {method}");
    });
}

#[test]
fn single_pendulum() {
    check("single_pendulum");
}

#[test]
fn double_pendulum() {
    check("double_pendulum");
}
