//! `--step auto`: what it prints, the rows that it writes, and what is refused.

use crate::{Desk, FALLING, library};

fn auto() -> String {
    FALLING.replace("stepper = dae1l_lse; step = 1 ms;", "stepper = dop853; step = auto; record every 3 ms;")
}

#[test]
fn rows_are_at_the_times_that_are_asked_for() {
    let desk = Desk::with(&auto());
    let json = desk.mbd(&["run", "model.mbd", "--out", "rows.csv", "--summary", "json"]).expect(0).json();
    assert!(json["step"].is_null() && json["steps"].is_u64(), "{json}");
    let adaptive = json["adaptive"].as_object().expect("steps were chosen");
    let keys: Vec<&str> = adaptive.keys().map(String::as_str).collect();
    assert_eq!(keys, ["tolerance", "rejected_steps", "shortest_step", "longest_step", "evaluations"]);
    assert_eq!(adaptive["tolerance"].as_f64(), Some(1e-8));
    let text = desk.read("rows.csv");
    let rows: Vec<Vec<f64>> =
        text.lines().skip(1).map(|line| line.split(',').map(|x| x.parse().expect("a number")).collect()).collect();
    // Times are whole multiples, rounded once.
    assert_eq!(rows.iter().map(|row| row[0]).collect::<Vec<_>>(), [0.0, 0.003, 0.006, 3.0 * 0.003, 0.01]);
    // A parabola: the methods make no error but round-off, some units of each of the twelve weights.
    assert!(rows.iter().all(|row| (row[3] + 5.0 * row[0] * row[0]).abs() < 1e-17), "{rows:?}");
}

#[test]
fn the_command_line_has_the_last_word() {
    let desk = Desk::with(&auto());
    let run = |arguments: &[&str]| {
        let fixed = ["run", "model.mbd", "--summary", "json"];
        desk.mbd(&[&fixed, arguments].concat()).expect(0).json()
    };
    assert_eq!(run(&["--step", "1ms"])["steps"], 10);
    assert_eq!(run(&["--tolerance", "1e-5"])["adaptive"]["tolerance"].as_f64(), Some(1e-5));
    let model = library("heavy_top.mbd");
    let ran = Desk::new().mbd(&["run", &model, "--stepper", "dopri5", "--step", "auto", "--until", "0.1s"]).expect(0);
    for part in ["steps of ", " to ", "rejected ", "evaluations ", "per step", "3 good"] {
        assert!(ran.out.contains(part), "{part}: {}", ran.out);
    }
}

#[test]
fn what_is_refused_says_what_to_write() {
    let desk = Desk::with(FALLING);
    let refused = |arguments: &[&str], text: &str| {
        desk.mbd(&[&["run", "model.mbd"], arguments].concat()).expect(2).says(&[text]);
    };
    refused(&["--step", "auto"], "`dae1l_lse` does not estimate its error");
    refused(
        &["--step", "auto", "--stepper", "splitting_dlm"],
        "take `dop853`, `dopri5` or one of `radau3`, `radau5`, `radau7`, or give a step",
    );
    refused(&["--step", "auto", "--stepper", "gauss4"], "`gauss4` keeps energy and momenta by steps of one size");
    refused(&["--tolerance", "1e-6"], "`--step auto`");
    refused(&["--step", "auto", "--stepper", "dop853", "--tolerance", "1"], "must be from 1e-13 to 0.1");
    let desk = Desk::with(&auto().replace("dop853", "variational_rrp"));
    desk.mbd(&["check", "model.mbd"]).expect(1).says(&["MBD0176", "takes steps of one size", "asks for others"]);
    let desk = Desk::with(&auto());
    desk.mbd(&["compare", "model.mbd", "--work-precision"]).expect(2).says(&["give the longest by `--step`"]);
    let ran = desk.mbd(&["compare", "model.mbd"]).expect(0);
    let has = |name| ran.out.contains(name);
    assert!(has("dopri5") && has("dop853") && has("radau5") && !has("dae") && !has("gauss"), "{}", ran.out);
}
