//! Expressions against what a person writes.

use super::*;
use crate::symbolic::diff::{Differentiator, Rate, Wrt};
use crate::symbolic::{BodyRef, Ty};

struct Pendulum {
    point: Option<ExprId>,
    several: bool,
}

impl Names for Pendulum {
    fn param(&self, k: u32) -> String {
        ["a", "b", "stiffness_spring", "l"][k as usize].to_owned()
    }

    fn index(&self, _k: u32) -> String {
        "i".to_owned()
    }

    fn body(&self, body: &Instance, pool: &ExprPool) -> String {
        if self.several { format!("link{}", subscripts(pool, &body.indices, self)) } else { String::new() }
    }

    fn symbol(&self, _k: u32) -> String {
        "lambda".to_owned()
    }

    fn name_of(&self, e: ExprId) -> Option<String> {
        (self.point == Some(e)).then(|| "X".to_owned())
    }
}

#[test]
fn single_pendulum() {
    let mut pool = ExprPool::new();
    let body = pool.body_ref(0, Vec::new());
    let (zero, length) = (pool.num(0.0), pool.num(-1.5));
    let point = pool.vec(zero, length, zero);
    let names = Pendulum { point: Some(point), several: false };
    let (x, r) = (pool.state(Quantity::X, body), pool.state(Quantity::R, body));
    let arm = pool.mat_vec(r, point);
    let phi = pool.add(x, arm);
    assert_eq!(text(&pool, phi, &names), "x + R X");
    let mut diff = Differentiator::default();
    let blocks = [Quantity::X, Quantity::R].map(|what| diff.jac(&mut pool, phi, Wrt { what, body: BodyRef(0) }));
    assert_eq!(block_row(&pool, &blocks, &names), "[I, -R skew(X)]");
    assert_eq!(latex_block_row(&pool, &blocks, &names), "\\begin{pmatrix} I & -R \\widetilde{X} \\end{pmatrix}");
    let rate = diff.rate(&mut pool, phi, Rate::Motion);
    assert_eq!(text(&pool, rate, &names), "v + R skew(Omega) X");
    let second = diff.rate(&mut pool, rate, Rate::Motion);
    assert_eq!(text(&pool, second, &names), "R skew(Omega) skew(Omega) X");
    assert_eq!(latex(&pool, second, &names), "R \\widetilde{\\Omega} \\widetilde{\\Omega} X");
    let lambda = pool.symbol(0, Ty::Vec3);
    let work = pool.dot(lambda, phi);
    let force = diff.grad(&mut pool, work, Wrt { what: Quantity::R, body: BodyRef(0) });
    assert_eq!(text(&pool, force, &names), "X x R^T lambda");
    assert_eq!(latex(&pool, force, &names), "X \\times R^{T} \\lambda");
    let bare = Pendulum { point: None, several: false };
    assert_eq!(text(&pool, phi, &bare), "x + R [0, -1.5, 0]");
}

#[test]
fn bodies_of_a_chain() {
    let mut pool = ExprPool::new();
    let (i, one) = (pool.index(0), pool.num(1.0));
    let before = pool.sub(i, one);
    let body = pool.body_ref(0, vec![before]);
    let x = pool.state(Quantity::X, body);
    let omega = pool.state(Quantity::Omega, body);
    let names = Pendulum { point: None, several: true };
    assert_eq!(text(&pool, x, &names), "x_link[i-1]");
    assert_eq!(latex(&pool, omega, &names), "\\Omega_{\\mathrm{link}[i-1]}");
}

#[test]
fn parentheses_where_needed() {
    let mut pool = ExprPool::new();
    let [a, b, k] = [Ty::Scalar; 3].map(|ty| {
        let k = pool.declare_param(ty);
        pool.param(k)
    });
    let body = pool.body_ref(0, Vec::new());
    let (x, v, r) = (pool.state(Quantity::X, body), pool.state(Quantity::V, body), pool.state(Quantity::R, body));
    let names = Pendulum { point: None, several: false };
    let check = |pool: &ExprPool, e: ExprId, expected: &str| assert_eq!(text(pool, e, &names), expected);

    let (sum, difference) = (pool.add(a, b), pool.sub(a, b));
    let e = pool.mul(difference, sum);
    check(&pool, e, "(a - b) (a + b)");
    let e = pool.sub(k, difference);
    check(&pool, e, "stiffness_spring - a + b");
    let (ab, square) = (pool.mul(a, b), pool.pow_int(sum, 2));
    let e = pool.div(square, ab);
    check(&pool, e, "(a + b)^2/(a b)");
    let quotient = pool.div(a, b);
    let e = pool.pow_int(quotient, 3);
    check(&pool, e, "(a/b)^3");
    let e = pool.pow_int(a, -2);
    check(&pool, e, "1/a^2");
    let two = pool.num(-2.0);
    let e = pool.mul(two, a);
    let e = pool.add(b, e);
    check(&pool, e, "b - 2 a");
    let three = pool.num(3.0);
    let inner = pool.mul(three, a);
    let e = pool.mul(two, inner);
    check(&pool, e, "-6 a");
    let product = pool.cross(x, v);
    let e = pool.mat_vec(r, product);
    check(&pool, e, "R (x x v)");
    let e = pool.cross(v, product);
    check(&pool, e, "v x (x x v)");
    let moved = pool.add(x, v);
    let e = pool.dot(moved, x);
    check(&pool, e, "x . (x + v)");
    let n = pool.norm(moved);
    check(&pool, n, "|x + v|");
    let one = pool.num(1.0);
    let inverse = pool.div(one, n);
    let e = pool.scale(inverse, x);
    check(&pool, e, "x/|x + v|");
    assert_eq!(latex(&pool, e, &names), "\\frac{x}{\\left|x + v\\right|}");
    let zero = pool.num(0.0);
    let (c, d) = (pool.cmp(Cmp::Lt, zero, difference), pool.cmp(Cmp::Le, a, b));
    let both = pool.and(c, d);
    let any = pool.or(both, c);
    let e = pool.and(any, d);
    check(&pool, e, "(0 < a - b && a <= b || 0 < a - b) && a <= b");
    let e = pool.not(c);
    check(&pool, e, "!(0 < a - b)");
    let t = pool.num(6.25e-9);
    let e = pool.mul(t, a);
    check(&pool, e, "6.25e-9 a");
    assert_eq!(latex(&pool, e, &names), "6.25 \\cdot 10^{-9} a");
    let e = pool.mul(k, a);
    assert_eq!(latex(&pool, e, &names), "\\mathrm{stiffness}_{\\mathrm{spring}} a");
    let (p, q) = (pool.outer(x, v), pool.transpose(r));
    let e = pool.scale(a, p);
    check(&pool, e, "a x v^T");
    assert_eq!(latex(&pool, q, &names), "R^{T}");
}

#[test]
fn long_sums_do_not_overflow() {
    let mut pool = ExprPool::new();
    let t = pool.time();
    let mut sum = t;
    for i in 0..5000 {
        let k = pool.num(f64::from(i) + 2.0);
        let p = pool.mul(k, t);
        sum = pool.sub(sum, p);
    }
    let names = Pendulum { point: None, several: false };
    let printed = text(&pool, sum, &names);
    assert!(printed.starts_with("t - 2 t - 3 t") && printed.ends_with(" - 5001 t"));
}
