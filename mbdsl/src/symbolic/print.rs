//! Prints expressions as a person writes them: products by juxtaposition, no parentheses that are not needed.

use std::cell::Cell;

use super::notation::Form;
use super::pool::{Cmp, ExprId, ExprPool, Fun, Fun2, Global, Instance, Node, Quantity, Reduction};

/// What things are called, in plain text; LaTeX sets `x_crank` as a subscript and `omega` as a letter by itself.
pub trait Names {
    /// A parameter.
    fn param(&self, k: u32) -> String {
        format!("p{k}")
    }

    /// An index variable.
    fn index(&self, k: u32) -> String {
        format!("i{k}")
    }

    /// A body, as in `link[i-1]`; an empty name leaves its state bare, as in `R X`. See [`subscripts`].
    fn body(&self, body: &Instance, pool: &ExprPool) -> String;

    /// A structural constant.
    fn constant(&self, k: u32) -> String {
        format!("c{k}")
    }

    /// An input.
    fn input(&self, k: u32) -> String {
        format!("u{k}")
    }

    /// State of a body.
    fn state(&self, what: Quantity, body: &Instance, pool: &ExprPool) -> String {
        let letter = match what {
            Quantity::X => "x",
            Quantity::R => "R",
            Quantity::V => "v",
            Quantity::Omega => "Omega",
        };
        let body = self.body(body, pool);
        if body.is_empty() { letter.to_owned() } else { format!("{letter}_{body}") }
    }

    /// A contraction symbol.
    fn symbol(&self, k: u32) -> String {
        format!("s{k}")
    }

    /// Multipliers of a group of rows of an element.
    fn lambda(&self, _element: &Instance, group: u32, _pool: &ExprPool) -> String {
        format!("lambda_{group}")
    }

    /// Last accepted value of a continuous angle of an element.
    fn memory(&self, _element: &Instance, site: u32, _pool: &ExprPool) -> String {
        format!("angle_{site}")
    }

    /// A name for a whole sub-expression, asked for before its parts.
    fn name_of(&self, _e: ExprId) -> Option<String> {
        None
    }
}

/// An expression as plain text.
#[must_use]
pub fn text(pool: &ExprPool, e: ExprId, names: &dyn Names) -> String {
    Printer::new(pool, names, Form::Text).print(e).0
}

/// An expression in LaTeX, for mathematics mode.
#[must_use]
pub fn latex(pool: &ExprPool, e: ExprId, names: &dyn Names) -> String {
    Printer::new(pool, names, Form::Latex).print(e).0
}

/// Blocks side by side: `[I, -R skew(X)]`.
#[must_use]
pub fn block_row(pool: &ExprPool, blocks: &[ExprId], names: &dyn Names) -> String {
    let printer = Printer::new(pool, names, Form::Text);
    printer.form.row(&printer.all(blocks))
}

/// Blocks side by side, in LaTeX.
#[must_use]
pub fn latex_block_row(pool: &ExprPool, blocks: &[ExprId], names: &dyn Names) -> String {
    let printer = Printer::new(pool, names, Form::Latex);
    printer.form.row(&printer.all(blocks))
}

/// Indices without spaces, `[i-1]`, or nothing if there are none.
#[must_use]
pub fn subscripts(pool: &ExprPool, indices: &[ExprId], names: &dyn Names) -> String {
    if indices.is_empty() {
        return String::new();
    }
    let printer = Printer::new(pool, names, Form::Text);
    format!("[{}]", printer.all(indices).iter().map(|i| i.replace(' ', "")).collect::<Vec<_>>().join(","))
}

/// How tightly what was printed holds together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Hold {
    /// `a || b`
    Or,
    /// `a && b`
    And,
    /// `a < b`
    Comparison,
    /// `a + b`, `-a`
    Sum,
    /// `a x b`, `a . b`, `a % b`
    Infix,
    /// `a b`, `a/b`
    Product,
    /// `a^b`
    Power,
    /// What needs no parentheses anywhere.
    Atom,
}

/// The factors of a product: above and below the bar, the sign apart.
#[derive(Default)]
struct Factors {
    negative: bool,
    above: Vec<String>,
    below: Vec<String>,
}

impl Factors {
    fn push(&mut self, factor: String, below: bool) {
        if below { self.below.push(factor) } else { self.above.push(factor) }
    }
}

struct Printer<'a> {
    pool: &'a ExprPool,
    names: &'a dyn Names,
    form: Form,
    /// Nodes that may still be printed.
    left: Cell<usize>,
    /// How deep the printer is.
    depth: Cell<usize>,
}

/// What is longer or deeper than anybody reads ends in dots: shared sub-expressions are printed where they stand, which
/// can take any amount of text.
const LONGEST: usize = 20_000;
const DEEPEST: usize = 300;

impl<'a> Printer<'a> {
    fn new(pool: &'a ExprPool, names: &'a dyn Names, form: Form) -> Self {
        Self { pool, names, form, left: Cell::new(LONGEST), depth: Cell::new(0) }
    }
}

impl Printer<'_> {
    fn all(&self, list: &[ExprId]) -> Vec<String> {
        list.iter().map(|&e| self.print(e).0).collect()
    }

    /// In parentheses unless it holds at least so tightly.
    fn part(&self, e: ExprId, least: Hold) -> String {
        let (s, hold) = self.print(e);
        if hold < least { self.form.paren(&s) } else { s }
    }

    fn call(&self, name: &str, args: &[ExprId]) -> (String, Hold) {
        (self.form.call(name, &self.all(args)), Hold::Atom)
    }

    fn infix(&self, operator: &str, (a, b): (ExprId, ExprId), hold: Hold, least: Hold) -> (String, Hold) {
        let (a, b) = (self.part(a, least), self.part(b, least));
        (format!("{a} {} {b}", self.form.infix(operator)), hold)
    }

    fn atom(&self, name: &str) -> (String, Hold) {
        (self.form.name(name), Hold::Atom)
    }

    fn print(&self, e: ExprId) -> (String, Hold) {
        if let Some(name) = self.names.name_of(e) {
            return self.atom(&name);
        }
        if self.left.get() == 0 || self.depth.get() == DEEPEST {
            return ("...".to_owned(), Hold::Atom);
        }
        self.left.set(self.left.get() - 1);
        self.depth.set(self.depth.get() + 1);
        let printed = self.print_node(e);
        self.depth.set(self.depth.get() - 1);
        printed
    }

    fn print_node(&self, e: ExprId) -> (String, Hold) {
        let form = self.form;
        match *self.pool.node(e) {
            Node::Num(bits) => {
                let x = f64::from_bits(bits);
                let (s, product) = form.number(x.abs());
                match (x < 0.0, product) {
                    (true, _) => (format!("-{s}"), Hold::Sum),
                    (false, true) => (s, Hold::Product),
                    (false, false) => (s, Hold::Atom),
                }
            }
            Node::Truth(x) => self.atom(if x { "true" } else { "false" }),
            Node::Param(k) => self.atom(&self.names.param(k)),
            Node::Const(k) => self.atom(&self.names.constant(k)),
            Node::Input(k) => self.atom(&self.names.input(k)),
            Node::Index(k) => self.atom(&self.names.index(k)),
            Node::Time => self.atom("t"),
            Node::State(what, body) => self.atom(&self.names.state(what, self.pool.body(body), self.pool)),
            Node::Memory(element, site) => self.atom(&self.names.memory(self.pool.element(element), site, self.pool)),
            Node::Lambda(element, group, _) => {
                self.atom(&self.names.lambda(self.pool.element(element), group, self.pool))
            }
            Node::Symbol(k, _) => self.atom(&self.names.symbol(k)),
            Node::Global(what) => self.atom(match what {
                Global::Energy => "energy",
                Global::Kinetic => "kinetic_energy",
                Global::Potential => "potential_energy",
                Global::LinearMomentum => "momentum.linear",
                Global::AngularMomentum => "momentum.angular",
            }),
            Node::Start(a) => self.call("start", &[a]),
            Node::At(t, a) => self.call("at", &[t, a]),
            Node::Final(a) => self.call("final", &[a]),
            Node::Reduce { how, index, lo, hi, body } => {
                let name = match how {
                    Reduction::Sum => "sum",
                    Reduction::Min => "min",
                    Reduction::Max => "max",
                    Reduction::Mean => "mean",
                };
                let index = form.name(&self.names.index(index));
                let (lo, hi, body) = (self.part(lo, Hold::Sum), self.part(hi, Hold::Sum), self.print(body).0);
                (form.over_range(name, &index, (&lo, &hi), &body), Hold::Atom)
            }
            Node::Neg(_) | Node::Add(..) | Node::Sub(..) => self.sum(e),
            Node::Mul(..) | Node::Div(..) | Node::Scale(..) | Node::MatVec(..) | Node::MatMul(..) | Node::Outer(..) => {
                self.product(e)
            }
            Node::PowInt(_, n) if n < 0 => self.product(e),
            Node::Cross(a, _) if self.turns(a) => self.product(e),
            Node::PowInt(a, n) => (form.power(&self.part(a, Hold::Atom), &n.to_string()), Hold::Power),
            Node::Fun(f, a) => self.fun(f, a),
            Node::Fun2(f, a, b) => match f {
                Fun2::Atan2 => self.call("atan2", &[a, b]),
                Fun2::Min => self.call("min", &[a, b]),
                Fun2::Max => self.call("max", &[a, b]),
                Fun2::Mod => self.infix("%", (a, b), Hold::Infix, Hold::Product),
                // The memory is the business of the runtime.
                Fun2::Unwrap => self.call("unwrap", &[a]),
                Fun2::Pow => {
                    let exponent = match form {
                        Form::Text => self.part(b, Hold::Atom),
                        Form::Latex => self.print(b).0,
                    };
                    (form.power(&self.part(a, Hold::Atom), &exponent), Hold::Power)
                }
            },
            Node::Cmp(c, a, b) => {
                let operator = match c {
                    Cmp::Lt => "<",
                    Cmp::Le => "<=",
                    Cmp::Eq => "==",
                    Cmp::Ne => "!=",
                };
                self.infix(operator, (a, b), Hold::Comparison, Hold::Sum)
            }
            Node::And(a, b) => self.infix("&&", (a, b), Hold::And, Hold::And),
            Node::Or(a, b) => self.infix("||", (a, b), Hold::Or, Hold::Or),
            Node::Not(a) => {
                let sign = if form == Form::Latex { "\\lnot " } else { "!" };
                (format!("{sign}{}", self.part(a, Hold::Atom)), Hold::Power)
            }
            Node::Select(c, a, b) => (form.select(&self.print(c).0, &self.print(a).0, &self.print(b).0), Hold::Atom),
            Node::Vec(a, b, c) => (form.vector(&self.all(&[a, b, c])), Hold::Atom),
            Node::Comp(a, k) | Node::Row(a, k) => (format!("{}[{k}]", self.part(a, Hold::Atom)), Hold::Atom),
            Node::Dot(a, b) if a == b => (form.power(&form.bars(&self.print(a).0), "2"), Hold::Power),
            Node::Dot(a, b) => self.infix(".", (a, b), Hold::Infix, Hold::Product),
            Node::Cross(a, b) => self.infix("x", (a, b), Hold::Infix, Hold::Product),
            Node::Transpose(a) => (form.power(&self.part(a, Hold::Atom), "T"), Hold::Power),
            Node::Skew(a) => (form.skew(&self.print(a).0), Hold::Atom),
            Node::Diag(a) => self.call("diag", &[a]),
            Node::Rows(a, b, c) => self.call("rows", &[a, b, c]),
            Node::About(axis, angle) => self.call("about", &[axis, angle]),
            Node::ExpSo3(a) => self.call("exp_so3", &[a]),
            Node::LogSo3(a) => self.call("log_so3", &[a]),
            Node::Perp1(a) => self.call("perp1", &[a]),
            Node::Perp2(a) => self.call("perp2", &[a]),
            Node::Identity => self.atom("I"),
            Node::ZeroVec | Node::ZeroMat => self.atom("0"),
        }
    }

    /// Sums are flat, with the signs of the terms taken out, and may be long: no recursion along them.
    fn sum(&self, e: ExprId) -> (String, Hold) {
        let mut out = String::new();
        let mut count = 0;
        let mut stack = vec![(e, false)];
        while let Some((e, negative)) = stack.pop() {
            let whole = self.names.name_of(e).is_some();
            match *self.pool.node(e) {
                Node::Add(a, b) if !whole => stack.extend([(b, negative), (a, negative)]),
                Node::Sub(a, b) if !whole => stack.extend([(b, !negative), (a, negative)]),
                Node::Neg(a) if !whole => stack.push((a, !negative)),
                _ => {
                    let term = self.part(e, Hold::Sum);
                    let (term, negative) = match term.strip_prefix('-') {
                        Some(rest) => (rest, !negative),
                        None => (term.as_str(), negative),
                    };
                    out.push_str(match (count, negative) {
                        (0, true) => "-",
                        (0, false) => "",
                        (_, true) => " - ",
                        (_, false) => " + ",
                    });
                    out.push_str(term);
                    count += 1;
                }
            }
        }
        (out, Hold::Sum)
    }

    fn product(&self, e: ExprId) -> (String, Hold) {
        let mut factors = Factors::default();
        self.factors(e, false, &mut factors);
        let Factors { negative, above, below } = factors;
        let (above, below) = (self.juxtapose(&above), (self.juxtapose(&below), below.len()));
        let s = match (below, self.form) {
            ((_, 0), _) => above,
            ((below, 1), _) | ((below, _), Form::Latex) => self.form.fraction(&above, &below),
            ((below, _), Form::Text) => self.form.fraction(&above, &self.form.paren(&below)),
        };
        if negative { (format!("-{s}"), Hold::Sum) } else { (s, Hold::Product) }
    }

    /// Side by side; a number that follows something is set off by a point.
    fn juxtapose(&self, factors: &[String]) -> String {
        let mut out = String::new();
        for factor in factors {
            if !out.is_empty() {
                out.push(' ');
                if factor.starts_with(|c: char| c.is_ascii_digit()) {
                    out.push_str(self.form.infix("*"));
                    out.push(' ');
                }
            }
            out.push_str(factor);
        }
        if out.is_empty() { "1".to_owned() } else { out }
    }

    /// Collects the factors of a product in order.
    fn factors(&self, e: ExprId, below: bool, into: &mut Factors) {
        if self.names.name_of(e).is_some() {
            return into.push(self.print(e).0, below);
        }
        match *self.pool.node(e) {
            Node::Neg(a) => {
                into.negative = !into.negative;
                self.factors(a, below, into);
            }
            Node::Mul(a, b) | Node::Scale(a, b) | Node::MatVec(a, b) | Node::MatMul(a, b) => {
                self.factors(a, below, into);
                self.factors(b, below, into);
            }
            Node::Div(a, b) => {
                self.factors(a, below, into);
                self.factors(b, !below, into);
            }
            Node::PowInt(a, n) if n < 0 => {
                let base = self.part(a, Hold::Atom);
                let p = if n == -1 { base } else { self.form.power(&base, &n.unsigned_abs().to_string()) };
                into.push(p, !below);
            }
            Node::Outer(a, b) => {
                self.factors(a, below, into);
                into.push(self.form.power(&self.part(b, Hold::Atom), "T"), below);
            }
            Node::Cross(a, b) if self.turns(a) => {
                into.push(self.form.skew(&self.print(a).0), below);
                self.factors(b, below, into);
            }
            Node::Num(bits) => {
                let x = f64::from_bits(bits);
                into.negative ^= x < 0.0;
                if x.abs() != 1.0 {
                    into.push(self.form.number(x.abs()).0, below);
                }
            }
            _ => into.push(self.part(e, Hold::Power), below),
        }
    }

    /// Whether a cross product with it reads better as `skew(Omega) a`.
    fn turns(&self, a: ExprId) -> bool {
        matches!(self.pool.node(a), Node::State(Quantity::Omega, _))
    }

    fn fun(&self, f: Fun, a: ExprId) -> (String, Hold) {
        let form = self.form;
        match f {
            Fun::Sqrt => match *self.pool.node(a) {
                Node::Dot(b, c) if b == c && self.names.name_of(a).is_none() => {
                    (form.bars(&self.print(b).0), Hold::Atom)
                }
                _ => (form.sqrt(&self.print(a).0), Hold::Atom),
            },
            Fun::Sin => self.call("sin", &[a]),
            Fun::Cos => self.call("cos", &[a]),
            Fun::Tan => self.call("tan", &[a]),
            Fun::Asin => self.call("asin", &[a]),
            Fun::Acos => self.call("acos", &[a]),
            Fun::Exp => self.call("exp", &[a]),
            Fun::Ln => self.call("log", &[a]),
            Fun::Abs => (form.bars(&self.print(a).0), Hold::Atom),
            Fun::Sign => self.call("sign", &[a]),
            Fun::Floor => self.call("floor", &[a]),
            Fun::Stumpff(k) => {
                let name = form.name(&format!("c{k}"));
                (format!("{name}{}", form.paren(&self.print(a).0)), Hold::Atom)
            }
            Fun::LogCoefficient(n) => {
                let primes = "'".repeat(usize::from(n));
                (format!("g{primes}{}", form.paren(&self.print(a).0)), Hold::Atom)
            }
        }
    }
}

#[cfg(test)]
mod tests;
