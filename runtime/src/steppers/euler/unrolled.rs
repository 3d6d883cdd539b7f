//! Steps of small models by kernels that are written out for the whole model: no matrix, no loop over elements.
//!
//! A kernel gets the iterate `(h, y)` and gives the update of `y` with its sizes; what remains is to extrapolate, to add
//! and to judge, over arrays whose lengths the compiler knows where a generated model calls.

use alloc::vec::Vec;

use super::super::history::History;
use super::super::iteration::{Contraction, ENOUGH};
use super::{DEPTH, SURPRISE};
use crate::linalg::gram::PIVOT_FALL;
use crate::point::Point;
use crate::state::State;

/// Iterations after which the exact matrix takes over. (These leave out a term of order `(h Omega)^2`.)
const LIMIT: usize = 8;

/// Squares of sizes after the update in the result of a Newton kernel: of the updates of `u` and `V`, the speed, the
/// extent, the difference of the updates, the angular velocities.
const SIZES: usize = 6;

/// The equations of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnrolledForm {
    /// `y = (V, lam)`, `Phi = 0`.
    Position,
    /// `y = (V, lam)`, `B V + Phi_t = 0`.
    Velocity,
    /// `y = (u, V, lam, m)`, both, `W = B^T`.
    Lagrangian,
    /// `y = (u, V, lam, m)`, both, `W = M^-1 B^T`.
    Hamiltonian,
}

impl UnrolledForm {
    /// Whether positions are corrected, so that `u` and `V` differ.
    #[inline(always)]
    const fn is_stabilised(self) -> bool {
        matches!(self, Self::Lagrangian | Self::Hamiltonian)
    }
}

/// Sizes of a model, constants of generated code.
#[derive(Clone, Copy, Debug)]
pub struct UnrolledSizes {
    /// Bodies.
    pub bodies: usize,
    /// Velocities.
    pub velocities: usize,
    /// Constraint rows.
    pub rows: usize,
    /// Pivot blocks of the form.
    pub pivots: usize,
}

/// Workspace and memory of the steps.
#[derive(Clone, Debug)]
pub struct Unrolled {
    form: UnrolledForm,
    /// Whether accelerations are corrected too.
    accelerates: bool,
    /// `h`, then the unknowns.
    y: Vec<f64>,
    out: Vec<f64>,
    /// State of all bodies at the end, then `(V1 - V0)/h`.
    end: Vec<f64>,
    /// Pivots when they were seen first.
    pivots: Vec<f64>,
    has_pivots: bool,
    contraction: Contraction,
}

/// What a step leaves behind besides the state.
#[derive(Debug)]
pub struct Delivered<'a> {
    /// Unknowns of the last steps.
    pub(crate) history: &'a mut History<DEPTH>,
    /// Multipliers, a force or torque a row.
    pub(crate) lambda: &'a mut [f64],
    /// Accelerations.
    pub(crate) acceleration: &'a mut [f64],
}

impl Unrolled {
    pub(super) fn new(form: UnrolledForm, accelerates: bool, bodies: usize, nv: usize, nc: usize) -> Self {
        let len = unknowns(form, nv, nc);
        Self {
            form,
            accelerates,
            y: vec![0.0; 1 + len],
            // Pivot blocks are no more than rows in each of two systems.
            out: vec![0.0; len + SIZES + 2 * nc],
            end: vec![0.0; bodies * crate::state::STRIDE + nv],
            pivots: vec![0.0; 2 * nc],
            has_pivots: false,
            contraction: Contraction::default(),
        }
    }

    /// The equations.
    #[inline]
    #[must_use]
    pub fn form(&self) -> UnrolledForm {
        self.form
    }

    /// Forgets what pivots were.
    pub(super) fn forget_pivots(&mut self) {
        self.has_pivots = false;
    }

    /// Forgets how iterations converged.
    pub(super) fn forget_contraction(&mut self) {
        self.contraction = Contraction::default();
    }

    /// One step; the number of its iterations, or `None` where it does not converge or a pivot has fallen: nothing has changed then.
    ///
    /// `newton` and `advance` are evaluated at the state and the iterate, `accelerate` at the new state and `(V1 - V0)/h`.
    #[inline(always)]
    pub fn step(
        &mut self,
        delivered: Delivered<'_>,
        sizes: UnrolledSizes,
        (s, h, t1): (&mut State, f64, f64),
        mut newton: impl FnMut(&Point<'_>, &[f64], &mut [f64]),
        mut advance: impl FnMut(&Point<'_>, &[f64], &mut [f64]),
        mut accelerate: impl FnMut(&Point<'_>, &[f64], &mut [f64]),
    ) -> Option<usize> {
        let UnrolledSizes { bodies, velocities: nv, rows: nc, pivots } = sizes;
        let stabilised = self.form.is_stabilised();
        let len = unknowns(self.form, nv, nc);
        let y = &mut self.y[..1 + len];
        let out = &mut self.out[..len + SIZES + pivots];
        y[0] = h;
        if delivered.history.is_empty() {
            return None;
        }
        let is_usual = delivered.history.is_full();
        delivered.history.extrapolate(&mut y[1..]);
        let at = Point { t: t1, ..Point::of(s) };
        let mut count = 0;
        let mut last = 0.0;
        loop {
            newton(&at, y, out);
            for (y, d) in y[1..].iter_mut().zip(&out[..len]) {
                *y += d;
            }
            let (units, unseen) = units(&out[len..len + SIZES], h, self.form);
            count += 1;
            let next = units * (units / last);
            if self.contraction.is_enough(is_usual, count, units, last, next) && unseen <= ENOUGH {
                break;
            }
            if !units.is_finite() || count == LIMIT {
                delivered.history.restart();
                return None;
            }
            last = units;
        }
        let (now, then) = (&out[len + SIZES..], &mut self.pivots[..pivots]);
        if !self.has_pivots {
            then.copy_from_slice(now);
            self.has_pivots = true;
        }
        let has_fallen = |(now, then): (&f64, &f64)| now.abs() < PIVOT_FALL * then.abs();
        if now.iter().zip(&*then).fold(false, |any, pair| any | has_fallen(pair)) {
            return None;
        }
        let stride = bodies * crate::state::STRIDE;
        let end = &mut self.end[..stride + nv];
        advance(&at, y, end);
        let (z, a) = end.split_at(stride);
        // Whether the velocities are finite has been seen from the size of their update.
        let first = 1 + if stabilised { 2 * nv } else { nv };
        let lam = &y[first..first + nc];
        if !(are_finite(z) & are_finite(lam)) {
            return None;
        }
        if self.accelerates {
            let at = Point { z, ..at };
            let delivered = &mut delivered.acceleration[..nv];
            accelerate(&at, a, delivered);
            if !are_finite(delivered) {
                return None;
            }
        } else {
            delivered.acceleration[..nv].copy_from_slice(a);
        }
        let rate = 1.0 / h;
        for (force, lam) in delivered.lambda[..nc].iter_mut().zip(lam) {
            *force = lam * rate;
        }
        s.z[..stride].copy_from_slice(z);
        if count > SURPRISE {
            delivered.history.restart();
        }
        delivered.history.push(&y[1..]);
        Some(count)
    }
}

/// Number of unknowns.
#[inline(always)]
pub(super) const fn unknowns(form: UnrolledForm, nv: usize, nc: usize) -> usize {
    if form.is_stabilised() { 2 * (nv + nc) } else { nv + nc }
}

/// Squares of an update in units of its round-off, and of what the corrections that the velocities have not seen will
/// make of them, from squares of sizes.
///
/// Rounding errors of coordinates, divided by `h`, enter `u` through `Phi` in full; forces see a small part of them.
#[inline(always)]
fn units(sizes: &[f64], h: f64, form: UnrolledForm) -> (f64, f64) {
    const EPSILON: f64 = f64::EPSILON * f64::EPSILON;
    let &[of_u, of_v, speed, extent, apart, spin] = sizes else { return (f64::NAN, f64::NAN) };
    let square = h * h;
    // All times h^2.
    let (noise_u, noise_v) = (EPSILON * (speed * square + extent), EPSILON * (speed * square + 1e-6 * extent));
    let (of_u, of_v) = (of_u * square, of_v * square);
    match form {
        UnrolledForm::Position => (of_u / noise_u, 0.0),
        UnrolledForm::Velocity => (of_v / noise_v, 0.0),
        // A sum keeps NaN.
        UnrolledForm::Lagrangian | UnrolledForm::Hamiltonian => {
            let turn = square * (spin + speed / extent);
            (of_u / noise_u + of_v / noise_v, turn * turn * apart * square / noise_v)
        }
    }
}

/// Whether no number is infinite or NaN; without branches.
#[inline(always)]
fn are_finite(numbers: &[f64]) -> bool {
    numbers.iter().fold(true, |all, x| all & x.is_finite())
}
