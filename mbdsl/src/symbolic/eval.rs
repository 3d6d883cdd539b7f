//! Evaluates expressions with numbers: the meaning that every back end is tested against.

use rustc_hash::FxHashMap;

use super::pool::{BodyRef, Cmp, ElementRef, ExprId, ExprPool, Fun, Fun2, Global, Node, Quantity, Reduction, Ty};
use super::special;
use super::walk::reachable;

/// A value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value {
    /// A number.
    Scalar(f64),
    /// A vector.
    Vec3([f64; 3]),
    /// A matrix or rotation, by rows.
    Mat3([[f64; 3]; 3]),
    /// A truth value.
    Bool(bool),
}

impl Value {
    /// The number.
    ///
    /// # Panics
    /// If it is something else.
    #[must_use]
    pub fn scalar(self) -> f64 {
        match self {
            Self::Scalar(x) => x,
            Self::Vec3(_) | Self::Mat3(_) | Self::Bool(_) => panic!("a scalar is expected, not {self:?}"),
        }
    }

    /// The vector.
    ///
    /// # Panics
    /// If it is something else.
    #[must_use]
    pub fn vec3(self) -> [f64; 3] {
        match self {
            Self::Vec3(a) => a,
            Self::Scalar(_) | Self::Mat3(_) | Self::Bool(_) => panic!("a vec3 is expected, not {self:?}"),
        }
    }

    /// The matrix.
    ///
    /// # Panics
    /// If it is something else.
    #[must_use]
    pub fn mat3(self) -> [[f64; 3]; 3] {
        match self {
            Self::Mat3(m) => m,
            Self::Scalar(_) | Self::Vec3(_) | Self::Bool(_) => panic!("a mat3 is expected, not {self:?}"),
        }
    }

    /// The truth value.
    ///
    /// # Panics
    /// If it is something else.
    #[must_use]
    pub fn truth(self) -> bool {
        match self {
            Self::Bool(b) => b,
            Self::Scalar(_) | Self::Vec3(_) | Self::Mat3(_) => panic!("a truth value is expected, not {self:?}"),
        }
    }

    /// The components in order; a truth value is 0 or 1.
    #[must_use]
    pub fn components(self) -> Vec<f64> {
        match self {
            Self::Scalar(x) => vec![x],
            Self::Vec3(a) => a.to_vec(),
            Self::Mat3(m) => m.concat(),
            Self::Bool(b) => vec![f64::from(u8::from(b))],
        }
    }

    fn map(self, f: impl Fn(f64) -> f64) -> Self {
        match self {
            Self::Scalar(x) => Self::Scalar(f(x)),
            Self::Vec3(a) => Self::Vec3(a.map(f)),
            Self::Mat3(m) => Self::Mat3(m.map(|row| row.map(&f))),
            Self::Bool(_) => panic!("a truth value has no arithmetic"),
        }
    }

    fn zip(self, other: Self, f: impl Fn(f64, f64) -> f64) -> Self {
        match self {
            Self::Scalar(x) => Self::Scalar(f(x, other.scalar())),
            Self::Vec3(a) => {
                let b = other.vec3();
                Self::Vec3([0, 1, 2].map(|i| f(a[i], b[i])))
            }
            Self::Mat3(m) => {
                let n = other.mat3();
                Self::Mat3([0, 1, 2].map(|i| [0, 1, 2].map(|j| f(m[i][j], n[i][j]))))
            }
            Self::Bool(_) => panic!("a truth value has no arithmetic"),
        }
    }
}

/// What the leaves are worth. `indices` are the values of the indices of a body or element.
///
/// The methods provided panic: an expression names something that its surroundings do not have. The exceptions are
/// `start`, `at` and `final_value`, which by default leave the expression to be evaluated as of now.
pub trait Env {
    /// A parameter.
    fn param(&self, k: u32) -> Value {
        panic!("parameter {k} has no value here")
    }

    /// An input.
    fn input(&self, k: u32) -> Value {
        panic!("input {k} has no value here")
    }

    /// An index variable that no reduction binds.
    fn index(&self, k: u32) -> f64 {
        panic!("index variable {k} has no value here")
    }

    /// Time.
    fn time(&self) -> f64 {
        panic!("time has no value here")
    }

    /// State of a body.
    fn state(&self, what: Quantity, body: BodyRef, _indices: &[f64]) -> Value {
        panic!("{what:?} of {body:?} has no value here")
    }

    /// Last accepted value of a continuous angle.
    fn memory(&self, element: ElementRef, site: u32, _indices: &[f64]) -> f64 {
        panic!("angle {site} of {element:?} has no value here")
    }

    /// Multipliers.
    fn lambda(&self, element: ElementRef, group: u32, _indices: &[f64]) -> Value {
        panic!("multipliers {group} of {element:?} have no value here")
    }

    /// A contraction symbol.
    fn symbol(&self, k: u32, _ty: Ty) -> Value {
        panic!("symbol {k} has no value here")
    }

    /// A quantity of the whole model.
    fn global(&self, what: Global) -> Value {
        panic!("{what:?} has no value here")
    }

    /// The value of `e` at the assembled start.
    fn start(&self, _e: ExprId) -> Option<Value> {
        None
    }

    /// The value of `e` at a time.
    fn at(&self, _time: f64, _e: ExprId) -> Option<Value> {
        None
    }

    /// The value of `e` at the end of the run.
    fn final_value(&self, _e: ExprId) -> Option<Value> {
        None
    }
}

/// Surroundings without anything: literals only.
#[derive(Clone, Copy, Debug, Default)]
pub struct Nothing;

impl Env for Nothing {}

/// The values of the roots.
///
/// # Panics
/// If the environment has no value for a leaf that occurs.
#[must_use]
pub fn eval(pool: &ExprPool, roots: &[ExprId], env: &impl Env) -> Vec<Value> {
    Scope { pool, env, bound: Vec::new() }.run(roots)
}

/// An environment and the index variables that reductions bind, innermost last.
struct Scope<'a, E> {
    pool: &'a ExprPool,
    env: &'a E,
    bound: Vec<(u32, f64)>,
}

impl<E: Env> Scope<'_, E> {
    fn run(&mut self, roots: &[ExprId]) -> Vec<Value> {
        let whole = |node: &Node| !matches!(node, Node::Start(_) | Node::At(..) | Node::Final(_) | Node::Reduce { .. });
        let mut values = FxHashMap::default();
        for e in reachable(self.pool, roots, whole) {
            let value = self.node(e, &values);
            values.insert(e, value);
        }
        roots.iter().map(|e| values[e]).collect()
    }

    fn one(&mut self, e: ExprId) -> Value {
        self.run(&[e])[0]
    }

    fn indices(&mut self, indices: &[ExprId]) -> Vec<f64> {
        self.run(indices).into_iter().map(Value::scalar).collect()
    }

    fn node(&mut self, e: ExprId, known: &FxHashMap<ExprId, Value>) -> Value {
        let pool = self.pool;
        let s = |a: ExprId| known[&a].scalar();
        let v = |a: ExprId| known[&a].vec3();
        let m = |a: ExprId| known[&a].mat3();
        let b = |a: ExprId| known[&a].truth();
        match *pool.node(e) {
            Node::Num(bits) => Value::Scalar(f64::from_bits(bits)),
            Node::Truth(x) => Value::Bool(x),
            Node::Param(k) => self.env.param(k),
            Node::Const(k) => Value::Scalar(self.pool.consts()[k as usize]),
            Node::Input(k) => self.env.input(k),
            Node::Index(k) => {
                let bound = self.bound.iter().rev().find(|(index, _)| *index == k);
                Value::Scalar(bound.map_or_else(|| self.env.index(k), |(_, i)| *i))
            }
            Node::Time => Value::Scalar(self.env.time()),
            Node::State(what, body) => {
                let indices = self.indices(&pool.body(body).indices);
                self.env.state(what, body, &indices)
            }
            Node::Memory(element, site) => {
                let indices = self.indices(&pool.element(element).indices);
                Value::Scalar(self.env.memory(element, site, &indices))
            }
            Node::Lambda(element, group, _) => {
                let indices = self.indices(&pool.element(element).indices);
                self.env.lambda(element, group, &indices)
            }
            Node::Symbol(k, ty) => self.env.symbol(k, ty),
            Node::Global(what) => self.env.global(what),
            Node::Start(a) => self.env.start(a).unwrap_or_else(|| self.one(a)),
            Node::At(time, a) => {
                let time = self.one(time).scalar();
                self.env.at(time, a).unwrap_or_else(|| self.one(a))
            }
            Node::Final(a) => self.env.final_value(a).unwrap_or_else(|| self.one(a)),
            Node::Reduce { how, index, lo, hi, body } => self.reduce(how, index, (lo, hi), body),
            Node::Neg(a) => known[&a].map(|x| -x),
            Node::Add(a, b) => known[&a].zip(known[&b], |x, y| x + y),
            Node::Sub(a, b) => known[&a].zip(known[&b], |x, y| x - y),
            Node::Mul(a, b) => Value::Scalar(s(a) * s(b)),
            Node::Div(a, b) => Value::Scalar(s(a) / s(b)),
            Node::Scale(a, b) => {
                let factor = s(a);
                known[&b].map(|x| factor * x)
            }
            Node::PowInt(a, n) => {
                let p = (0..n.unsigned_abs()).fold(1.0, |p, _| p * s(a));
                Value::Scalar(if n < 0 { 1.0 / p } else { p })
            }
            Node::Fun(f, a) => Value::Scalar(fun(f, s(a))),
            Node::Fun2(f, a, b) => Value::Scalar(fun2(f, s(a), s(b))),
            Node::Cmp(how, a, b) => Value::Bool(match how {
                Cmp::Lt => s(a) < s(b),
                Cmp::Le => s(a) <= s(b),
                Cmp::Eq => s(a) == s(b),
                Cmp::Ne => s(a) != s(b),
            }),
            Node::And(p, q) => Value::Bool(b(p) && b(q)),
            Node::Or(p, q) => Value::Bool(b(p) || b(q)),
            Node::Not(p) => Value::Bool(!b(p)),
            Node::Select(c, p, q) => known[if b(c) { &p } else { &q }],
            Node::Vec(x, y, z) => Value::Vec3([s(x), s(y), s(z)]),
            Node::Comp(a, k) => Value::Scalar(v(a)[usize::from(k)]),
            Node::Dot(p, q) => Value::Scalar(special::dot(v(p), v(q))),
            Node::Cross(p, q) => Value::Vec3(special::cross(v(p), v(q))),
            Node::MatVec(p, a) => Value::Vec3(special::mat_vec(m(p), v(a))),
            Node::MatMul(p, q) => Value::Mat3(special::mat_mul(m(p), m(q))),
            Node::Transpose(p) => Value::Mat3(special::transpose(m(p))),
            Node::Skew(a) => Value::Mat3(special::skew(v(a))),
            Node::Outer(p, q) => Value::Mat3(v(p).map(|x| v(q).map(|y| x * y))),
            Node::Diag(a) => {
                let [x, y, z] = v(a);
                Value::Mat3([[x, 0.0, 0.0], [0.0, y, 0.0], [0.0, 0.0, z]])
            }
            Node::Rows(x, y, z) => Value::Mat3([v(x), v(y), v(z)]),
            Node::Row(p, k) => Value::Vec3(m(p)[usize::from(k)]),
            Node::About(axis, angle) => Value::Mat3(special::about(v(axis), s(angle))),
            Node::ExpSo3(a) => Value::Mat3(special::exp_so3(v(a))),
            Node::LogSo3(p) => Value::Vec3(special::log_so3(m(p))),
            Node::Perp1(a) => Value::Vec3(special::perp(v(a)).0),
            Node::Perp2(a) => Value::Vec3(special::perp(v(a)).1),
            Node::Identity => Value::Mat3([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]),
            Node::ZeroVec => Value::Vec3([0.0; 3]),
            Node::ZeroMat => Value::Mat3([[0.0; 3]; 3]),
        }
    }

    /// A reduction over `lo..hi`; over nothing, the sum is 0, the smallest inf, the largest -inf, the mean NaN.
    fn reduce(&mut self, how: Reduction, index: u32, (lo, hi): (ExprId, ExprId), body: ExprId) -> Value {
        let (lo, hi) = (self.one(lo).scalar(), self.one(hi).scalar());
        let mut items = Vec::new();
        let mut i = lo;
        while i < hi {
            self.bound.push((index, i));
            items.push(self.one(body).scalar());
            self.bound.pop();
            i += 1.0;
        }
        let sum = items.iter().fold(0.0, |s, x| s + x);
        Value::Scalar(match how {
            Reduction::Sum => sum,
            Reduction::Mean => sum / (hi - lo),
            Reduction::Min => items.iter().fold(f64::INFINITY, |p, &x| if x < p { x } else { p }),
            Reduction::Max => items.iter().fold(f64::NEG_INFINITY, |p, &x| if x > p { x } else { p }),
        })
    }
}

/// A function of one number.
#[must_use]
pub fn fun(f: Fun, x: f64) -> f64 {
    match f {
        Fun::Sqrt => libm::sqrt(x),
        Fun::Sin => libm::sin(x),
        Fun::Cos => libm::cos(x),
        Fun::Tan => libm::tan(x),
        Fun::Asin => libm::asin(x),
        Fun::Acos => libm::acos(x),
        Fun::Exp => libm::exp(x),
        Fun::Ln => libm::log(x),
        Fun::Abs => libm::fabs(x),
        Fun::Sign if x > 0.0 => 1.0,
        Fun::Sign if x < 0.0 => -1.0,
        // Zero, or not a number.
        Fun::Sign => x,
        Fun::Floor => libm::floor(x),
        Fun::Stumpff(k) => special::stumpff(k, x),
        Fun::LogCoefficient(n) => special::log_coefficient(n, x),
    }
}

/// A function of two numbers.
#[must_use]
pub fn fun2(f: Fun2, x: f64, y: f64) -> f64 {
    match f {
        Fun2::Atan2 => libm::atan2(x, y),
        Fun2::Min => {
            if x < y {
                x
            } else {
                y
            }
        }
        Fun2::Max => {
            if x > y {
                x
            } else {
                y
            }
        }
        Fun2::Pow => libm::pow(x, y),
        Fun2::Mod => special::modulo(x, y),
        Fun2::Unwrap => special::unwrap_angle(x, y),
    }
}

#[cfg(test)]
mod tests;
