//! Bodies: their scopes, mass properties and initial values.

use std::rc::Rc;

use super::error::SemaError;
use super::scope::{Decl, Scope};
use super::shapes::{MassProperties, Solid};
use super::value::{Frame, InstanceOf, Quantity, Value};
use super::{Checker, R};
use crate::model::{self, Level};
use crate::source::Span;
use crate::symbolic::{ExprId, Ty};
use crate::syntax::ast::{self, Arg, DefineKind, Expr, ExprKind, StmtKind, TypedKind};
use crate::units::Dim;

const SETTINGS: &[&str] = &["mass", "inertia", "com", "pos", "rot", "vel", "omega"];
const PARTICLE_SETTINGS: &[&str] = &["mass", "pos", "vel"];

/// A body as declared.
#[derive(Clone, Copy, Debug)]
pub(super) struct BodyAst<'a> {
    pub target: &'a ast::Target,
    pub particle: bool,
    /// Type and arguments of `body b: Type(args)`.
    pub call: Option<(&'a [ast::Ident], &'a [Arg])>,
    pub block: Option<&'a ast::Block>,
    pub docs: &'a [String],
    pub span: Span,
}

/// `fixed(v)`, `guess(v)` or plain `v`.
pub(super) fn held(expr: &Expr) -> (&Expr, bool) {
    if let ExprKind::Call(callee, args) = &expr.kind
        && let (ExprKind::Name(name), [Arg::Positional(value)]) = (&callee.kind, args.as_slice())
        && (name == "fixed" || name == "guess")
    {
        return (value, name == "fixed");
    }
    (expr, false)
}

impl<'a> Checker<'a> {
    /// Scopes of the blocks of a body, overriding block first; points and `let`s are found in them.
    pub(super) fn frame_scopes(&mut self, frame: &Frame) -> R<Vec<Rc<Scope<'a>>>> {
        match frame {
            Frame::Ground => Ok(self.ground_scope.iter().cloned().collect()),
            Frame::Body(of) => Ok(self.body_blocks(of)?.into_iter().map(|(_, scope)| scope).collect()),
        }
    }

    /// Blocks of a body with their scopes, overriding block first.
    fn body_blocks(&mut self, of: &InstanceOf) -> R<Vec<(&'a ast::Block, Rc<Scope<'a>>)>> {
        if let Some(known) = self.body_scopes.get(of) {
            return Ok(known.clone());
        }
        let ast = self.body_asts[of.decl];
        let model = Rc::clone(&self.model_scope);
        let base = Rc::new(self.with_indices(ast.target.set.as_ref(), &of.indices, &model)?);
        let mut blocks = Vec::new();
        if let Some(block) = ast.block {
            let names = self.block_names(block);
            let scope = Scope {
                parent: Some(Rc::clone(&base)),
                names,
                frame: Some(Frame::Body(of.clone())),
                ..Scope::default()
            };
            blocks.push((block, Rc::new(scope)));
        }
        if let Some((path, args)) = ast.call {
            let (define, owner) = self.find_define(path, DefineKind::Body, &model)?;
            let mut scope =
                self.bind_arguments(&define.name.name, path[0].span, &define.formals, args, &base, &owner)?;
            scope.names = self.block_names(&define.body);
            scope.frame = Some(Frame::Body(of.clone()));
            blocks.push((&define.body, Rc::new(scope)));
        }
        self.body_scopes.insert(of.clone(), blocks.clone());
        Ok(blocks)
    }

    /// The expression of a setting, with the scope that it stands in.
    fn setting(blocks: &[(&'a ast::Block, Rc<Scope<'a>>)], name: &str) -> Option<(&'a Expr, Rc<Scope<'a>>)> {
        blocks.iter().find_map(|(block, scope)| {
            block.stmts.iter().find_map(|stmt| match &stmt.kind {
                StmtKind::Setting { name: n, value } if n.name == name => Some((value, Rc::clone(scope))),
                _ => None,
            })
        })
    }

    /// Mass, centre of mass and inertia of a body.
    pub(super) fn mass_properties(&mut self, of: &InstanceOf) -> R<MassProperties> {
        if let Some(known) = self.masses.get(of) {
            return *known;
        }
        // A point that needs the centre of mass of its own body while that is being computed is a cycle.
        self.masses.insert(of.clone(), Err(super::Reported));
        let result = self.find_mass_properties(of);
        self.masses.insert(of.clone(), result);
        result
    }

    fn find_mass_properties(&mut self, of: &InstanceOf) -> R<MassProperties> {
        let blocks = self.body_blocks(of)?;
        let ast = self.body_asts[of.decl];
        let name = ast.target.name.name.clone();
        let mut solids: Vec<Solid> = Vec::new();
        for (block, scope) in &blocks {
            for stmt in &block.stmts {
                if let StmtKind::Typed { kind: TypedKind::Solid, path, args, .. } = &stmt.kind {
                    if ast.particle {
                        return self.fail(SemaError::Misplaced {
                            span: stmt.span,
                            what: "a solid",
                            place: "a particle",
                        });
                    }
                    solids.push(self.solid(&path[0].name, args, path[0].span, scope)?);
                }
            }
        }
        if !solids.is_empty() {
            for key in ["mass", "inertia", "com"] {
                if let Some((value, _)) = Self::setting(&blocks, key) {
                    return self.fail(SemaError::SettingWithSolids { span: value.span, name: key.into() });
                }
            }
            return Ok(self.sum_of_solids(&solids));
        }
        let missing = |this: &mut Self, what, example| {
            this.fail(SemaError::MissingSetting { span: ast.target.name.span, body: name.clone(), name: what, example })
        };
        let Some((expr, scope)) = Self::setting(&blocks, "mass") else { return missing(self, "mass", "mass = 1 kg;") };
        let q = self.scalar(expr, &scope)?;
        let q = self.with_dim(q, Dim::MASS, "the mass", expr.span)?;
        let mass = self.constant_quantity(q, expr.span, "the mass")?;
        let zero = self.pool.zero(Ty::Vec3);
        if ast.particle {
            return Ok(MassProperties { mass, com: zero, inertia: self.pool.zero(Ty::Mat3) });
        }
        let com = match Self::setting(&blocks, "com") {
            Some((expr, scope)) => {
                let q = self.vec3(expr, &scope)?;
                let q = self.with_dim(q, Dim::LENGTH, "the centre of mass", expr.span)?;
                self.constant_quantity(q, expr.span, "the centre of mass")?
            }
            None => zero,
        };
        let Some((expr, scope)) = Self::setting(&blocks, "inertia") else {
            return missing(self, "inertia", "inertia = diag([1, 1, 1] [kg*m^2]);");
        };
        let inertia = match &expr.kind {
            ExprKind::Call(callee, args) if matches!(&callee.kind, ExprKind::Name(n) if super::shapes::is_shape(n)) => {
                let ExprKind::Name(shape) = &callee.kind else { return Err(super::Reported) };
                let (shape, _) = self.shape(shape, args, expr.span, &scope, &[])?;
                self.pool.scale(mass, shape.inertia)
            }
            _ => {
                let q = self.quantity(expr, &scope)?;
                let q = self.of_type(q, Ty::Mat3, expr.span)?;
                let q = self.with_dim(q, Dim::INERTIA, "the inertia", expr.span)?;
                self.constant_quantity(q, expr.span, "the inertia")?
            }
        };
        Ok(MassProperties { mass, com, inertia })
    }

    /// Checks a body declaration in its own indices and adds it to the model.
    pub(super) fn declare_body(&mut self, decl: usize, first: usize) -> R<model::Body> {
        let ast = self.body_asts[decl];
        let own = self.body_set(decl)?.clone();
        let of = InstanceOf { decl, indices: own.own.clone() };
        let blocks = self.body_blocks(&of)?;
        self.check_body_statements(&blocks, ast.particle);
        let mass = self.mass_properties(&of)?;
        let frame = Frame::Body(of);
        let mut placement = model::Placement::default();
        for (key, what, dim) in [
            ("pos", "a position", Dim::LENGTH),
            ("vel", "a velocity", Dim::VELOCITY),
            ("omega", "an angular velocity", Dim::RATE),
            ("rot", "a rotation", Dim::ONE),
        ] {
            let Some((expr, scope)) = Self::setting(&blocks, key) else { continue };
            let (expr, fixed) = held(expr);
            let q = match key {
                "rot" => {
                    let q = self.quantity(expr, &scope)?;
                    if self.pool.ty(q.e) != Ty::Rot {
                        let found = super::expr::shape(self.pool.ty(q.e)).to_owned();
                        return self.fail(SemaError::Expected {
                            span: expr.span,
                            expected: "a rotation such as `about([0, 0, 1], 90 deg)`",
                            found,
                        });
                    }
                    q
                }
                _ => self.vec3(expr, &scope)?,
            };
            let q = self.with_dim(q, dim, what, expr.span)?;
            self.constant_of_motion(q.e, expr.span, "an initial value")?;
            match key {
                "pos" => placement.pos = Some(q.e),
                "vel" => placement.vel = Some(q.e),
                "omega" => placement.omega = Some(q.e),
                _ => placement.rot = Some(q.e),
            }
            if fixed {
                self.hold(&frame, key, q.e, decl, &own.set, expr.span)?;
            }
        }
        let inertia_span = Self::setting(&blocks, "inertia").map_or(ast.target.name.span, |(e, _)| e.span);
        Ok(model::Body {
            name: ast.target.name.name.clone(),
            docs: ast.docs.to_vec(),
            kind: if ast.particle { model::BodyKind::Particle } else { model::BodyKind::Rigid },
            first,
            set: own.set,
            mass: mass.mass,
            com: mass.com,
            inertia: mass.inertia,
            placement,
            span: ast.span,
            inertia_span,
        })
    }

    /// `pos = fixed(v)` and its like: a condition on the initial values.
    fn hold(&mut self, frame: &Frame, key: &str, v: ExprId, decl: usize, set: &model::IndexSet, span: Span) -> R<()> {
        let origin = self.origin(frame);
        let (value, level) = match key {
            "pos" => {
                let now = self.point_pos(&origin)?;
                (self.pool.sub(now, v), Level::Position)
            }
            "vel" => {
                let now = self.point_vel(&origin)?;
                (self.pool.sub(now, v), Level::Velocity)
            }
            "omega" => {
                let now = self.angular_velocity(frame);
                (self.pool.sub(now, v), Level::Velocity)
            }
            _ => {
                let (now, back) = (self.rotation(frame), self.pool.transpose(v));
                let difference = self.pool.mat_mul(back, now);
                (self.pool.log_so3(difference), Level::Position)
            }
        };
        let name = format!("{}.{key}", self.body_asts[decl].target.name.name);
        self.conditions.push(model::Condition { name, set: set.clone(), level, fixed: true, value, span });
        Ok(())
    }

    fn check_body_statements(&mut self, blocks: &[(&'a ast::Block, Rc<Scope<'a>>)], particle: bool) {
        let known = if particle { PARTICLE_SETTINGS } else { SETTINGS };
        for (block, scope) in blocks {
            let mut seen: Vec<&ast::Ident> = Vec::new();
            for stmt in &block.stmts {
                match &stmt.kind {
                    StmtKind::Setting { name, .. } => {
                        if !known.contains(&name.name.as_str()) {
                            let place = if particle { "a particle" } else { "a body" };
                            self.report(SemaError::UnknownSetting {
                                span: name.span,
                                name: name.name.clone(),
                                place,
                                known,
                            });
                        }
                        if let Some(first) = seen.iter().find(|n| n.name == name.name) {
                            let first = first.span;
                            self.report(SemaError::Redefined { span: name.span, name: name.name.clone(), first });
                        }
                        seen.push(name);
                    }
                    StmtKind::Value { kind: ast::ValueKind::Let | ast::ValueKind::Point, target, value } => {
                        if target.set.is_none() {
                            let decl = scope.names.get(target.name.name.as_str()).copied();
                            if let Some(decl @ Decl::Value(..)) = decl {
                                // Reports what is wrong even where nobody uses the name.
                                let _reported = self.declared(&target.name.name, decl, scope, value.span);
                            }
                        }
                    }
                    StmtKind::Value { kind: ast::ValueKind::Frame, target, .. } => {
                        self.report(super::unsupported(target.name.span, "frames"));
                    }
                    StmtKind::Typed { kind: TypedKind::Solid, .. } => {}
                    _ => self.report(SemaError::Misplaced { span: stmt.span, what: "this statement", place: "a body" }),
                }
            }
        }
    }

    /// What a load acts on: velocity of a point (force) or angular velocity (torque), inertial axes.
    pub(super) fn load_velocity(&mut self, expr: &'a Expr, torque: bool, scope: &Rc<Scope<'a>>) -> R<ExprId> {
        let value = self.eval(expr, scope)?;
        if torque {
            let frame = match value {
                Value::Frame(frame) => frame,
                Value::Point(point) => point.frame,
                other => {
                    return self.fail(SemaError::Expected {
                        span: expr.span,
                        expected: "a body",
                        found: other.kind().into(),
                    });
                }
            };
            if matches!(&frame, Frame::Body(of) if self.body_asts[of.decl].particle) {
                return self.fail(SemaError::Expected {
                    span: expr.span,
                    expected: "a body that can turn",
                    found: "a particle".into(),
                });
            }
            return Ok(self.angular_velocity_world(&frame));
        }
        let point = match &value {
            // A force on a whole body acts at its centre of mass.
            Value::Frame(frame @ Frame::Body(of)) => {
                let local = self.mass_properties(of)?.com;
                super::value::Point { frame: frame.clone(), local }
            }
            Value::Frame(Frame::Ground) => self.origin(&Frame::Ground),
            other => self.as_point(other, expr.span)?,
        };
        self.point_vel(&point)
    }

    /// A parameter: declared in the pool on first use.
    pub(super) fn parameter(
        &mut self,
        target: &'a ast::Target,
        value: &'a Expr,
        owner: &Rc<Scope<'a>>,
    ) -> R<Value<'a>> {
        let (param, ty) = self.given(target, value, owner, "the default of a parameter")?;
        let number = self.pool.declare_param(ty);
        let dim = param.dim;
        self.params.push(param);
        let e = self.pool.param(number);
        Ok(Value::Quantity(Quantity { e, dim: Some(dim) }))
    }

    /// An input: declared in the pool on first use.
    pub(super) fn input(&mut self, target: &'a ast::Target, value: &'a Expr, owner: &Rc<Scope<'a>>) -> R<Value<'a>> {
        let (input, ty) = self.given(target, value, owner, "the default of an input")?;
        let number = self.pool.declare_input(ty);
        let dim = input.dim;
        self.inputs.push(input);
        let e = self.pool.input(number);
        Ok(Value::Quantity(Quantity { e, dim: Some(dim) }))
    }

    /// What is given from outside, with its default, and its type.
    fn given(
        &mut self,
        target: &'a ast::Target,
        value: &'a Expr,
        owner: &Rc<Scope<'a>>,
        what: &'static str,
    ) -> R<(model::Param, Ty)> {
        let q = self.quantity(value, owner)?;
        let name = &target.name;
        self.constant_of_motion(q.e, value.span, what)?;
        let ty = self.pool.ty(q.e);
        if ty == Ty::Bool {
            return self.fail(SemaError::Expected {
                span: value.span,
                expected: "a number",
                found: "a truth value".into(),
            });
        }
        if self.constant_value(q.e).is_some_and(|x| !x.is_finite()) {
            return self.fail(SemaError::NotFinite { span: value.span, name: name.name.clone() });
        }
        let dim = q.dim.unwrap_or(Dim::ONE);
        let docs = self.param_docs.get(name.name.as_str()).map_or(Vec::new(), |d| d.to_vec());
        Ok((model::Param { name: name.name.clone(), docs, default: q.e, dim, span: name.span }, ty))
    }

    /// A structural constant, with its override.
    pub(super) fn constant(&mut self, target: &'a ast::Target, value: &'a Expr, owner: &Rc<Scope<'a>>) -> R<Value<'a>> {
        let q = self.scalar(value, owner)?;
        let Some(mut x) = self.constant_value(q.e) else {
            return self.fail(SemaError::NotConstant { span: value.span, what: "a `const`" });
        };
        let name = &target.name.name;
        if let Some((_, value)) = self.overrides.iter().find(|(n, _)| n == name) {
            x = *value;
        }
        if !x.is_finite() {
            return self.fail(SemaError::NotFinite { span: value.span, name: name.clone() });
        }
        let dim = q.dim.unwrap_or(Dim::ONE);
        self.consts.push(model::Const { name: name.clone(), value: x, dim });
        let number = self.pool.declare_const(x);
        let e = self.pool.constant(number);
        Ok(Value::Quantity(Quantity { e, dim: Some(dim) }))
    }
}
