//! The motion between start and end of a step: chart vector and velocities, each by the interpolant of the pair.
//!
//! ```text
//! y(s) = y0 + s (F0 + (1-s) (F1 + s (F2 + (1-s) (F3 + ...))))      s from 0 to 1,  y = d, V
//! F0 = y1 - y0,  F1 = h y0' - F0,  F2 = F0 - h y1' - F1,  F3, ... = h times weighted sums of all slopes
//! ```
//!
//! Both ends are those of the step after its projection, so that steps join without gaps. Between them the local error, and with it `Phi` and
//! `B V + Phi_t`, is of the order of the method. Source: as of [`super::pair`], section II.6.

use alloc::vec::Vec;

use super::stages::{Motion, Stages};

/// Terms of the step that was made last.
#[derive(Clone, Debug)]
pub(super) struct Interpolant {
    terms: Vec<Motion>,
}

impl Interpolant {
    pub(super) fn new(stages: &Stages) -> Self {
        let term = vec![0.0; stages.slopes[0].len()];
        Self { terms: vec![term; 3 + stages.pair.tableau().dense.terms.len()] }
    }

    /// From the slopes of a step of size `h`, those of further stages included, and the change over the step.
    pub(super) fn fit(&mut self, stages: &Stages, h: f64, change: &[f64]) {
        let tableau = stages.pair.tableau();
        let (start, end) = (&stages.slopes[0], &stages.slopes[tableau.b.len()]);
        let (ends, further) = self.terms.split_at_mut(3);
        for (k, &total) in change.iter().enumerate() {
            let first = h * start[k] - total;
            for (term, value) in ends.iter_mut().zip([total, first, total - h * end[k] - first]) {
                term[k] = value;
            }
        }
        for (term, weights) in further.iter_mut().zip(tableau.dense.terms) {
            stages.combine(weights.iter().map(|w| h * w), term);
        }
    }

    /// The change from the start to the part `s` of the step.
    pub(super) fn change(&self, s: f64, change: &mut [f64]) {
        change.fill(0.0);
        for (j, term) in self.terms.iter().enumerate().rev() {
            let factor = if j % 2 == 0 { s } else { 1.0 - s };
            for (change, term) in change.iter_mut().zip(term) {
                *change = (*change + term) * factor;
            }
        }
    }
}
