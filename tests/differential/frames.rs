//! Models without ground and gravity, shifted and turned as a whole: energies stay, forces turn.

use mbdsl_runtime::nalgebra::{Matrix3, Vector3};
use mbdsl_runtime::state::State;
use mbdsl_runtime::topology::{BodyKind, Topology};

use crate::bench::{Bench, places};
use crate::case::{Checked, agree};
use crate::rounding::Bounded;

/// A motion of space.
pub struct Motion {
    pub turn: Matrix3<f64>,
    pub shift: Vector3<f64>,
}

impl Motion {
    fn apply(&self, topology: &Topology, s: &State) -> State {
        let mut out = s.clone();
        for (k, body) in topology.bodies.iter().enumerate() {
            out.set_x(k, &(self.turn * s.x(k) + self.shift));
            out.set_v(k, &(self.turn * s.v(k)));
            if body.kind == BodyKind::Rigid {
                out.set_r(k, &(self.turn * s.r(k)));
            }
        }
        out
    }
}

/// Error of the numbers of a moved state: products of rotations and sums with numbers up to about 5.
const STATE_ERROR: f64 = 4e-15;

fn close(what: &str, a: f64, b: f64, error: f64) -> Checked {
    let tolerance = 4.0 * error + 1e-14 * (a.abs() + b.abs());
    if agree(a, b, tolerance) { Ok(()) } else { Err(format!("{what}: {a} and {b}, tolerance {tolerance:e}")) }
}

/// Compares energies and forces in both places.
pub fn check(bench: &Bench<'_>, (start, s): (&State, &State), motion: &Motion) -> Checked {
    let topology = &bench.topology;
    let (there, there_start) = (motion.apply(topology, s), motion.apply(topology, start));
    let both = |family, kernel| -> Checked<[Vec<Vec<Bounded>>; 2]> {
        let here = bench.bounded(family, kernel, (s, start), &[], STATE_ERROR)?;
        Ok([here, bench.bounded(family, kernel, (&there, &there_start), &[], STATE_ERROR)?])
    };
    for f in &bench.case.program().forces {
        let [here, moved] = both(&f.family, &f.energy)?;
        for (a, b) in here.iter().flatten().zip(moved.iter().flatten()) {
            close(&format!("energy of {}", f.family.name), a.value, b.value, a.error + b.error)?;
        }
        let [here, moved] = both(&f.family, &f.force)?;
        for (k, (here, moved)) in here.iter().zip(&moved).enumerate() {
            let mut at = 0;
            for &body in f.family.slots(k) {
                let dim = places(topology, &[body]).len();
                for (part, turn) in (0..dim / 3).zip([motion.turn, Matrix3::identity()]) {
                    let vector = |z: &[Bounded]| Vector3::from_fn(|c, _| z[at + 3 * part + c].value);
                    let error: f64 =
                        (0..3).map(|c| here[at + 3 * part + c].error + moved[at + 3 * part + c].error).sum();
                    let (expected, found) = (turn * vector(here), vector(moved));
                    let size = expected.amax() * 1e-14;
                    for c in 0..3 {
                        close(&format!("force {}", f.family.instance_name(k)), expected[c], found[c], error + size)?;
                    }
                }
                at += dim;
            }
        }
    }
    Ok(())
}
