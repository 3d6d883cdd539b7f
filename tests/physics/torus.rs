//! The impact of a torus of bonded spheres on a wall: an independent program's start, series and end, order, and what is kept.

use mbdsl::exec::run::Snapshot;
use mbdsl_runtime::steppers::name::StepperName;
use nalgebra::Vector3;

use crate::data::table;
use crate::rig::{Steps, load, load_library, text, watch};

type V3 = Vector3<f64>;

/// What the model says of its wall and its spheres: stiffness in N/m^1.5, radius in m, mass in kg.
const WALL: f64 = 500.0;
const RADIUS: f64 = 0.35;
const MASS: f64 = 1.0;

fn steps(h: f64, until: f64) -> Steps<StepperName> {
    Steps { method: "variational_rrp".parse().expect("a stepper"), h, until }
}

/// Force of the wall, N: what `(2/5) kw max(0, rho - z)^(5/2)` falls by.
fn wall(snapshot: &Snapshot<'_>) -> f64 {
    let depth = |k: usize| (RADIUS - snapshot.state.x(k).z).max(0.0);
    (0..snapshot.state.len()).map(|k| WALL * depth(k).powf(1.5)).sum()
}

/// Angular momentum about the origin. (That of the measures is about the mass centre.)
fn about_origin(snapshot: &Snapshot<'_>) -> V3 {
    let s = snapshot.state;
    let centre = (0..s.len()).fold(V3::zeros(), |sum, k| sum + s.x(k)) / s.len() as f64;
    snapshot.measures.angular_momentum + centre.cross(&snapshot.measures.momentum)
}

/// All 101 rows of the series, from the start to long after the impact, at the same step: the programs solve the same equations, and
/// their motions do not part within 12 s. What differs is the last digit that the table prints.
#[test]
fn the_series_of_an_independent_program() {
    let expected = table("torus_impact");
    let loaded = load_library("torus_impact");
    let (h, every) = (5e-4, 240);
    let (mut rows, mut given, mut last) = (0, 0.0, 0.0);
    let mut start = None;
    let mut kept = [0.0_f64; 3];
    let outcome = watch(&loaded, steps(h, 12.0), |now| {
        let (m, l) = (now.measures, about_origin(now));
        let (p0, l0): (V3, V3) = *start.get_or_insert((m.momentum, l));
        let force = wall(now);
        if now.n > 0 {
            given += 0.5 * h * (last + force);
        }
        last = force;
        let sizes = [(m.momentum - p0).xy().norm() / p0.norm(), (l - l0).z.abs() / l0.norm()];
        let impulse = (m.momentum.z - p0.z - given).abs() / p0.norm();
        for (kept, error) in kept.iter_mut().zip(sizes.into_iter().chain([impulse])) {
            *kept = kept.max(error);
        }
        if !now.n.is_multiple_of(every) {
            return;
        }
        let t = now.state.t;
        let columns =
            ["Ktrans", "Krot", "Vbond", "Vwall", "Px", "Py", "Pz", "Lx", "Ly", "Lz", "wall_impulse", "zmin", "zmax"];
        let [trans, rot, bond, wall, px, py, pz, lx, ly, lz, impulse, zmin, zmax] = expected.at(t, columns);
        let heights = || (0..now.state.len()).map(|k| now.state.x(k).z);
        let (lowest, highest) = heights().fold((f64::MAX, f64::MIN), |(lo, hi), z| (lo.min(z), hi.max(z)));
        let translation: f64 = (0..now.state.len()).map(|k| 0.5 * MASS * now.state.v(k).norm_squared()).sum();
        // Twelve digits are printed; momenta that are zero to round-off are so to that of the others.
        for (what, found, expected, scale) in [
            ("kinetic energy of translation", translation, trans, trans),
            ("kinetic energy of rotation", m.kinetic - translation, rot, trans),
            ("potential energy", m.potential, bond + wall, trans),
            ("P_x", m.momentum.x, px, 480.0),
            ("P_y", m.momentum.y, py, 480.0),
            ("P_z", m.momentum.z, pz, 480.0),
            ("L_x", l.x, lx, 4188.0),
            ("L_y", l.y, ly, 4188.0),
            ("L_z", l.z, lz, 4188.0),
            ("impulse of the wall", given, impulse, 480.0),
            ("lowest centre", lowest, zmin, zmax),
            ("highest centre", highest, zmax, zmax),
        ] {
            assert!((found - expected).abs() < 1e-11 * scale, "t = {t}: {what} {found} and {expected}");
        }
        rows += 1;
    });
    assert_eq!(rows, 101);
    // As printed for this step, and for steps of zero.
    let error = outcome.extremes.energy / outcome.energy_start;
    let momenta = outcome.state;
    println!("energy {error:e}; along, about, impulse: {kept:?}");
    assert!((error - 6.02e-8).abs() < 0.005e-8, "{error:e}");
    assert!(kept[0] < 1e-13 && kept[1] < 1e-13 && kept[2] < 1e-12, "{kept:?}");
    let p = (0..momenta.len()).fold(V3::zeros(), |sum, k| sum + momenta.v(k) * MASS);
    assert!((p - V3::new(144.0, 0.0, 271.2324)).amax() < 1e-4, "{p}");
}

/// Start, order of the energy error, and momenta after the impact as the steps become small.
#[test]
fn start_order_and_momenta_after_the_impact() {
    let loaded = load_library("torus_impact");
    let [coarse, fine] = [8e-3, 4e-3].map(|h| {
        let mut ends: Vec<(f64, V3, V3)> = Vec::new();
        let outcome = watch(&loaded, steps(h, 8.0), |now| {
            let end = (now.measures.energy(), now.measures.momentum, about_origin(now));
            ends.truncate(1);
            ends.push(end);
        });
        let [(energy, p0, l0), (_, p, l)] = ends[..] else { panic!("a start and an end") };
        assert!((energy - 806.825454).abs() < 1e-6, "{energy}");
        assert!((p0 - V3::new(144.0, 0.0, -480.0)).amax() < 1e-10, "{p0}");
        assert!((l0 - V3::new(580.176, -1403.2325, 4187.9943)).amax() < 1e-4, "{l0}");
        (outcome.extremes.energy / energy, p, l)
    });
    let order = (coarse.0 / fine.0).log2();
    println!("energy {:e} and {:e}, order {order:.3}", coarse.0, fine.0);
    assert!((1.9..2.1).contains(&order), "{order}");
    assert!((coarse.1.z - 271.22647).abs() < 1e-5 && (fine.1.z - 271.23084).abs() < 1e-5, "{} {}", coarse.1, fine.1);
    // Without the error of order 2, that of order 4 is left.
    let limit = |coarse: V3, fine: V3| fine + (fine - coarse) / 3.0;
    let (p, l) = (limit(coarse.1, fine.1), limit(coarse.2, fine.2));
    println!("momenta after the impact: {p} {l}");
    assert!((p - V3::new(144.0, 0.0, 271.2324)).amax() < 2e-4, "{p}");
    assert!((l - V3::new(-2194.379, -321.794, 4187.994)).amax() < 2e-3, "{l}");
}

/// Another size by its constants: 1008 spheres.
#[test]
fn a_larger_torus() {
    let loaded = load(&text("torus_impact"), &["around=56", "across=18", "R=9", "r=3"]);
    let [coarse, fine] = [8e-3, 4e-3].map(|h| {
        let mut momentum = V3::zeros();
        let outcome = watch(&loaded, steps(h, 12.0), |now| momentum = now.measures.momentum);
        assert_eq!(outcome.state.len(), 1008);
        assert!((outcome.energy_start - 2761.331295).abs() < 1e-6, "{}", outcome.energy_start);
        (outcome.extremes.energy / outcome.energy_start, momentum)
    });
    println!("energy {:e} and {:e}, momentum {}", coarse.0, fine.0, fine.1);
    assert!((fine.0 - 2.15e-6).abs() < 0.01e-6, "{:e}", fine.0);
    assert!((1.9..2.1).contains(&(coarse.0 / fine.0).log2()), "{:e} {:e}", coarse.0, fine.0);
    let limit = fine.1 + (fine.1 - coarse.1) / 3.0;
    assert!((limit.z - 804.183).abs() < 1e-3, "{limit}");
}
