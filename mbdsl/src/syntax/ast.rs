//! The syntax tree: owned names, a span on every node, no meaning.

use crate::source::Span;

/// A name as written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ident {
    /// The name.
    pub name: String,
    /// Where.
    pub span: Span,
}

/// A file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Document {
    /// `language 1;`
    pub language: Option<u64>,
    /// Imports, definitions and models in order.
    pub items: Vec<Item>,
}

/// A top-level item.
#[derive(Clone, Debug, PartialEq)]
pub struct Item {
    /// Lines of its `///` comment, without the slashes and one leading space.
    pub docs: Vec<String>,
    /// What it is.
    pub kind: ItemKind,
    /// Where, without the comment.
    pub span: Span,
}

/// Kinds of top-level items.
#[derive(Clone, Debug, PartialEq)]
pub enum ItemKind {
    /// `import "path" as name;`
    Import(Import),
    /// `define joint Name(...) { ... }`
    Define(Define),
    /// `define fn name(...) = expr;`
    Function(Function),
    /// `model Name { ... }`
    Model(Model),
}

/// `import "path" as name;`
#[derive(Clone, Debug, PartialEq)]
pub struct Import {
    /// The path as written.
    pub path: String,
    /// The name after `as`.
    pub alias: Option<Ident>,
}

/// What a `define` block makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DefineKind {
    /// `define body`
    Body,
    /// `define joint`
    Joint,
    /// `define force`
    Force,
    /// `define contact`
    Contact,
    /// `define part`
    Part,
}

/// `define joint Name(formals) { ... }`
#[derive(Clone, Debug, PartialEq)]
pub struct Define {
    /// What it makes.
    pub kind: DefineKind,
    /// Its name.
    pub name: Ident,
    /// Its parameters.
    pub formals: Vec<Formal>,
    /// Its statements.
    pub body: Block,
}

/// `define fn name(formals) = value;`
#[derive(Clone, Debug, PartialEq)]
pub struct Function {
    /// Its name.
    pub name: Ident,
    /// Its parameters.
    pub formals: Vec<Formal>,
    /// Its value.
    pub value: Expr,
}

/// `model Name(formals) { ... }`
#[derive(Clone, Debug, PartialEq)]
pub struct Model {
    /// Its name.
    pub name: Ident,
    /// Its parameters (used by `part`).
    pub formals: Vec<Formal>,
    /// Its statements.
    pub body: Block,
}

/// A parameter of a definition, with its default.
#[derive(Clone, Debug, PartialEq)]
pub struct Formal {
    /// Its name.
    pub name: Ident,
    /// Its default.
    pub default: Option<Expr>,
}

/// `{ statements }`
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Block {
    /// The statements in order.
    pub stmts: Vec<Stmt>,
    /// Where, braces included.
    pub span: Span,
}

/// A statement.
#[derive(Clone, Debug, PartialEq)]
pub struct Stmt {
    /// Lines of its `///` comment.
    pub docs: Vec<String>,
    /// What it is.
    pub kind: StmtKind,
    /// Where, from its first word to its `;` or `}`.
    pub span: Span,
}

/// Kinds of statements of the form `kind name = value;`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueKind {
    /// `param`
    Param,
    /// `const`
    Const,
    /// `input`
    Input,
    /// `let`
    Let,
    /// `output`
    Output,
    /// `point`
    Point,
    /// `frame`
    Frame,
}

/// Kinds of statements of the form `kind name: Type(args)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TypedKind {
    /// `body b: Bar(l) { ... }`
    Body,
    /// `joint j: spherical(p, q);`
    Joint,
    /// `contact c: Kind(p, q);`
    Contact,
    /// `force f: spring(p, q, k = ..);`
    Force,
    /// `part p: Model(..) { ... }`
    Part,
    /// `solid s: box(..);`
    Solid,
}

/// Kinds of statements.
#[derive(Clone, Debug, PartialEq)]
pub enum StmtKind {
    /// `param m = 5 kg;` and its like.
    Value {
        /// Which.
        kind: ValueKind,
        /// Name and index set.
        target: Target,
        /// The value.
        value: Expr,
    },
    /// `check name: condition;`
    Check {
        /// Name and index set.
        label: Option<Target>,
        /// The condition.
        condition: Expr,
    },
    /// `potential e: expr;`
    Potential {
        /// Name and index set.
        label: Option<Target>,
        /// The energy.
        value: Expr,
    },
    /// `dissipation d: expr;`
    Dissipation {
        /// Name and index set.
        label: Option<Target>,
        /// The Rayleigh function.
        value: Expr,
    },
    /// `constraint c: lhs == rhs;`
    Constraint {
        /// Name and index set.
        label: Option<Target>,
        /// The equation.
        equation: Expr,
    },
    /// `force f on target, reaction: vector;`
    Force(Load),
    /// `torque t on target, reaction: vector;`
    Torque(Load),
    /// `joint j: kind(args) { ... }` and its like.
    Typed {
        /// Which.
        kind: TypedKind,
        /// Name and index set.
        target: Target,
        /// Path of the type: `revolute`, `bars.Arm`.
        path: Vec<Ident>,
        /// Its arguments.
        args: Vec<Arg>,
        /// Its block.
        block: Option<Block>,
    },
    /// `body b { ... }`
    Body {
        /// Name and index set.
        target: Target,
        /// Its statements.
        block: Block,
    },
    /// `particle p { ... }`
    Particle {
        /// Name and index set.
        target: Target,
        /// Its statements.
        block: Block,
    },
    /// `ground { ... }`
    Ground(Block),
    /// `simulate { ... }`
    Simulate(Block),
    /// `event e: when cond { ... }`
    Event {
        /// Name and index set.
        label: Option<Target>,
        /// The condition.
        condition: Expr,
        /// What happens.
        block: Option<Block>,
    },
    /// `use cylindrical(p, q);` inside a definition.
    Use {
        /// Path of the type.
        path: Vec<Ident>,
        /// Its arguments.
        args: Vec<Arg>,
    },
    /// `record every 0.5 ms;`
    Record(Expr),
    /// `stop;`
    Stop,
    /// `name = value;`
    Setting {
        /// Name.
        name: Ident,
        /// Value; a bare word such as `report` or `allow` is an `ExprKind::Name`.
        value: Expr,
    },
    /// `define fn f(x) = expr;`
    Function(Function),
    /// `define joint ... { ... }`
    Define(Define),
}

/// `force f on target, reaction: value;`
#[derive(Clone, Debug, PartialEq)]
pub struct Load {
    /// Name and index set.
    pub target: Target,
    /// What it acts on.
    pub on: Expr,
    /// What takes the opposite.
    pub reaction: Option<Expr>,
    /// The vector.
    pub value: Expr,
}

/// A declared name with its index set.
#[derive(Clone, Debug, PartialEq)]
pub struct Target {
    /// The name.
    pub name: Ident,
    /// The index set, if any.
    pub set: Option<IndexSet>,
}

/// `[i in 0..N, j in 0..i where i != j]`
#[derive(Clone, Debug, PartialEq)]
pub struct IndexSet {
    /// The indices in order.
    pub ranges: Vec<Range>,
    /// The condition after `where`.
    pub filter: Option<Expr>,
    /// Where, brackets included.
    pub span: Span,
}

/// `i in lo..hi` (half open), or `p in bodies`.
#[derive(Clone, Debug, PartialEq)]
pub struct Range {
    /// The index.
    pub name: Ident,
    /// Lower end, or the set.
    pub lo: Expr,
    /// Upper end, excluded; absent for a set.
    pub hi: Option<Expr>,
}

/// An expression.
#[derive(Clone, Debug, PartialEq)]
pub struct Expr {
    /// What it is.
    pub kind: ExprKind,
    /// Where.
    pub span: Span,
}

/// Kinds of expressions.
#[derive(Clone, Debug, PartialEq)]
pub enum ExprKind {
    /// `5`, `5 kg`, `5 [N/m]`
    Number {
        /// The number.
        value: f64,
        /// As written, so that printing gives it back.
        text: String,
        /// Its unit.
        unit: Option<Unit>,
    },
    /// `[x, y, z] mm`
    Vector {
        /// The entries (vectors again for a matrix).
        items: Vec<Expr>,
        /// Its unit.
        unit: Option<Unit>,
    },
    /// `a`
    Name(String),
    /// `a.b`
    Field(Box<Expr>, Ident),
    /// `a[i, j]`
    Subscript(Box<Expr>, Vec<Expr>),
    /// `f(x, k = 2)`
    Call(Box<Expr>, Vec<Arg>),
    /// `-a`, `!a`
    Unary(UnaryOp, Box<Expr>),
    /// `a + b`
    Binary(BinaryOp, Box<Expr>, Box<Expr>),
}

/// An argument of a call.
#[derive(Clone, Debug, PartialEq)]
pub enum Arg {
    /// `x`
    Positional(Expr),
    /// `k = x`
    Named(Ident, Expr),
    /// `i in 0..N`
    Over(Range),
}

/// Unary operators.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnaryOp {
    /// `-`
    Neg,
    /// `!`
    Not,
}

/// Binary operators.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BinaryOp {
    /// `+`
    Add,
    /// `-`
    Sub,
    /// `*`
    Mul,
    /// `/`
    Div,
    /// `%`
    Rem,
    /// `^`
    Pow,
    /// `==`
    Eq,
    /// `!=`
    Ne,
    /// `<`
    Lt,
    /// `<=`
    Le,
    /// `>`
    Gt,
    /// `>=`
    Ge,
    /// `&&`
    And,
    /// `||`
    Or,
}

/// A unit: factors with their exponents.
#[derive(Clone, Debug, PartialEq)]
pub struct Unit {
    /// `kg*m^2/s` as `[(kg, 1/1), (m, 2/1), (s, -1/1)]`; the plain `1` is left out.
    pub factors: Vec<UnitFactor>,
    /// Whether it stood in brackets.
    pub bracketed: bool,
    /// Where.
    pub span: Span,
}

/// One factor of a unit.
#[derive(Clone, Debug, PartialEq)]
pub struct UnitFactor {
    /// Unit word.
    pub name: Ident,
    /// Numerator of the exponent, negative after `/`.
    pub num: i32,
    /// Denominator of the exponent.
    pub den: i32,
}
