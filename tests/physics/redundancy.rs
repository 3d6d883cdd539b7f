//! Mechanisms with equations that say nothing new: they are named, and the motion is that of the mechanism.

use mbdsl_runtime::nalgebra::Vector3;

use crate::data::table;
use crate::rig::{Steps, assemble, check_first_order, for_all_methods, halved, load, load_library, run};

/// Bricard's mechanism: 30 equations on 30 coordinates, rank 29 along the whole motion.
#[test]
fn bricard_names_its_redundant_equation() {
    let loaded = load_library("bricard");
    let report = assemble(&loaded).report;
    assert_eq!((report.rows, report.rank, report.degrees_of_freedom), (30, 29, 1));
    let [row] = report.dependent.as_slice() else { panic!("{:?}", report.dependent) };
    // It follows from the loop as a whole: all six hinges are in it.
    let mut hinges = row.overlaps.clone();
    hinges.push(row.element_name.clone());
    hinges.sort();
    hinges.dedup();
    assert_eq!(hinges, ["J0", "J1", "J2", "J3", "J4", "J5"]);
    assert!(!row.row_name.is_empty());
}

/// The joint that starts at (1, -1, 0), against an independent program.
#[test]
fn bricard_moves_as_it_should() {
    let expected = table("A04_bricard_P3");
    let loaded = load_library("bricard");
    for until in [0.5, 1.0] {
        let p3 = Vector3::from(expected.at(until, ["x", "y", "z"]));
        for_all_methods(|method| {
            let [errors] = halved(1e-3, |h| {
                let s = run(&loaded, Steps { method, h, until }).state;
                // Rod 2 runs from -0.5 m to 0.5 m along its x axis and ends at P3.
                [(s.x(1) + s.r(1) * Vector3::new(0.5, 0.0, 0.0) - p3).norm()]
            });
            check_first_order(&format!("bricard at {until} s"), method, errors);
        });
    }
}

/// The closed chain of `Modelica.Mechanics.MultiBody.Examples.Loops.PlanarFourbar`: boxes of steel, a damped hinge.
const PLANAR_FOUR_BAR: &str = "
define body Bar(length) {
    solid beam: box([length, 0.05 m, 0.05 m], density = 7700 [kg/m^3]);
    point a = [-length / 2, 0, 0];
    point b = [ length / 2, 0, 0];
}
model PlanarFourbar {
    let l2 = norm([0.1, 1.1, 0] m);
    let l3 = norm([0.65, 0.1, 0] m);
    gravity = [0, -9.80665, 0] [m/s^2];
    ground { point A = [0, 0, 0] m; point D = [-0.15, 1, 0] m; }
    body crank:   Bar(0.4 m) { pos = [0.2, 0, 0] m; }
    body coupler: Bar(l2)    { pos = [0.45, 0.55, 0] m; rot = about([0, 0, 1], atan2(1.1, 0.1)); }
    body rocker:  Bar(l3)    { pos = [0.175, 1.05, 0] m; rot = about([0, 0, 1], atan2(0.1, 0.65)); }
    joint A: revolute(ground.A, crank.a, axis = [0, 0, 1]);
    joint B: revolute(crank.b, coupler.a, axis = [0, 0, 1]);
    joint C: revolute(coupler.b, rocker.b, axis = [0, 0, 1]);
    joint D: revolute(ground.D, rocker.a, axis = [0, 0, 1]);
    dissipation damping: 0.5 * 0.1 [N*m*s] * A.rate^2;
    output angle = A.angle;
    output rate = A.rate;
    simulate { stepper = dae1l_lse; step = 1 ms; until = 5 s; }
}
";

#[test]
fn planar_four_bar_names_three_redundant_equations() {
    for loaded in [load(PLANAR_FOUR_BAR, &[]), load_library("four_bar_free")] {
        let report = assemble(&loaded).report;
        assert_eq!((report.rows, report.rank, report.degrees_of_freedom), (20, 17, 1));
        assert_eq!(report.dependent.len(), 3);
        // Out of the plane: one translation and two tilts. Never an equation of the plane.
        for row in &report.dependent {
            assert!(["A", "B", "C", "D"].contains(&row.element_name.as_str()), "{row:?}");
            assert!(!row.row_name.is_empty() && !row.overlaps.is_empty(), "{row:?}");
        }
    }
}

/// One degree of freedom, worked by hand: crank angle, its rate, and the angles of coupler and rocker, which follow.
///
/// `I(phi) phi'' + I_phi phi'^2 / 2 + U_phi + c phi' = 0` with the derivatives of the angles by `phi` from the closed
/// loop `l1 e(phi) + l2 e(a) = d + l3 e(b)` differentiated once and twice.
mod by_hand {
    use mbdsl_runtime::nalgebra::{Matrix2, Vector2};

    type V = Vector2<f64>;

    const D: [f64; 2] = [-0.15, 1.0];

    /// Crank, coupler and rocker, m.
    fn lengths() -> [f64; 3] {
        [0.4, 0.1_f64.hypot(1.1), 0.65_f64.hypot(0.1)]
    }

    fn e(angle: f64) -> V {
        V::new(angle.cos(), angle.sin())
    }

    fn n(angle: f64) -> V {
        V::new(-angle.sin(), angle.cos())
    }

    /// How far the loop is open, m.
    pub fn gap(z: &[f64; 4]) -> f64 {
        let [l1, l2, l3] = lengths();
        (l1 * e(z[0]) + l2 * e(z[2]) - V::from(D) - l3 * e(z[3])).norm()
    }

    /// Time derivative of `(phi, phi', a, b)`.
    fn rate(z: &[f64; 4]) -> [f64; 4] {
        let [phi, omega, a, b] = *z;
        let [l1, l2, l3] = lengths();
        let solve = |right: V| {
            let columns = Matrix2::from_columns(&[l2 * n(a), -l3 * n(b)]);
            columns.try_inverse().expect("no dead point on the way") * right
        };
        let first = solve(-l1 * n(phi));
        let (a1, b1) = (first.x, first.y);
        let second = solve(l1 * e(phi) + l2 * a1 * a1 * e(a) - l3 * b1 * b1 * e(b));
        // Per bar: mass, moment, derivatives of the angle, derivatives of the centre.
        let bars = [
            (l1, 1.0, 0.0, 0.5 * l1 * n(phi), -0.5 * l1 * e(phi)),
            (
                l2,
                a1,
                second.x,
                l1 * n(phi) + 0.5 * l2 * a1 * n(a),
                -l1 * e(phi) + 0.5 * l2 * (second.x * n(a) - a1 * a1 * e(a)),
            ),
            (l3, b1, second.y, 0.5 * l3 * b1 * n(b), 0.5 * l3 * (second.y * n(b) - b1 * b1 * e(b))),
        ];
        let (mut inertia, mut half_slope, mut u_phi) = (0.0, 0.0, 0.0);
        for (length, t1, t2, x1, x2) in bars {
            let mass = 7700.0 * 0.05 * 0.05 * length;
            let moment = mass * (length * length + 0.05 * 0.05) / 12.0;
            inertia += mass * x1.norm_squared() + moment * t1 * t1;
            half_slope += mass * x1.dot(&x2) + moment * t1 * t2;
            u_phi += mass * 9.80665 * x1.y;
        }
        [omega, -(half_slope * omega * omega + u_phi + 0.1 * omega) / inertia, a1 * omega, b1 * omega]
    }

    /// The motion from rest, by the classical Runge-Kutta method with steps of 0.1 ms (error about 1e-10).
    pub fn motion(until: f64) -> [f64; 4] {
        let mut z = [0.0, 0.0, 1.1_f64.atan2(0.1), 0.1_f64.atan2(0.65)];
        let h = 1e-4;
        let moved = |z: &[f64; 4], k: &[f64; 4], h: f64| std::array::from_fn(|i| z[i] + h * k[i]);
        for _ in 0..(until / h).round() as u64 {
            let k1 = rate(&z);
            let k2 = rate(&moved(&z, &k1, h / 2.0));
            let k3 = rate(&moved(&z, &k2, h / 2.0));
            let k4 = rate(&moved(&z, &k3, h));
            let k = std::array::from_fn(|i| (k1[i] + 2.0 * k2[i] + 2.0 * k3[i] + k4[i]) / 6.0);
            z = moved(&z, &k, h);
        }
        z
    }
}

/// The reduced equation is itself held against published end values: Dymola's to its tolerance, and those of a run
/// at a relative tolerance of 1e-11.
#[test]
fn planar_four_bar_by_hand_ends_where_others_end() {
    let z = by_hand::motion(5.0);
    assert!(by_hand::gap(&z) < 1e-9);
    assert!((z[0] - -0.940_165_296_754).abs() < 1e-7 && (z[1] - 6.996_046_856_67).abs() < 1e-6, "{z:?}");
    assert!((z[0] - -0.939_783_395_6).abs() < 1e-3 && (z[1] - 6.993_490_114_6).abs() < 1e-2, "{z:?}");
}

#[test]
fn planar_four_bar_moves_as_by_hand() {
    let loaded = load(PLANAR_FOUR_BAR, &[]);
    let [phi, omega, ..] = by_hand::motion(0.5);
    for_all_methods(|method| {
        let errors = halved(2e-4, |h| {
            let s = run(&loaded, Steps { method, h, until: 0.5 }).state;
            [(s.memory[0] - phi).abs(), (s.omega(0).z - omega).abs()]
        });
        check_first_order("planar four-bar, angle", method, errors[0]);
        check_first_order("planar four-bar, rate", method, errors[1]);
    });
}
