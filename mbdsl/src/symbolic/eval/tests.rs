//! What evaluation does beyond arithmetic.

use super::*;

struct Chain;

impl Env for Chain {
    fn index(&self, k: u32) -> f64 {
        f64::from(k)
    }

    fn state(&self, _what: Quantity, _body: BodyRef, indices: &[f64]) -> Value {
        Value::Vec3([indices[0], 0.0, 1.0])
    }

    fn start(&self, _e: ExprId) -> Option<Value> {
        Some(Value::Scalar(-1.0))
    }
}

#[test]
fn reductions_bind_their_index() {
    let mut pool = ExprPool::new();
    let (i, j) = (pool.index(7), pool.index(2));
    let (one, zero, four) = (pool.num(1.0), pool.num(0.0), pool.num(4.0));
    let next = pool.add(i, one);
    let body = pool.body_ref(0, vec![next]);
    let x = pool.state(Quantity::X, body);
    let place = pool.comp(x, 0);
    let place = pool.mul(place, j);
    let value = |how, pool: &mut ExprPool, hi| {
        let e = pool.reduce(how, 7, zero, hi, place);
        eval(pool, &[e], &Chain)[0].scalar()
    };
    assert_eq!(value(Reduction::Sum, &mut pool, four), 20.0);
    assert_eq!(value(Reduction::Mean, &mut pool, four), 5.0);
    assert_eq!(value(Reduction::Min, &mut pool, four), 2.0);
    assert_eq!(value(Reduction::Max, &mut pool, four), 8.0);
    assert_eq!(value(Reduction::Sum, &mut pool, zero), 0.0);
    // The inner index hides the outer one.
    let inner = pool.reduce(Reduction::Sum, 7, zero, i, i);
    let outer = pool.reduce(Reduction::Sum, 7, zero, four, inner);
    assert_eq!(eval(&pool, &[outer], &Chain)[0], Value::Scalar(0.0 + 0.0 + 1.0 + 3.0));
    let start = pool.start(place);
    assert_eq!(eval(&pool, &[start, i], &Chain), vec![Value::Scalar(-1.0), Value::Scalar(7.0)]);
}

#[test]
fn simplified_constructors_keep_the_meaning() {
    let mut pool = ExprPool::new();
    let [a, b, c] = [1.5, -2.0, 0.25].map(|x| pool.num(x));
    let v = pool.vec(a, b, c);
    let w = pool.vec(c, a, b);
    let (k, o) = (pool.skew(v), pool.outer(v, w));
    let sum = pool.add(k, o);
    let kt = pool.transpose(sum);
    let product = pool.mat_mul(kt, o);
    let p = pool.mat_vec(product, w);
    let values = eval(&pool, &[sum, o, w, p], &Nothing);
    let (s, o, w) = (values[0].mat3(), values[1].mat3(), values[2].vec3());
    let expected = special::mat_vec(special::transpose(s), special::mat_vec(o, w));
    for (x, y) in values[3].vec3().iter().zip(expected) {
        assert!((x - y).abs() < 1e-13);
    }
}
