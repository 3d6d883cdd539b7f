//! Which step the tolerance asks for: the size of an error, the first step, and how an error leads to the next step.
//!
//! ```text
//! error:  err^2 = 1/(2 nv) sum over bodies and over x, theta, v, Omega of |e|^2 / (tolerance s)^2
//! next:   h <- h clamp(0.9 err^(-0.7/k) err_before^(0.4/k), 1/5, 5),  after a rejection not longer than before
//! Radau:  h <- h clamp(0.9 err^(-1/k) min(1, h/h_before (err_before/err)^(1/k)), 1/5, 5),  not at all if it would grow by less than a fifth
//! ```
//!
//! An iteration that does not converge halves the step.
//!
//! Lengths `s` are norms of vectors, so that errors are the same in all frames: 1 rad for `theta`; for `x`, `v`, `Omega` of each body the larger
//! value of both ends of the step, and at least the length of the model for `x`, a thousandth of its largest speed and of a length a step for `v` and likewise for
//! `Omega`, since a body at rest has no speed to compare with.
//!
//! Sources: K. Gustafsson, Control theoretic techniques for stepsize selection in explicit Runge-Kutta methods, ACM TOMS 17 (1991) 533;
//! E. Hairer, S. P. Norsett and G. Wanner, Solving Ordinary Differential Equations I, 2nd ed. (1993), sections II.4 and IV.2 (of volume II).

use alloc::vec::Vec;
use core::fmt;

use nalgebra::Vector3;

use crate::state::State;
use crate::topology::{Body, BodyKind, Topology};

/// Part of the speeds of the whole model that counts as the speed of a body at rest.
const SLOW: f64 = 1e-3;

/// Steps aim at this part of the tolerance, so that few are rejected.
const SAFETY: f64 = 0.9;

/// A step is at most so many times as long as that before, and at least so many times as short.
const MOST_CHANGE: f64 = 5.0;

/// A step that is to grow by less stays as it is.
const KEPT: f64 = 1.2;

/// An error below says nothing of the step after the next.
const LEAST_ERROR: f64 = 1e-4;

/// What the error of a step may be, relative to the sizes of positions, angles and velocities.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Tolerance(f64);

impl Tolerance {
    /// Below, errors are round-off.
    pub const LEAST: f64 = 1e-13;

    /// Above, an error is no small part of the motion.
    pub const MOST: f64 = 0.1;

    /// A relative tolerance; `None` unless it is from 1e-13 to 0.1.
    #[must_use]
    pub fn new(value: f64) -> Option<Self> {
        (Self::LEAST..=Self::MOST).contains(&value).then_some(Self(value))
    }

    /// The number.
    #[must_use]
    pub const fn get(self) -> f64 {
        self.0
    }
}

impl Default for Tolerance {
    fn default() -> Self {
        Self(1e-8)
    }
}

impl fmt::Display for Tolerance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:e}", self.0)
    }
}

/// The sizes that errors are compared with.
#[derive(Clone, Debug)]
pub(crate) struct Norm {
    /// Length of the model, m; zero before the motion has begun.
    length: f64,
    /// Of each body: x (m), theta (rad), v (m/s), Omega (rad/s).
    scales: Vec<[f64; 4]>,
}

impl Norm {
    pub(crate) fn new(topology: &Topology) -> Self {
        Self { length: 0.0, scales: vec![[1.0; 4]; topology.bodies.len()] }
    }

    /// The length of the model, from a state that the motion begins at: the largest distance of a body from the origin, its radius of gyration
    /// included. Where it begins anew, as after an impact at the origin, the length does not shrink.
    pub(crate) fn measure(&mut self, topology: &Topology, s: &State) {
        let reach = |(b, body): (usize, &Body)| s.x(b).norm() + libm::sqrt(body.inertia.trace() / (2.0 * body.mass));
        self.length = topology.bodies.iter().enumerate().map(reach).fold(self.length, f64::max);
    }

    /// Particles at the origin have no length, and take that of 1 m.
    fn length(&self) -> f64 {
        if self.length > 0.0 { self.length } else { 1.0 }
    }

    /// The sizes over a step of size `h`.
    pub(crate) fn set(&mut self, from: &State, to: &State, h: f64) {
        let larger = |size: &dyn Fn(&State) -> f64| size(from).max(size(to));
        let length = self.length();
        let (mut speed, mut rate) = (length / h, 1.0 / h);
        for b in 0..from.len() {
            speed = larger(&|s| s.v(b).norm()).max(speed);
            rate = larger(&|s| s.omega(b).norm()).max(rate);
        }
        for (b, scales) in self.scales.iter_mut().enumerate() {
            *scales = [
                larger(&|s| s.x(b).norm()).max(length),
                1.0,
                larger(&|s| s.v(b).norm()).max(SLOW * speed),
                larger(&|s| s.omega(b).norm()).max(SLOW * rate),
            ];
        }
    }

    /// Mean square of a change of positions and velocities in parts of the sizes.
    pub(crate) fn mean_square(&self, topology: &Topology, change: &[f64]) -> f64 {
        let (d, v) = change.split_at(topology.nv());
        let mut sum = 0.0;
        for ((b, body), [length, angle, speed, rate]) in topology.bodies.iter().enumerate().zip(&self.scales) {
            let mut add = |list: &[f64], at: usize, scale: f64| {
                sum += Vector3::from_column_slice(&list[at..at + 3]).norm_squared() / (scale * scale);
            };
            let at = topology.dof[b];
            add(d, at, *length);
            add(v, at, *speed);
            if body.kind == BodyKind::Rigid {
                add(d, at + 3, *angle);
                add(v, at + 3, *rate);
            }
        }
        sum / (2.0 * topology.nv().max(1) as f64)
    }

    /// The fastest rate (1/s) of `order`-th derivatives of positions, given those: `|x^(n)|/length` and `|theta^(n)|` to the power of `1/n`.
    pub(crate) fn rate(&self, topology: &Topology, derivatives: &[f64], order: i32) -> f64 {
        let mut most = 0.0_f64;
        for (b, body) in topology.bodies.iter().enumerate() {
            let at = topology.dof[b];
            let norm = |at: usize| Vector3::from_column_slice(&derivatives[at..at + 3]).norm();
            most = most.max(norm(at) / self.length());
            if body.kind == BodyKind::Rigid {
                most = most.max(norm(at + 3));
            }
        }
        libm::pow(most, 1.0 / f64::from(order))
    }
}

/// How the errors of two steps lead to the next one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rule {
    /// By a power of each.
    Proportional,
    /// As the errors of the last two steps go on, and not beyond what the last one allows; a step that would change by little stays as it is.
    Predictive,
}

/// The next step, and what led to it.
#[derive(Clone, Debug)]
pub(crate) struct Control {
    tolerance: f64,
    /// Power of the step that the estimate falls with.
    power: f64,
    /// Size of the next step, s.
    pub(crate) h: f64,
    rule: Rule,
    before: f64,
    /// Size of the last step that was accepted, s.
    last: f64,
    /// Whether the last step was rejected.
    is_retry: bool,
}

impl Control {
    pub(crate) fn new(power: u32, tolerance: f64, rule: Rule) -> Self {
        Self {
            tolerance,
            power: f64::from(power),
            h: f64::NAN,
            rule,
            before: LEAST_ERROR,
            last: f64::NAN,
            is_retry: false,
        }
    }

    /// Begins with the step whose error would be the tolerance if the motion were one of the rate `rate` (1/s): `(h rate)^(k+1)`.
    pub(crate) fn start(&mut self, rate: f64) {
        self.h = libm::pow(self.tolerance, 1.0 / (self.power + 1.0)) / rate;
        (self.before, self.last, self.is_retry) = (LEAST_ERROR, f64::NAN, false);
    }

    /// The error in parts of the tolerance, from mean squares of the estimates of the rates of errors.
    pub(crate) fn error(&self, h: f64, squares: [f64; 2]) -> f64 {
        let [fine, coarse] = squares;
        let size = if coarse == 0.0 { libm::sqrt(fine) } else { fine / libm::sqrt(fine + 0.01 * coarse) };
        h * size / self.tolerance
    }

    /// After a step of size `h` whose error, in parts of the tolerance, is good.
    pub(crate) fn accept(&mut self, h: f64, error: f64) {
        let change = match self.rule {
            Rule::Proportional => {
                SAFETY * libm::pow(error, -0.7 / self.power) * libm::pow(self.before, 0.4 / self.power)
            }
            Rule::Predictive => {
                let allowed = SAFETY * libm::pow(error.max(LEAST_ERROR), -1.0 / self.power);
                let trend = h / self.last * libm::pow(self.before / error.max(LEAST_ERROR), 1.0 / self.power);
                let change = allowed.min(allowed * if self.last.is_nan() { 1.0 } else { trend });
                if (1.0..KEPT).contains(&change) { 1.0 } else { change }
            }
        };
        let most = if self.is_retry { 1.0 } else { MOST_CHANGE };
        self.h = h * change.clamp(1.0 / MOST_CHANGE, most);
        (self.before, self.last, self.is_retry) = (error.max(LEAST_ERROR), h, false);
    }

    /// After a step of size `h` whose iteration has not come to an end.
    pub(crate) const fn halve(&mut self, h: f64) {
        (self.h, self.is_retry) = (0.5 * h, true);
    }

    /// After a step of size `h` whose error is too large, or that could not be made, which is one without bounds.
    pub(crate) fn reject(&mut self, h: f64, error: f64) {
        let change = SAFETY * libm::pow(error, -1.0 / self.power);
        // Not a number is as bad as infinite.
        self.h = h * if change > 1.0 / MOST_CHANGE { change } else { 1.0 / MOST_CHANGE };
        self.is_retry = true;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn control() -> Control {
        let mut control = Control::new(8, 1e-8, Rule::Proportional);
        control.start(1.0);
        control
    }

    #[test]
    fn steps_change_within_bounds() {
        let mut control = control();
        // The motion of rate 1 has the error of the tolerance in a step of its ninth root.
        assert!((control.h.powi(9) / 1e-8 - 1.0).abs() < 1e-12);
        for (error, h) in [(0.0, MOST_CHANGE), (1e-300, MOST_CHANGE), (1.0, SAFETY * 1e-4_f64.powf(0.4 / 8.0))] {
            let mut control = control.clone();
            control.accept(1.0, error);
            assert!((control.h - h).abs() < 1e-15, "{error}: {}", control.h);
        }
        for error in [f64::INFINITY, f64::NAN, 1e30] {
            control.reject(1.0, error);
            assert_eq!(control.h, 1.0 / MOST_CHANGE);
        }
        control.reject(1.0, 2.0);
        assert!((control.h - SAFETY * 2.0_f64.powf(-0.125)).abs() < 1e-15);
    }

    #[test]
    fn steps_do_not_grow_after_a_rejection() {
        let mut control = control();
        control.reject(1.0, 10.0);
        let h = control.h;
        control.accept(h, 1e-6);
        assert_eq!(control.h, h);
        control.accept(h, 1e-6);
        assert!(control.h > 1.5 * h, "{}", control.h);
    }

    /// Errors that grow as they have before allow less than the last one alone, and little is not worth another factorisation.
    #[test]
    fn predicted_steps() {
        let mut control = Control::new(4, 1e-6, Rule::Predictive);
        control.start(1.0);
        control.accept(1.0, 0.1);
        let alone = SAFETY * 0.1_f64.powf(-0.25);
        assert!((control.h - alone).abs() < 1e-15, "{}", control.h);
        // Four times the error of the same step as before.
        control.accept(1.0, 0.4);
        assert!((control.h - SAFETY * (0.4_f64 * 4.0).powf(-0.25)).abs() < 1e-15, "{}", control.h);
        // A falling error promises nothing, and a step that would grow by a tenth stays.
        control.accept(1.0, 0.45);
        control.accept(1.0, (SAFETY / 1.1_f64).powi(4));
        assert_eq!(control.h, 1.0);
        control.halve(1.0);
        assert_eq!(control.h, 0.5);
        control.accept(0.5, 1e-9);
        assert_eq!(control.h, 0.5, "no growth after a step in vain");
    }

    /// The third order only damps that of the fifth where it is larger.
    #[test]
    fn errors_of_two_estimates() {
        let control = control();
        let error = |squares| control.error(0.5, squares) * 1e-8;
        assert!((error([4.0, 0.0]) - 1.0).abs() < 1e-15);
        assert!((error([4.0, 1200.0]) - 0.5).abs() < 1e-15);
        assert_eq!(error([0.0, 1.0]), 0.0);
    }

    #[test]
    fn tolerances_have_bounds() {
        let possible = [1e-13, 1e-8, 0.1];
        assert_eq!(possible.map(|x| Tolerance::new(x).map(Tolerance::get)), possible.map(Some));
        assert!([0.0, 9e-14, 0.2, -1e-8, f64::NAN].iter().all(|&x| Tolerance::new(x).is_none()));
    }
}
