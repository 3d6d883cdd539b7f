//! `mbd compare --work-precision`: errors of the last state against time.

use mbdsl::exec::work_precision::STEPPERS;
use serde_json::Value;

use crate::{Desk, library};

/// A short run of the heavy top: steps of 200, 100 and 50 us for steppers of one stage.
fn heavy_top<'a>(file: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    let mut args = vec!["compare", file, "--work-precision", "--until", "20ms", "--step", "200us", "--halvings", "2"];
    args.extend(more);
    args
}

#[test]
fn text_has_a_row_for_each_step_and_says_what_errors_are_against() {
    let ran = Desk::new().mbd(&heavy_top(&library("heavy_top.mbd"), &[])).expect(0);
    let lines: Vec<Vec<&str>> = ran.out.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(lines[0].join(" "), "stepper step steps position m attitude rad order Phi dPhi iterations wall s");
    let fixed = &STEPPERS[..STEPPERS.len() - 1];
    let names: Vec<&str> = lines[2..2 + 3 * fixed.len()].iter().map(|row| row[0]).collect();
    assert!(names.chunks(3).zip(fixed).all(|(rows, name)| rows == [*name; 3]), "{names:?}");
    // Then those whose steps tolerances choose, from 1e-4 to 1e-12.
    let adaptive: Vec<&str> = ran.out.lines().skip(2 + 3 * fixed.len()).take(9).collect();
    let starts = |(k, line): (usize, &&str)| {
        line.split_whitespace()
            .collect::<Vec<_>>()
            .join(" ")
            .starts_with(&format!("dop853(step = auto) to 1e-{} ", k + 4))
    };
    assert!(adaptive.iter().enumerate().all(starts), "{adaptive:#?}");
    // Steps are halved, and those of five stages are four times as long.
    assert_eq!(
        lines[2..5].iter().map(|row| row[1..4].join(" ")).collect::<Vec<_>>(),
        ["200 us 100", "100 us 200", "50 us 400"]
    );
    assert_eq!(lines[11][1..4].join(" "), "800 us 25");
    let note = ran.out.lines().last().unwrap_or_default();
    assert!(
        note.starts_with("errors at 20 ms against splitting_dlm+kahan_li8 with steps of 357.1 us, which steps"),
        "{note}"
    );
}

#[test]
fn json_shows_orders_residuals_and_the_reference() {
    let json = Desk::new().mbd(&heavy_top(&library("heavy_top.mbd"), &["--format", "json"])).expect(0).json();
    let keys: Vec<&str> = json.as_object().into_iter().flatten().map(|(key, _)| key.as_str()).collect();
    assert_eq!(keys, ["model", "backend", "until", "reference", "points"]);
    let number = |value: &Value, key: &str| value[key].as_f64().unwrap_or_else(|| panic!("{key} of {value}"));
    let uncertain = number(&json["reference"], "position_uncertainty");
    assert!(uncertain < 1e-11, "{uncertain:e}");
    let points = json["points"].as_array().expect("an array");
    let fixed = STEPPERS.len() - 1;
    assert_eq!(points.len(), 3 * fixed + 9);
    let orders = [1.0, 2.0, 2.0, 4.0, 6.0, 6.0, 8.0, 8.0, 8.0];
    for (last, (name, order)) in points.iter().skip(2).step_by(3).zip(STEPPERS.iter().zip(orders)) {
        assert_eq!(last["stepper"].as_str(), Some(*name));
        let found = last["order"].as_f64();
        // What is near the error of the reference shows none.
        assert!(found.map_or(order >= 4.0, |found| (found - order).abs() < 0.2), "{name}: {found:?}");
        assert!(number(last, "position_error") > 0.0 && number(last, "wall_s") > 0.0, "{last}");
    }
    for point in points {
        assert!(number(point, "position_residual") < 1e-15 && number(point, "velocity_residual") < 1e-14, "{point}");
        assert!(point["failure"].is_null(), "{point}");
    }
}

#[test]
fn markdown_and_csv() {
    let desk = Desk::new();
    let file = library("heavy_top.mbd");
    let markdown = desk.mbd(&heavy_top(&file, &["--format", "markdown", "--steppers", "dae3l_le"])).expect(0).out;
    assert_eq!(markdown.lines().filter(|line| line.matches('|').count() == 11).count(), 5, "{markdown}");
    let csv =
        desk.mbd(&heavy_top(&file, &["--format", "csv", "--steppers", "dae3l_le, splitting_exact"])).expect(0).out;
    let mut reader = csv::Reader::from_reader(csv.as_bytes());
    assert_eq!(
        reader.headers().expect("a first line").iter().take(3).collect::<Vec<_>>(),
        ["stepper", "step", "tolerance"]
    );
    let rows: Vec<csv::StringRecord> = reader.records().collect::<Result<_, _>>().expect("rows of one length");
    assert_eq!(rows.len(), 6);
    assert!(rows.iter().all(|row| row[5].parse::<f64>().is_ok_and(|seconds| seconds > 0.0)), "{csv}");
}

#[test]
fn the_picture_has_a_line_for_each_stepper() {
    let desk = Desk::new();
    desk.mbd(&heavy_top(&library("heavy_top.mbd"), &["--plot", "pictures"])).expect(0).says(&["work_precision.svg"]);
    let picture = desk.read("pictures/work_precision.svg");
    crate::files::assert_svg("work_precision.svg", &picture);
    for text in STEPPERS.iter().copied().chain(["wall time (s)", "largest error (m)", "largest error (rad)"]) {
        assert!(picture.contains(text), "{text}");
    }
}

/// The usual range: around the steps of the model, as they are for its own stepper, which here is a composition of 17 stages.
#[test]
fn usual_steps_are_around_those_of_the_model() {
    let file = library("pendulum_3d.mbd");
    let ran = Desk::new().mbd(&["compare", &file, "--work-precision", "--until", "1s", "--format", "json"]).expect(0);
    let json = ran.json();
    let steps: Vec<f64> = json["points"].as_array().into_iter().flatten().filter_map(|p| p["step"].as_f64()).collect();
    assert_eq!(steps.len(), 6 * (STEPPERS.len() - 1));
    // Its own are 50 ms for 17 stages, 3.125 ms for one: from 8 times that to a quarter.
    assert!((steps[0] - 25e-3).abs() < 1e-15 && (steps[5] - 25e-3 / 32.0).abs() < 1e-15, "{steps:?}");
}

/// Implicit steppers do not move pairs that are found during the run, so none is compared unless it is named.
#[test]
fn steppers_that_do_not_suit_are_left_out() {
    let file = library("argon.mbd");
    let args = ["compare", &file, "--work-precision", "--set", "n=2", "--until", "0.1ps", "--halvings", "0"];
    let ran = Desk::new().mbd(&args).expect(0);
    let names: Vec<&str> =
        ran.out.lines().skip(2).take(STEPPERS.len() - 2).filter_map(|line| line.split_whitespace().next()).collect();
    assert_eq!(names, STEPPERS[1..STEPPERS.len() - 1]);
    Desk::new().mbd(&[&args[..], &["--steppers", "dae1l_lse"]].concat()).expect(2).says(&["`dae1l_lse` is implicit"]);
}

/// Errors fall with the tolerance, by more steps, and both are known; there is no order. Tolerances begin where `--tolerance` says.
#[test]
fn tolerances_instead_of_steps() {
    let file = library("heavy_top.mbd");
    let args = ["compare", &file, "--work-precision", "--until", "50ms", "--halvings", "1", "--step", "100us"];
    let args = [&args[..], &["--steppers", "dopri5(step=auto),dop853", "--tolerance", "1e-6"]].concat();
    let json = Desk::new().mbd(&[&args[..], &["--format", "json"]].concat()).expect(0).json();
    let points = json["points"].as_array().expect("an array");
    let (adaptive, fixed) = points.split_at(7);
    let number = |point: &Value, key: &str| point[key].as_f64().unwrap_or_else(|| panic!("{key} of {point}"));
    for (k, point) in adaptive.iter().enumerate() {
        assert!(point["stepper"] == "dopri5(step = auto)" && point["step"].is_null() && point["order"].is_null());
        let tolerance = 1e-6 / 10.0_f64.powi(k as i32);
        assert_eq!(number(point, "tolerance"), tolerance);
        // The tolerance of a step, and what it takes away from the turn of the top at 150 rad/s.
        assert!(number(point, "position_error") < 100.0 * tolerance.max(1e-12), "{point}");
        assert!(k == 0 || number(point, "steps") > number(&adaptive[k - 1], "steps"), "{point}");
    }
    assert!(fixed.len() == 2 && fixed.iter().all(|point| point["tolerance"].is_null()), "{fixed:?}");

    // A tolerance is for steps that it can choose, by steppers that can.
    let refuse = |more: &[&str], words: &[&str]| {
        Desk::new().mbd(&[&["compare", &file, "--work-precision"], more].concat()).expect(2).says(words);
    };
    refuse(&["--steppers", "dop853", "--tolerance", "1e-6"], &["`--tolerance 1e-6` needs steps that it can choose"]);
    refuse(&["--steppers", "gauss4(step = auto)"], &["`gauss4`"]);
    refuse(&["--step", "auto"], &["give the longest by `--step`", "write `dop853(step = auto)` in `--steppers`"]);
}

/// Steps that are too long for a stepper are part of the answer.
#[test]
fn failed_runs_are_rows() {
    let file = library("free_body.mbd");
    let args =
        ["compare", &file, "--work-precision", "--steppers", "variational_dmv", "--step", "5s", "--until", "10s"];
    let ran = Desk::new().mbd(&args).expect(0).says(&["variational_dmv failed on the step of 5e0 s", "turns too far"]);
    let rows: Vec<&str> = ran.out.lines().skip(2).take(6).collect();
    assert!(rows[0].contains("failed") && !rows[5].contains("failed"), "{}", ran.out);
}

/// While the phase of a fast top is lost its errors are as large as its turn, and fall by chance: no order is shown.
#[test]
fn errors_as_large_as_the_motion_show_no_order() {
    let file = library("heavy_top.mbd");
    let args = ["compare", &file, "--work-precision", "--steppers", "variational_rrp", "--step", "6.4ms"];
    let json = Desk::new().mbd(&[&args[..], &["--halvings", "7", "--format", "json"]].concat()).expect(0).json();
    let points = json["points"].as_array().expect("an array");
    let numbers = |key: &str| points.iter().map(|point| point[key].as_f64()).collect::<Vec<_>>();
    let (errors, orders) = (numbers("attitude_error"), numbers("order"));
    assert!(errors[..3].iter().all(|angle| angle.is_some_and(|angle| angle > 2.0)), "{errors:?}");
    assert!(orders[..4].iter().all(Option::is_none), "{orders:?}");
    assert!(orders[6..].iter().all(|order| order.is_some_and(|order| (order - 2.0).abs() < 0.05)), "{orders:?}");
}

/// Where steps of the reference fail they are halved further; another reference may be named.
#[test]
fn references() {
    let desk = Desk::new();
    let file = library("chain.mbd");
    let chain = ["compare", &file, "--work-precision", "--set", "N=3", "--until", "0.1s", "--halvings", "1"];
    let more = |more: &[&'static str]| [&chain[..], more].concat();
    let ran = desk.mbd(&more(&["--steppers", "dae1l_lse", "--step", "2ms"])).expect(0);
    assert!(ran.out.contains("errors at 100 ms against splitting_dlm+kahan_li8"), "{}", ran.out);
    let ran = desk
        .mbd(&more(&["--steppers", "dae1l_lse", "--step", "1ms", "--reference", "splitting_exact+suzuki4"]))
        .expect(0);
    assert!(ran.out.contains("against splitting_exact+suzuki4 with steps of"), "{}", ran.out);
}

#[test]
fn wrong_uses() {
    let desk = Desk::new();
    let file = library("heavy_top.mbd");
    desk.mbd(&["compare", &file, "--halvings", "3"]).expect(2).says(&["--work-precision"]);
    desk.mbd(&["compare", &file, "--work-precision", "--halvings", "21"]).expect(2);
    desk.mbd(&["compare", &file, "--work-precision", "--until", "0s"]).expect(2).says(&["the end must come later"]);
    let exp = ["compare", &file, "--work-precision", "--steppers", "variational_exp"];
    desk.mbd(&exp).expect(2).says(&["`top` are not equal", "take `variational_rrp`"]);
    desk.mbd(&["compare", &file, "--work-precision", "--reference", "verlet"]).expect(2).says(&["`verlet`"]);
}
