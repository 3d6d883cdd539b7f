//! A compiled system at a state: its quantities as dense rows, each with a bound of its rounding error.

use std::rc::Rc;

use mbdsl::backend::engine::{Backend, Engine};
use mbdsl::backend::inputs::Inputs;
use mbdsl::backend::interp::Machine;
use mbdsl::backend::jit::{Code, Function};
use mbdsl::exec::instances::Instances;
use mbdsl::exec::system::ProgramSystem;
use mbdsl::ir::VerifiedKernel;
use mbdsl::ir::program::Family;
use mbdsl_runtime::nalgebra::Vector3;
use mbdsl_runtime::point::Point;
use mbdsl_runtime::so3;
use mbdsl_runtime::state::State;
use mbdsl_runtime::system::{Jacobian, System};
use mbdsl_runtime::topology::{BodyKind, ElementSet, Topology};

use crate::case::{Case, Checked};
use crate::rounding::{Bounded, Feed, run};

/// A case with its system.
pub struct Bench<'c> {
    pub case: &'c Case,
    pub system: ProgramSystem<'c>,
    pub topology: Topology,
    code: Rc<Code>,
}

fn point<'a>(s: &'a State, signals: &'a [f64]) -> Point<'a> {
    Point { signals, ..Point::of(s) }
}

impl<'c> Bench<'c> {
    pub fn new(case: &'c Case) -> Checked<Self> {
        let system = ProgramSystem::new(case.program(), &case.binding, &Engine::new(Backend::Interp))
            .map_err(|e| e.to_string())?;
        let topology = system.topology().clone();
        let code = Rc::new(Code::new().map_err(|e| e.to_string())?);
        Ok(Self { case, system, topology, code })
    }

    /// `Phi`
    pub fn phi(&mut self, s: &State) -> Vec<f64> {
        let mut phi = vec![0.0; self.topology.nc()];
        self.system.residual(s, &mut phi);
        phi
    }

    /// `B V + Phi_t`
    pub fn rate(&mut self, s: &State) -> Vec<f64> {
        let mut jac = Jacobian::default();
        self.system.jacobian(s, &mut jac);
        let b = self.dense_rows(&self.topology.constraints, &jac.b);
        let v = velocities(&self.topology, s);
        let product = b.chunks(v.len()).map(|row| row.iter().zip(&v).map(|(b, v)| b * v).sum::<f64>());
        product.zip(&jac.phi_t).map(|(p, t)| p + t).collect()
    }

    /// `B^T lambda`
    pub fn pull(&mut self, s: &State, lam: &[f64]) -> Vec<f64> {
        let mut jac = Jacobian::default();
        self.system.jacobian(s, &mut jac);
        let nv = self.topology.nv();
        let mut out = vec![0.0; nv];
        for (row, l) in self.dense_rows(&self.topology.constraints, &jac.b).chunks(nv).zip(lam) {
            out.iter_mut().zip(row).for_each(|(o, b)| *o += b * l);
        }
        out
    }

    /// `Bdot V + 2 B_t V + Phi_tt`
    pub fn gamma(&mut self, s: &State) -> Vec<f64> {
        let mut gamma = vec![0.0; self.topology.nc()];
        self.system.convective(s, &mut gamma);
        gamma
    }

    /// `Q`
    pub fn force(&mut self, s: &State) -> Vec<f64> {
        let mut q = vec![0.0; self.topology.nv()];
        self.system.forces(s, &mut q);
        q
    }

    /// `rows x nv` matrix, row-major, of Jacobian blocks.
    pub fn dense_rows(&self, set: &ElementSet, blocks: &[f64]) -> Vec<f64> {
        let nv = self.topology.nv();
        let mut out = vec![0.0; set.rows * nv];
        for e in &set.elements {
            let places = places(&self.topology, set.bodies(e));
            for row in 0..e.rows {
                for (j, &column) in places.iter().enumerate() {
                    out[(e.row + row) * nv + column] += blocks[e.jac + row * e.dim + j];
                }
            }
        }
        out
    }

    /// `nv x nv` matrix, row-major, of square blocks.
    pub fn dense_square(&self, set: &ElementSet, blocks: &[f64]) -> Vec<f64> {
        let nv = self.topology.nv();
        let mut out = vec![0.0; nv * nv];
        for e in &set.elements {
            let places = places(&self.topology, set.bodies(e));
            for (part, at) in set.parts(e) {
                let [row, column] = part.map(|k| 3 * k as usize);
                for k in 0..9 {
                    out[places[row + k / 3] * nv + places[column + k % 3]] += blocks[at + k];
                }
            }
        }
        out
    }

    /// Outputs of a kernel for all instances of a family, with bounds of their errors.
    ///
    /// The interpreter and native code must give the same bits as the operations one after another. `lambda` are the multipliers of each
    /// instance.
    pub fn bounded(
        &self,
        family: &Family,
        kernel: &VerifiedKernel,
        (s, start): (&State, &State),
        lambda: &[f64],
        state_error: f64,
    ) -> Checked<Vec<Vec<Bounded>>> {
        let (params, signals) = (&self.case.binding.params, &self.case.binding.signals);
        let mut instances = Instances::new(family, params, &Engine::new(Backend::Interp)).map_err(|e| e.to_string())?;
        instances.set_start(&point(start, signals));
        let mut machine = Machine::new(kernel).map_err(|e| e.to_string())?;
        let native = Function::new(kernel, &self.code).map_err(|e| e.to_string())?;
        let mut all = Vec::new();
        let rows = family.interface.rows;
        for k in 0..instances.count() {
            let lambda = lambda.get(k * rows..(k + 1) * rows).unwrap_or(&[]);
            let inputs = Inputs { lambda, ..instances.inputs(k, &point(s, signals)) };
            let feed = Feed::new(family, params, inputs, instances.inputs(k, &point(start, signals)), state_error);
            let bounded = run(kernel.get(), &feed);
            let mut out = vec![0.0; kernel.get().size];
            machine.run(&inputs, &mut out);
            let same = |(a, b): (&f64, &Bounded)| a.to_bits() == b.value.to_bits();
            if !out.iter().zip(&bounded).all(same) {
                return Err(format!("the interpreter differs from the operations of `{}`", kernel.get().name));
            }
            out.fill(0.0);
            native.run(&inputs, &mut out);
            if !out.iter().zip(&bounded).all(same) {
                return Err(format!("native code differs from the operations of `{}`", kernel.get().name));
            }
            all.push(bounded);
        }
        Ok(all)
    }
}

/// Columns of the velocities of some bodies.
pub fn places(topology: &Topology, bodies: &[u32]) -> Vec<usize> {
    bodies.iter().flat_map(|&b| topology.dof[b as usize]..topology.dof[b as usize + 1]).collect()
}

/// The velocities of a state.
pub fn velocities(topology: &Topology, s: &State) -> Vec<f64> {
    let mut v = Vec::new();
    for (k, body) in topology.bodies.iter().enumerate() {
        v.extend(s.v(k).iter());
        if body.kind == BodyKind::Rigid {
            v.extend(s.omega(k).iter());
        }
    }
    v
}

/// Which half of the state moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Half {
    Positions,
    Velocities,
}

/// The state displaced by `d`: `x + dx`, `R exp(dtheta)`, or with `d` added to its velocities.
pub fn moved(topology: &Topology, s: &State, d: &[f64], half: Half) -> State {
    let mut out = s.clone();
    for (k, body) in topology.bodies.iter().enumerate() {
        let part = |at: usize| Vector3::from_column_slice(&d[topology.dof[k] + at..][..3]);
        let is_rigid = body.kind == BodyKind::Rigid;
        match half {
            Half::Positions => {
                out.set_x(k, &(s.x(k) + part(0)));
                if is_rigid {
                    out.set_r(k, &(s.r(k) + s.r(k) * so3::exp_increment(&part(3))));
                }
            }
            Half::Velocities => {
                out.set_v(k, &(s.v(k) + part(0)));
                if is_rigid {
                    out.set_omega(k, &(s.omega(k) + part(3)));
                }
            }
        }
    }
    out
}
