//! The equations of a model: one set of expressions for each element kind, in one pool.

use crate::model::{Body, BodyKind};
use crate::symbolic::diff::Wrt;
use crate::symbolic::walk::reachable;
use crate::symbolic::{BodyRef, ExprId, ExprPool, Node, Quantity, Ty};

use super::rewrite::Preparation;

/// Everything that is derived from a model. Numbers of declarations are those of the model.
#[derive(Clone, Debug, Default)]
pub struct Equations {
    /// All expressions.
    pub pool: ExprPool,
    /// Parameters in the order of the model.
    pub params: Vec<ParamValue>,
    /// Inputs in the order of the model.
    pub inputs: Vec<ParamValue>,
    /// Mass properties and placement of the bodies in the order of the model.
    pub setups: Vec<SetupKind>,
    /// Elements with equations.
    pub constraints: Vec<ConstraintKind>,
    /// Gravity and the elements with a potential, dissipation or loads.
    pub forces: Vec<ForceKind>,
    /// Continuous angles whose memory some expression reads.
    pub angles: Vec<AngleKind>,
    /// Conditions on initial values in the order of the model.
    pub conditions: Vec<ConditionKind>,
    /// Values of the outputs in the order of the model.
    pub outputs: Vec<ExprId>,
    /// Checks in the order of the model.
    pub checks: Vec<CheckValue>,
    /// Step, end and interval of recording.
    pub simulate: Vec<Option<ExprId>>,
}

/// A parameter or an input.
#[derive(Clone, Copy, Debug)]
pub struct ParamValue {
    /// Value unless set.
    pub default: ExprId,
    /// Type.
    pub ty: Ty,
}

/// What is known of the bodies of one declaration before the run.
#[derive(Clone, Copy, Debug)]
pub struct SetupKind {
    /// Mass (s).
    pub mass: ExprId,
    /// Centre of mass in the reference frame (vec3).
    pub com: ExprId,
    /// Inertia about the centre of mass, body axes (m).
    pub inertia: ExprId,
    /// Position of the reference frame (vec3), rotation (m), velocity of the reference frame (vec3), angular velocity
    /// in body axes (vec3), where given.
    pub placement: [Option<ExprId>; 4],
}

/// A tangent direction of an element: three columns of its blocks.
#[derive(Clone, Copy, Debug)]
pub struct Direction {
    /// Slot of the body.
    pub slot: usize,
    /// First of its three columns.
    pub offset: usize,
    /// What moves with a displacement: x or R.
    pub position: Wrt,
    /// What moves with the velocity: v or Omega.
    pub velocity: Wrt,
}

/// The bodies whose state occurs in some expressions, also at the start; not those of what is evaluated apart.
#[must_use]
pub fn slots(pool: &ExprPool, roots: &[ExprId]) -> Vec<BodyRef> {
    let mut found = Vec::new();
    for e in reachable(pool, roots, |node| !matches!(node, Node::Reduce { .. } | Node::At(..))) {
        if let Node::State(_, body) = *pool.node(e)
            && !found.contains(&body)
        {
            found.push(body);
        }
    }
    found
}

/// The directions of some bodies, slot by slot, and the number of columns.
pub(super) fn directions(pool: &ExprPool, bodies: &[Body], refs: &[BodyRef]) -> (Vec<Direction>, usize) {
    let mut offset = 0;
    let mut out = Vec::new();
    for (slot, &body) in refs.iter().enumerate() {
        for &(position, velocity) in bodies[pool.body(body).decl as usize].kind.tangent() {
            let wrt = |what: Quantity| Wrt { what, body };
            out.push(Direction { slot, offset, position: wrt(position), velocity: wrt(velocity) });
            offset += 3;
        }
    }
    (out, offset)
}

/// One equation of a constraint with its derivatives. Expressions by direction are vec3 (a row of three) for a scalar
/// equation and mat3 for a vector equation.
#[derive(Clone, Debug)]
pub struct Group {
    /// First row in the element.
    pub row: usize,
    /// Type of `phi`: scalar or vec3.
    pub ty: Ty,
    /// The symbol that stands for its multipliers in `k_lam`.
    pub lambda: ExprId,
    /// `Phi`.
    pub phi: ExprId,
    /// `dPhi/dt` at constant q.
    pub phi_t: ExprId,
    /// Second derivative of `Phi` by time at constant q.
    pub phi_tt: ExprId,
    /// `B` by direction.
    pub b: Vec<ExprId>,
    /// `B V`.
    pub bv: ExprId,
    /// `B V + Phi_t`.
    pub bv_total: ExprId,
    /// `Bdot V`.
    pub bdot_v: ExprId,
    /// `Bdot V + 2 B_t V + Phi_tt`: second derivative along the motion at constant V.
    pub gamma: ExprId,
    /// `d(B V + Phi_t)/dq` by direction.
    pub bv_q: Vec<ExprId>,
    /// `d gamma/dq` by direction.
    pub gamma_q: Vec<ExprId>,
    /// `d gamma/dV` by direction.
    pub gamma_v: Vec<ExprId>,
}

/// The equations of an element.
#[derive(Clone, Debug)]
pub struct ConstraintKind {
    /// Number of the element's declaration.
    pub element: usize,
    /// The bodies that it touches: its slots.
    pub bodies: Vec<BodyRef>,
    /// Their tangent directions.
    pub directions: Vec<Direction>,
    /// Number of rows.
    pub rows: usize,
    /// Number of columns.
    pub dim: usize,
    /// Its equations.
    pub groups: Vec<Group>,
    /// `d(B^T lambda)/dq` (mat3): row direction by row direction, all column directions of each.
    pub k_lam: Vec<ExprId>,
}

/// Where a force comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The weight of the bodies of a declaration.
    Gravity(usize),
    /// An element.
    Element(usize),
}

/// Which pairs a force acts between, where they are found during a run.
#[derive(Clone, Copy, Debug)]
pub struct PairKind {
    /// The points whose distance counts, of the first and the second slot (vec3).
    pub points: [ExprId; 2],
    /// The distance below which a pair counts (s).
    pub distance: ExprId,
    /// Which pairs count at all, from indices and structural constants (b).
    pub admits: ExprId,
}

/// A force with its derivatives.
#[derive(Clone, Debug)]
pub struct ForceKind {
    /// Name: of the element, or `gravity on link`.
    pub name: String,
    /// Where it comes from.
    pub origin: Origin,
    /// The bodies that it touches or depends on: its slots.
    pub bodies: Vec<BodyRef>,
    /// Their tangent directions.
    pub directions: Vec<Direction>,
    /// Number of columns.
    pub dim: usize,
    /// Which pairs, where they are found during a run; its bodies are then the two of a pair.
    pub pairs: Option<PairKind>,
    /// Potential energy.
    pub potential: ExprId,
    /// Rayleigh function.
    pub dissipation: ExprId,
    /// Generalised force by direction (vec3).
    pub q: Vec<ExprId>,
    /// `dQ/dq` (mat3): row direction by row direction. None of pairs that are found during a run: whoever would need it, needs
    /// to know them before.
    pub q_q: Vec<ExprId>,
    /// `dQ/dV` (mat3): row direction by row direction; of such pairs zero, and none.
    pub q_v: Vec<ExprId>,
}

/// A continuous angle with memory.
#[derive(Clone, Copy, Debug)]
pub struct AngleKind {
    /// Number of the element's declaration.
    pub element: usize,
    /// Number of the angle in the element.
    pub site: u32,
    /// Its value, next to the remembered one.
    pub value: ExprId,
}

/// A condition on initial values.
#[derive(Clone, Debug)]
pub struct ConditionKind {
    /// Number of the condition's declaration.
    pub condition: usize,
    /// The bodies that it touches: its slots.
    pub bodies: Vec<BodyRef>,
    /// Their tangent directions.
    pub directions: Vec<Direction>,
    /// Number of columns.
    pub dim: usize,
    /// The condition (s or vec3).
    pub value: ExprId,
    /// Its derivative by time at constant q and V; zero at velocity level.
    pub value_t: ExprId,
    /// Its derivative by direction: by displacements or, at velocity level, by velocities.
    pub b: Vec<ExprId>,
}

/// A check.
#[derive(Clone, Copy, Debug)]
pub struct CheckValue {
    /// The condition (b).
    pub condition: ExprId,
    /// Left and right side of a comparison.
    pub sides: Option<(ExprId, ExprId)>,
}

/// Mass properties and placement of a declaration, ready to be lowered.
pub(super) fn setup(pool: &mut ExprPool, prepare: &mut Preparation<'_>, body: &Body) -> SetupKind {
    let inertia = match body.kind {
        BodyKind::Rigid => body.inertia,
        BodyKind::Particle => pool.zero(Ty::Mat3),
    };
    let p = body.placement;
    SetupKind {
        mass: prepare.observed(pool, body.mass),
        com: prepare.observed(pool, body.com),
        inertia: prepare.observed(pool, inertia),
        placement: [p.pos, p.rot, p.vel, p.omega].map(|e| e.map(|e| prepare.observed(pool, e))),
    }
}
