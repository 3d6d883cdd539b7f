//! From a text or a model of the library to a run that a test can look into.

use std::path::{Path, PathBuf};

use mbdsl::exec::failure::Failure;
use mbdsl::exec::run::{self, Outcome, Sink, Snapshot};
use mbdsl::exec::session::{self, Choices, Loaded, Session};
use mbdsl::render;
use mbdsl::source::Sources;
use mbdsl_runtime::steppers::adaptive;
use mbdsl_runtime::steppers::method::Method;
use mbdsl_runtime::steppers::name::StepperName;

/// The root of the workspace.
pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the suites lie in a folder of the workspace")
}

/// The models of the library, in order of their names.
pub fn library() -> Vec<PathBuf> {
    let entries = std::fs::read_dir(root().join("models")).expect("the library is a folder");
    let mut all: Vec<PathBuf> = entries.map(|e| e.expect("it can be listed").path()).collect();
    all.retain(|p| p.extension().is_some_and(|e| e == "mbd"));
    all.sort();
    all
}

/// Text of a model of the library.
pub fn text(name: &str) -> String {
    std::fs::read_to_string(root().join("models").join(format!("{name}.mbd"))).expect("a model of the library")
}

/// The double pendulum at a tenth of its speed, with a spring and a damper from the first rod to the ground that together decay at 2e4/s.
pub fn stiff_pendulum() -> String {
    text("double_pendulum").replace("20 * pi", "2 * pi").replace("10 * pi", "pi").replace(
        "joint shoulder",
        "ground { point post = [0.3, 0.4, 0.5] m; }
        force stiff: spring(ground.post, first.far, k = 1e5 [N/m], rest = sqrt(0.5) * 1 m);
        force oil: damper(ground.post, first.far, c = 1e5 [N*s/m]);
        joint shoulder",
    )
}

/// What a text becomes, with `name=value` as on the command line.
pub fn try_load(text: &str, set: &[&str]) -> Result<Loaded, Failure> {
    let mut sources = Sources::default();
    let file = sources.add("test.mbd", text);
    let choices = Choices { set: set.iter().map(|&s| s.to_owned()).collect(), ..Choices::default() };
    session::load(&mut sources, file, &choices)
}

/// A text that must compile.
#[track_caller]
pub fn load(text: &str, set: &[&str]) -> Loaded {
    try_load(text, set).unwrap_or_else(|failure| panic!("{}", words(text, &failure)))
}

/// A model of the library.
#[track_caller]
pub fn load_library(name: &str) -> Loaded {
    load(&text(name), &[])
}

/// A failure as a user sees it; `text` is the file that it points into.
pub fn words(text: &str, failure: &Failure) -> String {
    let mut sources = Sources::default();
    sources.add("test.mbd", text);
    mbdsl::library::add(&mut sources);
    match failure {
        Failure::Model(list) => render::human(&sources, list, false),
        Failure::Step(one) => render::human(&sources, std::slice::from_ref(&**one), false),
        Failure::Usage(text) => text.clone(),
        Failure::Io { path, error } => format!("{}: {error}", path.display()),
    }
}

/// An assembled model.
#[track_caller]
pub fn assemble(loaded: &Loaded) -> Session<'_> {
    session::assemble(loaded).unwrap_or_else(|failure| panic!("{failure:?}"))
}

struct See<F>(F);

impl<F: FnMut(&Snapshot<'_>)> Sink for See<F> {
    fn see(&mut self, snapshot: &Snapshot<'_>) -> Result<(), Failure> {
        (self.0)(snapshot);
        Ok(())
    }
}

/// How a run is stepped: by one of the Euler methods, or by a stepper of any family.
#[derive(Clone, Copy)]
pub struct Steps<M = Method> {
    /// The stepper.
    pub method: M,
    /// Step, s.
    pub h: f64,
    /// End, s.
    pub until: f64,
}

/// Runs an assembled model without its checks and shows every state, the start included. Steps may fail.
pub fn run_session(
    loaded: &Loaded,
    session: &mut Session<'_>,
    steps: Steps<impl Into<StepperName>>,
    see: Option<&mut dyn FnMut(&Snapshot<'_>)>,
) -> Outcome {
    let choices = Choices {
        stepper: Some(steps.method.into().to_string()),
        step: Some(format!("{:e}", steps.h)),
        until: Some(format!("{:e}", steps.until)),
        ..Choices::default()
    };
    let setup = session::setup(loaded, &choices).expect("the steps are possible");
    match see {
        None => run::run(loaded, session, &setup, false, &mut []),
        Some(see) => run::run(loaded, session, &setup, false, &mut [&mut See(see)]),
    }
    .expect("the sink cannot fail")
}

/// Steps that a tolerance chooses.
#[derive(Clone, Copy)]
pub struct Auto {
    /// The method.
    pub method: adaptive::Method,
    /// What the error of a step may be.
    pub tolerance: f64,
    /// Interval of outputs, s.
    pub every: f64,
    /// End, s.
    pub until: f64,
}

/// Runs a model without its checks by adaptive steps and shows every output. Steps may fail.
pub fn run_auto(loaded: &Loaded, steps: Auto, mut see: impl FnMut(&Snapshot<'_>)) -> Outcome {
    let choices = Choices {
        stepper: Some(steps.method.name().to_owned()),
        step: Some("auto".to_owned()),
        tolerance: Some(format!("{:e}", steps.tolerance)),
        every: Some(format!("{:e}", steps.every)),
        until: Some(format!("{:e}", steps.until)),
        ..Choices::default()
    };
    let setup = session::setup(loaded, &choices).expect("the steps are possible");
    run::run(loaded, &mut assemble(loaded), &setup, false, &mut [&mut See(&mut see)]).expect("the sink cannot fail")
}

/// The same to the end, which it must reach.
#[track_caller]
pub fn watch_auto(loaded: &Loaded, steps: Auto, see: impl FnMut(&Snapshot<'_>)) -> Outcome {
    completed(run_auto(loaded, steps, see))
}

/// Runs a model to its end, which it must reach.
#[track_caller]
pub fn run(loaded: &Loaded, steps: Steps<impl Into<StepperName>>) -> Outcome {
    completed(run_session(loaded, &mut assemble(loaded), steps, None))
}

/// Runs a model to its end, which it must reach, and shows every state.
#[track_caller]
pub fn watch(loaded: &Loaded, steps: Steps<impl Into<StepperName>>, mut see: impl FnMut(&Snapshot<'_>)) -> Outcome {
    completed(run_session(loaded, &mut assemble(loaded), steps, Some(&mut see)))
}

#[track_caller]
fn completed(outcome: Outcome) -> Outcome {
    assert!(outcome.failed_step.is_none(), "{:?}", outcome.failed_step);
    outcome
}

/// Applies a function to all methods, on threads of their own.
pub fn for_all_methods<T: Send>(f: impl Fn(Method) -> T + Sync) -> Vec<(Method, T)> {
    let f = &f;
    std::thread::scope(|scope| {
        let threads = Method::ALL.map(|m| (m, scope.spawn(move || f(m))));
        threads.map(|(m, t)| (m, t.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))).into()
    })
}

/// Errors of a function of the step at `h`, `h/2` and `h/4`, for each of the quantities that it measures.
pub fn halved<const N: usize>(h: f64, error: impl Fn(f64) -> [f64; N]) -> [[f64; 3]; N] {
    let all = [h, h / 2.0, h / 4.0].map(error);
    std::array::from_fn(|k| all.map(|e| e[k]))
}

/// Errors at three steps, each half the one before: both observed orders `log2(e(h) / e(h/2))` must be one.
///
/// The next term of the error expansion is a factor `1 + O(h)`, so the order comes into [0.95, 1.05] once steps are
/// small enough; an error of order 2, or one that does not fall, never does.
#[track_caller]
pub fn check_first_order(what: &str, method: Method, errors: [f64; 3]) {
    for pair in errors.windows(2) {
        let order = (pair[0] / pair[1]).log2();
        assert!((0.95..=1.05).contains(&order), "{what}, {method}: {errors:?}, order {order}");
    }
    println!("{what}, {method}: {:.2e}, order {:.3}", errors[2], (errors[1] / errors[2]).log2());
}

/// Largest absolute value.
pub fn largest(numbers: impl IntoIterator<Item = f64>) -> f64 {
    numbers.into_iter().fold(0.0, |m: f64, x| if x.is_nan() { f64::NAN } else { m.max(x.abs()) })
}
