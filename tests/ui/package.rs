//! What is published: the library of models is part of the compiler, and the macro takes it from there.

use mbdsl::catalogue::MODELS;
use mbdsl::library;

use crate::crates::{cargo, root};

/// Files that `cargo package` packs.
fn packed(package: &str) -> Vec<String> {
    let list = cargo(root(), &["package", "--list", "--allow-dirty", "--package", package]).good();
    list.stdout.lines().map(|line| line.replace('\\', "/")).collect()
}

#[test]
fn the_compiler_ships_its_models() {
    let files = packed("mbdsl");
    let standard = library::FILES.map(|(name, _)| name.trim_matches(['<', '>']).to_owned());
    let models = MODELS.map(|(name, _)| format!("{name}.mbd"));
    for file in standard.iter().chain(&models) {
        assert!(files.contains(&format!("models/{file}")), "{file} is missing: {files:?}");
    }
    // A link to a file of another package.
    assert!(files.contains(&"src/ir/special.rs".to_owned()), "{files:?}");
}

#[test]
fn the_macro_has_no_models_of_its_own() {
    let files = packed("mbdsl-macros");
    assert!(files.contains(&"src/lib.rs".to_owned()), "{files:?}");
    assert!(!files.iter().any(|file| file.ends_with(".mbd")), "{files:?}");
}
