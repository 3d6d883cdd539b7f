//! The equations of motion of a compiled model, as a person writes them on paper: bodies, constraints, forces.

use super::names::Notation;
use super::{Label, Sheet, WIDTH, counted, counted_force, escape, header, quoted};
use crate::driver::Compiled;
use crate::formulate::{ConstraintKind, Direction, ForceKind, Group, Origin};
use crate::model::{BodyKind, Model};
use crate::source::Sources;
use crate::symbolic::diff::{Differentiator, Rate};
use crate::symbolic::print::{block_row, latex_block_row};
use crate::symbolic::walk::depends_on_time;
use crate::symbolic::{ExprId, ExprPool, Quantity, Ty};

/// The derived equations of every declaration, in plain text or as a fragment of LaTeX that needs `amsmath`.
///
/// `sources` are those that the model was compiled from: declarations are quoted from there.
#[must_use]
pub fn derive(compiled: &Compiled, sources: &Sources, latex: bool) -> String {
    let mut sheet = Sheet::new(latex);
    let mut writer = Writer::new(compiled, sources, latex);
    for k in 0..compiled.model.bodies.len() {
        writer.body(&mut sheet, k);
    }
    for kind in &compiled.equations.constraints {
        writer.constraint(&mut sheet, kind);
    }
    for kind in &compiled.equations.forces {
        writer.force(&mut sheet, kind);
    }
    sheet.finish()
}

/// Writes equations; the pool grows by what is only derived for the eye.
pub(super) struct Writer<'a> {
    compiled: &'a Compiled,
    model: &'a Model,
    sources: &'a Sources,
    pool: ExprPool,
    diff: Differentiator,
    is_latex: bool,
}

impl<'a> Writer<'a> {
    pub(super) fn new(compiled: &'a Compiled, sources: &'a Sources, is_latex: bool) -> Self {
        let pool = compiled.equations.pool.clone();
        Self { compiled, model: &compiled.model, sources, pool, diff: Differentiator::default(), is_latex }
    }

    /// The declaration that a constraint comes from, as the model has it.
    pub(super) fn constraint_header(&self, kind: &ConstraintKind) -> String {
        header(self.sources, self.model.elements[kind.element].span)
    }

    /// The declaration that a force comes from, as the model has it; gravity is named.
    pub(super) fn force_header(&self, kind: &ForceKind) -> String {
        match kind.origin {
            Origin::Gravity(_) => kind.name.clone(),
            Origin::Element(k) => header(self.sources, self.model.elements[k].span),
        }
    }

    /// The named parts and `Phi` of a constraint.
    pub(super) fn phi(&mut self, sheet: &mut Sheet, kind: &ConstraintKind) -> Notation<'a> {
        let roots: Vec<_> = kind.groups.iter().map(|g| g.phi).collect();
        let names = kind.groups.iter().zip(&self.model.elements[kind.element].equations).map(|(_, e)| e.name.clone());
        let mut notation = Notation::new(self.model, &self.pool, &kind.bodies, names.collect(), &roots);
        let head = self.constraint_header(kind);
        notation.name_parts(&mut self.pool, &roots, &head);
        self.definitions(sheet, &notation);
        for (k, group) in kind.groups.iter().enumerate() {
            let label = Label::new("Phi", "\\Phi").of(&self.group_name(kind, k));
            sheet.equation(&label, &self.write(&notation, group.phi));
        }
        notation
    }

    /// The named parts of a force and the functions that it follows from; of a load, the force itself.
    pub(super) fn source(&mut self, sheet: &mut Sheet, kind: &ForceKind) -> Notation<'a> {
        let mut roots = vec![kind.potential, kind.dissipation];
        let is_load = roots.iter().all(|&e| self.pool.is_zero(e));
        if is_load {
            roots.clone_from(&kind.q);
        }
        let mut notation = Notation::new(self.model, &self.pool, &kind.bodies, Vec::new(), &roots);
        if let Origin::Gravity(body) = kind.origin {
            notation.name(&self.pool, self.compiled.equations.setups[body].mass, "m");
            notation.name(&self.pool, self.model.gravity, "g");
        }
        let head = self.force_header(kind);
        notation.name_parts(&mut self.pool, &roots, &head);
        self.definitions(sheet, &notation);
        for (letter, e) in [("U", kind.potential), ("F", kind.dissipation)] {
            if !self.pool.is_zero(e) {
                sheet.equation(&Label::new(letter, letter), &self.write(&notation, e));
            }
        }
        if is_load {
            self.vector(sheet, &notation, &Label::new("Q", "Q"), &kind.directions, &kind.q);
        }
        notation
    }

    fn body(&self, sheet: &mut Sheet, k: usize) {
        let (body, setup) = (&self.model.bodies[k], &self.compiled.equations.setups[k]);
        let head = header(self.sources, body.span);
        sheet.heading(&counted(&head, &body.set));
        let roots = [setup.mass, setup.inertia, setup.com];
        let mut notation = Notation::new(self.model, &self.pool, &[], Vec::new(), &roots);
        self.define(sheet, &notation, &Label::new("m", "m"), setup.mass);
        notation.name(&self.pool, setup.mass, "m");
        if body.kind == BodyKind::Rigid {
            let label = Label::new("J", "J");
            match self.sources.text(body.inertia_span) {
                // The inertia of solids is written nowhere.
                name if name == body.name => self.define(sheet, &notation, &label, setup.inertia),
                written => {
                    let written = written.split_whitespace().collect::<Vec<_>>().join(" ");
                    if written != "J" {
                        sheet.equation(&label, &quoted(&written, self.is_latex));
                    }
                }
            }
        }
        if !self.pool.is_zero(setup.com) {
            self.define(sheet, &notation, &Label::new("centre of mass", "\\text{centre of mass}"), setup.com);
        }
        let right = if self.is_latex { "\\left(Q - B^{T} \\lambda\\right)" } else { "(Q - B^T lambda)" };
        let (x, theta) = if self.is_latex { ("_{x}", "_{\\theta}") } else { ("_x", "_theta") };
        sheet.equation(&Label::new("m dv/dt", "m \\dot{v}"), &format!("{right}{x}"));
        if body.kind == BodyKind::Rigid {
            let left = Label::new("J dOmega/dt + Omega x J Omega", "J \\dot{\\Omega} + \\Omega \\times J \\Omega");
            sheet.equation(&left, &format!("{right}{theta}"));
        }
    }

    fn constraint(&mut self, sheet: &mut Sheet, kind: &ConstraintKind) {
        let head = self.constraint_header(kind);
        sheet.heading(&counted(&head, &self.model.elements[kind.element].set));
        let notation = self.phi(sheet, kind);
        self.columns(sheet, &notation, &kind.directions);
        for (k, group) in kind.groups.iter().enumerate() {
            self.jacobian(sheet, &notation, &self.group_name(kind, k), group, &kind.directions);
        }
        for (k, group) in kind.groups.iter().enumerate() {
            self.second_rate(sheet, &notation, &self.group_name(kind, k), group);
        }

        let mut power = self.pool.num(0.0);
        for group in &kind.groups {
            let part = match group.ty {
                Ty::Scalar => self.pool.mul(group.lambda, group.phi),
                Ty::Vec3 | Ty::Mat3 | Ty::Rot | Ty::Bool => self.pool.dot(group.lambda, group.phi),
            };
            power = self.pool.add(power, part);
        }
        let directions = &kind.directions;
        let pull: Vec<_> = directions.iter().map(|x| self.diff.grad(&mut self.pool, power, x.position)).collect();
        let label = Label::new("B^T lambda", "B^{T} \\lambda");
        self.vector(sheet, &notation, &label, directions, &pull);
        let label = Label::new("d(B^T lambda)/dq", "\\frac{\\partial (B^{T} \\lambda)}{\\partial q}");
        self.matrix(sheet, &notation, &label, directions, &kind.k_lam, false);
    }

    fn force(&mut self, sheet: &mut Sheet, kind: &ForceKind) {
        sheet.heading(&counted_force(&self.force_header(kind), self.model, kind));
        let notation = self.source(sheet, kind);
        let is_load = self.pool.is_zero(kind.potential) && self.pool.is_zero(kind.dissipation);
        if !is_load {
            self.vector(sheet, &notation, &Label::new("Q", "Q"), &kind.directions, &kind.q);
        }
        if kind.pairs.is_some() {
            return;
        }
        let label = Label::new("dQ/dq", "\\frac{\\partial Q}{\\partial q}");
        self.matrix(sheet, &notation, &label, &kind.directions, &kind.q_q, false);
        let label = Label::new("dQ/dV", "\\frac{\\partial Q}{\\partial V}");
        self.matrix(sheet, &notation, &label, &kind.directions, &kind.q_v, true);
    }

    fn columns(&self, sheet: &mut Sheet, notation: &Notation<'_>, directions: &[Direction]) {
        let heads: Vec<_> = directions.iter().map(|x| self.head(notation, x, false)).collect();
        if self.is_latex {
            let heads: Vec<_> = heads.into_iter().map(|h| h.tex).collect();
            sheet.equation(&Label::new("", "\\text{columns of } B"), &format!(":\\; {}", heads.join(",\\; ")));
        } else {
            let heads: Vec<_> = heads.into_iter().map(|h| h.text).collect();
            sheet.note(&format!("columns of B: {}", heads.join(", ")));
        }
    }

    /// `B` of a group; of a scalar equation the transpose, because its blocks are rows of three.
    fn jacobian(
        &self,
        sheet: &mut Sheet,
        notation: &Notation<'_>,
        name: &str,
        group: &Group,
        directions: &[Direction],
    ) {
        let label = Label::new("B", "B").of(name);
        if group.ty != Ty::Scalar {
            let row = if self.is_latex {
                latex_block_row(&self.pool, &group.b, notation)
            } else {
                block_row(&self.pool, &group.b, notation)
            };
            if self.is_latex || row.chars().count() + label.text.chars().count() + 5 <= WIDTH {
                return sheet.equation(&label, &row);
            }
            return self.vector(sheet, notation, &label, directions, &group.b);
        }
        let label = Label { text: format!("{}^T", label.text), tex: format!("{}^{{T}}", label.tex) };
        let blocks: Vec<_> = group.b.iter().map(|&e| self.write(notation, e)).collect();
        match (&blocks[..], self.is_latex) {
            ([single], _) => sheet.equation(&label, single),
            (several, true) => {
                let rows = several.join(" \\\\ ");
                sheet.equation(&label, &format!("\\begin{{pmatrix}} {rows} \\end{{pmatrix}}"));
            }
            (_, false) => self.vector(sheet, notation, &label, directions, &group.b),
        }
    }

    /// `Bdot V`, and what time adds to it.
    fn second_rate(&mut self, sheet: &mut Sheet, notation: &Notation<'_>, name: &str, group: &Group) {
        let bdot_v = Label::new("Bdot", "\\dot{B}").of(name);
        let bdot_v = Label { text: format!("{} V", bdot_v.text), tex: format!("{} V", bdot_v.tex) };
        sheet.equation(&bdot_v, &self.write(notation, group.bdot_v));
        if !depends_on_time(&self.pool, group.phi) {
            return;
        }
        let mixed = self.diff.rate(&mut self.pool, group.phi_t, Rate::Motion);
        let two = self.pool.num(2.0);
        let mixed = if group.ty == Ty::Scalar { self.pool.mul(two, mixed) } else { self.pool.scale(two, mixed) };
        let sub = |text: &str, tex: &str| {
            let comma = if name.is_empty() { String::new() } else { format!("{name},") };
            Label { text: text.replace('*', &comma), tex: tex.replace('*', &escape(&comma)) }
        };
        for (label, e) in [
            (sub("Phi_*t", "\\Phi_{*t}"), group.phi_t),
            (sub("Phi_*tt", "\\Phi_{*tt}"), group.phi_tt),
            (sub("2 B_*t V", "2 B_{*t} V"), mixed),
        ] {
            sheet.equation(&label, &self.write(notation, e));
        }
    }

    /// A vector by direction, without its zeros.
    fn vector(
        &self,
        sheet: &mut Sheet,
        notation: &Notation<'_>,
        label: &Label,
        directions: &[Direction],
        blocks: &[ExprId],
    ) {
        let entries = directions.iter().zip(blocks).filter(|(_, e)| !self.pool.is_zero(**e));
        let entries = entries.map(|(x, &e)| (self.head(notation, x, false), self.write(notation, e)));
        self.entries(sheet, label, &entries.collect::<Vec<_>>());
    }

    /// A matrix by row and column direction, without its zeros.
    fn matrix(
        &self,
        sheet: &mut Sheet,
        notation: &Notation<'_>,
        label: &Label,
        directions: &[Direction],
        blocks: &[ExprId],
        by_velocity: bool,
    ) {
        let mut entries = Vec::new();
        for (k, &e) in blocks.iter().enumerate().filter(|(_, e)| !self.pool.is_zero(**e)) {
            let row = self.head(notation, &directions[k / directions.len()], false);
            let column = self.head(notation, &directions[k % directions.len()], by_velocity);
            let text = format!("({}, {})", row.text, column.text);
            let tex = format!("{},\\,{}", row.tex, column.tex);
            entries.push((Label { text, tex }, self.write(notation, e)));
        }
        self.entries(sheet, label, &entries);
    }

    fn entries(&self, sheet: &mut Sheet, label: &Label, entries: &[(Label, String)]) {
        if entries.is_empty() { sheet.equation(label, "0") } else { sheet.blocks(label, entries) }
    }

    fn definitions(&self, sheet: &mut Sheet, notation: &Notation<'_>) {
        sheet.definitions(&notation.definitions(&self.pool, self.is_latex));
    }

    /// A letter and its value, unless that is the letter itself.
    fn define(&self, sheet: &mut Sheet, notation: &Notation<'_>, label: &Label, e: ExprId) {
        if notation.write(&self.pool, e, false) != label.text {
            sheet.equation(label, &self.write(notation, e));
        }
    }

    /// What a direction is called: `dtheta_crank`, or `dOmega_crank` as one of velocities.
    fn head(&self, notation: &Notation<'_>, direction: &Direction, is_velocity: bool) -> Label {
        let wrt = if is_velocity { direction.velocity } else { direction.position };
        let label = match wrt.what {
            Quantity::X => Label::new("dx", "\\delta x"),
            Quantity::R => Label::new("dtheta", "\\delta\\theta"),
            Quantity::V => Label::new("dv", "\\delta v"),
            Quantity::Omega => Label::new("dOmega", "\\delta\\Omega"),
        };
        label.of(&notation.body_of(&self.pool, wrt.body))
    }

    /// Name of a group of rows; nothing for the only one.
    fn group_name(&self, kind: &ConstraintKind, group: usize) -> String {
        let equations = &self.model.elements[kind.element].equations;
        match (equations.len(), equations[group].name.as_str()) {
            (1, _) => String::new(),
            (_, "") => (group + 1).to_string(),
            (_, name) => name.to_owned(),
        }
    }

    fn write(&self, notation: &Notation<'_>, e: ExprId) -> String {
        notation.write(&self.pool, e, self.is_latex)
    }
}
