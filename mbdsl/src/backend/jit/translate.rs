//! From the IR to Cranelift's.

use cranelift_codegen::ir::condcodes::FloatCC;
use cranelift_codegen::ir::{AbiParam, FuncRef, InstBuilder as _, MemFlagsData, Signature, Type, Value, types};
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};
use cranelift_jit::{JITBuilder, JITModule};
use cranelift_module::{FuncId, Linkage, Module as _};

use super::NoCode;
use super::code::{Args, refused};
use crate::backend::inputs::{BODY, Place, SOURCES, Source};
use crate::ir::{Bin, Kernel, Op, Reg, Un, semantics, special};

/// A function that code calls: what the interpreter calls for the same operation.
#[derive(Clone, Copy)]
enum Callee {
    Unary(extern "C" fn(f64) -> f64),
    Binary(extern "C" fn(f64, f64) -> f64),
    /// A family of functions, by number and operand.
    Numbered(extern "C" fn(u32, f64) -> f64),
}

impl Callee {
    fn address(self) -> *const u8 {
        match self {
            Self::Unary(f) => f as *const u8,
            Self::Binary(f) => f as *const u8,
            Self::Numbered(f) => f as *const u8,
        }
    }

    fn params(self) -> &'static [Type] {
        match self {
            Self::Unary(_) => &[types::F64],
            Self::Binary(_) => &[types::F64, types::F64],
            Self::Numbered(_) => &[types::I32, types::F64],
        }
    }
}

macro_rules! callees {
    ($($kind:ident $name:ident($($arg:ident: $type:ty),*) = $value:expr;)*) => {{
        $(extern "C" fn $name($($arg: $type),*) -> f64 { $value })*
        [$((concat!("mbd_", stringify!($name)), Callee::$kind($name))),*]
    }};
}

/// All of them, by names that no function of the C library has.
static CALLEES: [(&str, Callee); 13] = callees! {
    Unary sin(a: f64) = semantics::un(Un::Sin, a);
    Unary cos(a: f64) = semantics::un(Un::Cos, a);
    Unary tan(a: f64) = semantics::un(Un::Tan, a);
    Unary asin(a: f64) = semantics::un(Un::Asin, a);
    Unary acos(a: f64) = semantics::un(Un::Acos, a);
    Unary exp(a: f64) = semantics::un(Un::Exp, a);
    Unary ln(a: f64) = semantics::un(Un::Ln, a);
    Binary atan2(a: f64, b: f64) = semantics::bin(Bin::Atan2, a, b);
    Binary atan2_over(a: f64, b: f64) = semantics::bin(Bin::Atan2Over, a, b);
    Binary pow(a: f64, b: f64) = semantics::bin(Bin::Pow, a, b);
    Binary unwrap(a: f64, b: f64) = semantics::bin(Bin::Unwrap, a, b);
    Numbered stumpff(k: u32, a: f64) = special::stumpff(k, a);
    Numbered log_coefficient(n: u32, a: f64) = special::log_coefficient(n, a);
};

/// Tells the linker of a module where the functions are.
pub(super) fn define(builder: &mut JITBuilder) {
    for (name, callee) in &CALLEES {
        builder.symbol(*name, callee.address());
    }
}

/// The functions as declared in a module.
pub(super) struct Functions([FuncId; CALLEES.len()]);

impl Functions {
    pub(super) fn declare(module: &mut JITModule) -> Result<Self, NoCode> {
        let mut functions = Self([FuncId::from_u32(0); CALLEES.len()]);
        for (id, (name, callee)) in functions.0.iter_mut().zip(&CALLEES) {
            let mut signature = module.make_signature();
            signature.params.extend(callee.params().iter().map(|&t| AbiParam::new(t)));
            signature.returns.push(AbiParam::new(types::F64));
            *id = module.declare_function(name, Linkage::Import, &signature).map_err(refused)?;
        }
        Ok(functions)
    }
}

/// Writes the function of a kernel into `context`: from the addresses of [`Args`] and of the output, to nothing.
pub(super) fn translate(
    kernel: &Kernel,
    module: &mut JITModule,
    functions: &Functions,
    context: &mut cranelift_codegen::Context,
    frontend: &mut FunctionBuilderContext,
) {
    let target = module.target_config();
    let pointer = target.pointer_type();
    let mut signature = Signature::new(target.default_call_conv);
    signature.params.extend([AbiParam::new(pointer); 2]);
    context.func.signature = signature;
    let mut builder = FunctionBuilder::new(&mut context.func, frontend);
    let block = builder.create_block();
    builder.append_block_params_for_function_params(block);
    builder.switch_to_block(block);
    builder.seal_block(block);
    let (args, out) = (builder.block_params(block)[0], builder.block_params(block)[1]);
    let mut translator = Translator {
        builder,
        module,
        functions,
        pointer,
        args,
        values: Vec::with_capacity(kernel.ops.len()),
        bodies: Vec::new(),
        slices: [None; SOURCES.len()],
        callees: [None; CALLEES.len()],
    };
    for &op in &kernel.ops {
        let value = translator.op(op);
        translator.values.push(value);
    }
    let Translator { mut builder, values, .. } = translator;
    for &(offset, reg) in &kernel.outputs {
        builder.ins().store(MemFlagsData::trusted(), values[reg.0 as usize], out, 8 * offset as i32);
    }
    builder.ins().return_(&[]);
    builder.finalize(target);
}

struct Translator<'a> {
    builder: FunctionBuilder<'a>,
    module: &'a mut JITModule,
    functions: &'a Functions,
    pointer: Type,
    args: Value,
    /// Value of each instruction.
    values: Vec<Value>,
    /// Where the state of the body in a slot begins.
    bodies: Vec<(u16, Value)>,
    /// Where the slices begin, as far as they have been used.
    slices: [Option<Value>; SOURCES.len()],
    /// The functions that are called, as far as they have been used.
    callees: [Option<FuncRef>; CALLEES.len()],
}

impl Translator<'_> {
    fn at(&self, reg: Reg) -> Value {
        self.values[reg.0 as usize]
    }

    fn number(&mut self, x: f64) -> Value {
        self.builder.ins().f64const(x)
    }

    fn load(&mut self, kind: Type, from: Value, offset: i32) -> Value {
        self.builder.ins().load(kind, MemFlagsData::trusted().with_can_move(), from, offset)
    }

    /// The address of element `number[slot]` of an array of elements of `size` bytes.
    fn element(&mut self, array: i32, numbers: i32, slot: u32, size: usize) -> Value {
        let numbers = self.load(self.pointer, self.args, numbers);
        let number = self.load(types::I32, numbers, 4 * slot as i32);
        let number = self.builder.ins().uextend(self.pointer, number);
        let distance = self.builder.ins().imul_imm_s(number, size as i64);
        let array = self.load(self.pointer, self.args, array);
        self.builder.ins().iadd(array, distance)
    }

    fn place(&mut self, place: Place) -> Value {
        match place {
            Place::State { slot, component } => {
                let body = match self.bodies.iter().find(|(s, _)| *s == slot) {
                    Some(&(_, body)) => body,
                    None => {
                        let body = self.element(Args::STATE, Args::SLOTS, u32::from(slot), 8 * BODY);
                        self.bodies.push((slot, body));
                        body
                    }
                };
                self.load(types::F64, body, 8 * i32::from(component))
            }
            Place::Time => self.load(types::F64, self.args, Args::TIME),
            Place::Memory(n) => {
                let cell = self.element(Args::MEMORY, Args::CELLS, n, 8);
                self.load(types::F64, cell, 0)
            }
            Place::Slice(source, n) => {
                let slice = self.slice(source);
                self.load(types::F64, slice, 8 * n as i32)
            }
        }
    }

    fn slice(&mut self, source: Source) -> Value {
        match self.slices[source as usize] {
            Some(slice) => slice,
            None => {
                let slice = self.load(self.pointer, self.args, Args::slice(source));
                self.slices[source as usize] = Some(slice);
                slice
            }
        }
    }

    fn op(&mut self, op: Op) -> Value {
        match op {
            Op::Const(bits) => self.number(f64::from_bits(bits)),
            Op::Load(input) => self.place(Place::of(input)),
            Op::Un(f, a) => {
                let a = self.at(a);
                self.un(f, a)
            }
            Op::Bin(f, a, b) => {
                let (a, b) = (self.at(a), self.at(b));
                self.bin(f, a, b)
            }
            Op::Select(c, a, b) => {
                let (c, a, b) = (self.at(c), self.at(a), self.at(b));
                let is_true = self.is_true(c);
                self.builder.ins().select(is_true, a, b)
            }
        }
    }

    /// `c != 0`, also for NaN.
    fn is_true(&mut self, c: Value) -> Value {
        let zero = self.number(0.0);
        self.builder.ins().fcmp(FloatCC::NotEqual, c, zero)
    }

    /// A condition as one or zero.
    fn truth(&mut self, condition: Value) -> Value {
        let (one, zero) = (self.number(1.0), self.number(0.0));
        self.builder.ins().select(condition, one, zero)
    }

    fn compare(&mut self, how: FloatCC, a: Value, b: Value) -> Value {
        let condition = self.builder.ins().fcmp(how, a, b);
        self.truth(condition)
    }

    /// `a` or `b`, by how they compare.
    fn choose(&mut self, how: FloatCC, a: Value, b: Value) -> Value {
        let condition = self.builder.ins().fcmp(how, a, b);
        self.builder.ins().select(condition, a, b)
    }

    fn un(&mut self, f: Un, a: Value) -> Value {
        match f {
            Un::Neg => self.builder.ins().fneg(a),
            Un::Sqrt => self.builder.ins().sqrt(a),
            Un::Abs => self.builder.ins().fabs(a),
            Un::Floor => self.builder.ins().floor(a),
            Un::Sign => {
                let (zero, one, minus_one) = (self.number(0.0), self.number(1.0), self.number(-1.0));
                let is_negative = self.builder.ins().fcmp(FloatCC::LessThan, a, zero);
                let other = self.builder.ins().select(is_negative, minus_one, a);
                let is_positive = self.builder.ins().fcmp(FloatCC::GreaterThan, a, zero);
                self.builder.ins().select(is_positive, one, other)
            }
            Un::Not => {
                let zero = self.number(0.0);
                self.compare(FloatCC::Equal, a, zero)
            }
            Un::Sin => self.call("mbd_sin", &[a]),
            Un::Cos => self.call("mbd_cos", &[a]),
            Un::Tan => self.call("mbd_tan", &[a]),
            Un::Asin => self.call("mbd_asin", &[a]),
            Un::Acos => self.call("mbd_acos", &[a]),
            Un::Exp => self.call("mbd_exp", &[a]),
            Un::Ln => self.call("mbd_ln", &[a]),
            Un::Stumpff(k) => self.numbered("mbd_stumpff", k, a),
            Un::LogCoefficient(n) => self.numbered("mbd_log_coefficient", n, a),
        }
    }

    fn bin(&mut self, f: Bin, a: Value, b: Value) -> Value {
        match f {
            Bin::Add => self.builder.ins().fadd(a, b),
            Bin::Sub => self.builder.ins().fsub(a, b),
            Bin::Mul => self.builder.ins().fmul(a, b),
            Bin::Div => self.builder.ins().fdiv(a, b),
            Bin::Min => self.choose(FloatCC::LessThan, a, b),
            Bin::Max => self.choose(FloatCC::GreaterThan, a, b),
            Bin::Mod => {
                let quotient = self.builder.ins().fdiv(a, b);
                let whole = self.builder.ins().floor(quotient);
                let multiple = self.builder.ins().fmul(b, whole);
                self.builder.ins().fsub(a, multiple)
            }
            Bin::Lt => self.compare(FloatCC::LessThan, a, b),
            Bin::Le => self.compare(FloatCC::LessThanOrEqual, a, b),
            Bin::Eq => self.compare(FloatCC::Equal, a, b),
            Bin::And => {
                let (a, b) = (self.is_true(a), self.is_true(b));
                let both = self.builder.ins().band(a, b);
                self.truth(both)
            }
            Bin::Or => {
                let (a, b) = (self.is_true(a), self.is_true(b));
                let either = self.builder.ins().bor(a, b);
                self.truth(either)
            }
            Bin::Atan2 => self.call("mbd_atan2", &[a, b]),
            Bin::Atan2Over => self.call("mbd_atan2_over", &[a, b]),
            Bin::Pow => self.call("mbd_pow", &[a, b]),
            Bin::Unwrap => self.call("mbd_unwrap", &[a, b]),
        }
    }

    fn numbered(&mut self, name: &str, number: u8, a: Value) -> Value {
        let number = self.builder.ins().iconst(types::I32, i64::from(number));
        self.call(name, &[number, a])
    }

    fn call(&mut self, name: &str, operands: &[Value]) -> Value {
        let k = CALLEES.iter().position(|(n, _)| *n == name).expect("all names above are in the table");
        let function = match self.callees[k] {
            Some(function) => function,
            None => self.module.declare_func_in_func(self.functions.0[k], self.builder.func),
        };
        self.callees[k] = Some(function);
        let call = self.builder.ins().call(function, operands);
        self.builder.inst_results(call)[0]
    }
}
