//! The hash-consed expression pool: equal expressions have equal ids, and every constructor simplifies what is free to
//! simplify (zeros, ones, transposed transposes), so that common sub-expressions are the representation and not a pass.
//!
//! Expressions are typed by tensors: scalar, vec3, mat3, rotation (a mat3 known to be in SO(3)), and truth values.
//! Matrix products applied to vectors are kept right-nested, `(A B) a = A (B a)`, because derivatives are taken of
//! vectors only.

use rustc_hash::FxHashMap;

use super::walk::operands;

/// An expression in an [`ExprPool`]. Ids grow: operands have smaller ids than what uses them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ExprId(pub u32);

/// A body as an expression names it: `link[i - 1]`. Interned in the pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BodyRef(pub u32);

/// An element as an expression names it: the memory of a joint's angle, or its multipliers. Interned in the pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ElementRef(pub u32);

/// What a [`BodyRef`] or [`ElementRef`] stands for: a declaration and the values of its indices.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Instance {
    /// Number of the declaration (bodies and elements are counted apart).
    pub decl: u32,
    /// One scalar expression for each index.
    pub indices: Vec<ExprId>,
}

/// Type of an expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Ty {
    /// A number.
    Scalar,
    /// A vector of R^3.
    Vec3,
    /// A 3 x 3 matrix.
    Mat3,
    /// A 3 x 3 matrix in SO(3).
    Rot,
    /// A truth value.
    Bool,
}

#[expect(clippy::len_without_is_empty, reason = "no type is without components")]
impl Ty {
    /// Number of scalar components.
    #[must_use]
    pub const fn len(self) -> usize {
        match self {
            Self::Scalar | Self::Bool => 1,
            Self::Vec3 => 3,
            Self::Mat3 | Self::Rot => 9,
        }
    }

    /// Whether it is a matrix.
    #[must_use]
    pub const fn is_matrix(self) -> bool {
        matches!(self, Self::Mat3 | Self::Rot)
    }
}

/// State quantities of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Quantity {
    /// Centre of mass `x`, inertial axes (vec3).
    X,
    /// Rotation `R`, body to inertial (rot).
    R,
    /// Velocity `v` of the centre of mass, inertial axes (vec3).
    V,
    /// Angular velocity `Omega`, body axes (vec3).
    Omega,
}

/// Quantities of the whole model that the runtime supplies to outputs and checks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Global {
    /// Total energy.
    Energy,
    /// Kinetic energy.
    Kinetic,
    /// Potential energy.
    Potential,
    /// Linear momentum (vec3).
    LinearMomentum,
    /// Angular momentum about the mass centre of the model (vec3).
    AngularMomentum,
}

/// Functions of one scalar.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Fun {
    /// Square root.
    Sqrt,
    /// Sine.
    Sin,
    /// Cosine.
    Cos,
    /// Tangent.
    Tan,
    /// Arc sine.
    Asin,
    /// Arc cosine.
    Acos,
    /// Exponential.
    Exp,
    /// Natural logarithm.
    Ln,
    /// Absolute value.
    Abs,
    /// Sign: -1, 0, 1.
    Sign,
    /// Largest integer not above.
    Floor,
    /// Stumpff function `c_k(s) = sum_j (-s)^j / (k + 2 j)!`, entire; `c_k' = (k c_{k+2} - c_{k+1}) / 2`.
    Stumpff(u8),
    /// n-th derivative by `s` of `(1 - (t/2) cot(t/2)) / t^2`, `t = sqrt s`: the coefficient in dexp^-1.
    LogCoefficient(u8),
}

/// Functions of two scalars.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Fun2 {
    /// Angle of the point `(second, first)`.
    Atan2,
    /// Smaller one.
    Min,
    /// Larger one.
    Max,
    /// First to the power of the second, any real exponent.
    Pow,
    /// Remainder with the sign of the divisor (`-1 % 3 = 2`), so that index arithmetic wraps.
    Mod,
    /// `first + 2 pi k` with the integer `k` that brings it nearest to the second; its derivative is that of `first`.
    Unwrap,
}

/// Comparisons of scalars.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Cmp {
    /// `<`
    Lt,
    /// `<=`
    Le,
    /// `==`
    Eq,
    /// `!=`
    Ne,
}

/// Ways to combine the instances of an index set into one scalar.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Reduction {
    /// Sum.
    Sum,
    /// Smallest.
    Min,
    /// Largest.
    Max,
    /// Arithmetic mean.
    Mean,
}

/// An operation. Shapes: `s` scalar, `v` vec3, `m` mat3 or rotation, `b` truth value, `a` any of s, v, m.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Node {
    /// A number, by its bits.
    Num(u64),
    /// A truth value.
    Truth(bool),
    /// A run-time parameter (its type is in the pool).
    Param(u32),
    /// A structural constant (s); its value is in the pool, so that code does not depend on it.
    Const(u32),
    /// An input: set from outside between evaluations, with derivative zero (its type is in the pool).
    Input(u32),
    /// An index variable of an element's instance (s).
    Index(u32),
    /// Time (s).
    Time,
    /// State of a body.
    State(Quantity, BodyRef),
    /// Last accepted value of continuous angle number `site` of an element (s).
    Memory(ElementRef, u32),
    /// Multipliers of group `group` of a constraint element, as forces; type in the pool by [`ExprPool::lambda`].
    Lambda(ElementRef, u32, Ty),
    /// A symbol that a derivation contracts with (multipliers, test vectors).
    Symbol(u32, Ty),
    /// A quantity of the whole model.
    Global(Global),
    /// Value at the assembled start: a constant of the instance.
    Start(ExprId),
    /// Value at a given time (in checks).
    At(ExprId, ExprId),
    /// Value at the end of the run (in checks).
    Final(ExprId),
    /// Reduction of a scalar over `lo..hi` of an index variable.
    Reduce {
        /// How.
        how: Reduction,
        /// The index variable.
        index: u32,
        /// First value.
        lo: ExprId,
        /// Value after the last one.
        hi: ExprId,
        /// What is reduced.
        body: ExprId,
    },
    /// `-a`
    Neg(ExprId),
    /// `a + a`
    Add(ExprId, ExprId),
    /// `a - a`
    Sub(ExprId, ExprId),
    /// `s s`
    Mul(ExprId, ExprId),
    /// `s / s`
    Div(ExprId, ExprId),
    /// `s a`, `a` a vec3 or mat3
    Scale(ExprId, ExprId),
    /// `s^n`, n integer (|n| >= 2, or -1)
    PowInt(ExprId, i32),
    /// Function of a scalar.
    Fun(Fun, ExprId),
    /// Function of two scalars.
    Fun2(Fun2, ExprId, ExprId),
    /// Comparison of scalars (b).
    Cmp(Cmp, ExprId, ExprId),
    /// `b && b`
    And(ExprId, ExprId),
    /// `b || b`
    Or(ExprId, ExprId),
    /// `!b`
    Not(ExprId),
    /// `b ? a : a`
    Select(ExprId, ExprId, ExprId),
    /// `[s, s, s]`
    Vec(ExprId, ExprId, ExprId),
    /// Component 0, 1 or 2 of a vec3.
    Comp(ExprId, u8),
    /// `v . v`
    Dot(ExprId, ExprId),
    /// `v x v`
    Cross(ExprId, ExprId),
    /// `m v`
    MatVec(ExprId, ExprId),
    /// `m m`
    MatMul(ExprId, ExprId),
    /// Transpose.
    Transpose(ExprId),
    /// `skew(v) a = v x a`
    Skew(ExprId),
    /// `v v^T`
    Outer(ExprId, ExprId),
    /// Diagonal matrix of a vec3.
    Diag(ExprId),
    /// Matrix of three rows.
    Rows(ExprId, ExprId, ExprId),
    /// Row 0, 1 or 2 of a matrix, as a vec3.
    Row(ExprId, u8),
    /// Rotation by an angle about an axis of any length (axis, angle).
    About(ExprId, ExprId),
    /// Rotation of a rotation vector.
    ExpSo3(ExprId),
    /// Rotation vector of a rotation.
    LogSo3(ExprId),
    /// First vector of the triad `perp1(a), perp2(a), a`.
    Perp1(ExprId),
    /// Second vector of the triad `perp1(a), perp2(a), a`.
    Perp2(ExprId),
    /// The identity matrix (rot).
    Identity,
    /// The zero vec3.
    ZeroVec,
    /// The zero mat3.
    ZeroMat,
}

/// The pool. Deterministic: ids depend on the order of construction only.
#[derive(Clone, Debug, Default)]
pub struct ExprPool {
    nodes: Vec<Node>,
    types: Vec<Ty>,
    depths: Vec<u32>,
    known: FxHashMap<Node, ExprId>,
    params: Vec<Ty>,
    consts: Vec<f64>,
    inputs: Vec<Ty>,
    /// Products and transposes found before: both take sums apart, and shared terms must not be taken apart again.
    products: FxHashMap<(ExprId, ExprId), ExprId>,
    transposes: FxHashMap<ExprId, ExprId>,
    bodies: Interner,
    elements: Interner,
}

#[derive(Clone, Debug, Default)]
struct Interner {
    items: Vec<Instance>,
    known: FxHashMap<Instance, u32>,
}

impl Interner {
    fn intern(&mut self, item: Instance) -> u32 {
        if let Some(&id) = self.known.get(&item) {
            return id;
        }
        let id = u32::try_from(self.items.len()).expect("fewer than 2^32 references");
        self.items.push(item.clone());
        self.known.insert(item, id);
        id
    }
}

/// Access.
impl ExprPool {
    /// An empty pool.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The operation of an expression.
    #[must_use]
    pub fn node(&self, e: ExprId) -> &Node {
        &self.nodes[e.0 as usize]
    }

    /// The type of an expression.
    #[must_use]
    pub fn ty(&self, e: ExprId) -> Ty {
        self.types[e.0 as usize]
    }

    /// Height of the tree that an expression stands for.
    #[must_use]
    pub fn depth(&self, e: ExprId) -> u32 {
        self.depths[e.0 as usize]
    }

    /// Number of expressions.
    #[must_use]
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether the pool is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// The literal value of a scalar, if it is one.
    #[must_use]
    pub fn literal(&self, e: ExprId) -> Option<f64> {
        match self.node(e) {
            Node::Num(bits) => Some(f64::from_bits(*bits)),
            _ => None,
        }
    }

    /// What a body reference stands for.
    #[must_use]
    pub fn body(&self, b: BodyRef) -> &Instance {
        &self.bodies.items[b.0 as usize]
    }

    /// What an element reference stands for.
    #[must_use]
    pub fn element(&self, e: ElementRef) -> &Instance {
        &self.elements.items[e.0 as usize]
    }

    /// Interns a body reference.
    pub fn body_ref(&mut self, decl: u32, indices: Vec<ExprId>) -> BodyRef {
        BodyRef(self.bodies.intern(Instance { decl, indices }))
    }

    /// Interns an element reference.
    pub fn element_ref(&mut self, decl: u32, indices: Vec<ExprId>) -> ElementRef {
        ElementRef(self.elements.intern(Instance { decl, indices }))
    }

    /// Declares a run-time parameter and gives its number.
    pub fn declare_param(&mut self, ty: Ty) -> u32 {
        self.params.push(ty);
        u32::try_from(self.params.len() - 1).expect("fewer than 2^32 parameters")
    }

    /// Declares a structural constant and gives its number.
    pub fn declare_const(&mut self, value: f64) -> u32 {
        self.consts.push(value);
        u32::try_from(self.consts.len() - 1).expect("fewer than 2^32 constants")
    }

    /// Values of the declared structural constants in order.
    #[must_use]
    pub fn consts(&self) -> &[f64] {
        &self.consts
    }

    /// Types of the declared parameters in order.
    #[must_use]
    pub fn params(&self) -> &[Ty] {
        &self.params
    }

    /// Declares an input and gives its number.
    pub fn declare_input(&mut self, ty: Ty) -> u32 {
        self.inputs.push(ty);
        u32::try_from(self.inputs.len() - 1).expect("fewer than 2^32 inputs")
    }

    /// Types of the declared inputs in order.
    #[must_use]
    pub fn inputs(&self) -> &[Ty] {
        &self.inputs
    }

    pub(super) fn known_product(&self, m: ExprId, a: ExprId) -> Option<ExprId> {
        self.products.get(&(m, a)).copied()
    }

    pub(super) fn remember_product(&mut self, m: ExprId, a: ExprId, result: ExprId) {
        self.products.insert((m, a), result);
    }

    pub(super) fn known_transpose(&self, m: ExprId) -> Option<ExprId> {
        self.transposes.get(&m).copied()
    }

    pub(super) fn remember_transpose(&mut self, m: ExprId, result: ExprId) {
        self.transposes.insert(m, result);
    }

    pub(super) fn intern(&mut self, node: Node, ty: Ty) -> ExprId {
        if let Some(&id) = self.known.get(&node) {
            return id;
        }
        let id = ExprId(u32::try_from(self.nodes.len()).expect("fewer than 2^32 expressions"));
        let depth = operands(&node).map(|a| self.depth(a)).max().unwrap_or(0).saturating_add(1);
        self.nodes.push(node.clone());
        self.types.push(ty);
        self.depths.push(depth);
        self.known.insert(node, id);
        id
    }
}
