//! The text of generated code: a small program whole, of the library what users and reviewers look at first.

use mbdsl::catalogue::MODELS;
use mbdsl::source::Sources;
use mbdsl::{expand, expand_to_string, sema};

const PARTICLE: &str = "
/// A bead on a spring.
model Bead {
    /// Stiffness of the spring.
    param k = 5 [N/m];
    particle bead { mass = 2 kg; pos = [1, 0, 0] m; }
    potential spring: 0.5 * k * norm2(bead.pos);
    output stretch = norm(bead.pos);
}
";

#[test]
fn a_small_program() {
    insta::assert_snapshot!(expand_to_string(PARTICLE).expect("a good model"));
}

#[test]
fn the_library() {
    let mut out = String::new();
    for (_, text) in MODELS {
        let code = expand_to_string(text).expect("a good model");
        for line in code.lines() {
            let is_header = line.starts_with("///");
            let is_signature = line.starts_with("    ") && line.trim_start().starts_with("pub fn ");
            if is_header || is_signature {
                out.push_str(line);
                out.push('\n');
            }
        }
        out.push('\n');
    }
    insta::assert_snapshot!(out);
}

#[test]
fn text_is_reproducible() {
    for (_, text) in MODELS {
        assert_eq!(expand_to_string(text), expand_to_string(text));
    }
}

#[test]
fn the_number_of_links_occurs_in_tables_only() {
    let (_, chain) = MODELS.iter().find(|(name, _)| *name == "chain").expect("a chain");
    // Without numbers, and without what depends on where lines are broken.
    let shape = |n: &str| {
        let code = expand_to_string(&chain.replace("N    = 40;", &format!("N = {n};"))).expect("a good model");
        code.chars().filter(|c| !c.is_whitespace() && !c.is_ascii_digit() && *c != ',').collect::<String>()
    };
    assert_eq!(shape("10"), shape("1000"));
}

/// The code for another size is the code of the text with that size in it.
#[test]
fn a_size_may_be_set_from_outside() {
    let (_, chain) = MODELS.iter().find(|(name, _)| *name == "chain").expect("a chain");
    let mut sources = Sources::default();
    let file = sources.add("model.mbd", *chain);
    let model = sema::Options { overrides: vec![("N".to_owned(), 7.0)], ..sema::Options::default() };
    let code = expand::expand(&mut sources, file, &model, &expand::Options::default()).expect("a good model");
    assert_eq!(Ok(expand::pretty(code)), expand_to_string(&chain.replace("N    = 40;", "N    = 7;")));
}

#[test]
fn errors_have_places() {
    let error = expand_to_string("model A {\n    param m = 1 kg\n    param l = 2 m;\n}").expect_err("a missing `;`");
    assert!(error.starts_with("model.mbd:2:19: error[MBD"), "{error}");
}
