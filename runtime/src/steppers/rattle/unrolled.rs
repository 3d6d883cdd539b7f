//! RATTLE of small models by kernels that are written out for the whole model: no matrix, no loop over elements.
//!
//! The drift stays what it is for all models. A kernel gets what it has led to, and its derivatives, and gives the update of the impulses with
//! what that does to momenta, positions and attitudes. The last update, which turns bodies by less than the root of round-off, is
//! applied to the end of the drift: what is left out is its square. So a stage whose first guess is good drifts once.

use alloc::vec::Vec;

use super::super::euler::unrolled::UnrolledSizes;
use super::super::iteration::Contraction;
use super::super::motion::{Bodies, Motion};
use super::impulses::Impulses;
use crate::linalg::gram::PIVOT_FALL;
use crate::point::Point;
use crate::state::State;

/// Updates after which block matrices take over.
const LIMIT: usize = 8;

/// Numbers after the updates in the result of the Newton kernel: squares of the sizes of the update and of the model, and of the turns.
const SIZES: usize = 3;

/// A first update by this part of the model's extent (squares) tells that the guess is no better than none.
const ASTRAY: f64 = 1e-4;

/// Squares of the turns, rad, that may be applied to the end of a drift.
pub(super) const SMALL_TURN: f64 = f64::EPSILON;

/// Square of the relative error of derivatives of attitudes: an exact one of a body without symmetry is good to a millionth.
const DERIVATIVE: f64 = 1e-16;

/// Workspace and memory of the stages.
#[derive(Clone, Debug)]
pub struct UnrolledRattle {
    start: Vec<Motion>,
    lam: Vec<f64>,
    kick: Vec<f64>,
    /// What a kernel loads besides the state: where the drift has led to, or velocities and forces.
    y: Vec<f64>,
    /// Results of the iteration and of the end, one each: kernels do not write what is always zero.
    out: [Vec<f64>; 2],
    /// Pivots of the iteration and of the end when they were seen first.
    pivots: [Vec<f64>; 2],
    has_pivots: [bool; 2],
    /// Per stage of a composition.
    contraction: Vec<Contraction>,
}

/// A stage that is to be made.
#[derive(Debug)]
pub struct Stage<'a> {
    pub(in super::super) bodies: &'a Bodies,
    pub(in super::super) motions: &'a mut [Motion],
    pub(in super::super) trial: &'a mut State,
    pub(in super::super) impulses: &'a mut Impulses,
    pub(in super::super) h: f64,
    pub(in super::super) t1: f64,
    pub(in super::super) number: usize,
}

/// An end of a step that is to be made.
#[derive(Debug)]
pub struct StepEnd<'a> {
    pub(in super::super) bodies: &'a Bodies,
    pub(in super::super) motions: &'a mut [Motion],
    pub(in super::super) trial: &'a State,
    pub(in super::super) force: &'a [f64],
    pub(in super::super) acceleration: &'a mut [f64],
    pub(in super::super) lambda: &'a mut [f64],
}

impl UnrolledRattle {
    pub(super) fn new(bodies: &Bodies, stages: usize) -> Self {
        let topology = &bodies.topology;
        let (nb, nv, nc) = (topology.bodies.len(), topology.nv(), topology.nc());
        Self {
            start: vec![Motion::REST; nb],
            lam: vec![0.0; nc],
            kick: vec![0.0; nv],
            y: vec![0.0; (2 + bodies.drifted_len()).max(2 * nv)],
            // Pivot blocks are no more than rows.
            out: [vec![0.0; 2 * (nc + nv) + SIZES], vec![0.0; 2 * (nc + nv)]],
            pivots: [vec![0.0; nc], vec![0.0; nc]],
            has_pivots: [false; 2],
            contraction: vec![Contraction::default(); stages],
        }
    }

    /// Forgets what pivots were.
    pub(super) fn forget_pivots(&mut self) {
        self.has_pivots = [false; 2];
    }

    /// Forgets how iterations converged.
    pub(super) fn forget_contraction(&mut self) {
        self.contraction.fill(Contraction::default());
    }

    /// One stage; the number of its updates, or `None` where they do not converge or a pivot has fallen: motions and state are then as before.
    ///
    /// `kick` is evaluated at the state that the stage begins from and the impulses, `newton` at that state and where the drift has led to.
    #[inline(always)]
    pub fn stage(
        &mut self,
        stage: Stage<'_>,
        sizes: UnrolledSizes,
        mut kick: impl FnMut(&Point<'_>, &[f64], &mut [f64]),
        mut newton: impl FnMut(&Point<'_>, &[f64], &mut [f64]),
    ) -> Option<usize> {
        let UnrolledSizes { bodies: nb, velocities: nv, rows: nc, pivots } = sizes;
        let Stage { bodies, motions, trial, impulses, h, t1, number } = stage;
        let (start, motions) = (&mut self.start[..nb], &mut motions[..nb]);
        let (lam, total) = (&mut self.lam[..nc], &mut self.kick[..nv]);
        let out = &mut self.out[0][..nc + 2 * nv + SIZES + pivots];
        start.copy_from_slice(motions);
        let is_usual = impulses.predict(number, h, lam);
        let at = Point::of(trial);
        total.fill(0.0);
        kick(&at, lam, total);
        (self.y[0], self.y[1]) = (h, t1);
        let (mut count, mut last) = (0, 0.0);
        let converged = loop {
            bodies.kick(motions, total, 1.0);
            if bodies.linearise_into(motions, h, &mut self.y[2..]).is_err() {
                break false;
            }
            newton(&at, &self.y, out);
            let (dlam, kick, sizes) = (&out[..nc], &out[nc..nc + nv], &out[nc + 2 * nv..]);
            let &[of_update, extent, turn, ..] = sizes else { break false };
            count += 1;
            if count == 1 && of_update > ASTRAY * extent && impulses.drop_guess(number, lam) {
                total.fill(0.0);
                motions.copy_from_slice(start);
                continue;
            }
            for (lam, d) in lam.iter_mut().zip(dlam) {
                *lam += d;
            }
            let units = of_update / (f64::EPSILON * f64::EPSILON * extent);
            let ratio = units / last;
            let next = units * (ratio * ratio).max(DERIVATIVE);
            if self.contraction[number].is_enough(is_usual, count, units, last, next) && turn <= SMALL_TURN {
                bodies.correct(motions, start, kick, &out[nc + nv..nc + 2 * nv]);
                break true;
            }
            if !units.is_finite() || count == LIMIT {
                break false;
            }
            last = units;
            for (total, kick) in total.iter_mut().zip(kick) {
                *total += kick;
            }
            motions.copy_from_slice(start);
        };
        if !converged || self.has_fallen(0, pivots, nc + 2 * nv + SIZES) {
            motions.copy_from_slice(&self.start[..nb]);
            return None;
        }
        impulses.learn(number, h, &self.lam[..nc], count);
        trial.t = t1;
        bodies.write_positions(motions, trial);
        Some(count)
    }

    /// Whether a pivot that ends the result of a kernel has fallen.
    #[inline(always)]
    fn has_fallen(&mut self, which: usize, pivots: usize, at: usize) -> bool {
        let (now, then) = (&self.out[which][at..at + pivots], &mut self.pivots[which][..pivots]);
        if !self.has_pivots[which] {
            then.copy_from_slice(now);
            self.has_pivots[which] = true;
        }
        let has_fallen = |(now, then): (&f64, &f64)| now.abs() < PIVOT_FALL * then.abs();
        now.iter().zip(&*then).fold(false, |any, pair| any | has_fallen(pair))
    }

    /// The end of a step: velocities onto the constraints, accelerations and multipliers. `None` where a pivot has fallen or something is
    /// not finite: nothing has changed then.
    #[inline(always)]
    pub fn end(
        &mut self,
        end: StepEnd<'_>,
        sizes: UnrolledSizes,
        mut kernel: impl FnMut(&Point<'_>, &[f64], &mut [f64]),
    ) -> Option<()> {
        let UnrolledSizes { bodies: nb, velocities: nv, rows: nc, pivots } = sizes;
        let StepEnd { bodies, motions, trial, force, acceleration, lambda } = end;
        let out = &mut self.out[1][..2 * nv + nc + pivots];
        bodies.velocities(&motions[..nb], &mut self.y[..nv]);
        self.y[nv..2 * nv].copy_from_slice(&force[..nv]);
        kernel(&Point::of(trial), &self.y, out);
        let is_finite = out.iter().fold(true, |all, x| all & x.is_finite());
        if !is_finite || self.has_fallen(1, pivots, 2 * nv + nc) {
            return None;
        }
        let out = &self.out[1];
        bodies.kick(motions, &out[..nv], 1.0);
        acceleration[..nv].copy_from_slice(&out[nv..2 * nv]);
        lambda[..nc].copy_from_slice(&out[2 * nv..2 * nv + nc]);
        Some(())
    }
}
