//! Whole iterations of a small model as straight-line kernels: motion of the bodies, residuals, exact Newton matrix and
//! its elimination, so that zeros, shared values and constants are found across elements.
//!
//! The equations are those of the runtime's `steppers::euler`, with the unknowns `y` of a form:
//!
//! ```text
//! position, velocity:  y = (V, lam)         u = V
//! stabilised:          y = (u, V, lam, m)   m = mu/h
//! ```
//!
//! What they load is the state that the step begins from, the time that it leads to, the model's inputs, and the iterate
//! `(h, y)`.

mod eliminate;
mod inline;
mod motion;
mod newton;
mod rattle;

use super::emit::{Hoist, Tables, emit};
use super::scope::number;
use crate::ir::program::{Family, NewtonKernel, Program, Table, Unrolled, UnrolledConstraints, UnrolledRattle};
use crate::ir::{Graph, Input, Interface, Kernel, Reg, VerifyError, verify};
use inline::{BodyNodes, Foreign, Instance};

/// Most velocities and constraint rows of a model whose iterations are written out.
const MOST_VELOCITIES: usize = 18;
const MOST_ROWS: usize = 12;

/// Most instructions of a kernel: beyond, block matrices are as fast and take less code.
const MOST_OPERATIONS: usize = 8000;

/// The equations that a Newton iteration solves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    /// `Phi(q1) = 0`.
    Position,
    /// `B V1 + Phi_t = 0`.
    Velocity,
    /// Both, the positions corrected by `W mu`.
    Stabilised(Metric),
}

/// `W` of the corrections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Metric {
    /// `B^T`
    Lagrangian,
    /// `M^-1 B^T`
    Hamiltonian,
}

/// One body of the model.
struct Body {
    is_rigid: bool,
    /// First of its velocities among all.
    dof: usize,
    mass: Reg,
    inertia: [Reg; 9],
    /// Inverse inertia; identity for a particle, which has no use for it.
    inverse: [Reg; 9],
}

impl Body {
    fn dim(&self) -> usize {
        if self.is_rigid { 6 } else { 3 }
    }
}

/// A model as nodes of one graph.
struct Unroller<'a> {
    program: &'a Program,
    g: Graph,
    foreign: Foreign,
    bodies: Vec<Body>,
    /// State that the step begins from.
    before: Vec<BodyNodes>,
    nv: usize,
    nc: usize,
}

/// Writes out the iterations of a program, if it is small enough and its forces depend on its state alone.
///
/// # Errors
/// None but bugs of the compiler: a kernel that breaks an invariant.
pub(super) fn unroll(program: &Program) -> Result<Option<Unrolled>, VerifyError> {
    let Some(mut unroller) = Unroller::new(program) else { return Ok(None) };
    let Some(drafts) = unroller.drafts() else { return Ok(None) };
    unroller.cut(drafts)
}

/// A kernel before it is cut: its values, and how many pivots are among them.
struct Draft {
    name: &'static str,
    values: Vec<Reg>,
    pivots: usize,
}

impl<'a> Unroller<'a> {
    fn new(program: &'a Program) -> Option<Self> {
        let dim = |is_rigid: bool| if is_rigid { 6 } else { 3 };
        let nv: usize = program.bodies.iter().map(|b| b.setup.family.table.count * dim(b.is_rigid)).sum();
        let nc = program.constraints.iter().map(|c| c.family.table.count * c.rows).sum();
        if nv == 0 || nv > MOST_VELOCITIES || nc > MOST_ROWS || !program.pairs.is_empty() {
            return None;
        }
        let mut g = Graph::new();
        let mut foreign = Foreign::default();
        let (mut bodies, mut before) = (Vec::new(), Vec::new());
        let mut dof = 0;
        for decl in &program.bodies {
            for k in 0..decl.setup.family.table.count {
                let is_rigid = decl.is_rigid;
                let instance = Instance::new(&mut g, &mut foreign, &decl.setup.family, k, &[])?;
                let setup = instance.inline(&mut g, &mut foreign, decl.setup.value.get(), &[], &[])?;
                let inertia: [Reg; 9] = setup[4..13].try_into().expect("nine numbers");
                let inverse = if is_rigid { motion::inverse(&mut g, &inertia) } else { motion::identity(&mut g) };
                before.push(inline::body(&mut g, bodies.len(), is_rigid));
                bodies.push(Body { is_rigid, dof, mass: setup[0], inertia, inverse });
                dof += dim(is_rigid);
            }
        }
        Some(Self { program, g, foreign, bodies, before, nv, nc })
    }

    /// All kernels: `advance` and `position`, then what there is of constrained models only.
    fn drafts(&mut self) -> Option<Vec<Draft>> {
        let plain = |name, values| Draft { name, values, pivots: 0 };
        let newton = |name, (values, pivots)| Draft { name, values, pivots };
        let mut drafts =
            vec![plain("advance", self.advance(false)), newton("newton_position", self.newton(Form::Position)?)];
        if self.nc > 0 {
            let [lagrangian, hamiltonian] = [Metric::Lagrangian, Metric::Hamiltonian];
            drafts.extend([
                newton("newton_velocity", self.newton(Form::Velocity)?),
                plain("advance_stabilised", self.advance(true)),
                newton("newton_lagrangian", self.newton(Form::Stabilised(lagrangian))?),
                newton("newton_hamiltonian", self.newton(Form::Stabilised(hamiltonian))?),
                plain("accelerate_lagrangian", self.accelerate(lagrangian)?),
                plain("accelerate_hamiltonian", self.accelerate(hamiltonian)?),
                plain("rattle_kick", self.rattle_kick()?),
                newton("rattle_newton", self.rattle_newton()?),
                newton("rattle_end", self.rattle_end()?),
            ]);
        }
        Some(drafts)
    }

    /// Cuts the kernels out of the graph, and those of their constants.
    fn cut(mut self, drafts: Vec<Draft>) -> Result<Option<Unrolled>, VerifyError> {
        let drifted = self.drifted_len();
        let mut tables = Tables::default();
        let mut cut = |name: &str, values: &[Reg], hoist: Hoist, tables: &mut Tables| {
            let zero = self.g.num(0.0);
            let roots: Vec<(u32, Reg)> = (0..).zip(values.iter().copied()).filter(|root| root.1 != zero).collect();
            let emitted = emit(&mut self.g, tables, &self.foreign.started, hoist, &roots);
            Kernel { name: name.to_owned(), ops: emitted.ops, outputs: emitted.outputs, size: values.len() }
        };
        let kernels: Vec<Kernel> = drafts.iter().map(|d| cut(d.name, &d.values, Hoist::All, &mut tables)).collect();
        if kernels.iter().any(|k| k.ops.len() > MOST_OPERATIONS) {
            return Ok(None);
        }
        let starts = std::mem::take(&mut tables.starts.nodes);
        let starts = cut("starts", &starts, Hoist::Tables, &mut tables);
        let columns = std::mem::take(&mut tables.columns.nodes);
        debug_assert!(columns.is_empty(), "indices are numbers here");
        let columns = cut("columns", &columns, Hoist::Nothing, &mut tables);
        let uniforms = std::mem::take(&mut tables.uniforms.nodes);
        let uniforms = cut("uniforms", &uniforms, Hoist::Nothing, &mut tables);
        let interface = Interface {
            slots: self.bodies.len(),
            uniforms: uniforms.size,
            starts: starts.size,
            memories: self.foreign.cells.len(),
            params: self.program.param_len(),
            signals: self.program.signal_len(),
            iterates: (1 + 2 * (self.nv + self.nc)).max(drifted),
            ..Interface::default()
        };
        let table = Table {
            count: 1,
            slots: (0..self.bodies.len()).map(number).collect(),
            cells: self.foreign.cells,
            ..Table::default()
        };
        let verified = |kernel| verify(kernel, &interface);
        let family = Family {
            name: "step".to_owned(),
            uniforms: verified(uniforms)?,
            columns: verified(columns)?,
            starts: verified(starts)?,
            table,
            interface: interface.clone(),
        };
        let mut next = kernels.into_iter().zip(drafts).map(|(kernel, draft)| {
            Ok::<_, VerifyError>(NewtonKernel { kernel: verified(kernel)?, pivots: draft.pivots })
        });
        let mut next = || next.next().transpose();
        let (Some(advance), Some(position)) = (next()?, next()?) else { return Ok(None) };
        let (advance, mut constrained) = (advance.kernel, None);
        if let [Some(velocity), Some(advance), Some(l), Some(h), Some(a_l), Some(a_h)] =
            [next()?, next()?, next()?, next()?, next()?, next()?]
            && let [Some(kick), Some(newton), Some(end)] = [next()?, next()?, next()?]
        {
            let accelerate = [a_l.kernel, a_h.kernel];
            let rattle = UnrolledRattle { kick: kick.kernel, newton, end, drifted };
            constrained =
                Some(UnrolledConstraints { velocity, advance: advance.kernel, stabilised: [l, h], accelerate, rattle });
        }
        Ok(Some(Unrolled { family, advance, position, constrained, velocities: self.nv, rows: self.nc }))
    }

    /// Number k of the iterate.
    fn iterate(&mut self, k: usize) -> Reg {
        self.g.load(Input::Iterate(number(k)))
    }
}
