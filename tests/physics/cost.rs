//! What compiling costs: programs do not grow with the number of instances, and neither does the time to make them; the
//! first step of any model of the library is there at once.

use std::sync::OnceLock;
use std::time::{Duration, Instant};

use mbdsl::driver::{self, Compiled};
use mbdsl::exec::session::{self, Choices};
use mbdsl::sema::Options;
use mbdsl::source::Sources;

use crate::rig::{Steps, assemble, library, load, run, text};

/// Time that this thread has spent on a processor where the system tells (busy machines do not count), else the clock.
pub fn now() -> Duration {
    static START: OnceLock<Instant> = OnceLock::new();
    let start = START.get_or_init(Instant::now);
    let spent = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let nanos = spent.as_deref().and_then(|s| s.split_whitespace().next()).and_then(|s| s.parse().ok());
    nanos.map_or_else(|| start.elapsed(), Duration::from_nanos)
}

/// The best of five batches of ten: interrupts and cold caches only add, and the system counts in ticks of up to 4 ms,
/// 0.4 ms a run.
fn best_of_five<T>(mut f: impl FnMut() -> T) -> Duration {
    const BATCH: u32 = 10;
    let mut timed = || {
        let begin = now();
        (0..BATCH).for_each(|_| drop(std::hint::black_box(f())));
        (now() - begin) / BATCH
    };
    (0..5).map(|_| timed()).min().unwrap_or_default()
}

fn compile(text: &str, n: Option<u32>) -> Compiled {
    let mut sources = Sources::default();
    let file = sources.add("test.mbd", text);
    let overrides = n.map(|n| ("N".to_owned(), f64::from(n))).into_iter().collect();
    let options = Options { model: None, overrides };
    driver::compile(&mut sources, file, &options).expect("a model of the library")
}

/// The whole text is the same but for the numbers that the model itself makes of its length: `0.6 * N` and `N` in the
/// kernels that run once, for the default of `span` and the placement of the links.
#[test]
fn program_of_the_chain_is_the_same_for_any_length() {
    let text = text("chain");
    let (small, large) = (compile(&text, Some(10)), compile(&text, Some(10_000)));
    assert_eq!(large.program.body_count(), 10_000);
    assert_eq!(small.program.constraints.len(), large.program.constraints.len());
    assert_eq!(small.program.text(), large.program.text());
}

/// Only tables grow: 10 000 links are 10 000 rows of a few numbers, below a hundredth of a second, and the rest takes
/// what it takes for ten links.
#[test]
fn time_to_compile_hardly_depends_on_the_length() {
    let text = text("chain");
    let small = best_of_five(|| compile(&text, Some(10)));
    let large = best_of_five(|| compile(&text, Some(10_000)));
    println!("10 links: {small:?}, 10 000 links: {large:?}");
    assert!(large < 2 * small + Duration::from_millis(20), "{small:?} and {large:?}");
}

#[test]
fn checking_takes_no_time() {
    for path in library() {
        let text = std::fs::read_to_string(&path).expect("a model of the library");
        let time = best_of_five(|| {
            let mut sources = Sources::default();
            let file = sources.add("test.mbd", text.as_str());
            driver::check(&mut sources, file, &Options::default()).expect("a model of the library")
        });
        println!("check {}: {time:?}", path.display());
        assert!(time < Duration::from_millis(50), "{}: {time:?}", path.display());
    }
}

/// From the text to the state after one step.
#[test]
fn first_step_is_there_at_once() {
    for path in library() {
        let text = std::fs::read_to_string(&path).expect("a model of the library");
        let time = best_of_five(|| {
            let loaded = load(&text, &[]);
            let setup =
                session::setup(&loaded, &Choices::default()).expect("a model of the library says how to run it");
            let (method, h) = (setup.method, setup.plan.size(1));
            let report = assemble(&loaded).report;
            assert!(report.rank + report.degrees_of_freedom > 0);
            assert_eq!(run(&loaded, Steps { method, h, until: h }).steps, 1);
        });
        println!("first step of {}: {time:?}", path.display());
        assert!(time < Duration::from_millis(200), "{}: {time:?}", path.display());
    }
}
