//! A text and the print of its tree compile to the same program.

use std::fs;
use std::path::Path;

use mbdsl::source::Sources;
use mbdsl::syntax;

use crate::case::{Checked, compile};

/// Checks a text.
pub fn check(text: &str) -> Checked {
    let mut sources = Sources::default();
    let file = sources.add("random.mbd", text);
    let document = syntax::parse(&sources, file).map_err(|_| "the text does not parse".to_owned())?;
    let printed = syntax::print::print(&document);
    let (first, second) = (compile(text)?, compile(&printed).map_err(|e| format!("{e}\n{printed}"))?);
    if first.program.text() != second.program.text() {
        return Err(format!("the print means something else:\n{printed}"));
    }
    if first.program != second.program {
        return Err(format!("the print has other tables:\n{printed}"));
    }
    Ok(())
}

#[test]
fn models_of_the_library() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../models");
    let mut names: Vec<_> = fs::read_dir(&folder)
        .expect("the folder of models")
        .map(|entry| entry.expect("a readable folder").path())
        .filter(|path| path.extension().is_some_and(|e| e == "mbd"))
        .collect();
    names.sort();
    assert!(!names.is_empty());
    for path in names {
        let text = fs::read_to_string(&path).expect("a readable model");
        check(&text).unwrap_or_else(|problem| panic!("{}: {problem}", path.display()));
    }
}
