//! `mbd compare` in its four forms, with pictures, `mbd explain` and `mbd derive`.

use crate::{Desk, library};

/// The steppers that suit every model.
const ALL: [&str; 22] = [
    "dae3l_le",
    "dae2l_le",
    "dae2l_lse",
    "dae1l_lse",
    "dae3h_le",
    "dae2h_le",
    "dae2h_lse",
    "dae1h_lse",
    "splitting_dlm",
    "splitting_dlm_cayley",
    "splitting_exact",
    "variational_rrp",
    "variational_dmv",
    "dopri5",
    "dop853",
    "radau3",
    "radau5",
    "radau7",
    "gauss2",
    "gauss4",
    "gauss6",
    "generalized_alpha",
];

/// The table of a short run of the heavy top.
fn table(more: &[&str]) -> String {
    let file = library("heavy_top.mbd");
    let mut args = vec!["compare", file.as_str(), "--until", "2ms"];
    args.extend(more);
    Desk::new().mbd(&args).expect(0).out
}

#[test]
fn text_has_one_row_a_stepper() {
    let table = table(&[]);
    let lines: Vec<Vec<&str>> = table.lines().map(|line| line.split_whitespace().collect()).collect();
    // The ground holds the top: changes of its momenta are no errors.
    assert_eq!(lines[0].join(" "), "stepper max energy error relative Phi dPhi d2Phi drift iterations wall s");
    let names: Vec<&str> = lines[2..].iter().map(|row| row[0]).collect();
    assert_eq!(names, ALL);
    let widths: Vec<usize> = table.lines().map(str::len).collect();
    assert!(widths.iter().all(|w| *w == widths[0]), "{table}");
}

#[test]
fn markdown_is_a_table() {
    let table = table(&["--format", "markdown", "--steppers", "dae3l_le,dae1h_lse"]);
    let lines: Vec<&str> = table.lines().collect();
    assert_eq!(lines.len(), 4);
    assert!(lines.iter().all(|line| line.matches('|').count() == 10), "{table}");
    assert!(lines[1].starts_with("|:--") && lines[3].starts_with("| dae1h_lse"), "{table}");
}

#[test]
fn csv_has_full_numbers() {
    let table = table(&["--format", "csv"]);
    let mut reader = csv::Reader::from_reader(table.as_bytes());
    let head = reader.headers().expect("a first line").clone();
    assert_eq!((&head[0], &head[1], &head[12], head.len()), ("stepper", "max_energy_error", "failure", 13));
    let rows: Vec<csv::StringRecord> = reader.records().collect::<Result<_, _>>().expect("rows of one length");
    assert_eq!(rows.iter().map(|row| row[0].to_owned()).collect::<Vec<_>>(), ALL);
    assert!(
        rows.iter().all(|row| row.iter().skip(1).take(11).all(|x| x.parse::<f64>().is_ok_and(f64::is_finite))),
        "{table}"
    );
}

#[test]
fn json_is_an_array_of_summaries() {
    let json: serde_json::Value = serde_json::from_str(&table(&["--format", "json"])).expect("JSON");
    let names: Vec<&str> = json.as_array().into_iter().flatten().filter_map(|row| row["stepper"].as_str()).collect();
    assert_eq!(names, ALL);
    assert_eq!(json[0].as_object().map(|map| map.len()), Some(23));
    // What the methods are for: the residuals that each solves for are round-off, the others are not.
    let residual = |row: usize, key: &str| json[row][format!("max_{key}_residual")].as_f64().expect("a number");
    for (row, position, velocity, acceleration) in
        [(0, true, false, false), (1, false, true, false), (2, true, true, false), (3, true, true, true)]
    {
        for row in [row, row + 4] {
            assert_eq!(residual(row, "position") < 1e-14, position, "{row}");
            assert_eq!(residual(row, "velocity") < 1e-13, velocity, "{row}");
            assert_eq!(residual(row, "acceleration") < 1e-10, acceleration, "{row}");
        }
    }
    // The others hold all levels, and lose a thousandth of the energy that the first ones lose.
    let error = |row: usize| json[row]["max_energy_error"].as_f64().expect("a number");
    for row in 8..ALL.len() {
        let levels = [residual(row, "position"), residual(row, "velocity"), residual(row, "acceleration")];
        assert!(levels[0] < 1e-14 && levels[1] < 1e-13 && levels[2] < 1e-10, "{row}: {levels:?}");
        assert!(error(row) < 1e-3 * error(3), "{row}: {} and {}", error(row), error(3));
    }
}

/// Steppers of spheres stand in the comparison of spheres only, and momenta are kept by the steppers that keep them.
#[test]
fn a_comparison_of_spheres() {
    let desk = Desk::new();
    let file = library("spring_network.mbd");
    let ran = desk.mbd(&["compare", &file, "--set", "n=2", "--until", "20ms", "--format", "json"]).expect(0);
    let rows = ran.json();
    let rows = rows.as_array().expect("an array");
    let names: Vec<&str> = rows.iter().filter_map(|row| row["stepper"].as_str()).collect();
    assert_eq!(names[13..15], ["variational_exp", "variational_cayley"]);
    assert_eq!(names[15..], ALL[13..]);
    for row in &rows[8..15] {
        for key in ["max_linear_momentum_error", "max_angular_momentum_error"] {
            let error = row[key].as_f64().expect("a number");
            assert!(error < 1e-14, "{}: {key} {error:e}", row["stepper"]);
        }
        assert!(row["energy_drift"].as_f64().is_some_and(|drift| drift < 0.0), "{row}");
    }
}

#[test]
fn a_stepper_that_fails_ends_its_own_row_only() {
    let desk = Desk::with(crate::BEYOND_REACH);
    let ran = desk.mbd(&["compare", "model.mbd", "--format", "csv"]).expect(3).says(&["MBD0180"]);
    // Particles suit the steppers of spheres too.
    assert_eq!(ran.out.lines().count(), 1 + ALL.len() + 2, "{}", ran.out);
}

/// A stepper whose first step fails has no errors, and its row says so; below the table stands why.
#[test]
fn a_stepper_that_fails_at_once_has_no_numbers() {
    let file = library("free_body.mbd");
    let args = ["compare", &file, "--steppers", "variational_dmv,splitting_exact", "--step", "5s", "--until", "10s"];
    let ran = Desk::new().mbd(&args).expect(3).says(&["MBD0180"]);
    let lines: Vec<Vec<&str>> = ran.out.lines().map(|line| line.split_whitespace().collect()).collect();
    // Nothing acts on the body, so that all changes of momenta are errors.
    assert_eq!(
        lines[0].join(" "),
        "stepper max energy error relative Phi dPhi d2Phi drift dP dL dpi iterations wall s"
    );
    assert_eq!(lines[2][..11].join(" "), "variational_dmv failed - - - - - - - - 0");
    assert_eq!((lines[3][0], lines[3].len()), ("splitting_exact", 12));
    assert_eq!(ran.out.lines().nth(4), Some(""));
    let why = "variational_dmv failed on the step of 5e0 s to t = 5 s: `rotor` turns too far in one step";
    assert_eq!(ran.out.lines().nth(5), Some(why));
    let json = Desk::new().mbd(&[&args[..], &["--format", "json"]].concat()).expect(3).json();
    assert_eq!((&json[0]["failure"], &json[0]["steps"], &json[1]["failure"]), (&why.into(), &0.into(), &().into()));
}

/// All errors in one picture, and side by side on one scale: its ticks are the same in all panels.
#[test]
fn the_pictures_of_a_comparison_are_written() {
    let desk = Desk::new();
    let ran = desk.mbd(&["compare", &library("heavy_top.mbd"), "--until", "2ms", "--plot", "pictures"]).expect(0);
    for name in ["energy_comparison.svg", "energy_by_stepper.svg"] {
        let picture = desk.read(&format!("pictures/{name}"));
        crate::files::assert_svg(name, &picture);
        assert!(ALL.iter().all(|stepper| picture.contains(stepper)), "{name}");
        assert!(ran.err.contains(name), "{}", ran.err);
    }
    let picture = desk.read("pictures/energy_by_stepper.svg");
    for decade in ["10⁻⁶", "0"] {
        let labels = picture.matches(&format!(">{decade}</text>")).count();
        assert!(labels >= ALL.len(), "{labels} times {decade}");
    }
}

#[test]
fn derive_writes_what_a_person_would() {
    let ran = Desk::new().mbd(&["derive", &library("single_pendulum.mbd")]).expect(0);
    assert!(ran.out.contains("Phi = x + R X"), "{}", ran.out);
    assert!(ran.out.contains("skew(X)") && ran.out.contains("pivot"), "{}", ran.out);
    let ran = Desk::new().mbd(&["derive", &library("single_pendulum.mbd"), "--latex"]).expect(0);
    assert!(ran.out.contains("\\Phi") && ran.out.matches('{').count() == ran.out.matches('}').count(), "{}", ran.out);
}

#[test]
fn explain_counts_coordinates_equations_and_rank() {
    let ran = Desk::new().mbd(&["explain", &library("four_bar.mbd")]).expect(0);
    for word in ["FourBar", "18 coordinates, 21 equations, rank 18, 3 redundant", "crank", "coupler", "rocker", "drive"]
    {
        assert!(ran.out.contains(word), "{word} is missing:\n{}", ran.out);
    }
    let ran = Desk::new().mbd(&["explain", &library("chain.mbd"), "--set", "N=5"]).expect(0);
    assert!(ran.out.contains("link"), "{}", ran.out);
}
