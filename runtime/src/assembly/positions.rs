//! Initial positions: the least mass-weighted change from the guess that closes constraints and conditions.
//!
//! Three phases. (1) Damped Gauss-Newton (Levenberg-Marquardt on `S + eps diag S`) closes the rows from afar, also
//! through places where they are dependent. (2) Sequential quadratic steps take the tangential part of the accumulated
//! change back, so that the result does not depend on the path: minimise `xi^T M xi / 2`, `xi` the change from the
//! guess, by `dp = -M^-1 (g + B^T y)`, `S y = Phi - B M^-1 g`, `g` the gradient by the left-trivialised variation.
//! (3) Newton on independent rows closes to round-off.

use alloc::vec::Vec;

use nalgebra::Vector3;

use super::report::{AssemblyError, Pull};
use super::stacked::{Selection, Stacked};
use crate::inertia::Inertia;
use crate::linalg::rows::amax;
use crate::so3::{dexp_inverse, exp_increment, log, polish};
use crate::state::State;
use crate::system::System;
use crate::topology::{BodyKind, Topology};

/// Part of the cancelling values above which a row counts as open: far above round-off, far below input errors.
const OPEN: f64 = 1e-9;

/// Rows are closed for the first phase when quadratic convergence has surely set in.
const CLOSE: f64 = 1e-6;

/// Largest rotation of one step, rad: beyond it the linearisation says nothing.
const TURN: f64 = 0.5;

/// Iterations of the first phase; from any guess it needs about ten, more mean a valley without a solution.
const LEVENBERG_LIMIT: usize = 200;

/// An iteration of the first phase is slow if it gains less than this part of the squared residual, ...
const SLOW: f64 = 1e-3;

/// ... and after so many slow ones in a row, steps ten times shorter each time included, there is nothing to gain.
const SLOW_LIMIT: usize = 10;

/// Iterations of the second phase; it converges linearly with the ratio of change to radius of curvature.
const TANGENT_LIMIT: usize = 60;

/// Iterations of the third phase: four quadratic ones, and linear ones where rows touch (a stretched linkage).
const NEWTON_LIMIT: usize = 60;

/// Places `s`; returns which element moved which body how strongly.
pub(super) fn assemble<S: System + ?Sized>(
    sys: &mut S,
    inertia: &Inertia,
    s: &mut State,
) -> Result<Vec<Pull>, AssemblyError> {
    let mut pulls = vec![Pull::default(); s.len()];
    let mut all = Stacked::new(sys.topology(), Selection::POSITIONS);
    let mut wished = s.clone();
    if close(sys, inertia, &mut all, &mut wished, &mut pulls)? {
        *s = wished;
        return Ok(pulls);
    }
    // The wishes cannot all be fulfilled: from their least-squares point, then from the guess itself.
    let mut fixed = Stacked::new(sys.topology(), Selection::FIXED_POSITIONS);
    if close(sys, inertia, &mut fixed, &mut wished, &mut pulls)? {
        *s = wished;
        return Ok(pulls);
    }
    if close(sys, inertia, &mut fixed, s, &mut pulls)? {
        return Ok(pulls);
    }
    fixed.evaluate_positions(sys, s);
    let scales = fixed.scales(fixed.length(s), 1.0);
    let mut open: Vec<usize> = (0..scales.len()).filter(|&i| fixed.value[i].abs() > OPEN * scales[i]).collect();
    open.sort_by(|&i, &j| fixed.value[j].abs().total_cmp(&fixed.value[i].abs()));
    Err(AssemblyError::Open { rows: open.iter().map(|&row| fixed.residual(sys, row)).collect() })
}

/// Runs the three phases on one set of rows. On return `s` is the best state found; true if all rows are closed.
fn close<S: System + ?Sized>(
    sys: &mut S,
    inertia: &Inertia,
    rows: &mut Stacked,
    s: &mut State,
    pulls: &mut [Pull],
) -> Result<bool, AssemblyError> {
    let guess = s.clone();
    let mut total = vec![0.0; rows.set.rows];
    let mut closed = levenberg(sys, inertia, rows, s, &mut total)?;
    for attempt in 0..2 {
        if closed {
            break;
        }
        // A guess may lie exactly where the rows have no gradient (coinciding points, a folded linkage).
        let mut moved = guess.clone();
        nudge(&rows.topology, &mut moved, rows.length(&guess), attempt);
        let mut other = vec![0.0; rows.set.rows];
        if levenberg(sys, inertia, rows, &mut moved, &mut other)? {
            (*s, total, closed) = (moved, other, true);
        }
    }
    if !closed {
        return Ok(false);
    }
    if s.z != guess.z {
        take_back(sys, inertia, rows, &guess, s, &mut total)?;
    }
    newton(sys, inertia, rows, s, &mut total)?;
    let length = rows.length(s);
    let scales = rows.scales(length, 1.0);
    let closed = rows.value.iter().zip(&scales).all(|(value, scale)| value.abs() <= OPEN * scale);
    attribute(sys, inertia, rows, &total, pulls);
    Ok(closed)
}

/// Phase 1: true when every row is close to zero.
fn levenberg<S: System + ?Sized>(
    sys: &mut S,
    inertia: &Inertia,
    rows: &mut Stacked,
    s: &mut State,
    total: &mut [f64],
) -> Result<bool, AssemblyError> {
    let (mut damping, mut slow) = (1e-4, 0);
    evaluate(sys, rows, s)?;
    for _ in 0..LEVENBERG_LIMIT {
        if is_close(rows, s) {
            return Ok(true);
        }
        rows.gram.factor_damped(inertia, &rows.b, damping).map_err(|_| not_finite())?;
        let weights: Vec<f64> = rows.gram.diagonal().iter().map(|&d| if d > 0.0 { 1.0 / d } else { 0.0 }).collect();
        let merit = |value: &[f64]| -> f64 { value.iter().zip(&weights).map(|(v, w)| v * v * w).sum() };
        let before = merit(&rows.value);
        let mut y = rows.value.clone();
        rows.gram.solve(&mut y);
        let step = rows.response(inertia, &y);
        let part = (TURN / largest_turn(&rows.topology, &step)).min(1.0);
        let mut trial = s.clone();
        displace(&rows.topology, &mut trial, &step, part);
        rows.evaluate_positions(sys, &trial);
        let after = merit(&rows.value);
        // Many small gains in a row: the bottom of a valley without a solution.
        slow = if after < before * (1.0 - SLOW) { 0 } else { slow + 1 };
        if slow > SLOW_LIMIT {
            return Ok(false);
        }
        if after < before {
            for (t, y) in total.iter_mut().zip(&y) {
                *t += part * y;
            }
            *s = trial;
            // Angles are counted on the way: a step turns far less than half a turn.
            sys.accept(s);
            damping = (damping * 0.1).max(1e-12);
        } else {
            damping *= 10.0;
            rows.evaluate_positions(sys, s);
        }
    }
    Ok(is_close(rows, s))
}

/// Phase 2. The best state so far is kept: a step that does not bring the rows closer to the guess ends it.
fn take_back<S: System + ?Sized>(
    sys: &mut S,
    inertia: &Inertia,
    rows: &mut Stacked,
    guess: &State,
    s: &mut State,
    total: &mut [f64],
) -> Result<(), AssemblyError> {
    newton(sys, inertia, rows, s, total)?;
    let mut length = rows.length(s);
    let mut best = distance(&rows.topology, inertia, guess, s);
    for _ in 0..TANGENT_LIMIT {
        evaluate(sys, rows, s)?;
        rows.gram.factor_ranked(inertia, &rows.b).map_err(|_| not_finite())?;
        let back = gradient_step(&rows.topology, inertia, guess, s);
        // S y = Phi + B (-M^-1 g)
        let mut y = vec![0.0; rows.set.rows];
        crate::linalg::rows::apply(&rows.set, &rows.topology.dof, &rows.b, &back, &mut y);
        for (y, value) in y.iter_mut().zip(&rows.value) {
            *y += value;
        }
        rows.gram.solve(&mut y);
        let mut step = rows.response(inertia, &y);
        for (step, back) in step.iter_mut().zip(&back) {
            *step += back;
        }
        let size = inertia.largest_speed(&step);
        if size.is_nan() || size <= 1e-12 * length {
            break;
        }
        let part = (TURN / largest_turn(&rows.topology, &step)).min(1.0);
        let mut trial = s.clone();
        displace(&rows.topology, &mut trial, &step, part);
        sys.accept(&mut trial);
        let mut pulled = total.to_vec();
        newton(sys, inertia, rows, &mut trial, &mut pulled)?;
        let now = distance(&rows.topology, inertia, guess, &trial);
        if now.is_nan() || now >= best || !is_close(rows, &trial) {
            break;
        }
        for (t, (p, y)) in total.iter_mut().zip(pulled.iter().zip(&y)) {
            *t = p + part * y;
        }
        best = now;
        length = length.max(rows.length(&trial));
        *s = trial;
    }
    Ok(())
}

/// Phase 3: Newton on the independent rows until the steps are round-off or no longer fall.
fn newton<S: System + ?Sized>(
    sys: &mut S,
    inertia: &Inertia,
    rows: &mut Stacked,
    s: &mut State,
    total: &mut [f64],
) -> Result<(), AssemblyError> {
    let mut last = f64::INFINITY;
    for _ in 0..NEWTON_LIMIT {
        evaluate(sys, rows, s)?;
        rows.gram.factor_ranked(inertia, &rows.b).map_err(|_| not_finite())?;
        let mut y = rows.value.clone();
        rows.gram.solve(&mut y);
        let step = rows.response(inertia, &y);
        let size = inertia.largest_speed(&step);
        let floor = f64::EPSILON * rows.length(s);
        if size.is_nan() || size <= 2.0 * floor || (size < 1e4 * floor && size > 0.5 * last) {
            break;
        }
        let part = (TURN / largest_turn(&rows.topology, &step)).min(1.0);
        displace(&rows.topology, s, &step, part);
        sys.accept(s);
        for (t, y) in total.iter_mut().zip(&y) {
            *t += part * y;
        }
        last = size;
    }
    evaluate(sys, rows, s)
}

fn evaluate<S: System + ?Sized>(sys: &mut S, rows: &mut Stacked, s: &State) -> Result<(), AssemblyError> {
    rows.evaluate_positions(sys, s);
    rows.check_finite(sys).map_err(|places| AssemblyError::NonFinite { places })
}

fn not_finite() -> AssemblyError {
    AssemblyError::NonFinite { places: Vec::new() }
}

fn is_close(rows: &Stacked, s: &State) -> bool {
    let scales = rows.scales(rows.length(s), 1.0);
    rows.value.iter().zip(&scales).all(|(value, scale)| value.abs() <= CLOSE * scale)
}

/// `-M^-1 g`: for `xi = (x - x_g, log(R_g^T R))`, `g = (m xi_x, T^-T J xi_theta)`.
fn gradient_step(topology: &Topology, inertia: &Inertia, guess: &State, s: &State) -> Vec<f64> {
    let mut out = vec![0.0; topology.nv()];
    for (b, body) in topology.bodies.iter().enumerate() {
        let at = topology.dof[b];
        out[at..at + 3].copy_from_slice((guess.x(b) - s.x(b)).as_slice());
        if body.kind == BodyKind::Rigid {
            let xi = log(&(guess.r(b).transpose() * s.r(b)));
            let g = dexp_inverse(&xi).transpose() * (inertia.mass(b).1 * xi);
            out[at + 3..at + 6].copy_from_slice((-(inertia.inverse(b).1 * g)).as_slice());
        }
    }
    out
}

/// `xi^T M xi`, kg m^2.
fn distance(topology: &Topology, inertia: &Inertia, guess: &State, s: &State) -> f64 {
    let mut sum = 0.0;
    for (b, body) in topology.bodies.iter().enumerate() {
        let (mass, j) = inertia.mass(b);
        sum += mass * (s.x(b) - guess.x(b)).norm_squared();
        if body.kind == BodyKind::Rigid {
            let xi = log(&(guess.r(b).transpose() * s.r(b)));
            sum += xi.dot(&(j * xi));
        }
    }
    sum
}

/// `q <- q (+) part step`, with the rotations repaired.
fn displace(topology: &Topology, s: &mut State, step: &[f64], part: f64) {
    for (b, body) in topology.bodies.iter().enumerate() {
        let at = topology.dof[b];
        s.set_x(b, &(s.x(b) + Vector3::from_column_slice(&step[at..at + 3]) * part));
        if body.kind == BodyKind::Rigid {
            let theta = Vector3::from_column_slice(&step[at + 3..at + 6]) * part;
            let r = s.r(b);
            s.set_r(b, &polish(&(r + r * exp_increment(&theta))));
        }
    }
}

/// Largest rotation in a step, rad; at least a value that leaves the step whole.
fn largest_turn(topology: &Topology, step: &[f64]) -> f64 {
    let mut largest = TURN;
    for (b, body) in topology.bodies.iter().enumerate() {
        if body.kind == BodyKind::Rigid {
            largest = largest.max(Vector3::from_column_slice(&step[topology.dof[b] + 3..][..3]).norm());
        }
    }
    largest
}

/// Moves every body by a little in a fixed irregular pattern, a hundredth of the length of the model.
fn nudge(topology: &Topology, s: &mut State, length: f64, attempt: usize) {
    let mut step = vec![0.0; topology.nv()];
    for (b, body) in topology.bodies.iter().enumerate() {
        for k in 0..body.kind.dim() {
            let phase = libm::sin((7 * b + 3 * k + 11 * attempt + 1) as f64);
            step[topology.dof[b] + k] = 0.01 * phase * if k < 3 { length } else { 1.0 };
        }
    }
    displace(topology, s, &step, 1.0);
}

/// Remembers per body the element whose accumulated multipliers moved it most.
fn attribute<S: System + ?Sized>(sys: &S, inertia: &Inertia, rows: &Stacked, total: &[f64], pulls: &mut [Pull]) {
    for (number, e) in rows.set.elements.iter().enumerate() {
        let y = &total[e.row..e.row + e.rows];
        if amax(y) == 0.0 {
            continue;
        }
        let mut at = 0;
        for &body in rows.set.bodies(e) {
            let (mass, j) = inertia.inverse(body as usize);
            let dim = rows.topology.bodies[body as usize].kind.dim();
            let mut force = [0.0; 6];
            for (row, y) in crate::linalg::rows::rows(e, &rows.b).zip(y) {
                for (f, b) in force.iter_mut().zip(&row[at..at + dim]) {
                    *f += b * y;
                }
            }
            // Kinetic measure of the displacement: f^T M^-1 f.
            let (f, t) = (Vector3::from_column_slice(&force[..3]), Vector3::from_column_slice(&force[3..]));
            let strength = mass * f.norm_squared() + t.dot(&(j * t));
            if strength > pulls[body as usize].strength {
                pulls[body as usize] = Pull { strength, name: rows.name(sys, number) };
            }
            at += dim;
        }
    }
}
