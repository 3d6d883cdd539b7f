//! Native code against the interpreter: every operation on tricky numbers, every input, lengths.

use std::rc::Rc;

use super::{Code, Function};
use crate::backend::inputs::Inputs;
use crate::backend::interp::Machine;
use crate::ir::{Bin, Input, Interface, Kernel, Op, Reg, Un, VerifiedKernel, verify};

const UNARY: [Un; 19] = [
    Un::Neg,
    Un::Sqrt,
    Un::Sin,
    Un::Cos,
    Un::Tan,
    Un::Asin,
    Un::Acos,
    Un::Exp,
    Un::Ln,
    Un::Abs,
    Un::Sign,
    Un::Floor,
    Un::Not,
    Un::Stumpff(0),
    Un::Stumpff(3),
    Un::Stumpff(7),
    Un::LogCoefficient(0),
    Un::LogCoefficient(1),
    Un::LogCoefficient(2),
];

const BINARY: [Bin; 16] = [
    Bin::Add,
    Bin::Sub,
    Bin::Mul,
    Bin::Div,
    Bin::Atan2,
    Bin::Atan2Over,
    Bin::Min,
    Bin::Max,
    Bin::Pow,
    Bin::Mod,
    Bin::Unwrap,
    Bin::Lt,
    Bin::Le,
    Bin::Eq,
    Bin::And,
    Bin::Or,
];

const NUMBERS: [f64; 12] =
    [0.0, -0.0, 1.0, -1.0, 0.3, -2.5, 7.25, 1e-9, -1e300, f64::INFINITY, f64::NEG_INFINITY, f64::NAN];

fn verified(ops: Vec<Op>, interface: &Interface) -> VerifiedKernel {
    let outputs = (0..ops.len() as u32).map(|k| (k, Reg(k))).collect();
    let size = ops.len();
    verify(Kernel { name: "k".to_owned(), ops, outputs, size }, interface).expect("a sound kernel")
}

/// Runs a kernel by both back ends; every instruction is an output.
fn compare(ops: Vec<Op>, interface: &Interface, inputs: &Inputs<'_>) {
    let kernel = verified(ops, interface);
    let code = Rc::new(Code::new().expect("a code generator"));
    let size = kernel.get().size;
    let (mut expected, mut found) = (vec![0.5; size], vec![0.5; size]);
    Machine::new(&kernel).expect("small").run(inputs, &mut expected);
    Function::new(&kernel, &code).expect("sound").run(inputs, &mut found);
    for (k, (e, f)) in expected.iter().zip(&found).enumerate() {
        let agree = e.to_bits() == f.to_bits() || (e.is_nan() && f.is_nan());
        assert!(agree, "{:?}: {e} interpreted, {f} compiled", kernel.get().ops[k]);
    }
}

#[test]
fn operations_mean_what_they_mean_to_the_interpreter() {
    let interface = Interface { columns: 3, ..Interface::default() };
    let mut ops: Vec<Op> = (0..3).map(|k| Op::Load(Input::Column(k))).collect();
    ops.extend(UNARY.map(|f| Op::Un(f, Reg(0))));
    ops.extend(BINARY.map(|f| Op::Bin(f, Reg(0), Reg(1))));
    ops.push(Op::Select(Reg(2), Reg(0), Reg(1)));
    ops.push(Op::Const((-0.1_f64).to_bits()));
    for a in NUMBERS {
        for b in NUMBERS {
            compare(ops.clone(), &interface, &Inputs { columns: &[a, b, b], ..Inputs::NONE });
        }
    }
}

#[test]
fn every_input_comes_from_its_own_place() {
    let interface = Interface {
        slots: 2,
        columns: 2,
        uniforms: 2,
        starts: 2,
        memories: 2,
        rows: 2,
        multipliers: 2,
        reduced: 2,
        recorded: 2,
        params: 2,
        signals: 2,
        indices: 2,
        iterates: 2,
    };
    let numbers = |first: u32, len: u32| (first..first + len).map(f64::from).collect::<Vec<_>>();
    let globals = std::array::from_fn(|k| 900.0 + k as f64);
    let inputs = Inputs {
        state: &numbers(0, 54),
        slots: &[2, 1],
        time: 0.125,
        columns: &numbers(100, 2),
        uniforms: &numbers(110, 2),
        starts: &numbers(120, 2),
        memory: &numbers(130, 4),
        cells: &[3, 1],
        lambda: &numbers(140, 2),
        multipliers: &numbers(150, 2),
        globals: &globals,
        reduced: &numbers(160, 2),
        recorded: &numbers(170, 2),
        params: &numbers(180, 2),
        signals: &numbers(190, 2),
        indices: &numbers(200, 2),
        iterate: &numbers(210, 2),
    };
    let ops = [
        Input::State { slot: 0, component: 0 },
        Input::State { slot: 0, component: 17 },
        Input::State { slot: 1, component: 3 },
        Input::Time,
        Input::Column(1),
        Input::Uniform(1),
        Input::Start(1),
        Input::Memory(0),
        Input::Memory(1),
        Input::Lambda(1),
        Input::Multiplier(1),
        Input::Global(8),
        Input::Reduced(1),
        Input::Recorded(1),
        Input::Param(1),
        Input::Signal(1),
        Input::Index(1),
        Input::Iterate(1),
    ];
    compare(ops.map(Op::Load).to_vec(), &interface, &inputs);
}

#[test]
fn what_a_kernel_does_not_write_stays() {
    let interface = Interface::default();
    let kernel = Kernel { name: "k".to_owned(), ops: vec![Op::Load(Input::Time)], outputs: vec![(2, Reg(0))], size: 4 };
    let kernel = verify(kernel, &interface).expect("a sound kernel");
    let function = Function::new(&kernel, &Rc::new(Code::new().expect("a code generator"))).expect("sound");
    let mut out = [7.0; 4];
    function.run(&Inputs { time: 3.0, ..Inputs::NONE }, &mut out);
    assert_eq!(out, [7.0, 7.0, 3.0, 7.0]);
}

#[test]
#[should_panic(expected = "a slice is too short for its kernel")]
fn slices_that_are_too_short_are_not_read() {
    let interface = Interface { columns: 2, ..Interface::default() };
    let kernel = verified(vec![Op::Load(Input::Column(1))], &interface);
    let function = Function::new(&kernel, &Rc::new(Code::new().expect("a code generator"))).expect("sound");
    function.run(&Inputs { columns: &[1.0], ..Inputs::NONE }, &mut [0.0]);
}
