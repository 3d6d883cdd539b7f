//! The compiler of the `.mbd` modelling language: text to syntax tree, to checked model, to symbolic equations, to IR,
//! to back ends. `ARCHITECTURE.md` beside this crate tells where everything lives.

pub mod backend;
pub mod catalogue;
pub mod diag;
pub mod driver;
#[cfg(feature = "cli")]
pub mod exec;
pub mod expand;
pub mod formulate;
pub mod ir;
pub mod library;
pub mod lower;
pub mod model;
#[cfg(feature = "cli")]
pub mod render;
pub mod report;
pub mod sema;
pub mod source;
pub mod symbolic;
pub mod syntax;
pub mod units;

pub use expand::expand_to_string;
