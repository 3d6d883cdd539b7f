//! Positions and momenta of all bodies as splitting steppers move them: kicks at rest, drifts without forces.

use alloc::vec::Vec;

use nalgebra::{Matrix3, Vector3};

use super::drift::{Drift, DriftKind, Rotor, Spin, TurnsTooFar, turn_little, with_drift};
use crate::inertia::Inertia;
use crate::lanes::Real;
use crate::so3::polish;
use crate::state::{OMEGA, POS, ROT, STRIDE, State, VEL};
use crate::topology::{Body, BodyKind, Topology};

/// Position, velocity, attitude and angular momentum of one body, or of eight. (Particles do not use `spin`.)
#[derive(Clone, Copy, Debug)]
pub(super) struct Motion<F = f64> {
    pub(super) x: Vector3<F>,
    pub(super) v: Vector3<F>,
    pub(super) spin: Spin<F>,
}

impl Motion {
    pub(super) const REST: Self =
        Self { x: Vector3::new(0.0, 0.0, 0.0), v: Vector3::new(0.0, 0.0, 0.0), spin: Spin::REST };
}

/// What does not change about one body, or about eight of one kind.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Part<F = f64> {
    inverse_mass: F,
    pub(super) rotor: Option<Rotor<F>>,
}

/// What does not change about the bodies of a model, and how they drift.
#[derive(Clone, Debug)]
pub(super) struct Bodies {
    pub(super) topology: Topology,
    pub(super) inertia: Inertia,
    pub(super) parts: Vec<Part>,
    pub(super) drift: DriftKind,
}

/// A body turns too far in one drift.
#[derive(Clone, Copy, Debug)]
pub(super) struct Turning {
    pub(super) body: usize,
}

impl<F: Real> Part<F> {
    /// Of bodies that are alike.
    pub(super) fn from_lanes(of: impl Fn(usize) -> Part) -> Self {
        let one = |rotor: Option<Rotor>| rotor.expect("bodies that are alike turn, or none of them does");
        Self {
            inverse_mass: F::from_lanes(|k| of(k).inverse_mass),
            rotor: of(0).rotor.map(|_| Rotor::from_lanes(|k| one(of(k).rotor))),
        }
    }

    /// Adds forces and torques, the latter in body axes, times `factor` to the momenta.
    #[inline(always)]
    pub(super) fn kick(&self, motion: &mut Motion<F>, force: &Vector3<F>, torque: Option<&Vector3<F>>, factor: f64) {
        motion.v += force * (F::splat(factor) * self.inverse_mass);
        if let (Some(rotor), Some(torque)) = (&self.rotor, torque) {
            motion.spin.pi += rotor.to_principal(torque) * F::splat(factor);
        }
    }

    /// Accelerations of both kinds under a force and a torque, the latter in body axes.
    #[inline]
    pub(super) fn accelerate(
        &self,
        spin: &Spin<F>,
        force: &Vector3<F>,
        torque: Option<&Vector3<F>>,
    ) -> (Vector3<F>, Option<Vector3<F>>) {
        let angular = self.rotor.as_ref().zip(torque).map(|(rotor, torque)| rotor.acceleration(spin, torque));
        (force * self.inverse_mass, angular)
    }
}

impl Part {
    /// Whether two bodies can be computed side by side: both turn or none, in the same way, and body axes are principal axes.
    pub(super) fn is_like(&self, other: &Self) -> bool {
        match (&self.rotor, &other.rotor) {
            (None, None) => true,
            (Some(a), Some(b)) => a.shape == b.shape && a.is_aligned() && b.is_aligned(),
            (None, Some(_)) | (Some(_), None) => false,
        }
    }

    #[inline]
    fn drift<D: Drift>(&self, motion: &mut Motion, h: f64) -> Result<(), TurnsTooFar> {
        motion.x += motion.v * h;
        self.rotor.as_ref().map_or(Ok(()), |rotor| D::advance(rotor, h, &mut motion.spin))
    }

    /// The same, with the derivative of the attitude by the momentum before, both in body axes.
    #[inline]
    fn linearise<D: Drift>(&self, motion: &mut Motion, h: f64) -> Result<Matrix3<f64>, TurnsTooFar> {
        motion.x += motion.v * h;
        match &self.rotor {
            Some(rotor) => Ok(rotor.to_body(&D::linearise(rotor, h, &mut motion.spin)?)),
            None => Ok(Matrix3::zeros()),
        }
    }

    /// Takes the body's entries off the front of a vector of `nv` numbers.
    #[inline]
    fn take<'a>(&self, rest: &mut &'a [f64]) -> &'a [f64] {
        let (mine, others) = rest.split_at(if self.rotor.is_some() { 6 } else { 3 });
        *rest = others;
        mine
    }

    /// Changes the end of a drift by what a small kick before it would have made of it: `dP`, and the displacement that follows from it.
    #[inline]
    fn correct(&self, motion: &mut Motion, start: &Motion, kick: &[f64], displacement: &[f64]) {
        motion.v += Vector3::new(kick[0], kick[1], kick[2]) * self.inverse_mass;
        motion.x += Vector3::new(displacement[0], displacement[1], displacement[2]);
        if let (Some(rotor), [.., a, b, c], [.., x, y, z]) = (&self.rotor, kick, displacement) {
            let spin = &mut motion.spin;
            // In space a drift keeps the momentum. The turn is so small that its cube is nothing.
            let kick = start.spin.q * rotor.to_principal(&Vector3::new(*a, *b, *c));
            let theta = rotor.to_principal(&Vector3::new(*x, *y, *z));
            let pi = spin.pi + spin.q.tr_mul(&kick);
            let across = pi.cross(&theta);
            spin.pi = pi + (across + across.cross(&theta) * 0.5);
            turn_little(&mut spin.q, &theta);
        }
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

    fn write_velocity(&self, motion: &Motion, z: &mut [f64; STRIDE]) {
        z[VEL..VEL + 3].copy_from_slice(motion.v.as_slice());
        if let Some(rotor) = &self.rotor {
            z[OMEGA..OMEGA + 3].copy_from_slice(rotor.omega(&motion.spin).as_slice());
        }
    }
}

/// Force on a body and torque, if it turns, of a vector of `nv` numbers.
fn force_and_torque(force: &[f64], dof: usize, part: &Part) -> (Vector3<f64>, Option<Vector3<f64>>) {
    let three = |at: usize| Vector3::from_column_slice(&force[at..at + 3]);
    (three(dof), part.rotor.is_some().then(|| three(dof + 3)))
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

    /// Writes positions and attitudes.
    pub(super) fn write_positions(&self, motions: &[Motion], s: &mut State) {
        for ((part, motion), z) in self.parts.iter().zip(motions).zip(s.z.as_chunks_mut().0) {
            part.write_position(motion, z);
        }
    }

    /// Writes velocities. Whether all of the state is finite.
    pub(super) fn deliver(&self, motions: &[Motion], s: &mut State) -> bool {
        for ((part, motion), z) in self.parts.iter().zip(motions).zip(s.z.as_chunks_mut().0) {
            part.write_velocity(motion, z);
        }
        // A plain product of truth values can be taken many at a time.
        s.z.iter().fold(true, |good, x| good & x.is_finite())
    }

    /// Velocities as one vector of `nv` numbers.
    pub(super) fn velocities(&self, motions: &[Motion], v: &mut [f64]) {
        for ((motion, part), dof) in motions.iter().zip(&self.parts).zip(&self.topology.dof) {
            v[*dof..dof + 3].copy_from_slice(motion.v.as_slice());
            if let Some(rotor) = &part.rotor {
                v[dof + 3..dof + 6].copy_from_slice(rotor.omega(&motion.spin).as_slice());
            }
        }
    }

    /// Adds `factor` times a vector of `nv` forces and torques, the latter in body axes, to the momenta.
    pub(super) fn kick(&self, motions: &mut [Motion], force: &[f64], factor: f64) {
        for ((motion, part), dof) in motions.iter_mut().zip(&self.parts).zip(&self.topology.dof) {
            let (force, torque) = force_and_torque(force, *dof, part);
            part.kick(motion, &force, torque.as_ref(), factor);
        }
    }

    /// Moves all bodies for the time `h` without forces.
    pub(super) fn drift(&self, motions: &mut [Motion], h: f64) -> Result<(), Turning> {
        with_drift!(self.drift, drift(&self.parts, motions, h))
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

    /// Numbers that [`Bodies::linearise_into`] writes.
    pub(super) fn drifted_len(&self) -> usize {
        self.parts.iter().map(|part| if part.rotor.is_some() { 21 } else { 3 }).sum()
    }

    /// Moves all bodies, and writes for each its position, for rigid ones the rotation and the derivative as [`Bodies::linearise`] gives it,
    /// row by row.
    pub(super) fn linearise_into(&self, motions: &mut [Motion], h: f64, out: &mut [f64]) -> Result<(), Turning> {
        with_drift!(self.drift, linearise_into(&self.parts, motions, h, out))
    }

    /// Changes the ends of drifts from `start` by what small kicks before them would have made of them: from kicks and the displacements that
    /// follow from them, `nv` numbers each.
    pub(super) fn correct(&self, motions: &mut [Motion], start: &[Motion], kick: &[f64], displacement: &[f64]) {
        let (mut kicks, mut displacements) = (kick, displacement);
        for ((motion, start), part) in motions.iter_mut().zip(start).zip(&self.parts) {
            part.correct(motion, start, part.take(&mut kicks), part.take(&mut displacements));
        }
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

fn linearise<D: Drift>(
    parts: &[Part],
    motions: &mut [Motion],
    h: f64,
    derivatives: &mut [Matrix3<f64>],
) -> Result<(), Turning> {
    for (body, ((motion, part), out)) in motions.iter_mut().zip(parts).zip(derivatives).enumerate() {
        *out = part.linearise::<D>(motion, h).map_err(|TurnsTooFar| Turning { body })?;
    }
    Ok(())
}

fn linearise_into<D: Drift>(parts: &[Part], motions: &mut [Motion], h: f64, out: &mut [f64]) -> Result<(), Turning> {
    let mut rest = out;
    for (body, (motion, part)) in motions.iter_mut().zip(parts).enumerate() {
        let derivative = part.linearise::<D>(motion, h).map_err(|TurnsTooFar| Turning { body })?;
        let (x, others) = rest.split_at_mut(3);
        x.copy_from_slice(motion.x.as_slice());
        rest = others;
        if let Some(rotor) = &part.rotor {
            let (r, others) = rest.split_at_mut(9);
            let (d, others) = others.split_at_mut(9);
            r.copy_from_slice(rotor.rotation(&motion.spin).transpose().as_slice());
            d.copy_from_slice(derivative.transpose().as_slice());
            rest = others;
        }
    }
    Ok(())
}
