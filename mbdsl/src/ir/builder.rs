//! The scalar graph that kernels are cut from: hash-consed, folded, with the rate at which each value changes.
//!
//! Rewrites keep every rounding (operations are never reassociated or fused): zeros and ones vanish, signs move outwards
//! until a sum absorbs them, and `a + b = b + a`, `a b = b a` are known to be equal. As everywhere in algebra, `0 a = 0`
//! and `a - a = 0`; the sign of a zero is not kept.

use rustc_hash::FxHashMap;

use super::kernel::{Bin, Input, Op, Reg, Un};
use super::semantics;

/// How often a value changes, from the rarest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Rate {
    /// Never: known to the compiler.
    Literal,
    /// With the parameters of the model.
    Uniform,
    /// With the instance.
    Column,
    /// With the assembled start.
    Start,
    /// At run time.
    Running,
}

impl Rate {
    fn of_input(input: Input) -> Self {
        match input {
            Input::Param(_) | Input::Uniform(_) => Self::Uniform,
            Input::Index(_) | Input::Column(_) => Self::Column,
            Input::Start(_) => Self::Start,
            Input::State { .. }
            | Input::Time
            | Input::Memory(_)
            | Input::Lambda(_)
            | Input::Multiplier(_)
            | Input::Global(_)
            | Input::Reduced(_)
            | Input::Recorded(_)
            | Input::Signal(_)
            | Input::Iterate(_) => Self::Running,
        }
    }
}

/// The graph. A [`Reg`] numbers its nodes; operands have smaller numbers than what uses them.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    ops: Vec<Op>,
    rates: Vec<Rate>,
    known: FxHashMap<Op, Reg>,
}

/// Nodes.
impl Graph {
    /// An empty graph.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Number of nodes.
    pub(crate) fn len(&self) -> usize {
        self.ops.len()
    }

    /// The operation of a node.
    #[must_use]
    pub fn op(&self, r: Reg) -> Op {
        self.ops[r.0 as usize]
    }

    /// How often a node changes.
    #[must_use]
    pub fn rate(&self, r: Reg) -> Rate {
        self.rates[r.0 as usize]
    }

    /// Value of a literal.
    #[must_use]
    pub fn literal(&self, r: Reg) -> Option<f64> {
        match self.op(r) {
            Op::Const(bits) => Some(f64::from_bits(bits)),
            Op::Load(_) | Op::Un(..) | Op::Bin(..) | Op::Select(..) => None,
        }
    }

    fn is(&self, r: Reg, x: f64) -> bool {
        self.literal(r).is_some_and(|y| y == x)
    }

    fn negated(&self, r: Reg) -> Option<Reg> {
        match self.op(r) {
            Op::Un(Un::Neg, a) => Some(a),
            Op::Const(_) | Op::Load(_) | Op::Un(..) | Op::Bin(..) | Op::Select(..) => None,
        }
    }

    fn intern(&mut self, op: Op) -> Reg {
        // Commutative operations have one key; the node keeps the order in which it was first written.
        let key = match op {
            Op::Bin(f @ (Bin::Add | Bin::Mul | Bin::Eq | Bin::And | Bin::Or), a, b) if b < a => Op::Bin(f, b, a),
            _ => op,
        };
        if let Some(&r) = self.known.get(&key) {
            return r;
        }
        let rate = match op {
            Op::Const(_) => Rate::Literal,
            Op::Load(input) => Rate::of_input(input),
            // A function that is not folded still changes never; it is computed with the parameters.
            Op::Un(_, a) => self.rate(a).max(Rate::Uniform),
            Op::Bin(_, a, b) => self.rate(a).max(self.rate(b)).max(Rate::Uniform),
            Op::Select(c, a, b) => self.rate(c).max(self.rate(a)).max(self.rate(b)).max(Rate::Uniform),
        };
        let r = Reg(u32::try_from(self.ops.len()).expect("fewer than 2^32 operations"));
        self.ops.push(op);
        self.rates.push(rate);
        self.known.insert(key, r);
        r
    }
}

/// Constructors, which fold.
impl Graph {
    /// A number.
    pub fn num(&mut self, x: f64) -> Reg {
        // One zero only.
        let x = if x == 0.0 { 0.0 } else { x };
        self.intern(Op::Const(x.to_bits()))
    }

    /// An input.
    pub fn load(&mut self, input: Input) -> Reg {
        self.intern(Op::Load(input))
    }

    /// `-a`
    pub fn neg(&mut self, a: Reg) -> Reg {
        if let Some(x) = self.literal(a) {
            return self.num(-x);
        }
        self.negated(a).unwrap_or_else(|| self.intern(Op::Un(Un::Neg, a)))
    }

    /// `a + b`
    pub fn add(&mut self, a: Reg, b: Reg) -> Reg {
        if let (Some(x), Some(y)) = (self.literal(a), self.literal(b)) {
            return self.num(x + y);
        }
        if self.is(a, 0.0) {
            return b;
        }
        if self.is(b, 0.0) {
            return a;
        }
        if let Some(c) = self.negated(b) {
            return self.sub(a, c);
        }
        if let Some(c) = self.negated(a) {
            return self.sub(b, c);
        }
        self.intern(Op::Bin(Bin::Add, a, b))
    }

    /// `a - b`
    pub fn sub(&mut self, a: Reg, b: Reg) -> Reg {
        if let (Some(x), Some(y)) = (self.literal(a), self.literal(b)) {
            return self.num(x - y);
        }
        if a == b {
            return self.num(0.0);
        }
        if self.is(a, 0.0) {
            return self.neg(b);
        }
        if self.is(b, 0.0) {
            return a;
        }
        if let Some(c) = self.negated(b) {
            return self.add(a, c);
        }
        if let Some(c) = self.negated(a) {
            let sum = self.add(c, b);
            return self.neg(sum);
        }
        // A difference and its reverse are one node, with a sign that moves outwards.
        match self.known.get(&Op::Bin(Bin::Sub, b, a)) {
            Some(&reverse) => self.neg(reverse),
            None => self.intern(Op::Bin(Bin::Sub, a, b)),
        }
    }

    /// `a b`
    pub fn mul(&mut self, a: Reg, b: Reg) -> Reg {
        if let (Some(x), Some(y)) = (self.literal(a), self.literal(b)) {
            return self.num(x * y);
        }
        if self.is(a, 0.0) || self.is(b, 0.0) {
            return self.num(0.0);
        }
        if self.is(a, 1.0) {
            return b;
        }
        if self.is(b, 1.0) {
            return a;
        }
        let (positive_a, positive_b) = (self.unsigned(a), self.unsigned(b));
        if positive_a.is_none() && positive_b.is_none() {
            return self.intern(Op::Bin(Bin::Mul, a, b));
        }
        let p = self.mul(positive_a.unwrap_or(a), positive_b.unwrap_or(b));
        if positive_a.is_some() && positive_b.is_some() { p } else { self.neg(p) }
    }

    /// `a / b`
    pub fn div(&mut self, a: Reg, b: Reg) -> Reg {
        if let (Some(x), Some(y)) = (self.literal(a), self.literal(b)) {
            return self.num(x / y);
        }
        if self.is(b, 1.0) || self.is(a, 0.0) {
            return a;
        }
        let (positive_a, positive_b) = (self.unsigned(a), self.unsigned(b));
        if positive_a.is_none() && positive_b.is_none() {
            return self.intern(Op::Bin(Bin::Div, a, b));
        }
        let q = self.div(positive_a.unwrap_or(a), positive_b.unwrap_or(b));
        if positive_a.is_some() && positive_b.is_some() { q } else { self.neg(q) }
    }

    /// The factor without its sign, where it has one in front.
    fn unsigned(&mut self, a: Reg) -> Option<Reg> {
        match self.literal(a) {
            Some(x) if x < 0.0 => Some(self.num(-x)),
            Some(_) => None,
            None => self.negated(a),
        }
    }

    /// An operation of one operand.
    pub fn un(&mut self, f: Un, a: Reg) -> Reg {
        if let (Some(x), true) = (self.literal(a), semantics::folds_un(f)) {
            return self.num(semantics::un(f, x));
        }
        match f {
            Un::Neg => self.neg(a),
            Un::Sin | Un::Tan | Un::Asin | Un::Sign => {
                // Odd functions hand their sign on, exactly.
                if self.is(a, 0.0) {
                    return a;
                }
                if let Some(b) = self.unsigned(a) {
                    let value = self.intern(Op::Un(f, b));
                    return self.neg(value);
                }
                self.intern(Op::Un(f, a))
            }
            Un::Cos if self.is(a, 0.0) => self.num(1.0),
            Un::Cos | Un::Abs => {
                let b = self.unsigned(a).unwrap_or(a);
                self.intern(Op::Un(f, b))
            }
            Un::Exp if self.is(a, 0.0) => self.num(1.0),
            Un::Sqrt | Un::Acos | Un::Exp | Un::Ln | Un::Floor | Un::Not | Un::Stumpff(_) | Un::LogCoefficient(_) => {
                self.intern(Op::Un(f, a))
            }
        }
    }

    /// An operation of two operands.
    pub fn bin(&mut self, f: Bin, a: Reg, b: Reg) -> Reg {
        if let (Some(x), Some(y), true) = (self.literal(a), self.literal(b), semantics::folds_bin(f)) {
            return self.num(semantics::bin(f, x, y));
        }
        match f {
            Bin::Add => self.add(a, b),
            Bin::Sub => self.sub(a, b),
            Bin::Mul => self.mul(a, b),
            Bin::Div => self.div(a, b),
            Bin::Min | Bin::Max if a == b => a,
            Bin::And | Bin::Or => self.logic(f, a, b),
            Bin::Atan2
            | Bin::Atan2Over
            | Bin::Min
            | Bin::Max
            | Bin::Pow
            | Bin::Mod
            | Bin::Unwrap
            | Bin::Lt
            | Bin::Le
            | Bin::Eq => self.intern(Op::Bin(f, a, b)),
        }
    }

    fn logic(&mut self, f: Bin, a: Reg, b: Reg) -> Reg {
        // The literal that decides: false for `&&`, true for `||`; the other one is neutral.
        let decides = f == Bin::Or;
        for (x, other) in [(a, b), (b, a)] {
            if let Some(value) = self.literal(x) {
                return if (value != 0.0) == decides { x } else { other };
            }
        }
        self.intern(Op::Bin(f, a, b))
    }

    /// `c ? a : b`
    pub fn select(&mut self, c: Reg, a: Reg, b: Reg) -> Reg {
        match self.literal(c) {
            Some(x) if x != 0.0 => a,
            Some(_) => b,
            None if a == b => a,
            None => self.intern(Op::Select(c, a, b)),
        }
    }

    /// `a^n` by squaring, from the lowest bit of `|n|`; negative exponents by one division.
    pub fn pow_int(&mut self, a: Reg, n: i32) -> Reg {
        let mut result = None;
        let (mut square, mut bits) = (a, n.unsigned_abs());
        while bits != 0 {
            if bits & 1 == 1 {
                result = Some(result.map_or(square, |r| self.mul(r, square)));
            }
            bits >>= 1;
            if bits != 0 {
                square = self.mul(square, square);
            }
        }
        let one = self.num(1.0);
        let power = result.unwrap_or(one);
        if n < 0 { self.div(one, power) } else { power }
    }

    /// `a^b`: by products and a root where the exponent is a small multiple of 1/2.
    pub fn pow(&mut self, a: Reg, b: Reg) -> Reg {
        /// Beyond it `pow` is cheaper than the products and more accurate.
        const LARGEST: f64 = 32.0;
        let Some(exponent) = self.literal(b).filter(|x| x.abs() <= LARGEST && (2.0 * x).fract() == 0.0) else {
            return self.intern(Op::Bin(Bin::Pow, a, b));
        };
        let whole = exponent.abs().floor();
        let power = self.pow_int(a, whole as i32);
        let power = if whole == exponent.abs() {
            power
        } else {
            let root = self.un(Un::Sqrt, a);
            self.mul(power, root)
        };
        let one = self.num(1.0);
        if exponent < 0.0 { self.div(one, power) } else { power }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn variables(g: &mut Graph) -> [Reg; 3] {
        [0, 1, 2].map(|k| g.load(Input::Lambda(k)))
    }

    #[test]
    fn zeros_and_ones_vanish() {
        let mut g = Graph::new();
        let [x, ..] = variables(&mut g);
        let (zero, one) = (g.num(0.0), g.num(1.0));
        assert_eq!(g.mul(zero, x), zero);
        assert_eq!(g.mul(x, one), x);
        assert_eq!(g.add(x, zero), x);
        assert_eq!(g.sub(x, zero), x);
        assert_eq!(g.div(x, one), x);
        assert_eq!(g.div(zero, x), zero);
        assert_eq!(g.sub(zero, x), g.neg(x));
        assert_eq!(g.sub(x, x), zero);
    }

    #[test]
    fn signs_move_outwards() {
        let mut g = Graph::new();
        let [x, y, z] = variables(&mut g);
        let minus_x = g.neg(x);
        let minus_two = g.num(-2.0);
        let two = g.num(2.0);
        assert_eq!(g.neg(minus_x), x);
        let xy = g.mul(x, y);
        let p = g.mul(minus_x, y);
        assert_eq!(p, g.neg(xy));
        assert_eq!(g.add(z, p), g.sub(z, xy));
        assert_eq!(g.add(p, z), g.sub(z, xy));
        assert_eq!(g.sub(z, p), g.add(z, xy));
        let (q, r) = (g.mul(minus_two, y), g.mul(two, y));
        assert_eq!(q, g.neg(r));
        assert_eq!(g.mul(minus_two, minus_x), g.mul(two, x));
        let d = g.sub(x, y);
        assert_eq!(g.neg(d), g.sub(y, x));
    }

    #[test]
    fn commutative_operations_are_one() {
        let mut g = Graph::new();
        let [x, y, z] = variables(&mut g);
        assert_eq!(g.add(x, y), g.add(y, x));
        assert_eq!(g.mul(x, y), g.mul(y, x));
        assert_ne!(g.sub(x, y), g.sub(y, x));
        // No reassociation.
        let (xy, yz) = (g.add(x, y), g.add(y, z));
        assert_ne!(g.add(xy, z), g.add(x, yz));
    }

    #[test]
    fn only_correctly_rounded_functions_fold() {
        let mut g = Graph::new();
        let two = g.num(2.0);
        let root = g.un(Un::Sqrt, two);
        assert_eq!(g.literal(root), Some(std::f64::consts::SQRT_2));
        let sine = g.un(Un::Sin, two);
        assert_eq!(g.literal(sine), None);
        assert_eq!(g.rate(sine), Rate::Uniform);
        let seven = g.num(-7.0);
        let rest = g.bin(Bin::Mod, seven, two);
        assert_eq!(g.literal(rest), Some(1.0));
    }

    #[test]
    fn powers_are_products() {
        let mut g = Graph::new();
        let [x, ..] = variables(&mut g);
        let square = g.mul(x, x);
        assert_eq!(g.pow_int(x, 2), square);
        assert_eq!(g.pow_int(x, 3), g.mul(x, square));
        let exponent = g.num(1.5);
        let root = g.un(Un::Sqrt, x);
        assert_eq!(g.pow(x, exponent), g.mul(x, root));
        let minus_half = g.num(-0.5);
        let one = g.num(1.0);
        assert_eq!(g.pow(x, minus_half), g.div(one, root));
        let odd = g.num(0.3);
        let power = g.pow(x, odd);
        assert_eq!(g.op(power), Op::Bin(Bin::Pow, x, odd));
    }

    #[test]
    fn choices_fold() {
        let mut g = Graph::new();
        let [x, y, z] = variables(&mut g);
        let (no, yes) = (g.num(0.0), g.num(1.0));
        assert_eq!(g.select(yes, x, y), x);
        assert_eq!(g.select(no, x, y), y);
        assert_eq!(g.select(z, x, x), x);
        assert_eq!(g.bin(Bin::And, no, z), no);
        assert_eq!(g.bin(Bin::Or, z, no), z);
        assert_eq!(g.bin(Bin::Or, z, yes), yes);
    }
}
