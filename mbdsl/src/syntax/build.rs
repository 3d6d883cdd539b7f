//! Pairs of the grammar into the syntax tree.
//!
//! The grammar has accepted the text, so the shape of the pairs is known here; `expect` states it. What the grammar does
//! not say is checked on the way: chained comparisons, ranges, exponents of units, the version and the depth of the tree.

use std::ops::Range as Bytes;

use pest::iterators::Pair;

use super::ast::{
    Arg, Block, Define, DefineKind, Document, Expr, ExprKind, Formal, Function, Ident, Import, IndexSet, Item,
    ItemKind, Load, Model, Range, Stmt, StmtKind, Target, TypedKind, ValueKind,
};
use super::build_expr::Tall;
use super::error::{Fault, LANGUAGE, SyntaxError};
use super::grammar::Rule;
use crate::source::{FileId, Span};

type Node<'i> = Pair<'i, Rule>;

/// Where the tree is made, and what was found to be wrong.
pub(super) struct Builder<'a> {
    pub(super) text: &'a str,
    /// Where what the grammar has seen begins in the text.
    start: usize,
    pub(super) file: FileId,
    pub(super) faults: Vec<Fault>,
    /// Whether the depth of expressions was complained about already.
    pub(super) is_too_deep: bool,
}

/// The syntax tree of a file that the grammar has accepted from some place on.
pub(super) fn build(text: &str, start: usize, file: FileId, root: Node<'_>) -> Result<Document, Vec<Fault>> {
    let mut builder = Builder { text, start, file, faults: Vec::new(), is_too_deep: false };
    let mut document = Document::default();
    for node in root.into_inner() {
        match node.as_rule() {
            Rule::language => document.language = builder.language(node),
            Rule::item => document.items.push(builder.item(node)),
            _ => {}
        }
    }
    if builder.faults.is_empty() { Ok(document) } else { Err(builder.faults) }
}

/// Whether a rule is a sign or a word that says nothing more than the rule around it.
fn is_silent(rule: Rule) -> bool {
    matches!(
        rule,
        Rule::semi
            | Rule::colon
            | Rule::comma
            | Rule::dots
            | Rule::dot
            | Rule::assign
            | Rule::caret
            | Rule::slash
            | Rule::lparen
            | Rule::rparen
            | Rule::lbracket
            | Rule::rbracket
            | Rule::lbrace
            | Rule::rbrace
            | Rule::kw_as
            | Rule::kw_check
            | Rule::kw_constraint
            | Rule::kw_define
            | Rule::kw_event
            | Rule::kw_every
            | Rule::kw_fn
            | Rule::kw_import
            | Rule::kw_in
            | Rule::kw_language
            | Rule::kw_model
            | Rule::kw_on
            | Rule::kw_record
            | Rule::kw_stop
            | Rule::kw_use
            | Rule::kw_when
            | Rule::kw_where
    )
}

/// The children that carry something.
pub(super) fn parts<'i>(node: &Node<'i>) -> impl Iterator<Item = Node<'i>> + use<'i> {
    node.clone().into_inner().filter(|child| !is_silent(child.as_rule()))
}

impl Builder<'_> {
    /// The bytes of a node without white space after its last token.
    pub(super) fn bytes(&self, node: &Node<'_>) -> Bytes<usize> {
        let start = node.as_span().start();
        let mut last = node.clone();
        while let Some(child) = last.clone().into_inner().next_back() {
            last = child;
        }
        self.start + start..self.start + last.as_span().end()
    }

    pub(super) fn span(&self, node: &Node<'_>) -> Span {
        super::error::span(self.file, &self.bytes(node))
    }

    pub(super) fn fault(&mut self, at: Bytes<usize>, error: SyntaxError) {
        self.faults.push(Fault { error, at });
    }

    pub(super) fn ident(&self, node: &Node<'_>) -> Ident {
        Ident { name: node.as_str().into(), span: self.span(node) }
    }

    fn language(&mut self, node: Node<'_>) -> Option<u64> {
        let number = parts(&node).next().expect("`language` has a number");
        let version = number.as_str().parse().ok();
        if version != Some(LANGUAGE) {
            self.fault(self.bytes(&number), SyntaxError::UnsupportedLanguage { text: number.as_str().into() });
        }
        version
    }

    fn item(&mut self, node: Node<'_>) -> Item {
        let (docs, inner) = documented(node);
        let span = self.span(&inner);
        let kind = match inner.as_rule() {
            Rule::import => {
                let mut children = parts(&inner);
                let path = children.next().expect("an import has a path").as_str().trim_matches('"').into();
                let alias = children.next().map(|name| self.ident(&name));
                ItemKind::Import(Import { path, alias })
            }
            Rule::define => ItemKind::Define(self.define(inner)),
            Rule::function => ItemKind::Function(self.function(inner)),
            _ => {
                let (name, formals, body) = self.definition(parts(&inner));
                ItemKind::Model(Model { name, formals, body })
            }
        };
        Item { docs, kind, span }
    }

    fn define(&mut self, node: Node<'_>) -> Define {
        let mut children = parts(&node);
        let kind = match children.next().expect("a definition has a kind").as_str() {
            "body" => DefineKind::Body,
            "joint" => DefineKind::Joint,
            "force" => DefineKind::Force,
            "contact" => DefineKind::Contact,
            _ => DefineKind::Part,
        };
        let (name, formals, body) = self.definition(children);
        Define { kind, name, formals, body }
    }

    /// Name, parameters and block.
    fn definition<'i>(&mut self, mut children: impl Iterator<Item = Node<'i>>) -> (Ident, Vec<Formal>, Block) {
        let name = self.ident(&children.next().expect("a definition has a name"));
        let mut next = children.next().expect("a definition has a block");
        let mut formals = Vec::new();
        if next.as_rule() == Rule::formals {
            formals = self.formals(next);
            next = children.next().expect("a definition has a block");
        }
        (name, formals, self.block(next))
    }

    fn function(&mut self, node: Node<'_>) -> Function {
        let mut children = parts(&node);
        let name = self.ident(&children.next().expect("a function has a name"));
        let formals = self.formals(children.next().expect("a function has parameters"));
        let value = self.expr(children.next().expect("a function has a value"));
        Function { name, formals, value }
    }

    fn formals(&mut self, node: Node<'_>) -> Vec<Formal> {
        let mut formals = Vec::new();
        for formal in parts(&node) {
            let mut children = parts(&formal);
            let name = self.ident(&children.next().expect("a parameter has a name"));
            let default = children.next().map(|value| self.expr(value));
            formals.push(Formal { name, default });
        }
        formals
    }

    fn block(&mut self, node: Node<'_>) -> Block {
        let span = self.span(&node);
        let mut stmts = Vec::new();
        for child in parts(&node) {
            if child.as_rule() == Rule::stmt {
                stmts.push(self.stmt(child));
            }
        }
        Block { stmts, span }
    }

    fn stmt(&mut self, node: Node<'_>) -> Stmt {
        let (docs, inner) = documented(node);
        let span = self.span(&inner);
        Stmt { docs, kind: self.stmt_kind(inner), span }
    }

    fn stmt_kind(&mut self, node: Node<'_>) -> StmtKind {
        let rule = node.as_rule();
        let mut children = parts(&node);
        let mut next = || children.next().expect("the grammar asks for all parts of a statement");
        match rule {
            Rule::function => StmtKind::Function(self.function(node)),
            Rule::define => StmtKind::Define(self.define(node)),
            Rule::value => {
                let kind = match next().as_str() {
                    "param" => ValueKind::Param,
                    "const" => ValueKind::Const,
                    "input" => ValueKind::Input,
                    "let" => ValueKind::Let,
                    "output" => ValueKind::Output,
                    "point" => ValueKind::Point,
                    _ => ValueKind::Frame,
                };
                StmtKind::Value { kind, target: self.target(next()), value: self.expr(next()) }
            }
            Rule::check => StmtKind::Check { label: self.label(next()), condition: self.expr(next()) },
            Rule::energy => {
                let is_potential = next().as_str() == "potential";
                let (label, value) = (self.label(next()), self.expr(next()));
                if is_potential { StmtKind::Potential { label, value } } else { StmtKind::Dissipation { label, value } }
            }
            Rule::constraint => StmtKind::Constraint { label: self.label(next()), equation: self.expr(next()) },
            Rule::load => {
                let is_force = next().as_str() == "force";
                let (target, on, second) = (self.target(next()), self.expr(next()), self.expr(next()));
                let (reaction, value) = match children.next() {
                    Some(value) => (Some(second), self.expr(value)),
                    None => (None, second),
                };
                let load = Load { target, on, reaction, value };
                if is_force { StmtKind::Force(load) } else { StmtKind::Torque(load) }
            }
            Rule::typed => {
                let kind = match next().as_str() {
                    "body" => TypedKind::Body,
                    "joint" => TypedKind::Joint,
                    "contact" => TypedKind::Contact,
                    "force" => TypedKind::Force,
                    "part" => TypedKind::Part,
                    _ => TypedKind::Solid,
                };
                let (target, path, args) = (self.target(next()), self.path(next()), self.args(next()).0);
                let block = children.next().map(|block| self.block(block));
                StmtKind::Typed { kind, target, path, args, block }
            }
            Rule::event => {
                let (label, condition) = (self.label(next()), self.expr(next()));
                StmtKind::Event { label, condition, block: children.next().map(|block| self.block(block)) }
            }
            Rule::use_stmt => StmtKind::Use { path: self.path(next()), args: self.args(next()).0 },
            Rule::record => StmtKind::Record(self.expr(next())),
            Rule::stop => StmtKind::Stop,
            Rule::holder => {
                let is_body = next().as_str() == "body";
                let (target, block) = (self.target(next()), self.block(next()));
                if is_body { StmtKind::Body { target, block } } else { StmtKind::Particle { target, block } }
            }
            Rule::section => {
                let is_ground = next().as_str() == "ground";
                let block = self.block(next());
                if is_ground { StmtKind::Ground(block) } else { StmtKind::Simulate(block) }
            }
            _ => StmtKind::Setting { name: self.ident(&next()), value: self.expr(next()) },
        }
    }

    fn label(&mut self, node: Node<'_>) -> Option<Target> {
        parts(&node).next().map(|target| self.target(target))
    }

    fn target(&mut self, node: Node<'_>) -> Target {
        let mut children = parts(&node);
        let name = self.ident(&children.next().expect("a declared thing has a name"));
        Target { name, set: children.next().map(|set| self.index_set(set)) }
    }

    fn index_set(&mut self, node: Node<'_>) -> IndexSet {
        let span = self.span(&node);
        let (mut ranges, mut filter) = (Vec::new(), None);
        for child in parts(&node) {
            if child.as_rule() == Rule::range {
                ranges.push(self.range(child).0);
            } else {
                filter = Some(self.expr(child));
            }
        }
        IndexSet { ranges, filter, span }
    }

    /// A range, and its height as a tree.
    fn range(&mut self, node: Node<'_>) -> (Range, usize) {
        let mut children = parts(&node);
        let name = self.ident(&children.next().expect("a range has an index"));
        let Tall { expr: lo, mut height } = self.tall(children.next().expect("a range has a lower end or a set"));
        let hi = children.next().map(|hi| {
            let hi = self.tall(hi);
            height = height.max(hi.height);
            hi.expr
        });
        if hi.is_none()
            && let ExprKind::Vector { items, .. } = &lo.kind
        {
            let text = |e: &Expr| self.text[e.span.start as usize..e.span.end as usize].to_owned();
            let error = match items.as_slice() {
                [lo, hi] => SyntaxError::ClosedRange { lo: text(lo), hi: text(hi) },
                _ => SyntaxError::ClosedRange { lo: "0".into(), hi: "N".into() },
            };
            self.fault(lo.span.start as usize..lo.span.end as usize, error);
        }
        (Range { name, lo, hi }, height)
    }

    fn path(&mut self, node: Node<'_>) -> Vec<Ident> {
        parts(&node)
            .map(|part| match part.as_rule() {
                Rule::field => self.ident(&parts(&part).next().expect("a field has a name")),
                _ => self.ident(&part),
            })
            .collect()
    }

    /// Arguments, and the height of the highest of them.
    pub(super) fn args(&mut self, node: Node<'_>) -> (Vec<Arg>, usize) {
        let (mut args, mut highest) = (Vec::new(), 0);
        for arg in parts(&node) {
            let inner = parts(&arg).next().expect("an argument is something");
            let (arg, height) = match inner.as_rule() {
                Rule::range => {
                    let (range, height) = self.range(inner);
                    (Arg::Over(range), height)
                }
                Rule::named => {
                    let mut children = parts(&inner);
                    let name = self.ident(&children.next().expect("a named argument has a name"));
                    let tall = self.tall(children.next().expect("a named argument has a value"));
                    (Arg::Named(name, tall.expr), tall.height)
                }
                _ => {
                    let tall = self.tall(inner);
                    (Arg::Positional(tall.expr), tall.height)
                }
            };
            highest = highest.max(height);
            args.push(arg);
        }
        (args, highest)
    }
}

/// The lines of the comment of an item or statement, and what they document.
fn documented(node: Node<'_>) -> (Vec<String>, Node<'_>) {
    let mut docs = Vec::new();
    let mut children = node.into_inner();
    loop {
        let child = children.next().expect("a comment documents something");
        if child.as_rule() != Rule::doc {
            return (docs, child);
        }
        let line = child.as_str().trim_start_matches('/').trim_end();
        docs.push(line.strip_prefix(' ').unwrap_or(line).to_owned());
    }
}
