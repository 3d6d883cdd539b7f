//! The equations of a program as the runtime's steppers want them, on whatever back end runs its kernels.
//!
//! One machine for each kernel, a loop over the table of each family. Calls do not allocate.

use mbdsl_runtime::point::Point;
use mbdsl_runtime::state::State;
use mbdsl_runtime::steppers::euler::unrolled::{Delivered, Unrolled};
use mbdsl_runtime::steppers::rattle::unrolled::{Stage, StepEnd, UnrolledRattle};
use mbdsl_runtime::system::{ConstraintDerivatives, ForceDerivatives, Jacobian, System};
use mbdsl_runtime::topology::{ElementSet, Topology};

use crate::backend::engine::{Engine, Machine};
use crate::backend::inputs::Inputs;
use crate::backend::interp::TooManyRegisters;
use crate::ir::VerifiedKernel;
use crate::ir::program::{Angle, Condition, Constraint, Force, Program};

use super::bind::Binding;
use super::instances::Instances;
use super::pairs::PairRoutines;
use super::unrolled::UnrolledRoutines;

/// A kernel with the buffer that it writes; what it does not write stays zero.
#[derive(Debug)]
struct Routine<'p> {
    machine: Machine<'p>,
    out: Vec<f64>,
}

impl<'p> Routine<'p> {
    fn new(kernel: &'p VerifiedKernel, engine: &Engine) -> Result<Self, TooManyRegisters> {
        Ok(Self { machine: engine.machine(kernel)?, out: vec![0.0; kernel.get().size] })
    }

    fn run(&mut self, inputs: &Inputs<'_>) -> &[f64] {
        self.machine.run(inputs, &mut self.out);
        &self.out
    }
}

#[derive(Debug)]
struct ConstraintRoutines<'p> {
    constraint: &'p Constraint,
    instances: Instances<'p>,
    value: Routine<'p>,
    jacobian: Routine<'p>,
    newton: Routine<'p>,
    convective: Routine<'p>,
}

#[derive(Debug)]
struct ForceRoutines<'p> {
    force_family: &'p Force,
    instances: Instances<'p>,
    energy: Routine<'p>,
    force: Routine<'p>,
    newton: Routine<'p>,
}

#[derive(Debug)]
struct ConditionRoutines<'p> {
    condition: &'p Condition,
    instances: Instances<'p>,
    value: Routine<'p>,
}

#[derive(Debug)]
struct AngleRoutines<'p> {
    angle: &'p Angle,
    instances: Instances<'p>,
    value: Routine<'p>,
}

/// A program with bound parameters.
#[derive(Debug)]
pub struct ProgramSystem<'p> {
    program: &'p Program,
    topology: Topology,
    constraints: Vec<ConstraintRoutines<'p>>,
    forces: Vec<ForceRoutines<'p>>,
    pairs: Vec<PairRoutines<'p>>,
    position_conditions: Vec<ConditionRoutines<'p>>,
    velocity_conditions: Vec<ConditionRoutines<'p>>,
    angles: Vec<AngleRoutines<'p>>,
    unrolled: Option<UnrolledRoutines<'p>>,
    /// New values of the continuous angles, before all of them are stored at once.
    memory: Vec<f64>,
    /// Scalars of the inputs.
    signals: Vec<f64>,
}

impl<'p> ProgramSystem<'p> {
    /// Prepares a program. What is fixed at the start is computed from the guess until
    /// [`ProgramSystem::set_start`] is called.
    ///
    /// # Errors
    /// If a kernel needs more registers than the interpreter has.
    pub fn new(program: &'p Program, binding: &Binding, engine: &Engine) -> Result<Self, TooManyRegisters> {
        let params = &binding.params;
        let mut constraints = Vec::new();
        for constraint in &program.constraints {
            constraints.push(ConstraintRoutines {
                constraint,
                instances: Instances::new(&constraint.family, params, engine)?,
                value: Routine::new(&constraint.value, engine)?,
                jacobian: Routine::new(&constraint.jacobian, engine)?,
                newton: Routine::new(&constraint.newton, engine)?,
                convective: Routine::new(&constraint.convective, engine)?,
            });
        }
        let mut forces = Vec::new();
        for force in &program.forces {
            forces.push(ForceRoutines {
                force_family: force,
                instances: Instances::new(&force.family, params, engine)?,
                energy: Routine::new(&force.energy, engine)?,
                force: Routine::new(&force.force, engine)?,
                newton: Routine::new(&force.newton, engine)?,
            });
        }
        let pairs =
            program.pairs.iter().map(|p| PairRoutines::new(program, p, params, engine)).collect::<Result<_, _>>()?;
        let (mut position_conditions, mut velocity_conditions) = (Vec::new(), Vec::new());
        for condition in &program.conditions {
            let routines = ConditionRoutines {
                condition,
                instances: Instances::new(&condition.family, params, engine)?,
                value: Routine::new(&condition.value, engine)?,
            };
            let list = if condition.is_velocity { &mut velocity_conditions } else { &mut position_conditions };
            list.push(routines);
        }
        let mut angles = Vec::new();
        for angle in &program.angles {
            angles.push(AngleRoutines {
                angle,
                instances: Instances::new(&angle.family, params, engine)?,
                value: Routine::new(&angle.value, engine)?,
            });
        }
        let mut system = Self {
            program,
            topology: topology(program, binding),
            constraints,
            forces,
            pairs,
            position_conditions,
            velocity_conditions,
            angles,
            unrolled: program.unrolled.as_ref().map(|u| UnrolledRoutines::new(u, params, engine)).transpose()?,
            memory: vec![0.0; program.memory_len()],
            signals: binding.signals.clone(),
        };
        system.set_start(&binding.guess);
        Ok(system)
    }

    /// The scalars of the inputs, one input after another: from now on, what evaluations see.
    pub fn signals_mut(&mut self) -> &mut [f64] {
        &mut self.signals
    }

    /// Computes what is fixed at the assembled start.
    pub fn set_start(&mut self, start: &State) {
        let point = point(start, &self.signals);
        self.constraints.iter_mut().for_each(|c| c.instances.set_start(&point));
        self.forces.iter_mut().for_each(|f| f.instances.set_start(&point));
        // Steps then find a list that has room.
        self.pairs.iter_mut().for_each(|p| p.find(&point));
        self.position_conditions.iter_mut().for_each(|c| c.instances.set_start(&point));
        self.velocity_conditions.iter_mut().for_each(|c| c.instances.set_start(&point));
        self.angles.iter_mut().for_each(|a| a.instances.set_start(&point));
        self.unrolled.iter_mut().for_each(|u| u.set_start(&point));
    }
}

/// The static structure of a program.
pub(super) fn topology(program: &Program, binding: &Binding) -> Topology {
    let bodies = binding.bodies.clone();
    let mut dof = vec![0];
    for body in &bodies {
        dof.push(dof[dof.len() - 1] + body.kind.dim());
    }
    let mut out = Topology { dof, memory: program.memory_len(), ..Topology::default() };
    for c in &program.constraints {
        (0..c.family.table.count).for_each(|k| out.constraints.push(&bodies, c.family.slots(k), c.rows, &c.couplings));
    }
    for f in &program.forces {
        (0..f.family.table.count).for_each(|k| out.forces.push(&bodies, f.family.slots(k), 0, &f.couplings));
    }
    for c in &program.conditions {
        let (set, fixed) = if c.is_velocity {
            (&mut out.velocity_conditions, &mut out.velocity_fixed)
        } else {
            (&mut out.position_conditions, &mut out.position_fixed)
        };
        for k in 0..c.family.table.count {
            set.push(&bodies, c.family.slots(k), c.rows, &[]);
            fixed.push(c.is_fixed);
        }
    }
    out.has_pairs = !program.pairs.is_empty();
    out.bodies = bodies;
    out
}

fn point<'a>(s: &'a State, signals: &'a [f64]) -> Point<'a> {
    Point { signals, ..Point::of(s) }
}

/// Copies values, rates and Jacobian block of an instance from the buffer of a kernel.
fn put_jacobian(from: &[f64], row: usize, rows: usize, jac: usize, dim: usize, out: &mut Jacobian) {
    out.phi[row..row + rows].copy_from_slice(&from[..rows]);
    out.phi_t[row..row + rows].copy_from_slice(&from[rows..2 * rows]);
    out.b[jac..jac + rows * dim].copy_from_slice(&from[2 * rows..2 * rows + rows * dim]);
}

fn resize(out: &mut Jacobian, set: &ElementSet) {
    out.phi.resize(set.rows, 0.0);
    out.phi_t.resize(set.rows, 0.0);
    out.b.resize(set.jac_len, 0.0);
}

/// Adds the generalised force of an instance to the velocities of its bodies.
fn add_force(from: &[f64], topology: &Topology, slots: &[u32], q: &mut [f64]) {
    let mut at = 0;
    for &body in slots {
        let body = body as usize;
        let dim = topology.bodies[body].kind.dim();
        for (to, x) in q[topology.dof[body]..][..dim].iter_mut().zip(&from[at..at + dim]) {
            *to += x;
        }
        at += dim;
    }
}

/// Adds the forces of the pairs that are near at a point.
fn add_pairs(pairs: &mut [PairRoutines<'_>], point: &Point<'_>, topology: &Topology, q: &mut [f64]) {
    for p in pairs {
        p.find(point);
        p.forces(point, |slots, values| add_force(values, topology, slots, q));
    }
}

impl System for ProgramSystem<'_> {
    fn topology(&self) -> &Topology {
        &self.topology
    }

    fn residual(&mut self, s: &State, phi: &mut [f64]) {
        let point = point(s, &self.signals);
        let mut row = 0;
        for c in &mut self.constraints {
            let rows = c.constraint.rows;
            for k in 0..c.instances.count() {
                phi[row..row + rows].copy_from_slice(c.value.run(&c.instances.inputs(k, &point)));
                row += rows;
            }
        }
    }

    fn jacobian(&mut self, s: &State, out: &mut Jacobian) {
        let point = point(s, &self.signals);
        resize(out, &self.topology.constraints);
        let (mut row, mut jac) = (0, 0);
        for c in &mut self.constraints {
            let Constraint { rows, dim, .. } = *c.constraint;
            for k in 0..c.instances.count() {
                let values = c.jacobian.run(&c.instances.inputs(k, &point));
                put_jacobian(values, row, rows, jac, dim, out);
                row += rows;
                jac += rows * dim;
            }
        }
    }

    fn constraint_newton(&mut self, s: &State, lam: &[f64], jac: &mut Jacobian, out: &mut ConstraintDerivatives) {
        let point = point(s, &self.signals);
        let set = &self.topology.constraints;
        resize(jac, set);
        out.bv_q.resize(set.jac_len, 0.0);
        out.k_lam.resize(set.square_len, 0.0);
        let (mut row, mut at, mut square) = (0, 0, 0);
        for c in &mut self.constraints {
            let Constraint { rows, dim, .. } = *c.constraint;
            let (block, parts) = (rows * dim, 9 * c.constraint.couplings.len());
            for k in 0..c.instances.count() {
                let inputs = c.instances.inputs(k, &point);
                let values = c.newton.run(&Inputs { lambda: &lam[row..row + rows], ..inputs });
                put_jacobian(values, row, rows, at, dim, jac);
                let derivatives = &values[2 * rows + block..];
                out.bv_q[at..at + block].copy_from_slice(&derivatives[..block]);
                out.k_lam[square..square + parts].copy_from_slice(&derivatives[block..]);
                row += rows;
                at += block;
                square += parts;
            }
        }
    }

    fn convective(&mut self, s: &State, gamma: &mut [f64]) {
        let point = point(s, &self.signals);
        let mut row = 0;
        for c in &mut self.constraints {
            let rows = c.constraint.rows;
            for k in 0..c.instances.count() {
                gamma[row..row + rows].copy_from_slice(c.convective.run(&c.instances.inputs(k, &point)));
                row += rows;
            }
        }
    }

    fn forces(&mut self, s: &State, q: &mut [f64]) {
        let point = point(s, &self.signals);
        q.fill(0.0);
        for f in &mut self.forces {
            for k in 0..f.instances.count() {
                let values = f.force.run(&f.instances.inputs(k, &point));
                add_force(values, &self.topology, f.instances.family.slots(k), q);
            }
        }
        add_pairs(&mut self.pairs, &point, &self.topology, q);
    }

    fn has_inputs(&self) -> bool {
        !self.program.inputs.is_empty()
    }

    fn has_forces(&self) -> bool {
        !(self.program.forces.is_empty() && self.program.pairs.is_empty())
    }

    fn has_velocity_forces(&self) -> bool {
        self.forces.iter().any(|f| f.force_family.depends_on_velocity())
    }

    fn force_newton(&mut self, s: &State, q: &mut [f64], out: &mut ForceDerivatives) {
        let point = point(s, &self.signals);
        q.fill(0.0);
        out.q_q.resize(self.topology.forces.square_len, 0.0);
        out.q_v.resize(self.topology.forces.square_len, 0.0);
        let mut at = 0;
        for f in &mut self.forces {
            let dim = f.force_family.dim;
            let square = 9 * f.force_family.couplings.len();
            for k in 0..f.instances.count() {
                let values = f.newton.run(&f.instances.inputs(k, &point));
                add_force(values, &self.topology, f.instances.family.slots(k), q);
                out.q_q[at..at + square].copy_from_slice(&values[dim..dim + square]);
                out.q_v[at..at + square].copy_from_slice(&values[dim + square..]);
                at += square;
            }
        }
        add_pairs(&mut self.pairs, &point, &self.topology, q);
    }

    fn potential(&mut self, s: &State) -> f64 {
        let point = point(s, &self.signals);
        let mut energy = 0.0;
        for f in &mut self.forces {
            for k in 0..f.instances.count() {
                energy += f.energy.run(&f.instances.inputs(k, &point))[0];
            }
        }
        for p in &mut self.pairs {
            p.find(&point);
            p.add_energy(&point, &mut energy);
        }
        energy
    }

    fn position_conditions(&mut self, s: &State, out: &mut Jacobian) {
        resize(out, &self.topology.position_conditions);
        conditions(&mut self.position_conditions, &point(s, &self.signals), out);
    }

    fn velocity_conditions(&mut self, s: &State, out: &mut Jacobian) {
        resize(out, &self.topology.velocity_conditions);
        conditions(&mut self.velocity_conditions, &point(s, &self.signals), out);
    }

    fn unrolled_step(
        &mut self,
        work: &mut Unrolled,
        delivered: Delivered<'_>,
        s: &mut State,
        h: f64,
        t1: f64,
    ) -> Option<usize> {
        self.unrolled.as_mut()?.step(work, delivered, &self.signals, (s, h, t1))
    }

    fn unrolled_stage(&mut self, work: &mut UnrolledRattle, stage: Stage<'_>) -> Option<usize> {
        self.unrolled.as_mut()?.stage(work, stage, &self.signals)
    }

    fn unrolled_end(&mut self, work: &mut UnrolledRattle, end: StepEnd<'_>) -> Option<()> {
        self.unrolled.as_mut()?.end(work, end, &self.signals)
    }

    fn accept(&mut self, s: &mut State) {
        for a in &mut self.angles {
            for k in 0..a.instances.count() {
                let inputs = a.instances.inputs(k, &point(s, &self.signals));
                self.memory[a.angle.first_cell + k] = a.value.run(&inputs)[0];
            }
        }
        s.memory.copy_from_slice(&self.memory);
    }

    fn body_name(&self, body: usize) -> String {
        self.program.body_name(body)
    }

    fn constraint_name(&self, element: usize) -> String {
        instance_name(self.constraints.iter().map(|c| &c.instances), element)
    }

    fn row_name(&self, element: usize, row: usize) -> String {
        let mut k = element;
        for c in &self.constraints {
            if k < c.instances.count() {
                return c.constraint.row_names.get(row).cloned().unwrap_or_default();
            }
            k -= c.instances.count();
        }
        String::new()
    }

    fn position_condition_name(&self, element: usize) -> String {
        instance_name(self.position_conditions.iter().map(|c| &c.instances), element)
    }

    fn velocity_condition_name(&self, element: usize) -> String {
        instance_name(self.velocity_conditions.iter().map(|c| &c.instances), element)
    }
}

fn conditions(list: &mut [ConditionRoutines<'_>], point: &Point<'_>, out: &mut Jacobian) {
    let (mut row, mut jac) = (0, 0);
    for c in list {
        let Condition { rows, dim, .. } = *c.condition;
        for k in 0..c.instances.count() {
            put_jacobian(c.value.run(&c.instances.inputs(k, point)), row, rows, jac, dim, out);
            row += rows;
            jac += rows * dim;
        }
    }
}

/// Name of an instance counted through families.
fn instance_name<'a, 'p: 'a>(families: impl Iterator<Item = &'a Instances<'p>>, mut k: usize) -> String {
    for instances in families {
        if k < instances.count() {
            return instances.family.instance_name(k);
        }
        k -= instances.count();
    }
    String::new()
}

#[cfg(test)]
mod tests;
