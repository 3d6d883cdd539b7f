//! Kernels whose text or cost is known.

use super::*;
use crate::ir::{Input, Op, OperationCount, count};
use crate::symbolic::Quantity;

fn lowered(world: &World, pool: &ExprPool, e: ExprId) -> (Kernel, Constants) {
    let mut lowering = ElementLowering::new(pool, world.scope());
    let kernel = lowering.kernel("k", &[Output::dense(0, e)], pool.ty(e).len()).expect("the scope is complete");
    (kernel, lowering.finish())
}

#[test]
fn skew_of_a_literal_costs_nothing() {
    let mut pool = ExprPool::new();
    let world = World::new(&mut pool);
    // -R skew([0, -l, 0]): six entries, each one product.
    let (zero, length) = (pool.num(0.0), pool.num(-2.5));
    let arm = pool.vec(zero, length, zero);
    let skew = pool.skew(arm);
    let r = pool.state(Quantity::R, world.body(0));
    let product = pool.mat_mul(r, skew);
    let jacobian = pool.neg(product);
    let (kernel, _) = lowered(&world, &pool, jacobian);
    assert_eq!(kernel.outputs.len(), 6);
    assert_eq!(count(&kernel), OperationCount { muls: 6, loads: 6, ..OperationCount::default() });
}

#[test]
fn text_of_a_spherical_joint() {
    let mut pool = ExprPool::new();
    let world = World::new(&mut pool);
    let (zero, length) = (pool.num(0.0), pool.param(0));
    let arm = pool.vec(zero, length, zero);
    let (x, r) = (pool.state(Quantity::X, world.body(0)), pool.state(Quantity::R, world.body(0)));
    let tip = pool.mat_vec(r, arm);
    let phi = pool.sub(x, tip);
    let (kernel, constants) = lowered(&world, &pool, phi);
    let text = "kernel k [3]  ; 3 add, 3 mul, 0 div, 0 sqrt, 0 functions, 0 other, 7 loads
  %0 = load body0.x0
  %1 = load body0.R01
  %2 = load uniform[0]
  %3 = mul %1, %2
  %4 = sub %0, %3
  %5 = load body0.x1
  %6 = load body0.R11
  %7 = mul %6, %2
  %8 = sub %5, %7
  %9 = load body0.x2
  %10 = load body0.R21
  %11 = mul %10, %2
  %12 = sub %9, %11
  out[0] = %4
  out[1] = %8
  out[2] = %12
";
    assert_eq!(kernel.to_string(), text);
    let uniforms = "kernel uniforms [1]  ; 0 add, 0 mul, 0 div, 0 sqrt, 0 functions, 0 other, 1 loads
  %0 = load param[0]
  out[0] = %0
";
    assert_eq!(constants.uniforms.to_string(), uniforms);
}

#[test]
fn constants_are_the_largest_ones() {
    let mut pool = ExprPool::new();
    let world = World::new(&mut pool);
    let (p, i, t) = (pool.param(0), pool.index(4), pool.time());
    let x = pool.state(Quantity::X, world.body(0));
    let distance = pool.norm(x);
    let rest = pool.start(distance);
    // (sin(p) p + i p) (1 + 2 start |x|) t
    let sine = pool.fun(Fun::Sin, p);
    let uniform = pool.mul(sine, p);
    let product = pool.mul(i, p);
    let column = pool.add(uniform, product);
    let (one, two) = (pool.num(1.0), pool.num(2.0));
    let twice = pool.mul(two, rest);
    let start = pool.add(one, twice);
    let both = pool.mul(column, start);
    let all = pool.mul(both, t);
    let (kernel, constants) = lowered(&world, &pool, all);
    assert_eq!(kernel.ops[0], Op::Load(Input::Start(0)));
    assert_eq!(count(&kernel), OperationCount { muls: 1, loads: 2, ..OperationCount::default() });
    let Interface { starts, columns, uniforms, .. } = constants.interface;
    assert_eq!((starts, columns, uniforms), (1, 1, 0));
    // Literals are no constants of a table.
    let sum = pool.add(two, t);
    let (kernel, constants) = lowered(&world, &pool, sum);
    assert_eq!((kernel.ops.len(), constants.interface.uniforms), (3, 0));
}

#[test]
fn signs_of_constant_factors_are_free() {
    let mut pool = ExprPool::new();
    let world = World::new(&mut pool);
    let (p, t) = (pool.param(0), pool.time());
    let product = pool.mul(p, t);
    let negative = pool.neg(product);
    let (kernel, _) = lowered(&world, &pool, negative);
    assert_eq!(count(&kernel), OperationCount { muls: 1, loads: 2, ..OperationCount::default() });
}

#[test]
fn a_difference_and_its_reverse_are_one() {
    let mut pool = ExprPool::new();
    let world = World::new(&mut pool);
    let (x, t) = (pool.state(Quantity::X, world.body(0)), pool.time());
    let [a, b, c] = [0, 1, 2].map(|k| pool.comp(x, k));
    let (forwards, backwards) = (pool.sub(a, b), pool.sub(b, a));
    let (p, q) = (pool.mul(forwards, t), pool.mul(backwards, c));
    let sum = pool.add(p, q);
    let (kernel, _) = lowered(&world, &pool, sum);
    // (a - b) t - (a - b) c
    assert_eq!(count(&kernel), OperationCount { adds: 2, muls: 2, loads: 4, ..OperationCount::default() });
    // A sign before a difference that has no other use turns it round.
    let product = pool.mul(backwards, t);
    let (kernel, _) = lowered(&world, &pool, product);
    assert_eq!(count(&kernel), OperationCount { adds: 1, muls: 1, loads: 3, ..OperationCount::default() });
}

#[test]
fn numbers_in_products_meet() {
    let mut pool = ExprPool::new();
    let world = World::new(&mut pool);
    let (half, two, p, t) = (pool.num(0.5), pool.num(2.0), pool.param(0), pool.time());
    let speed = pool.state(Quantity::V, world.body(0));
    let speed = pool.norm(speed);
    let (a, b) = (pool.mul(half, p), pool.mul(two, t));
    let b = pool.mul(b, speed);
    let expected = pool.mul(t, speed);
    let expected = pool.mul(p, expected);
    assert_eq!(pool.mul(a, b), expected);
    // What is known from the start on is scaled there.
    let rest = pool.start(speed);
    let twice = pool.mul(two, rest);
    let doubled = pool.mul(two, speed);
    assert_eq!(twice, pool.start(doubled));
}

#[test]
fn particles_do_not_turn() {
    let mut pool = ExprPool::new();
    let world = World::new(&mut pool);
    let (r, omega) = (pool.state(Quantity::R, world.body(2)), pool.state(Quantity::Omega, world.body(2)));
    let (kernel, _) = lowered(&world, &pool, r);
    assert_eq!(kernel.outputs.len(), 3);
    let (kernel, _) = lowered(&world, &pool, omega);
    assert_eq!((kernel.ops.len(), kernel.outputs.len()), (0, 0));
}

#[test]
fn blocks_go_to_their_places() {
    let mut pool = ExprPool::new();
    let world = World::new(&mut pool);
    let identity = pool.identity();
    let mut lowering = ElementLowering::new(&pool, world.scope());
    let block = |offset| Output { offset, row_stride: 6, expr: identity };
    let kernel = lowering.kernel("b", &[block(3), block(0)], 18).expect("the blocks lie apart");
    let offsets: Vec<u32> = kernel.outputs.iter().map(|o| o.0).collect();
    assert_eq!(offsets, [0, 3, 7, 10, 14, 17]);
    let twice = lowering.kernel("b", &[block(0), block(0)], 18);
    assert_eq!(twice, Err(LowerError::Output { offset: 0, size: 18 }));
    let outside = lowering.kernel("b", &[block(4)], 18);
    assert_eq!(outside, Err(LowerError::Output { offset: 18, size: 18 }));
}

#[test]
fn what_the_scope_lacks_is_named() {
    let mut pool = ExprPool::new();
    let world = World::new(&mut pool);
    let stranger = pool.body_ref(7, vec![]);
    let x = pool.state(Quantity::X, stranger);
    let (lo, hi, t) = (pool.num(0.0), pool.num(3.0), pool.time());
    let sum = pool.reduce(Reduction::Sum, 9, lo, hi, t);
    let end = pool.final_value(t);
    let mut lowering = ElementLowering::new(&pool, world.scope());
    let mut error = |e| lowering.kernel("k", &[Output::dense(0, e)], 9).expect_err("unknown");
    assert_eq!(error(x), LowerError::Body(stranger));
    assert_eq!(error(sum), LowerError::Reduction(sum));
    assert_eq!(error(end), LowerError::Recorded(end));
    let scope = Scope { reductions: &[sum], recorded: &[(end, 4)], ..world.scope() };
    let mut lowering = ElementLowering::new(&pool, scope);
    let outputs = [Output::dense(0, sum), Output::dense(1, end)];
    let kernel = lowering.kernel("k", &outputs, 2).expect("now known");
    assert_eq!(kernel.ops, [Op::Load(Input::Reduced(0)), Op::Load(Input::Recorded(4))]);
    assert_eq!(foreign(&pool, &[sum, end, x]).reductions, [sum]);
}

#[test]
fn rotation_vectors_are_right_everywhere() {
    let mut pool = ExprPool::new();
    let world = World::new(&mut pool);
    let t = pool.time();
    for angle in [0.0, 1e-12, 1e-7, 1e-3, 1.0, 3.0, 3.13, std::f64::consts::PI] {
        for axis in [[1.0, 0.0, 0.0], [0.6, 0.0, -0.8], [-0.5, 0.7, 0.4], [0.1, -0.2, 3.0]] {
            // Divided by time and multiplied again, so that nothing folds.
            let [x, y, z] = axis.map(|c| {
                let c = pool.num(c * angle / 0.9);
                pool.mul(c, t)
            });
            let a = pool.vec(x, y, z);
            let r = pool.exp_so3(a);
            check(&world, &pool, r);
            let log = pool.log_so3(r);
            let exact = world.eval(&pool, log, false);
            for (p, q) in exact.iter().zip(run(&world, &pool, &[Output::dense(0, log)], 3).now) {
                // At half a turn both signs are right.
                let distance = (p - q.value).abs().min((p + q.value).abs());
                assert!(distance <= 1e-14, "{axis:?} {angle}: {} not {p}", q.value);
            }
        }
    }
}
