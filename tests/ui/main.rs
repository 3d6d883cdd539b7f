//! The macro seen by its users: calls that compile, and mistakes with the messages that they get.

#[test]
fn calls() {
    let cases = trybuild::TestCases::new();
    cases.pass("ui/pass/*.rs");
    cases.compile_fail("ui/fail/*.rs");
}
