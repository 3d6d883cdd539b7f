//! Pictures of synthetic runs: that they exist, are well formed and never panic. Set `MBD_PICTURES` to a folder to look at them.

use mbdsl_runtime::state::{OMEGA, POS, ROT, STRIDE, VEL};

use super::super::record::{BodyMeta, Column, Meta, Sample};
use super::*;

fn column(name: &str, unit: &str) -> Column {
    Column { name: name.into(), unit: unit.into() }
}

/// A body that swings in a cone, spins about its axis, and hangs off the one before.
fn pendulum(t: f64, k: usize, z: &mut [f64]) {
    let (swing, turn) = (1.1 + 0.4 * (2.3 * t + k as f64).sin(), 0.9 * t + 0.3 * k as f64);
    let spin = 150.0 * t;
    let axis = [swing.sin() * turn.cos(), swing.sin() * turn.sin(), -swing.cos()];
    let east = [-turn.sin(), turn.cos(), 0.0];
    let north = [
        axis[1] * east[2] - axis[2] * east[1],
        axis[2] * east[0] - axis[0] * east[2],
        axis[0] * east[1] - axis[1] * east[0],
    ];
    for c in 0..3 {
        z[POS + c] = axis[c] * (1.0 + k as f64 * 0.5);
        z[ROT + 3 * c] = east[c] * spin.cos() + north[c] * spin.sin();
        z[ROT + 3 * c + 1] = axis[c];
        z[ROT + 3 * c + 2] = north[c] * spin.cos() - east[c] * spin.sin();
        z[VEL + c] = t;
        z[OMEGA + c] = 150.0;
    }
}

fn run(steps: u32, bodies: usize, particles: usize) -> Trajectory {
    let name = |k: usize| if bodies == 1 { "top".to_owned() } else { format!("link[{k}]") };
    let joints = (0..bodies).flat_map(|k| ["x", "y", "z"].map(|c| column(&format!("pivot[{k}].{c}"), "N")));
    let meta = Meta {
        model: "SpinningPendulum".into(),
        stepper: "dae1l_lse".into(),
        bodies: (0..bodies).map(|k| BodyMeta { name: name(k), is_particle: k < particles }).collect(),
        rows: joints.collect(),
        outputs: vec![
            column("cm.x", "m"),
            column("cm.y", "m"),
            column("cm.z", "m"),
            column("spin", "kg*m^2/s"),
            column("length", "m"),
        ],
    };
    let mut out = Trajectory::new(meta);
    let mut z = vec![0.0; bodies * STRIDE];
    for n in 0..=steps {
        let t = 10.0 * f64::from(n) / f64::from(steps.max(1));
        for (k, z) in z.chunks_exact_mut(STRIDE).enumerate() {
            pendulum(t, k, z);
        }
        let noise = |scale: f64| scale * (f64::from(n) * 12.9898).sin().abs();
        let kinetic = 5300.0 + 70.0 * (2.0 * t).sin();
        let lambda: Vec<f64> =
            (0..3 * bodies).map(|r| 400.0 * (t * (1.0 + r as f64)).sin() + 20.0 * (150.0 * t).cos()).collect();
        out.push(&Sample {
            time: t,
            kinetic,
            potential: 5436.5303 - kinetic + 9.9 * (3.0 * t).sin() * t / 10.0,
            position_residual: noise(2e-16),
            velocity_residual: if n % 50 == 0 { 0.0 } else { noise(3e-14) },
            acceleration_residual: noise(20.0),
            orthogonality: noise(3e-15) + 1e-16,
            outputs: &[z[0], z[1], z[2], 3.2e-5 * (1.0 + 0.1 * t.sin()), 1.0 + 1e-9 * (5.0 * t).cos()],
            multipliers: &lambda,
            z: &z,
        });
    }
    out
}

/// Checks that every picture is closed markup without numbers that are none; returns the names.
fn check(trajectory: &Trajectory) -> Vec<&'static str> {
    let pictures = render_all(trajectory);
    for (name, svg) in &pictures {
        assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"), "{name}");
        assert!(!svg.contains("NaN") && !svg.contains("inf"), "{name}");
        assert_eq!(svg.matches("<text").count(), svg.matches("</text>").count(), "{name}");
    }
    show(&pictures, &format!("{}-{}", trajectory.meta().bodies.len(), trajectory.len()));
    pictures.into_iter().map(|(name, _)| name).collect()
}

fn show(pictures: &[(&'static str, String)], run: &str) {
    if let Some(folder) = std::env::var_os("MBD_PICTURES") {
        let folder = PathBuf::from(folder).join(run);
        fs::create_dir_all(&folder).expect("a folder for pictures");
        for (name, svg) in pictures {
            fs::write(folder.join(name), svg).expect("a folder for pictures");
        }
    }
}

const ALL: [&str; 8] = [
    "path.svg",
    "position.svg",
    "multipliers.svg",
    "energy.svg",
    "constraints.svg",
    "rotation.svg",
    "orthogonality.svg",
    "outputs.svg",
];

#[test]
fn pendulums_of_all_sizes() {
    for (steps, bodies) in [(20_000, 1), (3000, 2), (700, 6), (300, 300)] {
        assert_eq!(check(&run(steps, bodies, 0)), ALL);
    }
}

#[test]
fn a_single_sample() {
    assert_eq!(check(&run(0, 1, 0)), ALL);
    assert_eq!(check(&run(1, 1, 0)), ALL);
}

#[test]
fn nothing_to_show_gives_no_picture() {
    assert!(check(&Trajectory::new(Meta::default())).is_empty());
    let particles = check(&run(10, 2, 2));
    assert!(!particles.contains(&"rotation.svg") && !particles.contains(&"orthogonality.svg"));
}

/// A particle with the same number everywhere, so that every axis has it.
fn constant(values: &[f64]) -> Trajectory {
    let meta = Meta {
        model: "Extreme <&>".into(),
        bodies: vec![BodyMeta { name: "a \"long\" name ".repeat(12), is_particle: false }],
        rows: vec![column("rod", "")],
        outputs: vec![column("o", "1")],
        ..Meta::default()
    };
    let mut out = Trajectory::new(meta);
    for (n, &v) in values.iter().enumerate() {
        out.push(&Sample {
            time: n as f64 * 1e-9,
            kinetic: v,
            potential: v,
            position_residual: v,
            velocity_residual: v,
            acceleration_residual: v,
            orthogonality: v,
            outputs: &[v],
            multipliers: &[v],
            z: &[v; STRIDE],
        });
    }
    out
}

#[test]
fn extreme_numbers() {
    let numbers =
        [0.0, -0.0, 1.0, -1e-16, 1e9, 5e-324, f64::MAX, f64::MIN, f64::NAN, f64::INFINITY, 1e149, f64::EPSILON];
    for a in numbers {
        check(&constant(&[a]));
        check(&constant(&[a, a, a]));
        for b in numbers {
            check(&constant(&[a, b, f64::NAN, b, a]));
        }
    }
}

#[test]
fn comparisons() {
    let times: Vec<f64> = (0..50_000).map(|n| f64::from(n) * 2e-4).collect();
    let names = [
        "dae3l_le",
        "dae2l_le",
        "dae2l_lse",
        "dae1l_lse",
        "dae3h_le",
        "dae2h_le",
        "dae2h_lse",
        "dae1h_lse",
        "variational_rrp",
    ];
    let errors: Vec<Vec<f64>> = (0..names.len())
        .map(|k| times.iter().map(|t| 26.0 / 10f64.powi(k as i32) * t / 10.0 * (3.0 * t + k as f64).sin()).collect())
        .collect();
    let curves = || names.iter().zip(&errors).map(|(name, errors)| ErrorCurve { name, times: &times, errors });
    let svg = figure::render(&pictures::comparison("Top", curves()));
    assert!(svg.contains("<title>Top: energy errors"));
    assert!(names.iter().all(|n| svg.contains(n)) && svg.len() < 2 << 20);
    show(&[("energy_comparison.svg", svg)], "compare");
    assert!(figure::render(&pictures::comparison("Top", curves().take(0))).ends_with("</svg>\n"));

    // Side by side on one scale: as many labels of each decade as there are panels.
    let svg = figure::render(&pictures::side_by_side("Top", curves()));
    assert!(svg.contains("<title>Top: energy errors by stepper"));
    assert!(names.iter().all(|n| svg.contains(n)) && svg.len() < 2 << 20);
    for label in ["10⁻⁶<", ">1<"] {
        assert_eq!(svg.matches(label).count(), names.len(), "{label}");
    }
    show(&[("energy_by_stepper.svg", svg)], "compare");
    assert!(figure::render(&pictures::side_by_side("Top", curves().take(0))).ends_with("</svg>\n"));
}

#[test]
fn work_against_precision() {
    let wall = [1e-3, 2e-3, 4e-3, 8e-3];
    let errors = [[1e-2, 5e-3, 2.5e-3, 1.2e-3], [1e-4, 1e-8, 1e-12, 0.0]];
    let curve = |k: usize| WorkCurve {
        name: ["dae1l_lse", "splitting_dlm"][k],
        wall: &wall,
        position: &errors[k],
        attitude: &errors[k],
    };
    let svg = figure::render(&pictures::work_precision("Work", "a note", &[curve(0), curve(1)]));
    for text in ["wall time (s)", "position", "attitude", "dae1l_lse", "splitting_dlm", "a note"] {
        assert!(svg.contains(text), "{text}");
    }
    show(&[("work_precision.svg", svg)], "work");
    // Particles have no attitude.
    let particle = WorkCurve { attitude: &[], ..curve(0) };
    assert!(!figure::render(&pictures::work_precision("Work", "", &[particle])).contains("attitude"));
    assert!(figure::render(&pictures::work_precision("Work", "", &[])).ends_with("</svg>\n"));
}

#[test]
fn same_run_same_bytes() {
    assert_eq!(render_all(&run(300, 2, 1)), render_all(&run(300, 2, 1)));
}

#[test]
fn files_and_errors() {
    let dir = std::env::temp_dir().join(format!("mbd-plot-{}", std::process::id()));
    let written = write_all(&dir.join("new"), &run(30, 1, 0)).expect("writable");
    assert_eq!(written.len(), ALL.len());
    assert!(written.iter().all(|f| f.is_file()));
    let curve = ErrorCurve { name: "a", times: &[0.0, 1.0], errors: &[0.0, 1e-3] };
    let files = write_comparison(&dir.join("compared"), "Top", &[curve]).expect("writable");
    assert!(files.len() == 2 && files.iter().all(|f| f.is_file()));
    let error = write_all(&written[0].join("below_a_file"), &run(1, 1, 0)).expect_err("a file is no folder");
    assert!(error.to_string().starts_with("cannot write `") && error.to_string().contains("below_a_file"));
    fs::remove_dir_all(dir).expect("removable");
}
