//! Members: `body.pos`, `point.vel`, `joint.angle`, `vector.x`, and the method `dir`.

use std::rc::Rc;

use super::error::{SemaError, nearest};
use super::expr::shape;
use super::scope::{Decl, Scope};
use super::value::{Frame, InstanceOf, Point, Quantity, Value};
use super::{Checker, R};
use crate::source::Span;
use crate::symbolic::diff::{Differentiator, Wrt};
use crate::symbolic::{BodyRef, ExprId, Global, Quantity as State, Ty};
use crate::syntax::ast::{Expr, Ident, ValueKind};
use crate::units::Dim;

const OF_BODY: [&str; 11] =
    ["pos", "vel", "rot", "omega", "omega_world", "axis_x", "axis_y", "axis_z", "com", "origin", "mass"];
const OF_POINT: [&str; 5] = ["pos", "vel", "rot", "omega", "omega_world"];
const OF_ELEMENT: [&str; 6] = ["residual", "residual_pos", "residual_rot", "reaction", "reaction_torque", "multiplier"];

impl<'a> Checker<'a> {
    pub(super) fn field(&mut self, base: &'a Expr, member: &'a Ident, scope: &Rc<Scope<'a>>) -> R<Value<'a>> {
        let value = self.eval(base, scope)?;
        let name = member.name.as_str();
        match value {
            Value::Frame(frame) => self.frame_member(&frame, member),
            Value::Point(point) => match self.kinematics(&point, name)? {
                Some(q) => Ok(Value::Quantity(q)),
                None => {
                    let known = OF_POINT.map(str::to_owned).to_vec();
                    self.fail(SemaError::NoMember {
                        span: member.span,
                        owner: "a point".into(),
                        what: "member",
                        name: name.into(),
                        known,
                    })
                }
            },
            Value::Element(of) => self.element_member(&of, member),
            Value::Momentum => {
                let (what, dim) = match name {
                    "linear" => (Global::LinearMomentum, Dim::MOMENTUM),
                    "angular" => (Global::AngularMomentum, Dim::ANGULAR_MOMENTUM),
                    _ => {
                        let known = vec!["linear".to_owned(), "angular".to_owned()];
                        let owner = "`momentum`".into();
                        return self.fail(SemaError::NoMember {
                            span: member.span,
                            owner,
                            what: "member",
                            name: name.into(),
                            known,
                        });
                    }
                };
                Ok(Value::Quantity(Quantity { e: self.pool.global(what), dim: Some(dim) }))
            }
            Value::Quantity(q) if self.pool.ty(q.e) == Ty::Vec3 => {
                let k = match name {
                    "x" => 0,
                    "y" => 1,
                    "z" => 2,
                    _ => {
                        let known = ["x", "y", "z"].map(str::to_owned).to_vec();
                        let owner = "a vector".into();
                        return self.fail(SemaError::NoMember {
                            span: member.span,
                            owner,
                            what: "component",
                            name: name.into(),
                            known,
                        });
                    }
                };
                Ok(Value::Quantity(Quantity { e: self.pool.comp(q.e, k), dim: q.dim }))
            }
            Value::Quantity(q) => {
                let owner = shape(self.pool.ty(q.e)).to_owned();
                self.fail(SemaError::NoMember {
                    span: member.span,
                    owner,
                    what: "member",
                    name: name.into(),
                    known: Vec::new(),
                })
            }
            other @ (Value::BodyArray(_) | Value::ElementArray(_) | Value::LetArray(..) | Value::Start) => {
                self.fail(SemaError::Expected {
                    span: base.span,
                    expected: "one element, as in `name[0]`",
                    found: other.kind().into(),
                })
            }
        }
    }

    /// `p.dir(v)`: body components to inertial ones.
    pub(super) fn direction(&mut self, base: &'a Expr, arg: &'a Expr, scope: &Rc<Scope<'a>>) -> R<Value<'a>> {
        let value = self.eval(base, scope)?;
        let frame = match value {
            Value::Frame(frame) => frame,
            Value::Point(point) => point.frame,
            other => {
                return self.fail(SemaError::Expected {
                    span: base.span,
                    expected: "a body or a point",
                    found: other.kind().into(),
                });
            }
        };
        let v = self.vec3(arg, scope)?;
        let r = self.rotation(&frame);
        Ok(Value::Quantity(Quantity { e: self.pool.mat_vec(r, v.e), dim: v.dim }))
    }

    fn body_ref(&mut self, of: &InstanceOf) -> BodyRef {
        let decl = u32::try_from(of.decl).expect("fewer than 2^32 bodies");
        self.pool.body_ref(decl, of.indices.clone())
    }

    /// `R`, body to inertial.
    pub(super) fn rotation(&mut self, frame: &Frame) -> ExprId {
        match frame {
            Frame::Body(of) if !self.body_asts[of.decl].particle => {
                let body = self.body_ref(of);
                self.pool.state(State::R, body)
            }
            Frame::Body(_) | Frame::Ground => self.pool.identity(),
        }
    }

    /// `Omega`, body axes.
    pub(super) fn angular_velocity(&mut self, frame: &Frame) -> ExprId {
        match frame {
            Frame::Body(of) if !self.body_asts[of.decl].particle => {
                let body = self.body_ref(of);
                self.pool.state(State::Omega, body)
            }
            Frame::Body(_) | Frame::Ground => self.pool.zero(Ty::Vec3),
        }
    }

    /// `R Omega`.
    pub(super) fn angular_velocity_world(&mut self, frame: &Frame) -> ExprId {
        let (r, omega) = (self.rotation(frame), self.angular_velocity(frame));
        self.pool.mat_vec(r, omega)
    }

    /// Coordinates of a point from the centre of mass, body axes.
    fn arm(&mut self, of: &InstanceOf, local: ExprId) -> R<ExprId> {
        let com = self.mass_properties(of)?.com;
        Ok(self.pool.sub(local, com))
    }

    /// Position of a point: `x + R (local - com)`.
    pub(super) fn point_pos(&mut self, point: &Point) -> R<ExprId> {
        let Frame::Body(of) = &point.frame else { return Ok(point.local) };
        let arm = self.arm(of, point.local)?;
        let body = self.body_ref(of);
        let x = self.pool.state(State::X, body);
        let r = self.rotation(&point.frame);
        let turned = self.pool.mat_vec(r, arm);
        Ok(self.pool.add(x, turned))
    }

    /// Velocity of a point: `v + R (Omega x (local - com))`.
    pub(super) fn point_vel(&mut self, point: &Point) -> R<ExprId> {
        let Frame::Body(of) = &point.frame else { return Ok(self.pool.zero(Ty::Vec3)) };
        let arm = self.arm(of, point.local)?;
        let body = self.body_ref(of);
        let v = self.pool.state(State::V, body);
        let (r, omega) = (self.rotation(&point.frame), self.angular_velocity(&point.frame));
        let swept = self.pool.cross(omega, arm);
        let turned = self.pool.mat_vec(r, swept);
        Ok(self.pool.add(v, turned))
    }

    fn kinematics(&mut self, point: &Point, name: &str) -> R<Option<Quantity>> {
        let (e, dim) = match name {
            "pos" => (self.point_pos(point)?, Dim::LENGTH),
            "vel" => (self.point_vel(point)?, Dim::VELOCITY),
            "rot" => (self.rotation(&point.frame), Dim::ONE),
            "omega" => (self.angular_velocity(&point.frame), Dim::RATE),
            "omega_world" => (self.angular_velocity_world(&point.frame), Dim::RATE),
            _ => return Ok(None),
        };
        Ok(Some(Quantity { e, dim: Some(dim) }))
    }

    /// The reference frame's origin of a body.
    pub(super) fn origin(&mut self, frame: &Frame) -> Point {
        Point { frame: frame.clone(), local: self.pool.zero(Ty::Vec3) }
    }

    fn frame_member(&mut self, frame: &Frame, member: &'a Ident) -> R<Value<'a>> {
        let name = member.name.as_str();
        let scopes = self.frame_scopes(frame)?;
        for scope in &scopes {
            if let Some(&decl @ Decl::Value(..)) = scope.names.get(name) {
                return self.declared(name, decl, scope, member.span);
            }
        }
        let origin = self.origin(frame);
        match name {
            "origin" => return Ok(Value::Point(origin)),
            "com" => {
                let local = match frame {
                    Frame::Ground => origin.local,
                    Frame::Body(of) => self.mass_properties(of)?.com,
                };
                return Ok(Value::Point(Point { frame: frame.clone(), local }));
            }
            _ => {}
        }
        if let Frame::Body(of) = frame {
            if let Some(q) = self.kinematics(&origin, name)? {
                return Ok(Value::Quantity(q));
            }
            match name {
                "axis_x" | "axis_y" | "axis_z" => {
                    let k = match name {
                        "axis_x" => 0,
                        "axis_y" => 1,
                        _ => 2,
                    };
                    let (r, e) = (self.rotation(frame), self.pool.unit(k));
                    return Ok(Value::Quantity(Quantity { e: self.pool.mat_vec(r, e), dim: Some(Dim::ONE) }));
                }
                "mass" => {
                    let e = self.mass_properties(of)?.mass;
                    return Ok(Value::Quantity(Quantity { e, dim: Some(Dim::MASS) }));
                }
                _ => {}
            }
        }
        let owner = match frame {
            Frame::Ground => "the ground".to_owned(),
            Frame::Body(of) => format!("body `{}`", self.body_asts[of.decl].target.name.name),
        };
        let mut points: Vec<String> = Vec::new();
        for scope in &scopes {
            let named = scope.names.iter().filter(|(_, d)| matches!(d, Decl::Value(ValueKind::Point, ..)));
            points.extend(named.map(|(n, _)| (*n).to_owned()));
        }
        points.sort_unstable();
        let is_ground = matches!(frame, Frame::Ground);
        let (mut what, mut known) = ("point", points);
        if is_ground {
            known.push("origin".to_owned());
        } else if nearest(name, known.iter().map(String::as_str)).is_none() {
            what = "point or member";
            match nearest(name, OF_BODY) {
                Some(near) => known = vec![near],
                None => known.extend(OF_BODY.map(str::to_owned)),
            }
        }
        self.fail(SemaError::NoMember { span: member.span, owner, what, name: name.into(), known })
    }

    fn element_member(&mut self, of: &InstanceOf, member: &'a Ident) -> R<Value<'a>> {
        let name = member.name.as_str();
        if let Some(scope) = self.element_scope(of)?
            && let Some((owner, decl)) = scope.find_let(name)
        {
            let before = self.use_site.replace(member.span);
            let value = self.declared(name, decl, &owner, member.span);
            self.use_site = before;
            return value;
        }
        if OF_ELEMENT.contains(&name) {
            return self.constraint_member(of, member).map(Value::Quantity);
        }
        let mut known: Vec<String> = OF_ELEMENT.map(str::to_owned).to_vec();
        if let Some(scope) = self.element_scope(of)? {
            let lets = scope.names.iter().filter(|(_, d)| matches!(d, Decl::Value(ValueKind::Let, ..)));
            let mut lets: Vec<String> = lets.map(|(n, _)| (*n).to_owned()).collect();
            lets.sort_unstable();
            known.splice(0..0, lets);
        }
        let owner = format!("`{}`", self.element_name(of.decl));
        self.fail(SemaError::NoMember { span: member.span, owner, what: "member", name: name.into(), known })
    }

    /// Residuals, multipliers and reactions of a constraint element.
    fn constraint_member(&mut self, of: &InstanceOf, member: &'a Ident) -> R<Quantity> {
        let equations = self.equations_of(of)?;
        let name = member.name.as_str();
        let owner = format!("`{}`", self.element_name(of.decl));
        let missing = |this: &mut Self, known: &[&str]| {
            let known = known.iter().map(|k| (*k).to_owned()).collect();
            this.fail(SemaError::NoMember {
                span: member.span,
                owner: owner.clone(),
                what: "member",
                name: name.into(),
                known,
            })
        };
        if equations.is_empty() {
            return missing(self, &[]);
        }
        let one_dim = equations.iter().all(|q| q.dim == equations[0].dim);
        match name {
            "residual" if one_dim => {
                let all: Vec<ExprId> = equations.iter().map(|q| q.phi).collect();
                self.stack(&all, member.span, equations[0].dim)
            }
            "residual" => missing(self, &["residual_pos", "residual_rot"]),
            "residual_pos" | "residual_rot" => {
                let dim = if name == "residual_pos" { Dim::LENGTH } else { Dim::ONE };
                let all: Vec<ExprId> = equations.iter().filter(|q| q.dim == dim).map(|q| q.phi).collect();
                if all.is_empty() {
                    return missing(self, &["residual"]);
                }
                self.stack(&all, member.span, dim)
            }
            "multiplier" => {
                if !one_dim {
                    return missing(self, &["reaction", "reaction_torque"]);
                }
                let mut all = Vec::new();
                for (group, q) in (0..).zip(&equations) {
                    let ty = self.pool.ty(q.phi);
                    let element = self.element_ref(of);
                    all.push(self.pool.lambda(element, group, ty));
                }
                self.stack(&all, member.span, Dim::ENERGY.over(equations[0].dim))
            }
            _ => self.reaction(of, name == "reaction_torque", member.span),
        }
    }

    /// Up to three scalar rows, or one vector, as one quantity.
    fn stack(&mut self, all: &[ExprId], span: Span, dim: Dim) -> R<Quantity> {
        let zero = self.pool.num(0.0);
        let scalars = all.iter().all(|&e| self.pool.ty(e) == Ty::Scalar);
        let e = match *all {
            [one] => one,
            [a, b] if scalars => self.pool.vec(a, b, zero),
            [a, b, c] if scalars => self.pool.vec(a, b, c),
            _ => {
                let found = "more than three rows".to_owned();
                return self.fail(SemaError::Expected { span, expected: "at most three rows", found });
            }
        };
        Ok(Quantity { e, dim: Some(dim) })
    }

    /// Force, or torque about the second point, that the joint puts on the second point's body: `-B^T lambda`.
    fn reaction(&mut self, of: &InstanceOf, torque: bool, span: Span) -> R<Quantity> {
        let Some((first, second)) = self.joint_points(of)? else {
            let owner = format!("`{}`", self.element_name(of.decl));
            let known = vec!["multiplier".to_owned()];
            return self.fail(SemaError::NoMember { span, owner, what: "member", name: "reaction".into(), known });
        };
        let mut work = self.pool.num(0.0);
        for (group, q) in (0..).zip(self.equations_of(of)?) {
            let ty = self.pool.ty(q.phi);
            let element = self.element_ref(of);
            let lambda = self.pool.lambda(element, group, ty);
            let term = if ty == Ty::Vec3 { self.pool.dot(lambda, q.phi) } else { self.pool.mul(lambda, q.phi) };
            work = self.pool.add(work, term);
        }
        // On the ground acts the opposite of what acts on the first body.
        let (on, sign) = match (&second.frame, &first.frame) {
            (Frame::Body(of), _) => (of.clone(), -1.0),
            (Frame::Ground, Frame::Body(of)) => (of.clone(), 1.0),
            (Frame::Ground, Frame::Ground) => {
                return Ok(Quantity { e: self.pool.zero(Ty::Vec3), dim: Some(Dim::FORCE) });
            }
        };
        let body = self.body_ref(&on);
        let mut d = Differentiator::default();
        let force = d.grad(&mut self.pool, work, Wrt { what: State::X, body });
        let sign = self.pool.num(sign);
        if !torque {
            return Ok(Quantity { e: self.pool.scale(sign, force), dim: Some(Dim::FORCE) });
        }
        let moment = match self.body_asts[on.decl].particle {
            true => self.pool.zero(Ty::Vec3),
            false => {
                let turned = d.grad(&mut self.pool, work, Wrt { what: State::R, body });
                let r = self.pool.state(State::R, body);
                self.pool.mat_vec(r, turned)
            }
        };
        // From the centre of mass to the second point.
        let x = self.pool.state(State::X, body);
        let at = self.point_pos(&second)?;
        let arm = self.pool.sub(at, x);
        let shift = self.pool.cross(arm, force);
        let about = self.pool.sub(moment, shift);
        Ok(Quantity { e: self.pool.scale(sign, about), dim: Some(Dim::ENERGY) })
    }
}
