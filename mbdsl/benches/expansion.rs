//! What a model costs until it is machine code: text to Rust in CPU time of one thread, and rustc by the clock. Prints a
//! table for `docs/performance.md`; takes some minutes.

#[path = "../../tests/ui/crates.rs"]
mod crates;

use std::time::{Duration, Instant};

use cpu_time::ThreadTime;
use mbdsl::catalogue::{self, MODELS};
use mbdsl::expand::{self, Module};
use mbdsl::sema::Options;
use mbdsl::source::Sources;

use crates::Crate;

/// Turns of which the fastest counts, of work in this process and of a process of rustc.
const TURNS: usize = 11;
const BUILDS: usize = 3;

/// A row of the table: what is compiled in one crate.
struct Row {
    name: String,
    /// Names of models of the library, and how many links a chain has.
    models: Vec<(&'static str, Option<u32>)>,
}

fn main() {
    // Tests run benches without this argument, to see that they start.
    if !std::env::args().any(|argument| argument == "--bench") {
        return;
    }
    let mut rows = vec![Row { name: "no model".to_owned(), models: Vec::new() }];
    for links in [10, 10_000] {
        rows.push(Row { name: format!("chain of {links} links"), models: vec![("chain", Some(links))] });
    }
    rows.extend(MODELS.map(|(name, _)| Row { name: format!("`{name}`"), models: vec![(name, None)] }));
    rows.push(Row { name: "all of them".to_owned(), models: MODELS.map(|(name, _)| (name, None)).to_vec() });

    println!("| | text to tokens, ms | text to formatted Rust, ms | lines | rustc debug, s | rustc release, s |");
    println!("|---|---|---|---|---|---|");
    let dependencies = "mbdsl-runtime = { path = \"{root}/runtime\" }";
    let crate_of_models = Crate::new("expansion", "2024", dependencies);
    for Row { name, models } in &rows {
        let tokens = fastest(|| models.iter().for_each(|&model| drop(module(model))));
        let formatted = fastest(|| models.iter().for_each(|&model| drop(expand::pretty(module(model)))));
        let code: String = models.iter().map(|&model| expand::pretty(module(model))).collect();
        let [debug, release] = ["dev", "release"].map(|profile| rustc(&crate_of_models, &code, profile));
        println!(
            "| {name} | {:.1} | {:.1} | {} | {:.2} | {:.2} |",
            1e3 * tokens.as_secs_f64(),
            1e3 * formatted.as_secs_f64(),
            code.lines().count(),
            debug.as_secs_f64(),
            release.as_secs_f64(),
        );
    }
}

fn module((name, links): (&str, Option<u32>)) -> Module {
    let mut sources = Sources::default();
    let file = sources.add(name, catalogue::find(name).expect("a model of the library"));
    let overrides = links.map(|links| ("N".to_owned(), f64::from(links))).into_iter().collect();
    let model = Options { overrides, ..Options::default() };
    expand::expand(&mut sources, file, &model, &expand::Options::default()).expect("a good model")
}

/// CPU time of the fastest turn, each in a thread of its own, so that the standard joints are parsed again.
fn fastest(work: impl Fn() + Sync) -> Duration {
    let turn = || {
        let start = ThreadTime::now();
        work();
        start.elapsed()
    };
    let turns = (0..TURNS).map(|_| std::thread::scope(|s| s.spawn(turn).join().expect("the work does not panic")));
    turns.min().expect("there are turns")
}

/// Time of the fastest build of a crate of some code, whose dependencies are compiled already.
fn rustc(crate_of_models: &Crate, code: &str, profile: &str) -> Duration {
    let build = |code: &str| {
        crate_of_models.write("src/lib.rs", code);
        let start = Instant::now();
        crate_of_models.cargo(&["build", "--profile", profile]).good();
        start.elapsed()
    };
    let turn = |_| {
        build("//! Nothing.");
        build(code)
    };
    (0..BUILDS).map(turn).min().expect("there are builds")
}
