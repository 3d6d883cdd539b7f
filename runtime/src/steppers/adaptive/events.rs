//! Events: when a function of the motion passes through zero.
//!
//! In each step the function is looked at in a few places, on the interpolated motion. Where its sign changes, the root is found by the Illinois
//! rule; where it comes near to zero and turns back, so is its extremum, in case that it lies on the other side. What changes sign twice between two
//! places without turning at one of them is not seen, nor is an extremum at a joint of two steps; [`Adaptive::longest`] brings the places nearer to one another.
//!
//! Source: M. Dowell and P. Jarratt, A modified regula falsi method for computing the root of an equation, BIT 11 (1971) 168.

use super::Adaptive;
use crate::error::StepError;
use crate::state::State;
use crate::system::System;

/// Parts of a step between which the function is looked at.
const PARTS: u32 = 8;

/// Iterations for a root or an extremum at most; simple roots take some eight.
const LIMIT: u32 = 100;

/// Part of an interval that is cut off in the search for an extremum: of the golden section.
const GOLDEN: f64 = 0.381_966_011_250_105_1;

/// An extremum is found well enough when so small a part of its first interval is left; the function has no digits below the square root of
/// round-off there.
const EXTREMUM: f64 = 1e-8;

/// Which changes of sign count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Crossing {
    /// From below zero to above.
    Rising,
    /// From above zero to below.
    Falling,
    /// Both.
    #[default]
    Either,
}

impl Crossing {
    fn counts(self, before: f64, after: f64) -> bool {
        let rises = before < 0.0 && after >= 0.0;
        let falls = before > 0.0 && after <= 0.0;
        match self {
            Self::Rising => rises,
            Self::Falling => falls,
            Self::Either => rises || falls,
        }
    }

    /// Whether an extremum between values of one sign may lie on the other side: `middle` is nearer to zero than its neighbours.
    fn may_turn(middle: f64, neighbours: [f64; 2]) -> bool {
        neighbours.iter().all(|g| g * middle > 0.0 && g.abs() >= middle.abs())
    }
}

/// A time (s), and the function there.
type Sample = (f64, f64);

impl Adaptive {
    /// Takes `s` to the first event after its time, or to `t1` (s) if there is none before; whether there was one.
    ///
    /// `event(system, state)` is a smooth function of the state; a zero that `s` starts with, or that was delivered last, is not found again:
    /// all calls of one stepper look for zeros of one function. At an event as at any
    /// other time, all levels of the constraints are at round-off. A state that the caller changes there is a new start.
    ///
    /// # Errors
    /// [`StepError`] as of [`Adaptive::step`]; the state is then as before the call.
    pub fn step_to_event<S: System + ?Sized>(
        &mut self,
        sys: &mut S,
        s: &mut State,
        t1: f64,
        crossing: Crossing,
        mut event: impl FnMut(&mut S, &State) -> f64,
    ) -> Result<bool, StepError> {
        self.approach(sys, s, t1)?;
        let first = self.statistics().steps;
        let mut from = s.t;
        // Where an event was found the function is zero but for rounding, and has no sign.
        let mut last = if from == self.event { None } else { Some((from, event(sys, s))).filter(|(_, g)| *g != 0.0) };
        loop {
            let to = self.front().min(t1);
            if to > from {
                if let Some(t) = self.search(sys, from, to, &mut last, crossing, &mut event)? {
                    self.deliver(sys, s, t)?;
                    self.event = t;
                    return Ok(true);
                }
                from = to;
            }
            if self.front() >= t1 {
                self.deliver(sys, s, t1)?;
                return Ok(false);
            }
            self.advance(sys, t1, first)?;
        }
    }

    /// The first event in a part of the last step, from what was seen last to what is seen now.
    fn search<S: System + ?Sized>(
        &mut self,
        sys: &mut S,
        from: f64,
        to: f64,
        last: &mut Option<Sample>,
        crossing: Crossing,
        event: &mut impl FnMut(&mut S, &State) -> f64,
    ) -> Result<Option<f64>, StepError> {
        let mut value = |t: f64| -> Result<Sample, StepError> { Ok((t, self.look(sys, t, event)?)) };
        let mut before: Option<Sample> = None;
        for k in 1..=PARTS {
            let t = if k == PARTS { to } else { from + (to - from) * f64::from(k) / f64::from(PARTS) };
            let now = value(t)?;
            if let Some(start) = *last {
                if crossing.counts(start.1, now.1) {
                    return root(start, now, &mut value).map(Some);
                }
                if let Some(first) = before.filter(|first| Crossing::may_turn(start.1, [first.1, now.1])) {
                    let turn = extremum(first, start, now, &mut value)?;
                    for [left, right] in [[first, turn], [turn, now]] {
                        if crossing.counts(left.1, right.1) {
                            return root(left, right, &mut value).map(Some);
                        }
                    }
                }
            }
            (before, *last) = (*last, Some(now));
        }
        Ok(None)
    }

    /// The function at a time of the last step.
    fn look<S: System + ?Sized>(
        &mut self,
        sys: &mut S,
        t: f64,
        event: &mut impl FnMut(&mut S, &State) -> f64,
    ) -> Result<f64, StepError> {
        match self.interpolate(sys, t) {
            Ok(state) => Ok(event(sys, state)),
            Err(failure) => Err(self.give_up(sys, &failure, t)),
        }
    }
}

/// The time between two values of different signs where the function is zero.
fn root<E>(from: Sample, to: Sample, value: &mut impl FnMut(f64) -> Result<Sample, E>) -> Result<f64, E> {
    let ((mut a, mut ga), (mut b, mut gb)) = (from, to);
    for _ in 0..LIMIT {
        if gb == 0.0 || (b - a).abs() <= 2.0 * f64::EPSILON * b.abs() {
            break;
        }
        let (c, gc) = value(b - gb * (b - a) / (gb - ga))?;
        if gc * gb < 0.0 {
            (a, ga) = (b, gb);
        } else {
            // The same end stays for the second time: half its value brings the next point to the other side.
            ga *= 0.5;
        }
        (b, gb) = (c, gc);
    }
    Ok(b)
}

/// Where the function is nearest to zero between two of three values of one sign, or the first value found on the other side.
fn extremum<E>(
    from: Sample,
    middle: Sample,
    to: Sample,
    value: &mut impl FnMut(f64) -> Result<Sample, E>,
) -> Result<Sample, E> {
    let sign = middle.1.signum();
    let (mut a, mut best, mut b) = (from.0, middle, to.0);
    let enough = EXTREMUM * (b - a);
    for _ in 0..LIMIT {
        if b - a <= enough {
            break;
        }
        // Into the larger of both parts.
        let is_left = best.0 - a > b - best.0;
        let t = if is_left { best.0 - GOLDEN * (best.0 - a) } else { best.0 + GOLDEN * (b - best.0) };
        let now = value(t)?;
        if now.1 * sign <= 0.0 {
            return Ok(now);
        }
        if now.1.abs() < best.1.abs() {
            (a, b) = if is_left { (a, best.0) } else { (best.0, b) };
            best = now;
        } else {
            (a, b) = if is_left { (t, b) } else { (a, t) };
        }
    }
    Ok(best)
}

#[cfg(test)]
mod tests {
    use core::convert::Infallible;

    use super::*;

    fn sampled(g: impl Fn(f64) -> f64) -> impl FnMut(f64) -> Result<Sample, Infallible> {
        move |t| Ok((t, g(t)))
    }

    #[test]
    fn roots_to_the_last_digits() {
        for (g, a, b, exact) in [
            ((|t| t.sin()) as fn(f64) -> f64, 2.0, 4.0, core::f64::consts::PI),
            (|t| t.powi(9) - 0.5, 0.0, 1.0, 0.5_f64.powf(1.0 / 9.0)),
            (|t| 1.0 - t * t, 0.5, 3.0, 1.0),
        ] {
            let Ok(t) = root((a, g(a)), (b, g(b)), &mut sampled(g));
            assert!((t - exact).abs() <= 4.0 * f64::EPSILON * exact, "{t} and {exact}");
        }
    }

    #[test]
    fn extrema_that_dip_below_zero_are_found() {
        let dip = |depth: f64| move |t: f64| (t - 0.3) * (t - 0.3) * (1.0 + t) - depth;
        for (depth, crosses) in [(1e-10, true), (-1e-6, false)] {
            let g = dip(depth);
            let Ok(turn) = extremum((0.0, g(0.0)), (0.5, g(0.5)), (1.0, g(1.0)), &mut sampled(g));
            assert_eq!(turn.1 < 0.0, crosses, "{turn:?}");
            assert!((turn.0 - 0.3).abs() < 1e-4, "{turn:?}");
        }
    }

    #[test]
    fn directions() {
        let all = [Crossing::Rising, Crossing::Falling, Crossing::Either];
        assert_eq!(all.map(|c| c.counts(-1.0, 1.0)), [true, false, true]);
        assert_eq!(all.map(|c| c.counts(1.0, 0.0)), [false, true, true]);
        assert_eq!(all.map(|c| c.counts(0.0, 1.0)), [false, false, false]);
    }
}
