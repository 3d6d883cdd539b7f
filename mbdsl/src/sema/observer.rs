//! Outputs and checks: what a run records and what must hold.

use std::rc::Rc;

use super::element::{ElementAst, ElementKind};
use super::error::SemaError;
use super::scope::{Decl, ElementContext, Scope};
use super::value::{InstanceOf, Value};
use super::{Checker, R, Reported};
use crate::model;
use crate::model::CheckTime;
use crate::symbolic::{ExprId, Node, Ty};
use crate::syntax::ast;
use crate::syntax::ast::{Expr, ExprKind, StmtKind, ValueKind};
use crate::units::Dim;

impl<'a> Checker<'a> {
    /// Outputs and checks.
    pub(super) fn observer(&mut self, stmt: &'a ast::Stmt) -> R<()> {
        match &stmt.kind {
            StmtKind::Value { kind: ValueKind::Output, target, value } => {
                let (set, scope) = self.observer_scope(&target.name.name, Some(target), stmt)?;
                self.output(&target.name.name, value, &scope, &set, &stmt.docs)
            }
            StmtKind::Check { label, condition } => {
                let name =
                    label.as_ref().map_or_else(|| format!("check_{}", self.checks.len() + 1), |t| t.name.name.clone());
                let (set, scope) = self.observer_scope(&name, label.as_ref(), stmt)?;
                let check = self.check(name, condition, &scope, &set, &stmt.docs)?;
                self.checks.push(check);
                Ok(())
            }
            StmtKind::Value { kind: ValueKind::Let, target, value } if target.set.is_some() => {
                // Evaluated once in its own indices, so that mistakes are found even where nobody uses it.
                let model = Rc::clone(&self.model_scope);
                let set = self.index_set(target.set.as_ref(), &model)?;
                let set = self.tabulated(set)?;
                let scope = self.with_indices(target.set.as_ref(), &set.own, &model)?;
                self.eval(value, &Rc::new(scope)).map(|_| ())
            }
            _ => Ok(()),
        }
    }

    /// Index set and scope of an output or check, in which turns can be counted.
    pub(super) fn observer_scope(
        &mut self,
        name: &str,
        target: Option<&'a ast::Target>,
        stmt: &'a ast::Stmt,
    ) -> R<(model::IndexSet, Rc<Scope<'a>>)> {
        let model = Rc::clone(&self.model_scope);
        let ast = target.and_then(|t| t.set.as_ref());
        let decl = self.push_element(
            ElementAst { target, kind: ElementKind::Observer, docs: &[], span: stmt.span },
            name.to_owned(),
        );
        let Decl::Element(decl) = decl else { return Err(Reported) };
        let own = self.element_set(decl)?.clone();
        let mut scope = self.with_indices(ast, &own.own, &model)?;
        scope.element = Some(ElementContext { of: InstanceOf { decl, indices: own.own }, path: Vec::new() });
        Ok((own.set, Rc::new(scope)))
    }

    pub(super) fn output(
        &mut self,
        name: &str,
        value: &'a Expr,
        scope: &Rc<Scope<'a>>,
        set: &model::IndexSet,
        docs: &[String],
    ) -> R<()> {
        let push = |this: &mut Self, name: String, e: ExprId, dim: Dim| {
            this.outputs.push(model::Output {
                name,
                docs: docs.to_vec(),
                set: set.clone(),
                value: e,
                dim,
                span: value.span,
            });
        };
        // A list of numbers of any length is recorded entry by entry.
        if let ExprKind::Vector { items, unit: None } = &value.kind
            && items.len() != 3
        {
            for (k, item) in items.iter().enumerate() {
                let q = self.scalar(item, scope)?;
                push(self, format!("{name}.{k}"), q.e, q.dim.unwrap_or(Dim::ONE));
            }
            return Ok(());
        }
        let found = self.eval(value, scope)?;
        if let Value::Element(_) | Value::Frame(_) = found {
            let found = found.kind().to_owned();
            return self.fail(SemaError::Expected {
                span: value.span,
                expected: "a quantity such as its `.pos`",
                found,
            });
        }
        let q = self.as_quantity(&found, value.span)?;
        let dim = q.dim.unwrap_or(Dim::ONE);
        match self.pool.ty(q.e) {
            Ty::Scalar | Ty::Vec3 => push(self, name.to_owned(), q.e, dim),
            Ty::Mat3 | Ty::Rot => {
                let m = self.pool.transpose(q.e);
                for k in 0..3 {
                    let unit = self.pool.unit(k);
                    let row = self.pool.mat_vec(m, unit);
                    push(self, format!("{name}.row{k}"), row, dim);
                }
            }
            Ty::Bool => {
                return self.fail(SemaError::Expected {
                    span: value.span,
                    expected: "a number",
                    found: "a truth value".into(),
                });
            }
        }
        Ok(())
    }

    pub(super) fn check(
        &mut self,
        name: String,
        condition: &'a Expr,
        scope: &Rc<Scope<'a>>,
        set: &model::IndexSet,
        docs: &[String],
    ) -> R<model::Check> {
        let e = self.truth(condition, scope)?;
        let once = self.contains(e, |n| matches!(n, Node::At(..) | Node::Final(_)));
        let always = self.contains(e, |n| {
            matches!(
                n,
                Node::State(..)
                    | Node::Time
                    | Node::Input(_)
                    | Node::Memory(..)
                    | Node::Lambda(..)
                    | Node::Global(_)
                    | Node::Start(_)
            )
        });
        let time = match (once, always) {
            (true, _) => CheckTime::Once,
            (false, true) => CheckTime::Always,
            (false, false) => CheckTime::Bound,
        };
        let dim = match &condition.kind {
            ExprKind::Binary(_, left, _) => match self.eval(left, scope)? {
                Value::Quantity(q) => q.dim.unwrap_or(Dim::ONE),
                _ => Dim::ONE,
            },
            _ => Dim::ONE,
        };
        let sides = self.comparison(e);
        Ok(model::Check {
            name,
            docs: docs.to_vec(),
            set: set.clone(),
            time,
            condition: e,
            sides,
            dim,
            span: condition.span,
        })
    }
}
