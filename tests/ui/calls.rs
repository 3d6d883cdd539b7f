//! Calls that need a crate of their own: renamed dependencies, files by the root of the crate, printing, rebuilding.

use crate::crates::Crate;

const BEAD: &str =
    "model Bead {\n    particle bead { mass = 1 kg; pos = [0, 0, 0.25] m; }\n    output height = bead.pos.z;\n}\n";

const PLAIN: &str = "mbdsl-macros = { path = \"{root}/mbdsl-macros\" }\nmbdsl-runtime = { path = \"{root}/runtime\" }";

/// Prints the output of the model that `mbd!` makes of a file.
const HEIGHT: &str = r#"
mbdsl_macros::mbd!("bead.mbd");

fn main() {
    let model = bead::Bead::new(bead::Params::default()).expect("good parameters");
    println!("{}", model.height(model.guess()));
}
"#;

#[test]
fn both_crates_may_have_other_names() {
    let renamed = Crate::new(
        "renamed",
        "2024",
        "models = { package = \"mbdsl-macros\", path = \"{root}/mbdsl-macros\" }\n\
         rt2 = { package = \"mbdsl-runtime\", path = \"{root}/runtime\" }",
    );
    renamed.write(
        "src/main.rs",
        r#"
        mod deep;

        models::mbd!(#![runtime = rt2] "files/bead.mbd");

        fn main() {
            let model = bead::Bead::new(bead::Params::default()).expect("good parameters");
            println!("{} {}", model.height(model.guess()), deep::steps());
        }
        "#,
    );
    // One file by the root of the crate, and one beside the source.
    renamed.write("files/bead.mbd", BEAD);
    renamed.write("src/deep/bead.mbd", &BEAD.replace("Bead", "Near"));
    renamed.write(
        "src/deep/mod.rs",
        r#"
        use rt2::prelude::*;

        models::mbd!(#![runtime = ::rt2, visibility = priv] "bead.mbd");
        models::mbd!(#![runtime = ::rt2, visibility = priv] "files/bead.mbd");

        pub fn steps() -> u64 {
            assert_eq!(bead::Bead::BODIES, 1);
            let mut model = near::Near::new(near::Params::default()).expect("good parameters");
            let (mut state, _) = model.assemble().expect("consistent");
            let mut stepper = Euler::new(model.topology(), Method::ALL[0]);
            let plan = Plan::new(0.25, 1.0).expect("possible steps");
            let go_on = std::ops::ControlFlow::Continue;
            simulate(&mut model, &mut stepper, &mut state, &plan, |_, _, _, _| go_on(())).0.steps
        }
        "#,
    );
    assert_eq!(renamed.cargo(&["run"]).good().stdout, "0.25 4\n");
}

#[test]
fn code_and_kernels_are_printed() {
    let printing = Crate::new("printing", "2021", PLAIN);
    printing.write("src/bead.mbd", BEAD);
    let printed = |what: &str| {
        let call = format!("mbdsl_macros::mbd!(#![print = \"{what}\"] \"bead.mbd\");\n");
        printing.write("src/lib.rs", &call);
        printing.cargo(&["check"]).good().stderr
    };
    let (rust, ir) = (printed("rust"), printed("ir"));
    assert!(rust.contains("\npub mod bead {\n    use ::mbdsl_runtime::generated as rt;\n"), "{rust}");
    assert!(ir.contains("\noutput height [1]\nkernel value [1]"), "{ir}");
}

#[test]
fn a_change_of_the_file_rebuilds() {
    let changing = Crate::new("changing", "2024", PLAIN);
    changing.write("src/main.rs", HEIGHT);
    let run = |height: &str| {
        changing.write("src/bead.mbd", &BEAD.replace("0.25", height));
        changing.cargo(&["run"]).good()
    };
    assert_eq!(run("0.25").stdout, "0.25\n");
    let second = run("0.5");
    assert_eq!(second.stdout, "0.5\n");
    assert!(second.stderr.contains("Compiling changing"), "{}", second.stderr);
    let third = changing.cargo(&["run"]).good();
    assert_eq!(third.stdout, "0.5\n");
    assert!(!third.stderr.contains("Compiling"), "{}", third.stderr);
}

#[test]
fn a_file_with_errors_rebuilds_when_it_is_mended() {
    let mended = Crate::new("mended", "2024", PLAIN);
    mended.write("src/main.rs", HEIGHT);
    mended.write("src/bead.mbd", &BEAD.replace("1 kg", "1 m"));
    let first = mended.cargo(&["build"]);
    assert!(!first.is_good && first.stderr.contains("bead.mbd:2:28: the mass must be in [kg]"), "{}", first.stderr);
    mended.write("src/bead.mbd", BEAD);
    assert_eq!(mended.cargo(&["run"]).good().stdout, "0.25\n");
}
