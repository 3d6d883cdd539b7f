//! Steps of small models by interpreted kernels that are written out for the whole model.

use mbdsl_runtime::point::Point;
use mbdsl_runtime::state::State;
use mbdsl_runtime::steppers::euler::unrolled::{Delivered, Unrolled, UnrolledForm, UnrolledSizes};

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
}

/// The kernels of one form.
#[derive(Debug)]
struct Form<'p> {
    newton: Machine<'p>,
    advance: Machine<'p>,
    accelerate: Option<Machine<'p>>,
    pivots: usize,
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
        Ok(Self {
            source,
            instances,
            position: form(&source.position, &source.advance, None)?,
            constrained: constrained.transpose()?,
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
        let Self { source, instances, position, constrained } = self;
        let Form { newton, advance, accelerate, pivots } = match (work.form(), constrained) {
            (UnrolledForm::Position, _) => position,
            (UnrolledForm::Velocity, Some([form, ..]))
            | (UnrolledForm::Lagrangian, Some([_, form, _]))
            | (UnrolledForm::Hamiltonian, Some([.., form])) => form,
            (UnrolledForm::Velocity | UnrolledForm::Lagrangian | UnrolledForm::Hamiltonian, None) => return None,
        };
        let sizes = UnrolledSizes {
            bodies: source.family.interface.slots,
            velocities: source.velocities,
            rows: source.rows,
            pivots: *pivots,
        };
        let run = |machine: &mut Machine<'_>, at: &Point<'_>, y: &[f64], out: &mut [f64]| {
            let inputs = instances.inputs(0, &Point { signals, ..*at });
            machine.run(&Inputs { iterate: y, ..inputs }, out);
        };
        work.step(
            delivered,
            sizes,
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
}
