//! Files that a run writes: rows, pictures; also where a step fails.

use serde_json::Value;

use crate::{BEYOND_REACH, Desk, FALLING, SINGULAR, library};

/// Head and rows of a CSV file, all of one length and all numbers.
#[track_caller]
fn rows(text: &str) -> (Vec<String>, Vec<Vec<f64>>) {
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let head = reader.headers().expect("a first line").iter().map(str::to_owned).collect();
    let rows = reader
        .records()
        .map(|record| {
            let record = record.expect("a row as long as the first");
            record.iter().map(|x| x.parse().unwrap_or_else(|e| panic!("{x}: {e}"))).collect()
        })
        .collect();
    (head, rows)
}

/// Name of the element that a tag opens, closes or is.
fn element(tag: &str) -> &str {
    tag.trim_matches('/').split(|c: char| c.is_whitespace() || c == '/').next().unwrap_or_default()
}

/// Fails unless elements are nested and attributes quoted, and every number is finite.
#[track_caller]
pub(crate) fn assert_svg(name: &str, text: &str) {
    let mut open: Vec<&str> = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find('<') {
        let inside = &rest[at + 1..];
        let mut quoted = false;
        let end = inside.find(|c| {
            quoted ^= c == '"';
            c == '>' && !quoted
        });
        let end = end.unwrap_or_else(|| panic!("{name}: a tag is never closed"));
        let tag = &inside[..end];
        if let Some(closed) = tag.strip_prefix('/') {
            assert_eq!(open.pop(), Some(closed), "{name}");
        } else if !tag.starts_with(['?', '!']) && !tag.ends_with('/') {
            open.push(element(tag));
        }
        rest = &inside[end + 1..];
    }
    assert!(open.is_empty(), "{name}: {open:?} are never closed");
    assert!(text.contains("<svg") && !text.contains("NaN") && !text.contains("inf,"), "{name}");
}

#[test]
fn rows_are_what_the_summary_says() {
    let desk = Desk::with(FALLING);
    let ran =
        desk.mbd(&["run", "model.mbd", "--out", "rows.csv", "--summary", "json"]).expect(0).says(&["wrote rows.csv"]);
    let (head, rows) = rows(&desk.read("rows.csv"));
    assert_eq!(rows.len(), 11);
    let end = &ran.json()["final"];
    let column = |name: &str| head.iter().position(|h| h == name).unwrap_or_else(|| panic!("{name} in {head:?}"));
    // Readers of JSON may miss the last bit.
    let assert_same = |name: &str, json: &Value| {
        let (x, y) = (rows[10][column(name)], json.as_f64().expect("a number"));
        assert!((x - y).abs() <= f64::EPSILON * y.abs(), "{name}: {x} and {y}");
    };
    assert_same("time", &end["time"]);
    for (k, axis) in ["x", "y", "z"].iter().enumerate() {
        assert_same(&format!("p.{axis}"), &end["bodies"][0]["pos"][k]);
        assert_same(&format!("p.v{axis}"), &end["bodies"][0]["vel"][k]);
        assert_same(&format!("at.{axis}"), &end["bodies"][0]["pos"][k]);
    }
    assert!((rows[0][column("energy.total")] - 1.0).abs() < 1e-15);
}

#[test]
fn every_thins_the_rows() {
    let desk = Desk::with(FALLING);
    desk.mbd(&["run", "model.mbd", "--step", "0.1ms", "--every", "2ms", "--out", "rows.csv"]).expect(0);
    let (_, rows) = rows(&desk.read("rows.csv"));
    let times: Vec<f64> = rows.iter().map(|row| (row[0] * 1e3).round()).collect();
    assert_eq!(times, [0.0, 2.0, 4.0, 6.0, 8.0, 10.0]);
}

#[test]
fn rows_are_complete_when_a_step_fails() {
    for (text, every) in [(SINGULAR, "10ms"), (BEYOND_REACH, "20ms")] {
        let desk = Desk::with(text);
        let args =
            ["run", "model.mbd", "--every", every, "--out", "rows.csv", "--plot", "pictures", "--summary", "json"];
        let ran = desk.mbd(&args).expect(3);
        let (_, rows) = rows(&desk.read("rows.csv"));
        let reached = ran.json()["final"]["time"].as_f64().expect("a time");
        // The last good state is there, whether its row was due or not. Readers of JSON may miss the last bit.
        let last = rows.last().map_or(0.0, |row| row[0]);
        assert!((last - reached).abs() <= f64::EPSILON * reached, "{last} of {reached}");
        assert!(rows.len() > 3 && rows.iter().flatten().all(|x| x.is_finite()));
        assert_svg("energy.svg", &desk.read("pictures/energy.svg"));
    }
}

#[test]
fn pictures_are_svg() {
    let desk = Desk::new();
    let ran = desk.mbd(&["run", &library("four_bar_free.mbd"), "--until", "20ms", "--plot", "out/pictures"]).expect(0);
    let mut names: Vec<String> = std::fs::read_dir(desk.path("out/pictures"))
        .expect("the folder was made")
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .collect();
    names.sort();
    for name in &names {
        let text = desk.read(&format!("out/pictures/{name}"));
        assert_svg(name, &text);
        assert!(ran.err.contains(&format!("wrote out/pictures/{name}")), "{}", ran.err);
    }
    for name in ["constraints.svg", "energy.svg", "multipliers.svg", "path.svg", "position.svg", "rotation.svg"] {
        assert!(names.iter().any(|n| n == name), "{name} in {names:?}");
    }
}

#[test]
fn bad_pictures_would_be_found() {
    assert_svg("good", "<?xml version=\"1.0\"?><svg a=\"x > y\"><g><path d=\"M 0\"/></g></svg>");
    for bad in ["<svg><g></svg>", "<svg>", "<svg a=\"></svg>", "<svg>NaN</svg>", "<p></p>"] {
        assert!(std::panic::catch_unwind(|| assert_svg("bad", bad)).is_err(), "{bad}");
    }
}
