//! Models that once went wrong, as small as they get.

use mbdsl::driver;
use mbdsl::sema::Options;
use mbdsl::source::Sources;

use crate::bench::Bench;
use crate::case::{Attitudes, Case};
use crate::tape::Noise;
use crate::{CLEAR, differences, evaluation, round_trip};

/// All checks of a model with some statements about a body `b`.
fn check(statements: &str) {
    let text = format!("model Small {{ body b {{ mass = 1 kg; inertia = diag([1, 1, 1] [kg*m^2]); }} {statements} }}");
    let mut noise = Noise(1);
    let case = Case::new(&text, &mut noise).unwrap_or_else(|problem| panic!("{problem}"));
    let mut bench = Bench::new(&case).expect("small kernels");
    let states = case.states(&bench.topology, &mut noise, CLEAR, Attitudes::Any);
    let (start, s) = states.expect("the model is smooth nearly everywhere");
    differences::check(&mut bench, (&start, &s), &mut noise)
        .and_then(|()| evaluation::check(&bench, (&start, &s), &mut noise))
        .and_then(|()| round_trip::check(&text))
        .unwrap_or_else(|problem| panic!("{problem}"));
}

#[test]
fn forces_that_touch_no_body() {
    check("potential datum: 1 J; force wind on ground.origin: [1, 0, 0] N;");
}

#[test]
fn constraint_of_a_point_with_itself() {
    let text = "model Small { particle p { mass = 1 kg; } joint j: spherical(p, p); }";
    let mut sources = Sources::default();
    let file = sources.add("small.mbd", text);
    let diagnostics = driver::check(&mut sources, file, &Options::default()).expect_err("nothing is constrained");
    let codes: Vec<String> = diagnostics.iter().map(|d| d.code.to_string()).collect();
    assert_eq!(codes, ["MBD0074"], "constant, not of unlike shapes");
}
