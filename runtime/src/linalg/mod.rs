//! Linear algebra on sparse matrices of small dense blocks.

pub mod block_lu;
pub mod blocks;
pub mod gram;
pub mod order;
pub mod rows;
