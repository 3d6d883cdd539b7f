//! The macro seen by its users: calls that compile, mistakes with the messages that they get, and crates of their own.

mod calls;
mod crates;
mod no_std;
mod package;

#[test]
fn cases() {
    let cases = trybuild::TestCases::new();
    cases.pass("ui/pass/*.rs");
    cases.compile_fail("ui/fail/*.rs");
}
