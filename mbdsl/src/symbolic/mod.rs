//! The symbolic layer: tensor-typed expressions on (R^3 x SO(3))^n, their derivatives, their evaluation, their printing.

mod apply;
pub mod build;
pub mod constant;
pub mod diff;
pub mod eval;
mod notation;
pub mod pool;
pub mod print;
pub mod special;
pub mod walk;

pub use pool::{
    BodyRef, Cmp, ElementRef, ExprId, ExprPool, Fun, Fun2, Global, Instance, Node, Quantity, Reduction, Ty,
};
