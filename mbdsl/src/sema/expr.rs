//! Expressions: syntax tree to typed, dimensioned values in the pool.

use std::rc::Rc;

use super::error::{SemaError, nearest};
use super::scope::{Decl, Memo, Scope};
use super::value::{Frame, InstanceOf, Point, Quantity, Value};
use super::{Checker, R, Reported};
use crate::source::Span;
use crate::symbolic::{Cmp, ExprId, Fun2, Ty, constant};
use crate::syntax::ast::{BinaryOp, Expr, ExprKind, Range, UnaryOp, Unit, ValueKind};
use crate::units::{self, Dim, Scale};

/// Units with prefixes that are suggested for a mistyped one.
const COMMON_UNITS: [&str; 8] = ["mm", "cm", "km", "ms", "kN", "MPa", "GPa", "kW"];

/// Expressions within expressions, names and functions looked through: a text alone reaches 256.
const NESTING: usize = 400;

/// Height of the tree that a value may stand for: what is derived from it is some times higher, and printed recursively.
const DEPTH: u32 = 1000;

/// Evaluations of expressions in one model. A large one takes some thousands; functions that call others twice could take
/// any number.
const WORK: usize = 1_000_000;

/// Name of a type in messages.
pub(super) const fn shape(ty: Ty) -> &'static str {
    match ty {
        Ty::Scalar => "a number",
        Ty::Vec3 => "a vector",
        Ty::Mat3 | Ty::Rot => "a matrix",
        Ty::Bool => "a truth value",
    }
}

/// A number, the unit after it as it was meant, and the first name in it that is not defined.
type UnitChain<'a> = (&'a str, String, Option<(&'a str, Span)>);

impl<'a> Checker<'a> {
    /// Evaluates an expression to a value of any kind.
    pub(super) fn eval(&mut self, expr: &'a Expr, scope: &Rc<Scope<'a>>) -> R<Value<'a>> {
        self.work += 1;
        if self.work > WORK {
            // Said once: everything that follows would say it again.
            return if self.work == WORK + 1 {
                self.fail(SemaError::TooMuch { span: expr.span })
            } else {
                Err(Reported)
            };
        }
        if self.nesting >= NESTING {
            return self.fail(SemaError::TooDeep { span: expr.span });
        }
        self.nesting += 1;
        let result = self.eval_inner(expr, scope);
        self.nesting -= 1;
        match &result {
            Ok(Value::Quantity(q)) if self.pool.depth(q.e) > DEPTH => self.fail(SemaError::TooDeep { span: expr.span }),
            _ => result,
        }
    }

    fn eval_inner(&mut self, expr: &'a Expr, scope: &Rc<Scope<'a>>) -> R<Value<'a>> {
        match &expr.kind {
            ExprKind::Number { value, unit, .. } => {
                let (si, dim) = match unit {
                    Some(unit) => {
                        let scale = self.unit(unit)?;
                        (value * scale.times / scale.over, Some(scale.dim))
                    }
                    None => (*value, (*value != 0.0).then_some(Dim::ONE)),
                };
                let e = self.pool.num(si);
                Ok(Value::Quantity(Quantity { e, dim }))
            }
            ExprKind::Vector { items, unit } => self.vector(expr, items, unit.as_ref(), scope).map(Value::Quantity),
            ExprKind::Name(name) => self.name(name, expr.span, scope),
            ExprKind::Field(base, member) => self.field(base, member, scope),
            ExprKind::Subscript(base, indices) => self.subscript(expr, base, indices, scope),
            ExprKind::Call(callee, args) => self.call(expr, callee, args, scope),
            ExprKind::Unary(UnaryOp::Neg, a) => {
                let q = self.quantity(a, scope)?;
                if self.pool.ty(q.e) == Ty::Bool {
                    return self.fail(SemaError::Expected {
                        span: a.span,
                        expected: "a number",
                        found: shape(Ty::Bool).into(),
                    });
                }
                Ok(Value::Quantity(Quantity { e: self.pool.neg(q.e), dim: q.dim }))
            }
            ExprKind::Unary(UnaryOp::Not, a) => {
                let c = self.truth(a, scope)?;
                let e = self.pool.not(c);
                Ok(Value::Quantity(Quantity { e, dim: Some(Dim::ONE) }))
            }
            ExprKind::Binary(op, a, b) => self.binary(expr, *op, a, b, scope),
        }
    }

    /// Evaluates to a scalar, vector, matrix or truth value.
    pub(super) fn quantity(&mut self, expr: &'a Expr, scope: &Rc<Scope<'a>>) -> R<Quantity> {
        let value = self.eval(expr, scope)?;
        self.as_quantity(&value, expr.span)
    }

    pub(super) fn as_quantity(&mut self, value: &Value<'a>, span: Span) -> R<Quantity> {
        match value {
            Value::Quantity(q) => Ok(*q),
            Value::Point(p) => {
                let e = self.point_pos(p)?;
                Ok(Quantity { e, dim: Some(Dim::LENGTH) })
            }
            other => self.fail(SemaError::Expected { span, expected: "a quantity", found: other.kind().into() }),
        }
    }

    /// Evaluates to a scalar.
    pub(super) fn scalar(&mut self, expr: &'a Expr, scope: &Rc<Scope<'a>>) -> R<Quantity> {
        let q = self.quantity(expr, scope)?;
        self.of_type(q, Ty::Scalar, expr.span)
    }

    /// Evaluates to a vector.
    pub(super) fn vec3(&mut self, expr: &'a Expr, scope: &Rc<Scope<'a>>) -> R<Quantity> {
        let q = self.quantity(expr, scope)?;
        // The literal 0 also stands for the zero vector.
        if q.dim.is_none() && self.pool.is_zero(q.e) {
            return Ok(Quantity { e: self.pool.zero(Ty::Vec3), dim: None });
        }
        self.of_type(q, Ty::Vec3, expr.span)
    }

    pub(super) fn of_type(&mut self, q: Quantity, ty: Ty, span: Span) -> R<Quantity> {
        let found = self.pool.ty(q.e);
        if found == ty || (ty == Ty::Mat3 && found == Ty::Rot) {
            return Ok(q);
        }
        self.fail(SemaError::Expected { span, expected: shape(ty), found: shape(found).into() })
    }

    /// Evaluates to a truth value.
    pub(super) fn truth(&mut self, expr: &'a Expr, scope: &Rc<Scope<'a>>) -> R<ExprId> {
        let q = self.quantity(expr, scope)?;
        self.of_type(q, Ty::Bool, expr.span).map(|q| q.e)
    }

    /// Requires a dimension.
    pub(super) fn with_dim(&mut self, q: Quantity, dim: Dim, what: &str, span: Span) -> R<Quantity> {
        match q.dim {
            Some(found) if found != dim => {
                self.fail(SemaError::WrongDimension { span, what: what.to_owned(), expected: dim, found })
            }
            _ => Ok(Quantity { e: q.e, dim: Some(dim) }),
        }
    }

    /// A unit in SI.
    pub(super) fn unit(&mut self, unit: &Unit) -> R<Scale> {
        let mut all = Scale { times: 1.0, over: 1.0, dim: Dim::ONE };
        for factor in &unit.factors {
            let Some(one) = units::unit(&factor.name.name) else {
                let near = nearest(&factor.name.name, COMMON_UNITS.into_iter().chain(units::words()));
                return self.fail(SemaError::UnknownUnit {
                    span: factor.name.span,
                    name: factor.name.name.clone(),
                    near,
                });
            };
            let Some(dim) = one.dim.pow(factor.num, factor.den) else {
                return self
                    .fail(SemaError::BadPower { span: factor.name.span, why: "the exponent is no simple fraction" });
            };
            let power = |x: f64| match (factor.num.abs(), factor.den) {
                (n, 1) => x.powi(n),
                (n, m) => libm::pow(x, f64::from(n) / f64::from(m)),
            };
            let (top, bottom) = if factor.num < 0 { (one.over, one.times) } else { (one.times, one.over) };
            all = Scale { times: all.times * power(top), over: all.over * power(bottom), dim: all.dim.times(dim) };
        }
        Ok(all)
    }

    fn vector(&mut self, expr: &'a Expr, items: &'a [Expr], unit: Option<&Unit>, scope: &Rc<Scope<'a>>) -> R<Quantity> {
        let scale = unit.map(|unit| self.unit(unit)).transpose()?;
        if items.len() != 3 {
            return self.fail(SemaError::VectorLength { span: expr.span, len: items.len() });
        }
        let mut entries = Vec::with_capacity(3);
        let mut dim = None;
        let mut dim_span = expr.span;
        for item in items {
            let q = self.quantity(item, scope)?;
            if let (Some(d), Some(found)) = (dim, q.dim)
                && d != found
            {
                return self.fail(SemaError::Dimensions {
                    op: "put in one vector",
                    span: expr.span,
                    left: dim_span,
                    left_dim: d,
                    right: item.span,
                    right_dim: found,
                });
            }
            if q.dim.is_some() && dim.is_none() {
                (dim, dim_span) = (q.dim, item.span);
            }
            entries.push((q.e, item.span));
        }
        let first = self.pool.ty(entries[0].0);
        for (e, span) in &entries {
            if self.pool.ty(*e) != first || !matches!(first, Ty::Scalar | Ty::Vec3) {
                let found = shape(self.pool.ty(*e)).into();
                return self.fail(SemaError::Expected { span: *span, expected: "a number", found });
            }
        }
        let [a, b, c] = [entries[0].0, entries[1].0, entries[2].0];
        let mut e = if first == Ty::Scalar { self.pool.vec(a, b, c) } else { self.pool.rows(a, b, c) };
        if let Some(scale) = scale {
            // The unit multiplies entry by entry, so that literal vectors stay literal.
            let (times, over) = (self.pool.num(scale.times), self.pool.num(scale.over));
            if first == Ty::Scalar {
                let [a, b, c] = [a, b, c].map(|x| {
                    let x = self.pool.mul(times, x);
                    self.pool.div(x, over)
                });
                e = self.pool.vec(a, b, c);
            } else {
                let factor = self.pool.div(times, over);
                e = self.pool.scale(factor, e);
            }
            return Ok(Quantity { e, dim: Some(dim.unwrap_or(Dim::ONE).times(scale.dim)) });
        }
        Ok(Quantity { e, dim })
    }

    /// A name in an expression.
    fn name(&mut self, name: &str, span: Span, scope: &Rc<Scope<'a>>) -> R<Value<'a>> {
        if let Some(value) = scope.find_bound(name) {
            return Ok(value);
        }
        if let Some((owner, decl)) = scope.find(name) {
            return self.declared(name, decl, &owner, span);
        }
        if let Some(value) = self.builtin_name(name) {
            return Ok(value);
        }
        let near = nearest(name, scope.in_sight().into_iter().chain(super::builtins::NAMES));
        self.fail(SemaError::Unknown { span, name: name.to_owned(), near })
    }

    /// The value of a declaration in the scope that holds it.
    pub(super) fn declared(&mut self, name: &str, decl: Decl<'a>, owner: &Rc<Scope<'a>>, span: Span) -> R<Value<'a>> {
        match decl {
            Decl::Body(k) if self.body_asts[k].target.set.is_some() => Ok(Value::BodyArray(k)),
            Decl::Body(k) => Ok(Value::Frame(Frame::Body(InstanceOf { decl: k, indices: Vec::new() }))),
            Decl::Element(k) if self.element_set_ast(k).is_some() => Ok(Value::ElementArray(k)),
            Decl::Element(k) => Ok(Value::Element(InstanceOf { decl: k, indices: Vec::new() })),
            Decl::Function(f) => self.fail(SemaError::Expected {
                span,
                expected: "a quantity",
                found: format!("the function `{}`", f.name.name),
            }),
            Decl::Define(d) => self.fail(SemaError::Expected {
                span,
                expected: "a quantity",
                found: format!("the definition `{}`", d.name.name),
            }),
            Decl::Value(kind, target, value) => {
                if target.set.is_some() {
                    return Ok(Value::LetArray(target, value, Rc::clone(owner)));
                }
                self.memoised(name, owner, span, |this| this.declared_value(kind, target, value, owner))
            }
        }
    }

    fn memoised(
        &mut self,
        name: &str,
        owner: &Rc<Scope<'a>>,
        span: Span,
        compute: impl FnOnce(&mut Self) -> R<Value<'a>>,
    ) -> R<Value<'a>> {
        let key = owner.names.get_key_value(name).map(|(k, _)| *k);
        let Some(key) = key else { return compute(self) };
        let known = owner.memo.borrow().get(key).cloned();
        match known {
            Some(Memo::Done(result)) => return result,
            Some(Memo::Busy) => {
                let declared = match owner.names.get(key) {
                    Some(Decl::Value(_, target, _)) => target.name.span,
                    _ => span,
                };
                return self.fail(SemaError::Cycle { span, name: name.to_owned(), declared });
            }
            None => {}
        }
        owner.memo.borrow_mut().insert(key, Memo::Busy);
        let result = compute(self);
        owner.memo.borrow_mut().insert(key, Memo::Done(result.clone()));
        result
    }

    fn declared_value(
        &mut self,
        kind: ValueKind,
        target: &'a crate::syntax::ast::Target,
        value: &'a Expr,
        owner: &Rc<Scope<'a>>,
    ) -> R<Value<'a>> {
        match kind {
            ValueKind::Let | ValueKind::Output => self.eval(value, owner),
            ValueKind::Const => self.constant(target, value, owner),
            ValueKind::Param => self.parameter(target, value, owner),
            ValueKind::Point => {
                let local = self.vec3(value, owner)?;
                let local = self.with_dim(local, Dim::LENGTH, "a point", value.span)?;
                self.constant_of_motion(local.e, value.span, "a point of a body")?;
                match owner.frame.clone() {
                    Some(frame) => Ok(Value::Point(Point { frame, local: local.e })),
                    None => {
                        self.fail(SemaError::Misplaced { span: target.name.span, what: "`point`", place: "a model" })
                    }
                }
            }
            ValueKind::Input => self.input(target, value, owner),
            ValueKind::Frame => self.fail(super::unsupported(target.name.span, "frames")),
        }
    }

    fn binary(
        &mut self,
        expr: &'a Expr,
        op: BinaryOp,
        a: &'a Expr,
        b: &'a Expr,
        scope: &Rc<Scope<'a>>,
    ) -> R<Value<'a>> {
        self.unit_without_brackets(op, a, b, scope)?;
        if let Some(result) = self.compare_bodies(op, a, b, scope) {
            return result;
        }
        if op == BinaryOp::Sub {
            let left = self.quantity(a, scope)?;
            let right = self.eval(b, scope)?;
            if matches!(right, Value::Start) {
                let start = self.pool.start(left.e);
                let e = self.pool.sub(left.e, start);
                return Ok(Value::Quantity(Quantity { e, dim: left.dim }));
            }
            let right = self.as_quantity(&right, b.span)?;
            return self.sum(op, expr.span, (left, a.span), (right, b.span)).map(Value::Quantity);
        }
        let q = match op {
            BinaryOp::And | BinaryOp::Or => {
                let (x, y) = (self.truth(a, scope)?, self.truth(b, scope)?);
                let e = if op == BinaryOp::And { self.pool.and(x, y) } else { self.pool.or(x, y) };
                Quantity { e, dim: Some(Dim::ONE) }
            }
            BinaryOp::Add | BinaryOp::Sub | BinaryOp::Rem => {
                let (x, y) = (self.quantity(a, scope)?, self.quantity(b, scope)?);
                self.sum(op, expr.span, (x, a.span), (y, b.span))?
            }
            BinaryOp::Mul => {
                let (x, y) = (self.quantity(a, scope)?, self.quantity(b, scope)?);
                self.product(expr.span, x, y)?
            }
            BinaryOp::Div => {
                let (x, y) = (self.quantity(a, scope)?, self.scalar(b, scope)?);
                let e = match self.pool.ty(x.e) {
                    Ty::Scalar => self.pool.div(x.e, y.e),
                    Ty::Vec3 | Ty::Mat3 | Ty::Rot => {
                        let one = self.pool.num(1.0);
                        let inverse = self.pool.div(one, y.e);
                        self.pool.scale(inverse, x.e)
                    }
                    Ty::Bool => {
                        let (left, right) = (shape(Ty::Bool), shape(Ty::Scalar));
                        return self.fail(SemaError::Shapes { span: expr.span, op: "divide", left, right });
                    }
                };
                Quantity { e, dim: x.dim.map(|d| d.over(y.dim.unwrap_or(Dim::ONE))) }
            }
            BinaryOp::Pow => self.power(expr, a, b, scope)?,
            BinaryOp::Eq | BinaryOp::Ne | BinaryOp::Lt | BinaryOp::Le | BinaryOp::Gt | BinaryOp::Ge => {
                let (x, y) = (self.scalar(a, scope)?, self.scalar(b, scope)?);
                self.same_dim("compare", expr.span, (x, a.span), (y, b.span))?;
                let e = match op {
                    BinaryOp::Ne => self.pool.cmp(Cmp::Ne, x.e, y.e),
                    BinaryOp::Lt => self.pool.cmp(Cmp::Lt, x.e, y.e),
                    BinaryOp::Le => self.pool.cmp(Cmp::Le, x.e, y.e),
                    BinaryOp::Gt => self.pool.cmp(Cmp::Lt, y.e, x.e),
                    BinaryOp::Ge => self.pool.cmp(Cmp::Le, y.e, x.e),
                    _ => self.pool.cmp(Cmp::Eq, x.e, y.e),
                };
                Quantity { e, dim: Some(Dim::ONE) }
            }
        };
        Ok(Value::Quantity(q))
    }

    /// `3 rad/s` means a division by a variable `s`: say so where there is none.
    fn unit_without_brackets(&mut self, op: BinaryOp, a: &'a Expr, b: &'a Expr, scope: &Rc<Scope<'a>>) -> R<()> {
        let sign = match op {
            BinaryOp::Mul => '*',
            BinaryOp::Div => '/',
            _ => return Ok(()),
        };
        let (Some((number, mut unit, first)), Some((name, at))) =
            (self.unit_chain(a, scope), self.loose_unit(b, scope))
        else {
            return Ok(());
        };
        unit.push(sign);
        unit.push_str(self.source(b.span));
        let (name, span) = first.unwrap_or((name, at));
        self.fail(SemaError::UnitWithoutBrackets { span, name: name.to_owned(), write: format!("{number} [{unit}]") })
    }

    /// `5 N*s` as number, unit, and the first name that is a unit but not defined.
    fn unit_chain(&self, expr: &'a Expr, scope: &Rc<Scope<'a>>) -> Option<UnitChain<'a>> {
        match &expr.kind {
            ExprKind::Number { text, unit: Some(unit), .. } if !unit.bracketed => {
                let words: Vec<_> = unit.factors.iter().map(|f| f.name.name.as_str()).collect();
                Some((text, words.join("*"), None))
            }
            ExprKind::Binary(op @ (BinaryOp::Mul | BinaryOp::Div), a, b) => {
                let (number, mut unit, first) = self.unit_chain(a, scope)?;
                let here = self.loose_unit(b, scope)?;
                unit.push(if *op == BinaryOp::Mul { '*' } else { '/' });
                unit.push_str(self.source(b.span));
                Some((number, unit, first.or(Some(here))))
            }
            _ => None,
        }
    }

    /// A name, or a power of one, that is a unit and means nothing else here.
    fn loose_unit(&self, expr: &'a Expr, scope: &Rc<Scope<'a>>) -> Option<(&'a str, Span)> {
        let (name, span) = match &expr.kind {
            ExprKind::Name(name) => (name, expr.span),
            ExprKind::Binary(BinaryOp::Pow, base, _) => match &base.kind {
                ExprKind::Name(name) => (name, base.span),
                _ => return None,
            },
            _ => return None,
        };
        let is_free = scope.find_bound(name).is_none() && scope.find(name).is_none();
        (is_free && units::unit(name).is_some()).then_some((name, span))
    }

    pub(super) fn same_dim(
        &mut self,
        op: &'static str,
        span: Span,
        (x, left): (Quantity, Span),
        (y, right): (Quantity, Span),
    ) -> R<Option<Dim>> {
        match (x.dim, y.dim) {
            (Some(left_dim), Some(right_dim)) if left_dim != right_dim => {
                self.fail(SemaError::Dimensions { op, span, left, left_dim, right, right_dim })
            }
            (Some(d), _) | (None, Some(d)) => Ok(Some(d)),
            (None, None) => Ok(None),
        }
    }

    fn sum(&mut self, op: BinaryOp, span: Span, x: (Quantity, Span), y: (Quantity, Span)) -> R<Quantity> {
        let verb = match op {
            BinaryOp::Sub => "subtract",
            BinaryOp::Rem => "divide with remainder",
            _ => "add",
        };
        let dim = self.same_dim(verb, span, x, y)?;
        let (mut a, mut b) = (x.0.e, y.0.e);
        // The literal 0 takes the shape of the other side.
        if x.0.dim.is_none() && self.pool.literal(a).is_some() {
            let ty = self.pool.ty(b);
            a = self.pool.zero(ty);
        }
        if y.0.dim.is_none() && self.pool.literal(b).is_some() {
            let ty = self.pool.ty(a);
            b = self.pool.zero(ty);
        }
        let (s, t) = (self.pool.ty(a), self.pool.ty(b));
        let fits = s == t || (s.is_matrix() && t.is_matrix());
        if !fits || s == Ty::Bool || (op == BinaryOp::Rem && s != Ty::Scalar) {
            return self.fail(SemaError::Shapes { span, op: verb, left: shape(s), right: shape(t) });
        }
        let e = match op {
            BinaryOp::Sub => self.pool.sub(a, b),
            BinaryOp::Rem => self.pool.fun2(Fun2::Mod, a, b),
            _ => self.pool.add(a, b),
        };
        Ok(Quantity { e, dim })
    }

    pub(super) fn product(&mut self, span: Span, x: Quantity, y: Quantity) -> R<Quantity> {
        let dim = match (x.dim, y.dim) {
            (Some(a), Some(b)) => Some(a.times(b)),
            _ => None,
        };
        let (s, t) = (self.pool.ty(x.e), self.pool.ty(y.e));
        let e = match (s, t) {
            (Ty::Scalar, Ty::Bool)
            | (Ty::Bool, _)
            | (_, Ty::Bool)
            | (Ty::Vec3, Ty::Vec3)
            | (Ty::Vec3, Ty::Mat3 | Ty::Rot) => {
                return self.fail(SemaError::Shapes { span, op: "multiply", left: shape(s), right: shape(t) });
            }
            (Ty::Scalar, Ty::Scalar) => self.pool.mul(x.e, y.e),
            (Ty::Scalar, Ty::Vec3 | Ty::Mat3 | Ty::Rot) => self.pool.scale(x.e, y.e),
            (Ty::Vec3 | Ty::Mat3 | Ty::Rot, Ty::Scalar) => self.pool.scale(y.e, x.e),
            (Ty::Mat3 | Ty::Rot, Ty::Vec3) => self.pool.mat_vec(x.e, y.e),
            (Ty::Mat3 | Ty::Rot, Ty::Mat3 | Ty::Rot) => self.pool.mat_mul(x.e, y.e),
        };
        Ok(Quantity { e, dim })
    }

    fn power(&mut self, expr: &'a Expr, a: &'a Expr, b: &'a Expr, scope: &Rc<Scope<'a>>) -> R<Quantity> {
        let (x, y) = (self.scalar(a, scope)?, self.scalar(b, scope)?);
        let y = self.with_dim(y, Dim::ONE, "an exponent", b.span)?;
        let Some(p) = self.constant_value(y.e) else {
            let x = self.with_dim(x, Dim::ONE, "the base of a variable power", a.span)?;
            let e = self.pool.fun2(Fun2::Pow, x.e, y.e);
            return Ok(Quantity { e, dim: Some(Dim::ONE) });
        };
        let fraction =
            (1..=12).find(|&den| (p * f64::from(den)).fract() == 0.0 && (p * f64::from(den)).abs() <= 1200.0);
        let dim = match (x.dim, fraction) {
            (None, _) => None,
            (Some(Dim::ONE), _) => Some(Dim::ONE),
            (Some(d), Some(den)) => {
                #[expect(clippy::cast_possible_truncation, reason = "bounded by 1200 just above")]
                let num = (p * f64::from(den)) as i32;
                match d.pow(num, den) {
                    Some(d) => Some(d),
                    None => {
                        return self
                            .fail(SemaError::BadPower { span: expr.span, why: "the exponent is no simple fraction" });
                    }
                }
            }
            (Some(_), None) => {
                return self.fail(SemaError::BadPower { span: expr.span, why: "the exponent is no simple fraction" });
            }
        };
        let e = if p.fract() == 0.0 && p.abs() <= 64.0 {
            #[expect(clippy::cast_possible_truncation, reason = "an integer of at most 64")]
            self.pool.pow_int(x.e, p as i32)
        } else {
            self.pool.fun2(Fun2::Pow, x.e, y.e)
        };
        Ok(Quantity { e, dim })
    }

    /// `p < q` of bodies of one array: order of their indices.
    fn compare_bodies(
        &mut self,
        op: BinaryOp,
        a: &'a Expr,
        b: &'a Expr,
        scope: &Rc<Scope<'a>>,
    ) -> Option<R<Value<'a>>> {
        let (ExprKind::Name(x), ExprKind::Name(y)) = (&a.kind, &b.kind) else { return None };
        let (Some(Value::Frame(Frame::Body(p))), Some(Value::Frame(Frame::Body(q)))) =
            (scope.find_bound(x), scope.find_bound(y))
        else {
            return None;
        };
        if p.decl != q.decl {
            return Some(self.fail(SemaError::Expected {
                span: b.span,
                expected: "a body of the same array",
                found: "a body of another one".into(),
            }));
        }
        let (strict, equal, swap, negate) = match op {
            BinaryOp::Lt => (true, false, false, false),
            BinaryOp::Gt => (true, false, true, false),
            BinaryOp::Le => (true, true, false, false),
            BinaryOp::Ge => (true, true, true, false),
            BinaryOp::Eq => (false, true, false, false),
            BinaryOp::Ne => (false, true, false, true),
            BinaryOp::Add
            | BinaryOp::Sub
            | BinaryOp::Mul
            | BinaryOp::Div
            | BinaryOp::Rem
            | BinaryOp::Pow
            | BinaryOp::And
            | BinaryOp::Or => return None,
        };
        let (p, q) = if swap { (q, p) } else { (p, q) };
        // Lexicographic, from the last index backwards.
        let mut result = self.pool.truth(equal);
        for (&i, &j) in p.indices.iter().zip(&q.indices).rev() {
            let same = self.pool.cmp(Cmp::Eq, i, j);
            result = self.pool.and(same, result);
            if strict {
                let less = self.pool.cmp(Cmp::Lt, i, j);
                result = self.pool.or(less, result);
            }
        }
        if negate {
            result = self.pool.not(result);
        }
        Some(Ok(Value::Quantity(Quantity { e: result, dim: Some(Dim::ONE) })))
    }

    fn subscript(
        &mut self,
        expr: &'a Expr,
        base: &'a Expr,
        indices: &'a [Expr],
        scope: &Rc<Scope<'a>>,
    ) -> R<Value<'a>> {
        let value = self.eval(base, scope)?;
        let mut list = Vec::with_capacity(indices.len());
        for index in indices {
            let q = self.scalar(index, scope)?;
            let q = self.with_dim(q, Dim::ONE, "an index", index.span)?;
            if constant::value(&self.pool, q.e, &|_| Some(0.0)).is_none() {
                return self.fail(SemaError::NotConstant { span: index.span, what: "an index" });
            }
            list.push(q.e);
        }
        let count = |this: &mut Self, name: String, expected: usize| {
            if list.len() == expected {
                return Ok(());
            }
            let found = list.len();
            this.fail(SemaError::SubscriptCount { span: expr.span, array: name, expected, found })
        };
        match value {
            Value::BodyArray(k) => {
                let name = self.body_asts[k].target.name.name.clone();
                let arity = self.body_arity(k)?;
                count(self, name, arity)?;
                self.note_index(super::sets::Array::Body(k), &list, expr.span, indices);
                Ok(Value::Frame(Frame::Body(InstanceOf { decl: k, indices: list })))
            }
            Value::ElementArray(k) => {
                let arity = self.element_arity(k)?;
                count(self, self.element_name(k), arity)?;
                self.note_index(super::sets::Array::Element(k), &list, expr.span, indices);
                Ok(Value::Element(InstanceOf { decl: k, indices: list }))
            }
            Value::LetArray(target, value, owner) => {
                let Some(set) = &target.set else { return Err(Reported) };
                count(self, target.name.name.clone(), set.ranges.len())?;
                let mut inner = Scope { parent: Some(Rc::clone(&owner)), ..Scope::default() };
                for ((range, &e), at) in set.ranges.iter().zip(&list).zip(indices) {
                    self.within_range(&target.name.name, range, e, at.span, &owner)?;
                    inner.bound.push((&range.name.name, Value::Quantity(Quantity { e, dim: Some(Dim::ONE) })));
                }
                self.eval(value, &Rc::new(inner))
            }
            Value::Quantity(q) => match (self.pool.ty(q.e), list.as_slice()) {
                (Ty::Vec3, [i]) => {
                    let k = self.component(*i, indices[0].span)?;
                    Ok(Value::Quantity(Quantity { e: self.pool.comp(q.e, k), dim: q.dim }))
                }
                (Ty::Mat3 | Ty::Rot, [i, j]) => {
                    let (i, j) = (self.component(*i, indices[0].span)?, self.component(*j, indices[1].span)?);
                    let unit = self.pool.unit(j);
                    let column = self.pool.mat_vec(q.e, unit);
                    Ok(Value::Quantity(Quantity { e: self.pool.comp(column, i), dim: q.dim }))
                }
                (ty, _) => self.fail(SemaError::Expected {
                    span: base.span,
                    expected: "an array, or a vector or matrix with its number of indices",
                    found: shape(ty).into(),
                }),
            },
            other => {
                self.fail(SemaError::Expected { span: base.span, expected: "an array", found: other.kind().into() })
            }
        }
    }

    /// Checks a subscript of a `let` that is a number, against a range that is.
    fn within_range(
        &mut self,
        array: &str,
        range: &'a Range,
        index: ExprId,
        span: Span,
        owner: &Rc<Scope<'a>>,
    ) -> R<()> {
        let (Some(hi), Some(x)) = (&range.hi, self.constant_value(index)) else { return Ok(()) };
        let (lo, hi) = (self.index_bound(&range.lo, owner)?, self.index_bound(hi, owner)?);
        let (Some(lo), Some(hi)) = (self.pool.literal(lo), self.pool.literal(hi)) else { return Ok(()) };
        if x >= lo && x < hi && x.fract() == 0.0 {
            return Ok(());
        }
        let (array, index, bounds) = (array.to_owned(), x.to_string(), format!("{lo}..{hi}"));
        self.fail(SemaError::OutOfRange { span, array, index, bounds, instance: None })
    }

    fn component(&mut self, e: ExprId, span: Span) -> R<u8> {
        match self.constant_value(e) {
            Some(0.0) => Ok(0),
            Some(1.0) => Ok(1),
            Some(2.0) => Ok(2),
            Some(x) => self.fail(SemaError::OutOfRange {
                span,
                array: "vector".into(),
                index: x.to_string(),
                bounds: "0..3".into(),
                instance: None,
            }),
            None => self.fail(SemaError::NotConstant { span, what: "the index of a component" }),
        }
    }
}
