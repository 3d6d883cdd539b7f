//! Quantities on the command line: times, parameters, vectors, constants.

use serde_json::Value;

use crate::{Desk, FALLING, library};

/// A ball that spins as a parameter says.
const SPINNING: &str = "\
model Spinning {
    param Omega = [1, 2, 3] [rad/s];
    body ball { mass = 1 kg; inertia = sphere(radius = 1 m); omega = fixed(Omega); }
    simulate { stepper = dae1l_lse; step = 1 ms; until = 0 s; }
}
";

/// The summary of a run as JSON, without the time it took.
fn summary(desk: &Desk, args: &[&str]) -> Value {
    let mut all = vec!["run", "model.mbd", "--summary", "json"];
    all.extend(args);
    let mut json = desk.mbd(&all).expect(0).json();
    json["wall_s"] = Value::Null;
    json
}

fn number(json: &Value, key: &str) -> f64 {
    json[key].as_f64().unwrap_or_else(|| panic!("{key} in {json}"))
}

#[test]
fn spaces_between_number_and_unit_do_not_matter() {
    let desk = Desk::with(FALLING);
    let tight = summary(&desk, &["--step", "10us"]);
    assert_eq!(tight["steps"], 1000);
    assert_eq!(tight, summary(&desk, &["--step", "10 us"]));
    assert_eq!(summary(&desk, &["--until", "5ms"]), summary(&desk, &["--until", "0.005"]));
    assert_eq!(summary(&desk, &["--set", "m=5kg"]), summary(&desk, &["--set", "m=5 kg"]));
}

#[test]
fn parameters_take_units_and_bare_numbers_are_si() {
    let desk = Desk::with(FALLING);
    // m v^2 / 2 with v = 1 m/s.
    for (set, energy) in [("m=5kg", 2.5), ("m=5", 2.5), ("m=500 gram", 0.25), ("m = 1e1", 5.0), ("m=2*3 kg", 3.0)] {
        let found = number(&summary(&desk, &["--set", set]), "energy_start");
        assert!((found - energy).abs() <= 1e-15 * energy, "{set}: {found}");
    }
}

#[test]
fn vectors_can_be_set() {
    let desk = Desk::with(SPINNING);
    for value in ["Omega=[0, 10, 0] rad/s", "Omega=[0,10,0] [rad/s]", "Omega=[0, 10, 0]"] {
        let ran = desk.mbd(&["run", "model.mbd", "--summary", "json", "--set", value]).expect(0);
        assert_eq!(ran.json()["final"]["bodies"][0]["omega"], serde_json::json!([0.0, 10.0, 0.0]));
    }
    desk.mbd(&["run", "model.mbd", "--set", "Omega=5"]).expect(1).says(&["MBD0151", "`Omega` has 3 values, not 1"]);
}

/// A particle that is pushed by a constant force.
const PUSHED: &str = "\
model Pushed {
    param m = 2 kg;
    input push = 3 N;
    input along = [1, 0, 0];
    particle ball { mass = m; }
    force f on ball: push * along;
    check pushed: push < 10 N;
    simulate { stepper = dae1l_lse; step = 1 ms; until = 1 s; }
}
";

#[test]
fn inputs_are_constants_of_a_run() {
    let desk = Desk::with(PUSHED);
    for (set, vel) in
        [("m=2", [1.5, 0.0, 0.0]), ("push=0.004kN", [2.0, 0.0, 0.0]), ("along=[0, 2, 0]", [0.0, 3.0, 0.0])]
    {
        let found = summary(&desk, &["--set", set]);
        let last = found["final"]["bodies"][0]["vel"].as_array().expect("a vector").clone();
        for (v, x) in vel.into_iter().zip(last) {
            // The sum of a thousand increments.
            assert!((x.as_f64().expect("a number") - v).abs() < 1e-12, "{set}: {found}");
        }
    }
    let set = |value: &str| desk.mbd(&["run", "model.mbd", "--set", value]);
    set("push=20").expect(1).says(&["pushed"]);
    set("push=5m").expect(2).says(&["is length [m], expected force"]);
    set("along=1").expect(1).says(&["MBD0151", "input `along` has 3 values, not 1"]);
    set("pussh=1").expect(1).says(&["MBD0085", "did you mean `push`?"]);
    let explained = desk.mbd(&["explain", "model.mbd", "--set", "push=4"]).expect(0).out;
    let line = |start: &str| explained.lines().find(|line| line.trim_start().starts_with(start)).unwrap_or_default();
    assert_eq!(line("push ").split_whitespace().collect::<Vec<_>>(), ["push", "=", "3", "N", "4", "kg*m/s^2"]);
    assert!(explained.contains("\ninputs\n"), "{explained}");
}

#[test]
fn constants_set_the_sizes_of_arrays() {
    let desk = Desk::new();
    let chain = library("chain.mbd");
    let ran = desk.mbd(&["run", &chain, "--until", "2ms", "--summary", "json", "--set", "N=5"]).expect(0);
    let json = ran.json();
    let names: Vec<&str> =
        json["final"]["bodies"].as_array().into_iter().flatten().filter_map(|b| b["name"].as_str()).collect();
    assert_eq!(names, ["link[0]", "link[1]", "link[2]", "link[3]", "link[4]"]);
    desk.mbd(&["run", &chain, "--set", "N=1e12"]).expect(1).says(&["MBD0072", "1e12 instances"]);
    desk.mbd(&["run", &chain, "--set", "N=2.5"]).expect(1).says(&["MBD0060", "whole numbers"]);
    for bad in ["N=-1", "N=0"] {
        desk.mbd(&["run", &chain, "--set", bad]).expect(1).says(&["MBD0070"]);
    }
    desk.mbd(&["run", &chain, "--set", "N=[1, 2, 3]"]).expect(2).says(&["a single number"]);
    let code = desk.mbd(&["expand", &chain, "--set", "N=5"]).expect(0).out;
    assert!(code.contains("pub const BODIES: usize = 5;"), "{code}");
    desk.mbd(&["expand", &chain, "--set", "m=2"]).expect(2).says(&["`--set m=...`", "only `const`s"]);
}

#[test]
fn values_that_cannot_be_are_refused() {
    let desk = Desk::with(FALLING);
    let set = |value: &str| desk.mbd(&["run", "model.mbd", "--set", value]);
    // What is no quantity of the right kind is a matter of usage.
    set("m=5m").expect(2).says(&["is length [m], expected mass [kg]"]);
    set("m=0/0").expect(2).says(&["not a finite number"]);
    set("m=nan").expect(2).says(&["`nan` is not defined"]);
    set("m=").expect(2);
    set("m=1;2").expect(2);
    set("m=5 parsec").expect(2).says(&["parsec"]);
    // What the model does not know or bear is an error of the model with these values.
    set("mm=5kg").expect(1).says(&["MBD0085", "`mm`", "did you mean `m`?"]);
    set("m=-5kg").expect(1).says(&["MBD0153", "-5 kg"]);
    set("m=0").expect(1).says(&["MBD0152", "no mass"]);
}

#[test]
fn an_end_that_is_no_multiple_shortens_the_last_step() {
    let desk = Desk::with(FALLING);
    let ran = desk.mbd(&["run", "model.mbd", "--until", "9.5ms", "--summary", "json"]).expect(0);
    let ran = ran.says(&["last step is shortened to 5.000e-4 s"]);
    assert_eq!(ran.json()["steps"], 10);
    assert!((number(&ran.json()["final"], "time") - 9.5e-3).abs() < 1e-15);
    let none = desk.mbd(&["run", "model.mbd", "--until", "0", "--summary", "json"]).expect(0);
    assert_eq!((&none.json()["steps"], &none.json()["final"]["time"]), (&0.into(), &0.0.into()));
}
