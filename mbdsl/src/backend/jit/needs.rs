//! How long the inputs and outputs of a kernel must be for its native code, which looks at no lengths.

use super::code::Args;
use crate::backend::inputs::{BODY, Inputs, Place, Source};
use crate::ir::{Kernel, Op};

/// What the native code loads and writes, without looking at lengths.
#[derive(Debug)]
pub(super) struct Needs {
    /// Slots of which a component is loaded.
    slots: Vec<u16>,
    /// Memory inputs that are loaded.
    cells: Vec<u32>,
    slices: Vec<(Source, usize)>,
    out: usize,
}

impl Needs {
    pub(super) fn of(kernel: &Kernel) -> Self {
        let mut needs = Self { slots: Vec::new(), cells: Vec::new(), slices: Vec::new(), out: 0 };
        for op in &kernel.ops {
            let Op::Load(input) = *op else { continue };
            match Place::of(input) {
                Place::State { slot, .. } if needs.slots.contains(&slot) => {}
                Place::State { slot, .. } => needs.slots.push(slot),
                Place::Time => {}
                Place::Memory(n) => needs.cells.push(n),
                Place::Slice(source, n) => {
                    let len = n as usize + 1;
                    match needs.slices.iter_mut().find(|(s, _)| *s == source) {
                        Some((_, needed)) => *needed = len.max(*needed),
                        None => needs.slices.push((source, len)),
                    }
                }
            }
        }
        needs.out = kernel.outputs.iter().map(|&(offset, _)| offset as usize + 1).max().unwrap_or(0);
        needs
    }

    /// Where the parts of these inputs are that the kernel loads, all of them long enough.
    ///
    /// # Panics
    /// If one is not, or `out` is too short.
    #[inline]
    pub(super) fn of_these<'i>(&self, inputs: &Inputs<'i>, out: &[f64]) -> Args<'i> {
        let mut args = Args::new(inputs);
        let mut are_met = out.len() >= self.out;
        for &slot in &self.slots {
            let end = (inputs.slots[usize::from(slot)] as usize + 1) * BODY;
            are_met &= end <= inputs.state.len();
        }
        for &cell in &self.cells {
            are_met &= (inputs.cells[cell as usize] as usize) < inputs.memory.len();
        }
        for &(source, len) in &self.slices {
            let slice = inputs.slice(source);
            are_met &= len <= slice.len();
            args.set(source, slice);
        }
        assert!(are_met, "a slice is too short for its kernel");
        args
    }
}
