//! Kernels executed one operation after another, each value with a bound of its rounding error.
//!
//! Running error analysis: an operation adds its own rounding to the errors of its operands, carried over by its derivatives
//! (Higham, Accuracy and Stability of Numerical Algorithms, section 3.3). Functions of reals count as good to a few units in the
//! last place.

use mbdsl::backend::inputs::Inputs;
use mbdsl::ir::program::Family;
use mbdsl::ir::{Bin, Input, Kernel, Op, Un, semantics};

/// Half a unit in the last place, relative.
const U: f64 = f64::EPSILON / 2.0;

/// Units in the last place that a function of reals may lose.
const FUNCTION: f64 = 8.0 * U;

/// A value with a bound of its absolute error.
#[derive(Clone, Copy, Debug, Default)]
pub struct Bounded {
    pub value: f64,
    pub error: f64,
}

/// Where a kernel finds its inputs, constants with their errors.
pub struct Feed<'a> {
    inputs: Inputs<'a>,
    /// Absolute error of the numbers of the state.
    state_error: f64,
    uniforms: Vec<Bounded>,
    columns: Vec<Bounded>,
    starts: Vec<Bounded>,
}

impl<'a> Feed<'a> {
    /// For an instance with these inputs; `start` are the inputs at the assembled start.
    pub fn new(family: &Family, params: &[f64], inputs: Inputs<'a>, start: Inputs<'_>, state_error: f64) -> Self {
        let plain =
            |inputs| Feed { inputs, state_error, uniforms: Vec::new(), columns: Vec::new(), starts: Vec::new() };
        let constants = plain(Inputs { params, indices: inputs.indices, ..Inputs::NONE });
        let uniforms = run(family.uniforms.get(), &constants);
        let columns = run(family.columns.get(), &constants);
        let starts = Feed { uniforms: uniforms.clone(), columns: columns.clone(), ..plain(start) };
        let starts = run(family.starts.get(), &starts);
        Self { inputs, state_error, uniforms, columns, starts }
    }

    fn load(&self, input: Input) -> Bounded {
        let i = &self.inputs;
        let exact = |value: f64| Bounded { value, error: 0.0 };
        match input {
            Input::State { slot, component } => Bounded {
                value: i.state[i.slots[usize::from(slot)] as usize * 18 + usize::from(component)],
                error: self.state_error,
            },
            Input::Time => exact(i.time),
            Input::Column(k) => self.columns[k as usize],
            Input::Uniform(k) => self.uniforms[k as usize],
            Input::Start(k) => self.starts[k as usize],
            Input::Memory(k) => exact(i.memory[i.cells[k as usize] as usize]),
            Input::Lambda(k) => exact(i.lambda[k as usize]),
            Input::Multiplier(k) => exact(i.multipliers[k as usize]),
            Input::Global(k) => exact(i.globals[usize::from(k)]),
            Input::Reduced(k) => exact(i.reduced[k as usize]),
            Input::Recorded(k) => exact(i.recorded[k as usize]),
            Input::Param(k) => exact(i.params[k as usize]),
            Input::Signal(k) => exact(i.signals[k as usize]),
            Input::Index(k) => exact(i.indices[k as usize]),
            Input::Iterate(k) => exact(i.iterate[k as usize]),
        }
    }
}

/// The outputs of a kernel; what it does not write is zero.
pub fn run(kernel: &Kernel, feed: &Feed<'_>) -> Vec<Bounded> {
    let mut r: Vec<Bounded> = Vec::with_capacity(kernel.ops.len());
    for op in &kernel.ops {
        let value = match *op {
            Op::Const(bits) => Bounded { value: f64::from_bits(bits), error: 0.0 },
            Op::Load(input) => feed.load(input),
            Op::Un(f, a) => un(f, r[a.0 as usize]),
            Op::Bin(f, a, b) => bin(f, r[a.0 as usize], r[b.0 as usize]),
            Op::Select(c, a, b) => r[if r[c.0 as usize].value != 0.0 { a } else { b }.0 as usize],
        };
        r.push(value);
    }
    let mut out = vec![Bounded::default(); kernel.size];
    for &(offset, from) in &kernel.outputs {
        out[offset as usize] = r[from.0 as usize];
    }
    out
}

fn un(f: Un, Bounded { value: a, error: e }: Bounded) -> Bounded {
    let value = semantics::un(f, a);
    let at = |f: Un| semantics::un(f, a).abs();
    let error = match f {
        Un::Neg | Un::Abs => e,
        Un::Sqrt => root(value, a, e),
        Un::Sin => at(Un::Cos) * e + FUNCTION * value.abs(),
        Un::Cos => at(Un::Sin) * e + FUNCTION * value.abs(),
        Un::Tan => (1.0 + value * value) * e + FUNCTION * value.abs(),
        Un::Asin | Un::Acos => e / (1.0 - a * a).abs().sqrt() + FUNCTION * value.abs(),
        Un::Exp => value * e + FUNCTION * value,
        Un::Ln => e / a + FUNCTION * value.abs(),
        Un::Sign | Un::Floor | Un::Not => 0.0,
        Un::Stumpff(k) => {
            // c_k' = (k c_(k+2) - c_(k+1)) / 2; the functions fall from 1/k!, of which their rounding is a fraction.
            let slope = 0.5 * (f64::from(k) * semantics::un(Un::Stumpff(k + 2), a).abs() + at(Un::Stumpff(k + 1)));
            let largest = semantics::un(Un::Stumpff(k), a.min(0.0));
            slope * e + FUNCTION * largest
        }
        Un::LogCoefficient(n) => {
            // Every derivative is below (n + 1)/(4 pi^2 - s) times the one before.
            let pole = 4.0 * std::f64::consts::PI.powi(2) - a;
            value.abs() * (e * f64::from(n + 1) / pole + 2.0 * FUNCTION)
        }
    };
    Bounded { value, error }
}

/// Error of a square root, also where the radicand may be nothing but error.
fn root(value: f64, a: f64, e: f64) -> f64 {
    let carried = if a > e { e / value } else { (a + e).sqrt() };
    if e == 0.0 { U * value } else { carried + U * value }
}

fn bin(f: Bin, Bounded { value: a, error: ea }: Bounded, Bounded { value: b, error: eb }: Bounded) -> Bounded {
    let value = semantics::bin(f, a, b);
    let error = match f {
        Bin::Add | Bin::Sub => ea + eb + U * value.abs(),
        Bin::Mul => a.abs() * eb + b.abs() * ea + ea * eb + U * value.abs(),
        Bin::Div => (ea + value.abs() * eb) / b.abs() + U * value.abs(),
        Bin::Atan2 => (b.abs() * ea + a.abs() * eb) / (a * a + b * b) + FUNCTION * value.abs(),
        Bin::Atan2Over => {
            // 2 atan2(n, w)/n: by w, -2/(n^2 + w^2); by n, less than 2 n/(n^2 + w^2)^(3/2) for w > 0, and 2 pi/n^2 at w = 0.
            let square = a * a + b * b;
            (2.0 * eb + 4.0 * ea) / square + FUNCTION * value.abs()
        }
        Bin::Min | Bin::Max => ea.max(eb),
        Bin::Pow => value.abs() * (b.abs() * ea / a.abs() + a.abs().ln().abs() * eb + FUNCTION),
        Bin::Mod => ea + eb * (a / b).abs() + 4.0 * U * a.abs(),
        Bin::Unwrap => ea + 4.0 * U * (value.abs() + a.abs()),
        Bin::Lt | Bin::Le | Bin::Eq | Bin::And | Bin::Or => 0.0,
    };
    Bounded { value, error }
}
