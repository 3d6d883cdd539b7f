//! A kernel: straight-line SSA over scalars, without branches or memory, the same for every instance of an element kind.
//!
//! Invariants (proved by `ir::verify`): operands are smaller than the register that they define; every input
//! lies within the counts of the kernel's [`Interface`]; outputs lie within `size`, each offset at most once; what is not
//! written is zero in every instance (structural zeros). Truth values are the numbers 0 and 1.

/// Register: the number of the instruction that defines it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Reg(pub u32);

/// What an instruction can load. Slots are the bodies that the element touches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Input {
    /// Number `component` of the 18 of a body: x 0..3, R 3..12 row-major, v 12..15, Omega 15..18.
    State {
        /// Slot.
        slot: u16,
        /// Component.
        component: u8,
    },
    /// Time.
    Time,
    /// Constant of the instance, from its table.
    Column(u32),
    /// Constant shared by all instances of the kind.
    Uniform(u32),
    /// Constant of the instance, fixed at the assembled start.
    Start(u32),
    /// Continuous angle number k of the element: last accepted value.
    Memory(u32),
    /// Multiplier of row k of this element (contracted with in derivatives).
    Lambda(u32),
    /// Multiplier number k of those that the table of the instance points to (outputs and checks).
    Multiplier(u32),
    /// Scalar of the whole model: 0 energy, 1 kinetic, 2 potential, 3..6 linear, 6..9 angular momentum.
    Global(u8),
    /// Result of reduction number k of the kind.
    Reduced(u32),
    /// Value recorded for `at(t, x)` or `final(x)` number k.
    Recorded(u32),
    /// Scalar number k of the parameters.
    Param(u32),
    /// Scalar number k of what the model declares as `input`: constant within an evaluation, and free to change before the
    /// next one.
    Signal(u32),
    /// Index variable number k of the instance.
    Index(u32),
    /// Number k of the iterate of a step: its size, then the unknowns.
    Iterate(u32),
}

/// Operations of one operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Un {
    /// `-a`
    Neg,
    /// Square root.
    Sqrt,
    /// Sine.
    Sin,
    /// Cosine.
    Cos,
    /// Tangent.
    Tan,
    /// Arc sine.
    Asin,
    /// Arc cosine.
    Acos,
    /// Exponential.
    Exp,
    /// Natural logarithm.
    Ln,
    /// Absolute value.
    Abs,
    /// -1, 0 or 1.
    Sign,
    /// Largest integer not above.
    Floor,
    /// `!a`
    Not,
    /// Stumpff function `c_k`.
    Stumpff(u8),
    /// Derivative number n of the coefficient in dexp^-1.
    LogCoefficient(u8),
}

/// Operations of two operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Bin {
    /// `a + b`
    Add,
    /// `a - b`
    Sub,
    /// `a * b`
    Mul,
    /// `a / b`
    Div,
    /// `atan2(a, b)`
    Atan2,
    /// `2 atan2(a, b) / a`, finite at `a = 0`
    Atan2Over,
    /// Smaller one.
    Min,
    /// Larger one.
    Max,
    /// `a^b`
    Pow,
    /// `a - b floor(a / b)`
    Mod,
    /// `a + 2 pi round((b - a) / (2 pi))`
    Unwrap,
    /// `a < b`
    Lt,
    /// `a <= b`
    Le,
    /// `a == b`
    Eq,
    /// `a && b`
    And,
    /// `a || b`
    Or,
}

/// One instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Op {
    /// A number, by its bits.
    Const(u64),
    /// An input.
    Load(Input),
    /// One operand.
    Un(Un, Reg),
    /// Two operands.
    Bin(Bin, Reg, Reg),
    /// `c != 0 ? a : b`
    Select(Reg, Reg, Reg),
}

impl Op {
    /// The values that it takes, in order.
    pub fn operands(self) -> impl DoubleEndedIterator<Item = Reg> {
        let list = match self {
            Self::Const(_) | Self::Load(_) => [None; 3],
            Self::Un(_, a) => [Some(a), None, None],
            Self::Bin(_, a, b) => [Some(a), Some(b), None],
            Self::Select(c, a, b) => [Some(c), Some(a), Some(b)],
        };
        list.into_iter().flatten()
    }
}

/// A kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kernel {
    /// What it computes: `phi`, `newton`, ...
    pub name: String,
    /// The instructions; instruction k defines register k.
    pub ops: Vec<Op>,
    /// Which register goes to which offset of the output, in order of offsets.
    pub outputs: Vec<(u32, Reg)>,
    /// Length of the output.
    pub size: usize,
}

/// How many of each input the kernels of one element kind may load.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Interface {
    /// Bodies.
    pub slots: usize,
    /// Constants of the instance.
    pub columns: usize,
    /// Constants of the kind.
    pub uniforms: usize,
    /// Constants fixed at the start.
    pub starts: usize,
    /// Continuous angles.
    pub memories: usize,
    /// Rows of the element.
    pub rows: usize,
    /// Multipliers that outputs read.
    pub multipliers: usize,
    /// Reductions.
    pub reduced: usize,
    /// Recorded values.
    pub recorded: usize,
    /// Scalars of the parameters of the model.
    pub params: usize,
    /// Scalars of the inputs of the model.
    pub signals: usize,
    /// Index variables.
    pub indices: usize,
    /// Numbers of the iterate of a step.
    pub iterates: usize,
}
