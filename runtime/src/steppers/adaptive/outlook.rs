//! What bounds the first steps from a state: the step that the tolerance asks for, and the fastest rate of the model.
//!
//! The rate is the size of the largest eigenvalue of the linearised motion `(d, V)' = (V, A(d, V))`, by power iteration with difference quotients, on what is
//! tangential to the constraints. Growth over pairs of iterations also tells that of a vibration, whose eigenvalues come in pairs.
//!
//! Source: E. Hairer and G. Wanner, Solving Ordinary Differential Equations II, 2nd ed. (1996), section IV.2.

use alloc::vec::Vec;

use super::Adaptive;
use super::control::Norm;
use crate::consistent::{Consistent, Failure};
use crate::error::StepError;
use crate::state::State;
use crate::steppers::explicit::displace;
use crate::system::System;
use crate::topology::Topology;
use crate::velocity;

/// Iterations; the growth of the last few of them counts.
const ITERATIONS: usize = 24;
const COUNTED: usize = 4;

/// Displacements in parts of the sizes of positions and velocities: half of the digits.
const DISPLACEMENT: f64 = 1e-7;

/// What bounds the first steps from a state.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Outlook {
    /// The step that the tolerance asks for, s.
    pub step: f64,
    /// The fastest rate, 1/s.
    pub rate: f64,
}

impl Adaptive {
    /// What bounds the first steps from `s`, on the way to `t1` (s, not before that of `s`).
    ///
    /// # Errors
    /// [`StepError`] if there are no accelerations at the state or near it.
    pub fn outlook<S: System + ?Sized>(&mut self, sys: &mut S, s: &State, t1: f64) -> Result<Outlook, StepError> {
        self.approach(sys, s, t1)?;
        let step = self.control.h;
        self.norm.set(s, s, step);
        match fastest_rate(&self.topology, &self.norm, &self.end.acceleration, sys, s) {
            Ok(rate) => Ok(Outlook { step, rate }),
            Err(failure) => Err(self.failed(sys, &failure, step, s.t)),
        }
    }
}

fn fastest_rate<S: System + ?Sized>(
    topology: &Topology,
    norm: &Norm,
    acceleration: &[f64],
    sys: &mut S,
    s: &State,
) -> Result<f64, Failure> {
    let nv = topology.nv();
    let (mut here, mut near) = (Consistent::new(topology), Consistent::new(topology));
    here.evaluate(sys, s)?;
    near.evaluate(sys, s)?;
    let mut place = s.clone();
    let mut v0 = vec![0.0; nv];
    velocity::read(topology, s, &mut v0);
    // Nothing that a model is symmetric to.
    let mut change: Vec<f64> = (0..2 * nv).map(|k| libm::sin(1.0 + 1.7 * k as f64 * k as f64)).collect();
    let mut velocities = vec![0.0; nv];
    let mut growth = [0.0; COUNTED];
    for n in 0..ITERATIONS {
        let (d, v) = change.split_at_mut(nv);
        here.project(d);
        here.project(v);
        let size = libm::sqrt(norm.mean_square(topology, &change));
        if !(size.is_finite() && size > 0.0) {
            break;
        }
        change.iter_mut().for_each(|x| *x *= DISPLACEMENT / size);
        // The first one has no size to compare with.
        if n > 0 {
            growth[n % COUNTED] = size / DISPLACEMENT;
        }
        let (d, v) = change.split_at_mut(nv);
        displace(topology, s, d, &mut place);
        for ((velocity, v), v0) in velocities.iter_mut().zip(&*v).zip(&v0) {
            *velocity = v0 + v;
        }
        velocity::write(topology, &velocities, &mut place);
        near.evaluate_kept(sys, &place)?;
        near.accelerate(sys, &place, 0.0)?;
        d.copy_from_slice(v);
        for ((v, later), now) in v.iter_mut().zip(&near.acceleration).zip(acceleration) {
            *v = later - now;
        }
    }
    Ok(libm::pow(growth.iter().product::<f64>(), 1.0 / COUNTED as f64))
}
