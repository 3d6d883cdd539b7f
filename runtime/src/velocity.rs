//! The velocities of a state as one vector of `nv` numbers, in the layout of [`Topology::dof`].

use nalgebra::Vector3;

use crate::state::State;
use crate::topology::{BodyKind, Topology};

/// Copies `v` and `Omega` of every body (m/s, rad/s) out of a state; particles have no `Omega`.
pub fn read(topology: &Topology, s: &State, v: &mut [f64]) {
    for (b, body) in topology.bodies.iter().enumerate() {
        let at = topology.dof[b];
        v[at..at + 3].copy_from_slice(s.v(b).as_slice());
        if body.kind == BodyKind::Rigid {
            v[at + 3..at + 6].copy_from_slice(s.omega(b).as_slice());
        }
    }
}

/// Copies velocities into a state: the inverse of [`read`].
pub fn write(topology: &Topology, v: &[f64], s: &mut State) {
    for (b, body) in topology.bodies.iter().enumerate() {
        let at = topology.dof[b];
        s.set_v(b, &Vector3::from_column_slice(&v[at..at + 3]));
        if body.kind == BodyKind::Rigid {
            s.set_omega(b, &Vector3::from_column_slice(&v[at + 3..at + 6]));
        }
    }
}
