//! Scripts can at least be read by what runs them, where that is installed.

use std::io::Write as _;
use std::process::{Command, Stdio};

use crate::outcome::root;
use crate::{finds, none, read, texts};

/// Reads Python from standard input without running it or leaving files.
const READ_PYTHON: &str = "import ast, sys; ast.parse(sys.stdin.read())";

/// What an interpreter says against a text; nothing where there is no such interpreter.
fn complaints(name: &str, text: &str) -> Vec<String> {
    let (program, arguments): (_, &[&str]) = match text.lines().next() {
        Some(line) if line.ends_with("bash") => ("bash", &["-n"]),
        _ => ("python3", &["-c", READ_PYTHON]),
    };
    let child = Command::new(program).args(arguments).stdin(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let Ok(mut child) = child else { return Vec::new() };
    let mut input = child.stdin.take().expect("it is piped");
    // An interpreter that has seen enough closes its input; what it says then counts.
    let _ = input.write_all(text.as_bytes());
    drop(input);
    let done = child.wait_with_output().expect("it has been started");
    let said = String::from_utf8_lossy(&done.stderr);
    if done.status.success() { Vec::new() } else { vec![format!("{name}: {said}")] }
}

#[test]
fn scripts_can_be_read() {
    let mut all = texts("py");
    for name in [".ci/run", "tests/peers/run", "tests/peers/setup"] {
        all.push((name.to_owned(), read(&root().join(name))));
    }
    none(&all.iter().flat_map(|(name, text)| complaints(name, text)).collect::<Vec<_>>());
}

#[test]
fn a_script_that_cannot_be_read_is_found() {
    let has = |program: &str| Command::new(program).arg("--version").output().is_ok();
    if has("bash") {
        finds(&complaints("a", "#!/usr/bin/env bash\nif true; then\n"), &["a: "]);
    }
    if has("python3") {
        finds(&complaints("a.py", "def f(:\n"), &["SyntaxError"]);
    }
}
