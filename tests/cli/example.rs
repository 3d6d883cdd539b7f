//! The example of the README that uses the library: it compiles, it runs, and it is the one that is printed there.

use mbdsl::exec::command::{self, Targets};
use mbdsl::exec::failure::Failure;
use mbdsl::exec::session::{self, Choices};
use mbdsl::source::Sources;

fn energy_error(text: &str) -> Result<f64, Failure> {
    let mut sources = Sources::default();
    let file = sources.add("pendulum.mbd", text);
    let choices = Choices { set: vec!["m=2kg".into()], until: Some("1s".into()), ..Choices::default() };
    let loaded = session::load(&mut sources, file, &choices)?; // text to kernels and numbers
    let setup = session::setup(&loaded, &choices)?; // stepper and steps
    let mut session = session::assemble(&loaded)?; // consistent initial values
    let finished = command::run(&loaded, &mut session, &setup, Targets::default(), &mut |_, _| {})?;
    Ok(finished.summary.max_energy_error)
}

#[test]
fn the_example_of_the_readme_runs() {
    let path = crate::library("simple_pendulum.mbd");
    let model = std::fs::read_to_string(path).expect("the model is there");
    let error = energy_error(&model).expect("the model runs");
    // Implicit Euler loses h m a^2 / 2 a second; here a is at most 2 g, for one second.
    assert!(error > 0.0 && error < 0.5 * 0.5e-3 * 2.0 * (2.0_f64 * 9.81).powi(2), "{error}");
}

#[test]
fn the_readme_prints_this_example() {
    let readme = std::fs::read_to_string(crate::root().join("README.md")).expect("the README is there");
    let blocks = readme.split("```rust\n").skip(1).filter_map(|rest| rest.split("```\n").next());
    let example = blocks.into_iter().find(|block| block.contains("fn energy_error")).expect("the example in Rust");
    assert!(include_str!("example.rs").contains(example), "{example}");
}
