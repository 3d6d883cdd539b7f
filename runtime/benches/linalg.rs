//! The linear algebra of a step on long chains: Newton matrix, elimination order, and a whole step around them.

#[path = "../tests/common/mod.rs"]
#[expect(dead_code, reason = "the models of the tests; chains are used here")]
mod common;

use std::fmt;

use common::{Model, chain};
use divan::Bencher;
use mbdsl_runtime::linalg::block_lu::BlockLu;
use mbdsl_runtime::linalg::order::minimum_degree;
use mbdsl_runtime::state::State;
use mbdsl_runtime::steppers::euler::Euler;
use mbdsl_runtime::steppers::method::{Level, Method, Metric};
use mbdsl_runtime::system::{Jacobian, System};
use mbdsl_runtime::topology::Topology;

/// A chain and the method that steps it.
#[derive(Clone, Copy, Debug)]
struct Case {
    links: usize,
    level: Level,
}

const CASES: [Case; 4] = [
    Case { links: 100, level: Level::Index3 },
    Case { links: 1000, level: Level::Index3 },
    Case { links: 100, level: Level::Index1 },
    Case { links: 1000, level: Level::Index1 },
];

impl Case {
    const fn method(self) -> Method {
        Method { level: self.level, metric: Metric::Lagrangian }
    }
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, {}", self.method(), self.links)
    }
}

fn main() {
    divan::main();
}

/// Pairs of nodes.
type Edges = Vec<(usize, usize)>;

/// Nodes of the Newton matrix, as in the steppers: bodies, then joints; for index 1 the velocities of the bodies
/// follow, and joints have twice the rows. Every joint waits for its bodies and couples them.
fn graph(topology: &Topology, index1: bool) -> (Vec<usize>, Edges, Edges) {
    let (nb, set) = (topology.bodies.len(), &topology.constraints);
    let ne = set.elements.len();
    let copies = if index1 { 2 } else { 1 };
    let bodies = || topology.bodies.iter().map(|b| b.kind.dim());
    let mut sizes: Vec<usize> = bodies().chain(set.elements.iter().map(|e| copies * e.rows)).collect();
    let (mut edges, mut after) = (Vec::new(), Vec::new());
    if index1 {
        sizes.extend(bodies());
        after.extend((0..nb).map(|b| (b, nb + ne + b)));
    }
    for (number, e) in set.elements.iter().enumerate() {
        for &a in set.bodies(e) {
            let a = a as usize;
            after.push((nb + number, a));
            if index1 {
                after.push((nb + number, nb + ne + a));
            }
            for &b in set.bodies(e) {
                edges.push((a, b as usize));
                if index1 {
                    edges.push((nb + ne + a, b as usize));
                }
            }
        }
    }
    edges.extend_from_slice(&after);
    (sizes, edges, after)
}

/// A matrix with the blocks of a step at rest: `M`, `B`, `B^T` and units.
struct Newton {
    lu: BlockLu,
    filled: Vec<f64>,
    rhs: Vec<f64>,
}

impl Newton {
    fn new(case: Case) -> Self {
        let index1 = case.level == Level::Index1;
        let (mut model, s) = chain(case.links);
        let jac = jacobian(&mut model, &s);
        let topology = model.topology();
        let (nb, set) = (topology.bodies.len(), &topology.constraints);
        let v_node = |body: usize| if index1 { nb + set.elements.len() + body } else { body };
        let (sizes, edges, after) = graph(topology, index1);
        let mut lu = BlockLu::new(&sizes, &edges, &after);
        let mut put = |i: usize, j: usize, row: usize, col: usize, x: f64| {
            let at = lu.block(i, j).expect("the graph has an edge for every block");
            lu.values_mut()[at + row * sizes[j] + col] += x;
        };
        for (number, body) in topology.bodies.iter().enumerate() {
            for k in 0..3 {
                put(number, v_node(number), k, k, body.mass);
                for l in 0..3 {
                    put(number, v_node(number), 3 + k, 3 + l, body.inertia[(k, l)]);
                }
            }
            for k in (0..6).filter(|_| index1) {
                put(v_node(number), number, k, k, 1.0);
                put(v_node(number), v_node(number), k, k, -1.0);
            }
        }
        for (number, e) in set.elements.iter().enumerate() {
            let joint = nb + number;
            for (slot, &body) in set.bodies(e).iter().enumerate() {
                let body = body as usize;
                for row in 0..e.rows {
                    for col in 0..6 {
                        let b = jac.b[e.jac + row * e.dim + 6 * slot + col];
                        put(body, joint, col, row, b);
                        put(joint, body, row, col, b);
                        if index1 {
                            put(v_node(body), joint, col, e.rows + row, b);
                            put(joint, body, e.rows + row, col, -b);
                            put(joint, v_node(body), e.rows + row, col, b);
                        }
                    }
                }
            }
        }
        let filled = lu.values_mut().to_vec();
        let rhs = (0..lu.rows()).map(|k| 1.0 / (1 + k % 7) as f64).collect();
        Self { lu, filled, rhs }
    }

    fn factor(&mut self) {
        self.lu.values_mut().copy_from_slice(&self.filled);
        self.lu.factor().expect("a chain is regular");
    }
}

fn jacobian(model: &mut Model, s: &State) -> Jacobian {
    let set = &model.topology().constraints;
    let mut jac = Jacobian { phi: vec![0.0; set.rows], phi_t: vec![0.0; set.rows], b: vec![0.0; set.jac_len] };
    model.jacobian(s, &mut jac);
    jac
}

/// Copies the matrix and factors it.
#[divan::bench(args = CASES, sample_count = 20)]
fn factor(bencher: Bencher<'_, '_>, case: Case) {
    let mut newton = Newton::new(case);
    bencher.bench_local(|| newton.factor());
}

/// Solves with the factors.
#[divan::bench(args = CASES, sample_count = 20)]
fn solve(bencher: Bencher<'_, '_>, case: Case) {
    let mut newton = Newton::new(case);
    newton.factor();
    let mut x = newton.rhs.clone();
    bencher.bench_local(|| {
        x.copy_from_slice(&newton.rhs);
        newton.lu.solve(&mut x);
        x[0]
    });
}

/// Whole steps of 1 ms of the chain that the matrix is from, its equations written by hand.
#[divan::bench(args = CASES, sample_count = 10, sample_size = 5)]
fn step(bencher: Bencher<'_, '_>, case: Case) {
    let (mut model, mut s) = chain(case.links);
    let mut stepper = Euler::new(model.topology(), case.method());
    let mut n = 0_u32;
    bencher.bench_local(|| {
        n += 1;
        stepper.step(&mut model, &mut s, 1e-3, f64::from(n) * 1e-3).expect("the step converges")
    });
}

/// Minimum-degree order of the index-3 matrix.
#[divan::bench(args = [10_000], sample_count = 10, sample_size = 1)]
fn order(bencher: Bencher<'_, '_>, links: usize) {
    let (model, _) = chain(links);
    let (sizes, edges, after) = graph(model.topology(), false);
    bencher.bench_local(|| minimum_degree(&sizes, &edges, &after));
}

/// Symbolic phase of the same matrix: order, fill, places of all blocks.
#[divan::bench(args = [10_000], sample_count = 10, sample_size = 1)]
fn symbolic(bencher: Bencher<'_, '_>, links: usize) {
    let (model, _) = chain(links);
    let (sizes, edges, after) = graph(model.topology(), false);
    bencher.bench_local(|| BlockLu::new(&sizes, &edges, &after));
}
