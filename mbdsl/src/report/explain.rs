//! What a model amounts to: bodies, rows, rank, each element's equations, and what they cost.

use std::fmt::Write as _;

use mbdsl_runtime::assembly::{AssemblyReport, DependentRow};

use super::derive::Writer;
use super::{Sheet, counted, default_of, header, plural, wrap};
use crate::driver::Compiled;
use crate::exec::bind::Binding;
use crate::ir::program::{self, Constraint, Family, Force};
use crate::ir::text::count;
use crate::ir::verify::VerifiedKernel;
use crate::model::{self, BodyKind, CheckTime, Level, Model};
use crate::source::Sources;
use crate::symbolic::ExprId;
use crate::symbolic::walk::depends_on_time;

/// A description of a model for the person who wrote it: with `binding`, the values of its parameters; with `assembly`, its
/// rank and what is redundant.
///
/// `sources` are those that the model was compiled from: declarations are quoted from there.
#[must_use]
pub fn explain(
    compiled: &Compiled,
    sources: &Sources,
    binding: Option<&Binding>,
    assembly: Option<&AssemblyReport>,
) -> String {
    let model = &compiled.model;
    let mut page = Page { compiled, sources, out: String::new() };
    page.line(0, &format!("model {}", model.name));
    for doc in &model.docs {
        page.line(1, doc);
    }
    page.out.push('\n');
    page.freedom(assembly);
    page.bodies();
    page.constraints();
    page.pairs();
    page.equations();
    page.parameters(binding);
    page.time();
    page.observers();
    page.operations();
    page.structure();
    page.constants();
    page.out
}

/// The text so far.
struct Page<'a> {
    compiled: &'a Compiled,
    sources: &'a Sources,
    out: String,
}

impl Page<'_> {
    fn line(&mut self, level: usize, text: &str) {
        let indent = 2 * level;
        let line = format!("{:indent$}{text}", "");
        self.out.push_str(wrap(line.trim_end(), indent + 4).trim_end());
        self.out.push('\n');
    }

    fn heading(&mut self, text: &str) {
        self.out.push('\n');
        self.line(0, text);
    }

    /// Rows with aligned cells. Cells of numbers stand to the right, and their rows stay whole where names make them wide: a number
    /// on a line of its own belongs to no column.
    fn table(&mut self, rows: &[Vec<String>], is_number: impl Fn(usize) -> bool) {
        let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
        let width = |k: usize| rows.iter().filter_map(|r| r.get(k)).map(|c| c.chars().count()).max().unwrap_or(0);
        let widths: Vec<usize> = (0..columns).map(width).collect();
        for row in rows {
            let mut line = String::new();
            for (k, cell) in row.iter().enumerate() {
                let width = widths[k];
                let gap = if k == 0 || width == 0 { "" } else { "  " };
                let written =
                    if is_number(k) { write!(line, "{gap}{cell:>width$}") } else { write!(line, "{gap}{cell:width$}") };
                written.expect("writing to a string succeeds");
            }
            if (0..columns).any(&is_number) {
                self.out.push_str(format!("  {line}").trim_end());
                self.out.push('\n');
            } else {
                self.line(1, &line);
            }
        }
    }

    fn freedom(&mut self, assembly: Option<&AssemblyReport>) {
        let model = &self.compiled.model;
        let coordinates: usize = model.bodies.iter().map(|b| b.set.count * b.kind.dim()).sum();
        let constraints = &self.compiled.program.constraints;
        let rows: usize = constraints.iter().map(|c| c.family.table.count * c.rows).sum();
        let mut line = format!("{}, {}", plural(coordinates, "coordinate"), plural(rows, "equation"));
        if let Some(report) = assembly {
            let (rank, redundant) = (report.rank, report.rows - report.rank);
            let degrees = if report.degrees_of_freedom == 1 { "degree" } else { "degrees" };
            line.push_str(&format!(
                ", rank {rank}, {redundant} redundant, {} {degrees} of freedom",
                report.degrees_of_freedom
            ));
        }
        self.line(0, &line);
        for line in assembly.map_or_else(Vec::new, |report| overlaps(model, &report.dependent)) {
            self.line(0, &line);
        }
    }

    fn bodies(&mut self) {
        let model = &self.compiled.model;
        self.heading("bodies");
        let mut rows = Vec::new();
        for body in &model.bodies {
            let kind = match body.kind {
                BodyKind::Rigid => "rigid",
                BodyKind::Particle => "particle",
            };
            let size = plural(body.set.count * body.kind.dim(), "coordinate");
            let head = counted(&header(self.sources, body.span), &body.set);
            rows.push(vec![head, kind.to_owned(), size, body.docs.join(" ")]);
        }
        self.table(&rows, |_| false);
    }

    fn constraints(&mut self) {
        let (model, constraints) = (&self.compiled.model, &self.compiled.program.constraints);
        if constraints.is_empty() {
            return;
        }
        self.heading("joints and constraints");
        let mut rows = Vec::new();
        for (kind, constraint) in self.compiled.equations.constraints.iter().zip(constraints) {
            let element = &model.elements[kind.element];
            let size = plural(element.set.count * constraint.rows, "row");
            let head = counted(&header(self.sources, element.span), &element.set);
            let is_named = element.equations.iter().any(|e| !e.name.is_empty());
            let names = if is_named { constraint.row_names.join(", ") } else { String::new() };
            rows.push(vec![head, size, names]);
        }
        self.table(&rows, |_| false);
    }

    fn pairs(&mut self) {
        let elements = &self.compiled.model.elements;
        let found: Vec<_> = elements.iter().filter_map(|e| Some((e, e.cutoff.as_ref()?))).collect();
        if found.is_empty() {
            return;
        }
        self.heading("pairs that are found during the run");
        let rows: Vec<_> =
            found.iter().map(|(e, cutoff)| vec![e.name.clone(), header(self.sources, cutoff.span)]).collect();
        self.table(&rows, |_| false);
    }

    fn equations(&mut self) {
        let compiled = self.compiled;
        let mut writer = Writer::new(compiled, self.sources, false);
        self.heading("equations");
        for (kind, constraint) in compiled.equations.constraints.iter().zip(&compiled.program.constraints) {
            let mut sheet = Sheet::new(false);
            writer.phi(&mut sheet, kind);
            self.section(&constraint.family.name, sheet);
        }
        for kind in &compiled.equations.forces {
            let mut sheet = Sheet::new(false);
            writer.source(&mut sheet, kind);
            self.section(&kind.name, sheet);
        }
    }

    fn section(&mut self, title: &str, sheet: Sheet) {
        self.line(1, title);
        for line in sheet.finish().lines() {
            self.out.push_str(&format!("  {line}\n"));
        }
    }

    fn parameters(&mut self, binding: Option<&Binding>) {
        let model = &self.compiled.model;
        if !model.consts.is_empty() {
            self.heading("constants");
            let rows: Vec<_> = model.consts.iter().map(|c| vec![c.name.clone(), format!("= {}", c.value)]).collect();
            self.table(&rows, |_| false);
        }
        let program = &self.compiled.program;
        self.given("parameters", &model.params, &program.params, binding.map(|b| &b.params[..]));
        self.given("inputs", &model.inputs, &program.inputs, binding.map(|b| &b.signals[..]));
    }

    /// What is given from outside: name, default as written, value and unit, documentation.
    fn given(&mut self, heading: &str, list: &[model::Param], entries: &[program::Param], numbers: Option<&[f64]>) {
        if list.is_empty() {
            return;
        }
        self.heading(heading);
        let mut rows = Vec::new();
        for (param, entry) in list.iter().zip(entries) {
            let value = numbers.map_or_else(String::new, |numbers| {
                let values = &numbers[entry.offset..entry.offset + entry.len];
                let list: Vec<_> = values.iter().map(|x| number(*x)).collect();
                if let [single] = &list[..] { single.clone() } else { format!("[{}]", list.join(", ")) }
            });
            let unit = if entry.unit == "1" { "" } else { &entry.unit };
            let written = format!("= {}", default_of(self.sources, param.span));
            rows.push(vec![param.name.clone(), written, format!("{value} {unit}"), param.docs.join(" ")]);
        }
        self.table(&rows, |_| false);
    }

    fn time(&mut self) {
        let (model, equations) = (&self.compiled.model, &self.compiled.equations);
        let pool = &equations.pool;
        let explicit = |list: &[ExprId]| list.iter().any(|&e| depends_on_time(pool, e));
        let mut names = Vec::new();
        for kind in &equations.constraints {
            if explicit(&kind.groups.iter().map(|g| g.phi).collect::<Vec<_>>()) {
                names.push(model.elements[kind.element].name.clone());
            }
        }
        for kind in &equations.forces {
            if explicit(&[&[kind.potential, kind.dissipation], &kind.q[..]].concat()) {
                names.push(kind.name.clone());
            }
        }
        let observed = model.outputs.iter().map(|o| &o.name).zip(&equations.outputs);
        names.extend(observed.filter(|(_, e)| explicit(&[**e])).map(|(name, _)| format!("output {name}")));
        let checked = model.checks.iter().map(|c| &c.name).zip(&equations.checks);
        names.extend(checked.filter(|(_, c)| explicit(&[c.condition])).map(|(name, _)| format!("check {name}")));
        self.heading("time enters");
        self.line(1, &if names.is_empty() { "nowhere".to_owned() } else { names.join(", ") });
    }

    fn observers(&mut self) {
        let (model, program) = (&self.compiled.model, &self.compiled.program);
        if !model.conditions.is_empty() {
            self.heading("initial values");
            let mut rows = Vec::new();
            for condition in &model.conditions {
                let level = match condition.level {
                    Level::Position => "of positions",
                    Level::Velocity => "of velocities",
                };
                let held = if condition.fixed { "held" } else { "wished for" };
                rows.push(vec![counted(&condition.name, &condition.set), held.to_owned(), level.to_owned()]);
            }
            self.table(&rows, |_| false);
        }
        if !model.outputs.is_empty() {
            self.heading("outputs");
            let mut rows = Vec::new();
            for (output, entry) in model.outputs.iter().zip(&program.outputs) {
                let shape = if entry.len == 1 { "number" } else { "vector" };
                let unit = if entry.unit == "1" { String::new() } else { entry.unit.clone() };
                rows.push(vec![counted(&output.name, &output.set), shape.to_owned(), unit, output.docs.join(" ")]);
            }
            self.table(&rows, |_| false);
        }
        if !model.checks.is_empty() {
            self.heading("checks");
            let mut rows = Vec::new();
            for check in &model.checks {
                let when = match check.time {
                    CheckTime::Bound => "when parameters are set",
                    CheckTime::Always => "after every step",
                    CheckTime::Once => "at the end",
                };
                let name = counted(&check.name, &check.set);
                rows.push(vec![name, when.to_owned(), header(self.sources, check.span)]);
            }
            self.table(&rows, |_| false);
        }
    }

    fn operations(&mut self) {
        let program = &self.compiled.program;
        self.heading("operations of the kernels, per instance");
        let head = ["", "", "adds", "muls", "divs", "roots", "functions"];
        let mut rows = vec![head.map(str::to_owned).to_vec()];
        let mut kernels = |family: &Family, list: &[(&str, &VerifiedKernel)]| {
            for (k, (what, kernel)) in list.iter().enumerate() {
                let c = count(kernel.get());
                let mut row = vec![if k == 0 { family.name.clone() } else { String::new() }, (*what).to_owned()];
                row.extend([c.adds, c.muls, c.divs, c.sqrts, c.functions].map(|n| n.to_string()));
                rows.push(row);
            }
        };
        for c in &program.constraints {
            kernels(
                &c.family,
                &[
                    ("Phi", &c.value),
                    ("Phi, Phi_t, B", &c.jacobian),
                    ("Phi, Phi_t, B, d(B V)/dq, d(B^T lambda)/dq", &c.newton),
                    ("Bdot V + 2 B_t V + Phi_tt", &c.convective),
                    ("and its derivatives by q, V", &c.convective_newton),
                ],
            );
        }
        for f in &program.forces {
            kernels(&f.family, &[("U, F", &f.energy), ("Q", &f.force), ("Q, dQ/dq, dQ/dV", &f.newton)]);
        }
        for p in &program.pairs {
            kernels(&p.family, &[("U", &p.energy), ("Q", &p.force)]);
        }
        self.table(&rows, |k| k >= 2);
    }

    fn structure(&mut self) {
        let program = &self.compiled.program;
        self.heading("structural non-zeros of the blocks of an instance");
        let head = ["", "B", "d(B V)/dq", "d(B^T lambda)/dq", "dQ/dq", "dQ/dV"];
        let mut rows = vec![head.map(str::to_owned).to_vec()];
        let mut total = 0;
        for c in &program.constraints {
            let [b, bv_q, k_lam] = constraint_blocks(c);
            total += b.count * c.family.table.count;
            rows.push(vec![c.family.name.clone(), b.text(), bv_q.text(), k_lam.text()]);
        }
        for f in &program.forces {
            let [q_q, q_v] = force_blocks(f);
            let none = String::new;
            rows.push(vec![f.family.name.clone(), none(), none(), none(), q_q.text(), q_v.text()]);
        }
        self.table(&rows, |k| k >= 1);
        let nv: usize =
            program.bodies.iter().map(|b| b.setup.family.table.count * if b.is_rigid { 6 } else { 3 }).sum();
        let nc: usize = program.constraints.iter().map(|c| c.family.table.count * c.rows).sum();
        if nc > 0 {
            let whole = Filling { count: total, size: nc * nv };
            self.line(1, &format!("B of the model: {nc} x {nv}, {}", whole.text()));
        }
    }

    /// What the kernels load beside the state: columns are of each instance, the rest is shared by all.
    fn constants(&mut self) {
        let program = &self.compiled.program;
        self.heading("numbers in the table of an instance");
        let mut rows = vec![["", "columns", "shared"].map(str::to_owned).to_vec()];
        let constraints = program.constraints.iter().map(|c| &c.family);
        let forces = program.forces.iter().map(|f| &f.family);
        for family in constraints.chain(forces).chain(program.pairs.iter().map(|p| &p.family)) {
            let numbers = [family.interface.columns, family.interface.uniforms].map(|n| n.to_string());
            rows.push([&[family.name.clone()][..], &numbers].concat());
        }
        self.table(&rows, |k| k >= 1);
    }
}

/// How many entries of a block may differ from zero.
struct Filling {
    count: usize,
    size: usize,
}

impl Filling {
    /// Entries of a kernel's result from an offset on: what it does not write is zero.
    fn of(kernel: &VerifiedKernel, from: usize, size: usize) -> Self {
        let written = kernel.get().outputs.iter().filter(|(at, _)| (from..from + size).contains(&(*at as usize)));
        Self { count: written.count(), size }
    }

    fn text(&self) -> String {
        let percent = 100.0 * self.count as f64 / self.size.max(1) as f64;
        let percent =
            if percent >= 10.0 || self.count == 0 { format!("{percent:.0}") } else { format!("{percent:.2}") };
        format!("{} of {} ({percent} %)", self.count, self.size)
    }
}

/// `B`, `d(B V)/dq`, `d(B^T lambda)/dq`.
fn constraint_blocks(c: &Constraint) -> [Filling; 3] {
    let (start, size) = (2 * c.rows, c.rows * c.dim);
    let of = |from, size| Filling::of(&c.newton, from, size);
    let squares = Filling { size: c.dim * c.dim, ..of(start + 2 * size, 9 * c.couplings.len()) };
    [of(start, size), of(start + size, size), squares]
}

/// `dQ/dq`, `dQ/dV`.
fn force_blocks(f: &Force) -> [Filling; 2] {
    let stored = 9 * f.couplings.len();
    [f.dim, f.dim + stored].map(|from| Filling { size: f.dim * f.dim, ..Filling::of(&f.newton, from, stored) })
}

/// Elements named in one line at most.
const NAMED: usize = 12;

/// A line for each set of elements whose rows say the same, with the rows that follow from the others.
fn overlaps(model: &Model, dependent: &[DependentRow]) -> Vec<String> {
    let mut sets: Vec<(Vec<String>, Vec<String>)> = Vec::new();
    for row in dependent {
        let mut elements: Vec<String> = row.overlaps.iter().chain([&row.element_name]).cloned().collect();
        elements.sort_by_cached_key(|name| place(model, name));
        elements.dedup();
        let name = format!("{}.{}", row.element_name, row.row_name);
        match sets.iter_mut().find(|(known, _)| *known == elements) {
            Some((_, rows)) => rows.push(name),
            None => sets.push((elements, vec![name])),
        }
    }
    let mut lines = Vec::new();
    for (elements, rows) in sets {
        let all_joints = elements.iter().all(|name| {
            let (decl, _) = place(model, name);
            model.elements.get(decl).is_some_and(|e| !matches!(e.kind.as_str(), "constraint"))
        });
        let noun = match (all_joints, elements.len()) {
            (true, 1) => "joint",
            (true, _) => "joints",
            (false, 1) => "element",
            (false, _) => "elements",
        };
        let verb = if elements.len() == 1 { "overlaps itself" } else { "overlap" };
        let follow = if rows.len() == 1 { "follows" } else { "follow" };
        lines.push(format!(
            "{noun} {} {verb}: {} {follow} from the other rows",
            shortened(&elements),
            shortened(&rows)
        ));
    }
    lines
}

/// Declaration and indices of an element by its name: `pin[3]`.
fn place(model: &Model, name: &str) -> (usize, Vec<i32>) {
    let (decl, indices) = name.split_once('[').unwrap_or((name, ""));
    let decl = model.elements.iter().position(|e| e.name == decl).unwrap_or(model.elements.len());
    (decl, indices.trim_end_matches(']').split(',').filter_map(|k| k.parse().ok()).collect())
}

/// A list without its middle if it is long.
fn shortened(names: &[String]) -> String {
    match names {
        [start @ .., _, _, last] if names.len() > NAMED => {
            format!("{}, ... {last} ({} in all)", start[..NAMED - 2].join(", "), names.len())
        }
        all => all.join(", "),
    }
}

/// Seven digits of a number.
fn number(x: f64) -> String {
    let rounded: f64 = format!("{x:.6e}").parse().unwrap_or(x);
    if rounded == 0.0 || (1e-4..1e7).contains(&rounded.abs()) { rounded.to_string() } else { format!("{rounded:e}") }
}
