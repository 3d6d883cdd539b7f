//! The symbolic evaluator against the kernels, on everything that they compute for equations of motion.

use mbdsl::formulate::Direction;
use mbdsl::ir::VerifiedKernel;
use mbdsl::ir::program::{Coupling, Family, Probe};
use mbdsl::model::IndexSet;
use mbdsl::symbolic::ExprId;
use mbdsl::symbolic::eval::Value;
use mbdsl_runtime::state::State;

use crate::bench::Bench;
use crate::case::{Checked, agree};
use crate::oracle::{Oracle, value};
use crate::tape::Noise;

/// Where an expression goes in the output of a kernel: first offset, distance of its rows.
type Place = (usize, usize, ExprId);

/// The evaluator rounds in an order of its own: both errors together are some times the bound for the kernel, which knows nothing
/// of cancellations that the simplification of the kernel has removed.
const FACTOR: f64 = 8.0;

/// Relative to the largest number of an output: where the evaluator adds terms that a kernel leaves out.
const FLOOR: f64 = 1e-14;

fn block(out: &mut Vec<Place>, start: usize, row: usize, dim: usize, dirs: &[Direction], parts: &[ExprId]) {
    out.extend(dirs.iter().zip(parts).map(|(d, &e)| (start + row * dim + d.offset, dim, e)));
}

/// The stored parts of a square block; what is not stored is compared with differences of the whole (`differences.rs`).
fn square(out: &mut Vec<Place>, start: usize, stored: &[Coupling], dirs: &[Direction], parts: &[ExprId]) {
    for (k, &[row, col]) in stored.iter().enumerate() {
        let place = |vector: u32| dirs.iter().position(|d| d.offset == 3 * vector as usize).expect("a direction");
        out.push((start + 9 * k, 3, parts[place(row) * dirs.len() + place(col)]));
    }
}

/// What the outputs of a kernel should be; the largest number says how well they can be known.
fn expected(oracle: &Oracle<'_>, places: &[Place], size: usize) -> Vec<f64> {
    let mut out = vec![0.0; size];
    let roots: Vec<ExprId> = places.iter().map(|p| p.2).collect();
    for (&(offset, stride, _), value) in places.iter().zip(oracle.eval(&roots)) {
        let columns = if matches!(value, Value::Mat3(_)) { 3 } else { value.components().len() };
        for (k, x) in value.components().iter().enumerate() {
            out[offset + k / columns * stride + k % columns] = *x;
        }
    }
    out
}

struct Evaluation<'b, 'c> {
    bench: &'b Bench<'c>,
    states: (&'b State, &'b State),
}

impl Evaluation<'_, '_> {
    fn kernel(
        &self,
        family: &Family,
        kernel: &VerifiedKernel,
        set: &IndexSet,
        places: &[Place],
        lambda: &[(Vec<Value>, Vec<f64>)],
    ) -> Checked {
        let flat: Vec<f64> = lambda.iter().flat_map(|l| l.1.iter().copied()).collect();
        let bounded = self.bench.bounded(family, kernel, self.states, &flat, 0.0)?;
        for (k, z) in bounded.iter().enumerate() {
            let symbols = lambda.get(k).map_or(&[][..], |l| &l.0);
            let oracle = self.bench.case.oracle(set, k, self.states.0, self.states.1, symbols);
            let expected = expected(&oracle, places, kernel.get().size);
            let largest = expected.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
            for (offset, (z, e)) in z.iter().zip(&expected).enumerate() {
                let tolerance = FACTOR * z.error + FLOOR * largest;
                if !agree(z.value, *e, tolerance) {
                    let (name, kernel) = (family.instance_name(k), &kernel.get().name);
                    return Err(format!(
                        "{name}, kernel {kernel}, offset {offset}: {} and by the evaluator {e}, tolerance {tolerance:e}",
                        z.value
                    ));
                }
            }
        }
        Ok(())
    }

    fn probe(&self, probe: &Probe, set: &IndexSet, e: ExprId) -> Checked {
        if probe.reductions.is_empty() && probe.recordings.is_empty() && probe.family.interface.multipliers == 0 {
            self.kernel(&probe.family, &probe.value, set, &[(0, 3, e)], &[])?;
        }
        Ok(())
    }
}

/// Checks all kernels at a state.
pub fn check(bench: &Bench<'_>, (start, s): (&State, &State), noise: &mut Noise) -> Checked {
    let compiled = &bench.case.compiled;
    let (model, program, equations) = (&compiled.model, &compiled.program, &compiled.equations);
    let evaluation = Evaluation { bench, states: (s, start) };
    for (c, kind) in program.constraints.iter().zip(&equations.constraints) {
        let (rows, dim, dirs) = (c.rows, c.dim, &kind.directions);
        let set = &model.elements[kind.element].set;
        let lambda: Vec<(Vec<Value>, Vec<f64>)> = (0..set.count)
            .map(|_| {
                let flat = noise.list(rows);
                (kind.groups.iter().map(|g| value(g.ty, &flat[g.row..])).collect(), flat)
            })
            .collect();
        let (mut phi, mut jac, mut bv_q) = (Vec::new(), Vec::new(), Vec::new());
        let (mut gamma, mut gamma_d) = (Vec::new(), Vec::new());
        for g in &kind.groups {
            phi.push((g.row, 1, g.phi));
            jac.extend([(g.row, 1, g.phi), (rows + g.row, 1, g.phi_t)]);
            block(&mut jac, 2 * rows, g.row, dim, dirs, &g.b);
            block(&mut bv_q, 2 * rows + rows * dim, g.row, dim, dirs, &g.bv_q);
            gamma.push((g.row, 1, g.gamma));
            block(&mut gamma_d, 0, g.row, dim, dirs, &g.gamma_q);
            block(&mut gamma_d, rows * dim, g.row, dim, dirs, &g.gamma_v);
        }
        let mut newton = [&jac[..], &bv_q].concat();
        square(&mut newton, 2 * (rows + rows * dim), &c.couplings, dirs, &kind.k_lam);
        for (kernel, places) in [
            (&c.value, &phi),
            (&c.jacobian, &jac),
            (&c.newton, &newton),
            (&c.convective, &gamma),
            (&c.convective_newton, &gamma_d),
        ] {
            evaluation.kernel(&c.family, kernel, set, places, &lambda)?;
        }
    }
    for (f, kind) in program.forces.iter().zip(&equations.forces) {
        let (dim, dirs) = (f.dim, &kind.directions);
        let force: Vec<Place> = dirs.iter().zip(&kind.q).map(|(d, &e)| (d.offset, 1, e)).collect();
        let mut newton = force.clone();
        square(&mut newton, dim, &f.couplings, dirs, &kind.q_q);
        square(&mut newton, dim + 9 * f.couplings.len(), &f.couplings, dirs, &kind.q_v);
        let energy = vec![(0, 1, kind.potential), (1, 1, kind.dissipation)];
        let set = bench.case.force_set(kind.origin);
        for (kernel, places) in [(&f.energy, &energy), (&f.force, &force), (&f.newton, &newton)] {
            evaluation.kernel(&f.family, kernel, set, places, &[])?;
        }
    }
    for (c, kind) in program.conditions.iter().zip(&equations.conditions) {
        let mut places = vec![(0, 1, kind.value), (c.rows, 1, kind.value_t)];
        block(&mut places, 2 * c.rows, 0, c.dim, &kind.directions, &kind.b);
        evaluation.kernel(&c.family, &c.value, &model.conditions[kind.condition].set, &places, &[])?;
    }
    for (a, kind) in program.angles.iter().zip(&equations.angles) {
        evaluation.kernel(&a.family, &a.value, &model.elements[kind.element].set, &[(0, 1, kind.value)], &[])?;
    }
    for ((o, source), &e) in program.outputs.iter().zip(&model.outputs).zip(&equations.outputs) {
        evaluation.probe(&o.probe, &source.set, e)?;
    }
    Ok(())
}
