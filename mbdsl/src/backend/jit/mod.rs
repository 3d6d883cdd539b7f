//! Native code for kernels, made by Cranelift while a run goes on.
//!
//! A kernel becomes one function of one basic block: an instruction of the IR is an instruction of Cranelift, in the same order, and
//! functions that the processor lacks are calls of the ones that the interpreter uses. Nothing is fused or reassociated, so that results are
//! those of the interpreter to the bit.

mod code;
mod translate;

use std::fmt;

use super::inputs::{BODY, Inputs, Place, Source};
use crate::ir::{Kernel, Op, VerifiedKernel};

pub use code::Code;
use code::{Args, Entry};

/// Why there is no native code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoCode {
    /// What the code generator says.
    pub reason: String,
}

impl fmt::Display for NoCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "no native code: {}", self.reason)
    }
}

impl std::error::Error for NoCode {}

/// A kernel as native code.
#[derive(Debug)]
pub struct Function {
    entry: Entry,
    needs: Needs,
}

impl Function {
    /// Compiles a kernel into the memory of `code`. About 5 us an instruction.
    ///
    /// # Errors
    /// If the code generator refuses it or there is no memory.
    pub fn new(kernel: &VerifiedKernel, code: &std::rc::Rc<Code>) -> Result<Self, NoCode> {
        Ok(Self { entry: Code::compile(code, kernel.get())?, needs: Needs::of(kernel.get()) })
    }

    /// Runs the kernel. `out` is written where the kernel has outputs; structural zeros stay as they are.
    ///
    /// # Panics
    /// If a slice is too short for what the kernel loads or writes.
    pub fn run(&self, inputs: &Inputs<'_>, out: &mut [f64]) {
        let args = self.needs.of_these(inputs, out);
        self.entry.call(&args, out);
    }
}

/// What the native code loads and writes, without looking at lengths.
#[derive(Debug)]
struct Needs {
    /// Slots of which a component is loaded.
    slots: Vec<u16>,
    /// Memory inputs that are loaded.
    cells: Vec<u32>,
    slices: Vec<(Source, usize)>,
    out: usize,
}

impl Needs {
    fn of(kernel: &Kernel) -> Self {
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
    #[inline]
    fn of_these(&self, inputs: &Inputs<'_>, out: &[f64]) -> Args {
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

#[cfg(test)]
mod tests;
