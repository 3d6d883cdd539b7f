//! What things are called in the equations of an element: bare letters where one body is meant, names for the arms of points,
//! for places, axes and distances.

use std::collections::BTreeSet;

use crate::model::Model;
use crate::symbolic::print::{Names, latex, subscripts, text};
use crate::symbolic::walk::{depends_on_state, depends_on_time, depends_on_velocity, operands, reachable};
use crate::symbolic::{BodyRef, ExprId, ExprPool, Fun2, Instance, Node, Quantity, Ty};

/// Letters of the state and of what is derived, which nothing else is called.
const LETTERS: [&str; 13] = ["x", "R", "v", "Omega", "V", "B", "Q", "U", "F", "I", "t", "Phi", "lambda"];

/// Names within the equations of one declaration.
#[derive(Clone, Debug)]
pub(super) struct Notation<'a> {
    model: &'a Model,
    is_bare: bool,
    groups: Vec<String>,
    named: Vec<(ExprId, String)>,
    /// Other forms of what is named: `b - a` where `d = a - b`.
    forms: Vec<(ExprId, String)>,
    taken: BTreeSet<String>,
}

impl Names for Notation<'_> {
    fn param(&self, k: u32) -> String {
        self.model.params[k as usize].name.clone()
    }

    fn constant(&self, k: u32) -> String {
        self.model.consts[k as usize].name.clone()
    }

    fn input(&self, k: u32) -> String {
        self.model.inputs[k as usize].name.clone()
    }

    fn index(&self, k: u32) -> String {
        self.model.indices[k as usize].clone()
    }

    fn body(&self, body: &Instance, pool: &ExprPool) -> String {
        if self.is_bare {
            return String::new();
        }
        format!("{}{}", self.model.bodies[body.decl as usize].name, subscripts(pool, &body.indices, self))
    }

    fn symbol(&self, k: u32) -> String {
        match self.groups.get(k as usize) {
            Some(name) if self.groups.len() > 1 && !name.is_empty() => format!("lambda_{name}"),
            Some(_) if self.groups.len() > 1 => format!("lambda_{k}"),
            Some(_) | None => "lambda".to_owned(),
        }
    }

    fn lambda(&self, element: &Instance, group: u32, pool: &ExprPool) -> String {
        let of = &self.model.elements[element.decl as usize];
        let name = format!("lambda_{}{}", of.name, subscripts(pool, &element.indices, self));
        match &of.equations[..] {
            [_] => name,
            several => format!("{name}_{}", several[group as usize].name),
        }
    }

    fn memory(&self, element: &Instance, _site: u32, pool: &ExprPool) -> String {
        let of = &self.model.elements[element.decl as usize];
        format!("angle_{}{}", of.name, subscripts(pool, &element.indices, self))
    }

    fn name_of(&self, e: ExprId) -> Option<String> {
        self.named.iter().chain(&self.forms).find(|(named, _)| *named == e).map(|(_, name)| name.clone())
    }
}

impl<'a> Notation<'a> {
    /// For some expressions with few bodies. `groups` are the names of the element's equations.
    pub(super) fn new(
        model: &'a Model,
        pool: &ExprPool,
        bodies: &[BodyRef],
        groups: Vec<String>,
        roots: &[ExprId],
    ) -> Self {
        let params: BTreeSet<String> = reachable(pool, roots, |_| true)
            .into_iter()
            .filter_map(|e| match *pool.node(e) {
                Node::Param(k) => Some(model.params[k as usize].name.clone()),
                Node::Input(k) => Some(model.inputs[k as usize].name.clone()),
                _ => None,
            })
            .collect();
        // A parameter of that name would be taken for the state of the body.
        let is_bare = bodies.len() < 2 && !["x", "R", "v", "Omega"].iter().any(|&letter| params.contains(letter));
        let mut taken = params;
        taken.extend(LETTERS.map(str::to_owned));
        taken.extend(model.indices.iter().cloned());
        Self { model, is_bare, groups, named: Vec::new(), forms: Vec::new(), taken }
    }

    /// Names arms, places, axes and distances that occur in the roots. The header tells what the points are called.
    pub(super) fn name_parts(&mut self, pool: &mut ExprPool, roots: &[ExprId], header: &str) {
        let (arms, places) = points(pool, roots);
        self.name_arms(pool, &arms, &declared_points(header));
        self.name_all("P", &places);
        let constants = constants(pool, roots);
        for (k, axis) in ["e_x", "e_y", "e_z"].iter().enumerate() {
            self.name_all(axis, &units(pool, &constants, k));
        }
        let axes: Vec<_> = constants.into_iter().filter(|&e| !is_simple(pool, e)).collect();
        self.name_all("u", &axes);
        let (moving, still): (Vec<_>, Vec<_>) =
            differences(pool, roots).into_iter().partition(|&e| depends_on_velocity(pool, e));
        self.name_all("d", &still);
        self.name_all("w", &moving);
        for e in still.into_iter().chain(moving) {
            let negative = pool.neg(e);
            if !matches!(pool.node(negative), Node::Neg(_))
                && let Some(name) = self.name_of(e)
            {
                self.forms.push((negative, format!("(-{name})")));
            }
        }
        let (cosines, sines) = angles(pool, roots);
        self.name_all("c", &cosines);
        self.name_all("s", &sines);
    }

    /// Gives an expression a letter, unless it is a parameter or a number, or has one.
    pub(super) fn name(&mut self, pool: &ExprPool, e: ExprId, letter: &str) {
        if !matches!(pool.node(e), Node::Param(_) | Node::Input(_) | Node::Num(_) | Node::ZeroVec) {
            self.name_all(letter, &[e]);
        }
    }

    /// The named expressions with their values, in the order in which they were named.
    pub(super) fn definitions(&self, pool: &ExprPool, is_latex: bool) -> Vec<(String, String)> {
        let mut out = Vec::new();
        for (k, (e, name)) in self.named.iter().enumerate() {
            let mut inside = self.clone();
            inside.named.remove(k);
            let left = if is_latex { latex(pool, *e, self) } else { name.clone() };
            out.push((left, inside.write(pool, *e, is_latex)));
        }
        out
    }

    /// An expression in text or LaTeX.
    pub(super) fn write(&self, pool: &ExprPool, e: ExprId, is_latex: bool) -> String {
        if is_latex { latex(pool, e, self) } else { text(pool, e, self) }
    }

    /// Name of a body: nothing where it is the only one.
    pub(super) fn body_of(&self, pool: &ExprPool, body: BodyRef) -> String {
        self.body(pool.body(body), pool)
    }

    fn name_arms(&mut self, pool: &ExprPool, arms: &[(BodyRef, ExprId)], declared: &[(String, String)]) {
        if let [(_, arm)] = arms {
            return self.name_all("X", &[*arm]);
        }
        let bodies: Vec<String> = arms.iter().map(|&(b, _)| self.body_of(pool, b)).collect();
        let points: Vec<Option<&String>> = bodies
            .iter()
            .map(|body| {
                let mut of_body = declared.iter().filter(|(b, _)| b == body);
                let first = of_body.next();
                // Two points of one body cannot be told apart here.
                if of_body.next().is_some() { None } else { first.map(|(_, point)| point) }
            })
            .collect();
        let distinct = |names: &BTreeSet<String>| names.len() == arms.len();
        let by_point: Option<Vec<String>> = points.iter().map(|p| p.cloned()).collect();
        let subscripts = match by_point {
            Some(names) if distinct(&names.iter().cloned().collect()) => names,
            _ if distinct(&bodies.iter().cloned().collect()) => bodies,
            _ => (1..=arms.len()).map(|k| k.to_string()).collect(),
        };
        for ((_, arm), subscript) in arms.iter().zip(subscripts) {
            let name = self.free(&format!("X_{subscript}"));
            self.named.push((*arm, name));
        }
    }

    /// One letter for one expression, numbers for several.
    fn name_all(&mut self, letter: &str, list: &[ExprId]) {
        let new: Vec<_> = list.iter().copied().filter(|&e| self.name_of(e).is_none()).collect();
        for (k, &e) in new.iter().enumerate() {
            let wanted = if new.len() == 1 { letter.to_owned() } else { format!("{letter}_{}", k + 1) };
            let name = self.free(&wanted);
            self.named.push((e, name));
        }
    }

    /// The name itself or, if the model has it already, with a number.
    fn free(&mut self, wanted: &str) -> String {
        let mut name = wanted.to_owned();
        let mut k = 0;
        while !self.taken.insert(name.clone()) {
            name = format!("{wanted}{k}");
            k += 1;
        }
        name
    }
}

/// Whether an expression keeps its value during a run.
fn is_constant(pool: &ExprPool, e: ExprId) -> bool {
    !depends_on_state(pool, e)
        && !depends_on_time(pool, e)
        && !reachable(pool, &[e], |_| true)
            .iter()
            .any(|&part| matches!(pool.node(part), Node::Symbol(..) | Node::Lambda(..) | Node::Memory(..)))
}

/// Whether a constant vector reads well where it stands: a parameter, or plain numbers.
fn is_simple(pool: &ExprPool, e: ExprId) -> bool {
    match *pool.node(e) {
        Node::Param(_) | Node::Input(_) | Node::ZeroVec => true,
        Node::Vec(a, b, c) => [a, b, c].iter().all(|&part| pool.literal(part).is_some()),
        _ => false,
    }
}

/// The unit vector of coordinate `k` where it is among some vectors or is what such a vector is made of.
fn units(pool: &ExprPool, vectors: &[ExprId], k: usize) -> Vec<ExprId> {
    let is_unit = |e: &ExprId| match *pool.node(*e) {
        Node::Vec(a, b, c) => {
            [a, b, c].iter().enumerate().all(|(j, &part)| pool.literal(part) == Some(if j == k { 1.0 } else { 0.0 }))
        }
        _ => false,
    };
    reachable(pool, vectors, |_| true).into_iter().filter(is_unit).collect()
}

/// The terms of a sum, without their signs.
fn terms(pool: &ExprPool, e: ExprId) -> Vec<ExprId> {
    let mut out = Vec::new();
    let mut stack = vec![e];
    while let Some(e) = stack.pop() {
        match *pool.node(e) {
            Node::Add(a, b) | Node::Sub(a, b) => stack.extend([b, a]),
            Node::Neg(a) => stack.push(a),
            _ => out.push(e),
        }
    }
    out
}

/// Points of bodies, `x + R X`: the arms `X` with their bodies; and the constant places that stand in the same sums.
fn points(pool: &ExprPool, roots: &[ExprId]) -> (Vec<(BodyRef, ExprId)>, Vec<ExprId>) {
    let (mut arms, mut places) = (Vec::new(), Vec::new());
    // The sums that use other sums come last and hold all of their terms.
    for e in reachable(pool, roots, |_| true).into_iter().rev() {
        if pool.ty(e) != Ty::Vec3 || !matches!(pool.node(e), Node::Add(..) | Node::Sub(..)) {
            continue;
        }
        let terms = terms(pool, e);
        let has_centre =
            |body| terms.iter().any(|&t| matches!(*pool.node(t), Node::State(Quantity::X, b) if b == body));
        for &term in &terms {
            if let Node::MatVec(turn, arm) = *pool.node(term)
                && let Node::State(Quantity::R, body) = *pool.node(turn)
                && has_centre(body)
                && is_constant(pool, arm)
                && !matches!(pool.node(arm), Node::Param(_))
                && !arms.iter().any(|&(_, known)| known == arm)
            {
                arms.push((body, arm));
            }
            let is_centre = |t: &ExprId| matches!(pool.node(*t), Node::State(Quantity::X, _));
            if terms.iter().any(is_centre)
                && is_constant(pool, term)
                && !is_simple(pool, term)
                && !places.contains(&term)
            {
                places.push(term);
            }
        }
    }
    (arms, places)
}

/// The largest constant vectors.
fn constants(pool: &ExprPool, roots: &[ExprId]) -> Vec<ExprId> {
    largest(pool, roots, |e| pool.ty(e) == Ty::Vec3 && is_constant(pool, e))
}

/// The largest sums of vectors that change during the motion, within scalars: distances and relative velocities.
fn differences(pool: &ExprPool, roots: &[ExprId]) -> Vec<ExprId> {
    let scalars: Vec<_> = roots.iter().copied().filter(|&e| pool.ty(e) == Ty::Scalar).collect();
    largest(pool, &scalars, |e| {
        pool.ty(e) == Ty::Vec3 && matches!(pool.node(e), Node::Add(..) | Node::Sub(..)) && !is_constant(pool, e)
    })
}

/// What angles are computed from, up to a factor: cosines and sines.
fn angles(pool: &ExprPool, roots: &[ExprId]) -> (Vec<ExprId>, Vec<ExprId>) {
    let (mut cosines, mut sines) = (Vec::new(), Vec::new());
    for e in reachable(pool, roots, |_| true) {
        if let Node::Fun2(Fun2::Atan2, y, x) = *pool.node(e) {
            for (part, list) in [(x, &mut cosines), (y, &mut sines)] {
                if !is_constant(pool, part) && !list.contains(&part) {
                    list.push(part);
                }
            }
        }
    }
    (cosines, sines)
}

/// The parts that satisfy a condition and are no parts of such parts, in the order of the expressions.
fn largest(pool: &ExprPool, roots: &[ExprId], is_wanted: impl Fn(ExprId) -> bool) -> Vec<ExprId> {
    let mut found = BTreeSet::new();
    let mut seen: BTreeSet<ExprId> = roots.iter().copied().collect();
    let mut stack = roots.to_vec();
    while let Some(e) = stack.pop() {
        if is_wanted(e) {
            found.insert(e);
        } else {
            stack.extend(operands(pool.node(e)).filter(|&part| seen.insert(part)));
        }
    }
    found.into_iter().collect()
}

/// The points of bodies that a header names: `link[i - 1].b` gives (`link[i-1]`, `b`).
fn declared_points(header: &str) -> Vec<(String, String)> {
    let Some((_, arguments)) = header.split_once('(') else { return Vec::new() };
    let mut out = Vec::new();
    for argument in split_arguments(arguments) {
        let argument: String = argument.chars().filter(|c| !c.is_whitespace() && *c != ')').collect();
        if let Some((body, point)) = argument.rsplit_once('.')
            && !point.is_empty()
            && point.chars().all(|c| c.is_alphanumeric() || c == '_')
        {
            out.push((body.to_owned(), point.to_owned()));
        }
    }
    out
}

/// Splits at the commas that stand in no brackets.
fn split_arguments(arguments: &str) -> Vec<&str> {
    let mut depth = 0_i32;
    arguments
        .split(|c| {
            match c {
                '(' | '[' => depth += 1,
                ')' | ']' => depth -= 1,
                _ => {}
            }
            c == ',' && depth == 0
        })
        .collect()
}
