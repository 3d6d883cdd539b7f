//! Trees without places, so that two texts of one tree compare equal.

use crate::source::Span;
use crate::syntax::ast::*;

/// Sets all places of a document to zero.
pub(super) fn strip_spans(document: &mut Document) {
    for item in &mut document.items {
        item.span = Span::default();
        match &mut item.kind {
            ItemKind::Import(import) => import.alias.iter_mut().for_each(ident),
            ItemKind::Define(d) => define(d),
            ItemKind::Function(f) => function(f),
            ItemKind::Model(m) => {
                ident(&mut m.name);
                formals(&mut m.formals);
                block(&mut m.body);
            }
        }
    }
}

fn ident(ident: &mut Ident) {
    ident.span = Span::default();
}

fn define(d: &mut Define) {
    ident(&mut d.name);
    formals(&mut d.formals);
    block(&mut d.body);
}

fn function(f: &mut Function) {
    ident(&mut f.name);
    formals(&mut f.formals);
    expr(&mut f.value);
}

fn formals(list: &mut [Formal]) {
    for formal in list {
        ident(&mut formal.name);
        formal.default.iter_mut().for_each(expr);
    }
}

fn block(block: &mut Block) {
    block.span = Span::default();
    block.stmts.iter_mut().for_each(stmt);
}

fn stmt(stmt: &mut Stmt) {
    stmt.span = Span::default();
    match &mut stmt.kind {
        StmtKind::Value { target: t, value, .. } => {
            target(t);
            expr(value);
        }
        StmtKind::Check { label, condition: value }
        | StmtKind::Potential { label, value }
        | StmtKind::Dissipation { label, value }
        | StmtKind::Constraint { label, equation: value } => {
            label.iter_mut().for_each(target);
            expr(value);
        }
        StmtKind::Force(load) | StmtKind::Torque(load) => {
            target(&mut load.target);
            expr(&mut load.on);
            load.reaction.iter_mut().for_each(expr);
            expr(&mut load.value);
        }
        StmtKind::Typed { target: t, path, args: list, block: body, .. } => {
            target(t);
            path.iter_mut().for_each(ident);
            args(list);
            body.iter_mut().for_each(block);
        }
        StmtKind::Body { target: t, block: body } | StmtKind::Particle { target: t, block: body } => {
            target(t);
            block(body);
        }
        StmtKind::Ground(body) | StmtKind::Simulate(body) => block(body),
        StmtKind::Event { label, condition, block: body } => {
            label.iter_mut().for_each(target);
            expr(condition);
            body.iter_mut().for_each(block);
        }
        StmtKind::Use { path, args: list } => {
            path.iter_mut().for_each(ident);
            args(list);
        }
        StmtKind::Record(value) => expr(value),
        StmtKind::Stop => {}
        StmtKind::Setting { name, value } => {
            ident(name);
            expr(value);
        }
        StmtKind::Function(f) => function(f),
        StmtKind::Define(d) => define(d),
    }
}

fn target(target: &mut Target) {
    ident(&mut target.name);
    if let Some(set) = &mut target.set {
        set.span = Span::default();
        set.ranges.iter_mut().for_each(range);
        set.filter.iter_mut().for_each(expr);
    }
}

fn range(range: &mut Range) {
    ident(&mut range.name);
    expr(&mut range.lo);
    range.hi.iter_mut().for_each(expr);
}

fn args(list: &mut [Arg]) {
    for arg in list {
        match arg {
            Arg::Positional(value) => expr(value),
            Arg::Named(name, value) => {
                ident(name);
                expr(value);
            }
            Arg::Over(over) => range(over),
        }
    }
}

fn expr(value: &mut Expr) {
    value.span = Span::default();
    match &mut value.kind {
        ExprKind::Number { unit: u, .. } => u.iter_mut().for_each(unit),
        ExprKind::Vector { items, unit: u } => {
            items.iter_mut().for_each(expr);
            u.iter_mut().for_each(unit);
        }
        ExprKind::Name(_) => {}
        ExprKind::Field(base, name) => {
            expr(base);
            ident(name);
        }
        ExprKind::Subscript(base, indices) => {
            expr(base);
            indices.iter_mut().for_each(expr);
        }
        ExprKind::Call(base, list) => {
            expr(base);
            args(list);
        }
        ExprKind::Unary(_, operand) => expr(operand),
        ExprKind::Binary(_, left, right) => {
            expr(left);
            expr(right);
        }
    }
}

fn unit(unit: &mut Unit) {
    unit.span = Span::default();
    for factor in &mut unit.factors {
        ident(&mut factor.name);
    }
}
