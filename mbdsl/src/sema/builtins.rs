//! Functions of the language: names without a declaration, calls, and user functions, which are inlined.

use std::rc::Rc;

use super::error::{SemaError, nearest};
use super::expr::shape;
use super::scope::{Decl, Scope};
use super::value::{Frame, Point, Quantity, Value};
use super::{Checker, R};
use crate::source::Span;
use crate::symbolic::{Cmp, ExprId, Fun, Fun2, Global, Reduction, Ty};
use crate::syntax::ast::{Arg, Expr, ExprKind, Range};
use crate::units::Dim;

/// Names that mean something without a declaration.
pub(super) const NAMES: [&str; 8] =
    ["time", "pi", "energy", "kinetic_energy", "potential_energy", "momentum", "ground", "start"];

/// Functions with an example call.
const FUNCTIONS: [(&str, &str); 43] = [
    ("sin", "sin(x)"),
    ("cos", "cos(x)"),
    ("tan", "tan(x)"),
    ("asin", "asin(x)"),
    ("acos", "acos(x)"),
    ("atan2", "atan2(y, x)"),
    ("exp", "exp(x)"),
    ("log", "log(x)"),
    ("sqrt", "sqrt(x)"),
    ("abs", "abs(x)"),
    ("min", "min(a, b)"),
    ("max", "max(a, b)"),
    ("select", "select(x > 0, a, b)"),
    ("dot", "dot(a, b)"),
    ("cross", "cross(a, b)"),
    ("norm", "norm(a)"),
    ("norm2", "norm2(a)"),
    ("dist", "dist(p.pos, q.pos)"),
    ("transpose", "transpose(A)"),
    ("trace", "trace(A)"),
    ("diag", "diag([1, 2, 3])"),
    ("skew", "skew(a)"),
    ("about", "about([0, 0, 1], 90 deg)"),
    ("exp_so3", "exp_so3([0, 0, 0.1])"),
    ("log_so3", "log_so3(body.rot)"),
    ("perp1", "perp1([0, 0, 1])"),
    ("perp2", "perp2([0, 0, 1])"),
    ("turn", "turn(p, q, axis, axis_b)"),
    ("start", "start(x)"),
    ("at", "at(1 s, x)"),
    ("final", "final(x)"),
    ("sum", "sum(i in 0..N, body[i].pos.z)"),
    ("mean", "mean(i in 0..N, body[i].pos.z)"),
    ("fixed", "pos = fixed([0, 0, 1] m)"),
    ("guess", "pos = guess([0, 0, 1] m)"),
    ("rod", "inertia = rod(length = 1 m)"),
    ("sphere", "inertia = sphere(radius = 10 mm)"),
    ("cylinder", "inertia = cylinder(radius = 10 mm, length = 1 m)"),
    ("box", "inertia = box([1, 1, 1] m)"),
    ("disc", "inertia = disc(radius = 10 mm)"),
    ("cone", "inertia = cone(radius = 10 mm, height = 1 m)"),
    ("tube", "inertia = tube(outer = 10 mm, inner = 9 mm, length = 1 m)"),
    ("shell", "inertia = shell(radius = 10 mm)"),
];

pub(super) fn example(name: &str) -> String {
    FUNCTIONS.iter().find(|(n, _)| *n == name).map_or_else(|| format!("{name}(...)"), |(_, e)| (*e).to_owned())
}

fn plain(e: ExprId) -> Quantity {
    Quantity { e, dim: Some(Dim::ONE) }
}

impl<'a> Checker<'a> {
    pub(super) fn builtin_name(&mut self, name: &str) -> Option<Value<'a>> {
        let energy = |this: &mut Self, what| Quantity { e: this.pool.global(what), dim: Some(Dim::ENERGY) };
        Some(match name {
            "time" => Value::Quantity(Quantity { e: self.pool.time(), dim: Some(Dim::TIME) }),
            "pi" => Value::Quantity(plain(self.pool.num(std::f64::consts::PI))),
            "energy" => Value::Quantity(energy(self, Global::Energy)),
            "kinetic_energy" => Value::Quantity(energy(self, Global::Kinetic)),
            "potential_energy" => Value::Quantity(energy(self, Global::Potential)),
            "momentum" => Value::Momentum,
            "ground" => Value::Frame(Frame::Ground),
            "start" => Value::Start,
            _ => return None,
        })
    }

    pub(super) fn call(
        &mut self,
        expr: &'a Expr,
        callee: &'a Expr,
        args: &'a [Arg],
        scope: &Rc<Scope<'a>>,
    ) -> R<Value<'a>> {
        let name = match &callee.kind {
            ExprKind::Name(name) => name.as_str(),
            ExprKind::Field(base, method) if method.name == "dir" => {
                let [Arg::Positional(v)] = args else {
                    return self.arguments(expr.span, "dir", "takes one vector", "top.tip.dir([0, 0, 1])");
                };
                return self.direction(base, v, scope);
            }
            _ => {
                let name = self.source(callee.span).to_owned();
                return self.fail(SemaError::UnknownFunction { span: callee.span, name, near: None });
            }
        };
        if let Some((owner, Decl::Function(function))) = scope.find(name) {
            if self.depth > 64 {
                return self.fail(SemaError::Recursion { span: expr.span, name: name.to_owned() });
            }
            let inner = self.bind_arguments(name, expr.span, &function.formals, args, scope, &owner)?;
            self.depth += 1;
            let result = self.eval(&function.value, &Rc::new(inner));
            self.depth -= 1;
            return result;
        }
        if let [Arg::Over(range), Arg::Positional(body)] = args {
            return self.reduction(expr, name, range, body, scope).map(Value::Quantity);
        }
        let mut list = Vec::with_capacity(args.len());
        for arg in args {
            match arg {
                Arg::Positional(e) => list.push(e),
                Arg::Named(..) | Arg::Over(_) => {
                    if FUNCTIONS.iter().any(|(n, _)| *n == name) && !super::shapes::is_shape(name) {
                        return self.arguments(expr.span, name, "takes its arguments by position", &example(name));
                    }
                }
            }
        }
        self.function(expr, name, callee.span, &list, scope).map(Value::Quantity)
    }

    pub(super) fn arguments<T>(&mut self, span: Span, name: &str, problem: &str, example: &str) -> R<T> {
        self.fail(SemaError::Arguments { span, name: name.into(), problem: problem.into(), example: example.into() })
    }

    /// Functions with positional arguments.
    fn function(
        &mut self,
        expr: &'a Expr,
        name: &str,
        at: Span,
        args: &[&'a Expr],
        scope: &Rc<Scope<'a>>,
    ) -> R<Quantity> {
        let count = |this: &mut Self, n: usize| {
            if args.len() == n {
                return Ok(());
            }
            let problem = match n {
                1 => format!("takes one argument, here are {}", args.len()),
                n => format!("takes {n} arguments, here are {}", args.len()),
            };
            this.arguments(expr.span, name, &problem, &example(name))
        };
        match name {
            "sin" | "cos" | "tan" | "asin" | "acos" | "exp" | "log" => {
                count(self, 1)?;
                let x = self.scalar(args[0], scope)?;
                let x = self.with_dim(x, Dim::ONE, &format!("the argument of `{name}`"), args[0].span)?;
                let f = match name {
                    "sin" => Fun::Sin,
                    "cos" => Fun::Cos,
                    "tan" => Fun::Tan,
                    "asin" => Fun::Asin,
                    "acos" => Fun::Acos,
                    "exp" => Fun::Exp,
                    _ => Fun::Ln,
                };
                Ok(plain(self.pool.fun(f, x.e)))
            }
            "sqrt" => {
                count(self, 1)?;
                let x = self.scalar(args[0], scope)?;
                let dim = match x.dim {
                    None => None,
                    Some(d) => match d.pow(1, 2) {
                        Some(d) => Some(d),
                        None => {
                            return self.fail(SemaError::BadPower { span: expr.span, why: "this root has no unit" });
                        }
                    },
                };
                Ok(Quantity { e: self.pool.fun(Fun::Sqrt, x.e), dim })
            }
            "abs" => {
                count(self, 1)?;
                let x = self.scalar(args[0], scope)?;
                Ok(Quantity { e: self.pool.fun(Fun::Abs, x.e), dim: x.dim })
            }
            "atan2" | "min" | "max" => {
                if name != "atan2" && args.len() > 2 {
                    return self.fold_extremes(expr, name, args, scope);
                }
                count(self, 2)?;
                let (x, y) = (self.scalar(args[0], scope)?, self.scalar(args[1], scope)?);
                let dim = self.same_dim("compare", expr.span, (x, args[0].span), (y, args[1].span))?;
                let f = match name {
                    "atan2" => Fun2::Atan2,
                    "min" => Fun2::Min,
                    _ => Fun2::Max,
                };
                let e = self.pool.fun2(f, x.e, y.e);
                Ok(Quantity { e, dim: if name == "atan2" { Some(Dim::ONE) } else { dim } })
            }
            "select" => {
                count(self, 3)?;
                let c = self.truth(args[0], scope)?;
                let (x, y) = (self.quantity(args[1], scope)?, self.quantity(args[2], scope)?);
                let dim = self.same_dim("choose between", expr.span, (x, args[1].span), (y, args[2].span))?;
                if self.pool.ty(x.e).len() != self.pool.ty(y.e).len() {
                    let (left, right) = (shape(self.pool.ty(x.e)), shape(self.pool.ty(y.e)));
                    return self.fail(SemaError::Shapes { span: expr.span, op: "choose between", left, right });
                }
                Ok(Quantity { e: self.pool.select(c, x.e, y.e), dim })
            }
            "dot" | "cross" | "dist" => {
                count(self, 2)?;
                let (x, y) = (self.vec3(args[0], scope)?, self.vec3(args[1], scope)?);
                if name == "dist" {
                    let dim = self.same_dim("subtract", expr.span, (x, args[0].span), (y, args[1].span))?;
                    let d = self.pool.sub(x.e, y.e);
                    return Ok(Quantity { e: self.pool.norm(d), dim });
                }
                let dim = x.dim.zip(y.dim).map(|(a, b)| a.times(b));
                let e = if name == "dot" { self.pool.dot(x.e, y.e) } else { self.pool.cross(x.e, y.e) };
                Ok(Quantity { e, dim })
            }
            "norm" | "norm2" | "skew" | "diag" | "perp1" | "perp2" | "exp_so3" => {
                count(self, 1)?;
                let x = self.vec3(args[0], scope)?;
                self.of_vector(name, x, args[0].span)
            }
            "transpose" | "trace" | "log_so3" => {
                count(self, 1)?;
                let x = self.quantity(args[0], scope)?;
                let x = self.of_type(x, Ty::Mat3, args[0].span)?;
                match name {
                    "transpose" => Ok(Quantity { e: self.pool.transpose(x.e), dim: x.dim }),
                    "trace" => Ok(Quantity { e: self.pool.trace(x.e), dim: x.dim }),
                    _ if self.pool.ty(x.e) == Ty::Rot => Ok(plain(self.pool.log_so3(x.e))),
                    _ => self.fail(SemaError::Expected {
                        span: args[0].span,
                        expected: "a rotation",
                        found: "a general matrix".into(),
                    }),
                }
            }
            "about" => {
                count(self, 2)?;
                let (axis, angle) = (self.vec3(args[0], scope)?, self.scalar(args[1], scope)?);
                if self.pool.is_zero(axis.e) {
                    let found = "the zero vector".to_owned();
                    return self.fail(SemaError::Expected { span: args[0].span, expected: "an axis", found });
                }
                let angle = self.with_dim(angle, Dim::ONE, "an angle", args[1].span)?;
                Ok(plain(self.pool.about(axis.e, angle.e)))
            }
            "turn" => {
                if args.len() != 3 {
                    count(self, 4)?;
                }
                let (p, q) = (self.point(args[0], scope)?, self.point(args[1], scope)?);
                let a = self.axis(args[2], scope)?;
                let b = self.axis(args.get(3).unwrap_or(&args[2]), scope)?;
                self.turn(expr.span, &p, &q, a, b, scope)
            }
            "start" => {
                count(self, 1)?;
                let x = self.quantity(args[0], scope)?;
                Ok(Quantity { e: self.pool.start(x.e), dim: x.dim })
            }
            "final" => {
                count(self, 1)?;
                let x = self.quantity(args[0], scope)?;
                Ok(Quantity { e: self.pool.final_value(x.e), dim: x.dim })
            }
            "at" => {
                count(self, 2)?;
                let (t, x) = (self.scalar(args[0], scope)?, self.quantity(args[1], scope)?);
                let t = self.with_dim(t, Dim::TIME, "the time of `at`", args[0].span)?;
                self.constant_of_motion(t.e, args[0].span, "the time of `at`")?;
                Ok(Quantity { e: self.pool.at(t.e, x.e), dim: x.dim })
            }
            "sum" | "mean" => self.arguments(expr.span, name, "runs over a range", &example(name)),
            "fixed" | "guess" => {
                self.fail(SemaError::Misplaced { span: at, what: "`fixed` and `guess`", place: "an expression" })
            }
            _ if super::shapes::is_shape(name) => {
                self.fail(SemaError::Misplaced { span: at, what: "a shape", place: "an expression" })
            }
            _ => {
                let near = nearest(name, FUNCTIONS.iter().map(|(n, _)| *n).chain(scope.in_sight()));
                self.fail(SemaError::UnknownFunction { span: at, name: name.to_owned(), near })
            }
        }
    }

    fn fold_extremes(&mut self, expr: &'a Expr, name: &str, args: &[&'a Expr], scope: &Rc<Scope<'a>>) -> R<Quantity> {
        let f = if name == "min" { Fun2::Min } else { Fun2::Max };
        let mut all = self.scalar(args[0], scope)?;
        for arg in &args[1..] {
            let x = self.scalar(arg, scope)?;
            let dim = self.same_dim("compare", expr.span, (all, args[0].span), (x, arg.span))?;
            all = Quantity { e: self.pool.fun2(f, all.e, x.e), dim };
        }
        Ok(all)
    }

    fn of_vector(&mut self, name: &str, x: Quantity, span: Span) -> R<Quantity> {
        Ok(match name {
            "norm" => Quantity { e: self.pool.norm(x.e), dim: x.dim },
            "norm2" => Quantity { e: self.pool.dot(x.e, x.e), dim: x.dim.map(|d| d.times(d)) },
            "skew" => Quantity { e: self.pool.skew(x.e), dim: x.dim },
            "diag" => Quantity { e: self.pool.diag(x.e), dim: x.dim },
            "perp1" | "perp2" => {
                self.constant_of_motion(x.e, span, "the axis of a triad")?;
                plain(if name == "perp1" { self.pool.perp1(x.e) } else { self.pool.perp2(x.e) })
            }
            _ => {
                let x = self.with_dim(x, Dim::ONE, "a rotation vector", span)?;
                plain(self.pool.exp_so3(x.e))
            }
        })
    }

    /// An axis that does not move in its frame.
    pub(super) fn axis(&mut self, expr: &'a Expr, scope: &Rc<Scope<'a>>) -> R<ExprId> {
        let axis = self.vec3(expr, scope)?;
        self.constant_of_motion(axis.e, expr.span, "an axis")?;
        if self.pool.is_zero(axis.e) {
            return self.fail(SemaError::Expected {
                span: expr.span,
                expected: "an axis",
                found: "the zero vector".into(),
            });
        }
        Ok(axis.e)
    }

    /// Evaluates to a point; a particle stands for its position.
    pub(super) fn point(&mut self, expr: &'a Expr, scope: &Rc<Scope<'a>>) -> R<Point> {
        let value = self.eval(expr, scope)?;
        self.as_point(&value, expr.span)
    }

    pub(super) fn as_point(&mut self, value: &Value<'a>, span: Span) -> R<Point> {
        match value {
            Value::Point(p) => Ok(p.clone()),
            Value::Frame(frame @ Frame::Body(of)) if self.body_asts[of.decl].particle => Ok(self.origin(frame)),
            Value::Frame(Frame::Body(_)) => self.fail(SemaError::Expected {
                span,
                expected: "a point such as `.origin`, `.com` or a declared one",
                found: "a whole body".into(),
            }),
            Value::Frame(Frame::Ground) => self.fail(SemaError::Expected {
                span,
                expected: "a point such as `ground.origin`",
                found: "the whole ground".into(),
            }),
            other => self.fail(SemaError::Expected { span, expected: "a point", found: other.kind().into() }),
        }
    }

    /// Angle of the second body against the first about an axis, continuous over any number of turns.
    fn turn(&mut self, span: Span, p: &Point, q: &Point, a: ExprId, b: ExprId, scope: &Rc<Scope<'a>>) -> R<Quantity> {
        let (ra, rb) = (self.rotation(&p.frame), self.rotation(&q.frame));
        let (a1, a2, b1) = (self.pool.perp1(a), self.pool.perp2(a), self.pool.perp1(b));
        let (u, v, w) = (self.pool.mat_vec(ra, a1), self.pool.mat_vec(ra, a2), self.pool.mat_vec(rb, b1));
        let (c, s) = (self.pool.dot(u, w), self.pool.dot(v, w));
        let raw = self.pool.fun2(Fun2::Atan2, s, c);
        let Some(context) = scope.context().cloned() else {
            return self.fail(SemaError::Misplaced {
                span,
                what: "`turn`",
                place: "a quantity that belongs to no element",
            });
        };
        let site = self.angle_site(&context, span);
        let element = self.element_ref(&context.of);
        let memory = self.pool.memory(element, site);
        let e = self.pool.fun2(Fun2::Unwrap, raw, memory);
        self.note_angle(&context, site, e);
        Ok(plain(e))
    }

    /// `sum(i in 0..N, x)` and its like.
    fn reduction(
        &mut self,
        expr: &'a Expr,
        name: &str,
        range: &'a Range,
        body: &'a Expr,
        scope: &Rc<Scope<'a>>,
    ) -> R<Quantity> {
        let how = match name {
            "sum" => Reduction::Sum,
            "mean" => Reduction::Mean,
            "min" => Reduction::Min,
            "max" => Reduction::Max,
            _ => return self.arguments(expr.span, name, "does not run over a range", "sum(i in 0..N, x)"),
        };
        let Some(hi) = &range.hi else {
            return self.arguments(range.lo.span, name, "runs over a range of numbers", &example(name));
        };
        let ends = range.lo.span.to(hi.span);
        let (lo, hi) = (self.index_bound(&range.lo, scope)?, self.index_bound(hi, scope)?);
        let index = self.new_index(&range.name.name, super::sets::Owner::Range(lo, hi));
        let i = plain(self.pool.index(index));
        let inner = Scope {
            parent: Some(Rc::clone(scope)),
            bound: vec![(&range.name.name, Value::Quantity(i))],
            ..Scope::default()
        };
        let x = self.scalar(body, &Rc::new(inner))?;
        if let (Some(a), Some(b)) = (self.pool.literal(lo), self.pool.literal(hi)) {
            if a >= b && matches!(how, Reduction::Sum) {
                return Ok(Quantity { e: self.pool.num(0.0), dim: x.dim });
            }
            if a >= b {
                return self.arguments(ends, name, "needs at least one term, this range is empty", &example(name));
            }
        }
        Ok(Quantity { e: self.pool.reduce(how, index, lo, hi, x.e), dim: x.dim })
    }

    /// A truth value that says whether a comparison of two sides holds, with the sides.
    pub(super) fn comparison(&self, condition: ExprId) -> Option<(ExprId, ExprId)> {
        match *self.pool.node(condition) {
            crate::symbolic::Node::Cmp(Cmp::Lt | Cmp::Le | Cmp::Eq | Cmp::Ne, a, b) => Some((a, b)),
            _ => None,
        }
    }
}
