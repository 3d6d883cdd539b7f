//! Valid texts: the tree they give, its places, and that printing and parsing again keep it.

use super::tree::strip_spans;
use super::{Random, document};
use crate::source::Span;
use crate::syntax::ast::*;
use crate::syntax::print::{print, print_expr};

/// One text with every kind of item and statement.
const EVERYTHING: &str = r#"language 1;
import "bars.mbd" as bars;
import "other.mbd";

/// A bar.
///
///   with three lines
define body Bar(length, width = 20 mm, density = 2700 [kg/m^3]) {
    solid s: box([length, width, width], density = density);
    point a = [-length / 2, 0, 0];
    frame F = [0, 0, 1];
}
define fn square(x) = x * x;
define joint Screw(p, q, axis, pitch,) {
    use cylindrical(p, q, axis = axis);
    constraint lead: dot(q.pos - p.pos, p.dir(axis)) == pitch * turn(p, q, axis) / (2 * pi);
    let angle = turn(p, q, axis);
}
define contact Barrier(p, q) { potential: 1 J; }
define part Empty { }
define force Strut(p, q, k = 5 [N/m]) {
    potential: 0.5 * k * norm2(p.pos - q.pos);
    dissipation: 0 W;
}

/// All statements.
model All(scale = 1) {
    const N = 40; /* plain */ param m = 15 kg; // plain
    input tau = 0 [N*m];
    //// not documentation
    /// kept
    param c = 3 [N*m*s/rad];
    param roots = [1, 2, 3] [N/m^1.5] ;
    param more = 2 [m^(1/3)] + 3 [m^-2] + 4 [1/s] + 5 [1] + 6 [N/m^0.25];
    gravity = [0, 0, -9.81] [m/s^2];
    ground { point left = [0, 0, 0] m; }
    body link[i in 0..N, j in 0..i where i != j && !(j > 3)] {
        mass = m; inertia = rod(along = [1, 0, 0], length = 3 mm);
        rot = about([0, 1, 0], 90 deg);
    };
    body b: Bar(0.2 m) { pos = guess([150, 150, 0] mm); }
    particle p { mass = 3 amu; pos = [0, 0, 1] nm; }
    joint pin[i in 1..N]: spherical(link[i - 1, 0].b, link[i, 0].a) { angle = fixed(90 deg); }
    joint first: bars.std.pin(ground.left, link[0, 0].a);
    contact c2[p in b, q in b where p < q]: Barrier(p, q);
    force f[i in 0..N] on link[i, 0].a, ground: [0, 0, 1] N;
    torque t on b: tau * [0, 1, 0];
    force s: Strut(b.a, ground.left, k = 3 [N/m]);
    part arm: bars.Arm(length = 0.2 m) { pos = [0, 1, 0] m; }
    potential e[i in 0..N]: -x^2 + 2^-3;
    dissipation: 0.5 * c * b.omega.x^2;
    constraint drive: b.angle == 60 deg + 3 [rad/s] * time;
    event hit: when max(i in 0..N, reach[i]) > 0 { stop; tau = 3 [N*m]; }
    event: when time > 3 s;
    check kept: energy <= start(energy) + 1e-9 J || false;
    define fn local(x, y = 2) = x + y;
    define joint Inner(p, q) { }
    redundancy = report;
    output sag = min(i in 0..N, link[i, 0].pos.z);
    simulate { stepper = dae2l_lse; step = 10 us; until = 2 s; record every 0.5 ms; }
}
"#;

/// Small models of the kinds that the language is made for.
const MODELS: [&str; 7] = [
    "model Top {
        param J = diag([0.2, 0.4, 0.2] [kg*m^2]);
        body top { mass = 15 kg; inertia = J; point tip = [0, -l, 0]; omega = fixed([0, 150, -4.6] [rad/s]); }
        joint pivot: spherical(ground.origin, top.tip);
        check drift: abs(energy - start(energy)) < 1e-3 * abs(start(energy));
    }",
    "model Arms {
        param c = 0.002 [N*m*s/rad]; input tau = 0 [N*m];
        joint elbow: revolute(upper.far, lower.near, axis = [0, 1, 0]);
        dissipation bearing: 0.5 * c * (shoulder.rate^2 + elbow.rate^2);
        torque motor on upper, ground: tau * [0, 1, 0];
        output q = [shoulder.angle, elbow.angle];
    }",
    "model Rope {
        const N = 12; param span = 0.6 * N * L;
        body link[i in 0..N] { pos = [(i + 0.5) * span / N, 0, -0.4 * span * sin(pi * (i + 0.5) / N)]; }
        joint pin[i in 1..N]: spherical(link[i - 1].b, link[i].a);
        potential bend[i in 1..N]: kb * (1 - dot(link[i - 1].axis_x, link[i].axis_x));
        output sag = min(i in 0..N, link[i].pos.z);
    }",
    "define body Bar(length, width = 20 mm) { mass = length * width^2 * 2700 [kg/m^3]; }
    model Linkage {
        body crank: Bar(crank_l) { rot = guess(about([0, 0, 1], 60 deg)); }
        constraint drive: A.angle == 60 deg + speed * time;
        redundancy = report;
    }",
    "model Lattice {
        body b[i in 0..n, j in 0..n, k in 0..n] { pos = space * [i, j, k]; }
        define force Strut(p, q, ks, rest) { let s = norm(p.pos - q.pos); potential: 0.5 * ks * (s - rest)^2; }
        force bx[i in 0..n - 1, j in 0..n, k in 0..n]: Strut(b[i, j, k].e, b[i + 1, j, k].w, ks, rest = gap);
        potential pair[p in b, q in b where p < q && dist(p.pos, q.pos) < 4 * sigma]:
            4 * eps * ((sigma / dist(p.pos, q.pos))^12 - (sigma / dist(p.pos, q.pos))^6);
    }",
    "model Ring {
        param kw = 5e7 [N/m^1.5];
        let reach[i in 0..N] = g[i].pos.x + a - 200 mm;
        potential bind[i in 0..N]: 0.5 * kn * norm2(g[(i + 1) % N].back.pos - g[i].front.pos);
        potential wall[i in 0..N]: 0.4 * kw * max(0, reach[i])^2.5;
        event first_touch: when max(i in 0..N, reach[i]) > 0;
        simulate { step = 20 us; until = 0.2 s; record every 0.5 ms; }
    }",
    "import \"bars.mbd\" as bars;
    define joint Screw(p, q, axis, pitch) {
        use cylindrical(p, q, axis = axis);
        constraint lead: dot(q.pos - p.pos, p.dir(axis)) == pitch * turn(p, q, axis) / (2 * pi);
    }
    model Disc {
        constraint roll: disc.vel + cross(disc.omega_world, contact_arm) == 0;
        part left: bars.Arm(length = 0.2 m) { pos = [0, 1, 0] m; }
        joint nut: Screw(ground.origin, left.base.a, axis = [0, 0, 1], pitch = 2 mm);
    }",
];

/// Parses, prints and parses again; gives the printed text.
#[track_caller]
fn round(text: &str) -> String {
    let mut first = document(text);
    let printed = print(&first);
    let mut second = document(&printed);
    assert_eq!(print(&second), printed);
    strip_spans(&mut first);
    strip_spans(&mut second);
    assert_eq!(first, second, "printed as {printed}");
    printed
}

/// The value of the only statement `x = value;` of a model.
fn value(text: &str) -> Expr {
    let doc = document(&format!("model M {{ x = {text}; }}"));
    let ItemKind::Model(model) = &doc.items[0].kind else { panic!("{doc:?}") };
    let StmtKind::Setting { value, .. } = &model.body.stmts[0].kind else { panic!("{doc:?}") };
    value.clone()
}

#[test]
fn everything_keeps_its_tree() {
    let printed = round(EVERYTHING);
    assert!(printed.contains("/// A bar.\n///\n///   with three lines\ndefine body Bar(length, width = 20 mm"));
    assert!(printed.contains("    /// kept\n    param c = 3 [N*m*s/rad];\n"));
    assert!(printed.contains("2 [m^(1/3)] + 3 [1/m^2] + 4 [1/s] + 5 [1] + 6 [N/m^(1/4)]"), "{printed}");
    assert_eq!(document(""), Document::default());
    assert_eq!(document("// nothing\n;;"), Document::default());
    // Line ends of any kind, and none at all.
    round(&EVERYTHING.replace('\n', "\r\n"));
    round("model M{body b{mass=1 kg;}joint j:weld(a.p,b.q);}");
}

#[test]
fn small_models_keep_their_trees() {
    for text in MODELS {
        round(text);
    }
}

#[test]
fn operators_group_as_documented() {
    let check = |text: &str, grouped: &str, minimal: &str| {
        let strip = |text: &str| {
            let mut doc = document(&format!("model M {{ x = {text}; }}"));
            strip_spans(&mut doc);
            doc
        };
        assert_eq!(strip(text), strip(grouped), "{text}");
        assert_eq!(print_expr(&value(grouped)), minimal);
    };
    check("-x^2", "-(x^2)", "-x^2");
    check("2^-3^2", "2^(-(3^2))", "2^-3^2");
    check("a^b^c", "a^(b^c)", "a^b^c");
    check("(a^b)^c", "((a^b)^c)", "(a^b)^c");
    check("(-x)^2", "((-x)^2)", "(-x)^2");
    check("a - b - c", "(a - b) - c", "a - b - c");
    check("a - (b - c)", "(a - (b - c))", "a - (b - c)");
    check("a / b * c % d", "((a / b) * c) % d", "a / b * c % d");
    check("-a * b", "(-a) * b", "-a * b");
    check("-(a * b)", "(-(a * b))", "-(a * b)");
    check("!a || b && c == d + 1", "(!a) || (b && (c == (d + 1)))", "!a || b && c == d + 1");
    check("(a == b) == c", "((a == b) == c)", "(a == b) == c");
    check("([1, 2])[0]", "([1, 2])[0]", "([1, 2])[0]");
    check("(5)(x)", "(5)(x)", "(5)(x)");
    check("(a + b).c[i](d)", "(a + b).c[i](d)", "(a + b).c[i](d)");
    check("- - x", "-(-x)", "--x");
    check("2 ^ (-x)", "2^(-x)", "2^-x");
}

#[test]
fn units_are_read() {
    let factors = |text: &str| {
        let ExprKind::Number { unit: Some(unit), text, .. } = value(text).kind else { panic!("{text}") };
        assert_eq!(text, "5");
        let list: Vec<_> = unit.factors.iter().map(|f| (f.name.name.clone(), f.num, f.den)).collect();
        (unit.bracketed, list)
    };
    let f = |name: &str, num: i32, den: i32| (name.to_owned(), num, den);
    assert_eq!(factors("5 kg"), (false, vec![f("kg", 1, 1)]));
    assert_eq!(factors("5 [1/s]"), (true, vec![f("s", -1, 1)]));
    assert_eq!(factors("5 [kg*m^2/s]"), (true, vec![f("kg", 1, 1), f("m", 2, 1), f("s", -1, 1)]));
    assert_eq!(factors("5 [N / m ^ 1.5]"), (true, vec![f("N", 1, 1), f("m", -3, 2)]));
    assert_eq!(factors("5 [m^-2/s^-1]"), (true, vec![f("m", -2, 1), f("s", 1, 1)]));
    assert_eq!(factors("5 [m^(1/2)]"), (true, vec![f("m", 1, 2)]));
    assert_eq!(factors("5 [m^(-2/6)]"), (true, vec![f("m", -1, 3)]));
    assert_eq!(factors("5 [1]"), (true, vec![]));
    // Division by a name stays a division; a vector literal takes its bracket as unit.
    assert!(matches!(value("5 N / m").kind, ExprKind::Binary(BinaryOp::Div, ..)));
    assert!(matches!(value("[0, -l, 0] [m]").kind, ExprKind::Vector { unit: Some(_), .. }));
    assert!(matches!(value("v[m]").kind, ExprKind::Subscript(..)));
}

/// Calls a function with every expression of a tree.
fn walk(value: &Expr, each: &mut impl FnMut(&Expr)) {
    each(value);
    match &value.kind {
        ExprKind::Number { .. } | ExprKind::Name(_) => {}
        ExprKind::Vector { items, .. } => items.iter().for_each(|e| walk(e, each)),
        ExprKind::Field(base, _) => walk(base, each),
        ExprKind::Subscript(base, indices) => {
            walk(base, each);
            indices.iter().for_each(|e| walk(e, each));
        }
        ExprKind::Call(base, args) => {
            walk(base, each);
            for arg in args {
                match arg {
                    Arg::Positional(e) | Arg::Named(_, e) => walk(e, each),
                    Arg::Over(range) => {
                        walk(&range.lo, each);
                        range.hi.iter().for_each(|e| walk(e, each));
                    }
                }
            }
        }
        ExprKind::Unary(_, e) => walk(e, each),
        ExprKind::Binary(_, a, b) => {
            walk(a, each);
            walk(b, each);
        }
    }
}

#[test]
fn places_are_exact() {
    let text = "model M { /// d\n let  x [ i in 0 .. N ]  = /* c */ ( a + b ) * f ( x , k = - y ) /* d */ + 5  [ N / m ] // e\n ; stop ; }  ";
    let doc = document(text);
    let of = |span: Span| &text[span.start as usize..span.end as usize];
    assert!(of(doc.items[0].span).starts_with("model M") && of(doc.items[0].span).ends_with("; }"));
    let ItemKind::Model(model) = &doc.items[0].kind else { panic!() };
    assert!(of(model.body.span).starts_with("{ ///") && of(model.body.span).ends_with("; }"));
    assert!(of(model.body.stmts[0].span).starts_with("let") && of(model.body.stmts[0].span).ends_with("\n ;"));
    assert_eq!(of(model.body.stmts[1].span), "stop ;");
    let StmtKind::Value { target, value, .. } = &model.body.stmts[0].kind else { panic!() };
    assert_eq!(of(target.name.span), "x");
    assert_eq!(of(target.set.as_ref().unwrap().span), "[ i in 0 .. N ]");
    let mut places = Vec::new();
    walk(value, &mut |e| {
        places.push(of(e.span));
        if let ExprKind::Number { unit: Some(unit), .. } = &e.kind {
            places.push(of(unit.span));
            places.extend(unit.factors.iter().map(|f| of(f.name.span)));
        }
    });
    assert_eq!(
        places,
        [
            "( a + b ) * f ( x , k = - y ) /* d */ + 5  [ N / m ]",
            "( a + b ) * f ( x , k = - y )",
            "( a + b )",
            "a",
            "b",
            "f ( x , k = - y )",
            "f",
            "x",
            "- y",
            "y",
            "5  [ N / m ]",
            "[ N / m ]",
            "N",
            "m",
        ]
    );
}

impl Random {
    fn name(&mut self) -> Ident {
        let name = self.pick(&["a", "b2", "link", "in_", "partx", "e", "report", "ground", "language", "_k"]);
        Ident { name: name.into(), span: Span::default() }
    }

    fn unit(&mut self) -> Option<Unit> {
        let word =
            |random: &mut Self| Ident { name: random.pick(&["kg", "m", "s", "N", "e"]).into(), span: Span::default() };
        let (factors, bracketed) = match self.below(4) {
            0 | 1 => return None,
            2 => (vec![UnitFactor { name: word(self), num: 1, den: 1 }], false),
            _ => {
                let count = self.below(4);
                let factor = |random: &mut Self| {
                    let (num, den) = random.pick(&[(1, 1), (-1, 1), (2, 1), (-3, 2), (1, 3), (-5, 4)]);
                    UnitFactor { name: word(random), num, den }
                };
                ((0..count).map(|_| factor(self)).collect(), true)
            }
        };
        Some(Unit { factors, bracketed, span: Span::default() })
    }

    fn expr(&mut self, depth: usize) -> Expr {
        let sub = |random: &mut Self| Box::new(random.expr(depth.saturating_sub(1)));
        let some = |random: &mut Self| (0..=random.below(3)).map(|_| *sub(random)).collect::<Vec<_>>();
        let kind = match if depth == 0 { self.below(2) } else { self.below(10) } {
            0 => {
                let text = self.pick(&["0", "5", "0.5", "1e-9", "2.5E3"]);
                ExprKind::Number { value: text.parse().unwrap(), text: text.into(), unit: self.unit() }
            }
            1 => ExprKind::Name(self.name().name),
            2 => ExprKind::Vector { items: some(self), unit: self.unit() },
            3 => ExprKind::Field(sub(self), self.name()),
            4 => ExprKind::Subscript(sub(self), some(self)),
            5 => {
                let args = (0..self.below(4)).map(|_| match self.below(3) {
                    0 => Arg::Positional(*sub(self)),
                    1 => Arg::Named(self.name(), *sub(self)),
                    _ => Arg::Over(self.range(depth)),
                });
                let args = args.collect();
                ExprKind::Call(sub(self), args)
            }
            6 => ExprKind::Unary(self.pick(&[UnaryOp::Neg, UnaryOp::Not]), sub(self)),
            _ => {
                use BinaryOp::*;
                let op = self.pick(&[Add, Sub, Mul, Div, Rem, Pow, Pow, Eq, Ne, Lt, Le, Gt, Ge, And, Or]);
                ExprKind::Binary(op, sub(self), sub(self))
            }
        };
        Expr { kind, span: Span::default() }
    }

    fn range(&mut self, depth: usize) -> Range {
        let lo = Expr { kind: ExprKind::Name(self.name().name), span: Span::default() };
        let hi = (self.below(2) == 0).then(|| self.expr(depth.saturating_sub(1)));
        Range { name: self.name(), lo, hi }
    }

    fn target(&mut self) -> Target {
        let set = (self.below(3) == 0).then(|| IndexSet {
            ranges: (0..=self.below(2)).map(|_| self.range(2)).collect(),
            filter: (self.below(2) == 0).then(|| self.expr(2)),
            span: Span::default(),
        });
        Target { name: self.name(), set }
    }

    fn block(&mut self, depth: usize) -> Block {
        let stmts = (0..self.below(4)).map(|_| self.stmt(depth.saturating_sub(1))).collect();
        Block { stmts, span: Span::default() }
    }

    fn formals(&mut self) -> Vec<Formal> {
        (0..self.below(3))
            .map(|_| Formal { name: self.name(), default: (self.below(2) == 0).then(|| self.expr(1)) })
            .collect()
    }

    fn args(&mut self) -> Vec<Arg> {
        (0..self.below(3)).map(|_| Arg::Positional(self.expr(2))).collect()
    }

    fn path(&mut self) -> Vec<Ident> {
        (0..=self.below(2)).map(|_| self.name()).collect()
    }

    fn stmt(&mut self, depth: usize) -> Stmt {
        use ValueKind::*;
        let label = |random: &mut Self| (random.below(3) > 0).then(|| random.target());
        let kind = match if depth == 0 { self.below(9) } else { self.below(18) } {
            0 => {
                let kind = self.pick(&[Param, Const, Input, Let, Output, Point, Frame]);
                StmtKind::Value { kind, target: self.target(), value: self.expr(4) }
            }
            1 => StmtKind::Check { label: label(self), condition: self.expr(4) },
            2 => StmtKind::Potential { label: label(self), value: self.expr(4) },
            3 => StmtKind::Dissipation { label: label(self), value: self.expr(4) },
            4 => StmtKind::Constraint { label: label(self), equation: self.expr(4) },
            5 => StmtKind::Stop,
            6 => StmtKind::Record(self.expr(3)),
            7 => StmtKind::Setting { name: self.name(), value: self.expr(4) },
            8 => StmtKind::Use { path: self.path(), args: self.args() },
            9 | 10 => {
                let reaction = (self.below(2) == 0).then(|| self.expr(3));
                let load = Load { target: self.target(), on: self.expr(3), reaction, value: self.expr(3) };
                if self.below(2) == 0 { StmtKind::Force(load) } else { StmtKind::Torque(load) }
            }
            11 => {
                use TypedKind as T;
                let kind = self.pick(&[T::Body, T::Joint, T::Contact, T::Force, T::Part, T::Solid]);
                let block = (self.below(2) == 0).then(|| self.block(depth));
                StmtKind::Typed { kind, target: self.target(), path: self.path(), args: self.args(), block }
            }
            12 => StmtKind::Body { target: self.target(), block: self.block(depth) },
            13 => StmtKind::Particle { target: self.target(), block: self.block(depth) },
            14 => StmtKind::Ground(self.block(depth)),
            15 => StmtKind::Simulate(self.block(depth)),
            16 => {
                let block = (self.below(2) == 0).then(|| self.block(depth));
                StmtKind::Event { label: label(self), condition: self.expr(3), block }
            }
            _ if self.below(2) == 0 => {
                StmtKind::Function(Function { name: self.name(), formals: self.formals(), value: self.expr(3) })
            }
            _ => {
                use DefineKind as D;
                let kind = self.pick(&[D::Body, D::Joint, D::Force, D::Contact, D::Part]);
                let (name, formals, body) = (self.name(), self.formals(), self.block(depth));
                StmtKind::Define(Define { kind, name, formals, body })
            }
        };
        let docs = if self.below(4) == 0 { vec!["line".into(), String::new(), " x /y".into()] } else { Vec::new() };
        Stmt { docs, kind, span: Span::default() }
    }
}

#[test]
fn random_trees_survive_printing() {
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    for _ in 0..3_000 {
        let model = Model { name: random.name(), formals: random.formals(), body: random.block(3) };
        let item = Item { docs: vec!["doc".into()], kind: ItemKind::Model(model), span: Span::default() };
        let first = Document { language: Some(1), items: vec![item] };
        let printed = print(&first);
        let mut second = document(&printed);
        strip_spans(&mut second);
        assert_eq!(first, second, "{printed}");
    }
}

/// Another form of the text for the tests of spoilt texts.
pub(super) fn everything() -> &'static str {
    EVERYTHING
}
