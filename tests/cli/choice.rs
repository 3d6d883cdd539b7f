//! Runs that name no stepper: which one is chosen, what is said of it, and one that gives way to another.

use crate::Desk;

/// A pendulum of two rods' length, and what else there is.
fn pendulum(more: &str, simulate: &str) -> String {
    format!(
        "model Pendulum {{
    particle p {{ mass = 1 kg; pos = [1, 0, 0] m; vel = [0, 1, 0] [m/s]; }}
    particle q {{ mass = 1 kg; pos = [2, 0, 0] m; vel = [0, 1.3, 0] [m/s]; }}
    joint rod: distance(ground.origin, p, length = 1 m);
    gravity = [0, 0, -9.81] [m/s^2];
    {more}
    simulate {{ {simulate} }}
}}"
    )
}

const OIL: &str = "force oil: damper(p, q, c = 1e5 [N*s/m]);";

#[test]
fn smooth_models_get_dop853_and_stiff_ones_radau5() {
    for (more, simulate, stepper, why) in [
        ("", "until = 1 s;", "dop853", "not stiff at its start"),
        (OIL, "until = 1 s;", "radau5", "stiff: its fastest rate is 1.0e5/s"),
        ("", "step = 1 ms; until = 0.1 s;", "dop853", "steps of 1.0e-3 s resolve"),
        (OIL, "step = 1 ms; until = 0.1 s;", "radau5", "of which steps of 1.0e-3 s need not resolve anything"),
    ] {
        let desk = Desk::with(&pendulum(more, simulate));
        let ran = desk.mbd(&["run", "model.mbd", "--summary", "json"]).expect(0);
        let ran = ran.says(&["stepper: ", stepper, why]);
        let json = ran.json();
        let choice = json["choice"].as_str().expect("it was chosen");
        assert!(json["stepper"] == stepper && choice.starts_with(stepper) && choice.contains(why), "{json}");
        assert_eq!(json["step"].is_null(), !simulate.contains("step"), "{json}");
        let steps = json["steps"].as_u64().expect("a number");
        assert!(steps < 300, "the damper decays in 5 us: {steps}");
    }
}

#[test]
fn who_names_a_stepper_gets_it() {
    let desk = Desk::with(&pendulum(OIL, "until = 0.01 s;"));
    let named = ["run", "model.mbd", "--summary", "json", "--stepper", "dop853", "--step", "auto"];
    let json = desk.mbd(&named).expect(0).json();
    assert!(json["choice"].is_null() && json["stepper"] == "dop853", "{json}");
    // A tolerance says that it is to choose the steps.
    let json = desk.mbd(&["run", "model.mbd", "--summary", "json", "--tolerance", "1e-5"]).expect(0).json();
    assert_eq!(json["adaptive"]["tolerance"].as_f64(), Some(1e-5));
    desk.mbd(&["test", "model.mbd"]).expect(0);
}

/// A particle that slides free and from x = 0 on in oil, ever thicker, that flows at 0.5 m/s: `dop853` begins, `radau5` goes on, and rows are those of a run by the latter alone.
#[test]
fn a_model_that_becomes_stiff_goes_on_with_radau5() {
    let desk = Desk::with(
        "model Late {
    particle p { mass = 1 kg; pos = [-1, 0, 0] m; vel = [1, 0, 0] [m/s]; }
    force oil on p: [-1e5 [N*s/m] * select(p.pos.x > 0 m, p.pos.x / (1 m), 0) * (p.vel.x - 0.5 [m/s]), 0, 0];
    simulate { until = 3 s; record every 0.1 s; }
}",
    );
    let rows = |arguments: &[&str]| -> (serde_json::Value, Vec<Vec<f64>>) {
        let fixed = ["run", "model.mbd", "--summary", "json", "--out", "rows.csv"];
        let json = desk.mbd(&[&fixed, arguments].concat()).expect(0).json();
        let text = desk.read("rows.csv");
        let row = |line: &str| line.split(',').map(|x| x.parse().expect("a number")).collect();
        (json, text.lines().skip(1).map(row).collect())
    };
    let (json, chosen) = rows(&[]);
    let choice = json["choice"].as_str().expect("it was chosen");
    assert!(choice.starts_with("dop853, ") && choice.contains("; radau5 from 1."), "{choice}");
    assert_eq!(json["stepper"], "radau5");
    let (_, exact) = rows(&["--stepper", "radau5", "--step", "auto", "--tolerance", "1e-10"]);
    assert_eq!(chosen.len(), 31);
    for (a, b) in chosen.iter().zip(&exact) {
        // Time and place.
        assert!(a[0] == b[0] && (a[1] - b[1]).abs() < 1e-6, "{a:?} and {b:?}");
    }
}

/// Forces of pairs within a distance jump there: their stepper takes steps of one size, which must be given.
#[test]
fn pairs_within_a_distance_get_fixed_steps() {
    let text = "model Gas {
    particle a[i in 0..3] { mass = 1 kg; pos = [i, 0, 0] m; }
    potential pair[p in a, q in a where p < q && dist(p.pos, q.pos) < 1.5 m]: 1 [N/m] * (norm(p.pos - q.pos) - 1.5 m)^2;
    simulate { until = 0.1 s; }
}";
    let desk = Desk::with(text);
    desk.mbd(&["run", "model.mbd"]).expect(2).says(&["the model gives no step"]);
    let json = desk.mbd(&["run", "model.mbd", "--step", "1ms", "--summary", "json"]).expect(0).json();
    assert!(json["choice"].as_str().is_some_and(|why| why.contains("need not be smooth")), "{json}");
    assert_eq!(json["stepper"], "splitting_dlm");
}
