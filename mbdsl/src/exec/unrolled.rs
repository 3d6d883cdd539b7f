//! Steps of small models by kernels that are written out for the whole model.

use mbdsl_runtime::point::Point;
use mbdsl_runtime::state::State;
use mbdsl_runtime::steppers::euler::unrolled::{Delivered, Unrolled, UnrolledForm, UnrolledSizes};
use mbdsl_runtime::steppers::rattle::unrolled::{Stage, StepEnd, UnrolledRattle};

use crate::backend::engine::{Engine, Machine};
use crate::backend::inputs::Inputs;
use crate::backend::interp::TooManyRegisters;
use crate::ir::VerifiedKernel;
use crate::ir::program::{self, NewtonKernel};

use super::instances::Instances;

/// The kernels of [`program::Unrolled`], ready to run.
#[derive(Debug)]
pub struct UnrolledRoutines<'p> {
    source: &'p program::Unrolled,
    instances: Instances<'p>,
    position: Form<'p>,
    constrained: Option<[Form<'p>; 3]>,
    rattle: Option<Rattle<'p>>,
}

/// The kernels of one form.
#[derive(Debug)]
struct Form<'p> {
    newton: Machine<'p>,
    advance: Machine<'p>,
    accelerate: Option<Machine<'p>>,
    pivots: usize,
}

/// The kernels of RATTLE.
#[derive(Debug)]
struct Rattle<'p> {
    kick: Machine<'p>,
    newton: Machine<'p>,
    end: Machine<'p>,
    /// Of the iteration and of the end.
    pivots: [usize; 2],
}

impl<'p> UnrolledRoutines<'p> {
    /// Prepares the kernels.
    ///
    /// # Errors
    /// If a kernel needs more registers than there are.
    pub fn new(source: &'p program::Unrolled, params: &[f64], engine: &Engine) -> Result<Self, TooManyRegisters> {
        let instances = Instances::new(&source.family, params, engine)?;
        let form = |newton: &'p NewtonKernel, advance: &'p VerifiedKernel, accelerate: Option<&'p VerifiedKernel>| {
            Ok(Form {
                newton: engine.machine(&newton.kernel)?,
                advance: engine.machine(advance)?,
                accelerate: accelerate.map(|k| engine.machine(k)).transpose()?,
                pivots: newton.pivots,
            })
        };
        let constrained = source.constrained.as_ref().map(|c| {
            let [l, h] = &c.stabilised;
            let [a_l, a_h] = &c.accelerate;
            Ok([
                form(&c.velocity, &source.advance, None)?,
                form(l, &c.advance, Some(a_l))?,
                form(h, &c.advance, Some(a_h))?,
            ])
        });
        let rattle = source.constrained.as_ref().map(|c| {
            let program::UnrolledRattle { kick, newton, end, .. } = &c.rattle;
            Ok(Rattle {
                kick: engine.machine(kick)?,
                newton: engine.machine(&newton.kernel)?,
                end: engine.machine(&end.kernel)?,
                pivots: [newton.pivots, end.pivots],
            })
        });
        Ok(Self {
            source,
            instances,
            position: form(&source.position, &source.advance, None)?,
            constrained: constrained.transpose()?,
            rattle: rattle.transpose()?,
        })
    }

    /// Computes what is fixed at the start.
    pub fn set_start(&mut self, point: &Point<'_>) {
        self.instances.set_start(point);
    }

    /// One step, with the numbers of the inputs.
    pub fn step(
        &mut self,
        work: &mut Unrolled,
        delivered: Delivered<'_>,
        signals: &[f64],
        place: (&mut State, f64, f64),
    ) -> Option<usize> {
        let Self { source, instances, position, constrained, .. } = self;
        let Form { newton, advance, accelerate, pivots } = match (work.form(), constrained) {
            (UnrolledForm::Position, _) => position,
            (UnrolledForm::Velocity, Some([form, ..]))
            | (UnrolledForm::Lagrangian, Some([_, form, _]))
            | (UnrolledForm::Hamiltonian, Some([.., form])) => form,
            (UnrolledForm::Velocity | UnrolledForm::Lagrangian | UnrolledForm::Hamiltonian, None) => return None,
        };
        let run = evaluator(instances, signals);
        work.step(
            delivered,
            sizes(source, *pivots),
            place,
            |at, y, out| run(newton, at, y, out),
            |at, y, out| run(advance, at, y, out),
            |at, y, out| {
                if let Some(machine) = accelerate {
                    run(machine, at, y, out);
                }
            },
        )
    }

    /// A stage of RATTLE.
    pub fn stage(&mut self, work: &mut UnrolledRattle, stage: Stage<'_>, signals: &[f64]) -> Option<usize> {
        let Rattle { kick, newton, pivots, .. } = self.rattle.as_mut()?;
        let run = evaluator(&self.instances, signals);
        let sizes = sizes(self.source, pivots[0]);
        work.stage(stage, sizes, |at, y, out| run(kick, at, y, out), |at, y, out| run(newton, at, y, out))
    }

    /// The end of a step by RATTLE.
    pub fn end(&mut self, work: &mut UnrolledRattle, end: StepEnd<'_>, signals: &[f64]) -> Option<()> {
        let Rattle { end: machine, pivots, .. } = self.rattle.as_mut()?;
        let run = evaluator(&self.instances, signals);
        work.end(end, sizes(self.source, pivots[1]), |at, y, out| run(machine, at, y, out))
    }
}

/// Sizes of the model and of a kernel.
fn sizes(source: &program::Unrolled, pivots: usize) -> UnrolledSizes {
    UnrolledSizes { bodies: source.family.interface.slots, velocities: source.velocities, rows: source.rows, pivots }
}

/// What runs a kernel at a point, with the numbers of the inputs.
fn evaluator<'a>(
    instances: &'a Instances<'_>,
    signals: &'a [f64],
) -> impl Fn(&mut Machine<'_>, &Point<'_>, &[f64], &mut [f64]) {
    |machine, at, y, out| {
        let inputs = instances.inputs(0, &Point { signals, ..*at });
        machine.run(&Inputs { iterate: y, ..inputs }, out);
    }
}
