//! Kick, drift, kick: splitting and variational steppers for every model, and their symmetric compositions.
//!
//! ```text
//! P <- P + h/2 Q(q0, t0)        forces and torques at rest
//! q <- D_h(q0, P)               free motion, by one of the drifts
//! P <- P + h/2 Q(q1, t1)
//! ```
//!
//! With constraints, impulses at both ends keep them (RATTLE, see `rattle.rs`); with forces that depend on velocities the
//! second kick is the adjoint of the first (see `end_kick`). The step is symmetric, of order 2 in all variables,
//! and explicit but for constraints and such forces. Where forces have a potential, the step is symplectic and keeps the
//! momenta that belong to symmetries of the model to round-off; dissipation ends the first, and outer loads both.
//!
//! **Start.** Velocities of a state belong to its time, and a step begins with half a kick. A leapfrog whose momenta stand in the middles
//! of steps begins without one: [`Splitting::staggered`].

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::cell::OnceCell;

use super::crowd::{Crowd, Kick, Start};
use super::drift::{DriftKind, Rotor, Shape};
use super::end_kick::{End, EndKick};
use super::euler::StepReport;
use super::motion::{Bodies, Motion};
use super::name::{Scheme, Unsuited};
use super::rattle::{Failure, Rattle};
use crate::error::{StepError, StepErrorKind, largest_rows};
use crate::so3::POLISH_EVERY;
use crate::state::State;
use crate::system::System;
use crate::topology::{Body, BodyKind, Topology};
use crate::velocity;

impl Scheme {
    /// Whether it can move all of some bodies.
    ///
    /// # Errors
    /// [`Unsuited::Shape`] names the first one that it cannot move.
    pub fn check(self, bodies: &[Body]) -> Result<(), Unsuited> {
        let is_unsuited = |body: &Body| body.kind == BodyKind::Rigid && !self.drift.suits(Rotor::new(body).shape);
        // Most drifts suit all bodies, and the axes of thousands need not be found twice.
        if DriftKind::suits(self.drift, Shape::Asymmetric) {
            return Ok(());
        }
        bodies.iter().position(is_unsuited).map_or(Ok(()), |body| Err(Unsuited::Shape { scheme: self, body }))
    }
}

/// One scheme with its workspaces for one model. Nothing is allocated in [`Splitting::step`] but for errors.
#[derive(Clone, Debug)]
pub struct Splitting {
    scheme: Scheme,
    bodies: Bodies,
    momenta: Momenta,
    end_kick: EndKick,
    force: Vec<f64>,
    /// The end of the last step, and in a step whatever is evaluated.
    trial: State,
    /// Whether momenta and forces are those of `trial`, the end of a step that did not fail.
    is_known: bool,
    /// Whether the next step begins without a kick.
    is_staggered: bool,
    steps: u64,
    iterations: usize,
    lambda: Vec<f64>,
    /// Of bodies without constraints, when somebody has asked for it.
    acceleration: OnceCell<Vec<f64>>,
}

/// The momenta of a model, with positions where constraints need them there.
#[derive(Clone, Debug)]
enum Momenta {
    Free(Crowd),
    Held(Box<Held>),
}

/// Bodies with constraints.
#[derive(Clone, Debug)]
struct Held {
    motions: Vec<Motion>,
    rattle: Rattle,
    /// Motions and forces at the start of the step.
    origin: Vec<Motion>,
    origin_force: Vec<f64>,
    v: Vec<f64>,
    q: Vec<f64>,
    acceleration: Vec<f64>,
}

impl Splitting {
    /// Symbolic phase for a model.
    ///
    /// # Errors
    /// [`Unsuited`] names a body that the drift of the scheme cannot move.
    pub fn new(topology: &Topology, scheme: Scheme) -> Result<Self, Unsuited> {
        scheme.check(&topology.bodies)?;
        let bodies = Bodies::new(topology, scheme.drift);
        let (nb, nv, nc) = (topology.bodies.len(), topology.nv(), topology.nc());
        let momenta = if nc == 0 {
            Momenta::Free(Crowd::new(&bodies))
        } else {
            Momenta::Held(Box::new(Held {
                motions: vec![Motion::REST; nb],
                rattle: Rattle::new(&bodies, scheme.composition.parts().len()),
                origin: vec![Motion::REST; nb],
                origin_force: vec![0.0; nv],
                v: vec![0.0; nv],
                q: vec![0.0; nv],
                acceleration: vec![0.0; nv],
            }))
        };
        Ok(Self {
            scheme,
            momenta,
            end_kick: EndKick::new(&bodies),
            bodies,
            force: vec![0.0; nv],
            trial: State::new(nb, topology.memory),
            is_known: false,
            is_staggered: false,
            steps: 0,
            iterations: 0,
            lambda: vec![0.0; nc],
            acceleration: OnceCell::new(),
        })
    }

    /// The same, but that the first step begins without its half kick: velocities of the first state are read as those of half a step
    /// later, `V(t0 + h/2)`. All states after steps are synchronised.
    ///
    /// For leapfrog data whose momenta stand in the middles of steps. Of velocities that belong to `t0` it makes those of a
    /// start `h/2 Q(q0)/M` away: the trajectory errs by order 1, while the energy, against that of the first step's end, still oscillates by
    /// order 2. Forces of velocities are left out of the first kick as well; of a composition, the first stage has no first kick.
    #[must_use]
    pub fn staggered(mut self) -> Self {
        self.is_staggered = true;
        self
    }

    /// The scheme.
    #[must_use]
    pub const fn scheme(&self) -> Scheme {
        self.scheme
    }

    /// Multipliers `lambda` at the end of the last step, a force or torque a row (`nc`), consistent with the acceleration
    /// there; of least norm where rows are dependent.
    #[must_use]
    pub fn lambda(&self) -> &[f64] {
        &self.lambda
    }

    /// Acceleration at the end of the last step (`nv`; m/s^2, rad/s^2).
    #[must_use]
    pub fn acceleration(&self) -> &[f64] {
        match &self.momenta {
            Momenta::Free(crowd) => self.acceleration.get_or_init(|| crowd.accelerations(&self.force)),
            Momenta::Held(held) => &held.acceleration,
        }
    }

    /// One step of size `h` (s) from `s` to the time `t1` (s, `n h`: the caller does not accumulate it).
    ///
    /// What is evaluated at the end of a step is used again at the start of the next one if the state is the same to the bit
    /// and the system has no inputs.
    ///
    /// # Errors
    /// [`StepError`]; the state is then as before the call.
    pub fn step<S: System + ?Sized>(
        &mut self,
        sys: &mut S,
        s: &mut State,
        h: f64,
        t1: f64,
    ) -> Result<StepReport, StepError> {
        self.iterations = 0;
        self.acceleration.take();
        let (stages, is_polished) = (self.scheme.composition.parts(), self.is_polished());
        let has_forces = sys.has_forces();
        let outcome = match &mut self.momenta {
            Momenta::Free(crowd) if !has_forces => crowd.glide(h, stages, is_polished, s, &mut self.trial),
            Momenta::Free(_) | Momenta::Held(_) => self.attempt(sys, s, h, t1),
        };
        if let Err(failure) = outcome {
            let error = self.error(sys, failure, h, t1);
            match &mut self.momenta {
                Momenta::Free(crowd) => {
                    crowd.recall(s);
                    sys.forces(s, &mut self.force);
                }
                Momenta::Held(held) => held.rattle.forget(),
            }
            return Err(error);
        }
        if has_forces || matches!(self.momenta, Momenta::Held(_)) {
            s.z.copy_from_slice(&self.trial.z);
        } else {
            core::mem::swap(&mut s.z, &mut self.trial.z);
        }
        s.t = t1;
        sys.accept(s);
        self.is_known = true;
        self.is_staggered = false;
        self.steps += 1;
        Ok(StepReport { iterations: self.iterations })
    }

    /// Whether the orthogonality of attitudes is repaired in this step.
    const fn is_polished(&self) -> bool {
        (self.steps + 1).is_multiple_of(POLISH_EVERY)
    }

    /// From `s` to `trial`.
    fn attempt<S: System + ?Sized>(&mut self, sys: &mut S, s: &State, h: f64, t1: f64) -> Result<(), Failure> {
        let is_known = self.is_known && self.trial.t == s.t && is_same(&self.trial.z, &s.z);
        self.is_known = false;
        self.trial.memory.copy_from_slice(&s.memory);
        let is_evaluated = is_known && !sys.has_inputs();
        self.trial.t = s.t;
        if !is_known {
            self.trial.z.copy_from_slice(&s.z);
        }
        if !is_evaluated {
            sys.forces(s, &mut self.force);
        }
        if self.is_staggered {
            self.force.fill(0.0);
        }
        let is_polished = self.is_polished();
        if let Momenta::Held(held) = &mut self.momenta {
            if !is_evaluated {
                held.rattle.forget_jacobian();
            }
            if !is_known {
                self.bodies.read(s, &mut held.motions);
                held.rattle.interrupt();
            }
            if is_polished {
                self.bodies.polish(&mut held.motions);
            }
            held.rattle.begin(&self.bodies, sys, s, h)?;
            held.origin.copy_from_slice(&held.motions);
            held.origin_force.copy_from_slice(&self.force);
        }
        let first = self.stages(sys, s.t, h, t1);
        let pending = match &self.momenta {
            Momenta::Free(_) => first?,
            Momenta::Held(_) => self.settle_rows(sys, s, first, h, t1)?,
        };
        self.finish(sys, pending)
    }

    /// Repeats a step whose constraints speak against the choice of independent rows.
    fn settle_rows<S: System + ?Sized>(
        &mut self,
        sys: &mut S,
        s: &State,
        first: Result<f64, Failure>,
        h: f64,
        t1: f64,
    ) -> Result<f64, Failure> {
        let mut outcome = first;
        // One new choice of rows at the end of the step, one more at the end of its repetition.
        for attempt in 0..3 {
            let Momenta::Held(held) = &mut self.momenta else { break };
            let is_suspect = outcome.is_err() || held.rattle.is_open();
            if attempt == 2 || !is_suspect || !held.rattle.choice_changes(&self.bodies) {
                break;
            }
            held.motions.copy_from_slice(&held.origin);
            self.force.copy_from_slice(&held.origin_force);
            self.trial.z.copy_from_slice(&s.z);
            self.trial.t = s.t;
            held.rattle.forget_jacobian();
            held.rattle.begin(&self.bodies, sys, s, h)?;
            outcome = self.stages(sys, s.t, h, t1);
        }
        let pending = outcome?;
        let contradicts = matches!(&self.momenta, Momenta::Held(held) if held.rattle.contradicts());
        if contradicts { Err(Failure::Contradiction) } else { Ok(pending) }
    }

    /// The stages of a step. Returns the time for which the last forces have still to act: the kick at the end of a stage is one with
    /// that at the start of the next.
    fn stages<S: System + ?Sized>(&mut self, sys: &mut S, t0: f64, h: f64, t1: f64) -> Result<f64, Failure> {
        let parts = self.scheme.composition.parts();
        let has_velocity_forces = sys.has_velocity_forces();
        let is_polished = self.is_polished();
        let (mut elapsed, mut pending) = (0.0, 0.0);
        for (number, part) in parts.iter().enumerate() {
            let size = h * part;
            elapsed += part;
            let time = if number + 1 == parts.len() { t1 } else { t0 + h * elapsed };
            let kick = Kick { force: &self.force, time: pending + 0.5 * size };
            match &mut self.momenta {
                Momenta::Free(crowd) => {
                    let is_first = number == 0;
                    let start = Start { is_first, is_polished: is_first && is_polished };
                    self.trial.t = time;
                    crowd.kick_and_drift(kick, size, start, &mut self.trial)?;
                }
                Momenta::Held(held) => {
                    self.bodies.kick(&mut held.motions, kick.force, kick.time);
                    let rattle = &mut held.rattle;
                    let place = (&mut held.motions[..], &mut self.trial);
                    let outcome = rattle.stage(&self.bodies, sys, place, (size, time), number);
                    self.iterations += rattle.iterations;
                    outcome?;
                }
            }
            if has_velocity_forces {
                self.kick_at_end(sys, size)?;
                pending = 0.0;
            } else {
                sys.forces(&self.trial, &mut self.force);
                pending = 0.5 * size;
            }
        }
        if let Momenta::Held(held) = &mut self.momenta {
            self.bodies.kick(&mut held.motions, &self.force, pending);
            held.rattle.project(&self.bodies, sys, &mut held.motions, &self.trial, &self.force)?;
            pending = 0.0;
        }
        Ok(pending)
    }

    /// The implicit kick at the end of a stage where forces depend on velocities.
    fn kick_at_end<S: System + ?Sized>(&mut self, sys: &mut S, size: f64) -> Result<(), Failure> {
        let (trial, force) = (&mut self.trial, &mut self.force);
        let constraints = match &mut self.momenta {
            Momenta::Free(crowd) => {
                crowd.velocities(trial, self.end_kick.velocities());
                None
            }
            Momenta::Held(held) => {
                held.rattle.jacobian(sys, trial);
                self.bodies.velocities(&held.motions, self.end_kick.velocities());
                Some((&held.rattle.jac, held.rattle.independent()))
            }
        };
        self.iterations += self.end_kick.kick(&self.bodies, sys, End { trial, force, constraints }, size)?;
        let kick = Kick { force: &self.force, time: 0.5 * size };
        match &mut self.momenta {
            Momenta::Free(crowd) => {
                velocity::write(&self.bodies.topology, self.end_kick.velocities(), &mut self.trial);
                crowd.kick(kick, &mut self.trial);
            }
            Momenta::Held(held) => {
                self.bodies.kick(&mut held.motions, self.end_kick.impulses(), 1.0);
                self.bodies.kick(&mut held.motions, kick.force, kick.time);
            }
        }
        Ok(())
    }

    /// The kick that is left; velocities, accelerations and multipliers at the end.
    fn finish<S: System + ?Sized>(&mut self, sys: &mut S, pending: f64) -> Result<(), Failure> {
        match &mut self.momenta {
            Momenta::Free(crowd) => crowd.kick_and_deliver(Kick { force: &self.force, time: pending }, &mut self.trial),
            Momenta::Held(held) => {
                if !self.bodies.deliver(&held.motions, &mut self.trial) {
                    return Err(Failure::NonFinite);
                }
                self.bodies.velocities(&held.motions, &mut held.v);
                held.q.copy_from_slice(&self.force);
                self.bodies.inertia.add_gyroscopic(&held.v, 1.0, &mut held.q);
                let Held { rattle, q, acceleration, .. } = &mut **held;
                rattle.accelerate(&self.bodies, sys, &self.trial, q, acceleration, &mut self.lambda);
                rattle.accept();
                Ok(())
            }
        }
    }

    /// Whether the momentum of a body is no number: it turns nowhere.
    fn is_wild(&self, body: usize) -> bool {
        let is_finite = |held: &Held| held.motions[body].spin.pi.iter().all(|x| x.is_finite());
        matches!(&self.momenta, Momenta::Held(held) if !is_finite(held))
    }

    /// Looks up the names that belong to a failure.
    #[cold]
    fn error<S: System + ?Sized>(&self, sys: &S, failure: Failure, h: f64, t1: f64) -> StepError {
        let kind = match failure {
            Failure::Turning(body) if self.is_wild(body) => StepErrorKind::NonFinite,
            Failure::Turning(body) => StepErrorKind::TurnsTooFar { body: sys.body_name(body).into() },
            Failure::Singular(element) => StepErrorKind::Singular { place: sys.constraint_name(element) },
            Failure::SingularBody(body) => StepErrorKind::Singular { place: sys.body_name(body) },
            Failure::NonFinite => StepErrorKind::NonFinite,
            Failure::NoConvergence => StepErrorKind::NoConvergence,
            Failure::Contradiction => StepErrorKind::Contradiction,
        };
        let residuals = match &self.momenta {
            Momenta::Free(_) => Vec::new(),
            Momenta::Held(held) => largest_rows(sys, &self.bodies.topology, held.rattle.residual()),
        };
        StepError {
            kind,
            method: self.scheme.name(),
            is_velocity: false,
            time: t1,
            step: h,
            iterations: self.iterations,
            history: Vec::new(),
            residuals,
        }
    }
}

/// Whether two lists are the same, many numbers at a time.
fn is_same(a: &[f64], b: &[f64]) -> bool {
    a.len() == b.len() && !a.iter().zip(b).fold(false, |differs, (a, b)| differs | (a != b))
}
