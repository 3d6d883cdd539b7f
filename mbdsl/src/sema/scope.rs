//! Scopes: which declaration a name means, from the innermost block outwards, with the values found so far.

use std::cell::RefCell;
use std::rc::Rc;

use rustc_hash::FxHashMap;

use super::Reported;
use super::value::{Frame, InstanceOf, Value};
use crate::source::Span;
use crate::syntax::ast;

/// What a name is declared as.
#[derive(Clone, Copy, Debug)]
pub enum Decl<'a> {
    /// `const`, `param`, `let`, `output`, `point`.
    Value(ast::ValueKind, &'a ast::Target, &'a ast::Expr),
    /// Body declaration number k.
    Body(usize),
    /// Element declaration number k.
    Element(usize),
    /// `define fn`.
    Function(&'a ast::Function),
    /// `define body | joint | force`.
    Define(&'a ast::Define),
}

/// The element whose statements are evaluated: where continuous angles are counted.
#[derive(Clone, Debug)]
pub struct ElementContext {
    /// The instance.
    pub of: InstanceOf,
    /// `use` statements passed on the way, to tell two uses of one definition apart.
    pub path: Vec<Span>,
}

/// State of a name that is looked up.
#[derive(Clone, Debug)]
pub enum Memo<'a> {
    /// Being evaluated: meeting it again is a cycle.
    Busy,
    /// Evaluated.
    Done(Result<Value<'a>, Reported>),
}

/// A block with its names.
#[derive(Debug, Default)]
pub struct Scope<'a> {
    /// The block around it.
    pub parent: Option<Rc<Scope<'a>>>,
    /// Formals and indices with their values.
    pub bound: Vec<(&'a str, Value<'a>)>,
    /// Names declared in the block.
    pub names: Rc<FxHashMap<&'a str, Decl<'a>>>,
    /// Values of those names.
    pub memo: RefCell<FxHashMap<&'a str, Memo<'a>>>,
    /// The element that the block belongs to.
    pub element: Option<ElementContext>,
    /// The body that the block belongs to.
    pub frame: Option<Frame>,
    /// The definition whose statements these are.
    pub define: Option<&'a ast::Define>,
    /// Definitions taken in by `use`, whose `let`s are members too.
    pub used: RefCell<Vec<Rc<Scope<'a>>>>,
}

impl<'a> Scope<'a> {
    /// The element that counts angles here.
    #[must_use]
    pub fn context(&self) -> Option<&ElementContext> {
        self.element.as_ref().or_else(|| self.parent.as_ref()?.context())
    }

    /// The innermost scope that declares a name, with the declaration.
    #[must_use]
    pub fn find(self: &Rc<Self>, name: &str) -> Option<(Rc<Self>, Decl<'a>)> {
        if let Some(&decl) = self.names.get(name) {
            return Some((Rc::clone(self), decl));
        }
        if let Some(found) = self.used.borrow().iter().find_map(|inner| inner.find_let(name)) {
            return Some(found);
        }
        self.parent.as_ref()?.find(name)
    }

    /// A `let` of this definition or of those that it uses.
    #[must_use]
    pub fn find_let(self: &Rc<Self>, name: &str) -> Option<(Rc<Self>, Decl<'a>)> {
        if let Some(&decl @ Decl::Value(ast::ValueKind::Let, ..)) = self.names.get(name) {
            return Some((Rc::clone(self), decl));
        }
        self.used.borrow().iter().find_map(|inner| inner.find_let(name))
    }

    /// The innermost definition of a name; other declarations do not hide it.
    #[must_use]
    pub fn find_define(self: &Rc<Self>, name: &str) -> Option<(Rc<Self>, &'a ast::Define)> {
        if let Some(&Decl::Define(define)) = self.names.get(name) {
            return Some((Rc::clone(self), define));
        }
        self.parent.as_ref()?.find_define(name)
    }

    /// The value bound to a formal or an index, unless a nearer declaration hides it.
    #[must_use]
    pub fn find_bound(&self, name: &str) -> Option<Value<'a>> {
        if let Some((_, value)) = self.bound.iter().find(|(n, _)| *n == name) {
            return Some(value.clone());
        }
        if self.names.contains_key(name) {
            return None;
        }
        self.parent.as_ref()?.find_bound(name)
    }

    /// Names of all definitions of a kind in sight, in order.
    #[must_use]
    pub fn defined(&self, kind: ast::DefineKind) -> Vec<String> {
        let own = self.names.iter().filter(|(_, decl)| matches!(decl, Decl::Define(d) if d.kind == kind));
        let mut names: Vec<String> = own.map(|(name, _)| (*name).to_owned()).collect();
        if let Some(parent) = &self.parent {
            names.extend(parent.defined(kind));
        }
        names.sort_unstable();
        names.dedup();
        names
    }

    /// All names in sight, for suggestions.
    #[must_use]
    pub fn in_sight(&self) -> Vec<&'a str> {
        let mut names: Vec<&str> = self.bound.iter().map(|(n, _)| *n).collect();
        let mut own: Vec<&str> = self.names.keys().copied().collect();
        own.sort_unstable();
        names.extend(own);
        if let Some(parent) = &self.parent {
            names.extend(parent.in_sight());
        }
        names
    }
}
