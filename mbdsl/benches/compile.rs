//! From text to a model that runs: what each stage costs, and what the number of instances costs.

use std::path::{Path, PathBuf};
use std::time::Instant;

use divan::Bencher;
use mbdsl::driver;
use mbdsl::exec::session::{self, Choices};
use mbdsl::formulate;
use mbdsl::lower;
use mbdsl::sema::Options;
use mbdsl::source::{FileId, Sources};
use mbdsl_runtime::steppers::{AnyStepper, Stepper as _};
use mbdsl_runtime::system::System as _;

/// Links of the chains that are compiled: the kernels are the same, the tables are not.
const LINKS: [usize; 2] = [10, 10_000];

/// Turns over which the parts of lowering are told apart.
const TURNS: usize = 7;

fn main() {
    let args: Vec<String> = std::env::args().collect();
    divan::main();
    // Whoever chooses benches or options wants those alone.
    if args[1..] == ["--bench"] {
        kernels_and_table();
    }
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("models")
}

/// Names of the models of the library, sorted.
fn models() -> Vec<String> {
    let entries = std::fs::read_dir(folder()).expect("the models are there");
    let paths = entries.map(|e| e.expect("the folder can be read").path());
    let mut names: Vec<String> = paths
        .filter(|p| p.extension().is_some_and(|e| e == "mbd"))
        .filter_map(|p| Some(p.file_stem()?.to_str()?.to_owned()))
        .collect();
    names.sort_unstable();
    names
}

/// A model as a source file.
fn read(model: &str) -> (Sources, FileId) {
    let mut sources = Sources::default();
    let file = session::read(&mut sources, &folder().join(model).with_extension("mbd")).expect("the model is there");
    (sources, file)
}

fn with_links(links: usize) -> Options {
    Options { overrides: vec![("N".to_owned(), links as f64)], ..Options::default() }
}

/// Text to program.
#[divan::bench(args = LINKS, sample_count = 10, sample_size = 1)]
fn chain_to_ir(bencher: Bencher<'_, '_>, links: usize) {
    bencher
        .with_inputs(|| read("chain"))
        .bench_local_values(|(mut sources, file)| driver::compile(&mut sources, file, &with_links(links)));
}

/// Text to checked model.
#[divan::bench(args = LINKS, sample_count = 10, sample_size = 1)]
fn chain_check(bencher: Bencher<'_, '_>, links: usize) {
    bencher
        .with_inputs(|| read("chain"))
        .bench_local_values(|(mut sources, file)| driver::check(&mut sources, file, &with_links(links)));
}

/// Checked model to symbolic equations.
#[divan::bench(args = LINKS, sample_count = 10, sample_size = 1)]
fn chain_formulate(bencher: Bencher<'_, '_>, links: usize) {
    let (mut sources, file) = read("chain");
    let model = driver::check(&mut sources, file, &with_links(links)).expect("the model is good");
    bencher.bench_local(|| formulate::formulate(&model));
}

/// Symbolic equations to kernels and tables.
#[divan::bench(args = LINKS, sample_count = 10, sample_size = 1)]
fn chain_lower(bencher: Bencher<'_, '_>, links: usize) {
    let (mut sources, file) = read("chain");
    let model = driver::check(&mut sources, file, &with_links(links)).expect("the model is good");
    let equations = formulate::formulate(&model).expect("the model has equations");
    bencher.bench_local(|| lower::program::lower(&model, &equations));
}

/// Text to checked model, with the standard library parsed already.
#[divan::bench(args = models(), sample_count = 10, sample_size = 5)]
fn check(bencher: Bencher<'_, '_>, model: &str) {
    bencher
        .with_inputs(|| read(model))
        .bench_local_values(|(mut sources, file)| driver::check(&mut sources, file, &Options::default()));
}

/// File to the state after the first step: compile, bind, assemble, step.
#[divan::bench(args = models(), sample_count = 10, sample_size = 1)]
fn load_to_first_step(bencher: Bencher<'_, '_>, model: &str) {
    bencher.bench_local(|| {
        let (mut sources, file) = read(model);
        let choices = Choices::default();
        let loaded = session::load(&mut sources, file, &choices).expect("the model compiles");
        let setup = session::setup(&loaded, &choices).expect("the model says how to run it");
        let mut session = session::assemble(&loaded).expect("the model can be assembled");
        let mut stepper = AnyStepper::new(session.system.topology(), setup.method).expect("it suits the model");
        let mut state = session.start.clone();
        let h = setup.plan.size(1);
        stepper.step(&mut session.system, &mut state, h, setup.plan.time(1)).expect("the step converges");
        state
    });
}

/// Lowering of a short and a long chain in turns: what they differ by is the table.
fn kernels_and_table() {
    let models = LINKS.map(|links| {
        let (mut sources, file) = read("chain");
        driver::check(&mut sources, file, &with_links(links)).expect("the model is good")
    });
    let equations = models.each_ref().map(|m| formulate::formulate(m).expect("the model has equations"));
    let (mut kernels, mut table) = (Vec::new(), Vec::new());
    for _ in 0..TURNS {
        let [short, long] = [0, 1].map(|k| {
            let begin = Instant::now();
            let program = lower::program::lower(&models[k], &equations[k]).expect("the model can be lowered");
            let elapsed = begin.elapsed().as_secs_f64();
            drop(program);
            elapsed
        });
        kernels.push(short);
        table.push(long - short);
    }
    let median = |mut values: Vec<f64>| {
        values.sort_unstable_by(f64::total_cmp);
        values[values.len() / 2]
    };
    let (kernels, table) = (median(kernels), median(table));
    println!(
        "\nlowering of chain: kernels {:.2} ms; table {:.0} ns a link (medians of {TURNS} turns)",
        1e3 * kernels,
        1e9 * table / (LINKS[1] - LINKS[0]) as f64
    );
}
