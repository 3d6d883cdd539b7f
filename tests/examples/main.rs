//! The examples: each runs, and what it finds is what mechanics says.

#[expect(dead_code, reason = "`main` is for the example itself")]
mod double_pendulum;
#[expect(dead_code, reason = "`main` is for the example itself")]
mod energies;
#[expect(dead_code, reason = "`main` is for the example itself")]
mod heavy_top;
#[expect(dead_code, reason = "`main` is for the example itself")]
mod screw;
#[expect(dead_code, reason = "`main` is for the example itself")]
mod sweep;

/// A method of order 1 with steps of 50 us comes within some times 1e-3 m of the published position after a tenth of a
/// second, in which the top moves by 0.4 m.
#[test]
fn the_top_precesses_as_published() {
    let rows = heavy_top::run().expect("the example runs");
    assert_eq!(rows.len(), 10);
    let published = include_str!("../physics/data/heavytop_bruls_cardona.csv");
    let at = published.lines().find_map(|line| line.strip_prefix("0.1,")).expect("a row at 0.1 s");
    let expected: Vec<f64> = at.split(',').take(3).map(|x| x.parse().expect("a number")).collect();
    for (x, y) in rows[0][1..].iter().zip(expected) {
        assert!((x - y).abs() < 5e-3, "{rows:?}");
    }
    // The pivot holds the centre of mass at a distance of a metre.
    for [_, x, y, z] in rows {
        assert!(((x * x + y * y + z * z).sqrt() - 1.0).abs() < 1e-13);
    }
}

/// At rest the torque is the moment of the weights: that of the upper arm at half its length, that of the lower one, which
/// hangs straight, at its whole length.
#[test]
fn the_motor_carries_the_weights() {
    let (angle, torque) = double_pendulum::run().expect("the example runs");
    let moment = 1.0 * 9.81 * (0.25 + 0.5);
    // The slowest part decays as exp(-i t / p): e^-15 of a right angle.
    assert!(angle.abs() < 1e-5 && (torque + moment).abs() < 1e-4 * moment, "{angle}, {torque}");
}

/// The period of a swing of a right angle to each side is 4 K(1/2) sqrt(L/g), K(1/2) = 1.8540746773013719.
#[test]
fn periods_grow_with_the_root_of_the_length() {
    let rows = sweep::run().expect("the example runs");
    assert_eq!(rows.len(), 16);
    for (length, period) in rows {
        let expected = 4.0 * 1.854_074_677_301_371_9 * (length / 9.81_f64).sqrt();
        // Implicit Euler of step h damps with a rate of order h omega^2; the steps are at most 1e-4 of a period.
        assert!((period / expected - 1.0).abs() < 1e-3, "{length} m: {period} s, not {expected} s");
    }
}

/// The nut falls as a mass m + J k^2 would under the weight of m, k being the turn per metre; implicit Euler steps of size h add h
/// for each h: z = -a t (t + h) / 2.
#[test]
fn the_nut_falls_slowly() {
    let (turns, height, failed) = screw::run().expect("the example runs");
    assert_eq!(failed, []);
    let k = std::f64::consts::TAU / 0.02;
    let a = 9.81 * 0.1 / (0.1 + 4e-6 * k * k);
    let expected = -0.5 * a * 1.0 * (1.0 + 1e-3);
    assert!((height - expected).abs() < 1e-11 * expected.abs(), "{height}, not {expected}");
    assert!((turns - height / 0.02).abs() < 1e-11 * turns.abs());
}

#[test]
fn energies_are_written_and_drawn() {
    let folder = tempfile::tempdir().expect("a folder");
    let rows = energies::run(folder.path()).expect("the example runs");
    assert_eq!(rows.len(), 1000);
    // The table of the paper has 96.0631 J of 7568.1568 J at a tenth of this step, and the error is of order 1.
    for (t, kinetic, potential) in &rows {
        assert!(kinetic + potential < 7568.16 && kinetic + potential > 7568.15 - 10.0 * 96.1, "{t} s");
    }
    let mut file = csv::Reader::from_path(folder.path().join("energies.csv")).expect("a file");
    let read: Vec<energies::Row> = file.deserialize().map(|row| row.expect("three numbers")).collect();
    assert_eq!(read, rows);
    let picture = std::fs::read_to_string(folder.path().join("energies.svg")).expect("a picture");
    let parts = ["kinetic", "potential", "total", "energy, J", "#FF0000", "#0000FF"];
    assert!(parts.iter().all(|part| picture.contains(part)), "{picture}");
}

/// The README shows the shortest example as it is.
#[test]
fn the_readme_prints_the_heavy_top() {
    let readme = include_str!("../../README.md");
    let block = format!("```rust\n{}```\n", include_str!("heavy_top.rs"));
    assert!(readme.contains(&block), "README.md does not have tests/examples/heavy_top.rs as it is");
    for name in ["double_pendulum", "sweep", "screw", "energies"] {
        assert!(readme.contains(&format!("(tests/examples/{name}.rs)")), "README.md does not link to {name}");
    }
}
