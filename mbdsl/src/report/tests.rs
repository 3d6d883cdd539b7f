//! Printed equations, descriptions and models in brief, of small models and of the library.

use std::path::Path;

use super::*;
use crate::backend::engine::{Backend, Engine};
use crate::driver::{Compiled, compile};
use crate::exec::bind::bind;
use crate::exec::system::ProgramSystem;

fn compiled(text: &str) -> (Sources, Compiled) {
    let mut sources = Sources::default();
    let file = sources.add("model.mbd", text);
    let compiled = compile(&mut sources, file, &crate::sema::Options::default());
    let compiled = compiled.unwrap_or_else(|errors| panic!("{}", crate::render::human(&sources, &errors, false)));
    (sources, compiled)
}

fn library(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../models").join(name);
    std::fs::read_to_string(path).unwrap()
}

fn derived(text: &str, is_latex: bool) -> String {
    let (sources, compiled) = compiled(text);
    derive(&compiled, &sources, is_latex)
}

fn explained(text: &str) -> String {
    let (sources, compiled) = compiled(text);
    let binding = bind(&compiled.program, &[]).unwrap();
    let mut system = ProgramSystem::new(&compiled.program, &binding, &Engine::new(Backend::Interp)).unwrap();
    let (_, report) = mbdsl_runtime::assembly::assemble(&mut system, binding.guess.clone()).unwrap();
    explain(&compiled, &sources, Some(&binding), Some(&report))
}

fn check_lines(text: &str, lines: &[&str]) {
    for line in lines {
        assert!(text.lines().any(|l| l.trim() == *line), "no line `{line}` in\n{text}");
    }
}

/// Every number as `#`, alignment as one space.
fn without_counts(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        let c = if c.is_ascii_digit() { '#' } else { c };
        if !(matches!(c, '#' | ' ') && out.ends_with(c)) {
            out.push(c);
        }
    }
    out.replace("#.#", "#")
}

#[test]
fn pendulum_as_on_paper() {
    let lines = [
        "joint pivot: spherical(ground.origin, top.tip)",
        "where X = [0, -l, 0]",
        "Phi = x + R X",
        "columns of B: dx, dtheta",
        "B = [I, -R skew(X)]",
        "Bdot V = R skew(Omega) skew(Omega) X",
        "dtheta: X x R^T lambda",
        "(dtheta, dtheta): skew(X) skew(R^T lambda)",
        "U = -m (g . x)",
        "J dOmega/dt + Omega x J Omega = (Q - B^T lambda)_theta",
    ];
    check_lines(&derived(&library("single_pendulum.mbd"), false), &lines);
}

#[test]
fn bodies_by_name_where_there_are_several() {
    let lines = [
        "joint pin[i in 1..N]: spherical(link[i - 1].b, link[i].a): 39 instances",
        "Phi = x_link[i] + R_link[i] X_a - x_link[i-1] - R_link[i-1] X_b",
        "B = [I, -R_link[i] skew(X_a), -I, R_link[i-1] skew(X_b)]",
    ];
    check_lines(&derived(&library("chain.mbd"), false), &lines);
}

#[test]
fn time_enters_a_drive() {
    let text = library("four_bar.mbd");
    check_lines(&derived(&text, false), &["Phi_t = -speed", "Phi_tt = 0", "2 B_t V = 0"]);
    let lines = [
        "18 coordinates, 21 equations, rank 18, 3 redundant, 0 degrees of freedom",
        "drive, check follows, check turns",
        "speed      = 60 rpm  6.283185 1/s",
    ];
    let text = explained(&text);
    check_lines(&text, &lines);
    assert!(text.contains("\njoints A, B, C, D overlap: "), "{text}");
}

/// Rows of a table that are wider than a page are not broken.
#[test]
fn wide_tables_stay_whole() {
    let text =
        explained(&library("double_ball.mbd").replace("first", "a_long_name_of_a_joint_that_makes_all_rows_wide"));
    let (_, table) = text.split_once("structural non-zeros").unwrap();
    let heading = table.lines().nth(1).unwrap();
    assert!(heading.chars().count() > super::WIDTH && heading.ends_with("dQ/dV"), "{text}");
}

#[test]
fn texts_do_not_depend_on_the_number_of_bodies() {
    let text = library("chain.mbd");
    let few = text.replace("N    = 40;", "N    = 10;");
    let many = text.replace("N    = 40;", "N    = 10000;");
    assert_ne!(few, many);
    assert_eq!(without_counts(&derived(&few, false)), without_counts(&derived(&many, false)));
    let explained = |text: &str| {
        let (sources, compiled) = compiled(text);
        without_counts(&explain(&compiled, &sources, None, None))
    };
    assert_eq!(explained(&few), explained(&many));
}

#[test]
fn forces_have_stiffness_and_damping() {
    let text = "model M {
        param k = 3 [N/m];
        param c = 2 [N*s/m];
        particle a { mass = 1 kg; pos = [0, 0, 0] m; }
        particle b { mass = 1 kg; pos = [1, 0, 0] m; }
        force s: spring(a, b, k = k, rest = 1 m);
        force d: damper(a, b, c = c);
    }";
    let lines = ["where d = x_b - x_a", "U = 0.5 k (|d| - 1)^2", "F = 0.5 c ((d . w)/|d|)^2", "dQ/dV = 0"];
    check_lines(&derived(text, false), &lines);
}

#[test]
fn a_parameter_is_not_taken_for_the_state() {
    let text = "model M {
        param R = 2 m;
        body b { mass = 1 kg; inertia = diag([1, 1, 1] [kg*m^2]); point p = [R, 0, 0]; }
        joint j: spherical(ground.origin, b.p);
    }";
    check_lines(&derived(text, false), &["where X = [R, 0, 0]", "Phi = x_b + R_b X"]);
}

#[test]
fn in_brief() {
    let (sources, compiled) = compiled(
        "model M {
            const N = 2;
            param k = 3 [N/m];   // stiffness
            input push = 0.5 * k
                * 1 m;
            particle a[i in 0..N] { mass = 1 kg; pos = [i * 1 m, 0, 0]; }
            constraint rail[i in 0..N]: a[i].pos.z == 0;
            force f on a[0]: [push, 0, 0];
            output both = [a[0].pos.x, a[1].pos.x];
            output at[i in 0..N] = a[i].pos;
            check near: norm(a[0].pos) < 3 m;
        }",
    );
    let lines = [
        "const N = 2",
        "param k = 3 [N/m]",
        "input push = 0.5 * k * 1 m",
        "particle a[i in 0..N]: 2 instances",
        "constraint rail[i in 0..N]: a[i].pos.z == 0: 2 instances",
        "  Phi = x[2]",
        "force f on a[0]: [push, 0, 0]",
        "  where u = [push, 0, 0]",
        "  Q =",
        "    dx: u",
        "output both = [a[0].pos.x, a[1].pos.x]",
        "output at = a[i].pos: 2 instances",
        "check near: norm(a[0].pos) < 3 m",
    ];
    assert_eq!(brief(&compiled, &sources), lines);
}

#[test]
fn pairs_that_are_found_show_their_distance() {
    let text = "
        model M {
            param r = 2 m;
            particle b[i in 0..3] { mass = 1 kg; pos = [i, 0, 0] m; }
            potential pair[p in b, q in b where p < q && dist(p.pos, q.pos) < r]: 1 [N/m] * (dist(p.pos, q.pos) - r)^2;
        }";
    let head =
        "potential pair[p in b, q in b where p < q && dist(p.pos, q.pos) < r]: 1 [N/m] * (dist(p.pos, q.pos) - r)^2:";
    let lines = [head, "pairs that are found during the run", "U = select(|d| < r, (|d| - r)^2, 0)"];
    let (sources, compiled) = compiled(text);
    check_lines(&derived(text, false), &lines);
    check_lines(&brief(&compiled, &sources).join("\n"), &lines);
    let explained = explained(text);
    check_lines(&explained, &["pairs that are found during the run", "pair  dist(p.pos, q.pos) < r"]);
    assert!(!derived(text, false).contains("dQ/dq"), "{explained}");
}

#[test]
fn long_equations_are_cut_in_brief() {
    let terms: Vec<String> = (0..200).map(|k| format!("sin({k} * a.pos.x / (1 m))")).collect();
    let (sources, compiled) =
        compiled(&format!("model M {{ particle a {{ mass = 1 kg; }} potential U: 1 J * ({}); }}", terms.join(" + ")));
    let lines = brief(&compiled, &sources);
    let cut = lines.iter().filter(|line| line.ends_with(" more lines")).count();
    assert_eq!((cut, lines.len()), (2, 2 + 2 * 16 + 1), "{lines:#?}");
    assert!(lines.iter().all(|line| line.chars().count() <= WIDTH + 4));
}

#[test]
fn every_model_of_the_library() {
    let models = Path::new(env!("CARGO_MANIFEST_DIR")).join("../models");
    let mut names: Vec<_> = std::fs::read_dir(models).unwrap().map(|f| f.unwrap().file_name()).collect();
    names.sort();
    for name in names.iter().filter_map(|n| n.to_str()).filter(|n| n.ends_with(".mbd")) {
        let text = library(name);
        let tex = derived(&text, true);
        let tex = tex.replace("\\{", "").replace("\\}", "");
        let mut depth = 0_i64;
        for c in tex.chars() {
            depth += i64::from(c == '{') - i64::from(c == '}');
            assert!(depth >= 0, "{name}: {tex}");
        }
        assert_eq!(depth, 0, "{name}");
        for pair in [("\\left", "\\right"), ("\\begin", "\\end")] {
            assert_eq!(tex.matches(pair.0).count(), tex.matches(pair.1).count(), "{name}: {pair:?}");
        }
        for line in [derived(&text, false), explained(&text)].iter().flat_map(|t| t.lines()) {
            assert!(line.chars().count() <= WIDTH + 4, "{name}: {line}");
        }
    }
}

#[test]
fn lines_break_where_they_are_nested_least() {
    let term = "f(a + b) ".repeat(9);
    let line = format!("  y = {term}+ g({})", "c + ".repeat(20) + "d");
    let wrapped = wrap(&line, 6);
    assert!(wrapped.contains("\n      + g(c"), "{wrapped}");
    assert!(wrapped.lines().all(|l| l.chars().count() <= WIDTH));
}
