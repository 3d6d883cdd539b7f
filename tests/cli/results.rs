//! The summary of a run: keys, types, numbers.

use serde_json::Value;

use crate::{Desk, FALLING, library};

fn keys(json: &Value) -> Vec<&str> {
    json.as_object().map(|map| map.keys().map(String::as_str).collect()).unwrap_or_default()
}

fn numbers(json: &Value) -> usize {
    json.as_array().map_or(0, |list| list.iter().filter(|x| x.is_f64()).count())
}

/// Keys in order, with the type of each value.
const KEYS: [(&str, char); 23] = [
    ("model", 's'),
    ("stepper", 's'),
    ("choice", '-'),
    ("backend", 's'),
    ("step", 'f'),
    ("until", 'f'),
    ("steps", 'n'),
    ("wall_s", 'f'),
    ("newton_iterations", 'n'),
    ("energy_start", 'f'),
    ("max_energy_error", 'f'),
    ("max_energy_error_relative", 'f'),
    ("max_position_residual", 'f'),
    ("max_velocity_residual", 'f'),
    ("max_acceleration_residual", 'f'),
    ("max_orthogonality_error", 'f'),
    ("max_linear_momentum_error", 'f'),
    ("max_angular_momentum_error", 'f'),
    ("max_casimir_error", 'f'),
    ("energy_drift", 'f'),
    ("failure", '-'),
    ("adaptive", '-'),
    ("final", 'o'),
];

#[test]
fn the_summary_has_its_keys_in_order() {
    let ran =
        Desk::new().mbd(&["run", &library("single_pendulum.mbd"), "--until", "1ms", "--summary", "json"]).expect(0);
    let json = ran.json();
    let expected: Vec<&str> = KEYS.iter().map(|(key, _)| *key).collect();
    assert_eq!(keys(&json), expected);
    for (key, kind) in &KEYS {
        let value = &json[key];
        let fits = match kind {
            's' => value.is_string(),
            'n' => value.is_u64(),
            'f' => value.is_f64(),
            '-' => value.is_null(),
            _ => value.is_object(),
        };
        assert!(fits, "{key}: {value}");
    }
    assert_eq!(
        (&json["model"], &json["stepper"], &json["backend"]),
        (&"SinglePendulum".into(), &"dae1l_lse".into(), &"jit".into())
    );
    assert_eq!(json["steps"], 100);
    let end = &json["final"];
    assert_eq!(keys(end), ["time", "bodies", "multipliers"]);
    let top = &end["bodies"][0];
    assert_eq!(keys(top), ["name", "pos", "rot", "vel", "omega"]);
    assert_eq!(
        (numbers(&top["pos"]), numbers(&top["rot"]), numbers(&top["vel"]), numbers(&top["omega"])),
        (3, 9, 3, 3)
    );
    assert_eq!(keys(&end["multipliers"][0]), ["name", "values"]);
    assert_eq!(end["multipliers"][0]["name"], "pivot");
    assert_eq!(numbers(&end["multipliers"][0]["values"]), 3);
    // The energy at the start is published to eight digits.
    let energy = json["energy_start"].as_f64().expect("a number");
    assert!((energy - 5436.5303).abs() < 5e-5, "{energy}");
}

#[test]
fn particles_have_no_attitude_and_zero_energy_has_no_parts() {
    let ran =
        Desk::new().mbd(&["run", &library("simple_pendulum.mbd"), "--until", "1ms", "--summary", "json"]).expect(0);
    let json = ran.json();
    assert_eq!(keys(&json["final"]["bodies"][0]), ["name", "pos", "vel"]);
    assert_eq!(json["max_energy_error_relative"], Value::Null);
    assert_eq!(keys(&json)[11], "max_energy_error_relative");
}

#[test]
fn free_fall_of_the_first_order() {
    let json = Desk::with(FALLING).mbd(&["run", "model.mbd", "--summary", "json"]).expect(0).json();
    let body = &json["final"]["bodies"][0];
    // v_n = -g n h; x_n = -g h^2 n (n + 1) / 2: implicit Euler, n = 10, h = 1 ms, g = 10 m/s^2.
    let at = |key: &str, k: usize| body[key][k].as_f64().expect("a number");
    assert!((at("vel", 2) + 0.1).abs() < 1e-15 && (at("pos", 2) + 5.5e-4).abs() < 1e-17, "{body}");
    assert!((at("pos", 0) - 0.01).abs() < 1e-16, "{body}");
}

#[test]
fn results_and_messages_do_not_mix() {
    let desk = Desk::new();
    let four_bar = library("four_bar.mbd");
    let ran = desk.mbd(&["run", &four_bar, "--until", "5ms", "--summary", "json", "--out", "rows.csv"]).expect(0);
    ran.json();
    ran.says(&[
        "assembly moved `coupler`",
        "18 coordinates, 21 equations, rank 18, 3 redundant, 0 degrees of freedom",
        "wrote rows.csv",
    ]);
    let ran = desk.mbd(&["run", &four_bar, "--until", "5ms"]).expect(0);
    assert!(ran.out.contains("3 good") && !ran.out.contains("assembly"), "{}", ran.out);
}

#[test]
fn the_same_input_gives_the_same_bytes() {
    let desk = Desk::new();
    let file = library("four_bar_free.mbd");
    for name in ["a.csv", "b.csv"] {
        desk.mbd(&["run", &file, "--until", "50ms", "--out", name]).expect(0);
    }
    assert_eq!(desk.read("a.csv"), desk.read("b.csv"));
}

#[test]
fn new_models_run() {
    let desk = Desk::new();
    let ran = desk.mbd(&["new", "my_arm"]).expect(0);
    assert_eq!(ran.out, "wrote my_arm.mbd\nrun it: mbd run my_arm.mbd --plot pictures\n");
    assert!(desk.read("my_arm.mbd").contains("model MyArm {"));
    let ran = desk.mbd(&["run", "my_arm.mbd", "--until", "1s"]).expect(0);
    assert!(ran.out.contains("2 good"), "{}", ran.out);
    desk.mbd(&["test", "."]).expect(0);
    desk.mbd(&["new", "my_arm"]).expect(2).says(&["exists already"]);
}

/// Native code, made after some thousand runs of a kernel, changes no digit.
#[test]
fn back_ends_give_the_same_files() {
    let desk = Desk::new();
    let file = library("double_pendulum.mbd");
    for backend in ["jit", "interp"] {
        let out = format!("{backend}.csv");
        desk.mbd(&["run", &file, "--until", "50ms", "--every", "1ms", "--out", &out, "--backend", backend]).expect(0);
    }
    let rows = desk.read("jit.csv");
    assert_eq!(rows.lines().count(), 52);
    assert_eq!(rows, desk.read("interp.csv"));
}
