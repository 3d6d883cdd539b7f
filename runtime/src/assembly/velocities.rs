//! Initial velocities: the least change in kinetic energy that fulfils constraints and conditions.

use alloc::vec::Vec;

use super::report::{AssemblyError, Conflict};
use super::stacked::{Selection, Stacked};
use crate::inertia::Inertia;
use crate::linalg::rows::amax;
use crate::state::State;
use crate::system::System;
use crate::topology::Topology;
use crate::velocity;

/// Part of the cancelling values above which a row counts as violated: far above round-off, far below any input error.
const OPEN: f64 = 1e-9;

/// Damping of the least-squares solution for wishes that contradict one another: its square root is far below what a
/// wish can mean.
const DAMPING: f64 = 1e-8;

/// Projects the velocities of `s`.
pub(super) fn assemble<S: System + ?Sized>(sys: &mut S, inertia: &Inertia, s: &mut State) -> Result<(), AssemblyError> {
    let mut all = Stacked::new(sys.topology(), Selection::VELOCITIES);
    let before = s.clone();
    if project(sys, inertia, &mut all, s)?.is_empty() {
        return Ok(());
    }
    // The wishes cannot all be fulfilled: least squares over all rows, then the fixed rows exactly.
    *s = before;
    all.evaluate_velocities(sys, s);
    let mut y = all.value.clone();
    all.gram.factor_damped(inertia, &all.b, DAMPING).map_err(|_| AssemblyError::NonFinite { places: Vec::new() })?;
    all.gram.solve(&mut y);
    let change = all.response(inertia, &y);
    add_velocities(&all.topology, s, &change);
    let mut fixed = Stacked::new(sys.topology(), Selection::FIXED_VELOCITIES);
    let open = project(sys, inertia, &mut fixed, s)?;
    if open.is_empty() {
        return Ok(());
    }
    let conflicts = open.iter().map(|&row| {
        let mut with: Vec<usize> =
            fixed.gram.combination(inertia, row, &fixed.b).iter().map(|&(j, _)| fixed.element_of(j)).collect();
        with.dedup();
        Conflict { row: fixed.residual(sys, row), with: with.iter().map(|&element| fixed.name(sys, element)).collect() }
    });
    Err(AssemblyError::ContradictoryVelocities { conflicts: conflicts.collect() })
}

/// Fulfils the independent rows; returns the rows that stay violated.
fn project<S: System + ?Sized>(
    sys: &mut S,
    inertia: &Inertia,
    rows: &mut Stacked,
    s: &mut State,
) -> Result<Vec<usize>, AssemblyError> {
    rows.evaluate_velocities(sys, s);
    rows.check_finite(sys).map_err(|places| AssemblyError::NonFinite { places })?;
    rows.gram.factor_ranked(inertia, &rows.b).map_err(|_| AssemblyError::NonFinite { places: Vec::new() })?;
    let first = rows.value.clone();
    // The problem is linear: the second pass is a refinement, a third would change nothing.
    for _ in 0..3 {
        if amax(&rows.value) == 0.0 {
            break;
        }
        let mut y = rows.value.clone();
        rows.gram.solve(&mut y);
        let change = rows.response(inertia, &y);
        add_velocities(&rows.topology, s, &change);
        rows.evaluate_velocities(sys, s);
    }
    rows.check_finite(sys).map_err(|places| AssemblyError::NonFinite { places })?;
    let (mut speed, mut spin) = (0.0, 0.0);
    for b in 0..s.len() {
        speed = f64::max(speed, s.v(b).amax());
        spin = f64::max(spin, s.omega(b).amax());
    }
    let scales = rows.scales(speed, spin);
    Ok((0..first.len()).filter(|&i| rows.value[i].abs() > OPEN * (scales[i] + first[i].abs())).collect())
}

fn add_velocities(topology: &Topology, s: &mut State, change: &[f64]) {
    let mut v = vec![0.0; topology.nv()];
    velocity::read(topology, s, &mut v);
    for (v, c) in v.iter_mut().zip(change) {
        *v += c;
    }
    velocity::write(topology, &v, s);
}
