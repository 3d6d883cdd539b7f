//! A random model compiled, with parameters bound and states to look at.

use mbdsl::driver::{self, Compiled};
use mbdsl::exec::bind::{Binding, bind};
use mbdsl::ir::program::Program;
use mbdsl::model::IndexSet;
use mbdsl::render;
use mbdsl::sema::Options;
use mbdsl::source::Sources;
use mbdsl::symbolic::eval::Value;
use mbdsl::symbolic::{ExprId, Ty};
use mbdsl_runtime::nalgebra::{Matrix3, Vector3};
use mbdsl_runtime::so3;
use mbdsl_runtime::state::State;
use mbdsl_runtime::topology::{BodyKind, Topology};

use crate::oracle::Oracle;
use crate::regular::{Clearance, is_regular};
use crate::tape::Noise;

/// What went wrong, in words.
pub type Checked<T = ()> = Result<T, String>;

/// Whether two numbers agree; what is no number agrees with nothing.
pub fn agree(a: f64, b: f64, tolerance: f64) -> bool {
    (a - b).abs() <= tolerance
}

/// A model with numbers.
pub struct Case {
    pub text: String,
    pub compiled: Compiled,
    pub binding: Binding,
}

/// Compiles a text.
pub fn compile(text: &str) -> Checked<Compiled> {
    let mut sources = Sources::default();
    let file = sources.add("random.mbd", text);
    driver::compile(&mut sources, file, &Options::default())
        .map_err(|diagnostics| render::human(&sources, &diagnostics, false))
}

impl Case {
    /// Compiles a text and binds random values of its parameters.
    pub fn new(text: &str, noise: &mut Noise) -> Checked<Self> {
        let compiled = compile(text)?;
        let bound = |set: &[(usize, Vec<f64>)]| {
            bind(&compiled.program, set).map_err(|errors| {
                errors.iter().map(|e| e.diagnostic(&compiled.model).message + "\n").collect::<String>()
            })
        };
        let defaults = bound(&[])?.params;
        let set = values(&compiled, &defaults, noise);
        let binding = bound(&set)?;
        Ok(Self { text: text.to_owned(), compiled, binding })
    }

    pub fn program(&self) -> &Program {
        &self.compiled.program
    }

    /// The oracle of an instance.
    pub fn oracle<'a>(
        &'a self,
        set: &'a IndexSet,
        instance: usize,
        state: &'a State,
        start: &'a State,
        lambda: &'a [Value],
    ) -> Oracle<'a> {
        let Compiled { model, equations, program } = &self.compiled;
        let (pool, params, signals) = (&equations.pool, &self.binding.params[..], &self.binding.signals[..]);
        Oracle { model, equations, program, pool, params, signals, state, start, set, instance, lambda }
    }

    /// Expressions of the equations of motion and of the conditions, each with its instances.
    fn statements(&self) -> Vec<(&IndexSet, Vec<ExprId>)> {
        let Compiled { model, equations, .. } = &self.compiled;
        let mut all = Vec::new();
        for c in &equations.constraints {
            all.push((&model.elements[c.element].set, c.groups.iter().map(|g| g.phi).collect::<Vec<_>>()));
        }
        for f in &equations.forces {
            let mut roots = vec![f.potential, f.dissipation];
            roots.extend(&f.q);
            all.push((self.force_set(f.origin), roots));
        }
        for c in &equations.conditions {
            all.push((&model.conditions[c.condition].set, vec![c.value]));
        }
        for a in &equations.angles {
            all.push((&model.elements[a.element].set, vec![a.value]));
        }
        all
    }

    pub fn force_set(&self, origin: mbdsl::formulate::Origin) -> &IndexSet {
        match origin {
            mbdsl::formulate::Origin::Gravity(body) => &self.compiled.model.bodies[body].set,
            mbdsl::formulate::Origin::Element(element) => &self.compiled.model.elements[element].set,
        }
    }

    /// Whether all equations are smooth around a state.
    pub fn is_regular(&self, s: &State, start: &State, clearance: Clearance) -> bool {
        self.statements().iter().all(|(set, roots)| {
            (0..set.count).all(|k| is_regular(&self.oracle(set, k, s, start, &[]), roots, clearance))
        })
    }

    /// A random start and a random state, away from where there are no derivatives; `None` where hardly any is.
    pub fn states(
        &self,
        topology: &Topology,
        noise: &mut Noise,
        clearance: Clearance,
        kind: Attitudes,
    ) -> Option<(State, State)> {
        let mut start = None;
        for _ in 0..TRIALS {
            let s = random_state(topology, noise, kind);
            if self.is_regular(&s, start.as_ref().unwrap_or(&s), clearance) {
                match start {
                    None => start = Some(s),
                    Some(start) => return Some((start, s)),
                }
            }
        }
        None
    }
}

/// Random states that are looked at before a model is given up.
const TRIALS: usize = 30;

/// Values of some parameters and of all inputs: masses and inertias stay possible, rotations stay rotations.
fn values(compiled: &Compiled, defaults: &[f64], noise: &mut Noise) -> Vec<(usize, Vec<f64>)> {
    let mut set = Vec::new();
    for (k, param) in compiled.program.params.iter().enumerate() {
        if noise.below(3) == 0 {
            continue;
        }
        let old = &defaults[param.offset..param.offset + param.len];
        let factor = 1.0 + 0.4 * noise.next();
        let new = match compiled.model.pool.params()[k] {
            Ty::Rot => so3::exp(&vector(noise, 2.0)).transpose().as_slice().to_vec(),
            Ty::Scalar | Ty::Mat3 | Ty::Bool => old.iter().map(|x| factor * x).collect(),
            Ty::Vec3 => old.iter().map(|x| factor * x + 0.1 * noise.next()).collect(),
        };
        set.push((k, new));
    }
    let first = compiled.program.params.len();
    set.extend(compiled.program.inputs.iter().enumerate().map(|(k, input)| (first + k, noise.list(input.len))));
    set
}

/// Which attitudes the bodies of random states have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Attitudes {
    /// Mostly anywhere, now and then exactly the identity or a half turn.
    Any,
    /// The identity and half turns only.
    Special,
}

fn vector(noise: &mut Noise, scale: f64) -> Vector3<f64> {
    Vector3::new(noise.next(), noise.next(), noise.next()) * scale
}

fn attitude(noise: &mut Noise, kind: Attitudes) -> Matrix3<f64> {
    match noise.below(if kind == Attitudes::Special { 4 } else { 10 }) {
        0 | 1 => Matrix3::identity(),
        2 => Matrix3::from_diagonal(&match noise.below(3) {
            0 => Vector3::new(1.0, -1.0, -1.0),
            1 => Vector3::new(-1.0, 1.0, -1.0),
            _ => Vector3::new(-1.0, -1.0, 1.0),
        }),
        3 => {
            let n = vector(noise, 1.0).normalize();
            n * n.transpose() * 2.0 - Matrix3::identity()
        }
        _ => so3::exp(&vector(noise, 2.5)),
    }
}

fn random_state(topology: &Topology, noise: &mut Noise, kind: Attitudes) -> State {
    let mut s = State::new(topology.bodies.len(), topology.memory);
    s.t = 1.0 + noise.next();
    for (k, body) in topology.bodies.iter().enumerate() {
        s.set_x(k, &vector(noise, 2.0));
        s.set_v(k, &vector(noise, 1.0));
        if body.kind == BodyKind::Rigid {
            s.set_r(k, &attitude(noise, kind));
            let turns = if kind == Attitudes::Special && noise.below(2) == 0 { 0.0 } else { 1.0 };
            s.set_omega(k, &vector(noise, turns));
        }
    }
    s.memory.iter_mut().for_each(|m| *m = 10.0 * noise.next());
    s
}
