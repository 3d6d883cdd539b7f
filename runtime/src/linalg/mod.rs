//! Linear algebra on sparse matrices of small dense blocks.

pub mod between;
mod block_ldl;
pub mod block_lu;
pub mod blocks;
pub mod gram;
mod invert;
#[cfg(test)]
mod numbers;
pub mod order;
mod products;
pub mod rows;
