//! The checked model: names resolved, shapes and dimensions right, definitions inlined, index sets kept as tables.
//!
//! A `Model` that exists is valid but for what depends on the values of its parameters (masses, lengths), which is
//! checked when they are bound. Expressions live in the model's pool; those of an element speak of its own index
//! variables, and of bodies by declaration and index expressions.

use crate::source::Span;
use crate::symbolic::{BodyRef, ExprId, ExprPool, Quantity};
use crate::units::Dim;

/// The instances of a declaration: tuples of index values in the order of the declaration.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IndexSet {
    /// Index variables of the pool, one for each position of a tuple.
    pub vars: Vec<u32>,
    /// Tuples one after another, `vars.len()` numbers each; one empty tuple for a single declaration.
    pub tuples: Vec<i32>,
    /// Number of tuples.
    pub count: usize,
}

impl IndexSet {
    /// The set of a declaration without indices.
    #[must_use]
    pub fn single() -> Self {
        Self { vars: Vec::new(), tuples: Vec::new(), count: 1 }
    }

    /// Tuple number k.
    #[must_use]
    pub fn tuple(&self, k: usize) -> &[i32] {
        &self.tuples[k * self.vars.len()..(k + 1) * self.vars.len()]
    }

    /// Name of instance k of a declaration: `link[3]`.
    #[must_use]
    pub fn name(&self, decl: &str, k: usize) -> String {
        if self.vars.is_empty() {
            return decl.to_owned();
        }
        let indices: Vec<_> = self.tuple(k).iter().map(i32::to_string).collect();
        format!("{decl}[{}]", indices.join(","))
    }
}

/// A number, vector or matrix that is given from outside: a parameter, for a run, or an input, which may change from step
/// to step.
#[derive(Clone, Debug)]
pub struct Param {
    /// Name.
    pub name: String,
    /// Lines of its documentation.
    pub docs: Vec<String>,
    /// Value unless set, from other parameters.
    pub default: ExprId,
    /// Dimension.
    pub dim: Dim,
    /// Where.
    pub span: Span,
}

/// A structural constant.
#[derive(Clone, Debug, PartialEq)]
pub struct Const {
    /// Name.
    pub name: String,
    /// Value.
    pub value: f64,
    /// Dimension.
    pub dim: Dim,
}

/// Kind of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BodyKind {
    /// Position and attitude.
    Rigid,
    /// Position only.
    Particle,
}

impl BodyKind {
    /// Dimension of its tangent space.
    #[must_use]
    pub const fn dim(self) -> usize {
        match self {
            Self::Rigid => 6,
            Self::Particle => 3,
        }
    }

    /// The tangent directions in order, three components each.
    #[must_use]
    pub const fn tangent(self) -> &'static [(Quantity, Quantity)] {
        const RIGID: [(Quantity, Quantity); 2] = [(Quantity::X, Quantity::V), (Quantity::R, Quantity::Omega)];
        match self {
            Self::Rigid => &RIGID,
            Self::Particle => RIGID.split_at(1).0,
        }
    }
}

/// A declaration of one body or an array of them.
#[derive(Clone, Debug)]
pub struct Body {
    /// Name.
    pub name: String,
    /// Lines of its documentation.
    pub docs: Vec<String>,
    /// Kind.
    pub kind: BodyKind,
    /// Instances.
    pub set: IndexSet,
    /// Number of its first instance among all bodies of the model.
    pub first: usize,
    /// Mass.
    pub mass: ExprId,
    /// Centre of mass in the reference frame of the body.
    pub com: ExprId,
    /// Inertia about the centre of mass in body axes.
    pub inertia: ExprId,
    /// Placement before assembly: position and velocity of the reference frame, rotation, angular velocity; `None`
    /// where the model says nothing.
    pub placement: Placement,
    /// Where.
    pub span: Span,
    /// Where the inertia comes from.
    pub inertia_span: Span,
}

/// Initial values of a body as the model gives them.
#[derive(Clone, Copy, Debug, Default)]
pub struct Placement {
    /// Position of the reference frame.
    pub pos: Option<ExprId>,
    /// Rotation.
    pub rot: Option<ExprId>,
    /// Velocity of the reference frame.
    pub vel: Option<ExprId>,
    /// Angular velocity, body axes.
    pub omega: Option<ExprId>,
}

/// One equation, scalar or vector: `lhs - rhs`.
#[derive(Clone, Debug)]
pub struct Equation {
    /// Name within the element (empty for a single one).
    pub name: String,
    /// `Phi`, scalar or vec3.
    pub phi: ExprId,
    /// Dimension of `phi`.
    pub dim: Dim,
    /// Where.
    pub span: Span,
}

/// A direct load: the vector `value` at what moves with `velocity` (a force at a point, a torque at an attitude).
#[derive(Clone, Copy, Debug)]
pub struct Load {
    /// Velocity of the point, or angular velocity in inertial axes (vec3).
    pub velocity: ExprId,
    /// Force or torque, inertial axes (vec3).
    pub value: ExprId,
}

/// Pairs of bodies that count while two points of theirs are near: found during a run, not tabulated.
#[derive(Clone, Debug)]
pub struct Cutoff {
    /// The bodies of a pair, of all bodies of their declarations, in the index variables of the element's set: first those of
    /// the first body.
    pub bodies: [BodyRef; 2],
    /// A point of each, of the body's position and attitude only (vec3).
    pub points: [ExprId; 2],
    /// The distance, from parameters only.
    pub distance: ExprId,
    /// Whether the points are near: the comparison as the model has it.
    pub is_near: ExprId,
    /// Which pairs count at all, from their indices and structural constants only.
    pub admits: ExprId,
    /// Where the comparison stands.
    pub span: Span,
}

/// An element: a joint, constraint, potential, dissipation, load, or use of a defined force. All its instances share
/// these expressions.
#[derive(Clone, Debug)]
pub struct Element {
    /// Name; generated for unnamed ones.
    pub name: String,
    /// Lines of its documentation.
    pub docs: Vec<String>,
    /// What it is, as the model writes it: `revolute`, `constraint`, ...
    pub kind: String,
    /// Instances.
    pub set: IndexSet,
    /// Holonomic equations.
    pub equations: Vec<Equation>,
    /// Of a potential of pairs that are found during a run: which. Its set has index variables then, and no tuples.
    pub cutoff: Option<Cutoff>,
    /// Potential energy.
    pub potential: Option<ExprId>,
    /// Rayleigh function.
    pub dissipation: Option<ExprId>,
    /// Loads.
    pub loads: Vec<Load>,
    /// Continuous angles: value of each as a function of the state and its memory.
    pub angles: Vec<ExprId>,
    /// Where.
    pub span: Span,
}

/// Whether a condition belongs to positions or velocities.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// A function of positions.
    Position,
    /// Linear in velocities.
    Velocity,
}

/// A condition on the initial values: `value = 0` when held.
#[derive(Clone, Debug)]
pub struct Condition {
    /// Name: `top.omega`, `hinge.angle`.
    pub name: String,
    /// Instances.
    pub set: IndexSet,
    /// Level.
    pub level: Level,
    /// Held, or only a wish.
    pub fixed: bool,
    /// Scalar or vec3.
    pub value: ExprId,
    /// Where.
    pub span: Span,
}

/// A recorded quantity.
#[derive(Clone, Debug)]
pub struct Output {
    /// Name.
    pub name: String,
    /// Lines of its documentation.
    pub docs: Vec<String>,
    /// Instances.
    pub set: IndexSet,
    /// Scalar or vec3.
    pub value: ExprId,
    /// Dimension.
    pub dim: Dim,
    /// Where.
    pub span: Span,
}

/// When a check is evaluated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CheckTime {
    /// When the parameters are bound: it depends on nothing else.
    Bound,
    /// At the start and after every step.
    Always,
    /// Once, at the end of the run.
    Once,
}

/// A statement that must hold.
#[derive(Clone, Debug)]
pub struct Check {
    /// Name.
    pub name: String,
    /// Lines of its documentation.
    pub docs: Vec<String>,
    /// Instances.
    pub set: IndexSet,
    /// When.
    pub time: CheckTime,
    /// The condition.
    pub condition: ExprId,
    /// For a comparison: left and right side, to be shown when it fails.
    pub sides: Option<(ExprId, ExprId)>,
    /// Dimension of the sides.
    pub dim: Dim,
    /// Where.
    pub span: Span,
}

/// What to do about redundant constraints.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Redundancy {
    /// Refuse the model.
    Deny,
    /// Run and say so.
    #[default]
    Report,
    /// Run silently.
    Allow,
}

/// Defaults of a run, SI units.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Simulate {
    /// Name of the stepper.
    pub stepper: Option<(String, Span)>,
    /// Step.
    pub step: Option<ExprId>,
    /// Where `auto` stands for the step: a tolerance chooses it.
    pub auto: Option<Span>,
    /// What the error of such a step may be.
    pub tolerance: Option<(ExprId, Span)>,
    /// End.
    pub until: Option<ExprId>,
    /// Interval of recording.
    pub every: Option<ExprId>,
}

/// A model.
#[derive(Clone, Debug)]
pub struct Model {
    /// Name.
    pub name: String,
    /// Lines of its documentation.
    pub docs: Vec<String>,
    /// All expressions.
    pub pool: ExprPool,
    /// Structural constants in order.
    pub consts: Vec<Const>,
    /// Parameters; number k is `Param(k)` of the pool. A default uses parameters of any number, without cycles.
    pub params: Vec<Param>,
    /// Order in which the defaults can be evaluated.
    pub param_order: Vec<usize>,
    /// Inputs; number k is `Input(k)` of the pool. A default uses parameters.
    pub inputs: Vec<Param>,
    /// Names of the index variables of the pool.
    pub indices: Vec<String>,
    /// Bodies; number k is declaration k of a `BodyRef`.
    pub bodies: Vec<Body>,
    /// Elements; number k is declaration k of an `ElementRef`.
    pub elements: Vec<Element>,
    /// Conditions on initial values.
    pub conditions: Vec<Condition>,
    /// Recorded quantities.
    pub outputs: Vec<Output>,
    /// Checks.
    pub checks: Vec<Check>,
    /// What to do about redundant constraints.
    pub redundancy: Redundancy,
    /// Gravity (vec3).
    pub gravity: ExprId,
    /// Defaults of a run.
    pub simulate: Simulate,
    /// Where the model's name stands.
    pub span: Span,
}

impl Model {
    /// What can be set for a run, in order: parameters, then inputs.
    pub fn settable(&self) -> impl Iterator<Item = &Param> {
        self.params.iter().chain(&self.inputs)
    }

    /// Number of body instances.
    #[must_use]
    pub fn body_count(&self) -> usize {
        self.bodies.iter().map(|b| b.set.count).sum()
    }

    /// Declaration and instance number of a body of the model.
    #[must_use]
    pub fn body_instance(&self, body: usize) -> (usize, usize) {
        let decl = self.bodies.partition_point(|b| b.first <= body) - 1;
        (decl, body - self.bodies[decl].first)
    }

    /// Name of a body: `link[3]`.
    #[must_use]
    pub fn body_name(&self, body: usize) -> String {
        let (decl, k) = self.body_instance(body);
        self.bodies[decl].set.name(&self.bodies[decl].name, k)
    }
}
