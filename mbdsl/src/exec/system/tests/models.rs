//! Models as the checker would make them.

use crate::model::{
    Body, BodyKind, Check, CheckTime, Condition, Element, Equation, IndexSet, Level, Load, Model, Output, Param,
    Placement, Redundancy, Simulate,
};
use crate::source::Span;
use crate::symbolic::{ElementRef, ExprId, ExprPool, Fun, Fun2, Quantity, Reduction, Ty};
use crate::units::Dim;

pub(super) fn vec3(pool: &mut ExprPool, a: [f64; 3]) -> ExprId {
    let [x, y, z] = a.map(|x| pool.num(x));
    pool.vec(x, y, z)
}

pub(super) fn empty(name: &str) -> Model {
    let mut pool = ExprPool::new();
    let gravity = vec3(&mut pool, [0.0, 0.0, -9.81]);
    Model {
        name: name.to_owned(),
        docs: Vec::new(),
        pool,
        consts: Vec::new(),
        params: Vec::new(),
        inputs: Vec::new(),
        param_order: Vec::new(),
        indices: Vec::new(),
        bodies: Vec::new(),
        elements: Vec::new(),
        conditions: Vec::new(),
        outputs: Vec::new(),
        checks: Vec::new(),
        redundancy: Redundancy::Report,
        gravity,
        simulate: Simulate::default(),
        span: Span::default(),
    }
}

pub(super) fn param(model: &mut Model, name: &str, value: f64) -> ExprId {
    let k = model.pool.declare_param(Ty::Scalar);
    let default = model.pool.num(value);
    model.params.push(Param { name: name.to_owned(), docs: Vec::new(), default, dim: Dim::ONE, span: Span::default() });
    model.param_order.push(k as usize);
    model.pool.param(k)
}

/// A body of mass 2 kg and inertia diag(1, 2, 2.5) kg m^2.
pub(super) fn body(model: &mut Model, name: &str, kind: BodyKind, set: IndexSet) -> usize {
    let pool = &mut model.pool;
    let moments = vec3(pool, [1.0, 2.0, 2.5]);
    let body = Body {
        name: name.to_owned(),
        docs: Vec::new(),
        kind,
        first: model.bodies.iter().map(|b| b.set.count).sum(),
        set,
        mass: pool.num(2.0),
        com: pool.zero(Ty::Vec3),
        inertia: pool.diag(moments),
        placement: Placement::default(),
        span: Span::default(),
        inertia_span: Span::default(),
    };
    model.bodies.push(body);
    model.bodies.len() - 1
}

pub(super) fn element(name: &str, set: IndexSet) -> Element {
    Element {
        name: name.to_owned(),
        docs: Vec::new(),
        kind: "constraint".to_owned(),
        set,
        equations: Vec::new(),
        cutoff: None,
        potential: None,
        dissipation: None,
        loads: Vec::new(),
        angles: Vec::new(),
        span: Span::default(),
    }
}

pub(super) fn equation(name: &str, phi: ExprId) -> Equation {
    Equation { name: name.to_owned(), phi, dim: Dim::LENGTH, span: Span::default() }
}

pub(super) fn output(name: &str, set: IndexSet, value: ExprId) -> Output {
    Output { name: name.to_owned(), docs: Vec::new(), set, value, dim: Dim::ONE, span: Span::default() }
}

pub(super) fn check(model: &Model, name: &str, time: CheckTime, sides: (ExprId, ExprId), condition: ExprId) -> Check {
    Check {
        name: name.to_owned(),
        docs: Vec::new(),
        set: IndexSet::single(),
        time,
        condition,
        sides: Some(sides),
        dim: Dim::ONE,
        span: model.span,
    }
}

/// `lo..hi` of one index variable.
pub(super) fn range(model: &mut Model, name: &str, lo: i32, hi: i32) -> IndexSet {
    model.indices.push(name.to_owned());
    let var = u32::try_from(model.indices.len() - 1).expect("few");
    IndexSet { vars: vec![var], tuples: (lo..hi).collect(), count: (hi - lo) as usize }
}

/// State of body declaration `decl` at index expressions.
pub(super) fn state(model: &mut Model, what: Quantity, decl: usize, indices: &[ExprId]) -> ExprId {
    let body = model.pool.body_ref(decl as u32, indices.to_vec());
    model.pool.state(what, body)
}

/// Position of a point given in body axes.
pub(super) fn point(model: &mut Model, decl: usize, indices: &[ExprId], at: ExprId) -> ExprId {
    let x = state(model, Quantity::X, decl, indices);
    let r = state(model, Quantity::R, decl, indices);
    let arm = model.pool.mat_vec(r, at);
    model.pool.add(x, arm)
}

/// The pendulum of the published table: `Phi = x + R X`, X = (0, -1, 0).
pub(super) fn single_pendulum() -> Model {
    let mut m = empty("SinglePendulum");
    let mass = param(&mut m, "m", 15.0);
    let l = param(&mut m, "l", 1.0);
    let top = body(&mut m, "top", BodyKind::Rigid, IndexSet::single());
    let moments = vec3(&mut m.pool, [0.3125, 0.46875, 0.3125]);
    let (zero, below) = (m.pool.num(0.0), m.pool.neg(l));
    m.bodies[top].mass = mass;
    m.bodies[top].inertia = m.pool.diag(moments);
    m.bodies[top].placement = Placement {
        pos: Some(m.pool.vec(zero, l, zero)),
        omega: Some(vec3(&mut m.pool, [0.0, 150.0, -4.6154])),
        vel: Some(vec3(&mut m.pool, [4.6154, 0.0, 0.0])),
        ..Placement::default()
    };
    let tip = m.pool.vec(zero, below, zero);
    let phi = point(&mut m, top, &[], tip);
    let mut pivot = element("pivot", IndexSet::single());
    pivot.equations.push(equation("", phi));
    m.elements.push(pivot);
    m
}

/// Two rods on a pivot.
pub(super) fn double_pendulum() -> Model {
    let mut m = empty("DoublePendulum");
    let names = ["lower", "upper"];
    let rods = names.map(|name| body(&mut m, name, BodyKind::Rigid, IndexSet::single()));
    let (a, b) = (vec3(&mut m.pool, [0.1, 0.2, -0.5]), vec3(&mut m.pool, [0.3, -0.1, 0.5]));
    let mut first = element("first", IndexSet::single());
    let phi = point(&mut m, rods[0], &[], a);
    first.equations.push(equation("", phi));
    let mut second = element("second", IndexSet::single());
    let (p, q) = (point(&mut m, rods[0], &[], b), point(&mut m, rods[1], &[], a));
    let phi = m.pool.sub(p, q);
    second.equations.push(equation("", phi));
    m.elements.extend([first, second]);
    m
}

/// A hinge whose continuous angle is driven in time, has a spring, friction and a follower force.
pub(super) fn driven_hinge() -> Model {
    let mut m = empty("DrivenHinge");
    let k = param(&mut m, "k", 3.0);
    let arm = body(&mut m, "arm", BodyKind::Rigid, IndexSet::single());
    let wheel = body(&mut m, "wheel", BodyKind::Rigid, IndexSet::single());
    let r1 = state(&mut m, Quantity::R, arm, &[]);
    let r2 = state(&mut m, Quantity::R, wheel, &[]);
    let hinge_ref: ElementRef = m.pool.element_ref(0, Vec::new());
    let at = vec3(&mut m.pool, [0.2, -0.4, 0.3]);
    let (p, q) = (point(&mut m, arm, &[], at), point(&mut m, wheel, &[], at));

    let pool = &mut m.pool;
    let [e1, e2, e3] = [0, 1, 2].map(|k| pool.unit(k));
    let axis = pool.mat_vec(r1, e3);
    let (a1, b1, b2) = (pool.mat_vec(r1, e1), pool.mat_vec(r2, e1), pool.mat_vec(r2, e2));
    let gap = pool.sub(p, q);
    let (tilt1, tilt2) = (pool.dot(axis, b1), pool.dot(axis, b2));
    let cross = pool.cross(a1, b1);
    let (sin, cos) = (pool.dot(axis, cross), pool.dot(a1, b1));
    let raw = pool.fun2(Fun2::Atan2, sin, cos);
    let memory = pool.memory(hinge_ref, 0);
    let angle = pool.fun2(Fun2::Unwrap, raw, memory);

    let mut hinge = element("hinge", IndexSet::single());
    hinge.equations = vec![equation("pos", gap), equation("tilt1", tilt1), equation("tilt2", tilt2)];
    hinge.angles.push(angle);

    // angle = 2 t^2
    let mut drive = element("drive", IndexSet::single());
    let t = pool.time();
    let t2 = pool.pow_int(t, 2);
    let two = pool.num(2.0);
    let wanted = pool.mul(two, t2);
    let phi = pool.sub(angle, wanted);
    drive.equations.push(equation("", phi));

    // k angle^2 / 2 about the start, friction of relative velocity, a force along a body axis.
    let mut spring = element("spring", IndexSet::single());
    let start = pool.start(angle);
    let turned = pool.sub(angle, start);
    let turned2 = pool.pow_int(turned, 2);
    let energy = pool.mul(k, turned2);
    let half = pool.num(0.5);
    spring.potential = Some(pool.mul(half, energy));
    let (w1, w2) = (state(&mut m, Quantity::Omega, arm, &[]), state(&mut m, Quantity::Omega, wheel, &[]));
    let (u1, u2) = (state(&mut m, Quantity::V, arm, &[]), state(&mut m, Quantity::V, wheel, &[]));
    let pool = &mut m.pool;
    let (w1, w2) = (pool.mat_vec(r1, w1), pool.mat_vec(r2, w2));
    let slip = pool.sub(w1, w2);
    let slip2 = pool.dot(slip, slip);
    let drag = pool.dot(u1, u2);
    spring.dissipation = Some(pool.add(slip2, drag));
    let turn = pool.mat_vec(r2, at);
    let swing = pool.cross(w2, turn);
    let tip_velocity = pool.add(u2, swing);
    let value = pool.scale(angle, b1);
    spring.loads.push(Load { velocity: tip_velocity, value });
    let wanted = pool.sub(angle, wanted);
    m.elements.extend([hinge, drive, spring]);
    m.conditions.push(Condition {
        name: "hinge.angle".to_owned(),
        set: IndexSet::single(),
        level: Level::Position,
        fixed: true,
        value: wanted,
        span: Span::default(),
    });
    m.conditions.push(Condition {
        name: "hinge.slip".to_owned(),
        set: IndexSet::single(),
        level: Level::Velocity,
        fixed: false,
        value: slip,
        span: Span::default(),
    });
    m.outputs.push(output("turned", IndexSet::single(), turned));
    m
}

/// N links from ground on, the ends of neighbours tied together; particles on springs between neighbours.
pub(super) fn chain(n: i32) -> Model {
    let mut m = empty("Chain");
    let l = param(&mut m, "l", 0.5);
    let i = range(&mut m, "i", 0, n);
    let link = body(&mut m, "link", BodyKind::Rigid, i.clone());
    let bead = body(&mut m, "bead", BodyKind::Particle, i);
    for (decl, side) in [(link, 0.0), (bead, 1.0)] {
        let k = m.pool.index(0);
        let x = m.pool.mul(l, k);
        let side = m.pool.num(side);
        let zero = m.pool.num(0.0);
        m.bodies[decl].placement.pos = Some(m.pool.vec(x, side, zero));
    }

    // Element index sets of their own.
    let single = IndexSet::single();
    let pin = range(&mut m, "j", 1, n);
    let zero = m.pool.num(0.0);
    let half = m.pool.num(0.5);
    let h = m.pool.mul(half, l);
    let back = m.pool.neg(h);
    let (front, rear) = (m.pool.vec(h, zero, zero), m.pool.vec(back, zero, zero));
    let first = m.pool.num(0.0);
    let phi = point(&mut m, link, &[first], rear);
    let mut pivot = element("pivot", single);
    pivot.equations.push(equation("", phi));
    let j = m.pool.index(1);
    let one = m.pool.num(1.0);
    let before = m.pool.sub(j, one);
    let (p, q) = (point(&mut m, link, &[before], front), point(&mut m, link, &[j], rear));
    let gap = m.pool.sub(p, q);
    let mut pins = element("pin", pin.clone());
    pins.equations.push(equation("", gap));

    // A rod from each bead to its link, and a spring between neighbouring beads.
    let tie_set = range(&mut m, "k", 0, n);
    let k = m.pool.index(2);
    let (p, x) = (point(&mut m, link, &[k], front), state(&mut m, Quantity::X, bead, &[k]));
    let d = m.pool.sub(p, x);
    let distance = m.pool.norm(d);
    let phi = m.pool.sub(distance, l);
    let mut tie = element("tie", tie_set);
    tie.equations.push(equation("", phi));
    let (a, b) = (state(&mut m, Quantity::X, bead, &[before]), state(&mut m, Quantity::X, bead, &[j]));
    let d = m.pool.sub(a, b);
    let length = m.pool.norm(d);
    let rest = m.pool.start(length);
    let stretch = m.pool.sub(length, rest);
    let mut spring = element("spring", pin);
    let square = m.pool.pow_int(stretch, 2);
    spring.potential = Some(m.pool.mul(half, square));
    m.elements.extend([pivot, pins, tie, spring]);

    // Height of the lowest link, mean position, tension in the pins.
    let s = range(&mut m, "s", 0, n);
    let var = s.vars[0];
    let at = m.pool.index(var);
    let x = state(&mut m, Quantity::X, link, &[at]);
    let height = m.pool.comp(x, 2);
    let (lo, hi) = (m.pool.num(0.0), m.pool.num(f64::from(n)));
    let sag = m.pool.reduce(Reduction::Min, var, lo, hi, height);
    m.outputs.push(output("sag", IndexSet::single(), sag));
    let along = m.pool.comp(x, 0);
    let mean = m.pool.reduce(Reduction::Mean, var, lo, hi, along);
    m.outputs.push(output("mean", IndexSet::single(), mean));
    let o = range(&mut m, "o", 1, n);
    let at = m.pool.index(o.vars[0]);
    let pin_ref = m.pool.element_ref(1, vec![at]);
    let tension = m.pool.lambda(pin_ref, 0, Ty::Vec3);
    m.outputs.push(output("tension", o, tension));
    let deep = m.pool.num(-1e3);
    let condition = m.pool.cmp(crate::symbolic::Cmp::Lt, deep, sag);
    let c = check(&m, "shallow", CheckTime::Always, (deep, sag), condition);
    m.checks.push(c);
    m
}

/// Of each pin of a chain, the sum of the lengths of the links before it: a table that grows with the square of N.
pub(super) fn add_reach(m: &mut Model, n: i32) {
    let (s, o) = (range(m, "r", 0, n), range(m, "p", 1, n));
    let at = m.pool.index(o.vars[0]);
    let (lo, l) = (m.pool.num(0.0), m.pool.param(0));
    let reach = m.pool.reduce(Reduction::Sum, s.vars[0], lo, at, l);
    m.outputs.push(output("reach", o, reach));
}

/// A check that compares the height of the pendulum at a time, at the end, and a parameter.
pub(super) fn add_checks(m: &mut Model) {
    let x = state(m, Quantity::X, 0, &[]);
    let pool = &mut m.pool;
    let y = pool.comp(x, 1);
    let when = pool.num(0.045);
    let (early, late) = (pool.at(when, y), pool.final_value(y));
    let close = pool.num(1e-3);
    let d = pool.sub(early, late);
    let gap = pool.fun(Fun::Abs, d);
    let condition = pool.cmp(crate::symbolic::Cmp::Lt, gap, close);
    let c = check(m, "same height", CheckTime::Once, (gap, close), condition);
    m.checks.push(c);
    let l = m.pool.param(1);
    let zero = m.pool.num(0.0);
    let condition = m.pool.cmp(crate::symbolic::Cmp::Lt, zero, l);
    let c = check(m, "length", CheckTime::Bound, (l, zero), condition);
    m.checks.push(c);
}

/// Sum of the distances along x of all pairs of links of a chain.
pub(super) fn add_pair_distance(m: &mut Model, n: i32) {
    let (a, b) = (range(m, "a", 0, n), range(m, "b", 0, n));
    let (i, j) = (m.pool.index(a.vars[0]), m.pool.index(b.vars[0]));
    let (xi, xj) = (state(m, Quantity::X, 0, &[i]), state(m, Quantity::X, 0, &[j]));
    let pool = &mut m.pool;
    let (xi, xj) = (pool.comp(xi, 0), pool.comp(xj, 0));
    let d = pool.sub(xi, xj);
    let (lo, hi) = (pool.num(0.0), pool.num(f64::from(n)));
    let inner = pool.reduce(Reduction::Sum, b.vars[0], lo, i, d);
    let sum = pool.reduce(Reduction::Sum, a.vars[0], lo, hi, inner);
    m.outputs.push(output("pairs", IndexSet::single(), sum));
}
