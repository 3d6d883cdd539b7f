//! Checking: syntax tree to model. Names are resolved, definitions inlined, shapes and dimensions proved, index sets
//! enumerated; every problem is reported, as far as one does not follow from another.

mod body;
mod builtins;
mod collect;
mod cutoff;
mod element;
mod error;
mod expr;
mod members;
mod observer;
mod scope;
mod sets;
mod shapes;
mod statement;
mod value;

use std::rc::Rc;

use rustc_hash::FxHashMap;

use body::BodyAst;
use element::{ElementAst, ElementKind, Parts};
use error::SemaError;
use scope::{Decl, ElementContext, Scope};
use sets::{DeclSet, IndexUse, Owner};
use shapes::MassProperties;
use value::InstanceOf;

use crate::diag::{self, Diagnostic};
use crate::model::{self, Model};
use crate::source::{Sources, Span};
use crate::symbolic::{ExprId, ExprPool, Node};
use crate::syntax::ast::{self, DefineKind, ItemKind, StmtKind};

/// A problem that has been reported already: whatever depends on it is left alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reported;

type R<T> = Result<T, Reported>;

/// Choices of the caller.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Name of the model; the only one of the file unless given.
    pub model: Option<String>,
    /// Values of `const`s, `param`s and `input`s (only the `const`s are used here; all names are checked), SI units.
    pub overrides: Vec<(String, f64)>,
}

fn unsupported(span: Span, what: &'static str) -> SemaError {
    let instead = match what {
        "imports" | "imported definitions" => "copy the definition into this file",
        "frames" => "use points, and axes in the coordinates of the body",
        "parts" => "write the bodies and joints of the part into the model",
        "contacts" => "use a `potential` that grows with the depth",
        "events" => "use a `check`, and `until` for the end of the run",
        "arrays of constants and parameters" => "use a `let` with an index set",
        "arrays of inputs" => "declare them one by one, or three as a vector",
        "models with parameters in parentheses" => "declare them with `param` inside of the model",
        "constraints on velocities" => "constrain positions",
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
    nesting: usize,
    work: usize,
    /// Where the definition is used whose statements are evaluated.
    use_site: Option<Span>,
    model_scope: Rc<Scope<'a>>,
    ground_scope: Option<Rc<Scope<'a>>>,
    // Bodies.
    body_asts: Vec<BodyAst<'a>>,
    body_sets: Vec<Option<R<DeclSet>>>,
    body_scopes: FxHashMap<InstanceOf, Blocks<'a>>,
    masses: FxHashMap<InstanceOf, R<MassProperties>>,
    // Elements.
    element_asts: Vec<ElementAst<'a>>,
    element_names: Vec<String>,
    element_sets: Vec<Option<R<DeclSet>>>,
    element_scopes: FxHashMap<InstanceOf, R<Rc<Scope<'a>>>>,
    element_parts: FxHashMap<InstanceOf, R<Rc<Parts>>>,
    // Continuous angles: number of a call within its element, and its value in the element's own indices.
    sites: FxHashMap<(usize, Span, Vec<Span>), u32>,
    angles: Vec<Vec<Option<ExprId>>>,
    // Index sets.
    index_names: Vec<String>,
    index_owners: Vec<Owner>,
    index_uses: Vec<IndexUse>,
    set_count: usize,
    set_tables: FxHashMap<usize, model::IndexSet>,
    // The model so far.
    params: Vec<model::Param>,
    inputs: Vec<model::Param>,
    param_docs: FxHashMap<&'a str, &'a [String]>,
    consts: Vec<model::Const>,
    conditions: Vec<model::Condition>,
    checks: Vec<model::Check>,
    outputs: Vec<model::Output>,
}

/// Checks a model of a file.
///
/// `library` holds documents whose definitions are always in scope, `user` the file itself.
///
/// # Errors
/// All problems found, in source order.
pub fn check(
    sources: &Sources,
    library: &[Rc<ast::Document>],
    user: &ast::Document,
    file: Span,
    options: &Options,
) -> Result<Model, Vec<Diagnostic>> {
    let mut early = Vec::new();
    let mut names: FxHashMap<&str, Decl<'_>> = FxHashMap::default();
    let mut places: FxHashMap<&str, Span> = FxHashMap::default();
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
            nesting: 0,
            work: 0,
            use_site: None,
            model_scope: Rc::new(Scope::default()),
            ground_scope: None,
            body_asts: Vec::new(),
            body_sets: Vec::new(),
            body_scopes: FxHashMap::default(),
            masses: FxHashMap::default(),
            element_asts: Vec::new(),
            element_names: Vec::new(),
            element_sets: Vec::new(),
            element_scopes: FxHashMap::default(),
            element_parts: FxHashMap::default(),
            sites: FxHashMap::default(),
            angles: Vec::new(),
            index_names: Vec::new(),
            index_owners: Vec::new(),
            index_uses: Vec::new(),
            set_count: 0,
            set_tables: FxHashMap::default(),
            params: Vec::new(),
            inputs: Vec::new(),
            param_docs: FxHashMap::default(),
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
        let mut seen = rustc_hash::FxHashSet::default();
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
                    | Node::Input(_)
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
            self.body_sets[k] = Some(set.and_then(|set| self.tabulated(set)));
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
            self.element_sets[k] = Some(match self.element_asts[k].kind {
                ElementKind::Potential(_) => set,
                ElementKind::Typed(..)
                | ElementKind::Constraint(_)
                | ElementKind::Dissipation(_)
                | ElementKind::Load(..)
                | ElementKind::Observer => set.and_then(|set| self.tabulated(set)),
            });
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
    fn block_names(&mut self, block: &'a ast::Block) -> Rc<FxHashMap<&'a str, Decl<'a>>> {
        let mut names: FxHashMap<&'a str, Decl<'a>> = FxHashMap::default();
        let mut places: FxHashMap<&'a str, Span> = FxHashMap::default();
        for stmt in &block.stmts {
            let (ident, decl) = match &stmt.kind {
                StmtKind::Value { kind, target, value } => (&target.name, Decl::Value(*kind, target, value)),
                StmtKind::Function(f) => (&f.name, Decl::Function(f)),
                StmtKind::Define(d) => (&d.name, Decl::Define(d)),
                _ => continue,
            };
            if builtins::NAMES.contains(&ident.name.as_str()) {
                self.report(SemaError::BuiltinName { span: ident.span, name: ident.name.clone() });
            }
            if let Some(&first) = places.get(ident.name.as_str()) {
                self.report(SemaError::Redefined { span: ident.span, name: ident.name.clone(), first });
                continue;
            }
            places.insert(&ident.name, ident.span);
            names.insert(&ident.name, decl);
        }
        Rc::new(names)
    }
}
