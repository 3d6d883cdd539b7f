//! Elements: joints, constraints, potentials, dissipation, loads and uses of defined forces, with definitions inlined.

use std::rc::Rc;

use super::body::held;
use super::error::{SemaError, nearest};
use super::scope::{Decl, ElementContext, Scope};
use super::value::{InstanceOf, Point, Value};
use super::{Checker, R};
use crate::model::{self, Equation, Level, Load};
use crate::source::Span;
use crate::symbolic::diff::{Differentiator, Wrt, depends_on_velocity};
use crate::symbolic::{ElementRef, ExprId, Node, Quantity as State, Ty};
use crate::syntax::ast::{self, Arg, BinaryOp, DefineKind, Expr, ExprKind, StmtKind, ValueKind};
use crate::units::Dim;

/// An element as declared.
#[derive(Clone, Copy, Debug)]
pub(super) struct ElementAst<'a> {
    pub target: Option<&'a ast::Target>,
    pub kind: ElementKind<'a>,
    pub docs: &'a [String],
    pub span: Span,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum ElementKind<'a> {
    /// `joint j: kind(args) { ... }`, `force f: kind(args);`
    Typed(DefineKind, &'a [ast::Ident], &'a [Arg], Option<&'a ast::Block>),
    Constraint(&'a Expr),
    Potential(&'a Expr),
    Dissipation(&'a Expr),
    /// Force (false) or torque (true).
    Load(bool, &'a ast::Load),
    /// An output or check that counts turns.
    Observer,
}

/// What the statements of an element say.
#[derive(Clone, Debug, Default)]
pub(super) struct Parts {
    pub equations: Vec<Equation>,
    pub potential: Option<ExprId>,
    pub dissipation: Option<ExprId>,
    pub loads: Vec<Load>,
}

impl<'a> Checker<'a> {
    pub(super) fn element_set_ast(&self, k: usize) -> Option<&'a ast::IndexSet> {
        self.element_asts[k].target?.set.as_ref()
    }

    pub(super) fn element_name(&self, k: usize) -> String {
        self.element_names[k].clone()
    }

    pub(super) fn element_ref(&mut self, of: &InstanceOf) -> ElementRef {
        let decl = u32::try_from(of.decl).expect("fewer than 2^32 elements");
        self.pool.element_ref(decl, of.indices.clone())
    }

    /// Scope around the statements of an instance, in which its indices have values.
    fn outer_scope(&mut self, of: &InstanceOf) -> R<Rc<Scope<'a>>> {
        let model = Rc::clone(&self.model_scope);
        let mut scope = self.with_indices(self.element_set_ast(of.decl), &of.indices, &model)?;
        scope.element = Some(ElementContext { of: of.clone(), path: Vec::new() });
        Ok(Rc::new(scope))
    }

    /// Scope of the definition of a joint or force; `None` for other elements.
    pub(super) fn element_scope(&mut self, of: &InstanceOf) -> R<Option<Rc<Scope<'a>>>> {
        let ElementKind::Typed(kind, path, args, _) = self.element_asts[of.decl].kind else { return Ok(None) };
        if let Some(known) = self.element_scopes.get(of) {
            return known.clone().map(Some);
        }
        self.element_scopes.insert(of.clone(), Err(super::Reported));
        let outer = self.outer_scope(of)?;
        let scope = self.definition_scope(kind, path, args, &outer);
        self.element_scopes.insert(of.clone(), scope.clone());
        scope.map(Some)
    }

    /// Scope of a definition that is used with arguments; definitions that it uses itself are expanded too.
    fn definition_scope(
        &mut self,
        kind: DefineKind,
        path: &'a [ast::Ident],
        args: &'a [Arg],
        caller: &Rc<Scope<'a>>,
    ) -> R<Rc<Scope<'a>>> {
        let (define, owner) = self.find_define(path, kind, caller)?;
        if self.depth > 32 {
            return self.fail(SemaError::Recursion { span: path[0].span, name: define.name.name.clone() });
        }
        let mut scope = self.bind_arguments(&define.name.name, path[0].span, &define.formals, args, caller, &owner)?;
        if self.is_of_library(define.name.span) {
            self.refuse_whole_bodies(args, caller)?;
        }
        scope.names = self.block_names(&define.body);
        scope.define = Some(define);
        let scope = Rc::new(scope);
        for stmt in &define.body.stmts {
            if let StmtKind::Use { path, args } = &stmt.kind {
                let mut context = scope.context().cloned();
                if let Some(c) = &mut context {
                    c.path.push(stmt.span);
                }
                let inside = Rc::new(Scope { parent: Some(Rc::clone(&scope)), element: context, ..Scope::default() });
                self.depth += 1;
                let used = self.definition_scope(kind, path, args, &inside);
                self.depth -= 1;
                scope.used.borrow_mut().push(used?);
            }
        }
        Ok(scope)
    }

    /// The joints and forces of the library connect points.
    fn refuse_whole_bodies(&mut self, args: &'a [Arg], caller: &Rc<Scope<'a>>) -> R<()> {
        for arg in args {
            let (Arg::Positional(e) | Arg::Named(_, e)) = arg else { continue };
            let value = self.eval(e, caller)?;
            if matches!(value, Value::Frame(_)) {
                self.as_point(&value, e.span)?;
            }
        }
        Ok(())
    }

    /// Finds a definition by its path.
    pub(super) fn find_define(
        &mut self,
        path: &'a [ast::Ident],
        kind: DefineKind,
        scope: &Rc<Scope<'a>>,
    ) -> R<(&'a ast::Define, Rc<Scope<'a>>)> {
        let [name] = path else {
            return self.fail(super::unsupported(path[0].span, "imported definitions"));
        };
        let what = match kind {
            DefineKind::Body => "kind of body",
            DefineKind::Joint => "joint",
            DefineKind::Force => "force",
            DefineKind::Contact => "contact",
            DefineKind::Part => "part",
        };
        let one_of_kind = match kind {
            DefineKind::Body => "a kind of body",
            DefineKind::Joint => "a joint",
            DefineKind::Force => "a force",
            DefineKind::Contact => "a contact",
            DefineKind::Part => "a part",
        };
        match scope.find_define(&name.name) {
            Some((owner, define)) if define.kind == kind => Ok((define, owner)),
            Some((_, define)) => {
                let found = format!("the {} `{}`", super::kind_word(define.kind), name.name);
                self.fail(SemaError::Expected { span: name.span, expected: one_of_kind, found })
            }
            None => {
                let known = scope.defined(kind);
                let near = nearest(&name.name, known.iter().map(String::as_str));
                self.fail(SemaError::UnknownKind { span: name.span, what, name: name.name.clone(), near, known })
            }
        }
    }

    /// Statements of an element instance, definitions inlined.
    pub(super) fn parts(&mut self, of: &InstanceOf) -> R<Rc<Parts>> {
        if let Some(known) = self.element_parts.get(of) {
            return known.clone();
        }
        self.element_parts.insert(of.clone(), Err(super::Reported));
        let before = self.use_site.replace(self.element_asts[of.decl].span);
        let result = self.find_parts(of).map(Rc::new);
        self.use_site = before;
        self.element_parts.insert(of.clone(), result.clone());
        result
    }

    fn find_parts(&mut self, of: &InstanceOf) -> R<Parts> {
        let mut parts = Parts::default();
        let ast = self.element_asts[of.decl];
        match ast.kind {
            ElementKind::Typed(..) => {
                if let Some(scope) = self.element_scope(of)? {
                    self.expand(&scope, &mut parts)?;
                }
            }
            ElementKind::Constraint(equation) => {
                let scope = self.outer_scope(of)?;
                self.equation("", equation, &scope, &mut parts)?;
            }
            ElementKind::Potential(value) => {
                let scope = self.outer_scope(of)?;
                self.energy(value, false, &scope, &mut parts)?;
            }
            ElementKind::Dissipation(value) => {
                let scope = self.outer_scope(of)?;
                self.energy(value, true, &scope, &mut parts)?;
            }
            ElementKind::Load(torque, load) => {
                let scope = self.outer_scope(of)?;
                self.load(load, torque, &scope, &mut parts)?;
            }
            ElementKind::Observer => {}
        }
        Ok(parts)
    }

    /// Adds the statements of a definition and of those that it uses.
    fn expand(&mut self, scope: &Rc<Scope<'a>>, parts: &mut Parts) -> R<()> {
        let Some(define) = scope.define else { return Ok(()) };
        let used = scope.used.borrow().clone();
        let mut used = used.iter();
        for stmt in &define.body.stmts {
            match &stmt.kind {
                StmtKind::Use { .. } => {
                    if let Some(inner) = used.next() {
                        self.expand(inner, parts)?;
                    }
                }
                StmtKind::Constraint { label, equation } => {
                    let name = label.as_ref().map_or("", |t| t.name.name.as_str());
                    self.equation(name, equation, scope, parts)?;
                }
                StmtKind::Potential { value, .. } => self.energy(value, false, scope, parts)?,
                StmtKind::Dissipation { value, .. } => self.energy(value, true, scope, parts)?,
                StmtKind::Force(load) => self.load(load, false, scope, parts)?,
                StmtKind::Torque(load) => self.load(load, true, scope, parts)?,
                StmtKind::Value { kind: ValueKind::Let, target, value } if target.set.is_none() => {
                    if let Some(&decl) = scope.names.get(target.name.name.as_str()) {
                        self.declared(&target.name.name, decl, scope, value.span)?;
                    }
                }
                // Collected by `declare_element`.
                StmtKind::Check { .. } | StmtKind::Value { kind: ValueKind::Let, .. } | StmtKind::Function(_) => {}
                _ => {
                    return self.fail(SemaError::Misplaced {
                        span: stmt.span,
                        what: "this statement",
                        place: "a definition",
                    });
                }
            }
        }
        Ok(())
    }

    /// `lhs == rhs`
    fn equation(&mut self, name: &str, equation: &'a Expr, scope: &Rc<Scope<'a>>, parts: &mut Parts) -> R<()> {
        let ExprKind::Binary(BinaryOp::Eq, left, right) = &equation.kind else {
            return self.fail(SemaError::NoEquation { span: equation.span });
        };
        let (mut x, mut y) = (self.quantity(left, scope)?, self.quantity(right, scope)?);
        for q in [&mut x, &mut y] {
            // The literal 0 is also the zero vector.
            if q.dim.is_none() && self.pool.is_zero(q.e) {
                q.e = self.pool.num(0.0);
            }
        }
        let dim = self.same_dim("compare", equation.span, (x, left.span), (y, right.span))?.unwrap_or(Dim::ONE);
        let ty = if x.dim.is_none() && self.pool.is_zero(x.e) { self.pool.ty(y.e) } else { self.pool.ty(x.e) };
        for (q, span) in [(&mut x, left.span), (&mut y, right.span)] {
            if self.pool.is_zero(q.e) && q.dim.is_none() {
                q.e = self.pool.zero(ty);
            }
            let found = self.pool.ty(q.e);
            if found != ty || !matches!(ty, Ty::Scalar | Ty::Vec3) {
                let expected = "numbers or vectors of one shape on both sides";
                return self.fail(SemaError::Expected { span, expected, found: super::expr::shape(found).into() });
            }
        }
        let phi = self.pool.sub(x.e, y.e);
        if depends_on_velocity(&self.pool, phi) {
            return self.fail(super::unsupported(equation.span, "constraints on velocities"));
        }
        if self.contains(phi, |n| matches!(n, Node::Start(_))) {
            return self.fail(SemaError::StartInConstraint { span: equation.span });
        }
        if self.contains(phi, |n| matches!(n, Node::Global(_) | Node::Lambda(..) | Node::At(..) | Node::Final(_))) {
            let what = "a constraint";
            return self.fail(SemaError::Inputs { span: equation.span, what, on: "positions and time" });
        }
        if !self.contains(phi, |n| matches!(n, Node::State(..))) {
            return self.fail(SemaError::ConstantConstraint { span: equation.span });
        }
        parts.equations.push(Equation { name: name.to_owned(), phi, dim, span: equation.span });
        Ok(())
    }

    fn energy(&mut self, value: &'a Expr, dissipation: bool, scope: &Rc<Scope<'a>>, parts: &mut Parts) -> R<()> {
        let q = self.scalar(value, scope)?;
        let (dim, what) =
            if dissipation { (Dim::POWER, "a dissipation function") } else { (Dim::ENERGY, "a potential") };
        let q = self.with_dim(q, dim, what, value.span)?;
        if !dissipation && depends_on_velocity(&self.pool, q.e) {
            return self.fail(SemaError::VelocityIn { span: value.span, what: "a potential" });
        }
        self.force_inputs(q.e, value.span)?;
        let slot = if dissipation { &mut parts.dissipation } else { &mut parts.potential };
        *slot = Some(match *slot {
            Some(before) => self.pool.add(before, q.e),
            None => q.e,
        });
        Ok(())
    }

    fn load(&mut self, load: &'a ast::Load, torque: bool, scope: &Rc<Scope<'a>>, parts: &mut Parts) -> R<()> {
        let q = self.vec3(&load.value, scope)?;
        let (dim, what) = if torque { (Dim::ENERGY, "a torque") } else { (Dim::FORCE, "a force") };
        let q = self.with_dim(q, dim, what, load.value.span)?;
        self.force_inputs(q.e, load.value.span)?;
        let on = self.load_velocity(&load.on, torque, scope)?;
        parts.loads.push(Load { velocity: on, value: q.e });
        if let Some(reaction) = &load.reaction {
            let velocity = self.load_velocity(reaction, torque, scope)?;
            let value = self.pool.neg(q.e);
            parts.loads.push(Load { velocity, value });
        }
        Ok(())
    }

    /// Forces depend on the state and the time only.
    fn force_inputs(&mut self, e: ExprId, span: Span) -> R<()> {
        if self.contains(e, |n| matches!(n, Node::Global(_) | Node::Lambda(..) | Node::At(..) | Node::Final(_))) {
            return self.fail(SemaError::Inputs { span, what: "a force", on: "positions, velocities and time" });
        }
        Ok(())
    }

    /// Equations of an element.
    pub(super) fn equations_of(&mut self, of: &InstanceOf) -> R<Vec<Equation>> {
        Ok(self.parts(of)?.equations.clone())
    }

    /// The first two points among the arguments of a joint.
    pub(super) fn joint_points(&mut self, of: &InstanceOf) -> R<Option<(Point, Point)>> {
        let Some(scope) = self.element_scope(of)? else { return Ok(None) };
        let bound = scope.bound.clone();
        let mut points = Vec::new();
        for (_, value) in &bound {
            if matches!(value, Value::Point(_) | Value::Frame(super::value::Frame::Body(_))) {
                points.push(self.as_point(value, self.element_asts[of.decl].span)?);
            }
        }
        Ok(match points.as_slice() {
            [p, q, ..] => Some((p.clone(), q.clone())),
            _ => None,
        })
    }

    /// Checks an element in its own indices and adds it to the model.
    pub(super) fn declare_element(&mut self, decl: usize) -> R<model::Element> {
        let ast = self.element_asts[decl];
        let own = self.element_set(decl)?.clone();
        let of = InstanceOf { decl, indices: own.own.clone() };
        let parts = self.parts(&of)?;
        let mut potential = parts.potential;
        if let (Some(cutoff), ElementKind::Potential(value), Some(energy)) = (&own.cutoff, ast.kind, potential) {
            potential = Some(self.cut(cutoff, energy, value.span)?);
        }
        let kind = match ast.kind {
            ElementKind::Typed(_, path, _, block) => {
                if let Some(scope) = self.element_scope(&of)? {
                    let before = self.use_site.replace(ast.span);
                    let checks = self.definition_checks(&of, &scope, &own.set);
                    self.use_site = before;
                    checks?;
                    if let Some(block) = block {
                        self.initial_values(&of, block, &scope, &own.set)?;
                    }
                }
                path[0].name.clone()
            }
            ElementKind::Constraint(_) => "constraint".into(),
            ElementKind::Potential(_) => "potential".into(),
            ElementKind::Dissipation(_) => "dissipation".into(),
            ElementKind::Load(false, _) => "force".into(),
            ElementKind::Load(true, _) => "torque".into(),
            ElementKind::Observer => "observer".into(),
        };
        Ok(model::Element {
            name: self.element_name(decl),
            docs: ast.docs.to_vec(),
            kind,
            set: own.set,
            equations: parts.equations.clone(),
            cutoff: own.cutoff,
            potential,
            dissipation: parts.dissipation,
            loads: parts.loads.clone(),
            angles: Vec::new(),
            span: ast.span,
        })
    }

    /// `check` statements of a definition.
    fn definition_checks(&mut self, of: &InstanceOf, scope: &Rc<Scope<'a>>, set: &model::IndexSet) -> R<()> {
        let Some(define) = scope.define else { return Ok(()) };
        for stmt in &define.body.stmts {
            if let StmtKind::Check { label, condition } = &stmt.kind {
                let what = label.as_ref().map_or("check", |t| t.name.name.as_str());
                let name = format!("{}.{what}", self.element_name(of.decl));
                let mut check = self.check(name, condition, scope, set, &stmt.docs)?;
                check.span = self.element_asts[of.decl].span;
                self.checks.push(check);
            }
        }
        let used = scope.used.borrow().clone();
        for inner in &used {
            self.definition_checks(of, inner, set)?;
        }
        Ok(())
    }

    /// `joint j: ... { angle = fixed(90 deg); rate = 0 [rad/s]; }`
    fn initial_values(
        &mut self,
        of: &InstanceOf,
        block: &'a ast::Block,
        scope: &Rc<Scope<'a>>,
        set: &model::IndexSet,
    ) -> R<()> {
        let outer = self.outer_scope(of)?;
        for stmt in &block.stmts {
            let StmtKind::Setting { name, value } = &stmt.kind else {
                return self.fail(SemaError::Misplaced { span: stmt.span, what: "this statement", place: "a joint" });
            };
            let Some((owner, member)) = scope.find_let(&name.name) else {
                let names = scope.names.iter().filter(|(_, d)| matches!(d, Decl::Value(ValueKind::Let, ..)));
                let mut known: Vec<String> = names.map(|(n, _)| (*n).to_owned()).collect();
                known.sort_unstable();
                let owner = format!("`{}`", self.element_name(of.decl));
                return self.fail(SemaError::NoMember {
                    span: name.span,
                    owner,
                    what: "member",
                    name: name.name.clone(),
                    known,
                });
            };
            let now = self.declared(&name.name, member, &owner, name.span)?;
            let now = self.as_quantity(&now, name.span)?;
            let (expr, fixed) = held(value);
            let wanted = self.quantity(expr, &outer)?;
            self.constant_of_motion(wanted.e, expr.span, "an initial value")?;
            self.same_dim("set", stmt.span, (now, name.span), (wanted, expr.span))?;
            let wanted = if self.pool.is_zero(wanted.e) {
                let ty = self.pool.ty(now.e);
                self.pool.zero(ty)
            } else {
                wanted.e
            };
            if self.pool.ty(now.e) != self.pool.ty(wanted) {
                let found = super::expr::shape(self.pool.ty(wanted)).to_owned();
                return self.fail(SemaError::Expected {
                    span: expr.span,
                    expected: super::expr::shape(self.pool.ty(now.e)),
                    found,
                });
            }
            let residual = self.pool.sub(now.e, wanted);
            let level = self.initial_level(residual, name)?;
            let label = format!("{}.{}", self.element_name(of.decl), name.name);
            self.conditions.push(model::Condition {
                name: label,
                set: set.clone(),
                level,
                fixed,
                value: residual,
                span: stmt.span,
            });
        }
        Ok(())
    }

    fn initial_level(&mut self, residual: ExprId, name: &ast::Ident) -> R<Level> {
        let bad = SemaError::NotInitial { span: name.span, name: name.name.clone() };
        let dynamic =
            |n: &Node| matches!(n, Node::Global(_) | Node::Lambda(..) | Node::At(..) | Node::Final(_) | Node::Start(_));
        if self.contains(residual, dynamic) || !self.contains(residual, |n| matches!(n, Node::State(..))) {
            return self.fail(bad);
        }
        if !depends_on_velocity(&self.pool, residual) {
            return Ok(Level::Position);
        }
        let mut d = Differentiator::default();
        for body in crate::symbolic::diff::bodies(&self.pool, &[residual]) {
            for what in [State::V, State::Omega] {
                let wrt = Wrt { what, body };
                let slope = match self.pool.ty(residual) {
                    Ty::Scalar => d.grad(&mut self.pool, residual, wrt),
                    _ => d.jac(&mut self.pool, residual, wrt),
                };
                if depends_on_velocity(&self.pool, slope) {
                    return self.fail(bad);
                }
            }
        }
        Ok(Level::Velocity)
    }
}
