//! Values for every kind of leaf, and kernels executed with a bound of their rounding errors.

use crate::backend::inputs::Inputs;
use crate::backend::interp::Machine;
use crate::ir::{Bin, Input, Kernel, Op, Un, semantics, verify};
use crate::lower::{Constants, Scope};
use crate::symbolic::eval::{Env, Value, eval};
use crate::symbolic::special::exp_so3;
use crate::symbolic::{BodyRef, ElementRef, ExprId, ExprPool, Global, Quantity, Ty};

/// Two bodies (and a particle), now and at the start, and everything else that an expression can name.
pub struct World {
    bodies: [BodyRef; 3],
    memories: [(ElementRef, u32); 1],
    multipliers: [(ElementRef, u32, u32); 1],
    now: Vec<f64>,
    start: Vec<f64>,
}

const PARAMS: [f64; 4] = [1.3, -0.4, 0.8, 0.25];
const SIGNALS: [f64; 4] = [-0.7, 0.5, 1.9, -1.1];
const GLOBALS: [f64; 9] = [3.0, 1.0, 2.0, 0.1, 0.2, -0.3, 0.7, 0.4, -0.9];
const LAMBDA: [f64; 4] = [0.3, -1.2, 0.6, 1.7];
const MEMORY: [f64; 3] = [0.0, 9.0, 12.0];

fn body(x: [f64; 3], w: [f64; 3], v: [f64; 3], omega: [f64; 3]) -> Vec<f64> {
    [&x[..], &exp_so3(w).concat(), &v, &omega].concat()
}

impl World {
    pub fn new(pool: &mut ExprPool) -> Self {
        pool.declare_param(Ty::Scalar);
        pool.declare_param(Ty::Vec3);
        pool.declare_input(Ty::Scalar);
        pool.declare_input(Ty::Vec3);
        let bodies = [0, 1, 2].map(|decl| pool.body_ref(decl, vec![]));
        let element = pool.element_ref(0, vec![]);
        let point = || body([0.3, -0.2, 0.5], [0.0; 3], [1.0, 0.4, -0.6], [0.0; 3]);
        let now = [
            body([0.2, 1.1, -0.4], [0.4, -2.1, 1.9], [0.5, -0.3, 0.9], [0.2, 1.4, -0.7]),
            body([-0.6, 0.8, 0.1], [0.1, 0.2, -0.05], [-0.1, 0.2, 0.6], [-0.9, 0.3, 0.8]),
            point(),
        ];
        let start = [
            body([0.1, 0.9, -0.3], [0.3, -1.1, 0.2], [0.4, -0.2, 0.7], [0.1, 1.2, -0.6]),
            body([-0.5, 0.7, 0.3], [0.2, 0.4, -0.15], [-0.2, 0.1, 0.5], [-0.8, 0.1, 0.4]),
            point(),
        ];
        Self {
            bodies,
            memories: [(element, 0)],
            multipliers: [(element, 0, 0)],
            now: now.concat(),
            start: start.concat(),
        }
    }

    pub fn scope(&self) -> Scope<'_> {
        Scope {
            consts_offset: 0,
            bodies: &self.bodies,
            particles: &[false, false, true],
            // The one memory of the element lies in cell 1.
            memories: &self.memories,
            lambda_symbols: &[(0, 0), (1, 3)],
            multipliers: &self.multipliers,
            params_offset: &[0, 1],
            signals_offset: &[0, 1],
            indices: &[4],
            reductions: &[],
            recorded: &[],
        }
    }

    pub fn body(&self, k: usize) -> BodyRef {
        self.bodies[k]
    }

    /// Something of every kind.
    pub fn leaves(&self, pool: &mut ExprPool) -> Vec<ExprId> {
        let mut list = vec![pool.num(0.0), pool.num(1.0), pool.num(-1.7), pool.num(0.3), pool.truth(true)];
        for body in self.bodies {
            for what in [Quantity::X, Quantity::R, Quantity::V, Quantity::Omega] {
                list.push(pool.state(what, body));
            }
        }
        let (zero, length) = (pool.num(0.0), pool.num(-2.5));
        list.extend([
            pool.vec(zero, length, zero),
            pool.zero(Ty::Vec3),
            pool.zero(Ty::Mat3),
            pool.identity(),
            pool.param(0),
            pool.param(1),
            pool.input(0),
            pool.input(1),
            pool.index(4),
            pool.time(),
            pool.memory(self.memories[0].0, 0),
            pool.lambda(self.multipliers[0].0, 0, Ty::Vec3),
            pool.symbol(0, Ty::Vec3),
            pool.symbol(1, Ty::Scalar),
            pool.global(Global::Potential),
            pool.global(Global::AngularMomentum),
        ]);
        list
    }

    /// Values of an expression by the symbolic evaluator.
    pub fn eval(&self, pool: &ExprPool, e: ExprId, is_start: bool) -> Vec<f64> {
        let state = if is_start { &self.start } else { &self.now };
        let values = eval(pool, &[e], &Now { world: self, pool, state });
        values.into_iter().flat_map(Value::components).collect()
    }

    /// Tables of constants, by the kernels that compute them.
    pub fn tables(&self, constants: &Constants) -> Tables {
        let mut tables = Tables { uniforms: vec![], columns: vec![], starts: vec![] };
        let fill = |kernel: &Kernel, tables: &Tables| {
            let verified = verify(kernel.clone(), &constants.interface).expect("lowered kernels are sound");
            let mut out = vec![0.0; kernel.size];
            Machine::new(&verified).expect("small").run(&tables.inputs(self, true), &mut out);
            out
        };
        tables.uniforms = fill(&constants.uniforms, &tables);
        tables.columns = fill(&constants.columns, &tables);
        tables.starts = fill(&constants.starts, &tables);
        tables
    }
}

pub struct Tables {
    pub uniforms: Vec<f64>,
    pub columns: Vec<f64>,
    pub starts: Vec<f64>,
}

impl Tables {
    pub fn inputs<'a>(&'a self, world: &'a World, is_start: bool) -> Inputs<'a> {
        Inputs {
            state: if is_start { &world.start } else { &world.now },
            slots: &[0, 1, 2],
            time: 0.9,
            columns: &self.columns,
            uniforms: &self.uniforms,
            starts: &self.starts,
            memory: &MEMORY,
            cells: &[1],
            lambda: &LAMBDA,
            multipliers: &LAMBDA,
            globals: &GLOBALS,
            params: &PARAMS,
            signals: &SIGNALS,
            indices: &[5.0],
            ..Inputs::NONE
        }
    }
}

struct Now<'a> {
    world: &'a World,
    pool: &'a ExprPool,
    state: &'a [f64],
}

fn value(ty: Ty, x: &[f64]) -> Value {
    match ty {
        Ty::Scalar => Value::Scalar(x[0]),
        Ty::Vec3 => Value::Vec3([x[0], x[1], x[2]]),
        Ty::Mat3 | Ty::Rot => Value::Mat3([0, 3, 6].map(|i| [x[i], x[i + 1], x[i + 2]])),
        Ty::Bool => Value::Bool(x[0] != 0.0),
    }
}

impl Env for Now<'_> {
    fn param(&self, k: u32) -> Value {
        if k == 0 { value(Ty::Scalar, &PARAMS) } else { value(Ty::Vec3, &PARAMS[1..]) }
    }

    fn input(&self, k: u32) -> Value {
        if k == 0 { value(Ty::Scalar, &SIGNALS) } else { value(Ty::Vec3, &SIGNALS[1..]) }
    }

    fn index(&self, _k: u32) -> f64 {
        5.0
    }

    fn time(&self) -> f64 {
        0.9
    }

    fn state(&self, what: Quantity, body: BodyRef, _indices: &[f64]) -> Value {
        let slot = self.world.bodies.iter().position(|&b| b == body).expect("a body of the world");
        let s = &self.state[18 * slot..][..18];
        match what {
            Quantity::X => value(Ty::Vec3, s),
            Quantity::R => value(Ty::Rot, &s[3..]),
            Quantity::V => value(Ty::Vec3, &s[12..]),
            Quantity::Omega => value(Ty::Vec3, &s[15..]),
        }
    }

    fn memory(&self, _element: ElementRef, _site: u32, _indices: &[f64]) -> f64 {
        MEMORY[1]
    }

    fn lambda(&self, _element: ElementRef, _group: u32, _indices: &[f64]) -> Value {
        value(Ty::Vec3, &LAMBDA)
    }

    fn symbol(&self, k: u32, ty: Ty) -> Value {
        value(ty, &LAMBDA[3 * k as usize..])
    }

    fn global(&self, what: Global) -> Value {
        match what {
            Global::Energy => value(Ty::Scalar, &GLOBALS),
            Global::Kinetic => value(Ty::Scalar, &GLOBALS[1..]),
            Global::Potential => value(Ty::Scalar, &GLOBALS[2..]),
            Global::LinearMomentum => value(Ty::Vec3, &GLOBALS[3..]),
            Global::AngularMomentum => value(Ty::Vec3, &GLOBALS[6..]),
        }
    }

    fn start(&self, e: ExprId) -> Option<Value> {
        let start = Now { world: self.world, pool: self.pool, state: &self.world.start };
        Some(eval(self.pool, &[e], &start)[0])
    }
}

/// A value and how many units of round-off it can be wrong by: the sum of the absolute terms that it is made of.
#[derive(Clone, Copy, Debug, Default)]
pub struct Analysis {
    pub value: f64,
    pub scale: f64,
}

/// Executes a kernel instruction by instruction, with the running error bound of every value.
pub fn analyse(kernel: &Kernel, inputs: &Inputs<'_>) -> Vec<Analysis> {
    let mut known: Vec<Analysis> = Vec::new();
    for &op in &kernel.ops {
        let at = |r: crate::ir::Reg| known[r.0 as usize];
        known.push(match op {
            Op::Const(bits) => exact(f64::from_bits(bits)),
            Op::Load(input) => {
                let mut a = exact(load(inputs, input));
                // Constants from tables carry the roundings of their kernels.
                if matches!(input, Input::Uniform(_) | Input::Column(_) | Input::Start(_)) {
                    a.scale *= 100.0;
                    a.scale += 100.0;
                }
                a
            }
            Op::Un(f, a) => {
                let a = at(a);
                let value = semantics::un(f, a.value);
                let scale = match f {
                    Un::Floor | Un::Sign | Un::Not => value.abs(),
                    Un::Neg | Un::Abs => a.scale,
                    _ => slope(|x| semantics::un(f, x), a.value) * a.scale + 2.0 * value.abs(),
                };
                Analysis { value, scale }
            }
            Op::Bin(f, a, b) => {
                let (a, b) = (at(a), at(b));
                let value = semantics::bin(f, a.value, b.value);
                let inherited = match f {
                    Bin::Add | Bin::Sub | Bin::Unwrap => a.scale + b.scale,
                    Bin::Mul => a.value.abs() * b.scale + b.value.abs() * a.scale,
                    Bin::Lt | Bin::Le | Bin::Eq | Bin::And | Bin::Or => 0.0,
                    Bin::Min | Bin::Max => a.scale.max(b.scale),
                    Bin::Mod => a.scale + (a.value / b.value).abs() * b.scale + a.value.abs(),
                    Bin::Div | Bin::Atan2 | Bin::Atan2Over | Bin::Pow => {
                        slope(|x| semantics::bin(f, x, b.value), a.value) * a.scale
                            + slope(|x| semantics::bin(f, a.value, x), b.value) * b.scale
                    }
                };
                Analysis { value, scale: inherited + 2.0 * value.abs() }
            }
            Op::Select(c, a, b) => {
                if at(c).value != 0.0 {
                    at(a)
                } else {
                    at(b)
                }
            }
        });
    }
    let mut out = vec![Analysis::default(); kernel.size];
    for &(offset, r) in &kernel.outputs {
        out[offset as usize] = known[r.0 as usize];
    }
    out
}

/// Magnitude of a derivative, from the side where the function is defined.
fn slope(f: impl Fn(f64) -> f64, x: f64) -> f64 {
    let h = 1e-6 * (1.0 + x.abs());
    let (below, value, above) = (f(x - h), f(x), f(x + h));
    let sides = [(above - value).abs() / h, (value - below).abs() / h];
    sides.into_iter().filter(|d| d.is_finite()).fold(0.0, f64::max)
}

fn exact(value: f64) -> Analysis {
    Analysis { value, scale: value.abs() }
}

fn load(inputs: &Inputs<'_>, input: Input) -> f64 {
    match input {
        Input::State { slot, component } => {
            inputs.state[18 * inputs.slots[usize::from(slot)] as usize + usize::from(component)]
        }
        Input::Time => inputs.time,
        Input::Column(k) => inputs.columns[k as usize],
        Input::Uniform(k) => inputs.uniforms[k as usize],
        Input::Start(k) => inputs.starts[k as usize],
        Input::Memory(k) => inputs.memory[inputs.cells[k as usize] as usize],
        Input::Lambda(k) => inputs.lambda[k as usize],
        Input::Multiplier(k) => inputs.multipliers[k as usize],
        Input::Global(k) => inputs.globals[usize::from(k)],
        Input::Reduced(k) => inputs.reduced[k as usize],
        Input::Recorded(k) => inputs.recorded[k as usize],
        Input::Param(k) => inputs.params[k as usize],
        Input::Signal(k) => inputs.signals[k as usize],
        Input::Index(k) => inputs.indices[k as usize],
        Input::Iterate(k) => inputs.iterate[k as usize],
    }
}
