//! The interpreter: verified kernels as compact programs on a register file.
//!
//! Compilation folds a product and the sum that alone reads it into one instruction (both roundings are kept), reuses registers, and
//! resolves inputs to places; a run copies the inputs in, executes, and copies the outputs out. Registers are numbered by
//! 16 bits and the file has 2^16 of them, so that no access needs a check; only the few that a kernel uses are touched.

use std::fmt;

use super::inputs::{BODY, Inputs, Place, Source};
use crate::ir::{Bin, Kernel, Op, Reg, Un, VerifiedKernel, semantics};

/// Size of the register file.
const REGISTERS: usize = 1 << 16;

/// A kernel that needs more values at once than there are registers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TooManyRegisters {
    /// Kernel.
    pub kernel: String,
}

impl fmt::Display for TooManyRegisters {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "kernel `{}` needs more than {REGISTERS} values at once", self.kernel)
    }
}

impl std::error::Error for TooManyRegisters {}

/// Whether a kernel has so few instructions that it cannot need more registers than there are.
#[must_use]
pub fn surely_fits(kernel: &VerifiedKernel) -> bool {
    kernel.get().ops.len() <= REGISTERS
}

/// Number of a register in the file.
type R = u16;

/// One instruction; the first register is the destination.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Instr {
    Add(R, R, R),
    Sub(R, R, R),
    Mul(R, R, R),
    Div(R, R, R),
    Neg(R, R),
    Sqrt(R, R),
    /// `a b + c`
    MulAdd(R, R, R, R),
    /// `a b - c`
    MulSub(R, R, R, R),
    /// `c - a b`
    SubMul(R, R, R, R),
    /// `a b + c d`
    MulAddMul(R, R, R, R, R),
    /// `a b - c d`
    MulSubMul(R, R, R, R, R),
    /// `(a b + c d) + e f`
    Dot(R, R, R, R, R, R, R),
    Select(R, R, R, R),
    Un(Un, R, R),
    Bin(Bin, R, R, R),
}

/// A compiled kernel with its registers.
#[derive(Debug)]
pub struct Machine {
    program: Vec<Instr>,
    /// Slots whose state is copied, and where to.
    bodies: Vec<(u16, Vec<(u8, R)>)>,
    time: Option<R>,
    /// Memory inputs and where they go.
    memories: Vec<(u32, R)>,
    /// Offsets within a slice and where they go.
    gathers: Vec<(Source, Vec<(u32, R)>)>,
    outputs: Vec<(u32, R)>,
    registers: Box<[f64; REGISTERS]>,
}

impl Machine {
    /// Compiles a kernel.
    ///
    /// # Errors
    /// If the kernel needs more than 2^16 values at once.
    pub fn new(kernel: &VerifiedKernel) -> Result<Self, TooManyRegisters> {
        Compiler::new(kernel.get()).compile()
    }

    /// Runs the kernel. `out` is written where the kernel has outputs; structural zeros stay as they are.
    ///
    /// # Panics
    /// If a slice is too short for what the kernel loads or writes.
    pub fn run(&mut self, inputs: &Inputs<'_>, out: &mut [f64]) {
        let r = &mut *self.registers;
        for (slot, places) in &self.bodies {
            let from = inputs.slots[usize::from(*slot)] as usize * BODY;
            let body = &inputs.state[from..from + BODY];
            for &(component, to) in places {
                r[usize::from(to)] = body[usize::from(component)];
            }
        }
        if let Some(time) = self.time {
            r[usize::from(time)] = inputs.time;
        }
        for &(k, to) in &self.memories {
            r[usize::from(to)] = inputs.memory[inputs.cells[k as usize] as usize];
        }
        for (source, places) in &self.gathers {
            let slice = inputs.slice(*source);
            for &(offset, to) in places {
                r[usize::from(to)] = slice[offset as usize];
            }
        }
        execute(&self.program, r);
        for &(offset, from) in &self.outputs {
            out[offset as usize] = r[usize::from(from)];
        }
    }
}

fn execute(program: &[Instr], r: &mut [f64; REGISTERS]) {
    macro_rules! r {
        ($k:ident) => {
            r[usize::from($k)]
        };
    }
    for &instr in program {
        match instr {
            Instr::Add(to, a, b) => r!(to) = r!(a) + r!(b),
            Instr::Sub(to, a, b) => r!(to) = r!(a) - r!(b),
            Instr::Mul(to, a, b) => r!(to) = r!(a) * r!(b),
            Instr::Div(to, a, b) => r!(to) = r!(a) / r!(b),
            Instr::Neg(to, a) => r!(to) = -r!(a),
            Instr::Sqrt(to, a) => r!(to) = r!(a).sqrt(),
            Instr::MulAdd(to, a, b, c) => r!(to) = r!(a) * r!(b) + r!(c),
            Instr::MulSub(to, a, b, c) => r!(to) = r!(a) * r!(b) - r!(c),
            Instr::SubMul(to, a, b, c) => r!(to) = r!(c) - r!(a) * r!(b),
            Instr::MulAddMul(to, a, b, c, d) => r!(to) = r!(a) * r!(b) + r!(c) * r!(d),
            Instr::MulSubMul(to, a, b, c, d) => r!(to) = r!(a) * r!(b) - r!(c) * r!(d),
            Instr::Dot(to, a, b, c, d, e, f) => r!(to) = (r!(a) * r!(b) + r!(c) * r!(d)) + r!(e) * r!(f),
            Instr::Select(to, c, a, b) => r!(to) = semantics::select(r!(c), r!(a), r!(b)),
            Instr::Un(f, to, a) => r!(to) = semantics::un(f, r!(a)),
            Instr::Bin(f, to, a, b) => r!(to) = semantics::bin(f, r!(a), r!(b)),
        }
    }
}

/// An instruction before registers are assigned: by the values of the kernel.
#[derive(Clone, Copy)]
enum Fused {
    Plain(Op),
    MulAdd(Reg, Reg, Reg),
    MulSub(Reg, Reg, Reg),
    SubMul(Reg, Reg, Reg),
    MulAddMul([Reg; 4]),
    MulSubMul([Reg; 4]),
    Dot([Reg; 6]),
}

impl Fused {
    fn operands(self) -> Vec<Reg> {
        match self {
            Self::Plain(op) => op.operands().collect(),
            Self::MulAdd(a, b, c) | Self::MulSub(a, b, c) | Self::SubMul(a, b, c) => vec![a, b, c],
            Self::MulAddMul(list) | Self::MulSubMul(list) => list.to_vec(),
            Self::Dot(list) => list.to_vec(),
        }
    }
}

struct Compiler<'a> {
    kernel: &'a Kernel,
    /// How many instructions and outputs read each value.
    uses: Vec<u32>,
    /// Register of each value.
    place: Vec<R>,
    /// Registers that hold no live value.
    free: Vec<R>,
    next: usize,
}

impl<'a> Compiler<'a> {
    fn new(kernel: &'a Kernel) -> Self {
        let mut uses = vec![0; kernel.ops.len()];
        for &op in &kernel.ops {
            for operand in Fused::Plain(op).operands() {
                uses[operand.0 as usize] += 1;
            }
        }
        for &(_, value) in &kernel.outputs {
            uses[value.0 as usize] += 1;
        }
        Self { kernel, uses, place: vec![0; kernel.ops.len()], free: Vec::new(), next: 0 }
    }

    /// The next `count` fresh registers.
    fn fresh(&mut self, count: usize) -> Result<R, TooManyRegisters> {
        let first = self.next;
        self.next += count;
        match R::try_from(first) {
            Ok(first) if self.next <= REGISTERS => Ok(first),
            Ok(_) | Err(_) => Err(TooManyRegisters { kernel: self.kernel.name.clone() }),
        }
    }

    /// The factors of a value that is a product with no other use.
    fn product(&self, r: Reg) -> Option<(Reg, Reg)> {
        match self.kernel.ops[r.0 as usize] {
            Op::Bin(Bin::Mul, a, b) if self.uses[r.0 as usize] == 1 => Some((a, b)),
            Op::Const(_) | Op::Load(_) | Op::Un(..) | Op::Bin(..) | Op::Select(..) => None,
        }
    }

    /// Takes the products into the sums that alone read them. `None` for what was taken.
    fn fuse(&self) -> Vec<Option<Fused>> {
        let ops = &self.kernel.ops;
        let mut fused: Vec<Option<Fused>> = ops.iter().map(|&op| Some(Fused::Plain(op))).collect();
        for (k, &op) in ops.iter().enumerate() {
            let (Op::Bin(Bin::Add, a, b) | Op::Bin(Bin::Sub, a, b)) = op else { continue };
            if a == b {
                continue;
            }
            let is_sum = matches!(op, Op::Bin(Bin::Add, ..));
            let single_use = |r: Reg| self.uses[r.0 as usize] == 1;
            let (value, taken) = match (self.product(a), self.product(b)) {
                (Some((p, q)), Some((s, t))) if is_sum => (Fused::MulAddMul([p, q, s, t]), [Some(a), Some(b)]),
                (Some((p, q)), Some((s, t))) => (Fused::MulSubMul([p, q, s, t]), [Some(a), Some(b)]),
                (None, Some((s, t))) if is_sum => match fused[a.0 as usize] {
                    Some(Fused::MulAddMul([p, q, u, v])) if single_use(a) => {
                        (Fused::Dot([p, q, u, v, s, t]), [Some(a), Some(b)])
                    }
                    _ => (Fused::MulAdd(s, t, a), [None, Some(b)]),
                },
                (None, Some((s, t))) => (Fused::SubMul(s, t, a), [None, Some(b)]),
                (Some((p, q)), None) if is_sum => (Fused::MulAdd(p, q, b), [Some(a), None]),
                (Some((p, q)), None) => (Fused::MulSub(p, q, b), [Some(a), None]),
                (None, None) => continue,
            };
            fused[k] = Some(value);
            for r in taken.into_iter().flatten() {
                fused[r.0 as usize] = None;
            }
        }
        fused
    }

    fn compile(mut self) -> Result<Machine, TooManyRegisters> {
        let registers = vec![0.0; REGISTERS].into_boxed_slice();
        let mut machine = Machine {
            program: Vec::new(),
            bodies: Vec::new(),
            time: None,
            memories: Vec::new(),
            gathers: Vec::new(),
            outputs: Vec::new(),
            registers: registers.try_into().expect("the length is that of the array"),
        };
        self.place_inputs(&mut machine)?;
        let fused = self.fuse();
        // The last instruction that reads a value frees its register; outputs are kept to the end.
        let mut last = vec![usize::MAX; fused.len()];
        for (k, value) in fused.iter().enumerate() {
            for r in value.iter().flat_map(|f| f.operands()) {
                last[r.0 as usize] = k;
            }
        }
        for &(_, value) in &self.kernel.outputs {
            last[value.0 as usize] = usize::MAX;
        }
        for (k, value) in fused.iter().enumerate() {
            let Some(value) = *value else { continue };
            if matches!(value, Fused::Plain(Op::Const(_) | Op::Load(_))) {
                continue;
            }
            let mut operands = value.operands();
            operands.sort_unstable();
            operands.dedup();
            for r in operands {
                let is_temporary = !matches!(self.kernel.ops[r.0 as usize], Op::Const(_) | Op::Load(_));
                if is_temporary && last[r.0 as usize] == k {
                    self.free.push(self.place[r.0 as usize]);
                }
            }
            let to = match self.free.pop() {
                Some(register) => register,
                None => self.fresh(1)?,
            };
            machine.program.push(self.instruction(to, value));
            self.place[k] = to;
        }
        machine.outputs = self.kernel.outputs.iter().map(|&(o, r)| (o, self.place[r.0 as usize])).collect();
        Ok(machine)
    }

    /// Places of constants and inputs: fixed registers, because a run loads them before everything else.
    fn place_inputs(&mut self, machine: &mut Machine) -> Result<(), TooManyRegisters> {
        for (k, &op) in self.kernel.ops.iter().enumerate() {
            let input = match op {
                Op::Const(bits) => {
                    self.place[k] = self.fresh(1)?;
                    machine.registers[usize::from(self.place[k])] = f64::from_bits(bits);
                    continue;
                }
                Op::Load(input) => input,
                Op::Un(..) | Op::Bin(..) | Op::Select(..) => continue,
            };
            let to = self.fresh(1)?;
            self.place[k] = to;
            let (source, offset) = match Place::of(input) {
                Place::State { slot, component } => {
                    match machine.bodies.iter_mut().find(|(s, _)| *s == slot) {
                        Some((_, places)) => places.push((component, to)),
                        None => machine.bodies.push((slot, vec![(component, to)])),
                    }
                    continue;
                }
                Place::Time => {
                    machine.time = Some(to);
                    continue;
                }
                Place::Memory(n) => {
                    machine.memories.push((n, to));
                    continue;
                }
                Place::Slice(source, n) => (source, n),
            };
            match machine.gathers.iter_mut().find(|(s, _)| *s == source) {
                Some((_, places)) => places.push((offset, to)),
                None => machine.gathers.push((source, vec![(offset, to)])),
            }
        }
        Ok(())
    }

    fn instruction(&self, to: R, value: Fused) -> Instr {
        let at = |r: Reg| self.place[r.0 as usize];
        match value {
            Fused::Plain(op) => match op {
                Op::Const(_) | Op::Load(_) => unreachable!("constants and inputs are placed, not computed"),
                Op::Un(Un::Neg, a) => Instr::Neg(to, at(a)),
                Op::Un(Un::Sqrt, a) => Instr::Sqrt(to, at(a)),
                Op::Un(f, a) => Instr::Un(f, to, at(a)),
                Op::Bin(Bin::Add, a, b) => Instr::Add(to, at(a), at(b)),
                Op::Bin(Bin::Sub, a, b) => Instr::Sub(to, at(a), at(b)),
                Op::Bin(Bin::Mul, a, b) => Instr::Mul(to, at(a), at(b)),
                Op::Bin(Bin::Div, a, b) => Instr::Div(to, at(a), at(b)),
                Op::Bin(f, a, b) => Instr::Bin(f, to, at(a), at(b)),
                Op::Select(c, a, b) => Instr::Select(to, at(c), at(a), at(b)),
            },
            Fused::MulAdd(a, b, c) => Instr::MulAdd(to, at(a), at(b), at(c)),
            Fused::MulSub(a, b, c) => Instr::MulSub(to, at(a), at(b), at(c)),
            Fused::SubMul(a, b, c) => Instr::SubMul(to, at(a), at(b), at(c)),
            Fused::MulAddMul([a, b, c, d]) => Instr::MulAddMul(to, at(a), at(b), at(c), at(d)),
            Fused::MulSubMul([a, b, c, d]) => Instr::MulSubMul(to, at(a), at(b), at(c), at(d)),
            Fused::Dot([a, b, c, d, e, f]) => Instr::Dot(to, at(a), at(b), at(c), at(d), at(e), at(f)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::{Input, Interface, verify};

    fn machine(ops: Vec<Op>, outputs: Vec<(u32, Reg)>) -> Result<Machine, TooManyRegisters> {
        let size = outputs.len();
        let interface = Interface { slots: 1, columns: 4, memories: 1, ..Interface::default() };
        let kernel = Kernel { name: "k".to_owned(), ops, outputs, size };
        Machine::new(&verify(kernel, &interface).expect("a sound kernel"))
    }

    #[test]
    fn sums_of_products_are_one_instruction() {
        let mut ops: Vec<Op> = (0..4).map(|k| Op::Load(Input::Column(k))).collect();
        ops.push(Op::Bin(Bin::Mul, Reg(0), Reg(1)));
        ops.push(Op::Bin(Bin::Mul, Reg(2), Reg(3)));
        ops.push(Op::Bin(Bin::Add, Reg(4), Reg(5)));
        ops.push(Op::Bin(Bin::Mul, Reg(1), Reg(3)));
        ops.push(Op::Bin(Bin::Add, Reg(6), Reg(7)));
        ops.push(Op::Bin(Bin::Mul, Reg(0), Reg(0)));
        ops.push(Op::Bin(Bin::Sub, Reg(9), Reg(8)));
        let mut m = machine(ops, vec![(0, Reg(10))]).expect("small");
        assert_eq!(m.program.len(), 2);
        let mut out = [0.0];
        m.run(&Inputs { columns: &[2.0, 3.0, 5.0, 7.0], ..Inputs::NONE }, &mut out);
        assert_eq!(out, [4.0 - (6.0 + 35.0 + 21.0)]);
    }

    #[test]
    fn a_product_that_is_an_output_stays() {
        let product = Op::Bin(Bin::Mul, Reg(0), Reg(0));
        let ops = vec![Op::Load(Input::Time), product, Op::Bin(Bin::Add, Reg(1), Reg(0))];
        let mut m = machine(ops, vec![(0, Reg(1)), (1, Reg(2))]).expect("small");
        let mut out = [0.0; 2];
        m.run(&Inputs { time: 3.0, ..Inputs::NONE }, &mut out);
        assert_eq!(out, [9.0, 12.0]);
    }

    #[test]
    fn inputs_come_from_the_places_of_the_instance() {
        let state: Vec<f64> = (0..36).map(f64::from).collect();
        let ops = vec![Op::Load(Input::State { slot: 0, component: 12 }), Op::Load(Input::Memory(0))];
        let mut m = machine(ops, vec![(0, Reg(0)), (1, Reg(1))]).expect("small");
        let mut out = [0.0; 2];
        m.run(&Inputs { state: &state, slots: &[1], memory: &[5.0, 6.0], cells: &[1], ..Inputs::NONE }, &mut out);
        assert_eq!(out, [30.0, 6.0]);
    }

    #[test]
    fn registers_are_reused() {
        // A chain of a hundred thousand roots.
        let mut ops = vec![Op::Load(Input::Time)];
        ops.extend((0..100_000).map(|k| Op::Un(Un::Sqrt, Reg(k))));
        let mut m = machine(ops, vec![(0, Reg(100_000))]).expect("two registers");
        let mut out = [0.0];
        m.run(&Inputs { time: 2.0, ..Inputs::NONE }, &mut out);
        assert_eq!(out, [1.0]);
        let constants = (0..70_000).map(Op::Const).collect();
        assert_eq!(machine(constants, vec![]).err(), Some(TooManyRegisters { kernel: "k".to_owned() }));
    }
}
