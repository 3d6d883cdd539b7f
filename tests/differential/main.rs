//! Random models through the whole compiler: what different ways say about the same thing must agree.
//!
//! Symbolic evaluation, the operations of the IR one after another, the interpreter, native code, and differences on the group; printed
//! texts; shifted and turned frames. Lists of choices make the models, so that failing ones shrink.

mod bench;
mod case;
mod differences;
mod evaluation;
mod expressions;
mod frames;
mod models;
mod oracle;
mod places;
mod regressions;
mod regular;
mod round_trip;
mod rounding;
mod special;
mod tape;

use mbdsl_runtime::nalgebra::Vector3;
use mbdsl_runtime::so3;
use proptest::collection::vec;
use proptest::prelude::any;
use proptest::test_runner::{Config, RngSeed, TestCaseError, TestError, TestRunner};

use bench::Bench;
use case::{Attitudes, Case, Checked};
use models::Sort;
use regular::Clearance;
use tape::{Noise, Tape};

/// Away from singularities by a hundred steps of the differences and more.
const CLEAR: Clearance = Clearance { gap: 0.05, cuts: true };

/// Not on a singularity; cuts have values on both sides.
const DEFINED: Clearance = Clearance { gap: 1e-3, cuts: false };

/// Models of each test, some ten milliseconds each.
const CASES: u32 = 300;

/// Longest list of choices; a model takes about a hundred.
const CHOICES: usize = 400;

/// Runs a check on random models; `check` says whether there was anything to check.
fn for_models(sort: Sort, check: impl Fn(&Case, &mut Noise) -> Checked<bool>) {
    // Always the same models, unless the variables of proptest ask for other ones or for more.
    let mut config = Config { failure_persistence: None, max_shrink_iters: 500, ..Config::default() };
    if config.rng_seed == RngSeed::Random {
        config.rng_seed = RngSeed::Fixed(1);
    }
    if std::env::var_os("PROPTEST_CASES").is_none() {
        config.cases = CASES;
    }
    let cases = config.cases;
    let mut runner = TestRunner::new(config);
    let text = |choices: &[u16]| {
        let mut tape = Tape::new(choices);
        let seed = tape.seed();
        (models::model(&mut tape, sort), Noise(seed))
    };
    let checked = std::cell::Cell::new(0);
    let result = runner.run(&vec(any::<u16>(), 20..CHOICES), |choices| {
        let (text, mut noise) = text(&choices);
        let outcome = Case::new(&text, &mut noise).and_then(|case| check(&case, &mut noise));
        checked.set(checked.get() + u32::from(outcome == Ok(true)));
        outcome.map(|_| ()).map_err(TestCaseError::fail)
    });
    match result {
        Ok(()) => {}
        Err(TestError::Fail(reason, choices)) => {
            let text = text(&choices).0;
            panic!("{reason}\n{}", &text[text.find("\nmodel").unwrap_or(0)..]);
        }
        Err(TestError::Abort(reason)) => panic!("{reason}"),
    }
    // Models that are singular nearly everywhere are rare; if not, the generator is of no use.
    println!("{} of {cases} models checked", checked.get());
    assert!(checked.get() >= cases / 2, "only {} of {cases} models had states to check", checked.get());
}

#[test]
fn derivatives_are_those_of_differences() {
    for_models(Sort::Any, |case, noise| {
        let mut bench = Bench::new(case)?;
        let states = case.states(&bench.topology, noise, CLEAR, Attitudes::Any);
        let Some((start, s)) = states else { return Ok(false) };
        differences::check(&mut bench, (&start, &s), noise)?;
        Ok(true)
    });
}

#[test]
fn kernels_compute_what_expressions_mean() {
    for_models(Sort::Any, |case, noise| {
        let bench = Bench::new(case)?;
        let states = case.states(&bench.topology, noise, CLEAR, Attitudes::Any);
        let Some((start, s)) = states else { return Ok(false) };
        evaluation::check(&bench, (&start, &s), noise)?;
        places::check(&bench, (&start, &s))?;
        Ok(true)
    });
}

#[test]
fn nothing_is_undefined_at_special_attitudes() {
    for_models(Sort::Any, |case, noise| {
        let mut bench = Bench::new(case)?;
        let states = case.states(&bench.topology, noise, DEFINED, Attitudes::Special);
        let Some((start, s)) = states else { return Ok(false) };
        special::check(&mut bench, (&start, &s), noise)?;
        Ok(true)
    });
}

#[test]
fn forces_turn_with_the_frame() {
    for_models(Sort::Free, |case, noise| {
        let bench = Bench::new(case)?;
        let states = case.states(&bench.topology, noise, CLEAR, Attitudes::Any);
        let Some((start, s)) = states else { return Ok(false) };
        let [a, b, c, d, e, f] = std::array::from_fn(|_| noise.next());
        let motion = frames::Motion { turn: so3::exp(&(Vector3::new(a, b, c) * 2.0)), shift: Vector3::new(d, e, f) };
        frames::check(&bench, (&start, &s), &motion)?;
        Ok(true)
    });
}

#[test]
fn printed_texts_mean_the_same() {
    for_models(Sort::Any, |case, _| {
        round_trip::check(&case.text)?;
        Ok(true)
    });
}
