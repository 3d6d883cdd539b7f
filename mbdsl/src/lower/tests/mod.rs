//! Lowered kernels against the symbolic evaluator, on random expressions and on chosen ones.

mod chosen;
mod world;

use self::world::{Analysis, World, analyse};
use super::*;
use crate::backend::interp::Machine;
use crate::ir::verify;
use crate::symbolic::{Cmp, Fun, Fun2, Reduction};

/// Linear congruential numbers (Knuth's MMIX constants): the same on every machine.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from((self.0 >> 33) % n as u64).expect("a small number")
    }

    fn pick<T: Copy>(&mut self, list: &[T]) -> T {
        list[self.below(list.len())]
    }
}

/// Expressions to build on, by type.
#[derive(Default)]
struct Stock {
    scalars: Vec<ExprId>,
    vectors: Vec<ExprId>,
    matrices: Vec<ExprId>,
    rotations: Vec<ExprId>,
    truths: Vec<ExprId>,
}

impl Stock {
    fn push(&mut self, pool: &ExprPool, e: ExprId) {
        match pool.ty(e) {
            Ty::Scalar => self.scalars.push(e),
            Ty::Vec3 => self.vectors.push(e),
            Ty::Mat3 => self.matrices.push(e),
            Ty::Rot => {
                self.rotations.push(e);
                self.matrices.push(e);
            }
            Ty::Bool => self.truths.push(e),
        }
    }

    /// One more expression.
    fn grow(&self, pool: &mut ExprPool, random: &mut Random) -> ExprId {
        let (s, t) = (random.pick(&self.scalars), random.pick(&self.scalars));
        let (a, b) = (random.pick(&self.vectors), random.pick(&self.vectors));
        let (m, n) = (random.pick(&self.matrices), random.pick(&self.matrices));
        let (r, q) = (random.pick(&self.rotations), random.pick(&self.rotations));
        let (c, d) = (random.pick(&self.truths), random.pick(&self.truths));
        let k = u8::try_from(random.below(3)).expect("small");
        let one = pool.num(1.0);
        // Arguments inside of the domain of what follows.
        let square = pool.mul(s, s);
        let positive = pool.add(one, square);
        let sine = pool.fun(Fun::Sin, s);
        match random.below(58) {
            0 => pool.neg(s),
            1 | 2 => pool.add(s, t),
            3 | 4 => pool.sub(s, t),
            5 | 6 => pool.mul(s, t),
            7 => pool.div(s, positive),
            8 => pool.div(t, positive),
            9 => pool.pow_int(s, 3),
            10 => pool.pow_int(positive, -2),
            11 => pool.fun(Fun::Sqrt, positive),
            12 => pool.fun(Fun::Cos, s),
            13 => pool.fun(Fun::Asin, sine),
            14 => pool.fun(Fun::Exp, sine),
            15 => pool.fun(Fun::Ln, positive),
            16 => pool.fun(Fun::Abs, s),
            17 => pool.fun(Fun::Sign, s),
            18 => pool.fun(Fun::Floor, s),
            19 => pool.fun(Fun::Stumpff(k + 1), positive),
            20 => {
                // Less than a turn.
                let below = pool.add(one, sine);
                pool.fun(Fun::LogCoefficient(k), below)
            }
            21 => pool.fun2(Fun2::Atan2, s, positive),
            22 => pool.fun2(Fun2::Min, s, t),
            23 => pool.fun2(Fun2::Max, s, t),
            24 => pool.fun2(Fun2::Mod, s, positive),
            25 => pool.fun2(Fun2::Unwrap, s, t),
            26 => {
                let exponent = pool.num(random.pick(&[-1.5, 0.5, 2.0, 2.5, -3.0, 0.7]));
                pool.fun2(Fun2::Pow, positive, exponent)
            }
            27 => pool.cmp(random.pick(&[Cmp::Lt, Cmp::Le, Cmp::Eq, Cmp::Ne]), s, t),
            28 => pool.and(c, d),
            29 => pool.or(c, d),
            30 => pool.not(c),
            31 => pool.select(c, s, t),
            32 => pool.select(c, a, b),
            33 => pool.select(c, m, n),
            34 => pool.vec(s, t, one),
            35 => pool.comp(a, k),
            36 => pool.dot(a, b),
            37 => pool.cross(a, b),
            38 => pool.mat_vec(m, a),
            39 => pool.mat_vec(r, a),
            40 => pool.mat_mul(m, n),
            41 => pool.mat_mul(r, q),
            42 => pool.transpose(m),
            43 => pool.transpose(r),
            44 => pool.skew(a),
            45 => pool.outer(a, b),
            46 => pool.diag(a),
            47 => pool.rows(a, b, a),
            48 => pool.row(m, k),
            49 => {
                let unit = pool.unit(k);
                pool.about(unit, s)
            }
            50 => {
                let axis = pool.vec(positive, t, sine);
                pool.about(axis, t)
            }
            51 => pool.exp_so3(a),
            52 => pool.log_so3(r),
            53 => {
                let axis = pool.vec(t, positive, s);
                pool.perp1(axis)
            }
            54 => {
                let axis = pool.vec(t, sine, positive);
                pool.perp2(axis)
            }
            55 => pool.start(random.pick(&[s, t])),
            56 => pool.start(a),
            _ => {
                let (lo, hi, index) = (pool.num(1.0), pool.num(4.0), pool.index(9));
                let body = pool.mul(index, index);
                let how = random.pick(&[Reduction::Sum, Reduction::Min, Reduction::Max, Reduction::Mean]);
                let sum = pool.reduce(how, 9, lo, hi, body);
                pool.mul(sum, s)
            }
        }
    }
}

/// What kernels compute for outputs: with everything in place at the start, and hoisted now.
struct Computed {
    start: Vec<Analysis>,
    now: Vec<Analysis>,
}

/// Lowers and runs; machines compute, bit by bit, what single instructions do, and hoisting changes no bit.
fn run(world: &World, pool: &ExprPool, outputs: &[Output], size: usize) -> Computed {
    let roots: Vec<ExprId> = outputs.iter().map(|o| o.expr).collect();
    assert_eq!(foreign(pool, &roots).reductions, []);
    let mut lowering = ElementLowering::new(pool, world.scope());
    let kernel = lowering.kernel("k", outputs, size).expect("the scope is complete");
    let setup = lowering.setup_kernel("setup", outputs, size).expect("the scope is complete");
    let constants = lowering.finish();
    let tables = world.tables(&constants);
    let values = |kernel: &Kernel, is_start: bool| {
        let verified = verify(kernel.clone(), &constants.interface).expect("lowered kernels are sound");
        let inputs = tables.inputs(world, is_start);
        let analysis = analyse(verified.get(), &inputs);
        let mut out = vec![0.0; size];
        Machine::new(&verified).expect("small").run(&inputs, &mut out);
        for (x, y) in out.iter().zip(&analysis) {
            assert_eq!(x.to_bits(), y.value.to_bits(), "{kernel}");
        }
        analysis
    };
    let start = values(&setup, true);
    for (x, y) in values(&kernel, true).iter().zip(&start) {
        assert_eq!(x.value, y.value, "{kernel}\n{setup}");
    }
    Computed { start, now: values(&kernel, false) }
}

fn check(world: &World, pool: &ExprPool, e: ExprId) {
    let size = pool.ty(e).len();
    let computed = run(world, pool, &[Output::dense(0, e)], size);
    for (is_start, computed) in [(true, &computed.start), (false, &computed.now)] {
        for (x, y) in world.eval(pool, e, is_start).iter().zip(computed) {
            // Both results carry roundings of their own.
            let tolerance = 4.0 * f64::EPSILON * y.scale;
            assert!((x - y.value).abs() <= tolerance, "{:?}: {y:?}, not {x}", pool.node(e));
        }
    }
}

#[test]
fn random_expressions_agree_with_the_evaluator() {
    for seed in 0..60 {
        let mut random = Random(seed);
        let mut pool = ExprPool::new();
        let world = World::new(&mut pool);
        let mut stock = Stock::default();
        for leaf in world.leaves(&mut pool) {
            stock.push(&pool, leaf);
        }
        for _ in 0..150 {
            let e = stock.grow(&mut pool, &mut random);
            // Neither overflow nor values whose roundings are all there is.
            let values = [true, false].map(|is_start| world.eval(&pool, e, is_start));
            if values.iter().flatten().all(|x| x.abs() < 50.0) {
                check(&world, &pool, e);
                stock.push(&pool, e);
            }
        }
    }
}
