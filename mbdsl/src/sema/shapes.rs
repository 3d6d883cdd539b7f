//! Mass properties from shapes: volume, centre and inertia of solids, and their sum by the parallel-axis theorem.
//!
//! Every shape sits with its centre of mass at its own origin. Inertias are per unit mass, about the centre of mass:
//! `J / m = t (1 - n n^T) + a n n^T` for a shape with the axis n, a axial and t transverse.

use std::rc::Rc;

use super::scope::Scope;
use super::value::{Quantity, Value};
use super::{Checker, R};
use crate::source::Span;
use crate::symbolic::ExprId;
use crate::syntax::ast::{Arg, Expr, Formal};
use crate::units::Dim;

/// Signatures: name, required lengths, whether it takes an axis, example.
const SHAPES: [(&str, &[&str], bool); 9] = [
    ("rod", &["length"], true),
    ("sphere", &["radius"], false),
    ("shell", &["radius"], false),
    ("cylinder", &["radius", "length"], true),
    ("disc", &["radius"], true),
    ("cone", &["radius", "height"], true),
    ("tube", &["outer", "inner", "length"], true),
    ("box", &["size"], false),
    ("point_mass", &[], false),
];

pub(super) fn is_shape(name: &str) -> bool {
    SHAPES.iter().any(|(n, ..)| *n == name)
}

/// A shape of unit mass.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shape {
    /// Volume, m^3; `None` for shapes without one.
    pub volume: Option<ExprId>,
    /// Inertia over mass about the centre of mass (mat3, m^2).
    pub inertia: ExprId,
}

/// A shape somewhere in a body.
#[derive(Clone, Copy, Debug)]
pub(super) struct Solid {
    /// Mass.
    pub mass: ExprId,
    /// Centre of mass in the body.
    pub at: ExprId,
    /// Inertia about the own centre of mass in body axes.
    pub inertia: ExprId,
}

/// Mass, centre of mass and inertia about it.
#[derive(Clone, Copy, Debug)]
pub(super) struct MassProperties {
    /// Mass.
    pub mass: ExprId,
    /// Centre of mass in the reference frame of the body.
    pub com: ExprId,
    /// Inertia about the centre of mass, body axes.
    pub inertia: ExprId,
}

impl<'a> Checker<'a> {
    /// Reads a shape call. Arguments other than its own are left to `rest` (`mass`, `density`, `at`, `rot`).
    pub(super) fn shape(
        &mut self,
        name: &str,
        args: &'a [Arg],
        span: Span,
        scope: &Rc<Scope<'a>>,
        rest: &[&str],
    ) -> R<(Shape, Vec<(&'a str, &'a Expr)>)> {
        let Some((_, lengths, has_axis)) = SHAPES.iter().find(|(n, ..)| *n == name) else {
            return self.fail(super::error::SemaError::UnknownKind {
                span,
                what: "shape",
                name: name.into(),
                near: super::error::nearest(name, SHAPES.iter().map(|(n, ..)| *n)),
                known: SHAPES.iter().map(|(n, ..)| (*n).to_owned()).collect(),
            });
        };
        let example = super::builtins::example(name);
        let mut own: Vec<Option<&'a Expr>> = vec![None; lengths.len()];
        let mut axis = None;
        let mut others = Vec::new();
        let mut position = 0;
        for arg in args {
            match arg {
                Arg::Positional(e) => match own.get_mut(position) {
                    Some(slot) => {
                        *slot = Some(e);
                        position += 1;
                    }
                    None => return self.arguments(e.span, name, "has too many arguments", &example),
                },
                Arg::Named(key, e) => {
                    if let Some(k) = lengths.iter().position(|l| *l == key.name) {
                        own[k] = Some(e);
                    } else if *has_axis && (key.name == "axis" || key.name == "along") {
                        axis = Some(e);
                    } else if rest.contains(&key.name.as_str()) {
                        others.push((key.name.as_str(), e));
                    } else {
                        return self.arguments(key.span, name, &format!("has no argument `{}`", key.name), &example);
                    }
                }
                Arg::Over(range) => {
                    return self.arguments(range.name.span, name, "does not run over a range", &example);
                }
            }
        }
        let mut sizes = Vec::with_capacity(own.len());
        for (slot, length) in own.iter().zip(*lengths) {
            let Some(e) = slot else {
                return self.arguments(span, name, &format!("needs `{length}`"), &example);
            };
            let q = if *length == "size" { self.vec3(e, scope)? } else { self.scalar(e, scope)? };
            let q = self.with_dim(q, Dim::LENGTH, &format!("`{length}`"), e.span)?;
            self.constant_of_motion(q.e, e.span, "a shape")?;
            sizes.push(q.e);
        }
        let n = match axis {
            Some(e) => {
                let a = self.axis(e, scope)?;
                let norm = self.pool.norm(a);
                let one = self.pool.num(1.0);
                let inverse = self.pool.div(one, norm);
                self.pool.scale(inverse, a)
            }
            None => self.pool.unit(2),
        };
        Ok((self.shape_of(name, &sizes, n), others))
    }

    fn shape_of(&mut self, name: &str, sizes: &[ExprId], n: ExprId) -> Shape {
        let p = &mut self.pool;
        let squares: Vec<ExprId> =
            if name == "box" { (0..3).map(|k| p.comp(sizes[0], k)).collect() } else { sizes.to_vec() };
        let squares: Vec<ExprId> = squares.into_iter().map(|s| p.pow_int(s, 2)).collect();
        let times = |p: &mut crate::symbolic::ExprPool, x: f64, e: ExprId| {
            let c = p.num(x);
            p.mul(c, e)
        };
        let zero = p.num(0.0);
        let pi = std::f64::consts::PI;
        // (volume, axial, transverse)
        let (volume, axial, transverse) = match name {
            "rod" => (None, zero, times(p, 1.0 / 12.0, squares[0])),
            "sphere" => {
                let cube = p.pow_int(sizes[0], 3);
                let i = times(p, 0.4, squares[0]);
                (Some(times(p, 4.0 / 3.0 * pi, cube)), i, i)
            }
            "shell" => {
                let i = times(p, 2.0 / 3.0, squares[0]);
                (None, i, i)
            }
            "cylinder" => {
                let area = times(p, pi, squares[0]);
                let (r, l) = (times(p, 0.25, squares[0]), times(p, 1.0 / 12.0, squares[1]));
                (Some(p.mul(area, sizes[1])), times(p, 0.5, squares[0]), p.add(r, l))
            }
            "disc" => (None, times(p, 0.5, squares[0]), times(p, 0.25, squares[0])),
            "cone" => {
                let base = times(p, pi / 3.0, squares[0]);
                let (r, l) = (times(p, 3.0 / 20.0, squares[0]), times(p, 3.0 / 80.0, squares[1]));
                (Some(p.mul(base, sizes[1])), times(p, 0.3, squares[0]), p.add(r, l))
            }
            "tube" => {
                let ring = p.sub(squares[0], squares[1]);
                let area = times(p, pi, ring);
                let both = p.add(squares[0], squares[1]);
                let (r, l) = (times(p, 0.25, both), times(p, 1.0 / 12.0, squares[2]));
                (Some(p.mul(area, sizes[2])), times(p, 0.5, both), p.add(r, l))
            }
            "box" => {
                let [a, b, c] = [0, 1, 2].map(|k| times(p, 1.0 / 12.0, squares[k]));
                let (x, y, z) = (p.add(b, c), p.add(a, c), p.add(a, b));
                let d = p.vec(x, y, z);
                let [a, b, c] = [0, 1, 2].map(|k| p.comp(sizes[0], k));
                let area = p.mul(a, b);
                return Shape { volume: Some(p.mul(area, c)), inertia: p.diag(d) };
            }
            _ => (None, zero, zero),
        };
        if axial == transverse {
            let d = p.vec(axial, axial, axial);
            return Shape { volume, inertia: p.diag(d) };
        }
        let one = p.identity();
        let isotropic = p.scale(transverse, one);
        let difference = p.sub(axial, transverse);
        let outer = p.outer(n, n);
        let along = p.scale(difference, outer);
        Shape { volume, inertia: p.add(isotropic, along) }
    }

    /// `solid s: box(..., density = .., at = .., rot = ..)`
    pub(super) fn solid(&mut self, name: &'a str, args: &'a [Arg], span: Span, scope: &Rc<Scope<'a>>) -> R<Solid> {
        let (shape, rest) = self.shape(name, args, span, scope, &["mass", "density", "at", "rot"])?;
        let example = format!("solid s: {name}(..., density = 7800 [kg/m^3])");
        let (mut mass, mut at, mut rot) = (None, self.pool.zero(crate::symbolic::Ty::Vec3), None);
        for (key, e) in rest {
            match key {
                "mass" | "density" => {
                    let q = self.scalar(e, scope)?;
                    let dim = if key == "mass" { Dim::MASS } else { Dim::DENSITY };
                    let q = self.with_dim(q, dim, &format!("`{key}`"), e.span)?;
                    self.constant_of_motion(q.e, e.span, "mass")?;
                    if mass.is_some() {
                        return self.arguments(span, name, "takes either `mass` or `density`", &example);
                    }
                    mass = Some(match (key, shape.volume) {
                        ("mass", _) => q.e,
                        (_, Some(v)) => self.pool.mul(q.e, v),
                        (_, None) => {
                            let example = format!("solid s: {name}(..., mass = 1 kg)");
                            return self.arguments(e.span, name, "has no volume: give its `mass`", &example);
                        }
                    });
                }
                "at" => {
                    let q = self.vec3(e, scope)?;
                    at = self.with_dim(q, Dim::LENGTH, "`at`", e.span)?.e;
                    self.constant_of_motion(at, e.span, "the place of a solid")?;
                }
                _ => {
                    let q = self.quantity(e, scope)?;
                    if self.pool.ty(q.e) != crate::symbolic::Ty::Rot {
                        let found = super::expr::shape(self.pool.ty(q.e)).into();
                        return self.fail(super::error::SemaError::Expected {
                            span: e.span,
                            expected: "a rotation",
                            found,
                        });
                    }
                    self.constant_of_motion(q.e, e.span, "the attitude of a solid")?;
                    rot = Some(q.e);
                }
            }
        }
        let Some(mass) = mass else {
            return self.arguments(span, name, "needs `mass` or `density`", &example);
        };
        let mut inertia = self.pool.scale(mass, shape.inertia);
        if let Some(r) = rot {
            let back = self.pool.transpose(r);
            let right = self.pool.mat_mul(inertia, back);
            inertia = self.pool.mat_mul(r, right);
        }
        Ok(Solid { mass, at, inertia })
    }

    /// Sum of solids: parallel axes to the common centre of mass.
    pub(super) fn sum_of_solids(&mut self, solids: &[Solid]) -> MassProperties {
        let p = &mut self.pool;
        let zero = p.num(0.0);
        let mass = solids.iter().fold(zero, |m, s| p.add(m, s.mass));
        let nowhere = p.zero(crate::symbolic::Ty::Vec3);
        let moment = solids.iter().fold(nowhere, |sum, s| {
            let weighted = p.scale(s.mass, s.at);
            p.add(sum, weighted)
        });
        let com = if let [only] = solids {
            only.at
        } else {
            let one = p.num(1.0);
            let inverse = p.div(one, mass);
            p.scale(inverse, moment)
        };
        let mut inertia = p.zero(crate::symbolic::Ty::Mat3);
        for s in solids {
            inertia = p.add(inertia, s.inertia);
            let arm = p.sub(s.at, com);
            if !p.is_zero(arm) {
                // m (|r|^2 1 - r r^T)
                let (square, one, outer) = (p.dot(arm, arm), p.identity(), p.outer(arm, arm));
                let isotropic = p.scale(square, one);
                let shift = p.sub(isotropic, outer);
                let weighted = p.scale(s.mass, shift);
                inertia = p.add(inertia, weighted);
            }
        }
        MassProperties { mass, com, inertia }
    }

    /// Binds the arguments of a call to the formals of a definition, in a new scope inside that of the definition.
    pub(super) fn bind_arguments(
        &mut self,
        name: &str,
        span: Span,
        formals: &'a [Formal],
        args: &'a [Arg],
        caller: &Rc<Scope<'a>>,
        owner: &Rc<Scope<'a>>,
    ) -> R<Scope<'a>> {
        let example = {
            let list: Vec<String> = formals
                .iter()
                .filter(|f| f.default.is_none())
                .map(|f| if f.name.name == "axis" { "axis = [0, 0, 1]".into() } else { f.name.name.clone() })
                .collect();
            format!("{name}({})", list.join(", "))
        };
        let mut given: Vec<Option<&'a Expr>> = vec![None; formals.len()];
        let mut position = 0;
        for arg in args {
            match arg {
                Arg::Positional(e) => {
                    let Some(slot) = given.get_mut(position) else {
                        let problem = format!("takes {} arguments, here are more", formals.len());
                        return self.arguments(e.span, name, &problem, &example);
                    };
                    *slot = Some(e);
                    position += 1;
                }
                Arg::Named(key, e) => {
                    let Some(k) = formals.iter().position(|f| f.name.name == key.name) else {
                        let names = formals.iter().map(|f| f.name.name.as_str());
                        let near = super::error::nearest(&key.name, names).map(|n| format!("; did you mean `{n}`?"));
                        let problem = format!("has no argument `{}`{}", key.name, near.unwrap_or_default());
                        return self.arguments(key.span, name, &problem, &example);
                    };
                    if given[k].is_some() {
                        return self.arguments(key.span, name, &format!("gets `{}` twice", key.name), &example);
                    }
                    given[k] = Some(e);
                }
                Arg::Over(range) => {
                    return self.arguments(range.name.span, name, "does not run over a range", &example);
                }
            }
        }
        let mut bound: Vec<(&'a str, Value<'a>)> = Vec::with_capacity(formals.len());
        for (formal, given) in formals.iter().zip(given) {
            let value = match (given, &formal.default) {
                (Some(e), _) => self.eval(e, caller)?,
                (None, Some(default)) => {
                    // A default may use the formals before it.
                    let so_far = Scope {
                        parent: Some(Rc::clone(owner)),
                        bound: bound.clone(),
                        element: caller.context().cloned(),
                        ..Scope::default()
                    };
                    self.eval(default, &Rc::new(so_far))?
                }
                (None, None) => {
                    return self.arguments(span, name, &format!("needs `{}`", formal.name.name), &example);
                }
            };
            bound.push((&formal.name.name, value));
        }
        Ok(Scope { parent: Some(Rc::clone(owner)), bound, element: caller.context().cloned(), ..Scope::default() })
    }

    /// A scalar or vector setting of a body with its dimension, constant during the motion.
    pub(super) fn constant_quantity(&mut self, q: Quantity, span: Span, what: &'static str) -> R<ExprId> {
        self.constant_of_motion(q.e, span, what)?;
        Ok(q.e)
    }
}
