//! The declarations of a model: what is collected before anything is evaluated, and the model put together at the end.

use std::rc::Rc;

use rustc_hash::FxHashMap;

use super::body::BodyAst;
use super::element::{ElementAst, ElementKind};
use super::error::{SemaError, nearest};
use super::scope::{Decl, Scope};
use super::statement::Settings;
use super::{Checker, unsupported};
use crate::diag;
use crate::diag::Diagnostic;
use crate::model::Model;
use crate::source::Span;
use crate::symbolic::Ty;
use crate::syntax::ast;
use crate::syntax::ast::{DefineKind, StmtKind, TypedKind, ValueKind};

impl<'a> Checker<'a> {
    /// Collects the declarations of a model.
    pub(super) fn collect(&mut self, ast: &'a ast::Model, root: &Rc<Scope<'a>>) {
        let mut names: FxHashMap<&'a str, Decl<'a>> = (*self.block_names(&ast.body)).clone();
        let mut places: FxHashMap<&'a str, Span> = FxHashMap::default();
        for stmt in &ast.body.stmts {
            if let StmtKind::Value { kind, target, .. } = &stmt.kind {
                if matches!(kind, ValueKind::Param | ValueKind::Input) {
                    self.param_docs.insert(&target.name.name, &stmt.docs);
                }
                places.insert(&target.name.name, target.name.span);
            }
        }
        let mut unnamed = 0;
        for stmt in &ast.body.stmts {
            let (target, decl) = match &stmt.kind {
                StmtKind::Body { target, block } | StmtKind::Particle { target, block } => {
                    let particle = matches!(stmt.kind, StmtKind::Particle { .. });
                    self.body_asts.push(BodyAst {
                        target,
                        particle,
                        call: None,
                        block: Some(block),
                        docs: &stmt.docs,
                        span: stmt.span,
                    });
                    (Some(target), Decl::Body(self.body_asts.len() - 1))
                }
                StmtKind::Typed { kind: TypedKind::Body, target, path, args, block } => {
                    let call = Some((path.as_slice(), args.as_slice()));
                    self.body_asts.push(BodyAst {
                        target,
                        particle: false,
                        call,
                        block: block.as_ref(),
                        docs: &stmt.docs,
                        span: stmt.span,
                    });
                    (Some(target), Decl::Body(self.body_asts.len() - 1))
                }
                StmtKind::Typed { kind: kind @ (TypedKind::Joint | TypedKind::Force), target, path, args, block } => {
                    let kind = if *kind == TypedKind::Joint { DefineKind::Joint } else { DefineKind::Force };
                    (
                        Some(target),
                        self.add_element(
                            Some(target),
                            ElementKind::Typed(kind, path, args, block.as_ref()),
                            stmt,
                            None,
                        ),
                    )
                }
                StmtKind::Constraint { label, equation } => {
                    unnamed += usize::from(label.is_none());
                    let name = format!("constraint_{unnamed}");
                    (
                        label.as_ref(),
                        self.add_element(label.as_ref(), ElementKind::Constraint(equation), stmt, Some(name)),
                    )
                }
                StmtKind::Potential { label, value } => {
                    unnamed += usize::from(label.is_none());
                    let name = format!("potential_{unnamed}");
                    (label.as_ref(), self.add_element(label.as_ref(), ElementKind::Potential(value), stmt, Some(name)))
                }
                StmtKind::Dissipation { label, value } => {
                    unnamed += usize::from(label.is_none());
                    let name = format!("dissipation_{unnamed}");
                    (
                        label.as_ref(),
                        self.add_element(label.as_ref(), ElementKind::Dissipation(value), stmt, Some(name)),
                    )
                }
                StmtKind::Force(load) => (
                    Some(&load.target),
                    self.add_element(Some(&load.target), ElementKind::Load(false, load), stmt, None),
                ),
                StmtKind::Torque(load) => (
                    Some(&load.target),
                    self.add_element(Some(&load.target), ElementKind::Load(true, load), stmt, None),
                ),
                _ => continue,
            };
            let Some(target) = target else { continue };
            let ident = &target.name;
            if let Some(&first) = places.get(ident.name.as_str()) {
                self.report(SemaError::Redefined { span: ident.span, name: ident.name.clone(), first });
                continue;
            }
            places.insert(&ident.name, ident.span);
            names.insert(&ident.name, decl);
        }
        self.model_scope = Rc::new(Scope { parent: Some(Rc::clone(root)), names: Rc::new(names), ..Scope::default() });
        self.body_sets = vec![None; self.body_asts.len()];
        for stmt in &ast.body.stmts {
            if let StmtKind::Ground(block) = &stmt.kind {
                let names = self.block_names(block);
                let parent = Some(Rc::clone(&self.model_scope));
                let scope = Scope { parent, names, frame: Some(super::value::Frame::Ground), ..Scope::default() };
                self.ground_scope = Some(Rc::new(scope));
            }
        }
    }

    pub(super) fn add_element(
        &mut self,
        target: Option<&'a ast::Target>,
        kind: ElementKind<'a>,
        stmt: &'a ast::Stmt,
        generated: Option<String>,
    ) -> Decl<'a> {
        let name = target.map(|t| t.name.name.clone()).or(generated).unwrap_or_default();
        self.push_element(ElementAst { target, kind, docs: &stmt.docs, span: stmt.span }, name)
    }

    pub(super) fn push_element(&mut self, ast: ElementAst<'a>, name: String) -> Decl<'a> {
        self.element_asts.push(ast);
        self.element_names.push(name);
        self.element_sets.push(None);
        self.angles.push(Vec::new());
        Decl::Element(self.element_asts.len() - 1)
    }

    pub(super) fn model(
        mut self,
        ast: &'a ast::Model,
        docs: &[String],
        root: &Rc<Scope<'a>>,
    ) -> Result<Model, Vec<Diagnostic>> {
        if !ast.formals.is_empty() {
            self.report(unsupported(ast.name.span, "models with parameters in parentheses"));
            return Err(self.diagnostics);
        }
        self.collect(ast, root);
        if self.body_asts.is_empty() {
            self.report(SemaError::NoBodies { span: ast.name.span });
        }
        let mut settings = Settings::default();
        for stmt in &ast.body.stmts {
            // Problems are in `diagnostics`; the next statement may hold more.
            let _reported = self.statement(stmt, &mut settings);
        }
        let mut bodies = Vec::new();
        let mut first = 0;
        for k in 0..self.body_asts.len() {
            if let Ok(body) = self.declare_body(k, first) {
                first += body.set.count;
                bodies.push(body);
            }
        }
        let mut elements = Vec::new();
        for k in 0..self.element_asts.len() {
            if let Ok(element) = self.declare_element(k) {
                elements.push(element);
            }
        }
        for stmt in &ast.body.stmts {
            let _reported = self.observer(stmt);
        }
        // Outputs may have added elements that count turns.
        for k in elements.len()..self.element_asts.len() {
            if let Ok(element) = self.declare_element(k) {
                elements.push(element);
            }
        }
        self.check_subscripts();
        self.check_overrides(ast.name.span);
        if !self.diagnostics.is_empty() {
            diag::sort(&mut self.diagnostics);
            return Err(self.diagnostics);
        }
        for (element, angles) in elements.iter_mut().zip(&self.angles) {
            element.angles = angles.iter().map(|a| a.expect("every angle is met in its own indices")).collect();
        }
        let gravity = settings.gravity.unwrap_or_else(|| self.pool.zero(Ty::Vec3));
        Ok(Model {
            name: ast.name.name.clone(),
            docs: docs.to_vec(),
            param_order: (0..self.params.len()).collect(),
            pool: self.pool,
            consts: self.consts,
            params: self.params,
            inputs: self.inputs,
            indices: self.index_names,
            bodies,
            elements,
            conditions: self.conditions,
            outputs: self.outputs,
            checks: self.checks,
            redundancy: settings.redundancy,
            gravity,
            simulate: settings.simulate,
            span: ast.name.span,
        })
    }

    pub(super) fn check_overrides(&mut self, span: Span) {
        for (name, _) in self.overrides {
            let known: Vec<&str> = self
                .consts
                .iter()
                .map(|c| c.name.as_str())
                .chain(self.params.iter().chain(&self.inputs).map(|p| p.name.as_str()))
                .collect();
            if !known.contains(&name.as_str()) {
                let near = nearest(name, known);
                self.report(SemaError::UnknownOverride { span, name: name.clone(), near });
            }
        }
    }
}
