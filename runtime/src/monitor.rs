//! Energies, momenta and constraint errors of a state.

use alloc::vec::Vec;

use nalgebra::Vector3;

use crate::linalg::rows::{self, amax};
use crate::so3::orthogonality_error;
use crate::state::State;
use crate::system::{Jacobian, System};
use crate::topology::{BodyKind, Topology};
use crate::velocity;

/// What is measured at one state.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Measures {
    /// Kinetic energy, J.
    pub kinetic: f64,
    /// Potential energy, J.
    pub potential: f64,
    /// Linear momentum in inertial axes, kg m/s.
    pub momentum: Vector3<f64>,
    /// Angular momentum about the mass centre of the model in inertial axes, kg m^2/s.
    pub angular_momentum: Vector3<f64>,
    /// Largest component of `Phi`, each in the unit of its row.
    pub position_residual: f64,
    /// Largest component of `B V + Phi_t`.
    pub velocity_residual: f64,
    /// Largest component of `B A + gamma`.
    pub acceleration_residual: f64,
    /// Largest component of `R^T R - I` of any body.
    pub orthogonality: f64,
}

impl Measures {
    /// Total energy, J.
    #[must_use]
    pub fn energy(&self) -> f64 {
        self.kinetic + self.potential
    }

    /// Total, kinetic and potential energy, linear and angular momentum, as outputs and checks read them.
    #[must_use]
    pub fn globals(&self) -> [f64; 9] {
        let (p, l) = (&self.momentum, &self.angular_momentum);
        [self.energy(), self.kinetic, self.potential, p.x, p.y, p.z, l.x, l.y, l.z]
    }
}

/// Workspaces for measuring one model. Only the constructor allocates.
#[derive(Clone, Debug)]
pub struct Monitor {
    topology: Topology,
    jac: Jacobian,
    v: Vec<f64>,
    rows: Vec<f64>,
    gamma: Vec<f64>,
}

impl Monitor {
    /// Workspaces for a model.
    #[must_use]
    pub fn new(topology: &Topology) -> Self {
        let nc = topology.nc();
        Self {
            jac: Jacobian { phi: vec![0.0; nc], phi_t: vec![0.0; nc], b: vec![0.0; topology.constraints.jac_len] },
            v: vec![0.0; topology.nv()],
            rows: vec![0.0; nc],
            gamma: vec![0.0; nc],
            topology: topology.clone(),
        }
    }

    /// Measures a state with its accelerations `a` (`nv`). All constraint rows count, dependent ones too.
    pub fn measure<S: System + ?Sized>(&mut self, sys: &mut S, s: &State, a: &[f64]) -> Measures {
        let (set, dof) = (&self.topology.constraints, &self.topology.dof[..]);
        sys.jacobian(s, &mut self.jac);
        velocity::read(&self.topology, s, &mut self.v);
        rows::apply(set, dof, &self.jac.b, &self.v, &mut self.rows);
        for (r, phi_t) in self.rows.iter_mut().zip(&self.jac.phi_t) {
            *r += phi_t;
        }
        let velocity_residual = amax(&self.rows);
        sys.convective(s, &mut self.gamma);
        rows::apply(set, dof, &self.jac.b, a, &mut self.rows);
        for (r, gamma) in self.rows.iter_mut().zip(&self.gamma) {
            *r += gamma;
        }
        let mut out = Measures {
            potential: sys.potential(s),
            position_residual: amax(&self.jac.phi),
            velocity_residual,
            acceleration_residual: amax(&self.rows),
            ..mechanics(&self.topology, s)
        };
        for (b, body) in self.topology.bodies.iter().enumerate() {
            if body.kind == BodyKind::Rigid {
                out.orthogonality = out.orthogonality.max(orthogonality_error(&s.r(b)));
            }
        }
        out
    }
}

/// Kinetic energy and momenta; the other measures are zero.
fn mechanics(topology: &Topology, s: &State) -> Measures {
    let (mut kinetic, mut mass) = (0.0, 0.0);
    let (mut momentum, mut moment) = (Vector3::zeros(), Vector3::zeros());
    for (b, body) in topology.bodies.iter().enumerate() {
        let v = s.v(b);
        kinetic += 0.5 * body.mass * v.norm_squared();
        mass += body.mass;
        momentum += v * body.mass;
        moment += s.x(b) * body.mass;
    }
    let centre = if mass > 0.0 { moment / mass } else { moment };
    let mut angular_momentum = Vector3::zeros();
    for (b, body) in topology.bodies.iter().enumerate() {
        angular_momentum += (s.x(b) - centre).cross(&(s.v(b) * body.mass));
        if body.kind == BodyKind::Rigid {
            let omega = s.omega(b);
            let spin = body.inertia * omega;
            kinetic += 0.5 * omega.dot(&spin);
            angular_momentum += s.r(b) * spin;
        }
    }
    Measures {
        kinetic,
        potential: 0.0,
        momentum,
        angular_momentum,
        position_residual: 0.0,
        velocity_residual: 0.0,
        acceleration_residual: 0.0,
        orthogonality: 0.0,
    }
}
