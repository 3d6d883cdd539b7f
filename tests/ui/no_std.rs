//! Generated models without the standard library.

use std::path::Path;
use std::process::Command;

use crate::crates::Crate;

/// A crate that says what a panic does, as only a program without the standard library may: if any crate below it links
/// `std`, there are two answers, and rustc refuses.
const BARE: &str = r#"
//! A controller that carries its own models.
#![no_std]
#![forbid(unsafe_code)]
#![deny(warnings)]

use mbdsl_macros::mbd;
use mbdsl_runtime::prelude::*;

mbd!(<chain>);

mbd! {
    /// A bob on a rod, written in place.
    model Pendulum {
        param length = 1 m;
        gravity = [0, 0, -9.81] [m/s^2];
        body bob { mass = 1 kg; inertia = sphere(radius = 0.1 m); point top = [0, 0, length]; pos = [1, 0, 0] m; }
        joint pivot: spherical(ground.origin, bob.top);
        output lift = pivot.reaction;
        check long: length > 0;
        simulate { stepper = dae1l_lse; step = 1 ms; until = 1 s; }
    }
}

/// Height after some steps, m.
pub fn height(steps: u32) -> Option<f64> {
    let mut model = pendulum::Pendulum::new(pendulum::Params::default()).ok()?;
    let (mut state, _) = model.assemble().ok()?;
    let mut stepper = model.stepper().ok()?;
    for n in 1..=steps {
        stepper.step(&mut model, &mut state, 1e-3, f64::from(n) * 1e-3).ok()?;
    }
    Some(model.bob(&state).pos.z)
}

/// Number of bodies of a chain.
pub fn links() -> usize {
    chain::Chain::new(chain::Params::default()).map_or(0, |model| model.topology().bodies.len())
}

#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    loop {}
}
"#;

fn bare(name: &str, edition: &str, features: &str) -> Crate {
    let dependencies = format!(
        "mbdsl-macros = {{ path = \"{{root}}/mbdsl-macros\" }}\n\
         mbdsl-runtime = {{ path = \"{{root}}/runtime\", default-features = false, features = [{features}] }}"
    );
    let bare = Crate::new(name, edition, &dependencies);
    bare.write("src/lib.rs", BARE);
    bare
}

/// A target without an operating system whose `core` and `alloc` are installed.
fn bare_metal() -> Option<&'static str> {
    ["thumbv7em-none-eabihf", "thumbv7em-none-eabi", "riscv32imac-unknown-none-elf", "aarch64-unknown-none"]
        .into_iter()
        .find(|target| {
            let rustc = Command::new("rustc").args(["--print", "target-libdir", "--target", target]).output();
            rustc.is_ok_and(|out| Path::new(String::from_utf8_lossy(&out.stdout).trim()).is_dir())
        })
}

#[test]
fn generated_models_need_no_std() {
    for edition in ["2021", "2024"] {
        let bare = bare(&format!("bare{edition}"), edition, "");
        bare.cargo(&["build"]).good();
        if let Some(target) = bare_metal() {
            bare.cargo(&["build", "--target", target]).good();
        }
        let tree = bare.cargo(&[
            "tree",
            "--edges",
            "normal",
            "--prefix",
            "none",
            "--format",
            "{lib} {f}",
            "--package",
            "mbdsl-runtime",
        ]);
        for package in tree.good().stdout.lines() {
            assert!(!package.split([' ', ',']).skip(1).any(|feature| feature == "std"), "{package}");
        }
    }
}

#[test]
fn the_standard_library_would_be_found() {
    let printed = bare("not_bare", "2024", "\"std\"").cargo(&["build"]);
    assert!(!printed.is_good);
    assert!(printed.stderr.contains("E0152"), "{}", printed.stderr);
}
