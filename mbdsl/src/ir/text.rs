//! Kernels as text, for people and for snapshots, and how many operations they take.

use std::fmt::{self, Write as _};

use super::kernel::{Bin, Input, Kernel, Op, Un};

/// Operations of a kernel by cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OperationCount {
    /// Sums and differences.
    pub adds: usize,
    /// Products.
    pub muls: usize,
    /// Quotients.
    pub divs: usize,
    /// Square roots.
    pub sqrts: usize,
    /// Functions of reals: sin, exp, atan2, powers, Stumpff functions, ...
    pub functions: usize,
    /// Signs, comparisons, choices.
    pub others: usize,
    /// Inputs that are read.
    pub loads: usize,
}

impl fmt::Display for OperationCount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { adds, muls, divs, sqrts, functions, others, loads } = self;
        write!(
            f,
            "{adds} add, {muls} mul, {divs} div, {sqrts} sqrt, {functions} functions, {others} other, {loads} loads"
        )
    }
}

/// Counts the operations of a kernel.
#[must_use]
pub fn count(kernel: &Kernel) -> OperationCount {
    let mut c = OperationCount::default();
    for op in &kernel.ops {
        let counter = match op {
            Op::Const(_) => continue,
            Op::Load(_) => &mut c.loads,
            Op::Un(f, _) => match f {
                Un::Sqrt => &mut c.sqrts,
                Un::Neg | Un::Abs | Un::Sign | Un::Floor | Un::Not => &mut c.others,
                Un::Sin
                | Un::Cos
                | Un::Tan
                | Un::Asin
                | Un::Acos
                | Un::Exp
                | Un::Ln
                | Un::Stumpff(_)
                | Un::LogCoefficient(_) => &mut c.functions,
            },
            Op::Bin(f, ..) => match f {
                Bin::Add | Bin::Sub => &mut c.adds,
                Bin::Mul => &mut c.muls,
                Bin::Div => &mut c.divs,
                Bin::Atan2 | Bin::Atan2Over | Bin::Pow | Bin::Mod | Bin::Unwrap => &mut c.functions,
                Bin::Min | Bin::Max | Bin::Lt | Bin::Le | Bin::Eq | Bin::And | Bin::Or => &mut c.others,
            },
            Op::Select(..) => &mut c.others,
        };
        *counter += 1;
    }
    c
}

impl fmt::Display for Kernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "kernel {} [{}]  ; {}", self.name, self.size, count(self))?;
        for (k, op) in self.ops.iter().enumerate() {
            write!(f, "  %{k} = ")?;
            match op {
                Op::Const(bits) => writeln!(f, "const {:?}", f64::from_bits(*bits))?,
                Op::Load(input) => writeln!(f, "load {}", input_name(*input))?,
                Op::Un(g, a) => writeln!(f, "{} %{}", un_name(*g), a.0)?,
                Op::Bin(g, a, b) => writeln!(f, "{} %{}, %{}", bin_name(*g), a.0, b.0)?,
                Op::Select(c, a, b) => writeln!(f, "select %{}, %{}, %{}", c.0, a.0, b.0)?,
            }
        }
        for (offset, value) in &self.outputs {
            writeln!(f, "  out[{offset}] = %{}", value.0)?;
        }
        Ok(())
    }
}

/// Name of an input in texts: `body0.R12`, `column[3]`.
#[must_use]
pub fn input_name(input: Input) -> String {
    let indexed = |name: &str, k: u32| format!("{name}[{k}]");
    match input {
        Input::State { slot, component } => {
            let mut name = format!("body{slot}.");
            let written = match component {
                0..3 => write!(name, "x{component}"),
                3..12 => write!(name, "R{}{}", (component - 3) / 3, (component - 3) % 3),
                12..15 => write!(name, "v{}", component - 12),
                15.. => write!(name, "Omega{}", component - 15),
            };
            written.expect("writing to a string succeeds");
            name
        }
        Input::Time => "time".to_owned(),
        Input::Column(k) => indexed("column", k),
        Input::Uniform(k) => indexed("uniform", k),
        Input::Start(k) => indexed("start", k),
        Input::Memory(k) => indexed("memory", k),
        Input::Lambda(k) => indexed("lambda", k),
        Input::Multiplier(k) => indexed("multiplier", k),
        Input::Global(k) => indexed("global", u32::from(k)),
        Input::Reduced(k) => indexed("reduced", k),
        Input::Recorded(k) => indexed("recorded", k),
        Input::Param(k) => indexed("param", k),
        Input::Signal(k) => indexed("signal", k),
        Input::Index(k) => indexed("index", k),
        Input::Iterate(k) => indexed("iterate", k),
    }
}

fn un_name(f: Un) -> String {
    let name = match f {
        Un::Neg => "neg",
        Un::Sqrt => "sqrt",
        Un::Sin => "sin",
        Un::Cos => "cos",
        Un::Tan => "tan",
        Un::Asin => "asin",
        Un::Acos => "acos",
        Un::Exp => "exp",
        Un::Ln => "ln",
        Un::Abs => "abs",
        Un::Sign => "sign",
        Un::Floor => "floor",
        Un::Not => "not",
        Un::Stumpff(k) => return format!("stumpff{k}"),
        Un::LogCoefficient(n) => return format!("log_coefficient{n}"),
    };
    name.to_owned()
}

fn bin_name(f: Bin) -> &'static str {
    match f {
        Bin::Add => "add",
        Bin::Sub => "sub",
        Bin::Mul => "mul",
        Bin::Div => "div",
        Bin::Atan2 => "atan2",
        Bin::Atan2Over => "atan2_over",
        Bin::Min => "min",
        Bin::Max => "max",
        Bin::Pow => "pow",
        Bin::Mod => "mod",
        Bin::Unwrap => "unwrap",
        Bin::Lt => "lt",
        Bin::Le => "le",
        Bin::Eq => "eq",
        Bin::And => "and",
        Bin::Or => "or",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::kernel::Reg;

    #[test]
    fn text_is_stable() {
        let kernel = Kernel {
            name: "phi".to_owned(),
            ops: vec![
                Op::Load(Input::State { slot: 0, component: 7 }),
                Op::Const((-0.5_f64).to_bits()),
                Op::Bin(Bin::Mul, Reg(1), Reg(0)),
                Op::Load(Input::Column(2)),
                Op::Un(Un::Stumpff(2), Reg(3)),
                Op::Bin(Bin::Sub, Reg(2), Reg(4)),
                Op::Select(Reg(0), Reg(2), Reg(5)),
            ],
            outputs: vec![(0, Reg(5)), (3, Reg(6))],
            size: 4,
        };
        let text = "kernel phi [4]  ; 1 add, 1 mul, 0 div, 0 sqrt, 1 functions, 1 other, 2 loads
  %0 = load body0.R11
  %1 = const -0.5
  %2 = mul %1, %0
  %3 = load column[2]
  %4 = stumpff2 %3
  %5 = sub %2, %4
  %6 = select %0, %2, %5
  out[0] = %5
  out[3] = %6
";
        assert_eq!(kernel.to_string(), text);
    }
}
