//! The examples of the documents: every block that is marked `mbd` compiles.

use mbdsl::driver;
use mbdsl::render;
use mbdsl::sema::Options;
use mbdsl::source::Sources;

use crate::root;

/// What parts of a model in the documents stand in.
const AROUND: &str = "\
    param m = 2 kg;
    param k = 100 [N/m];
    param L = 0.5 m;
    body a { mass = 1 kg; inertia = sphere(radius = 0.1 m); point p = [0.1, 0, 0] m; point q = [-0.1, 0, 0] m; }
    body b { mass = 1 kg; inertia = sphere(radius = 0.1 m); point p = [0.1, 0, 0] m; point q = [-0.1, 0, 0] m; pos = [0.2, 0, 0] m; }
    particle bead { mass = 10 gram; pos = [1, 0, 0] m; }
";

/// Line and text of the blocks of a document that are marked `mbd`.
fn blocks(text: &str) -> Vec<(usize, String)> {
    let mut all = Vec::new();
    let mut lines = text.lines().enumerate();
    while let Some((number, line)) = lines.next() {
        let Some(mark) = line.trim_start().strip_prefix("```") else { continue };
        let inside: Vec<&str> = lines.by_ref().map(|(_, line)| line).take_while(|line| line.trim() != "```").collect();
        if mark == "mbd" {
            all.push((number + 1, inside.join("\n")));
        }
    }
    all
}

/// What is wrong with the blocks of a document. Parts of a model are put into a small one.
fn complaints(name: &str, text: &str) -> Vec<String> {
    let mut complaints = Vec::new();
    for (line, block) in blocks(text) {
        let is_whole = block.lines().any(|l| l.starts_with("model "));
        let file = if is_whole { block } else { format!("model Example {{\n{AROUND}{block}\n}}\n") };
        let mut sources = Sources::default();
        let id = sources.add(format!("{name}:{line}"), file);
        if let Err(diagnostics) = driver::compile(&mut sources, id, &Options::default()) {
            complaints.push(render::human(&sources, &diagnostics, false));
        }
    }
    complaints
}

#[track_caller]
fn assert_good(name: &str, at_least: usize) {
    let text = std::fs::read_to_string(root().join(name)).unwrap_or_else(|e| panic!("{name}: {e}"));
    assert!(blocks(&text).len() >= at_least, "{name} has fewer than {at_least} examples");
    let complaints = complaints(name, &text);
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}

#[test]
fn examples_of_the_readme_compile() {
    assert_good("README.md", 1);
}

#[test]
fn examples_of_the_language_reference_compile() {
    assert_good("docs/language.md", 10);
}

#[test]
fn a_bad_example_is_found() {
    assert!(complaints("a.md", "```mbd\nlet x = a.pos.z;\n```\n").is_empty());
    assert!(complaints("a.md", "```mbd\nmodel M { particle p { mass = 1 kg; } }\n```\n").is_empty());
    assert!(complaints("a.md", "```text\nnonsense\n```\n").is_empty());
    assert_eq!(complaints("a.md", "x\n```mbd\nlet x = nobody.pos;\n```\n").len(), 1);
    assert_eq!(blocks("x\n```mbd\ny\n```\n"), [(2, "y".to_owned())]);
}
