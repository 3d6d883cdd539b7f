//! The intermediate representation: scalar kernels, their semantics, their verification and their text.

pub mod builder;
pub mod kernel;
pub mod program;
pub mod semantics;
pub mod special;
pub mod text;
pub mod verify;

pub use builder::{Graph, Rate};
pub use kernel::{Bin, Input, Interface, Kernel, Op, Reg, Un};
pub use text::{OperationCount, count};
pub use verify::{VerifiedKernel, VerifyError, verify};
