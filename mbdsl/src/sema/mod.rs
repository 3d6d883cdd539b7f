//! Checking: syntax tree to model. Names are resolved, definitions inlined, shapes and dimensions proved, index sets
//! enumerated; every problem is reported, as far as one does not follow from another.

mod body;
mod builtins;
mod element;
mod error;
mod expr;
mod members;
mod scope;
mod sets;
mod shapes;
mod value;

use std::collections::HashMap;
use std::rc::Rc;

use body::BodyAst;
use element::{ElementAst, ElementKind, Parts};
use error::{SemaError, nearest};
use scope::{Decl, ElementContext, Scope};
use sets::{DeclSet, IndexUse, Owner};
use shapes::MassProperties;
use value::{InstanceOf, Value};

use crate::diag::{self, Diagnostic};
use crate::model::{self, CheckTime, Model, Redundancy};
use crate::source::{Sources, Span};
use crate::symbolic::{ExprId, ExprPool, Node, Ty};
use crate::syntax::ast::{self, DefineKind, Expr, ExprKind, ItemKind, StmtKind, TypedKind, ValueKind};
use crate::units::Dim;

/// A problem that has been reported already: whatever depends on it is left alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reported;

type R<T> = Result<T, Reported>;

/// Choices of the caller.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Name of the model; the only one of the file unless given.
    pub model: Option<String>,
    /// Values of `const`s and `param`s (only the `const`s are used here; all names are checked), SI units.
    pub overrides: Vec<(String, f64)>,
}

fn unsupported(span: Span, what: &'static str) -> SemaError {
    let instead = match what {
        "inputs" => "use `param` for a constant value",
        "imports" | "imported definitions" => "copy the definition into this file",
        "frames" => "use points, and axes in the coordinates of the body",
        "parts" => "write the bodies and joints of the part into the model",
        "contacts" => "use a `potential` that grows with the depth",
        "events" => "use a `check`, and `until` for the end of the run",
        "arrays of constants and parameters" => "use a `let` with an index set",
        "models with parameters in parentheses" => "declare them with `param` inside of the model",
        "constraints on velocities" => "constrain positions",
        "filters that depend on the motion" => "filter by indices only",
        _ => "leave it out",
    };
    SemaError::Unsupported { span, what, instead }
}

const fn kind_word(kind: DefineKind) -> &'static str {
    match kind {
        DefineKind::Body => "body",
        DefineKind::Joint => "joint",
        DefineKind::Force => "force",
        DefineKind::Contact => "contact",
        DefineKind::Part => "part",
    }
}

type Blocks<'a> = Vec<(&'a ast::Block, Rc<Scope<'a>>)>;

struct Checker<'a> {
    pool: ExprPool,
    sources: &'a Sources,
    overrides: &'a [(String, f64)],
    diagnostics: Vec<Diagnostic>,
    depth: usize,
    /// Where the definition is used whose statements are evaluated.
    use_site: Option<Span>,
    model_scope: Rc<Scope<'a>>,
    ground_scope: Option<Rc<Scope<'a>>>,
    // Bodies.
    body_asts: Vec<BodyAst<'a>>,
    body_sets: Vec<Option<R<DeclSet>>>,
    body_scopes: HashMap<InstanceOf, Blocks<'a>>,
    masses: HashMap<InstanceOf, R<MassProperties>>,
    // Elements.
    element_asts: Vec<ElementAst<'a>>,
    element_names: Vec<String>,
    element_sets: Vec<Option<R<DeclSet>>>,
    element_scopes: HashMap<InstanceOf, R<Rc<Scope<'a>>>>,
    element_parts: HashMap<InstanceOf, R<Rc<Parts>>>,
    definition_of: HashMap<usize, &'a ast::Define>,
    // Continuous angles: number of a call within its element, and its value in the element's own indices.
    sites: HashMap<(usize, Span, Vec<Span>), u32>,
    angles: Vec<Vec<Option<ExprId>>>,
    // Index sets.
    index_names: Vec<String>,
    index_owners: Vec<Owner>,
    index_uses: Vec<IndexUse>,
    set_count: usize,
    set_tables: HashMap<usize, model::IndexSet>,
    // The model so far.
    params: Vec<model::Param>,
    param_docs: HashMap<&'a str, &'a [String]>,
    consts: Vec<model::Const>,
    conditions: Vec<model::Condition>,
    checks: Vec<model::Check>,
    outputs: Vec<model::Output>,
}

/// Checks a model of a file.
///
/// `library` holds the documents whose definitions are always in scope, `user` the file itself.
///
/// # Errors
/// All problems found, in source order.
pub fn check(
    sources: &Sources,
    library: &[ast::Document],
    user: &ast::Document,
    file: Span,
    options: &Options,
) -> Result<Model, Vec<Diagnostic>> {
    let mut early = Vec::new();
    let mut names: HashMap<&str, Decl<'_>> = HashMap::new();
    let mut places: HashMap<&str, Span> = HashMap::new();
    let mut models: Vec<(&ast::Model, &[String])> = Vec::new();
    for (own, item) in
        library.iter().flat_map(|d| &d.items).map(|i| (false, i)).chain(user.items.iter().map(|i| (true, i)))
    {
        let (ident, decl) = match &item.kind {
            ItemKind::Import(_) => {
                early.push(unsupported(item.span, "imports"));
                continue;
            }
            ItemKind::Model(m) => {
                models.push((m, &item.docs));
                continue;
            }
            ItemKind::Define(d) if matches!(d.kind, DefineKind::Contact | DefineKind::Part) => {
                early.push(unsupported(d.name.span, if d.kind == DefineKind::Part { "parts" } else { "contacts" }));
                continue;
            }
            ItemKind::Define(d) => (&d.name, Decl::Define(d)),
            ItemKind::Function(f) => (&f.name, Decl::Function(f)),
        };
        // A user's definition hides one of the library; two of one file are a mistake.
        if let (true, Some(&first)) = (own, places.get(ident.name.as_str())) {
            early.push(SemaError::Redefined { span: ident.span, name: ident.name.clone(), first });
        }
        names.insert(&ident.name, decl);
        if own {
            places.insert(&ident.name, ident.span);
        }
    }
    let known: Vec<String> = models.iter().map(|(m, _)| m.name.name.clone()).collect();
    let chosen = match (&options.model, models.as_slice()) {
        (_, []) => Err(SemaError::NoModel { span: file }),
        (None, [one]) => Ok(*one),
        (None, [_, second, ..]) => Err(SemaError::SeveralModels { span: second.0.name.span, known }),
        (Some(name), all) => all
            .iter()
            .find(|(m, _)| m.name.name == *name)
            .copied()
            .ok_or_else(|| SemaError::NoSuchModel { span: all[0].0.name.span, name: name.clone(), known }),
    };
    let root = Rc::new(Scope { names: Rc::new(names), ..Scope::default() });
    let result = match chosen {
        Ok((ast, docs)) => Checker::new(sources, &options.overrides).model(ast, docs, &root),
        Err(problem) => {
            early.push(problem);
            Err(Vec::new())
        }
    };
    let mut all: Vec<Diagnostic> = early.iter().map(SemaError::diagnostic).collect();
    match result {
        Ok(model) if all.is_empty() => Ok(model),
        Ok(_) => {
            diag::sort(&mut all);
            Err(all)
        }
        Err(more) => {
            all.extend(more);
            diag::sort(&mut all);
            Err(all)
        }
    }
}

impl<'a> Checker<'a> {
    fn new(sources: &'a Sources, overrides: &'a [(String, f64)]) -> Self {
        Self {
            pool: ExprPool::new(),
            sources,
            overrides,
            diagnostics: Vec::new(),
            depth: 0,
            use_site: None,
            model_scope: Rc::new(Scope::default()),
            ground_scope: None,
            body_asts: Vec::new(),
            body_sets: Vec::new(),
            body_scopes: HashMap::new(),
            masses: HashMap::new(),
            element_asts: Vec::new(),
            element_names: Vec::new(),
            element_sets: Vec::new(),
            element_scopes: HashMap::new(),
            element_parts: HashMap::new(),
            definition_of: HashMap::new(),
            sites: HashMap::new(),
            angles: Vec::new(),
            index_names: Vec::new(),
            index_owners: Vec::new(),
            index_uses: Vec::new(),
            set_count: 0,
            set_tables: HashMap::new(),
            params: Vec::new(),
            param_docs: HashMap::new(),
            consts: Vec::new(),
            conditions: Vec::new(),
            checks: Vec::new(),
            outputs: Vec::new(),
        }
    }

    fn report(&mut self, problem: SemaError) {
        let mut d = problem.diagnostic();
        // A mistake that shows inside of the library was made where the library is used.
        if let Some(span) = self.use_site.filter(|_| self.is_of_library(d.primary.span)) {
            let inside = std::mem::replace(&mut d.primary, diag::Label { span, text: "used here".to_owned() });
            d.secondary.insert(0, inside);
        }
        if !self.diagnostics.contains(&d) {
            self.diagnostics.push(d);
        }
    }

    /// Whether a place is in the library.
    fn is_of_library(&self, span: Span) -> bool {
        self.sources.get(span.file).name.starts_with("<std/")
    }

    fn fail<T>(&mut self, problem: SemaError) -> R<T> {
        self.report(problem);
        Err(Reported)
    }

    fn source(&self, span: Span) -> &'a str {
        self.sources.text(span)
    }

    /// Whether an operation occurs in an expression.
    fn contains(&self, e: ExprId, what: impl Fn(&Node) -> bool) -> bool {
        let mut seen = std::collections::HashSet::new();
        let mut stack = vec![e];
        while let Some(e) = stack.pop() {
            if !seen.insert(e) {
                continue;
            }
            let node = self.pool.node(e);
            if what(node) {
                return true;
            }
            crate::symbolic::walk::operands(node).for_each(|x| stack.push(x));
        }
        false
    }

    /// Requires that a value does not change during the run.
    fn constant_of_motion(&mut self, e: ExprId, span: Span, what: &'static str) -> R<()> {
        let moving = |n: &Node| {
            matches!(
                n,
                Node::State(..)
                    | Node::Time
                    | Node::Memory(..)
                    | Node::Lambda(..)
                    | Node::Global(_)
                    | Node::Start(_)
                    | Node::At(..)
                    | Node::Final(_)
            )
        };
        if self.contains(e, moving) {
            return self.fail(SemaError::StateIn { span, what });
        }
        Ok(())
    }

    fn body_arity(&mut self, k: usize) -> R<usize> {
        let Some(set) = &self.body_asts[k].target.set else { return Ok(0) };
        if set.ranges.iter().all(sets::is_range) {
            return Ok(set.ranges.len());
        }
        self.body_set(k).map(|s| s.own.len())
    }

    fn element_arity(&mut self, k: usize) -> R<usize> {
        match self.element_set_ast(k) {
            Some(set) if set.ranges.iter().all(sets::is_range) => Ok(set.ranges.len()),
            _ => self.element_set(k).map(|s| s.own.len()),
        }
    }

    fn body_set(&mut self, k: usize) -> R<&DeclSet> {
        if self.body_sets[k].is_none() {
            self.body_sets[k] = Some(Err(Reported));
            let scope = Rc::clone(&self.model_scope);
            let set = self.index_set(self.body_asts[k].target.set.as_ref(), &scope);
            self.body_sets[k] = Some(set);
        }
        match &self.body_sets[k] {
            Some(Ok(set)) => Ok(set),
            _ => Err(Reported),
        }
    }

    fn element_set(&mut self, k: usize) -> R<&DeclSet> {
        if self.element_sets[k].is_none() {
            self.element_sets[k] = Some(Err(Reported));
            let scope = Rc::clone(&self.model_scope);
            let set = self.index_set(self.element_set_ast(k), &scope);
            self.element_sets[k] = Some(set);
        }
        match &self.element_sets[k] {
            Some(Ok(set)) => Ok(set),
            _ => Err(Reported),
        }
    }

    /// Number of a call of `turn` within its element.
    fn angle_site(&mut self, context: &ElementContext, span: Span) -> u32 {
        let decl = context.of.decl;
        let next = u32::try_from(self.angles[decl].len()).expect("few angles");
        let site = *self.sites.entry((decl, span, context.path.clone())).or_insert(next);
        if site == next {
            self.angles[decl].push(None);
        }
        site
    }

    /// Remembers the value of a continuous angle if it is seen in the element's own indices.
    fn note_angle(&mut self, context: &ElementContext, site: u32, value: ExprId) {
        let decl = context.of.decl;
        let own = matches!(&self.element_sets[decl], Some(Ok(set)) if set.own == context.of.indices);
        if own {
            self.angles[decl][site as usize] = Some(value);
        }
    }

    /// Names declared in a block.
    fn block_names(&mut self, block: &'a ast::Block) -> Rc<HashMap<&'a str, Decl<'a>>> {
        let mut names: HashMap<&'a str, Decl<'a>> = HashMap::new();
        let mut places: HashMap<&'a str, Span> = HashMap::new();
        for stmt in &block.stmts {
            let (ident, decl) = match &stmt.kind {
                StmtKind::Value { kind, target, value } => (&target.name, Decl::Value(*kind, target, value)),
                StmtKind::Function(f) => (&f.name, Decl::Function(f)),
                StmtKind::Define(d) => (&d.name, Decl::Define(d)),
                _ => continue,
            };
            if let Some(&first) = places.get(ident.name.as_str()) {
                self.report(SemaError::Redefined { span: ident.span, name: ident.name.clone(), first });
                continue;
            }
            places.insert(&ident.name, ident.span);
            names.insert(&ident.name, decl);
        }
        Rc::new(names)
    }

    /// Collects the declarations of a model.
    fn collect(&mut self, ast: &'a ast::Model, root: &Rc<Scope<'a>>) {
        let mut names: HashMap<&'a str, Decl<'a>> = (*self.block_names(&ast.body)).clone();
        let mut places: HashMap<&'a str, Span> = HashMap::new();
        for stmt in &ast.body.stmts {
            if let StmtKind::Value { kind, target, .. } = &stmt.kind {
                if *kind == ValueKind::Param {
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
                let scope = Scope { parent, names, frame: Some(value::Frame::Ground), ..Scope::default() };
                self.ground_scope = Some(Rc::new(scope));
            }
        }
    }

    fn add_element(
        &mut self,
        target: Option<&'a ast::Target>,
        kind: ElementKind<'a>,
        stmt: &'a ast::Stmt,
        generated: Option<String>,
    ) -> Decl<'a> {
        let name = target.map(|t| t.name.name.clone()).or(generated).unwrap_or_default();
        self.push_element(ElementAst { target, kind, docs: &stmt.docs, span: stmt.span }, name)
    }

    fn push_element(&mut self, ast: ElementAst<'a>, name: String) -> Decl<'a> {
        self.element_asts.push(ast);
        self.element_names.push(name);
        self.element_sets.push(None);
        self.angles.push(Vec::new());
        Decl::Element(self.element_asts.len() - 1)
    }

    fn model(mut self, ast: &'a ast::Model, docs: &[String], root: &Rc<Scope<'a>>) -> Result<Model, Vec<Diagnostic>> {
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

    fn check_overrides(&mut self, span: Span) {
        for (name, _) in self.overrides {
            let known: Vec<&str> = self
                .consts
                .iter()
                .map(|c| c.name.as_str())
                .chain(self.params.iter().map(|p| p.name.as_str()))
                .collect();
            if !known.contains(&name.as_str()) {
                let near = nearest(name, known);
                self.report(SemaError::UnknownOverride { span, name: name.clone(), near });
            }
        }
    }

    /// Statements other than bodies, elements and observers.
    fn statement(&mut self, stmt: &'a ast::Stmt, settings: &mut Settings<'a>) -> R<()> {
        let scope = Rc::clone(&self.model_scope);
        match &stmt.kind {
            StmtKind::Value { kind: ValueKind::Point, target, .. } => {
                self.fail(SemaError::Misplaced { span: target.name.span, what: "`point`", place: "a model" })
            }
            StmtKind::Value {
                kind: ValueKind::Const | ValueKind::Param | ValueKind::Input | ValueKind::Frame,
                target,
                ..
            } if target.set.is_some() => self.fail(unsupported(target.name.span, "arrays of constants and parameters")),
            StmtKind::Value { kind: ValueKind::Output, .. } => Ok(()),
            StmtKind::Value { kind, target, value } => {
                if target.set.is_some() || *kind == ValueKind::Let && self.counts_turns(value) {
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

    /// A `let` that calls `turn` itself only makes sense in the element that uses it.
    fn counts_turns(&self, value: &Expr) -> bool {
        self.source(value.span).contains("turn(")
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
                        known: &["stepper", "step", "until", "record every"],
                    });
                }
            };
            let q = self.scalar(value, &scope)?;
            let q = self.with_dim(q, Dim::TIME, "a time", value.span)?;
            self.constant_of_motion(q.e, value.span, "a time of the run")?;
            *slot = Some(q.e);
        }
        Ok(())
    }

    /// Outputs and checks.
    fn observer(&mut self, stmt: &'a ast::Stmt) -> R<()> {
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
            StmtKind::Value { kind: ValueKind::Let, target, .. } if target.set.is_some() => {
                // Evaluated once in its own indices, so that mistakes are found even where nobody uses it.
                let model = Rc::clone(&self.model_scope);
                let set = self.index_set(target.set.as_ref(), &model)?;
                let scope = self.with_indices(target.set.as_ref(), &set.own, &model)?;
                match &stmt.kind {
                    StmtKind::Value { value, .. } if !self.counts_turns(value) => {
                        self.eval(value, &Rc::new(scope)).map(|_| ())
                    }
                    _ => Ok(()),
                }
            }
            _ => Ok(()),
        }
    }

    /// Index set and scope of an output or check, in which turns can be counted.
    fn observer_scope(
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

    fn output(
        &mut self,
        name: &str,
        value: &'a Expr,
        scope: &Rc<Scope<'a>>,
        set: &model::IndexSet,
        docs: &[String],
    ) -> R<()> {
        let push = |this: &mut Self, name: String, e: ExprId, dim: Dim| {
            this.outputs.push(model::Output { name, docs: docs.to_vec(), set: set.clone(), value: e, dim });
        };
        // A list of numbers of any length is recorded entry by entry.
        if let ExprKind::Vector { items, unit: None } = &value.kind
            && items.len() != 3 {
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

    fn check(
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
                Node::State(..) | Node::Time | Node::Memory(..) | Node::Lambda(..) | Node::Global(_) | Node::Start(_)
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

#[derive(Default)]
struct Settings<'a> {
    seen: Vec<&'a ast::Ident>,
    gravity: Option<ExprId>,
    redundancy: Redundancy,
    simulate: model::Simulate,
}
