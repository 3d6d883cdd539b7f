//! Every derivative of the compiled system against fourth-order central differences on the group.
//!
//! With the second-order differences `D(h)` and `D(2 h)`, `D(h) + (D(h) - D(2 h))/3` is right to `O(h^4)`. What is left is
//! `(h / rho)^2` times the correction, `rho` being the distance of the nearest singularity; states keep a clearance, so that
//! [`LEFT`] bounds this factor. Rounding errors of the values enter multiplied by `1.5 / h`.

use mbdsl::formulate::Origin;
use mbdsl::ir::program::{Constraint, Force};
use mbdsl::symbolic::ExprId;
use mbdsl_runtime::state::State;
use mbdsl_runtime::system::{ConstraintDerivatives, ForceDerivatives, Jacobian, System};

use crate::bench::{Bench, Half, moved, places, velocities};
use crate::case::{Checked, agree};
use crate::rounding::Bounded;
use crate::tape::Noise;

/// Step, small against the clearance of the states, large against rounding errors.
const STEP: f64 = 2e-4;

/// Part of the correction of second order that the fourth order may be wrong by.
const LEFT: f64 = 0.05;

/// Error of the numbers of a displaced state: products of rotations with numbers up to about 3.
const STATE_ERROR: f64 = 1e-15;

/// A derivative by differences.
struct Difference {
    /// `rows x columns`, row-major.
    values: Vec<f64>,
    columns: usize,
    /// Largest correction of the second order.
    correction: f64,
}

/// Differences along some ways: `at(way, h)` are the values of rows displaced by `h`.
fn differences(ways: usize, mut at: impl FnMut(usize, f64) -> Vec<f64>) -> Difference {
    let mut columns = Vec::new();
    let mut correction = 0.0_f64;
    for way in 0..ways {
        let mut slope =
            |h: f64| -> Vec<f64> { at(way, h).iter().zip(&at(way, -h)).map(|(a, b)| (a - b) / (2.0 * h)).collect() };
        let (near, far) = (slope(STEP), slope(2.0 * STEP));
        let column: Vec<f64> = near.iter().zip(&far).map(|(n, f)| n + (n - f) / 3.0).collect();
        for (c, n) in column.iter().zip(&near) {
            correction = correction.max((c - n).abs());
        }
        columns.push(column);
    }
    let rows = columns.first().map_or(0, Vec::len);
    let values = (0..rows).flat_map(|r| columns.iter().map(move |c| c[r])).collect();
    Difference { values, columns: ways, correction }
}

/// `errors` bound the rounding errors of the rows that were differenced.
fn compare(what: &str, exact: &[f64], difference: &Difference, errors: &[f64]) -> Checked {
    if exact.len() != difference.values.len() {
        return Err(format!("{what}: {} and {} numbers", exact.len(), difference.values.len()));
    }
    for (k, (a, b)) in exact.iter().zip(&difference.values).enumerate() {
        let (row, column) = (k / difference.columns, k % difference.columns);
        let rounding = 2.0 * 1.5 * errors[row] / STEP;
        let tolerance = rounding + LEFT * difference.correction + 1e-13 * a.abs();
        if !agree(*a, *b, tolerance) {
            return Err(format!("{what}, row {row}, column {column}: {a} against {b}, tolerance {tolerance:e}"));
        }
    }
    Ok(())
}

/// A displacement of one direction.
fn along(nv: usize, way: usize, h: f64) -> Vec<f64> {
    let mut d = vec![0.0; nv];
    d[way] = h;
    d
}

/// Bounds of the rounding errors of the rows of `Phi`, `B V + Phi_t`, `gamma`, and of `B^T lambda` and `Q`.
struct Errors {
    phi: Vec<f64>,
    rate: Vec<f64>,
    gamma: Vec<f64>,
    pull: Vec<f64>,
    force: Vec<f64>,
}

fn errors(bench: &Bench<'_>, states: (&State, &State), lam: &[f64]) -> Checked<Errors> {
    let topology = &bench.topology;
    let (nv, v) = (topology.nv(), velocities(topology, states.0));
    let mut out =
        Errors { phi: Vec::new(), rate: Vec::new(), gamma: Vec::new(), pull: vec![0.0; nv], force: vec![0.0; nv] };
    for c in &bench.case.program().constraints {
        let Constraint { rows, dim, .. } = *c;
        let all = |kernel| bench.bounded(&c.family, kernel, states, &[], STATE_ERROR);
        for z in all(&c.value)? {
            out.phi.extend(z.iter().map(|z| z.error));
        }
        for z in all(&c.convective)? {
            out.gamma.extend(z.iter().map(|z| z.error));
        }
        for (k, z) in all(&c.jacobian)?.iter().enumerate() {
            let places = places(topology, c.family.slots(k));
            for r in 0..rows {
                let l = lam[out.rate.len()].abs();
                let mut rate = z[rows + r].error;
                for (j, &place) in places.iter().enumerate() {
                    // The sum of products rounds once more for each term, here of at most some tens.
                    let b = z[2 * rows + r * dim + j];
                    let error = b.error + 50.0 * f64::EPSILON * b.value.abs();
                    rate += error * v[place].abs();
                    out.pull[place] += error * l;
                }
                out.rate.push(rate);
            }
        }
    }
    for f in &bench.case.program().forces {
        for (k, z) in bench.bounded(&f.family, &f.force, states, &[], STATE_ERROR)?.iter().enumerate() {
            for (&place, z) in places(topology, f.family.slots(k)).iter().zip(z) {
                out.force[place] += z.error + 50.0 * f64::EPSILON * z.value.abs();
            }
        }
    }
    Ok(out)
}

/// Checks all derivatives at a state.
pub fn check(bench: &mut Bench<'_>, (start, s): (&State, &State), noise: &mut Noise) -> Checked {
    bench.system.set_start(start);
    let topology = bench.topology.clone();
    let (nv, nc) = (topology.nv(), topology.nc());
    let lam = noise.list(nc);
    let errors_of = errors(bench, (s, start), &lam)?;

    let (mut jac, mut derivatives) = (Jacobian::default(), ConstraintDerivatives::default());
    bench.system.constraint_newton(s, &lam, &mut jac, &mut derivatives);
    let mut plain = Jacobian::default();
    bench.system.jacobian(s, &mut plain);
    // The sign of a zero is not kept.
    let same = |a: &[f64], b: &[f64]| a.iter().zip(b).all(|(a, b)| a == b || a.to_bits() == b.to_bits());
    if !same(&jac.b, &plain.b) || !same(&jac.phi_t, &plain.phi_t) || !same(&jac.phi, &bench.phi(s)) {
        return Err("kernels differ in what they share".to_owned());
    }

    let place = |way: usize, h: f64| moved(&topology, s, &along(nv, way, h), Half::Positions);
    let speed = |way: usize, h: f64| moved(&topology, s, &along(nv, way, h), Half::Velocities);
    let later = |h: f64| State { t: s.t + h, ..s.clone() };
    let v = velocities(&topology, s);
    let motion = |h: f64| {
        let d: Vec<f64> = v.iter().map(|v| v * h).collect();
        State { t: s.t + h, ..moved(&topology, s, &d, Half::Positions) }
    };

    let set = &topology.constraints;
    let b = differences(nv, |way, h| bench.phi(&place(way, h)));
    compare("B", &bench.dense_rows(set, &jac.b), &b, &errors_of.phi)?;
    let phi_t = differences(1, |_, h| bench.phi(&later(h)));
    compare("Phi_t", &jac.phi_t, &phi_t, &errors_of.phi)?;
    let rate = differences(1, |_, h| bench.phi(&motion(h)));
    compare("B V + Phi_t", &bench.rate(s), &rate, &errors_of.phi)?;
    let bv_q = differences(nv, |way, h| bench.rate(&place(way, h)));
    compare("d(B V + Phi_t)/dq", &bench.dense_rows(set, &derivatives.bv_q), &bv_q, &errors_of.rate)?;
    let gamma = differences(1, |_, h| bench.rate(&motion(h)));
    compare("gamma", &bench.gamma(s), &gamma, &errors_of.rate)?;
    let k_lam = differences(nv, |way, h| bench.pull(&place(way, h), &lam));
    compare("d(B^T lambda)/dq", &bench.dense_square(set, &derivatives.k_lam), &k_lam, &errors_of.pull)?;

    let (gamma_q, gamma_v) = convective_derivatives(bench, (s, start))?;
    let by_q = differences(nv, |way, h| bench.gamma(&place(way, h)));
    compare("d gamma/dq", &bench.dense_rows(set, &gamma_q), &by_q, &errors_of.gamma)?;
    let by_v = differences(nv, |way, h| bench.gamma(&speed(way, h)));
    compare("d gamma/dV", &bench.dense_rows(set, &gamma_v), &by_v, &errors_of.gamma)?;

    let (mut q, mut of_force) = (vec![0.0; nv], ForceDerivatives::default());
    bench.system.force_newton(s, &mut q, &mut of_force);
    if !same(&q, &bench.force(s)) {
        return Err("force kernels differ in what they share".to_owned());
    }
    let q_q = differences(nv, |way, h| bench.force(&place(way, h)));
    compare("dQ/dq", &bench.dense_square(&topology.forces, &of_force.q_q), &q_q, &errors_of.force)?;
    let q_v = differences(nv, |way, h| bench.force(&speed(way, h)));
    compare("dQ/dV", &bench.dense_square(&topology.forces, &of_force.q_v), &q_v, &errors_of.force)?;

    conditions(bench, (s, start))?;
    forces(bench, (s, start))
}

/// Blocks of `d gamma/dq` and `d gamma/dV` of all constraints.
pub fn convective_derivatives(bench: &Bench<'_>, states: (&State, &State)) -> Checked<(Vec<f64>, Vec<f64>)> {
    let (mut by_q, mut by_v) = (Vec::new(), Vec::new());
    for c in &bench.case.program().constraints {
        for z in bench.bounded(&c.family, &c.convective_newton, states, &[], 0.0)? {
            let (q, v) = z.split_at(c.rows * c.dim);
            by_q.extend(q.iter().map(|z| z.value));
            by_v.extend(v.iter().map(|z| z.value));
        }
    }
    Ok((by_q, by_v))
}

/// Conditions on initial values: derivative by positions or velocities.
fn conditions(bench: &mut Bench<'_>, (s, start): (&State, &State)) -> Checked {
    let topology = bench.topology.clone();
    let nv = topology.nv();
    for half in [Half::Positions, Half::Velocities] {
        let is_velocity = half == Half::Velocities;
        let mut errors = Vec::new();
        for c in bench.case.program().conditions.iter().filter(|c| c.is_velocity == is_velocity) {
            for z in bench.bounded(&c.family, &c.value, (s, start), &[], STATE_ERROR)? {
                errors.extend(z[..c.rows].iter().map(|z| z.error));
            }
        }
        let mut at = |s: &State| {
            let mut out = Jacobian::default();
            if is_velocity {
                bench.system.velocity_conditions(s, &mut out);
            } else {
                bench.system.position_conditions(s, &mut out);
            }
            out
        };
        let difference = differences(nv, |way, h| at(&moved(&topology, s, &along(nv, way, h), half)).phi);
        let exact = at(s).b;
        let set = if is_velocity { &topology.velocity_conditions } else { &topology.position_conditions };
        compare("conditions", &bench.dense_rows(set, &exact), &difference, &errors)?;
    }
    Ok(())
}

/// Each force by itself: `Q = -dU/dq - dF/dV`, plus what the loads do in each direction of virtual velocity.
fn forces(bench: &Bench<'_>, states: (&State, &State)) -> Checked {
    let compiled = &bench.case.compiled;
    for (f, kind) in compiled.program.forces.iter().zip(&compiled.equations.forces) {
        let at = |s: &State| bench.bounded(&f.family, &f.energy, (s, states.1), &[], STATE_ERROR);
        let energies = at(states.0)?;
        let q = bench.bounded(&f.family, &f.force, states, &[], STATE_ERROR)?;
        let loads = match kind.origin {
            Origin::Gravity(_) => Vec::new(),
            Origin::Element(e) => compiled.model.elements[e].loads.iter().map(|l| (l.velocity, l.value)).collect(),
        };
        for k in 0..f.family.table.count {
            let what = format!("Q of {}", f.family.instance_name(k));
            force(bench, states, (f, k), &what, &energies[k], &q[k], &loads, bench.case.force_set(kind.origin))?;
        }
    }
    Ok(())
}

#[expect(clippy::too_many_arguments, reason = "one instance of a force with all that belongs to it")]
fn force(
    bench: &Bench<'_>,
    (s, start): (&State, &State),
    (f, k): (&Force, usize),
    what: &str,
    energies: &[Bounded],
    q: &[Bounded],
    loads: &[(ExprId, ExprId)],
    set: &mbdsl::model::IndexSet,
) -> Checked {
    let topology = &bench.topology;
    let nv = topology.nv();
    let energy = |half: Half, which: usize| {
        differences(nv, |way, h| {
            let s = moved(topology, s, &along(nv, way, h), half);
            let all = bench.bounded(&f.family, &f.energy, (&s, start), &[], 0.0);
            vec![all.map_or(f64::NAN, |z| z[k][which].value)]
        })
    };
    let (u, d) = (energy(Half::Positions, 0), energy(Half::Velocities, 1));
    let mut sum = vec![0.0; nv];
    let mut size = vec![0.0; nv];
    for (&place, q) in places(topology, f.family.slots(k)).iter().zip(q) {
        sum[place] += q.value;
        size[place] += q.error;
    }
    for way in 0..nv {
        let oracle = |s| bench.case.oracle(set, k, s, start, &[]);
        let mut work = 0.0;
        if !loads.is_empty() {
            // Linear in the velocities: the difference is exact for any step.
            let rest =
                moved(topology, s, &velocities(topology, s).iter().map(|v| -v).collect::<Vec<_>>(), Half::Velocities);
            let unit = moved(topology, &rest, &along(nv, way, 1.0), Half::Velocities);
            for &(velocity, value) in loads {
                let value = oracle(s).components(value);
                let at = oracle(&unit).components(velocity);
                let rest = oracle(&rest).components(velocity);
                work += (0..3).map(|c| value[c] * (at[c] - rest[c])).sum::<f64>();
                size[way] += (0..3).map(|c| 1e-13 * (value[c] * at[c]).abs()).sum::<f64>();
            }
        }
        let expected = work - u.values[way] - d.values[way];
        let rounding = 2.0 * 1.5 * (energies[0].error + energies[1].error) / STEP;
        let tolerance = rounding + LEFT * (u.correction + d.correction) + 2.0 * size[way] + 1e-13 * sum[way].abs();
        if !agree(sum[way], expected, tolerance) {
            return Err(format!("{what}, column {way}: {} against {expected}, tolerance {tolerance:e}", sum[way]));
        }
    }
    Ok(())
}
