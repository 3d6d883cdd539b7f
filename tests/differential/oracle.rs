//! What the leaves of expressions are worth for one instance, for the symbolic evaluator.

use mbdsl::formulate::Equations;
use mbdsl::ir::program::Program;
use mbdsl::model::{IndexSet, Model};
use mbdsl::symbolic::eval::{self, Env, Value};
use mbdsl::symbolic::{BodyRef, ElementRef, ExprId, ExprPool, Quantity, Ty};
use mbdsl_runtime::state::{OMEGA, POS, ROT, STRIDE, State, VEL};

/// An instance of a declaration at a state.
#[derive(Clone, Copy)]
pub struct Oracle<'a> {
    pub model: &'a Model,
    pub equations: &'a Equations,
    pub program: &'a Program,
    pub pool: &'a ExprPool,
    pub params: &'a [f64],
    pub signals: &'a [f64],
    pub state: &'a State,
    pub start: &'a State,
    pub set: &'a IndexSet,
    pub instance: usize,
    /// Multipliers of its rows, and what they belong to.
    pub lambda: &'a [Value],
}

impl Oracle<'_> {
    pub fn eval(&self, roots: &[ExprId]) -> Vec<Value> {
        eval::eval(self.pool, roots, self)
    }

    /// Components of the values, one after another.
    pub fn components(&self, e: ExprId) -> Vec<f64> {
        self.eval(&[e])[0].components()
    }
}

/// Place of a tuple in a set.
fn place(set: &IndexSet, indices: &[f64]) -> usize {
    let same = |k: &usize| set.tuple(*k).iter().map(|&i| f64::from(i)).eq(indices.iter().copied());
    (0..set.count).find(same).expect("indices of compiled models lie in their sets")
}

/// A value from its scalars.
pub fn value(ty: Ty, z: &[f64]) -> Value {
    match ty {
        Ty::Scalar => Value::Scalar(z[0]),
        Ty::Vec3 => Value::Vec3([z[0], z[1], z[2]]),
        Ty::Mat3 | Ty::Rot => Value::Mat3([0, 3, 6].map(|r| [z[r], z[r + 1], z[r + 2]])),
        Ty::Bool => Value::Bool(z[0] != 0.0),
    }
}

impl Env for Oracle<'_> {
    fn param(&self, k: u32) -> Value {
        let k = k as usize;
        value(self.pool.params()[k], &self.params[self.program.params[k].offset..])
    }

    fn input(&self, k: u32) -> Value {
        let k = k as usize;
        value(self.pool.inputs()[k], &self.signals[self.program.inputs[k].offset..])
    }

    fn index(&self, k: u32) -> f64 {
        let place = self.set.vars.iter().position(|&v| v == k).expect("an index of the statement");
        f64::from(self.set.tuple(self.instance)[place])
    }

    fn time(&self) -> f64 {
        self.state.t
    }

    fn state(&self, what: Quantity, body: BodyRef, indices: &[f64]) -> Value {
        let decl = &self.model.bodies[self.pool.body(body).decl as usize];
        let z = &self.state.z[(decl.first + place(&decl.set, indices)) * STRIDE..];
        match what {
            Quantity::X => value(Ty::Vec3, &z[POS..]),
            Quantity::R => value(Ty::Rot, &z[ROT..]),
            Quantity::V => value(Ty::Vec3, &z[VEL..]),
            Quantity::Omega => value(Ty::Vec3, &z[OMEGA..]),
        }
    }

    fn memory(&self, element: ElementRef, site: u32, indices: &[f64]) -> f64 {
        let decl = self.pool.element(element).decl as usize;
        // Loads on the ground read angles of which the equations know nothing; any value will do.
        let angle = self.equations.angles.iter().position(|a| a.element == decl && a.site == site);
        let Some(angle) = angle.map(|a| &self.program.angles[a]) else { return 0.0 };
        self.state.memory[angle.first_cell + place(&self.model.elements[decl].set, indices)]
    }

    fn symbol(&self, k: u32, _ty: Ty) -> Value {
        self.lambda[k as usize]
    }

    fn start(&self, e: ExprId) -> Option<Value> {
        Some(Self { state: self.start, ..*self }.eval(&[e])[0])
    }
}
