//! Statements of a model other than bodies, elements and observers: values, settings, ground, defaults of a run.

use std::rc::Rc;

use super::error::SemaError;
use super::scope::Decl;
use super::{Checker, R, unsupported};
use crate::model;
use crate::model::Redundancy;
use crate::symbolic::ExprId;
use crate::syntax::ast;
use crate::syntax::ast::{DefineKind, Expr, ExprKind, StmtKind, TypedKind, ValueKind};
use crate::units::Dim;

impl<'a> Checker<'a> {
    /// Statements other than bodies, elements and observers.
    pub(super) fn statement(&mut self, stmt: &'a ast::Stmt, settings: &mut Settings<'a>) -> R<()> {
        let scope = Rc::clone(&self.model_scope);
        match &stmt.kind {
            StmtKind::Value { kind: ValueKind::Point, target, .. } => {
                self.fail(SemaError::Misplaced { span: target.name.span, what: "`point`", place: "a model" })
            }
            StmtKind::Value { kind: ValueKind::Const | ValueKind::Param | ValueKind::Frame, target, .. }
                if target.set.is_some() =>
            {
                self.fail(unsupported(target.name.span, "arrays of constants and parameters"))
            }
            StmtKind::Value { kind: ValueKind::Input, target, .. } if target.set.is_some() => {
                self.fail(unsupported(target.name.span, "arrays of inputs"))
            }
            StmtKind::Value { kind: ValueKind::Output, .. } => Ok(()),
            StmtKind::Value { target, value, .. } => {
                if target.set.is_some() {
                    return Ok(());
                }
                let Some(&decl @ Decl::Value(..)) = scope.names.get(target.name.name.as_str()) else { return Ok(()) };
                self.declared(&target.name.name, decl, &scope, value.span).map(|_| ())
            }
            StmtKind::Typed { kind: TypedKind::Part, target, .. } => self.fail(unsupported(target.name.span, "parts")),
            StmtKind::Typed { kind: TypedKind::Contact, target, .. } => {
                self.fail(unsupported(target.name.span, "contacts"))
            }
            StmtKind::Typed { kind: TypedKind::Solid, target, .. } => {
                self.fail(SemaError::Misplaced { span: target.name.span, what: "a solid", place: "a model" })
            }
            StmtKind::Event { .. } => self.fail(unsupported(stmt.span, "events")),
            StmtKind::Stop => self.fail(SemaError::Misplaced { span: stmt.span, what: "`stop`", place: "a model" }),
            StmtKind::Use { .. } => {
                self.fail(SemaError::Misplaced { span: stmt.span, what: "`use`", place: "a model" })
            }
            StmtKind::Record(_) => {
                self.fail(SemaError::Misplaced { span: stmt.span, what: "`record`", place: "a model" })
            }
            StmtKind::Define(d) if matches!(d.kind, DefineKind::Contact | DefineKind::Part) => {
                self.fail(unsupported(d.name.span, if d.kind == DefineKind::Part { "parts" } else { "contacts" }))
            }
            StmtKind::Setting { name, value } => self.setting_of_model(name, value, settings),
            StmtKind::Simulate(block) => self.simulate(block, settings),
            StmtKind::Ground(block) => self.ground(block),
            StmtKind::Check { .. }
            | StmtKind::Potential { .. }
            | StmtKind::Dissipation { .. }
            | StmtKind::Constraint { .. }
            | StmtKind::Force(_)
            | StmtKind::Torque(_)
            | StmtKind::Typed { .. }
            | StmtKind::Body { .. }
            | StmtKind::Particle { .. }
            | StmtKind::Function(_)
            | StmtKind::Define(_) => Ok(()),
        }
    }

    fn ground(&mut self, block: &'a ast::Block) -> R<()> {
        let Some(scope) = self.ground_scope.clone() else { return Ok(()) };
        for stmt in &block.stmts {
            match &stmt.kind {
                StmtKind::Value { kind: ValueKind::Point | ValueKind::Let, target, value } => {
                    if let Some(&decl) = scope.names.get(target.name.name.as_str()) {
                        self.declared(&target.name.name, decl, &scope, value.span)?;
                    }
                }
                StmtKind::Value { kind: ValueKind::Frame, target, .. } => {
                    return self.fail(unsupported(target.name.span, "frames"));
                }
                _ => {
                    return self.fail(SemaError::Misplaced {
                        span: stmt.span,
                        what: "this statement",
                        place: "`ground`",
                    });
                }
            }
        }
        Ok(())
    }

    fn setting_of_model(&mut self, name: &'a ast::Ident, value: &'a Expr, settings: &mut Settings<'a>) -> R<()> {
        let scope = Rc::clone(&self.model_scope);
        self.once(name, &mut settings.seen)?;
        match name.name.as_str() {
            "gravity" => {
                let q = self.vec3(value, &scope)?;
                let q = self.with_dim(q, Dim::ACCELERATION, "gravity", value.span)?;
                self.constant_of_motion(q.e, value.span, "gravity")?;
                settings.gravity = Some(q.e);
                Ok(())
            }
            "redundancy" => {
                let word = match &value.kind {
                    ExprKind::Name(word) => word.as_str(),
                    _ => "",
                };
                settings.redundancy = match word {
                    "deny" => Redundancy::Deny,
                    "report" => Redundancy::Report,
                    "allow" => Redundancy::Allow,
                    _ => {
                        let found = format!("`{}`", self.source(value.span));
                        let expected = "`deny`, `report` or `allow`";
                        return self.fail(SemaError::Expected { span: value.span, expected, found });
                    }
                };
                Ok(())
            }
            _ => self.fail(SemaError::UnknownSetting {
                span: name.span,
                name: name.name.clone(),
                place: "a model",
                known: &["gravity", "redundancy"],
            }),
        }
    }

    /// A setting may stand once in its block.
    fn once(&mut self, name: &'a ast::Ident, seen: &mut Vec<&'a ast::Ident>) -> R<()> {
        if let Some(first) = seen.iter().find(|n| n.name == name.name) {
            let first = first.span;
            return self.fail(SemaError::Redefined { span: name.span, name: name.name.clone(), first });
        }
        seen.push(name);
        Ok(())
    }

    fn simulate(&mut self, block: &'a ast::Block, settings: &mut Settings<'a>) -> R<()> {
        let scope = Rc::clone(&self.model_scope);
        let mut seen = Vec::new();
        for stmt in &block.stmts {
            let (name, value) = match &stmt.kind {
                StmtKind::Setting { name, value } => (name.name.as_str(), value),
                StmtKind::Record(value) => ("record", value),
                _ => {
                    return self.fail(SemaError::Misplaced {
                        span: stmt.span,
                        what: "this statement",
                        place: "`simulate`",
                    });
                }
            };
            if let StmtKind::Setting { name, .. } = &stmt.kind {
                self.once(name, &mut seen)?;
            }
            if name == "stepper" {
                let text: String = self.source(value.span).split_whitespace().collect();
                settings.simulate.stepper = Some((text, value.span));
                continue;
            }
            if name == "step" && self.source(value.span).trim() == "auto" {
                settings.simulate.auto = Some(value.span);
                continue;
            }
            if name == "tolerance" {
                let q = self.scalar(value, &scope)?;
                let q = self.with_dim(q, Dim::ONE, "a tolerance", value.span)?;
                self.constant_of_motion(q.e, value.span, "a tolerance of the run")?;
                settings.simulate.tolerance = Some((q.e, value.span));
                continue;
            }
            let slot = match name {
                "step" => &mut settings.simulate.step,
                "until" => &mut settings.simulate.until,
                "record" => &mut settings.simulate.every,
                _ => {
                    let StmtKind::Setting { name, .. } = &stmt.kind else { continue };
                    return self.fail(SemaError::UnknownSetting {
                        span: name.span,
                        name: name.name.clone(),
                        place: "`simulate`",
                        known: &["stepper", "step", "tolerance", "until", "record every"],
                    });
                }
            };
            let q = self.scalar(value, &scope)?;
            let q = self.with_dim(q, Dim::TIME, "a time", value.span)?;
            self.constant_of_motion(q.e, value.span, "a time of the run")?;
            *slot = Some(q.e);
        }
        if let (Some((_, span)), None) = (settings.simulate.tolerance, settings.simulate.auto) {
            return self.fail(SemaError::ToleranceOfFixedSteps { span });
        }
        Ok(())
    }
}

#[derive(Default)]
pub(super) struct Settings<'a> {
    seen: Vec<&'a ast::Ident>,
    pub(super) gravity: Option<ExprId>,
    pub(super) redundancy: Redundancy,
    pub(super) simulate: model::Simulate,
}
