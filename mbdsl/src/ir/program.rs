//! A whole model as kernels and tables: everything that a back end needs, without expressions.
//!
//! Invariants (kept by `lower::program`, the only maker): every kernel is verified against the interface of its family;
//! the lists of a [`Table`] have `count` times the lengths that the interface says; its bodies, cells and multipliers
//! exist. The number of instances occurs in tables only, never in kernels.

use std::fmt::{self, Write as _};

use super::kernel::{Input, Interface, Op};
use super::verify::VerifiedKernel;

/// First component of the velocities among the numbers of a body.
const VELOCITY: u8 = 12;

/// Which instances a family has and what each of them touches, one instance after another.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Table {
    /// Number of instances.
    pub count: usize,
    /// Index values, as many for each instance as there are index variables.
    pub indices: Vec<i32>,
    /// Body of each slot.
    pub slots: Vec<u32>,
    /// Memory cell of each continuous angle.
    pub cells: Vec<u32>,
    /// Row among all constraint rows of each multiplier.
    pub multipliers: Vec<u32>,
}

/// The instances of a declaration with their constants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Family {
    /// Name of the declaration.
    pub name: String,
    /// What its kernels may load.
    pub interface: Interface,
    /// Computes the uniforms from parameters.
    pub uniforms: VerifiedKernel,
    /// Computes the columns of an instance from parameters and indices.
    pub columns: VerifiedKernel,
    /// Computes the starts of an instance on the assembled start.
    pub starts: VerifiedKernel,
    /// The instances.
    pub table: Table,
}

impl Family {
    /// Name of an instance: `pin[3]`.
    #[must_use]
    pub fn instance_name(&self, k: usize) -> String {
        if self.interface.indices == 0 {
            return self.name.clone();
        }
        let indices: Vec<_> = self.indices(k).iter().map(i32::to_string).collect();
        format!("{}[{}]", self.name, indices.join(","))
    }

    /// Index values of an instance.
    #[must_use]
    pub fn indices(&self, k: usize) -> &[i32] {
        part(&self.table.indices, k, self.interface.indices)
    }

    /// Bodies of an instance.
    #[must_use]
    pub fn slots(&self, k: usize) -> &[u32] {
        part(&self.table.slots, k, self.interface.slots)
    }

    /// Memory cells of an instance.
    #[must_use]
    pub fn cells(&self, k: usize) -> &[u32] {
        part(&self.table.cells, k, self.interface.memories)
    }

    /// Multipliers of an instance.
    #[must_use]
    pub fn multipliers(&self, k: usize) -> &[u32] {
        part(&self.table.multipliers, k, self.interface.multipliers)
    }
}

fn part<T>(list: &[T], k: usize, len: usize) -> &[T] {
    &list[k * len..(k + 1) * len]
}

/// A run-time parameter, or an input.
#[derive(Clone, Debug, PartialEq)]
pub struct Param {
    /// Name.
    pub name: String,
    /// Lines of its documentation.
    pub docs: Vec<String>,
    /// SI unit.
    pub unit: String,
    /// First of its scalars among those of all parameters, or of all inputs.
    pub offset: usize,
    /// Number of its scalars.
    pub len: usize,
    /// Its value unless set, from other parameters.
    pub default: Probe,
}

/// Numbers that a body declaration gives: mass 0, centre of mass 1..4, inertia 4..13, then position 13..16, rotation
/// 16..25, velocity 25..28 and angular velocity 28..31 of the reference frame; [`BodyFamily::given`] says which of the
/// last four mean something.
pub const SETUP: usize = 31;

/// The bodies of a declaration.
#[derive(Clone, Debug, PartialEq)]
pub struct BodyFamily {
    /// Number of its first instance among all bodies.
    pub first: usize,
    /// Whether it has an attitude.
    pub is_rigid: bool,
    /// Whether position, rotation, velocity and angular velocity are given.
    pub given: [bool; 4],
    /// The [`SETUP`] numbers of an instance.
    pub setup: Probe,
}

/// A `3 x 3` part of a square block that may be other than zero, by row and column: vectors `dx`, `dtheta` of the tangent spaces of all
/// slots, counted through.
pub type Coupling = [u32; 2];

/// The constraints of a declaration. `rows x dim` blocks are row-major, and so are the `3 x 3` parts of square blocks, which lie one after
/// another.
#[derive(Clone, Debug, PartialEq)]
pub struct Constraint {
    /// Instances.
    pub family: Family,
    /// Rows of an instance.
    pub rows: usize,
    /// Columns of an instance: tangent dimensions of its slots.
    pub dim: usize,
    /// Stored parts of square blocks.
    pub couplings: Vec<Coupling>,
    /// What each row measures.
    pub row_names: Vec<String>,
    /// `Phi`.
    pub value: VerifiedKernel,
    /// `Phi`, `Phi_t`, `B`.
    pub jacobian: VerifiedKernel,
    /// `Phi`, `Phi_t`, `B`, `d(B V + Phi_t)/dq`, `d(B^T lambda)/dq`.
    pub newton: VerifiedKernel,
    /// `gamma = Bdot V + 2 B_t V + Phi_tt`.
    pub convective: VerifiedKernel,
    /// `d gamma/dq`, `d gamma/dV`.
    pub convective_newton: VerifiedKernel,
}

/// The forces of a declaration. Square blocks as in [`Constraint`].
#[derive(Clone, Debug, PartialEq)]
pub struct Force {
    /// Instances.
    pub family: Family,
    /// Columns of an instance.
    pub dim: usize,
    /// Stored parts of square blocks.
    pub couplings: Vec<Coupling>,
    /// Potential energy, Rayleigh function.
    pub energy: VerifiedKernel,
    /// `Q`.
    pub force: VerifiedKernel,
    /// `Q`, `dQ/dq`, `dQ/dV`.
    pub newton: VerifiedKernel,
}

impl Force {
    /// Whether the forces depend on velocities, or on what is computed from them.
    #[must_use]
    pub fn depends_on_velocity(&self) -> bool {
        self.force.get().ops.iter().any(|op| match op {
            Op::Load(Input::State { component, .. }) => *component >= VELOCITY,
            Op::Load(Input::Global(_)) => true,
            Op::Load(_) | Op::Const(_) | Op::Un(..) | Op::Bin(..) | Op::Select(..) => false,
        })
    }
}

/// The forces of a declaration between pairs of bodies that are found during a run: those whose points are nearer than a
/// distance. Its table is empty; instances are made of the two bodies of a pair, the index values of the first one and those of
/// the second, and the columns that follow from them.
#[derive(Clone, Debug, PartialEq)]
pub struct Pair {
    /// The kernels' constants.
    pub family: Family,
    /// Declarations of the two bodies, by number.
    pub bodies: [usize; 2],
    /// Columns of an instance.
    pub dim: usize,
    /// The points, for all bodies of both declarations (three numbers each).
    pub points: [Probe; 2],
    /// The distance below which a pair counts (one number).
    pub distance: Probe,
    /// Whether a pair counts at all, from parameters and its index values (one number).
    pub admits: VerifiedKernel,
    /// Potential energy, zero beyond the distance.
    pub energy: VerifiedKernel,
    /// `Q`, zero beyond the distance.
    pub force: VerifiedKernel,
}

impl Pair {
    /// Whether energy or force load index values themselves, beside the columns that follow from them.
    #[must_use]
    pub fn loads_indices(&self) -> bool {
        let kernels = [&self.energy, &self.force];
        kernels.iter().any(|k| k.get().ops.iter().any(|op| matches!(op, Op::Load(Input::Index(_)))))
    }
}

/// The continuous angles of a declaration that keep a memory.
#[derive(Clone, Debug, PartialEq)]
pub struct Angle {
    /// Instances.
    pub family: Family,
    /// Memory cell of the first instance; the others follow.
    pub first_cell: usize,
    /// The angle, next to the remembered one.
    pub value: VerifiedKernel,
}

/// Conditions on initial values.
#[derive(Clone, Debug, PartialEq)]
pub struct Condition {
    /// Instances.
    pub family: Family,
    /// Whether it is one of velocities.
    pub is_velocity: bool,
    /// Held, or only a wish.
    pub is_fixed: bool,
    /// Rows of an instance.
    pub rows: usize,
    /// Columns of an instance.
    pub dim: usize,
    /// Value, derivative by time (zero at velocity level), derivative by displacements or velocities.
    pub value: VerifiedKernel,
}

/// Something that is evaluated for its own sake: an output, a check, a parameter, an intermediate value of these.
#[derive(Clone, Debug, PartialEq)]
pub struct Probe {
    /// Instances.
    pub family: Family,
    /// The values.
    pub value: VerifiedKernel,
    /// What must be reduced before.
    pub reductions: Vec<Reduction>,
    /// What must have been recorded before.
    pub recordings: Vec<Recording>,
}

impl Probe {
    /// Whether it needs anything that is recorded before, also within its reductions.
    #[must_use]
    pub fn has_recordings(&self) -> bool {
        !self.recordings.is_empty() || self.reductions.iter().any(|r| r.terms.has_recordings())
    }
}

/// Ways to reduce.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fold {
    /// Sum, from the first to the last.
    Sum,
    /// Smallest.
    Min,
    /// Largest.
    Max,
    /// Sum over count.
    Mean,
}

/// A reduction for each instance of a probe, or one for all of them.
#[derive(Clone, Debug, PartialEq)]
pub struct Reduction {
    /// How.
    pub fold: Fold,
    /// Where the terms of each reduction start among those of `terms`, and the end of the last.
    pub starts: Vec<usize>,
    /// The terms (one number each).
    pub terms: Probe,
}

impl Reduction {
    /// Whether all instances of the probe share one value.
    #[must_use]
    pub fn is_shared(&self) -> bool {
        self.starts.len() == 2
    }
}

/// Values at given times for each instance of a probe.
#[derive(Clone, Debug, PartialEq)]
pub struct Recording {
    /// First recorded input that they are.
    pub offset: usize,
    /// Number of values.
    pub len: usize,
    /// The time, then the values.
    pub value: Probe,
}

/// A recorded quantity.
#[derive(Clone, Debug, PartialEq)]
pub struct Output {
    /// Lines of its documentation.
    pub docs: Vec<String>,
    /// SI unit.
    pub unit: String,
    /// Values of an instance.
    pub len: usize,
    /// The value.
    pub probe: Probe,
}

/// When a check is evaluated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CheckTime {
    /// When the parameters are bound.
    Bound,
    /// At the start and after every step.
    Always,
    /// At the end.
    Once,
}

/// Comparisons of two numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparison {
    /// `<`
    Less,
    /// `<=`
    LessOrEqual,
    /// `==`
    Equal,
    /// `!=`
    Unequal,
}

impl Comparison {
    /// As it is written.
    #[must_use]
    pub const fn sign(self) -> &'static str {
        match self {
            Self::Less => "<",
            Self::LessOrEqual => "<=",
            Self::Equal => "==",
            Self::Unequal => "!=",
        }
    }
}

/// A statement that must hold.
#[derive(Clone, Debug, PartialEq)]
pub struct Check {
    /// When.
    pub time: CheckTime,
    /// How it compares two numbers, if it does.
    pub comparison: Option<Comparison>,
    /// SI unit of the sides.
    pub unit: String,
    /// The truth value and, if there are sides, both.
    pub probe: Probe,
}

/// Step, end and interval of recording, as far as the model says.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Defaults {
    /// Step, s.
    pub step: Option<Probe>,
    /// End, s.
    pub until: Option<Probe>,
    /// Interval of recording, s.
    pub every: Option<Probe>,
    /// Whether a tolerance chooses the steps.
    pub is_auto: bool,
    /// What the error of such a step may be.
    pub tolerance: Option<Probe>,
}

/// Numbers by which a Newton kernel lets its update be judged, squares: the updates of `u` and `V`, the speed (of `V` and of what
/// forces make of it in the step), the extent of the model, the difference of the two updates, the angular velocities.
pub const SIZES: usize = 6;

/// Whole iterations of a small model. With `u = V` in the forms without corrections, iterates are `h` and
///
/// ```text
/// position, velocity:  y = (V, lam)
/// stabilised:          y = (u, V, lam, m)
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Unrolled {
    /// One instance whose slots are all bodies.
    pub family: Family,
    /// Velocities.
    pub velocities: usize,
    /// Constraint rows.
    pub rows: usize,
    /// State of all bodies after the step, then `(V1 - V0)/h`.
    pub advance: VerifiedKernel,
    /// Iteration at position level.
    pub position: NewtonKernel,
    /// What there is of constrained models only.
    pub constrained: Option<UnrolledConstraints>,
}

/// One Newton iteration: the updates of unknowns; numbers that they are judged by, [`SIZES`] in the implicit forms; a determinant for each
/// pivot block of the constraints.
#[derive(Clone, Debug, PartialEq)]
pub struct NewtonKernel {
    /// The kernel.
    pub kernel: VerifiedKernel,
    /// Number of pivot blocks.
    pub pivots: usize,
}

/// The other forms of [`Unrolled`]. Pairs are Lagrangian and Hamiltonian.
#[derive(Clone, Debug, PartialEq)]
pub struct UnrolledConstraints {
    /// Iteration at velocity level.
    pub velocity: NewtonKernel,
    /// As [`Unrolled::advance`], of the stabilised forms.
    pub advance: VerifiedKernel,
    /// Iteration of the stabilised forms.
    pub stabilised: [NewtonKernel; 2],
    /// Accelerations that fulfil the constraints, from `(V1 - V0)/h` as iterate at the state after the step.
    pub accelerate: [VerifiedKernel; 2],
    /// Stages and ends of steps of splitting steppers.
    pub rattle: UnrolledRattle,
}

/// RATTLE around any drift, at the state that a stage begins from. [`NewtonKernel`]s end with a determinant for each pivot block.
#[derive(Clone, Debug, PartialEq)]
pub struct UnrolledRattle {
    /// `-B0^T lam` from `lam`.
    pub kick: VerifiedKernel,
    /// From what the drift has led to, the updates of impulses, momenta, and positions and attitudes; squares of the last one's size, of
    /// the extent of the model, of the turns.
    pub newton: NewtonKernel,
    /// At the end of a step, from `V` and `Q`: the kick that brings velocities onto the constraints, accelerations, multipliers.
    pub end: NewtonKernel,
    /// How many numbers tell what the drift has led to: size of the stage, time at its end, then for each body its position, for rigid ones
    /// the rotation and the derivative of the attitude by the momentum.
    pub drifted: usize,
}

/// A model.
#[derive(Clone, Debug, PartialEq)]
pub struct Program {
    /// Name of the model.
    pub name: String,
    /// Parameters.
    pub params: Vec<Param>,
    /// Order in which their defaults can be evaluated.
    pub param_order: Vec<usize>,
    /// Inputs: the signals that kernels load. Their defaults follow from parameters.
    pub inputs: Vec<Param>,
    /// Values of the structural constants: scalars that kernels load after those of the parameters.
    pub consts: Vec<f64>,
    /// Bodies by declaration.
    pub bodies: Vec<BodyFamily>,
    /// Constraints by declaration.
    pub constraints: Vec<Constraint>,
    /// Forces by declaration, gravity first.
    pub forces: Vec<Force>,
    /// Forces between pairs that are found during a run, by declaration.
    pub pairs: Vec<Pair>,
    /// Continuous angles.
    pub angles: Vec<Angle>,
    /// Conditions on initial values.
    pub conditions: Vec<Condition>,
    /// Recorded quantities.
    pub outputs: Vec<Output>,
    /// Checks.
    pub checks: Vec<Check>,
    /// Defaults of a run.
    pub defaults: Defaults,
    /// Whole iterations, where the model is small.
    pub unrolled: Option<Unrolled>,
}

impl Program {
    /// Number of bodies.
    #[must_use]
    pub fn body_count(&self) -> usize {
        self.bodies.iter().map(|b| b.setup.family.table.count).sum()
    }

    /// Number of scalars of the parameters and structural constants.
    #[must_use]
    pub fn param_len(&self) -> usize {
        self.params.iter().map(|p| p.len).sum::<usize>() + self.consts.len()
    }

    /// Number of scalars of the inputs.
    #[must_use]
    pub fn signal_len(&self) -> usize {
        self.inputs.iter().map(|i| i.len).sum()
    }

    /// Number of memory cells.
    #[must_use]
    pub fn memory_len(&self) -> usize {
        self.angles.iter().map(|a| a.family.table.count).sum()
    }

    /// Name of a body: `link[3]`.
    #[must_use]
    pub fn body_name(&self, body: usize) -> String {
        let decl = self.bodies.partition_point(|b| b.first <= body) - 1;
        self.bodies[decl].setup.family.instance_name(body - self.bodies[decl].first)
    }

    /// The kernels as text. It does not depend on how many instances there are.
    #[must_use]
    pub fn text(&self) -> String {
        let mut out = String::new();
        self.write(&mut out).expect("writing to a string succeeds");
        out
    }

    fn write(&self, out: &mut String) -> fmt::Result {
        writeln!(out, "model {}", self.name)?;
        for p in &self.params {
            write_probe(out, &format!("param {} [{}]", p.name, p.len), &p.default)?;
        }
        for i in &self.inputs {
            write_probe(out, &format!("input {} [{}]", i.name, i.len), &i.default)?;
        }
        for b in &self.bodies {
            let kind = if b.is_rigid { "body" } else { "particle" };
            write_probe(out, &format!("{kind} {}", b.setup.family.name), &b.setup)?;
        }
        for c in &self.constraints {
            let head = format!("constraint {}, {} x {}", c.family.name, c.rows, c.dim);
            let kernels = [&c.value, &c.jacobian, &c.newton, &c.convective, &c.convective_newton];
            write_family(out, &head, &c.family, &kernels)?;
        }
        for f in &self.forces {
            let head = format!("force {}, {}", f.family.name, f.dim);
            write_family(out, &head, &f.family, &[&f.energy, &f.force, &f.newton])?;
        }
        for p in &self.pairs {
            let head = format!("pairs {}, {}", p.family.name, p.dim);
            write_probe(out, &format!("distance of {head}"), &p.distance)?;
            for points in &p.points {
                write_probe(out, &format!("point of {head}"), points)?;
            }
            write_family(out, &head, &p.family, &[&p.admits, &p.energy, &p.force])?;
        }
        for a in &self.angles {
            write_family(out, &format!("angle {}", a.family.name), &a.family, &[&a.value])?;
        }
        for c in &self.conditions {
            let head = format!("condition {}, {} x {}", c.family.name, c.rows, c.dim);
            write_family(out, &head, &c.family, &[&c.value])?;
        }
        for o in &self.outputs {
            write_probe(out, &format!("output {} [{}]", o.probe.family.name, o.len), &o.probe)?;
        }
        for c in &self.checks {
            write_probe(out, &format!("check {}, {:?}", c.probe.family.name, c.time), &c.probe)?;
        }
        if let Some(u) = &self.unrolled {
            let mut kernels = vec![&u.advance, &u.position.kernel];
            if let Some(c) = &u.constrained {
                kernels.extend([&c.velocity.kernel, &c.advance]);
                kernels.extend(c.stabilised.iter().map(|s| &s.kernel));
                kernels.extend(&c.accelerate);
                kernels.extend([&c.rattle.kick, &c.rattle.newton.kernel, &c.rattle.end.kernel]);
            }
            write_family(out, "step", &u.family, &kernels)?;
        }
        Ok(())
    }
}

fn write_probe(out: &mut String, head: &str, probe: &Probe) -> fmt::Result {
    for r in &probe.reductions {
        write_probe(out, &format!("reduction of {head}, {:?}", r.fold), &r.terms)?;
    }
    for r in &probe.recordings {
        write_probe(out, &format!("recording for {head}"), &r.value)?;
    }
    write_family(out, head, &probe.family, &[&probe.value])
}

fn write_family(out: &mut String, head: &str, family: &Family, kernels: &[&VerifiedKernel]) -> fmt::Result {
    writeln!(out, "\n{head}")?;
    for kernel in [&family.uniforms, &family.columns, &family.starts] {
        if kernel.get().size > 0 {
            write!(out, "{}", kernel.get())?;
        }
    }
    for kernel in kernels {
        write!(out, "{}", kernel.get())?;
    }
    Ok(())
}
