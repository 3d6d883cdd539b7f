//! Unknowns of the last steps, and what they extrapolate to.

use alloc::vec::Vec;

/// Weights of the latest, the one before, ..., in the polynomial through `known` of them: binomial coefficients with alternating signs.
const fn weights<const DEPTH: usize>(known: usize) -> [f64; DEPTH] {
    let mut weights = [0.0; DEPTH];
    let (mut k, mut weight) = (0, -1.0);
    while k < known {
        weight *= -((known - k) as f64) / (k + 1) as f64;
        weights[k] = weight;
        k += 1;
    }
    weights
}

/// A ring of the vectors of unknowns of the last steps of one size, at most `DEPTH`.
#[derive(Clone, Debug)]
pub(crate) struct History<const DEPTH: usize> {
    values: Vec<f64>,
    /// Place of the latest.
    head: usize,
    known: usize,
}

impl<const DEPTH: usize> History<DEPTH> {
    /// Weights by the number of known steps less one.
    const WEIGHTS: [[f64; DEPTH]; DEPTH] = {
        let mut all = [[0.0; DEPTH]; DEPTH];
        let mut k = 0;
        while k < DEPTH {
            all[k] = weights(k + 1);
            k += 1;
        }
        all
    };

    /// An empty one for vectors of `len` numbers.
    pub(crate) fn new(len: usize) -> Self {
        Self { values: vec![0.0; DEPTH * len], head: 0, known: 0 }
    }

    /// Forgets everything.
    pub(crate) fn clear(&mut self) {
        self.known = 0;
    }

    /// Forgets all but the latest: what comes does not continue what was.
    pub(crate) fn restart(&mut self) {
        self.known = self.known.min(1);
    }

    /// Whether nothing is known.
    pub(crate) fn is_empty(&self) -> bool {
        self.known == 0
    }

    /// The vector so many steps ago.
    #[inline(always)]
    fn past(&self, len: usize, ago: usize) -> &[f64] {
        &self.values[(self.head + DEPTH - ago) % DEPTH * len..][..len]
    }

    /// Whether all of them are known, so that starts are as good as they become.
    #[inline(always)]
    pub(crate) fn is_full(&self) -> bool {
        self.known == DEPTH
    }

    /// What the known vectors extrapolate to at the next step, by the polynomial through them. Something must be known.
    #[inline(always)]
    pub(crate) fn extrapolate(&self, out: &mut [f64]) {
        let len = out.len();
        let past: [&[f64]; DEPTH] = core::array::from_fn(|ago| self.past(len, ago));
        let w = &Self::WEIGHTS[self.known - 1];
        for k in 0..len {
            // Two sums, so that the chain of dependent operations is short.
            let mut sums = [0.0; 2];
            for (ago, past) in past.iter().enumerate() {
                sums[ago % 2] += w[ago] * past[k];
            }
            out[k] = sums[0] + sums[1];
        }
    }

    /// Remembers the unknowns of a step.
    #[inline(always)]
    pub(crate) fn push(&mut self, y: &[f64]) {
        let len = y.len();
        self.head = (self.head + 1) % DEPTH;
        self.values[self.head * len..][..len].copy_from_slice(y);
        self.known = (self.known + 1).min(DEPTH);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cubics_are_continued_exactly() {
        let cubic = |t: f64| [t * t * t - 2.0 * t, 3.0 - t * t];
        let mut history = History::<4>::new(2);
        let mut next = [0.0; 2];
        for k in 0..7 {
            history.push(&cubic(f64::from(k)));
            history.extrapolate(&mut next);
            if k >= 3 {
                assert_eq!(next, cubic(f64::from(k + 1)), "after step {k}");
            }
        }
        history.restart();
        history.extrapolate(&mut next);
        assert_eq!(next, cubic(6.0));
        history.push(&cubic(7.0));
        history.extrapolate(&mut next);
        assert_eq!(next[0], 2.0 * cubic(7.0)[0] - cubic(6.0)[0]);
        history.clear();
        assert!(history.is_empty());
    }
}
