//! When a Newton iteration has converged to round-off.

/// Iterations after which a step is given up.
pub(crate) const LIMIT: usize = 30;

/// An update below this many units of round-off ends the iteration.
const SETTLED: f64 = 4.0;

/// Below this many units an update that no longer falls is rounding noise amplified by the conditioning of the model.
pub(crate) const NOISE: f64 = 1e4;

/// Derivatives are evaluated again where updates have not fallen by this factor.
pub(crate) const WORTH: f64 = 0.1;

/// Updates that fall by this factor, again and again, are slow and not noise.
pub(crate) const FALLING: f64 = 0.8;

/// Updates that fall by a lesser factor than this call for a better matrix, where there is one.
pub(crate) const SLOW: f64 = 0.01;

/// Below this part of the speed, two updates in a row that do not fall are noise as well: forces that nearly cancel
/// have rounding errors far above those of their sum, and an exact Newton method does not stall there otherwise.
const STALLED: f64 = 1e-8;

/// The next update, extrapolated quadratically, must be below this part of round-off to be left out. The allowance of
/// a thousand covers first updates that are large for linear reasons (an impulse that was unknown).
const NEGLIGIBLE: f64 = 1e-3;

/// Squares of units that an update must come down to.
pub(crate) const ENOUGH: f64 = SETTLED * SETTLED;

/// Steps after which it is measured again how iterations converge.
const MEASURE_EVERY: u32 = 128;

/// How the iteration of recent steps has converged, from a first update and the one after it (squares of units of round-off).
///
/// Motion is smooth, so that the next step behaves like the last one: an update that is as small as one that was followed by
/// round-off will be followed by round-off. One iteration a step is then enough, and this is seen without a second one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Contraction {
    /// What follows an update is proportional to it by this factor,
    linear: f64,
    /// or to its square by this one.
    quadratic: f64,
    age: u32,
}

impl Default for Contraction {
    fn default() -> Self {
        Self { linear: 0.0, quadratic: 0.0, age: MEASURE_EVERY }
    }
}

impl Contraction {
    /// Whether an iteration can end with update number `count`, of a size of `units` (squared) after `last`. Only steps whose
    /// start is `usual` tell about each other: the first updates of others are large for other reasons. From the second update on
    /// `next` is what should follow it.
    #[inline(always)]
    pub(crate) fn is_enough(&mut self, is_usual: bool, count: usize, units: f64, last: f64, next: f64) -> bool {
        if count == 1 {
            self.age += 1;
            let next = (units * self.linear).max(units * units * self.quadratic);
            return units <= ENOUGH || is_usual && self.age < MEASURE_EVERY && next <= ENOUGH;
        }
        let ratio = units / last;
        if count == 2 && is_usual {
            *self = Self { linear: ratio, quadratic: ratio / last, age: 0 };
        }
        let is_noise = units < NOISE * NOISE && ratio > 0.25;
        units <= ENOUGH || is_noise || next <= 1.0
    }
}

/// Sizes of the updates so far.
#[derive(Clone, Debug)]
pub(crate) struct Iteration {
    /// Updates in units of their own round-off.
    units: [f64; LIMIT],
    /// Updates relative to the speed of the model.
    relative: [f64; LIMIT],
    pub(crate) count: usize,
    convergence: Convergence,
}

/// How updates follow from each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Convergence {
    /// Each by the same factor.
    Linear,
    /// Each as the square of the one before.
    Quadratic,
}

/// What to do after an update.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Continue,
    Converged,
    NonFinite,
    GivenUp,
}

impl Iteration {
    pub(crate) const fn new(convergence: Convergence) -> Self {
        Self { units: [0.0; LIMIT], relative: [0.0; LIMIT], count: 0, convergence }
    }

    /// Size of the last update in units of its round-off, infinite before the first one.
    pub(crate) fn last_units(&self) -> f64 {
        self.count.checked_sub(1).map_or(f64::INFINITY, |k| self.units[k])
    }

    /// The sum of all updates to come, relative to the speed of the model, if they fall as the last one has; infinite where it has not.
    pub(crate) fn rest(&self) -> f64 {
        match self.history() {
            [.., before, last] if last < before => last * last / (before - last),
            _ => f64::INFINITY,
        }
    }

    /// Sizes of the updates relative to the speed of the model.
    pub(crate) fn history(&self) -> &[f64] {
        &self.relative[..self.count]
    }

    /// Takes the size of an update that has just been applied: relative, and in units of its round-off.
    pub(crate) fn judge(&mut self, relative: f64, units: f64) -> Verdict {
        let k = self.count;
        self.units[k] = units;
        self.relative[k] = relative;
        self.count += 1;
        if !units.is_finite() {
            return Verdict::NonFinite;
        }
        if units <= SETTLED {
            return Verdict::Converged;
        }
        if k > 0 {
            let ratio = units / self.units[k - 1];
            let is_last = match self.convergence {
                // A first fall may be steeper than the ones that follow.
                Convergence::Linear => units * ratio.max(SLOW) < 1.0,
                Convergence::Quadratic => ratio < 1e-3 && units * ratio * ratio < NEGLIGIBLE,
            };
            let stalled = relative < STALLED && k > 1 && ratio > 0.5 && self.units[k - 1] > 0.5 * self.units[k - 2];
            if (units < NOISE && ratio > 0.5) || stalled || is_last {
                return Verdict::Converged;
            }
        }
        if self.count == LIMIT { Verdict::GivenUp } else { Verdict::Continue }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(updates: &[f64]) -> Verdict {
        let mut iteration = Iteration::new(Convergence::Quadratic);
        let mut last = Verdict::Continue;
        for &u in updates {
            last = iteration.judge(u * f64::EPSILON, u);
        }
        last
    }

    #[test]
    fn ends_at_roundoff_by_extrapolation_or_stagnation() {
        assert_eq!(verdict(&[1e12, 2.0]), Verdict::Converged);
        assert_eq!(verdict(&[1e10, 1e5]), Verdict::Converged);
        assert_eq!(verdict(&[1e13, 1e9]), Verdict::Continue);
        assert_eq!(verdict(&[1e13, 900.0, 700.0]), Verdict::Converged);
        assert_eq!(verdict(&[1e13, 1e13]), Verdict::Continue);
    }

    #[test]
    fn gives_up() {
        assert_eq!(verdict(&[1e15; LIMIT]), Verdict::GivenUp);
        assert_eq!(verdict(&[1.0e9, f64::NAN]), Verdict::NonFinite);
    }
}
