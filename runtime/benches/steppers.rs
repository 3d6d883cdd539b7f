//! Steps of splitting and variational steppers: free bodies, a heavy top, chains on ball joints. Divide by the number of
//! bodies for the cost of one.

#[path = "../tests/common/mod.rs"]
#[expect(dead_code, reason = "the models of the tests; some are used here")]
mod common;

use common::Model;
use common::runs::{heavy_top, stepper};
use divan::Bencher;
use mbdsl_runtime::so3::exp;
use mbdsl_runtime::state::State;
use mbdsl_runtime::steppers::{AnyStepper, Stepper};
use nalgebra::Vector3;

/// A model that steps on and on.
struct Run {
    model: Model,
    state: State,
    stepper: AnyStepper,
    h: f64,
    n: u32,
}

impl Run {
    fn new((model, state): (Model, State), name: &str, h: f64) -> Self {
        let stepper = stepper(&model, name);
        Self { model, state, stepper, h, n: 0 }
    }

    fn step(&mut self) {
        self.n += 1;
        let t = f64::from(self.n) * self.h;
        self.stepper.step(&mut self.model, &mut self.state, self.h, t).expect("converges");
    }
}

fn bodies(n: usize) -> (Model, State) {
    let mut model = Model::new(0.0);
    let mut s = State::new(n, 0);
    for b in 0..n {
        let k = b as f64;
        model.rigid(1.0, [1.0, 2.0, 2.5]);
        s.set_r(b, &exp(&Vector3::new(0.1 * k, 0.3, -0.2)));
        s.set_omega(b, &Vector3::new(0.6, 0.9, -0.4 - 0.1 * libm::sin(k)));
    }
    (model, s)
}

#[divan::bench(args = ["splitting_dlm", "splitting_dlm_cayley", "splitting_exact", "variational_rrp", "variational_dmv"])]
fn thousand_free_bodies(bencher: Bencher<'_, '_>, name: &str) {
    let mut run = Run::new(bodies(1000), name, 0.02);
    bencher.bench_local(|| run.step());
}

#[divan::bench(args = ["splitting_dlm", "splitting_exact", "variational_rrp", "splitting_dlm+kahan_li8"])]
fn top(bencher: Bencher<'_, '_>, name: &str) {
    let mut run = Run::new(heavy_top(), name, 0.01);
    bencher.bench_local(|| run.step());
}

#[divan::bench(args = ["splitting_dlm", "splitting_exact", "splitting_dlm+kahan_li6"])]
fn chain_of_a_thousand(bencher: Bencher<'_, '_>, name: &str) {
    let mut run = Run::new(common::chain(1000), name, 1e-3);
    bencher.bench_local(|| run.step());
}

#[divan::bench(args = ["splitting_dlm", "splitting_exact", "splitting_exact+kahan_li6"])]
fn single_pendulum(bencher: Bencher<'_, '_>, name: &str) {
    let mut run = Run::new(common::single_pendulum(), name, 1e-5);
    bencher.bench_local(|| run.step());
}

fn main() {
    divan::main();
}
