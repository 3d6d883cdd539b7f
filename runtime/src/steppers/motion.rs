//! Positions and momenta of all bodies as splitting steppers move them: kicks at rest, drifts without forces.

use alloc::vec::Vec;

use nalgebra::{Matrix3, Vector3};

use super::drift::dlm::{Dlm, DlmCayley};
use super::drift::dmv::Dmv;
use super::drift::rotor::Exact;
use super::drift::rrp::Rrp;
use super::drift::spherical::{Cayley, Exp};
use super::drift::{Drift, DriftKind, Rotor, Spin, TurnsTooFar};
use crate::inertia::Inertia;
use crate::so3::polish;
use crate::state::{OMEGA, POS, ROT, STRIDE, State, VEL};
use crate::topology::{Body, BodyKind, Topology};

/// More bodies than these are shared by two threads: a step of so many takes some hundred times as long as handing them over.
const GRAIN: usize = 2048;

/// Bodies that are taken through all that a step ends with before the next ones are: what is known of them stays in the cache.
const BLOCK: usize = 64;

/// Position, velocity, attitude and angular momentum of one body. (Particles do not use `spin`.)
#[derive(Clone, Copy, Debug)]
pub(super) struct Motion {
    pub(super) x: Vector3<f64>,
    pub(super) v: Vector3<f64>,
    pub(super) spin: Spin,
}

impl Motion {
    pub(super) const REST: Self =
        Self { x: Vector3::new(0.0, 0.0, 0.0), v: Vector3::new(0.0, 0.0, 0.0), spin: Spin::REST };
}

/// What does not change about one body.
#[derive(Clone, Copy, Debug)]
struct Part {
    inverse_mass: f64,
    rotor: Option<Rotor>,
}

/// What does not change about the bodies of a model, and how they drift.
#[derive(Clone, Debug)]
pub(super) struct Bodies {
    pub(super) topology: Topology,
    pub(super) inertia: Inertia,
    parts: Vec<Part>,
    drift: DriftKind,
}

/// A body turns too far in one drift.
#[derive(Clone, Copy, Debug)]
pub(super) struct Turning {
    pub(super) body: usize,
}

impl Part {
    /// Takes the body's entries off the front of a vector of `nv` numbers.
    #[inline]
    fn take<'a>(&self, rest: &mut &'a [f64]) -> &'a [f64] {
        let (mine, others) = rest.split_at(if self.rotor.is_some() { 6 } else { 3 });
        *rest = others;
        mine
    }

    /// The same for a vector to be written.
    #[inline]
    fn take_mut<'a>(&self, rest: &mut &'a mut [f64]) -> &'a mut [f64] {
        let (mine, others) = core::mem::take(rest).split_at_mut(if self.rotor.is_some() { 6 } else { 3 });
        *rest = others;
        mine
    }

    #[inline]
    fn kick(&self, motion: &mut Motion, force: &[f64], factor: f64) {
        motion.v += Vector3::new(force[0], force[1], force[2]) * (factor * self.inverse_mass);
        if let (Some(rotor), [.., a, b, c]) = (&self.rotor, force) {
            motion.spin.pi += rotor.to_principal(&Vector3::new(*a, *b, *c)) * factor;
        }
    }

    #[inline]
    fn accelerate(&self, motion: &Motion, force: &[f64], acceleration: &mut [f64]) {
        for (a, force) in acceleration[..3].iter_mut().zip(force) {
            *a = force * self.inverse_mass;
        }
        if let (Some(rotor), [.., x, y, z]) = (&self.rotor, force) {
            let a = rotor.acceleration(&motion.spin, &Vector3::new(*x, *y, *z));
            acceleration[3..].copy_from_slice(a.as_slice());
        }
    }

    #[inline]
    fn drift<D: Drift>(&self, motion: &mut Motion, h: f64) -> Result<(), TurnsTooFar> {
        motion.x += motion.v * h;
        self.rotor.as_ref().map_or(Ok(()), |rotor| D::advance(rotor, h, &mut motion.spin))
    }

    #[inline]
    fn write_position(&self, motion: &Motion, z: &mut [f64; STRIDE]) {
        z[POS..POS + 3].copy_from_slice(motion.x.as_slice());
        if let Some(rotor) = &self.rotor {
            let r = rotor.rotation(&motion.spin);
            for i in 0..3 {
                for j in 0..3 {
                    z[ROT + 3 * i + j] = r[(i, j)];
                }
            }
        }
    }

    #[inline]
    fn write_velocity(&self, motion: &Motion, z: &mut [f64; STRIDE]) {
        z[VEL..VEL + 3].copy_from_slice(motion.v.as_slice());
        if let Some(rotor) = &self.rotor {
            z[OMEGA..OMEGA + 3].copy_from_slice(rotor.omega(&motion.spin).as_slice());
        }
    }
}

/// Calls a function that is generic over the drift.
macro_rules! with_drift {
    ($kind:expr, $f:ident($($argument:expr),*)) => {
        match $kind {
            DriftKind::Dlm => $f::<Dlm>($($argument),*),
            DriftKind::DlmCayley => $f::<DlmCayley>($($argument),*),
            DriftKind::Exact => $f::<Exact>($($argument),*),
            DriftKind::Rrp => $f::<Rrp>($($argument),*),
            DriftKind::Dmv => $f::<Dmv>($($argument),*),
            DriftKind::Exp => $f::<Exp>($($argument),*),
            DriftKind::Cayley => $f::<Cayley>($($argument),*),
        }
    };
}

impl Bodies {
    pub(super) fn new(topology: &Topology, drift: DriftKind) -> Self {
        let inertia = Inertia::new(topology);
        let part = |(b, body): (usize, &Body)| Part {
            inverse_mass: inertia.inverse(b).0,
            rotor: match body.kind {
                BodyKind::Rigid => Some(Rotor::new(body)),
                BodyKind::Particle => None,
            },
        };
        let parts: Vec<Part> = topology.bodies.iter().enumerate().map(part).collect();
        Self { inertia, topology: topology.clone(), parts, drift }
    }

    /// Reads all of a state.
    pub(super) fn read(&self, s: &State, motions: &mut [Motion]) {
        for (b, (motion, part)) in motions.iter_mut().zip(&self.parts).enumerate() {
            (motion.x, motion.v) = (s.x(b), s.v(b));
            if let Some(rotor) = &part.rotor {
                motion.spin = rotor.spin(&s.r(b), &s.omega(b));
            }
        }
    }

    /// Bodies with their motions and their numbers in a state.
    fn each<'a>(
        &'a self,
        motions: &'a mut [Motion],
        z: &'a mut [f64],
    ) -> impl Iterator<Item = ((&'a Part, &'a mut Motion), &'a mut [f64; STRIDE])> {
        self.parts.iter().zip(motions).zip(z.as_chunks_mut().0)
    }

    /// Writes positions and attitudes.
    pub(super) fn write_positions(&self, motions: &mut [Motion], s: &mut State) {
        self.each(motions, &mut s.z).for_each(|((part, motion), z)| part.write_position(motion, z));
    }

    /// Velocities as one vector of `nv` numbers.
    pub(super) fn velocities(&self, motions: &[Motion], v: &mut [f64]) {
        let mut rest = v;
        for (motion, part) in motions.iter().zip(&self.parts) {
            let v = part.take_mut(&mut rest);
            v[..3].copy_from_slice(motion.v.as_slice());
            if let Some(rotor) = &part.rotor {
                v[3..].copy_from_slice(rotor.omega(&motion.spin).as_slice());
            }
        }
    }

    /// Kicks for the time `h`, writes velocities to a state and accelerations, `I Omega' = torque + pi x Omega`, to a vector of `nv`
    /// numbers: one pass over the bodies. Whether all of the state is finite.
    pub(super) fn kick_and_deliver(
        &self,
        motions: &mut [Motion],
        force: &[f64],
        h: f64,
        s: &mut State,
        acceleration: &mut [f64],
    ) -> bool {
        Crowd::new(self, motions, force, &mut s.z).kick_and_deliver(h, acceleration)
    }

    /// Adds `factor` times a vector of `nv` forces and torques, the latter in body axes, to the momenta.
    pub(super) fn kick(&self, motions: &mut [Motion], force: &[f64], factor: f64) {
        let mut forces = force;
        for (motion, part) in motions.iter_mut().zip(&self.parts) {
            part.kick(motion, part.take(&mut forces), factor);
        }
    }

    /// Moves all bodies for the time `h` without forces.
    pub(super) fn drift(&self, motions: &mut [Motion], h: f64) -> Result<(), Turning> {
        with_drift!(self.drift, drift(&self.parts, motions, h))
    }

    /// Kicks for the first time, drifts for the second one, and writes the positions: one pass over the bodies.
    pub(super) fn kick_and_drift(
        &self,
        motions: &mut [Motion],
        force: &[f64],
        times: (f64, f64),
        s: &mut State,
    ) -> Result<(), Turning> {
        with_drift!(self.drift, kick_and_drift(self, motions, force, times, s))
    }

    /// Moves all bodies, with the derivative of each attitude by the momentum before, both in body axes.
    pub(super) fn linearise(
        &self,
        motions: &mut [Motion],
        h: f64,
        derivatives: &mut [Matrix3<f64>],
    ) -> Result<(), Turning> {
        with_drift!(self.drift, linearise(&self.parts, motions, h, derivatives))
    }

    /// Repairs the orthogonality of all attitudes.
    pub(super) fn polish(&self, motions: &mut [Motion]) {
        for motion in motions {
            motion.spin.q = polish(&motion.spin.q);
        }
    }
}

fn drift<D: Drift>(parts: &[Part], motions: &mut [Motion], h: f64) -> Result<(), Turning> {
    for (body, (motion, part)) in motions.iter_mut().zip(parts).enumerate() {
        part.drift::<D>(motion, h).map_err(|TurnsTooFar| Turning { body })?;
    }
    Ok(())
}

fn kick_and_drift<D: Drift>(
    bodies: &Bodies,
    motions: &mut [Motion],
    force: &[f64],
    times: (f64, f64),
    s: &mut State,
) -> Result<(), Turning> {
    Crowd::new(bodies, motions, force, &mut s.z).kick_and_drift::<D>(times)
}

/// Two results, found by two threads where that is asked for and possible.
#[cfg_attr(not(feature = "rayon"), expect(unused_variables, reason = "there is one thread"))]
fn join<A: Send, B: Send>(is_large: bool, a: impl FnOnce() -> A + Send, b: impl FnOnce() -> B + Send) -> (A, B) {
    #[cfg(feature = "rayon")]
    if is_large {
        return rayon::join(a, b);
    }
    (a(), b())
}

/// Some bodies that stand side by side, with their forces and their part of a state. They do not see each other: any split gives
/// the same bits.
struct Crowd<'a> {
    /// Number of the first one.
    first: usize,
    parts: &'a [Part],
    /// First velocity of each body, and one more at the end.
    dof: &'a [usize],
    motions: &'a mut [Motion],
    force: &'a [f64],
    z: &'a mut [[f64; STRIDE]],
}

impl<'a> Crowd<'a> {
    fn new(bodies: &'a Bodies, motions: &'a mut [Motion], force: &'a [f64], z: &'a mut [f64]) -> Self {
        Self { first: 0, parts: &bodies.parts, dof: &bodies.topology.dof, motions, force, z: z.as_chunks_mut().0 }
    }

    /// Kicks, drifts, and writes the positions.
    fn kick_and_drift<D: Drift>(self, times: (f64, f64)) -> Result<(), Turning> {
        if self.parts.len() > GRAIN {
            let (one, other) = self.halves();
            let (one, other) = join(true, || one.kick_and_drift::<D>(times), || other.kick_and_drift::<D>(times));
            return one.and(other);
        }
        let mut forces = self.force;
        for (k, ((part, motion), z)) in self.parts.iter().zip(self.motions).zip(self.z).enumerate() {
            part.kick(motion, part.take(&mut forces), times.0);
            part.drift::<D>(motion, times.1).map_err(|TurnsTooFar| Turning { body: self.first + k })?;
            part.write_position(motion, z);
        }
        Ok(())
    }

    /// Kicks for the time `h`, writes velocities and accelerations; whether all of the state is finite.
    fn kick_and_deliver(self, h: f64, acceleration: &mut [f64]) -> bool {
        if self.parts.len() > BLOCK {
            let is_crowded = self.parts.len() > GRAIN;
            let (one, other) = self.halves();
            let (a, b) = acceleration.split_at_mut(one.force.len());
            let (one, other) = join(is_crowded, || one.kick_and_deliver(h, a), || other.kick_and_deliver(h, b));
            return one & other;
        }
        let mut forces = self.force;
        for ((part, motion), z) in self.parts.iter().zip(&mut *self.motions).zip(&mut *self.z) {
            part.kick(motion, part.take(&mut forces), h);
            part.write_velocity(motion, z);
        }
        let (mut forces, mut rest) = (self.force, acceleration);
        for (part, motion) in self.parts.iter().zip(self.motions) {
            part.accelerate(motion, part.take(&mut forces), part.take_mut(&mut rest));
        }
        // A plain product of truth values can be taken many at a time.
        self.z.as_flattened().iter().fold(true, |good, x| good & x.is_finite())
    }

    fn halves(self) -> (Self, Self) {
        let middle = self.parts.len() / 2;
        let (parts, motions) = (self.parts.split_at(middle), self.motions.split_at_mut(middle));
        let (force, z) = (self.force.split_at(self.dof[middle] - self.dof[0]), self.z.split_at_mut(middle));
        let dof = (&self.dof[..=middle], &self.dof[middle..]);
        (
            Self { parts: parts.0, dof: dof.0, motions: motions.0, force: force.0, z: z.0, ..self },
            Self { first: self.first + middle, parts: parts.1, dof: dof.1, motions: motions.1, force: force.1, z: z.1 },
        )
    }
}

fn linearise<D: Drift>(
    parts: &[Part],
    motions: &mut [Motion],
    h: f64,
    derivatives: &mut [Matrix3<f64>],
) -> Result<(), Turning> {
    for (body, ((motion, part), out)) in motions.iter_mut().zip(parts).zip(derivatives).enumerate() {
        motion.x += motion.v * h;
        if let Some(rotor) = &part.rotor {
            let derivative = D::linearise(rotor, h, &mut motion.spin).map_err(|TurnsTooFar| Turning { body })?;
            *out = rotor.to_body(&derivative);
        }
    }
    Ok(())
}
