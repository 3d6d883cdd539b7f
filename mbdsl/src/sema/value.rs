//! What an expression of the language can stand for while a model is checked.

use std::rc::Rc;

use super::scope::Scope;
use crate::symbolic::ExprId;
use crate::syntax::ast;
use crate::units::Dim;

/// A scalar, vector, matrix or truth value with its dimension.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quantity {
    /// The expression.
    pub e: ExprId,
    /// Its dimension; `None` fits any (the literal 0).
    pub dim: Option<Dim>,
}

/// A body or the ground.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Frame {
    /// The inertial frame.
    Ground,
    /// A body of the model.
    Body(InstanceOf),
}

/// An instance of a declaration.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct InstanceOf {
    /// Number of the declaration.
    pub decl: usize,
    /// Its indices.
    pub indices: Vec<ExprId>,
}

/// A point fixed in a frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Point {
    /// What it is fixed in.
    pub frame: Frame,
    /// Coordinates in the reference frame of the body (vec3, m).
    pub local: ExprId,
}

/// A value.
#[derive(Clone, Debug)]
pub enum Value<'a> {
    /// A number, vector, matrix or truth value.
    Quantity(Quantity),
    /// A body or the ground.
    Frame(Frame),
    /// A point of a body.
    Point(Point),
    /// A joint, constraint or force.
    Element(InstanceOf),
    /// An array of bodies, not yet subscripted.
    BodyArray(usize),
    /// An array of elements, not yet subscripted.
    ElementArray(usize),
    /// `let name[i in ...] = ...`, not yet subscripted, in the scope of its declaration.
    LetArray(&'a ast::Target, &'a ast::Expr, Rc<Scope<'a>>),
    /// `momentum`, of which `.linear` and `.angular` exist.
    Momentum,
    /// The bare word `start`: the value at the start of what it is subtracted from.
    Start,
}

impl Value<'_> {
    /// What it is, for messages.
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Quantity(_) => "a quantity",
            Self::Frame(Frame::Ground) => "the ground",
            Self::Frame(Frame::Body(_)) => "a body",
            Self::Point(_) => "a point",
            Self::Element(_) => "a joint or element",
            Self::BodyArray(_) => "an array of bodies",
            Self::ElementArray(_) => "an array of elements",
            Self::LetArray(..) => "an array",
            Self::Momentum => "the momentum of the model",
            Self::Start => "the word `start`",
        }
    }
}
