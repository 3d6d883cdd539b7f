//! The form of files: headers, lengths, words that must not stay, plain characters, the table of models, links.

use std::path::Path;

use crate::outcome::root;
use crate::{finds, none, texts};

/// Lines of a file without its tests; longer ones do more than one thing.
const LINES: usize = 800;

/// What must not stay in a source, put together here so that this file does not contain it.
const FORBIDDEN: [&str; 5] = [
    concat!("to", "do!"),
    concat!("un", "implemented!"),
    concat!("#[ig", "nore"),
    concat!("db", "g!("),
    concat!("#[al", "low("),
];

fn headless(name: &str, text: &str) -> Vec<String> {
    let complaint = format!("{name}: the first line must be a `//!` that says what the file does");
    if text.starts_with("//! ") { Vec::new() } else { vec![complaint] }
}

fn too_long(name: &str, text: &str) -> Vec<String> {
    let own = text.split("#[cfg(test)]\nmod ").next().unwrap_or_default().lines().count();
    let complaint = format!("{name}: {own} lines, at most {LINES}");
    if own > LINES { vec![complaint] } else { Vec::new() }
}

fn leftovers(name: &str, text: &str) -> Vec<String> {
    let lines = text.lines().enumerate();
    let found = lines.flat_map(|(k, line)| FORBIDDEN.iter().filter(|w| line.contains(**w)).map(move |w| (k + 1, w)));
    found.map(|(line, word)| format!("{name}:{line}: `{word}`")).collect()
}

/// Unsafe code, or leave for it, outside of the one file that has a reason for it.
fn unsafe_code(name: &str, text: &str) -> Vec<String> {
    if name == "mbdsl/src/backend/jit/code.rs" {
        return Vec::new();
    }
    let is_unsafe = |line: &str| {
        let line = line.trim_start();
        let is_comment = line.starts_with("//");
        let leave =
            ["expect(unsa", "allow(unsa", "warn(unsa"].iter().any(|word| line.contains(&format!("{word}fe_code")));
        let word = concat!("unsa", "fe");
        let begins = ["{", "fn", "impl", "extern", "trait"].iter().any(|next| line.contains(&format!("{word} {next}")));
        !is_comment && (leave || begins)
    };
    let found = text.lines().enumerate().filter(|(_, line)| is_unsafe(line));
    found.map(|(k, _)| format!("{name}:{}: unsafe code", k + 1)).collect()
}

/// Non-ASCII characters; only messages about them may show them.
fn foreign(name: &str, text: &str) -> Vec<String> {
    let at = text.lines().position(|line| !line.is_ascii());
    at.filter(|_| !name.starts_with("tests/fixtures/err/"))
        .map(|line| format!("{name}:{}: a character that is not ASCII", line + 1))
        .into_iter()
        .collect()
}

/// A model of the library starts with a comment and is in the table.
fn unlisted(name: &str, text: &str, table: &str) -> Vec<String> {
    let file = name.trim_start_matches("models/");
    let mut complaints = Vec::new();
    if !text.starts_with("// ") {
        complaints.push(format!("{name}: the header comment is missing"));
    }
    if !table.contains(file) {
        complaints.push(format!("{name}: not in models/README.md"));
    }
    complaints
}

/// Targets of links outside of code: `[text](target)`.
fn links(text: &str) -> Vec<&str> {
    let (mut targets, mut is_code) = (Vec::new(), false);
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            is_code = !is_code;
        }
        if is_code {
            continue;
        }
        // Every second piece between backticks is code.
        for piece in line.split('`').step_by(2) {
            targets
                .extend(piece.match_indices("](").filter_map(|(at, _)| piece[at + 2..].split_once(')').map(|x| x.0)));
        }
    }
    targets
}

fn dangling(name: &str, text: &str, exists: impl Fn(&Path) -> bool) -> Vec<String> {
    let folder = Path::new(name).parent().unwrap_or(Path::new(""));
    let is_relative = |target: &&str| !target.contains("://") && !target.starts_with(['#', '<']);
    let targets = links(text).into_iter().filter(is_relative).map(|target| target.split('#').next().unwrap_or(target));
    targets
        .filter(|target| !exists(&folder.join(target)))
        .map(|target| format!("{name}: the link to `{target}` leads nowhere"))
        .collect()
}

fn every(extension: &str, check: impl Fn(&str, &str) -> Vec<String>) {
    let all = texts(extension);
    assert!(!all.is_empty());
    none(&all.iter().flat_map(|(name, text)| check(name, text)).collect::<Vec<_>>());
}

#[test]
fn every_source_says_what_it_does() {
    every("rs", headless);
}

#[test]
fn sources_are_short() {
    every("rs", |name, text| if name.contains("/tests/") { Vec::new() } else { too_long(name, text) });
}

#[test]
fn nothing_unfinished_stays() {
    every("rs", leftovers);
}

#[test]
fn unsafe_code_has_one_place() {
    every("rs", unsafe_code);
}

#[test]
fn models_are_plain_ascii() {
    every("mbd", foreign);
}

#[test]
fn models_are_in_the_table() {
    let table = std::fs::read_to_string(root().join("models/README.md")).unwrap_or_default();
    let is_model = |name: &str| name.starts_with("models/") && name.matches('/').count() == 1;
    every("mbd", |name, text| if is_model(name) { unlisted(name, text, &table) } else { Vec::new() });
}

#[test]
fn links_lead_somewhere() {
    every("md", |name, text| dangling(name, text, |path| root().join(path).exists()));
}

#[test]
fn bad_texts_are_found() {
    finds(&headless("a.rs", "use x;\n//! late\n"), &["first line"]);
    finds(&headless("a.rs", "//! Good.\n"), &[]);
    finds(&too_long("a.rs", &"x\n".repeat(LINES + 1)), &["801 lines"]);
    finds(&too_long("a.rs", &format!("x\n#[cfg(test)]\nmod tests {{\n{}", "x\n".repeat(LINES))), &[]);
    for word in FORBIDDEN {
        finds(&leftovers("a.rs", &format!("fn f() {{\n    {word}\n}}")), &["a.rs:2"]);
    }
    finds(&leftovers("a.rs", "fn f() { expect(1) }"), &[]);
    let code =
        ["unsaFE { f() }", "#[expect(unsaFE_code, reason = \"\")]", "#![allow(unsaFE_code)]", "pub unsaFE fn f() {}"];
    for code in code.map(|code| code.replace("FE", "fe")) {
        finds(&unsafe_code("a.rs", &format!("\n{code}")), &["a.rs:2: unsafe code"]);
        finds(&unsafe_code("mbdsl/src/backend/jit/code.rs", &code), &[]);
        finds(&unsafe_code("a.rs", &format!("// {code}")), &[]);
    }
    finds(&unsafe_code("a.rs", "#![forbid(unsafe_code)]"), &[]);
    finds(&foreign("a.mbd", "model M {\n// \u{e4}\n}"), &["a.mbd:2"]);
    finds(&foreign("tests/fixtures/err/a.mbd", "\u{e4}"), &[]);
    finds(&unlisted("models/a.mbd", "model A {\n}", "| `b.mbd` |"), &["header", "README"]);
    finds(&unlisted("models/a.mbd", "// From a book.\n", "| `a.mbd` |"), &[]);
    let text = "[a](b.md) `[x](y)` [c](https://d.e) [f](#g)\n```text\n[h](i)\n```\n[j](../k.md#l)";
    finds(&dangling("docs/a.md", text, |_| false), &["b.md", "../k.md"]);
    finds(&dangling("docs/a.md", text, |path| path.starts_with("docs")), &[]);
}
