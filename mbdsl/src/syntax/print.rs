//! A syntax tree as text in the canonical layout: parsing it again gives the same tree, up to places.

use std::fmt::Write as _;

use super::ast::{
    Arg, BinaryOp, Block, Define, DefineKind, Document, Expr, ExprKind, Formal, Function, Ident, IndexSet, ItemKind,
    Load, Model, Range, Stmt, StmtKind, Target, TypedKind, UnaryOp, Unit, ValueKind,
};
use super::build_expr::strength;

/// How strongly `-x` and `!x` bind.
const UNARY: u8 = 6;
/// How strongly numbers and vector literals bind, of which a bracket behind them would be the unit.
const LITERAL: u8 = 8;
/// How strongly names, calls and the like bind.
const POSTFIX: u8 = 9;

/// The text of a document; comments other than `///` are not part of the tree.
#[must_use]
pub fn print(document: &Document) -> String {
    let mut out = String::new();
    if let Some(version) = document.language {
        put(&mut out, format_args!("language {version};\n"));
    }
    for item in &document.items {
        // An empty line before each item, except between imports.
        let is_plain_import = matches!(item.kind, ItemKind::Import(_)) && item.docs.is_empty();
        if !out.is_empty() && !is_plain_import {
            out.push('\n');
        }
        docs(&mut out, &item.docs, 0);
        match &item.kind {
            ItemKind::Import(import) => {
                put(&mut out, format_args!("import \"{}\"", import.path));
                if let Some(alias) = &import.alias {
                    put(&mut out, format_args!(" as {}", alias.name));
                }
                out.push(';');
            }
            ItemKind::Define(definition) => define(&mut out, definition, 0),
            ItemKind::Function(definition) => function(&mut out, definition),
            ItemKind::Model(Model { name, formals: list, body }) => {
                put(&mut out, format_args!("model {}", name.name));
                formals(&mut out, list);
                block(&mut out, body, 0);
            }
        }
        out.push('\n');
    }
    out
}

/// The text of an expression.
#[must_use]
pub fn print_expr(value: &Expr) -> String {
    let mut out = String::new();
    expr(&mut out, value, 0);
    out
}

fn put(out: &mut String, what: std::fmt::Arguments<'_>) {
    out.write_fmt(what).expect("writing to a string does not fail");
}

fn indent(out: &mut String, depth: usize) {
    for _ in 0..depth {
        out.push_str("    ");
    }
}

fn docs(out: &mut String, lines: &[String], depth: usize) {
    for line in lines {
        indent(out, depth);
        put(out, format_args!("{}\n", format!("/// {line}").trim_end()));
    }
}

/// `, `-separated texts.
fn list<T>(out: &mut String, items: &[T], mut each: impl FnMut(&mut String, &T)) {
    for (k, item) in items.iter().enumerate() {
        if k > 0 {
            out.push_str(", ");
        }
        each(out, item);
    }
}

fn define(out: &mut String, Define { kind, name, formals: list, body }: &Define, depth: usize) {
    let kind = match kind {
        DefineKind::Body => "body",
        DefineKind::Joint => "joint",
        DefineKind::Force => "force",
        DefineKind::Contact => "contact",
        DefineKind::Part => "part",
    };
    put(out, format_args!("define {kind} {}", name.name));
    formals(out, list);
    block(out, body, depth);
}

fn function(out: &mut String, Function { name, formals: parameters, value }: &Function) {
    put(out, format_args!("define fn {}(", name.name));
    list(out, parameters, formal);
    out.push_str(") = ");
    expr(out, value, 0);
    out.push(';');
}

fn formals(out: &mut String, parameters: &[Formal]) {
    if !parameters.is_empty() {
        out.push('(');
        list(out, parameters, formal);
        out.push(')');
    }
}

fn formal(out: &mut String, formal: &Formal) {
    out.push_str(&formal.name.name);
    if let Some(default) = &formal.default {
        out.push_str(" = ");
        expr(out, default, 0);
    }
}

/// ` { ... }`
fn block(out: &mut String, block: &Block, depth: usize) {
    if block.stmts.is_empty() {
        out.push_str(" {}");
        return;
    }
    out.push_str(" {\n");
    for stmt in &block.stmts {
        docs(out, &stmt.docs, depth + 1);
        indent(out, depth + 1);
        statement(out, stmt, depth + 1);
        out.push('\n');
    }
    indent(out, depth);
    out.push('}');
}

fn statement(out: &mut String, stmt: &Stmt, depth: usize) {
    match &stmt.kind {
        StmtKind::Value { kind, target: name, value } => {
            let kind = match kind {
                ValueKind::Param => "param",
                ValueKind::Const => "const",
                ValueKind::Input => "input",
                ValueKind::Let => "let",
                ValueKind::Output => "output",
                ValueKind::Point => "point",
                ValueKind::Frame => "frame",
            };
            put(out, format_args!("{kind} "));
            target(out, name);
            out.push_str(" = ");
            last(out, value);
        }
        StmtKind::Check { label, condition } => labelled(out, "check", label.as_ref(), condition),
        StmtKind::Potential { label, value } => labelled(out, "potential", label.as_ref(), value),
        StmtKind::Dissipation { label, value } => labelled(out, "dissipation", label.as_ref(), value),
        StmtKind::Constraint { label, equation } => labelled(out, "constraint", label.as_ref(), equation),
        StmtKind::Force(applied) => load(out, "force", applied),
        StmtKind::Torque(applied) => load(out, "torque", applied),
        StmtKind::Typed { kind, target: name, path, args: list, block: body } => {
            let kind = match kind {
                TypedKind::Body => "body",
                TypedKind::Joint => "joint",
                TypedKind::Contact => "contact",
                TypedKind::Force => "force",
                TypedKind::Part => "part",
                TypedKind::Solid => "solid",
            };
            put(out, format_args!("{kind} "));
            target(out, name);
            out.push_str(": ");
            call(out, path, list);
            block_or_end(out, body.as_ref(), depth);
        }
        StmtKind::Body { target: name, block: body } => holder(out, "body ", name, body, depth),
        StmtKind::Particle { target: name, block: body } => holder(out, "particle ", name, body, depth),
        StmtKind::Ground(body) => {
            out.push_str("ground");
            block(out, body, depth);
        }
        StmtKind::Simulate(body) => {
            out.push_str("simulate");
            block(out, body, depth);
        }
        StmtKind::Event { label: name, condition, block: body } => {
            label(out, "event", name.as_ref());
            out.push_str(" when ");
            expr(out, condition, 0);
            block_or_end(out, body.as_ref(), depth);
        }
        StmtKind::Use { path, args: list } => {
            out.push_str("use ");
            call(out, path, list);
            out.push(';');
        }
        StmtKind::Record(interval) => {
            out.push_str("record every ");
            last(out, interval);
        }
        StmtKind::Stop => out.push_str("stop;"),
        StmtKind::Setting { name, value } => {
            put(out, format_args!("{} = ", name.name));
            last(out, value);
        }
        StmtKind::Function(definition) => function(out, definition),
        StmtKind::Define(definition) => define(out, definition, depth),
    }
}

/// An expression with the `;` of its statement.
fn last(out: &mut String, value: &Expr) {
    expr(out, value, 0);
    out.push(';');
}

fn label(out: &mut String, keyword: &str, name: Option<&Target>) {
    out.push_str(keyword);
    if let Some(name) = name {
        out.push(' ');
        target(out, name);
    }
    out.push(':');
}

fn labelled(out: &mut String, keyword: &str, name: Option<&Target>, value: &Expr) {
    label(out, keyword, name);
    out.push(' ');
    last(out, value);
}

fn load(out: &mut String, keyword: &str, Load { target: name, on, reaction, value }: &Load) {
    put(out, format_args!("{keyword} "));
    target(out, name);
    out.push_str(" on ");
    expr(out, on, 0);
    if let Some(reaction) = reaction {
        out.push_str(", ");
        expr(out, reaction, 0);
    }
    out.push_str(": ");
    last(out, value);
}

fn holder(out: &mut String, keyword: &str, name: &Target, body: &Block, depth: usize) {
    out.push_str(keyword);
    target(out, name);
    block(out, body, depth);
}

fn block_or_end(out: &mut String, body: Option<&Block>, depth: usize) {
    match body {
        Some(body) => block(out, body, depth),
        None => out.push(';'),
    }
}

fn call(out: &mut String, path: &[Ident], args: &[Arg]) {
    for (k, part) in path.iter().enumerate() {
        put(out, format_args!("{}{}", if k > 0 { "." } else { "" }, part.name));
    }
    arguments(out, args);
}

fn arguments(out: &mut String, args: &[Arg]) {
    out.push('(');
    list(out, args, |out, arg| match arg {
        Arg::Positional(value) => expr(out, value, 0),
        Arg::Named(name, value) => {
            put(out, format_args!("{} = ", name.name));
            expr(out, value, 0);
        }
        Arg::Over(over) => range(out, over),
    });
    out.push(')');
}

fn target(out: &mut String, Target { name, set }: &Target) {
    out.push_str(&name.name);
    let Some(IndexSet { ranges, filter, .. }) = set else { return };
    out.push('[');
    list(out, ranges, range);
    if let Some(filter) = filter {
        out.push_str(" where ");
        expr(out, filter, 0);
    }
    out.push(']');
}

fn range(out: &mut String, Range { name, lo, hi }: &Range) {
    put(out, format_args!("{} in ", name.name));
    expr(out, lo, 0);
    if let Some(hi) = hi {
        out.push_str("..");
        expr(out, hi, 0);
    }
}

/// An expression, in parentheses if it binds less strongly than its place asks for.
fn expr(out: &mut String, value: &Expr, place: u8) {
    let own = match &value.kind {
        ExprKind::Binary(op, ..) => strength(*op),
        ExprKind::Unary(..) => UNARY,
        ExprKind::Number { .. } | ExprKind::Vector { .. } => LITERAL,
        ExprKind::Name(_) | ExprKind::Field(..) | ExprKind::Subscript(..) | ExprKind::Call(..) => POSTFIX,
    };
    if own < place {
        out.push('(');
        expr(out, value, 0);
        out.push(')');
        return;
    }
    match &value.kind {
        ExprKind::Number { text, unit: of, .. } => {
            out.push_str(text);
            unit(out, of.as_ref());
        }
        ExprKind::Vector { items, unit: of } => {
            out.push('[');
            list(out, items, |out, item| expr(out, item, 0));
            out.push(']');
            unit(out, of.as_ref());
        }
        ExprKind::Name(name) => out.push_str(name),
        ExprKind::Field(base, name) => {
            expr(out, base, POSTFIX);
            put(out, format_args!(".{}", name.name));
        }
        ExprKind::Subscript(base, indices) => {
            expr(out, base, POSTFIX);
            out.push('[');
            list(out, indices, |out, index| expr(out, index, 0));
            out.push(']');
        }
        ExprKind::Call(base, args) => {
            expr(out, base, POSTFIX);
            arguments(out, args);
        }
        ExprKind::Unary(op, operand) => {
            out.push(match op {
                UnaryOp::Neg => '-',
                UnaryOp::Not => '!',
            });
            expr(out, operand, UNARY);
        }
        ExprKind::Binary(op, left, right) => {
            // Comparisons do not chain; powers group to the right and take a sign there; the others group to the left.
            let (on_left, on_right) = match strength(*op) {
                3 => (4, 4),
                _ if *op == BinaryOp::Pow => (LITERAL, UNARY),
                own => (own, own + 1),
            };
            expr(out, left, on_left);
            out.push_str(sign(*op));
            expr(out, right, on_right);
        }
    }
}

fn sign(op: BinaryOp) -> &'static str {
    match op {
        BinaryOp::Add => " + ",
        BinaryOp::Sub => " - ",
        BinaryOp::Mul => " * ",
        BinaryOp::Div => " / ",
        BinaryOp::Rem => " % ",
        BinaryOp::Pow => "^",
        BinaryOp::Eq => " == ",
        BinaryOp::Ne => " != ",
        BinaryOp::Lt => " < ",
        BinaryOp::Le => " <= ",
        BinaryOp::Gt => " > ",
        BinaryOp::Ge => " >= ",
        BinaryOp::And => " && ",
        BinaryOp::Or => " || ",
    }
}

fn unit(out: &mut String, unit: Option<&Unit>) {
    let Some(Unit { factors, bracketed, .. }) = unit else { return };
    out.push(' ');
    if !bracketed {
        for factor in factors {
            out.push_str(&factor.name.name);
        }
        return;
    }
    out.push('[');
    if factors.is_empty() {
        out.push('1');
    }
    for (k, factor) in factors.iter().enumerate() {
        match (k, factor.num < 0) {
            (0, true) => out.push_str("1/"),
            (_, true) => out.push('/'),
            (0, false) => {}
            (_, false) => out.push('*'),
        }
        out.push_str(&factor.name.name);
        match (factor.num.unsigned_abs(), factor.den) {
            (1, 1) => {}
            (num, 1) => put(out, format_args!("^{num}")),
            (num, 2) => put(out, format_args!("^{}.5", num / 2)),
            (num, den) => put(out, format_args!("^({num}/{den})")),
        }
    }
    out.push(']');
}
