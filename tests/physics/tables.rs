//! Tables 1 and 2 of "The constraint-stabilized implicit methods on Lie group for differential-algebraic equations of
//! multibody system dynamics", to every printed digit, from the models of the library at their own steps.
//!
//! Residuals that a method makes round-off are bounds here: the printed ones (1e-16 to 1e-10) are properties of the
//! paper's arithmetic. Of the other entries four decimals are printed, and four must agree.

use mbdsl_runtime::steppers::method::Level;

use crate::rig::{Steps, for_all_methods, load_library, run};

/// A row: energy error absolute and relative, and the residuals that are not round-off, as printed.
struct Row {
    energy: &'static str,
    relative: &'static str,
    residuals: [Option<&'static str>; 3],
}

const fn row(energy: &'static str, relative: &'static str, residuals: [Option<&'static str>; 3]) -> Row {
    Row { energy, relative, residuals }
}

/// Both families of methods, in the order of the paper.
type Table = [Row; 8];

fn check(name: &str, energy_start: &str, table: &Table) {
    let loaded = load_library(name);
    let (h, until) = (loaded.binding.step.expect("given"), loaded.binding.until.expect("given"));
    // `10 us` is ten times the number nearest to 1e-6.
    assert!((h - 1e-5).abs() < 2.0 * f64::EPSILON * h, "the tables are for 10 us");
    let outcomes = for_all_methods(|method| run(&loaded, Steps { method, h, until }));
    for ((method, outcome), row) in outcomes.iter().zip(table) {
        let e = outcome.extremes;
        println!("{name} {method}: {:.1} s, {e:?}", outcome.wall);
        let printed = |x: f64| format!("{x:.4}");
        assert_eq!(printed(outcome.energy_start), energy_start, "{name}: H(0)");
        assert_eq!(printed(e.energy), row.energy, "{name} {method}: energy");
        assert_eq!(printed(e.energy / outcome.energy_start), row.relative, "{name} {method}: relative energy");
        // Units of round-off: 1e-12 is some hundred of |B V| = 150 m/s, 1e-10 some ten of |gamma| = 2e4 m/s^2.
        let residuals = [(e.position, 1e-12), (e.velocity, 1e-12), (e.acceleration, 1e-10)];
        for (k, ((found, bound), expected)) in residuals.into_iter().zip(row.residuals).enumerate() {
            match expected {
                Some(expected) => assert_eq!(printed(found), expected, "{name} {method}: residual {k}"),
                None => assert!(found < bound, "{name} {method}: residual {k} is {found:e}"),
            }
        }
        let zeros = row.residuals.map(|r| r.is_none());
        let promised = match method.level {
            Level::Index3 => [true, false, false],
            Level::Index2 => [false, true, false],
            Level::Index2Stabilised => [true, true, false],
            Level::Index1 => [true; 3],
        };
        assert_eq!(zeros, promised, "{name} {method}: the table is what the method promises");
    }
}

#[test]
fn table_1_single_pendulum() {
    check(
        "single_pendulum",
        "5436.5303",
        &[
            row("26.4216", "0.0049", [None, Some("0.0047"), Some("346.1551")]),
            row("11.1966", "0.0021", [Some("0.0171"), None, Some("0.6665")]),
            row("9.9687", "0.0018", [None, None, Some("0.6661")]),
            row("9.9687", "0.0018", [None, None, None]),
            row("26.4216", "0.0049", [None, Some("0.0047"), Some("346.1551")]),
            row("11.1966", "0.0021", [Some("0.0171"), None, Some("0.6665")]),
            row("11.1957", "0.0021", [None, None, Some("0.6658")]),
            row("11.1957", "0.0021", [None, None, None]),
        ],
    );
}

#[test]
fn table_2_double_pendulum() {
    check(
        "double_pendulum",
        "7568.1568",
        &[
            row("179.2942", "0.0237", [None, Some("0.0093"), Some("740.1607")]),
            row("96.0559", "0.0127", [Some("0.0047"), None, Some("0.5730")]),
            row("96.0631", "0.0127", [None, None, Some("0.5732")]),
            row("96.0631", "0.0127", [None, None, None]),
            row("179.2942", "0.0237", [None, Some("0.0093"), Some("740.1607")]),
            row("96.0559", "0.0127", [Some("0.0047"), None, Some("0.5730")]),
            row("96.2233", "0.0127", [None, None, Some("0.5849")]),
            row("96.2233", "0.0127", [None, None, None]),
        ],
    );
}
