//! Native code for kernels, made by Cranelift while a run goes on.
//!
//! A kernel becomes one function of one basic block: an instruction of the IR is an instruction of Cranelift, in the same order, and
//! functions that the processor lacks are calls of the ones that the interpreter uses. Nothing is fused or reassociated, so that results are
//! those of the interpreter to the bit.

mod code;
mod needs;
mod translate;

use std::fmt;

use super::inputs::Inputs;
use crate::ir::VerifiedKernel;

pub use code::Code;
use code::Entry;

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
}

impl Function {
    /// Compiles a kernel into the memory of `code`. About 5 us an instruction.
    ///
    /// # Errors
    /// If the code generator refuses it or there is no memory.
    pub fn new(kernel: &VerifiedKernel, code: &std::rc::Rc<Code>) -> Result<Self, NoCode> {
        Ok(Self { entry: Code::compile(code, kernel.get())? })
    }

    /// Runs the kernel. `out` is written where the kernel has outputs; structural zeros stay as they are.
    ///
    /// # Panics
    /// If a slice is too short for what the kernel loads or writes.
    pub fn run(&self, inputs: &Inputs<'_>, out: &mut [f64]) {
        self.entry.call(inputs, out);
    }
}

#[cfg(test)]
mod tests;
