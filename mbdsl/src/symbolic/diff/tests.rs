//! Every derivative against central differences on the group, of random expressions too.

use super::*;
use crate::symbolic::eval::{Env, Value, eval};
use crate::symbolic::special::{self, Mat3};

/// A small generator (SplitMix64), so that the cases are the same everywhere.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }

    /// In -1..1.
    fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    }

    fn vector(&mut self) -> [f64; 3] {
        [self.unit(), self.unit(), self.unit()]
    }
}

#[derive(Clone)]
struct Body {
    x: [f64; 3],
    r: Mat3,
    v: [f64; 3],
    omega: [f64; 3],
}

#[derive(Clone)]
struct Point {
    bodies: Vec<Body>,
    time: f64,
    params: Vec<Value>,
}

impl Env for Point {
    fn param(&self, k: u32) -> Value {
        self.params[k as usize]
    }

    fn time(&self) -> f64 {
        self.time
    }

    fn state(&self, what: Quantity, body: BodyRef, _indices: &[f64]) -> Value {
        let b = &self.bodies[body.0 as usize];
        match what {
            Quantity::X => Value::Vec3(b.x),
            Quantity::R => Value::Mat3(b.r),
            Quantity::V => Value::Vec3(b.v),
            Quantity::Omega => Value::Vec3(b.omega),
        }
    }

    fn memory(&self, _element: crate::symbolic::ElementRef, _site: u32, _indices: &[f64]) -> f64 {
        6.5
    }
}

fn plus(a: [f64; 3], h: f64, d: [f64; 3]) -> [f64; 3] {
    [0, 1, 2].map(|i| a[i] + h * d[i])
}

impl Point {
    fn random(random: &mut Random, params: &[Ty]) -> Self {
        let bodies = (0..2)
            .map(|_| Body {
                x: random.vector(),
                r: special::exp_so3(random.vector().map(|c| 2.0 * c)),
                v: random.vector(),
                omega: random.vector(),
            })
            .collect();
        let params = params
            .iter()
            .map(|ty| match ty {
                Ty::Scalar => Value::Scalar(random.unit()),
                Ty::Vec3 => Value::Vec3(random.vector()),
                Ty::Mat3 => Value::Mat3([random.vector(), random.vector(), random.vector()]),
                Ty::Rot => Value::Mat3(special::exp_so3(random.vector())),
                Ty::Bool => Value::Bool(random.below(2) == 0),
            })
            .collect();
        Self { bodies, time: random.unit(), params }
    }

    fn moved(&self, wrt: Wrt, h: f64, d: [f64; 3]) -> Self {
        let mut to = self.clone();
        let b = &mut to.bodies[wrt.body.0 as usize];
        match wrt.what {
            Quantity::X => b.x = plus(b.x, h, d),
            Quantity::R => b.r = special::mat_mul(b.r, special::exp_so3(d.map(|c| h * c))),
            Quantity::V => b.v = plus(b.v, h, d),
            Quantity::Omega => b.omega = plus(b.omega, h, d),
        }
        to
    }

    /// Along the motion at zero acceleration.
    fn after(&self, rate: Rate, h: f64) -> Self {
        let mut to = self.clone();
        if rate != Rate::Motion {
            to.time += h;
        }
        if rate != Rate::Explicit {
            for b in &mut to.bodies {
                b.x = plus(b.x, h, b.v);
                b.r = special::mat_mul(b.r, special::exp_so3(b.omega.map(|c| h * c)));
            }
        }
        to
    }
}

/// Body-axes rate of a rotation from its difference, or the difference itself.
fn difference(pool: &ExprPool, e: ExprId, at: &Point, to: impl Fn(f64) -> Point) -> Vec<f64> {
    // Fourth-order central difference: error near 1e-11 for expressions of unit scale.
    let h = 1e-3;
    let value = |k: f64| eval(pool, &[e], &to(k * h))[0].components();
    let (a, b, c, d) = (value(-2.0), value(-1.0), value(1.0), value(2.0));
    let slope: Vec<f64> = (0..a.len()).map(|i| (a[i] - 8.0 * b[i] + 8.0 * c[i] - d[i]) / (12.0 * h)).collect();
    if pool.ty(e) != Ty::Rot {
        return slope;
    }
    let m = eval(pool, &[e], at)[0].mat3();
    let dm = [0, 1, 2].map(|i| [0, 1, 2].map(|j| slope[3 * i + j]));
    let s = special::mat_mul(special::transpose(m), dm);
    vec![(s[2][1] - s[1][2]) / 2.0, (s[0][2] - s[2][0]) / 2.0, (s[1][0] - s[0][1]) / 2.0]
}

fn close(found: &[f64], expected: &[f64], what: &dyn Fn() -> String) {
    let scale = expected.iter().fold(1.0_f64, |m, x| m.max(x.abs()));
    for (f, e) in found.iter().zip(expected) {
        // Truncation of the difference, (h^4 / 30) f^(5), with derivatives that grow by up to a few units per order.
        assert!((f - e).abs() <= 1e-7 * scale, "{}: {found:?} instead of {expected:?}", what());
    }
}

const QUANTITIES: [Quantity; 4] = [Quantity::X, Quantity::R, Quantity::V, Quantity::Omega];
const RATES: [Rate; 3] = [Rate::Motion, Rate::Explicit, Rate::Total];

/// Whether the expression is smooth and well scaled near a point, as a fourth-order difference needs it.
fn tame(pool: &ExprPool, e: ExprId, at: &Point) -> bool {
    let components = |p: &Point| eval(pool, &[e], p)[0].components();
    components(at).iter().all(|x| x.abs() < 30.0)
}

/// All derivatives of one expression at one point.
fn check_at(pool: &mut ExprPool, diff: &mut Differentiator, e: ExprId, at: &Point) {
    for body in bodies(pool, &[e]) {
        for what in QUANTITIES {
            let wrt = Wrt { what, body };
            let d = match pool.ty(e) {
                Ty::Scalar => diff.grad(pool, e, wrt),
                Ty::Vec3 => diff.jac(pool, e, wrt),
                Ty::Rot | Ty::Mat3 => diff.rot_jac(pool, e, wrt),
                Ty::Bool => panic!("no derivative"),
            };
            let value = eval(pool, &[d], at)[0].components();
            for k in 0..3 {
                let axis = [0, 1, 2].map(|j| if j == k { 1.0 } else { 0.0 });
                let expected = difference(pool, e, at, |h| at.moved(wrt, h, axis));
                let found: Vec<f64> = value.iter().skip(k).step_by(3).copied().collect();
                close(&found, &expected, &|| format!("{wrt:?} of {:?}", tree(pool, e)));
            }
        }
    }
    for rate in RATES {
        let d = diff.rate(pool, e, rate);
        let value = eval(pool, &[d], at)[0].components();
        let expected = difference(pool, e, at, |h| at.after(rate, h));
        close(&value, &expected, &|| format!("{rate:?} of {:?}", tree(pool, e)));
    }
}

fn tree(pool: &ExprPool, e: ExprId) -> String {
    let parts: Vec<String> = crate::symbolic::walk::operands(pool.node(e)).map(|a| tree(pool, a)).collect();
    format!("{:?}<{}>", pool.node(e), parts.join(", "))
}

/// First and second derivatives at random points.
fn check(pool: &mut ExprPool, e: ExprId) {
    let mut diff = Differentiator::default();
    let mut random = Random(7);
    for _ in 0..3 {
        let at = Point::random(&mut random, pool.params());
        check_at(pool, &mut diff, e, &at);
        for second in seconds(pool, &mut diff, e) {
            check_at(pool, &mut diff, second, &at);
        }
    }
}

/// Derivatives that are scalars or vectors themselves, the kind the formulation differentiates again.
fn seconds(pool: &mut ExprPool, diff: &mut Differentiator, e: ExprId) -> Vec<ExprId> {
    let mut list = vec![diff.rate(pool, e, Rate::Total)];
    let probe = {
        let (x, y, z) = (pool.num(0.4), pool.num(-0.7), pool.num(0.9));
        pool.vec(x, y, z)
    };
    for body in bodies(pool, &[e]) {
        for what in [Quantity::R, Quantity::Omega] {
            let wrt = Wrt { what, body };
            match pool.ty(e) {
                Ty::Scalar => list.push(diff.grad(pool, e, wrt)),
                Ty::Vec3 => {
                    let f = pool.dot(probe, e);
                    list.push(diff.grad(pool, f, wrt));
                    let j = diff.jac(pool, e, wrt);
                    list.push(pool.mat_vec(j, probe));
                }
                Ty::Rot | Ty::Mat3 => {
                    let j = diff.rot_jac(pool, e, wrt);
                    list.push(pool.mat_vec(j, probe));
                }
                Ty::Bool => {}
            }
        }
    }
    list
}

/// Two bodies, parameters of every type, and expressions to start from.
struct Kit {
    pool: ExprPool,
    x: [ExprId; 2],
    r: [ExprId; 2],
    v: [ExprId; 2],
    omega: [ExprId; 2],
    scalar: ExprId,
    vector: ExprId,
    matrix: ExprId,
    rotation: ExprId,
}

fn kit() -> Kit {
    let mut pool = ExprPool::new();
    let b = [0, 1].map(|k| pool.body_ref(k, Vec::new()));
    let [scalar, vector, matrix, rotation] = [Ty::Scalar, Ty::Vec3, Ty::Mat3, Ty::Rot].map(|ty| {
        let k = pool.declare_param(ty);
        pool.param(k)
    });
    Kit {
        x: b.map(|b| pool.state(Quantity::X, b)),
        r: b.map(|b| pool.state(Quantity::R, b)),
        v: b.map(|b| pool.state(Quantity::V, b)),
        omega: b.map(|b| pool.state(Quantity::Omega, b)),
        pool,
        scalar,
        vector,
        matrix,
        rotation,
    }
}

#[test]
fn pendulum_is_minimal() {
    let Kit { mut pool, x: [x, _], r: [r, _], omega: [omega, _], v: [v, _], vector, .. } = kit();
    let body = BodyRef(0);
    let arm = pool.mat_vec(r, vector);
    let phi = pool.add(x, arm);
    let mut diff = Differentiator::default();
    assert_eq!(diff.jac(&mut pool, phi, Wrt { what: Quantity::X, body }), pool.identity());
    let k = pool.skew(vector);
    let rk = pool.mat_mul(r, k);
    let expected = pool.neg(rk);
    assert_eq!(diff.jac(&mut pool, phi, Wrt { what: Quantity::R, body }), expected);
    let rate = diff.rate(&mut pool, phi, Rate::Motion);
    let once = pool.cross(omega, vector);
    let turned = pool.mat_vec(r, once);
    assert_eq!(rate, pool.add(v, turned));
    let twice = pool.cross(omega, once);
    assert_eq!(diff.rate(&mut pool, rate, Rate::Total), pool.mat_vec(r, twice));
    // B^T lambda = (lambda, X x R^T lambda), d(B^T lambda) / dtheta = skew(X) skew(R^T lambda)
    let lambda = pool.symbol(0, Ty::Vec3);
    let work = pool.dot(lambda, phi);
    let force = diff.grad(&mut pool, work, Wrt { what: Quantity::R, body });
    let rt = pool.transpose(r);
    let back = pool.mat_vec(rt, lambda);
    assert_eq!(force, pool.cross(vector, back));
    let (kx, kl) = (pool.skew(vector), pool.skew(back));
    let expected = pool.mat_mul(kx, kl);
    assert_eq!(diff.jac(&mut pool, force, Wrt { what: Quantity::R, body }), expected);
    check(&mut pool, phi);
}

#[test]
fn rotating_arm_is_drawn_inwards() {
    // Case of a point at radius r, turning at w: the convective acceleration is -w^2 r, not 0.
    let Kit { mut pool, r: [r, _], x: [x, _], vector, .. } = kit();
    let arm = pool.mat_vec(r, vector);
    let p = pool.add(x, arm);
    let mut diff = Differentiator::default();
    let p1 = diff.rate(&mut pool, p, Rate::Motion);
    let p2 = diff.rate(&mut pool, p1, Rate::Motion);
    let mut at = Point::random(&mut Random(1), pool.params());
    at.bodies[0].r = special::exp_so3([0.0; 3]);
    at.bodies[0].omega = [0.0, 0.0, 3.0];
    at.params[1] = Value::Vec3([2.0, 0.0, 0.0]);
    assert_eq!(eval(&pool, &[p2], &at)[0].vec3(), [-18.0, 0.0, 0.0]);
}

#[test]
fn norm_is_direction_dot_rate() {
    let Kit { mut pool, x: [x, y], .. } = kit();
    let d = pool.sub(x, y);
    let n = pool.norm(d);
    let mut diff = Differentiator::default();
    let one = pool.num(1.0);
    let inverse = pool.div(one, n);
    let expected = pool.scale(inverse, d);
    assert_eq!(diff.grad(&mut pool, n, Wrt { what: Quantity::X, body: BodyRef(0) }), expected);
    check(&mut pool, n);
}

#[test]
fn functions_of_scalars() {
    let Kit { mut pool, r: [r, s], x: [x, _], omega: [omega, _], scalar, .. } = kit();
    // A smooth scalar in 0.5..1.5 or so that depends on the rotations, the place and time.
    let ez = pool.unit(2);
    let (p, q) = (pool.mat_vec(r, ez), pool.mat_vec(s, ez));
    let t = pool.time();
    let cosine = pool.dot(p, q);
    let (a, b, c) = (pool.comp(x, 1), pool.comp(omega, 2), pool.fun(Fun::Sin, t));
    let (ab, k, one) = (pool.mul(a, b), pool.num(0.1), pool.num(1.0));
    let sum = pool.add(ab, c);
    let sum = pool.add(sum, cosine);
    let small = pool.mul(k, sum);
    let large = pool.add(one, small);
    let functions = [
        Fun::Sqrt,
        Fun::Sin,
        Fun::Cos,
        Fun::Tan,
        Fun::Exp,
        Fun::Ln,
        Fun::Abs,
        Fun::Sign,
        Fun::Floor,
        Fun::LogCoefficient(0),
        Fun::LogCoefficient(1),
        Fun::LogCoefficient(2),
    ];
    for f in functions.into_iter().chain((0..10).map(Fun::Stumpff)) {
        let e = pool.fun(f, large);
        if f != Fun::Floor {
            check(&mut pool, e);
        }
    }
    for f in [Fun::Asin, Fun::Acos, Fun::Floor] {
        let e = pool.fun(f, small);
        if f != Fun::Floor {
            check(&mut pool, e);
        }
    }
    let memory = {
        let element = pool.element_ref(0, Vec::new());
        pool.memory(element, 0)
    };
    let three = pool.num(3.0);
    let tripled = pool.mul(three, large);
    for (f, a, b) in [
        (Fun2::Atan2, small, large),
        (Fun2::Atan2, large, scalar),
        (Fun2::Atan2, scalar, small),
        (Fun2::Min, small, large),
        (Fun2::Max, small, large),
        (Fun2::Pow, large, small),
        (Fun2::Pow, large, scalar),
        (Fun2::Pow, three, small),
        (Fun2::Mod, large, tripled),
        (Fun2::Unwrap, small, memory),
    ] {
        let (a, b) = if f == Fun2::Mod { (a, three) } else { (a, b) };
        let e = pool.fun2(f, a, b);
        check(&mut pool, e);
    }
    for n in [-3, -1, 2, 3, 5] {
        let e = pool.pow_int(large, n);
        check(&mut pool, e);
    }
    let e = pool.div(small, large);
    check(&mut pool, e);
}

#[test]
fn rotations() {
    let Kit { mut pool, r: [r, s], x: [x, _], rotation, vector, .. } = kit();
    let st = pool.transpose(s);
    let relative = pool.mat_mul(st, r);
    let turned = pool.mat_mul(relative, rotation);
    let back = pool.transpose(turned);
    let log = pool.log_so3(turned);
    let rx = pool.mat_vec(r, x);
    let (half, t) = (pool.num(0.5), pool.time());
    let w = pool.scale(half, rx);
    let exp = pool.exp_so3(w);
    let exp_t = pool.transpose(exp);
    let angle = pool.dot(rx, vector);
    let angle = pool.add(angle, t);
    let about = pool.about(vector, angle);
    let ez = pool.unit(2);
    let about_z = pool.about(ez, angle);
    let driven = pool.about(vector, t);
    let sum = pool.add(rx, vector);
    let about_any = pool.about(sum, angle);
    let zero = pool.num(0.0);
    let positive = pool.cmp(Cmp::Lt, zero, angle);
    let select = pool.select(positive, exp, about);
    let product = pool.mat_mul(exp_t, about);
    let [c0, c1, c2] = [0, 1, 2].map(|k| pool.row(turned, k));
    let rows = pool.rows(c0, c1, c2);
    let log_rows = pool.log_so3(rows);
    for m in [relative, turned, back, exp, exp_t, about, about_z, driven, about_any, select, product] {
        check(&mut pool, m);
        let applied = pool.mat_vec(m, sum);
        check(&mut pool, applied);
        let mt = pool.transpose(m);
        let applied = pool.mat_vec(mt, sum);
        check(&mut pool, applied);
        let log = pool.log_so3(m);
        check(&mut pool, log);
    }
    for e in [log, log_rows, c0] {
        check(&mut pool, e);
    }
}

#[test]
fn matrices_of_varying_pieces() {
    let Kit { mut pool, r: [r, s], x: [x, y], v: [v, _], omega: [omega, _], matrix, vector, scalar, .. } = kit();
    let rv = pool.mat_vec(r, v);
    let rows = pool.rows(rv, y, vector);
    let diag = pool.diag(rv);
    let outer = pool.outer(rv, y);
    let skew = pool.skew(rv);
    let t = pool.time();
    let length = pool.norm(x);
    let scaled = pool.scale(length, matrix);
    let sum = pool.add(rows, scaled);
    let difference = pool.sub(sum, outer);
    let product = pool.mat_mul(difference, s);
    let spatial = {
        let mt = pool.transpose(r);
        let jr = pool.mat_mul(matrix, mt);
        pool.mat_mul(r, jr)
    };
    let timed = {
        let ez = pool.unit(2);
        let m = pool.diag(ez);
        pool.scale(t, m)
    };
    let below = pool.cmp(Cmp::Lt, length, scalar);
    let select = pool.select(below, rows, product);
    for m in [rows, diag, outer, skew, scaled, sum, difference, product, spatial, timed, select] {
        for a in [omega, vector] {
            let e = pool.mat_vec(m, a);
            check(&mut pool, e);
            let mt = pool.transpose(m);
            let e = pool.mat_vec(mt, a);
            check(&mut pool, e);
            let c = pool.comp(e, 1);
            check(&mut pool, c);
        }
        let e = pool.row(m, 1);
        check(&mut pool, e);
        let e = pool.trace(m);
        check(&mut pool, e);
    }
}

/// A random expression.
fn grow(kit: &mut Kit, random: &mut Random, ty: Ty, depth: u32) -> ExprId {
    let k = random.below(2) as usize;
    if depth == 0 {
        return match ty {
            Ty::Scalar => match random.below(4) {
                0 => kit.pool.num(0.5),
                1 => kit.pool.time(),
                2 => kit.pool.comp(kit.x[k], 1),
                _ => kit.scalar,
            },
            Ty::Vec3 => [kit.x[k], kit.v[k], kit.omega[k], kit.vector][random.below(4) as usize],
            Ty::Mat3 => kit.matrix,
            Ty::Rot => [kit.r[k], kit.rotation][random.below(2) as usize],
            Ty::Bool => kit.pool.truth(true),
        };
    }
    let mut g = |kit: &mut Kit, ty| {
        let less = 1 + random.below(2) as u32;
        grow(kit, random, ty, depth.saturating_sub(less))
    };
    let (a, b, c) = (g(kit, Ty::Vec3), g(kit, Ty::Vec3), g(kit, Ty::Scalar));
    let (s, m, r) = (g(kit, Ty::Scalar), g(kit, Ty::Mat3), g(kit, Ty::Rot));
    let q = g(kit, Ty::Rot);
    let pool = &mut kit.pool;
    let bounded = pool.fun(Fun::Sin, s);
    match ty {
        Ty::Scalar => match random.below(9) {
            0 => pool.dot(a, b),
            1 => pool.add(bounded, c),
            2 => pool.mul(bounded, c),
            3 => pool.comp(a, 2),
            4 => {
                let one = pool.num(1.5);
                let p = pool.pow_int(c, 2);
                let p = pool.add(one, p);
                pool.div(bounded, p)
            }
            5 => pool.sub(c, bounded),
            6 => pool.trace(r),
            7 => {
                let (one, p) = (pool.num(1.5), pool.dot(a, a));
                let p = pool.add(one, p);
                pool.fun(Fun::Sqrt, p)
            }
            _ => {
                let row = pool.row(m, 0);
                pool.dot(row, a)
            }
        },
        Ty::Vec3 => match random.below(8) {
            0 => pool.add(a, b),
            1 => pool.cross(a, b),
            2 => pool.scale(bounded, a),
            3 => pool.mat_vec(r, a),
            4 => pool.mat_vec(m, a),
            5 => {
                let rt = pool.transpose(r);
                pool.mat_vec(rt, a)
            }
            6 => pool.vec(bounded, c, s),
            _ => pool.sub(a, b),
        },
        Ty::Mat3 => match random.below(7) {
            0 => pool.add(m, r),
            1 => pool.mat_mul(r, m),
            2 => pool.transpose(m),
            3 => pool.skew(a),
            4 => pool.outer(a, b),
            5 => pool.diag(a),
            _ => pool.rows(a, b, a),
        },
        Ty::Rot => match random.below(4) {
            0 => pool.mat_mul(r, q),
            1 => pool.transpose(r),
            2 => {
                let half = pool.num(0.5);
                let w = pool.mat_vec(q, kit.vector);
                let w = pool.scale(half, w);
                pool.exp_so3(w)
            }
            _ => pool.about(kit.vector, bounded),
        },
        Ty::Bool => pool.truth(true),
    }
}

#[test]
fn random_expressions() {
    let mut random = Random(2024);
    let mut checked = 0;
    for case in 0..400 {
        let mut kit = kit();
        let ty = [Ty::Scalar, Ty::Vec3][case % 2];
        let e = grow(&mut kit, &mut random, ty, 4);
        let at = Point::random(&mut random, kit.pool.params());
        let mut diff = Differentiator::default();
        let list: Vec<ExprId> = [e].into_iter().chain(seconds(&mut kit.pool, &mut diff, e)).collect();
        if list.iter().all(|&e| tame(&kit.pool, e, &at)) {
            checked += 1;
            for e in list {
                check_at(&mut kit.pool, &mut diff, e, &at);
            }
        }
    }
    assert!(checked > 200, "{checked}");
}

#[test]
fn nothing_breaks_at_the_identity_and_at_half_turns() {
    let Kit { mut pool, r: [r, s], x: [x, _], vector, .. } = kit();
    let exp = pool.exp_so3(x);
    let exp_v = pool.mat_vec(exp, vector);
    let st = pool.transpose(s);
    let relative = pool.mat_mul(st, r);
    let log = pool.log_so3(relative);
    let mut diff = Differentiator::default();
    let mut at = Point::random(&mut Random(3), pool.params());
    let identity = special::exp_so3([0.0; 3]);
    for e in [exp, exp_v, log] {
        at.bodies[0] = Body { x: [0.0; 3], r: identity, ..at.bodies[0].clone() };
        at.bodies[1].r = identity;
        check_at(&mut pool, &mut diff, e, &at);
        for second in seconds(&mut pool, &mut diff, e) {
            check_at(&mut pool, &mut diff, second, &at);
        }
    }
    // The derivative of exp at 0 is the identity (case of the NaN at v = 0).
    let wrt = Wrt { what: Quantity::X, body: BodyRef(0) };
    let j = diff.rot_jac(&mut pool, exp, wrt);
    assert_eq!(eval(&pool, &[j], &at)[0].mat3(), identity);
    // At a half turn the logarithm jumps, but its derivatives are those of either side.
    for axis in
        [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [0.6, 0.0, -0.8], [-2.0 / 3.0, 2.0 / 3.0, 1.0 / 3.0]]
    {
        at.bodies[0].x = axis.map(|c| c * std::f64::consts::PI);
        for e in [exp, exp_v] {
            check_at(&mut pool, &mut diff, e, &at);
        }
        at.bodies[0].r = special::exp_so3(axis.map(|c| c * std::f64::consts::PI));
        let w = eval(&pool, &[log], &at)[0].vec3();
        let back = special::exp_so3(w);
        let wrt = Wrt { what: Quantity::R, body: BodyRef(0) };
        let j = diff.jac(&mut pool, log, wrt);
        let t = {
            let rate = diff.rot_jac(&mut pool, exp, Wrt { what: Quantity::X, body: BodyRef(0) });
            let mut at = at.clone();
            at.bodies[0].x = w;
            eval(&pool, &[rate], &at)[0].mat3()
        };
        let product = special::mat_mul(eval(&pool, &[j], &at)[0].mat3(), t);
        close(&product.concat(), &identity.concat(), &|| format!("half turn about {axis:?}"));
        close(&back.concat(), &at.bodies[0].r.concat(), &|| format!("log about {axis:?}"));
    }
}

#[test]
fn dead_branches_stay_dead() {
    let Kit { mut pool, x: [x, _], .. } = kit();
    let (n, zero) = (pool.norm(x), pool.num(0.0));
    let there = pool.cmp(Cmp::Lt, zero, n);
    let e = pool.select(there, n, zero);
    let mut diff = Differentiator::default();
    let g = diff.grad(&mut pool, e, Wrt { what: Quantity::X, body: BodyRef(0) });
    let rate = diff.rate(&mut pool, e, Rate::Motion);
    let mut at = Point::random(&mut Random(3), pool.params());
    at.bodies[0].x = [0.0; 3];
    assert_eq!(eval(&pool, &[g, rate], &at), vec![Value::Vec3([0.0; 3]), Value::Scalar(0.0)]);
}

#[test]
fn long_sums_do_not_overflow() {
    let Kit { mut pool, r: [r, _], x: [x, _], .. } = kit();
    let mut sum = x;
    for i in 0..5000 {
        let (a, b, c) = (pool.num(f64::from(i)), pool.num(1.0), pool.comp(x, 2));
        let p = pool.vec(a, b, c);
        let p = pool.mat_vec(r, p);
        sum = pool.add(sum, p);
    }
    let e = pool.dot(sum, x);
    let mut diff = Differentiator::default();
    let before = pool.len();
    let wrt = Wrt { what: Quantity::R, body: BodyRef(0) };
    let g = diff.grad(&mut pool, e, wrt);
    let f = pool.dot(g, x);
    let h = diff.grad(&mut pool, f, wrt);
    let rate = diff.rate(&mut pool, e, Rate::Total);
    assert!(depends_on_state(&pool, h) && depends_on_velocity(&pool, rate) && !depends_on_time(&pool, rate));
    assert!(pool.len() - before < 5000 * 60, "{}", pool.len() - before);
}

#[test]
fn values_at_the_start_do_not_change() {
    let Kit { mut pool, x: [x, y], v: [v, _], .. } = kit();
    let start = pool.start(y);
    let e = pool.sub(x, start);
    assert_eq!(bodies(&pool, &[e, v]), vec![BodyRef(0)]);
    let mut diff = Differentiator::default();
    assert_eq!(diff.rate(&mut pool, e, Rate::Total), v);
    let j = diff.jac(&mut pool, e, Wrt { what: Quantity::X, body: BodyRef(1) });
    assert!(pool.is_zero(j));
    assert!(!depends_on_state(&pool, start) && !depends_on_velocity(&pool, e) && depends_on_velocity(&pool, v));
}
