//! Imports between the modules of `mbdsl` go down only, along the edges of a table.

use crate::{finds, none, texts};

/// Top-level modules from the bottom up, each with those that it may use.
const ALLOWED: [(&str, &[&str]); 18] = [
    ("source", &[]),
    ("diag", &["source"]),
    ("units", &[]),
    ("symbolic", &[]),
    ("ir", &[]),
    ("syntax", &["source", "diag"]),
    ("model", &["symbolic", "units", "source"]),
    ("sema", &["syntax", "model", "symbolic", "units", "source", "diag"]),
    ("formulate", &["model", "symbolic", "source", "diag"]),
    ("lower", &["formulate", "symbolic", "ir", "model", "source", "diag"]),
    ("backend", &["ir"]),
    ("library", &["syntax", "source", "diag"]),
    ("driver", &["library", "lower", "formulate", "sema", "syntax", "model", "symbolic", "ir", "source", "diag"]),
    ("catalogue", &[]),
    ("render", &["source", "diag"]),
    (
        "exec",
        &[
            "render",
            "driver",
            "library",
            "backend",
            "lower",
            "formulate",
            "sema",
            "syntax",
            "model",
            "symbolic",
            "ir",
            "units",
            "source",
            "diag",
        ],
    ),
    ("report", &["exec", "driver", "lower", "formulate", "model", "symbolic", "ir", "units", "source", "diag"]),
    ("expand", &["report", "driver", "backend", "sema", "source", "diag"]),
];

/// The top-level module of a file of `mbdsl/src`; `None` for the root and the command, which may use all.
fn module(name: &str) -> Option<&str> {
    let rest = name.strip_prefix("mbdsl/src/")?;
    let module = rest.split_once('/').map_or_else(|| rest.trim_end_matches(".rs"), |(folder, _)| folder);
    (!matches!(module, "lib" | "bin")).then_some(module)
}

/// A source without its comments and without the test module at its end.
fn code(text: &str) -> String {
    let text = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    text.lines().map(|line| line.split("//").next().unwrap_or_default()).collect::<Vec<_>>().join("\n")
}

/// The top-level modules that a source names: `crate::x` and the names in `crate::{x::y, z}`.
fn used(text: &str) -> Vec<String> {
    let code = code(text);
    let mut all = Vec::new();
    for (at, _) in code.match_indices("crate::") {
        let rest = &code[at + "crate::".len()..];
        let word = |text: &str| -> String {
            text.trim_start().chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '_').collect()
        };
        let Some(group) = rest.strip_prefix('{') else {
            all.push(word(rest));
            continue;
        };
        let (mut depth, mut start) = (0, 0);
        for (k, c) in group.char_indices() {
            match c {
                '{' => depth += 1,
                '}' if depth > 0 => depth -= 1,
                ',' | '}' if depth == 0 => {
                    all.push(word(&group[start..k]));
                    start = k + 1;
                }
                _ => {}
            }
            if c == '}' && depth == 0 && start == k + 1 {
                break;
            }
        }
    }
    all.retain(|name| !name.is_empty());
    all.sort();
    all.dedup();
    all
}

fn complaints(name: &str, text: &str) -> Vec<String> {
    let Some(own) = module(name) else { return Vec::new() };
    let Some((_, allowed)) = ALLOWED.iter().find(|(module, _)| *module == own) else {
        return vec![format!("{name}: the module `{own}` is missing in the table of layers")];
    };
    used(text)
        .iter()
        .filter(|other| *other != own && !allowed.contains(&other.as_str()))
        .map(|other| format!("{name}: `{own}` must not use `{other}`"))
        .collect()
}

#[test]
fn imports_go_down() {
    let all = texts("rs");
    let is_test = |name: &str| name.contains("/tests/") || name.ends_with("/tests.rs");
    let of_compiler = all.iter().filter(|(name, _)| name.starts_with("mbdsl/src/") && !is_test(name));
    none(&of_compiler.flat_map(|(name, text)| complaints(name, text)).collect::<Vec<_>>());
}

#[test]
fn edges_go_down() {
    for (k, (name, allowed)) in ALLOWED.iter().enumerate() {
        let below: Vec<&str> = ALLOWED[..k].iter().map(|(name, _)| *name).collect();
        assert!(allowed.iter().all(|other| below.contains(other)), "{name}");
    }
}

#[test]
fn an_import_that_goes_up_is_found() {
    let bad = "use crate::sema::check;\nfn f() { crate::driver::g(); }\n// crate::exec\nuse crate::symbolic::Ty;\n";
    finds(&complaints("mbdsl/src/model.rs", bad), &["driver", "sema"]);
    finds(&complaints("mbdsl/src/backend/interp.rs", "use crate::{ir::{A, b}, symbolic};"), &["symbolic"]);
    finds(&complaints("mbdsl/src/novel/a.rs", ""), &["missing in the table"]);
    finds(&complaints("mbdsl/src/bin/mbd.rs", "use crate::exec;"), &[]);
    finds(&complaints("mbdsl/src/ir/a.rs", "#[cfg(test)]\nmod tests {\nuse crate::sema;\n}"), &[]);
    assert_eq!(used("use crate::{\n    a::{b, c},\n    d,\n};\nuse crate::e;"), ["a", "d", "e"]);
}
