//! Positions and momenta of all bodies as splitting steppers move them: kicks at rest, drifts without forces.

use nalgebra::{Matrix3, Vector3};

use super::drift::dlm::{Dlm, DlmCayley};
use super::drift::dmv::Dmv;
use super::drift::rotor::Exact;
use super::drift::rrp::Rrp;
use super::drift::spherical::{Cayley, Exp};
use super::drift::{Drift, DriftKind, Rotor, Spin};
use crate::inertia::Inertia;
use crate::so3::polish;
use crate::state::State;
use crate::topology::{BodyKind, Topology};

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

/// What does not change about the bodies of a model, and how they drift.
#[derive(Clone, Debug)]
pub(super) struct Bodies {
    pub(super) topology: Topology,
    pub(super) inertia: Inertia,
    rotors: Vec<Option<Rotor>>,
    drift: DriftKind,
}

/// A body turns too far in one drift.
#[derive(Clone, Copy, Debug)]
pub(super) struct Turning {
    pub(super) body: usize,
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
    /// The first body that the drift cannot move, if there is one.
    pub(super) fn new(topology: &Topology, drift: DriftKind) -> Result<Self, usize> {
        let rotor = |body: &crate::topology::Body| match body.kind {
            BodyKind::Rigid => Some(Rotor::new(body)),
            BodyKind::Particle => None,
        };
        let rotors: Vec<Option<Rotor>> = topology.bodies.iter().map(rotor).collect();
        match rotors.iter().position(|r| r.is_some_and(|r| !drift.suits(r.shape))) {
            Some(body) => Err(body),
            None => Ok(Self { inertia: Inertia::new(topology), topology: topology.clone(), rotors, drift }),
        }
    }

    /// Reads all of a state.
    pub(super) fn read(&self, s: &State, motions: &mut [Motion]) {
        for (b, (motion, rotor)) in motions.iter_mut().zip(&self.rotors).enumerate() {
            (motion.x, motion.v) = (s.x(b), s.v(b));
            if let Some(rotor) = rotor {
                motion.spin = rotor.spin(&s.r(b), &s.omega(b));
            }
        }
    }

    /// Writes positions and attitudes.
    pub(super) fn write_positions(&self, motions: &[Motion], s: &mut State) {
        for (b, (motion, rotor)) in motions.iter().zip(&self.rotors).enumerate() {
            s.set_x(b, &motion.x);
            if let Some(rotor) = rotor {
                s.set_r(b, &rotor.rotation(&motion.spin));
            }
        }
    }

    /// Writes velocities and angular velocities.
    pub(super) fn write_velocities(&self, motions: &[Motion], s: &mut State) {
        for (b, (motion, rotor)) in motions.iter().zip(&self.rotors).enumerate() {
            s.set_v(b, &motion.v);
            if let Some(rotor) = rotor {
                s.set_omega(b, &rotor.omega(&motion.spin));
            }
        }
    }

    /// Velocities as one vector of `nv` numbers.
    pub(super) fn velocities(&self, motions: &[Motion], v: &mut [f64]) {
        for ((motion, rotor), &at) in motions.iter().zip(&self.rotors).zip(&self.topology.dof) {
            v[at..at + 3].copy_from_slice(motion.v.as_slice());
            if let Some(rotor) = rotor {
                v[at + 3..at + 6].copy_from_slice(rotor.omega(&motion.spin).as_slice());
            }
        }
    }

    /// Adds `factor` times a vector of `nv` forces and torques, the latter in body axes, to the momenta.
    pub(super) fn kick(&self, motions: &mut [Motion], force: &[f64], factor: f64) {
        for (b, (motion, rotor)) in motions.iter_mut().zip(&self.rotors).enumerate() {
            let force = &force[self.topology.dof[b]..self.topology.dof[b + 1]];
            motion.v += Vector3::new(force[0], force[1], force[2]) * (factor * self.inertia.inverse(b).0);
            if let Some(rotor) = rotor {
                motion.spin.pi += rotor.to_principal(&Vector3::new(force[3], force[4], force[5])) * factor;
            }
        }
    }

    /// Moves all bodies for the time `h` without forces.
    pub(super) fn drift(&self, motions: &mut [Motion], h: f64) -> Result<(), Turning> {
        with_drift!(self.drift, drift(&self.rotors, motions, h))
    }

    /// The same with the derivative of each attitude by the momentum before, both in body axes.
    pub(super) fn linearise(
        &self,
        motions: &mut [Motion],
        h: f64,
        derivatives: &mut [Matrix3<f64>],
    ) -> Result<(), Turning> {
        with_drift!(self.drift, linearise(&self.rotors, motions, h, derivatives))
    }

    /// Repairs the orthogonality of all attitudes.
    pub(super) fn polish(&self, motions: &mut [Motion]) {
        for motion in motions {
            motion.spin.q = polish(&motion.spin.q);
        }
    }
}

fn drift<D: Drift>(rotors: &[Option<Rotor>], motions: &mut [Motion], h: f64) -> Result<(), Turning> {
    for (body, (motion, rotor)) in motions.iter_mut().zip(rotors).enumerate() {
        motion.x += motion.v * h;
        if let Some(rotor) = rotor {
            D::advance(rotor, h, &mut motion.spin).map_err(|_| Turning { body })?;
        }
    }
    Ok(())
}

fn linearise<D: Drift>(
    rotors: &[Option<Rotor>],
    motions: &mut [Motion],
    h: f64,
    derivatives: &mut [Matrix3<f64>],
) -> Result<(), Turning> {
    for (body, ((motion, rotor), out)) in motions.iter_mut().zip(rotors).zip(derivatives).enumerate() {
        motion.x += motion.v * h;
        if let Some(rotor) = rotor {
            let derivative = D::linearise(rotor, h, &mut motion.spin).map_err(|_| Turning { body })?;
            *out = rotor.to_body(&derivative);
        }
    }
    Ok(())
}
