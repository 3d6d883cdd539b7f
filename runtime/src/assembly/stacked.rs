//! Constraints and conditions as one set of rows.

use alloc::string::String;
use alloc::vec::Vec;

use crate::error::ResidualRow;
use crate::inertia::Inertia;
use crate::linalg::gram::{Gram, Weight};
use crate::linalg::rows::{self, amax};
use crate::state::{STRIDE, State};
use crate::system::{Jacobian, System};
use crate::topology::{ElementSet, Topology};
use crate::velocity;

/// Which conditions stand below the constraints.
#[derive(Clone, Copy, Debug)]
pub(super) struct Selection {
    kind: Kind,
    wishes: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    None,
    Position,
    Velocity,
}

impl Selection {
    pub(super) const CONSTRAINTS: Self = Self { kind: Kind::None, wishes: false };
    pub(super) const POSITIONS: Self = Self { kind: Kind::Position, wishes: true };
    pub(super) const FIXED_POSITIONS: Self = Self { kind: Kind::Position, wishes: false };
    pub(super) const VELOCITIES: Self = Self { kind: Kind::Velocity, wishes: true };
    pub(super) const FIXED_VELOCITIES: Self = Self { kind: Kind::Velocity, wishes: false };
}

/// The rows with their values, Jacobian blocks and Gram matrix.
#[derive(Debug)]
pub(super) struct Stacked {
    pub(super) topology: Topology,
    pub(super) set: ElementSet,
    pub(super) gram: Gram,
    /// Value of each row: `Phi`, or `B V + Phi_t`; the value of conditions.
    pub(super) value: Vec<f64>,
    /// Blocks of `set`.
    pub(super) b: Vec<f64>,
    /// Explicit time derivative, for the scale of velocities.
    phi_t: Vec<f64>,
    kind: Kind,
    /// Conditions that are in the set, by number.
    conditions: Vec<usize>,
    constraint: Jacobian,
    condition: Jacobian,
    v: Vec<f64>,
}

impl Stacked {
    pub(super) fn new(topology: &Topology, selection: Selection) -> Self {
        let (source, fixed): (&ElementSet, &[bool]) = match selection.kind {
            Kind::None => (&ElementSet::default(), &[]),
            Kind::Position => (&topology.position_conditions, &topology.position_fixed),
            Kind::Velocity => (&topology.velocity_conditions, &topology.velocity_fixed),
        };
        let conditions: Vec<usize> = (0..source.elements.len()).filter(|&i| selection.wishes || fixed[i]).collect();
        let mut set = topology.constraints.clone();
        for &i in &conditions {
            let e = &source.elements[i];
            set.push(&topology.bodies, source.bodies(e), e.rows, &[]);
        }
        let jacobian = |set: &ElementSet| Jacobian {
            phi: vec![0.0; set.rows],
            phi_t: vec![0.0; set.rows],
            b: vec![0.0; set.jac_len],
        };
        Self {
            gram: Gram::new(topology, &set, Weight::InverseMass),
            value: vec![0.0; set.rows],
            b: vec![0.0; set.jac_len],
            phi_t: vec![0.0; set.rows],
            kind: selection.kind,
            conditions,
            constraint: jacobian(&topology.constraints),
            condition: jacobian(source),
            v: vec![0.0; topology.nv()],
            topology: topology.clone(),
            set,
        }
    }

    /// Values and blocks of positions.
    pub(super) fn evaluate_positions<S: System + ?Sized>(&mut self, sys: &mut S, s: &State) {
        sys.jacobian(s, &mut self.constraint);
        if self.kind == Kind::Position {
            sys.position_conditions(s, &mut self.condition);
        }
        self.stack();
    }

    /// Values and blocks of velocities.
    pub(super) fn evaluate_velocities<S: System + ?Sized>(&mut self, sys: &mut S, s: &State) {
        sys.jacobian(s, &mut self.constraint);
        if self.kind == Kind::Velocity {
            sys.velocity_conditions(s, &mut self.condition);
        }
        self.stack();
        let nc = self.topology.nc();
        velocity::read(&self.topology, s, &mut self.v);
        rows::apply(&self.topology.constraints, &self.topology.dof, &self.b, &self.v, &mut self.value[..nc]);
        for (value, phi_t) in self.value.iter_mut().zip(&self.phi_t) {
            *value += phi_t;
        }
    }

    fn stack(&mut self) {
        let (nc, len) = (self.topology.nc(), self.topology.constraints.jac_len);
        self.value[..nc].copy_from_slice(&self.constraint.phi);
        self.phi_t[..nc].copy_from_slice(&self.constraint.phi_t);
        self.b[..len].copy_from_slice(&self.constraint.b);
        let source = match self.kind {
            Kind::None => return,
            Kind::Position => &self.topology.position_conditions,
            Kind::Velocity => &self.topology.velocity_conditions,
        };
        let first = self.topology.constraints.elements.len();
        for (to, &i) in self.set.elements[first..].iter().zip(&self.conditions) {
            let from = &source.elements[i];
            self.value[to.row..to.row + to.rows].copy_from_slice(&self.condition.phi[from.row..from.row + to.rows]);
            let n = to.rows * to.dim;
            self.b[to.jac..to.jac + n].copy_from_slice(&self.condition.b[from.jac..from.jac + n]);
        }
    }

    /// Whether all values and blocks are finite; otherwise the names of the elements that are not.
    pub(super) fn check_finite<S: System + ?Sized>(&self, sys: &S) -> Result<(), Vec<String>> {
        let finite = |a: &[f64]| a.iter().all(|x| x.is_finite());
        if finite(&self.value) && finite(&self.b) {
            return Ok(());
        }
        let bad = self.set.elements.iter().enumerate().filter(|(_, e)| {
            !finite(&self.value[e.row..e.row + e.rows]) || !finite(&self.b[e.jac..e.jac + e.rows * e.dim])
        });
        Err(bad.map(|(i, _)| self.name(sys, i)).collect())
    }

    /// Name of an element.
    pub(super) fn name<S: System + ?Sized>(&self, sys: &S, element: usize) -> String {
        match element.checked_sub(self.topology.constraints.elements.len()) {
            None => sys.constraint_name(element),
            Some(i) if self.kind == Kind::Velocity => sys.velocity_condition_name(self.conditions[i]),
            Some(i) => sys.position_condition_name(self.conditions[i]),
        }
    }

    /// A row with its names and present value.
    pub(super) fn residual<S: System + ?Sized>(&self, sys: &S, row: usize) -> ResidualRow {
        let element = self.element_of(row);
        let within = row - self.set.elements[element].row;
        let row_name = if element < self.topology.constraints.elements.len() {
            sys.row_name(element, within)
        } else {
            format!("row {}", within + 1)
        };
        ResidualRow { element: self.name(sys, element), row: row_name, value: self.value[row] }
    }

    /// The element that a row belongs to.
    pub(super) fn element_of(&self, row: usize) -> usize {
        self.set.elements.partition_point(|e| e.row + e.rows <= row)
    }

    /// Per row the size of the values that cancel in it, given a length for positions and one unit for rotations, or
    /// the speeds of the model for velocities.
    pub(super) fn scales(&self, translation: f64, rotation: f64) -> Vec<f64> {
        let mut out = vec![0.0; self.set.rows];
        for e in &self.set.elements {
            for (i, row) in rows::rows(e, &self.b).enumerate() {
                let mut at = 0;
                let mut sum = self.phi_t[e.row + i].abs() * f64::from(u8::from(self.kind != Kind::Position));
                for &body in self.set.bodies(e) {
                    let dim = self.topology.bodies[body as usize].kind.dim();
                    for (axis, b) in row[at..at + dim].iter().enumerate() {
                        sum += b.abs() * if axis < 3 { translation } else { rotation };
                    }
                    at += dim;
                }
                out[e.row + i] = sum;
            }
        }
        out
    }

    /// `-M^-1 B^T y`.
    pub(super) fn response(&self, inertia: &Inertia, y: &[f64]) -> Vec<f64> {
        let mut force = vec![0.0; self.topology.nv()];
        rows::add_transposed(&self.set, &self.topology.dof, &self.b, y, -1.0, &mut force);
        let mut out = vec![0.0; self.topology.nv()];
        inertia.apply_inverse(&force, &mut out);
        out
    }

    /// A length of the model, m: the largest coordinate or lever arm; 1 where there is none at all.
    pub(super) fn length(&self, s: &State) -> f64 {
        let mut length = s.z.chunks_exact(STRIDE).map(|body| amax(&body[..3])).fold(0.0, f64::max);
        for e in &self.topology.constraints.elements {
            for row in rows::rows(e, &self.b) {
                let mut at = 0;
                for &body in self.topology.constraints.bodies(e) {
                    let dim = self.topology.bodies[body as usize].kind.dim();
                    let translation = amax(&row[at..at + 3]);
                    if dim == 6 && translation > 0.0 {
                        length = length.max(amax(&row[at + 3..at + 6]) / translation);
                    }
                    at += dim;
                }
            }
        }
        if length > 0.0 { length } else { 1.0 }
    }
}
