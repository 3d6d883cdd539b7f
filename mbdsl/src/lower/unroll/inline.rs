//! Kernels of element families written into the graph of a whole model.

use rustc_hash::FxHashMap;

use crate::ir::program::Family;
use crate::ir::{Graph, Input, Kernel, Op, Reg};

use super::super::scope::number;

/// The numbers of a body: x 0..3, R 3..12 row-major, v 12..15, Omega 15..18.
pub(super) type BodyNodes = [Reg; 18];

/// What the kernels of an instance load, as nodes.
pub(super) struct Instance<'a> {
    family: &'a Family,
    k: usize,
    uniforms: Vec<Reg>,
    columns: Vec<Reg>,
    starts: Vec<Reg>,
    time: Reg,
}

/// Continuous angles and values at the start of the whole model.
#[derive(Debug, Default)]
pub(super) struct Foreign {
    /// Memory cell of each memory input.
    pub cells: Vec<u32>,
    /// Values that are computed on the assembled start.
    pub started: Vec<Reg>,
    numbers: FxHashMap<u32, u32>,
}

impl Foreign {
    fn memory(&mut self, g: &mut Graph, cell: u32) -> Reg {
        let next = number(self.cells.len());
        let k = *self.numbers.entry(cell).or_insert_with(|| {
            self.cells.push(cell);
            next
        });
        g.load(Input::Memory(k))
    }
}

/// The numbers of a body as they are when a step begins.
pub(super) fn body(g: &mut Graph, body: usize, is_rigid: bool) -> BodyNodes {
    let slot = u16::try_from(body).expect("unrolled models are small");
    std::array::from_fn(|k| {
        let component = u8::try_from(k).expect("there are 18");
        match k {
            3..12 if !is_rigid => g.num(if k % 4 == 3 { 1.0 } else { 0.0 }),
            15.. if !is_rigid => g.num(0.0),
            _ => g.load(Input::State { slot, component }),
        }
    })
}

impl<'a> Instance<'a> {
    /// Inlines the constants of an instance. `None` if they need what only observers have.
    pub(super) fn new(
        g: &mut Graph,
        foreign: &mut Foreign,
        family: &'a Family,
        k: usize,
        bodies: &[BodyNodes],
    ) -> Option<Self> {
        let time = g.load(Input::Time);
        let mut instance = Self { family, k, uniforms: Vec::new(), columns: Vec::new(), starts: Vec::new(), time };
        instance.uniforms = instance.inline(g, foreign, family.uniforms.get(), bodies, &[])?;
        instance.columns = instance.inline(g, foreign, family.columns.get(), bodies, &[])?;
        for value in instance.inline(g, foreign, family.starts.get(), bodies, &[])? {
            instance.starts.push(g.load(Input::Start(number(foreign.started.len()))));
            foreign.started.push(value);
        }
        Some(instance)
    }

    /// The same at another time.
    pub(super) fn at(self, time: Reg) -> Self {
        Self { time, ..self }
    }

    /// Bodies of the instance.
    pub(super) fn slots(&self) -> &'a [u32] {
        self.family.slots(self.k)
    }

    /// The outputs of a kernel at given states of the bodies, zeros included.
    pub(super) fn inline(
        &self,
        g: &mut Graph,
        foreign: &mut Foreign,
        kernel: &Kernel,
        bodies: &[BodyNodes],
        lambda: &[Reg],
    ) -> Option<Vec<Reg>> {
        let mut nodes: Vec<Reg> = Vec::with_capacity(kernel.ops.len());
        let at = |nodes: &[Reg], r: Reg| nodes[r.0 as usize];
        for &op in &kernel.ops {
            let node = match op {
                Op::Const(bits) => g.num(f64::from_bits(bits)),
                Op::Load(input) => self.load(g, foreign, input, bodies, lambda)?,
                Op::Un(f, a) => g.un(f, at(&nodes, a)),
                Op::Bin(f, a, b) => g.bin(f, at(&nodes, a), at(&nodes, b)),
                Op::Select(c, a, b) => g.select(at(&nodes, c), at(&nodes, a), at(&nodes, b)),
            };
            nodes.push(node);
        }
        let mut outputs = vec![g.num(0.0); kernel.size];
        for &(offset, r) in &kernel.outputs {
            outputs[offset as usize] = at(&nodes, r);
        }
        Some(outputs)
    }

    fn load(
        &self,
        g: &mut Graph,
        foreign: &mut Foreign,
        input: Input,
        bodies: &[BodyNodes],
        lambda: &[Reg],
    ) -> Option<Reg> {
        Some(match input {
            Input::State { slot, component } => {
                bodies[self.slots()[usize::from(slot)] as usize][usize::from(component)]
            }
            Input::Uniform(k) => self.uniforms[k as usize],
            Input::Column(k) => self.columns[k as usize],
            Input::Start(k) => self.starts[k as usize],
            Input::Lambda(k) => lambda[k as usize],
            Input::Memory(k) => foreign.memory(g, self.family.cells(self.k)[k as usize]),
            Input::Index(k) => g.num(f64::from(self.family.indices(self.k)[k as usize])),
            Input::Time => self.time,
            Input::Param(_) | Input::Signal(_) | Input::Iterate(_) => g.load(input),
            Input::Multiplier(_) | Input::Global(_) | Input::Reduced(_) | Input::Recorded(_) => return None,
        })
    }
}
