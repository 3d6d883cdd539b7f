//! What past stages say of the impulse of the next one.
//!
//! An impulse divided by the time that it stands for is a force. Each stage of a composition continues its own forces of past steps, which
//! have the errors of this stage in them, by the polynomial through them. What that misses by is a smooth function of time, the same
//! for all stages: it is continued by the line through the last two.

use alloc::vec::Vec;

use super::super::history::History;

/// Steps that a polynomial goes through: one of degree 4 is good where a step turns bodies by a few tenths, and no worse than lower
/// ones where they turn by more.
const DEPTH: usize = 5;

/// Updates of a guess that tell that something new has happened, so that older steps say nothing about it.
const SURPRISE: usize = 3;

/// Impulses of the stages of steps of one size.
#[derive(Clone, Debug)]
pub(crate) struct Impulses {
    /// Per stage, in past steps.
    past: Vec<History<DEPTH>>,
    /// Per stage, in this step.
    latest: Vec<Vec<f64>>,
    /// What the polynomial says of the stage under way.
    guess: Vec<f64>,
    has_guess: bool,
    /// Forces by which the last guess was wrong, and the one before, N.
    misses: [Vec<f64>; 2],
    /// Sizes of the last stage and of the one before, s.
    sizes: [f64; 2],
}

impl Impulses {
    pub(super) fn new(stages: usize, nc: usize) -> Self {
        Self {
            past: vec![History::new(nc); stages],
            latest: vec![vec![0.0; nc]; stages],
            guess: vec![0.0; nc],
            has_guess: false,
            misses: [vec![0.0; nc], vec![0.0; nc]],
            sizes: [1.0; 2],
        }
    }

    /// Forgets everything: what comes does not continue what was.
    pub(super) fn clear(&mut self) {
        self.past.iter_mut().for_each(History::clear);
        self.misses.iter_mut().for_each(|miss| miss.fill(0.0));
    }

    /// Time that the impulse at the start of a stage stands for, s: half of the stage, and half of the one before it in the step, whose end
    /// has none of its own.
    #[inline(always)]
    fn time(&self, number: usize, h: f64) -> f64 {
        0.5 * (if number == 0 { h } else { self.sizes[0] + h })
    }

    /// Guesses the impulse of stage `number` of size `h`: zero where nothing is known. Whether guesses are as good as they become.
    #[inline(always)]
    pub(super) fn predict(&mut self, number: usize, h: f64, lam: &mut [f64]) -> bool {
        let past = &self.past[number];
        self.has_guess = !past.is_empty();
        if !self.has_guess {
            lam.fill(0.0);
            return false;
        }
        let time = self.time(number, h);
        let ahead = self.sizes[0] / self.sizes[1];
        let guess = &mut self.guess[..lam.len()];
        past.extrapolate(guess);
        let [last, before] = &self.misses;
        for (((lam, guess), last), before) in lam.iter_mut().zip(guess).zip(last).zip(before) {
            *lam = *guess + time * (last + ahead * (last - before));
        }
        past.is_full()
    }

    /// Gives up a guess from past steps, if there was one, for none: they say nothing about this one. Whether there was one.
    #[cold]
    pub(super) fn drop_guess(&mut self, number: usize, lam: &mut [f64]) -> bool {
        lam.fill(0.0);
        self.past[number].restart();
        core::mem::replace(&mut self.has_guess, false)
    }

    /// Takes the impulse that a stage has needed, after so many updates of the guess.
    #[inline(always)]
    pub(super) fn learn(&mut self, number: usize, h: f64, lam: &[f64], updates: usize) {
        if updates > SURPRISE {
            self.past[number].restart();
        }
        let nc = lam.len();
        self.latest[number][..nc].copy_from_slice(lam);
        let time = self.time(number, h);
        // Without a guess nothing has been missed.
        let rate = if self.has_guess && time != 0.0 { 1.0 / time } else { 0.0 };
        self.misses.swap(0, 1);
        for ((miss, lam), guess) in self.misses[0][..nc].iter_mut().zip(lam).zip(&self.guess) {
            *miss = (lam - guess) * rate;
        }
        self.sizes = [h, self.sizes[0]];
    }

    /// Remembers the impulses of an accepted step.
    pub(super) fn accept(&mut self) {
        for (past, latest) in self.past.iter_mut().zip(&self.latest) {
            past.push(latest);
        }
    }
}
