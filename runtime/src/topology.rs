//! What is fixed about a model: its bodies, and which bodies each element touches.

use alloc::vec::Vec;

use nalgebra::Matrix3;

/// The kind of a body decides the size of its tangent space; nothing else in the crate knows a 6 or a 3.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BodyKind {
    /// R^3 x SO(3): `(v, Omega)`, six velocities.
    Rigid,
    /// R^3: `v`, three velocities.
    Particle,
}

impl BodyKind {
    /// Dimension of the tangent space.
    #[must_use]
    pub const fn dim(self) -> usize {
        match self {
            Self::Rigid => 6,
            Self::Particle => 3,
        }
    }
}

/// A `3 x 3` part of a square block, by row and column: vectors of the tangent spaces of the slots, counted through, of which a
/// particle has one (`dx`) and a rigid body two (`dx`, `dtheta`).
pub type Coupling = [u32; 2];

/// Mass properties of one body.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Body {
    /// Kind of the body.
    pub kind: BodyKind,
    /// Mass, kg.
    pub mass: f64,
    /// Inertia about the centre of mass in body axes, kg m^2 (zero for particles).
    pub inertia: Matrix3<f64>,
}

/// One element instance: `rows` consecutive equations that touch the bodies of its slots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Element {
    /// First row among the rows of its set (0 for forces).
    pub row: usize,
    /// Number of rows (0 for forces).
    pub rows: usize,
    /// First slot in [`ElementSet::slots`].
    pub slot: usize,
    /// Number of slots.
    pub slots: usize,
    /// Sum of the tangent dimensions of its slots.
    pub dim: usize,
    /// Offset of its `rows x dim` block (row-major) in arrays of Jacobian blocks.
    pub jac: usize,
    /// Offset of its first `3 x 3` part (row-major) in arrays of square blocks; the others follow it.
    pub square: usize,
    /// First of its parts in [`ElementSet::couplings`].
    pub coupling: usize,
    /// Number of its parts.
    pub couplings: usize,
}

/// All element instances of one role, in the order of their declarations.
///
/// Invariants: rows and offsets are consecutive; a body may stand in more than one slot of an element
/// (blocks are then summed).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ElementSet {
    /// The instances.
    pub elements: Vec<Element>,
    /// Body numbers of all slots.
    pub slots: Vec<u32>,
    /// Which parts of square blocks are stored; all others are zero. Elements that are alike share their entries.
    pub couplings: Vec<Coupling>,
    /// Total number of rows.
    pub rows: usize,
    /// Total length of the Jacobian blocks.
    pub jac_len: usize,
    /// Total length of the square blocks.
    pub square_len: usize,
}

impl ElementSet {
    /// Appends an instance that touches `bodies` with `rows` equations, and whose square blocks have these parts.
    pub fn push(&mut self, all: &[Body], bodies: &[u32], rows: usize, couplings: &[Coupling]) {
        let dim = bodies.iter().map(|&b| all[b as usize].kind.dim()).sum();
        let last = self.elements.last().map_or(0..0, |e| e.coupling..e.coupling + e.couplings);
        let coupling = if self.couplings[last.clone()] == *couplings {
            last.start
        } else {
            self.couplings.extend_from_slice(couplings);
            self.couplings.len() - couplings.len()
        };
        self.elements.push(Element {
            row: self.rows,
            rows,
            slot: self.slots.len(),
            slots: bodies.len(),
            dim,
            jac: self.jac_len,
            square: self.square_len,
            coupling,
            couplings: couplings.len(),
        });
        self.slots.extend_from_slice(bodies);
        self.rows += rows;
        self.jac_len += rows * dim;
        self.square_len += 9 * couplings.len();
    }

    /// Stored parts of the square blocks of an element, each with its offset in arrays of square blocks.
    pub fn parts(&self, e: &Element) -> impl Iterator<Item = (Coupling, usize)> + '_ {
        let couplings = &self.couplings[e.coupling..e.coupling + e.couplings];
        couplings.iter().copied().zip((e.square..).step_by(9))
    }

    /// Bodies of an element, slot by slot.
    #[must_use]
    pub fn bodies(&self, e: &Element) -> &[u32] {
        &self.slots[e.slot..e.slot + e.slots]
    }
}

/// The static structure of a model.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Topology {
    /// All moving bodies.
    pub bodies: Vec<Body>,
    /// Offset of each body in velocity-like vectors, and the total `nv` at the end (`bodies.len() + 1` entries).
    pub dof: Vec<usize>,
    /// Holonomic constraints `Phi(q, t) = 0`.
    pub constraints: ElementSet,
    /// Forces.
    pub forces: ElementSet,
    /// Whether there are forces beside these between pairs of bodies that are found during a run: functions of positions
    /// and time, without derivatives.
    pub has_pairs: bool,
    /// Conditions on initial positions.
    pub position_conditions: ElementSet,
    /// Conditions on initial velocities, linear in `V`.
    pub velocity_conditions: ElementSet,
    /// Per position condition: held (`fixed`), or only a wish (`guess`).
    pub position_fixed: Vec<bool>,
    /// Per velocity condition: held (`fixed`), or only a wish (`guess`).
    pub velocity_fixed: Vec<bool>,
    /// Number of memory cells (continuous angles).
    pub memory: usize,
}

impl Topology {
    /// Number of velocities.
    #[must_use]
    pub fn nv(&self) -> usize {
        self.dof.last().copied().unwrap_or(0)
    }

    /// Number of constraint rows.
    #[must_use]
    pub const fn nc(&self) -> usize {
        self.constraints.rows
    }
}
