//! Proof that a kernel keeps the invariants of [`Kernel`]: what back ends may trust without looking again.

use std::fmt;

use super::kernel::{Input, Interface, Kernel, Op, Reg, Un};
use super::special::{MAX_LOG_DERIVATIVE, MAX_STUMPFF};

/// A kernel that keeps its invariants. Only [`verify`] makes one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VerifiedKernel(Kernel);

impl VerifiedKernel {
    /// The kernel.
    #[must_use]
    pub fn get(&self) -> &Kernel {
        &self.0
    }
}

/// A broken invariant: a bug of the compiler.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum VerifyError {
    /// An instruction uses a register that is not defined before it.
    Operand {
        /// Kernel.
        kernel: String,
        /// Instruction.
        at: usize,
        /// Register.
        operand: Reg,
    },
    /// An instruction loads what the interface does not have.
    Input {
        /// Kernel.
        kernel: String,
        /// Instruction.
        at: usize,
        /// What it loads.
        input: Input,
    },
    /// A special function of an order that is not implemented.
    Order {
        /// Kernel.
        kernel: String,
        /// Instruction.
        at: usize,
        /// The function.
        function: Un,
    },
    /// An output lies outside, is not in order, or reads an undefined register.
    Output {
        /// Kernel.
        kernel: String,
        /// Offset.
        offset: u32,
        /// Register.
        value: Reg,
    },
}

impl fmt::Display for VerifyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Operand { kernel, at, operand } => {
                write!(f, "kernel `{kernel}`: %{at} uses %{}, which is not defined before it", operand.0)
            }
            Self::Input { kernel, at, input } => {
                write!(f, "kernel `{kernel}`: %{at} loads {input:?}, which its interface does not have")
            }
            Self::Order { kernel, at, function } => {
                write!(f, "kernel `{kernel}`: %{at} uses {function:?}, an order that is not implemented")
            }
            Self::Output { kernel, offset, value } => {
                write!(f, "kernel `{kernel}`: output {offset} of %{} is outside, repeated or undefined", value.0)
            }
        }
    }
}

impl std::error::Error for VerifyError {}

/// Checks a kernel against the interface of its element kind.
///
/// # Errors
/// The first broken invariant.
pub fn verify(kernel: Kernel, interface: &Interface) -> Result<VerifiedKernel, VerifyError> {
    for (at, &op) in kernel.ops.iter().enumerate() {
        let (operands, count) = match op {
            Op::Const(_) => ([Reg(0); 3], 0),
            Op::Load(input) => {
                if !has_input(interface, input) {
                    return Err(VerifyError::Input { kernel: kernel.name, at, input });
                }
                ([Reg(0); 3], 0)
            }
            Op::Un(function, a) => {
                if !has_order(function) {
                    return Err(VerifyError::Order { kernel: kernel.name, at, function });
                }
                ([a; 3], 1)
            }
            Op::Bin(_, a, b) => ([a, b, b], 2),
            Op::Select(c, a, b) => ([c, a, b], 3),
        };
        if let Some(&operand) = operands[..count].iter().find(|r| r.0 as usize >= at) {
            return Err(VerifyError::Operand { kernel: kernel.name, at, operand });
        }
    }
    let mut next = 0;
    for &(offset, value) in &kernel.outputs {
        let inside = offset >= next && (offset as usize) < kernel.size;
        if !inside || value.0 as usize >= kernel.ops.len() {
            return Err(VerifyError::Output { kernel: kernel.name, offset, value });
        }
        next = offset + 1;
    }
    Ok(VerifiedKernel(kernel))
}

fn has_input(interface: &Interface, input: Input) -> bool {
    let below = |k: u32, count: usize| (k as usize) < count;
    match input {
        Input::State { slot, component } => usize::from(slot) < interface.slots && component < 18,
        Input::Time => true,
        Input::Column(k) => below(k, interface.columns),
        Input::Uniform(k) => below(k, interface.uniforms),
        Input::Start(k) => below(k, interface.starts),
        Input::Memory(k) => below(k, interface.memories),
        Input::Lambda(k) => below(k, interface.rows),
        Input::Multiplier(k) => below(k, interface.multipliers),
        Input::Global(k) => k < 9,
        Input::Reduced(k) => below(k, interface.reduced),
        Input::Recorded(k) => below(k, interface.recorded),
        Input::Param(k) => below(k, interface.params),
        Input::Signal(k) => below(k, interface.signals),
        Input::Index(k) => below(k, interface.indices),
        Input::Iterate(k) => below(k, interface.iterates),
    }
}

fn has_order(function: Un) -> bool {
    match function {
        Un::Stumpff(k) => k <= MAX_STUMPFF,
        Un::LogCoefficient(n) => n <= MAX_LOG_DERIVATIVE,
        Un::Neg
        | Un::Sqrt
        | Un::Sin
        | Un::Cos
        | Un::Tan
        | Un::Asin
        | Un::Acos
        | Un::Exp
        | Un::Ln
        | Un::Abs
        | Un::Sign
        | Un::Floor
        | Un::Not => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::kernel::Bin;

    fn kernel(ops: Vec<Op>, outputs: Vec<(u32, Reg)>) -> Kernel {
        Kernel { name: "k".to_owned(), ops, outputs, size: 2 }
    }

    #[test]
    fn good_kernels_pass() {
        let ops = vec![Op::Load(Input::Time), Op::Bin(Bin::Mul, Reg(0), Reg(0))];
        let good = kernel(ops, vec![(1, Reg(1))]);
        assert_eq!(verify(good.clone(), &Interface::default()).map(|v| v.get().clone()), Ok(good));
    }

    #[test]
    fn broken_kernels_are_named() {
        let none = Interface::default();
        let check = |k: Kernel| verify(k, &none).map(|_| ()).expect_err("broken").to_string();
        let forward = kernel(vec![Op::Un(Un::Neg, Reg(0))], vec![]);
        assert_eq!(check(forward), "kernel `k`: %0 uses %0, which is not defined before it");
        let foreign = kernel(vec![Op::Load(Input::Column(0))], vec![]);
        assert_eq!(check(foreign), "kernel `k`: %0 loads Column(0), which its interface does not have");
        let outside = kernel(vec![Op::Load(Input::Time)], vec![(2, Reg(0))]);
        assert_eq!(check(outside), "kernel `k`: output 2 of %0 is outside, repeated or undefined");
        let twice = kernel(vec![Op::Load(Input::Time)], vec![(1, Reg(0)), (1, Reg(0))]);
        assert!(matches!(verify(twice, &none), Err(VerifyError::Output { offset: 1, .. })));
        let order = kernel(vec![Op::Load(Input::Time), Op::Un(Un::Stumpff(13), Reg(0))], vec![]);
        assert!(matches!(verify(order, &none), Err(VerifyError::Order { at: 1, .. })));
    }
}
