//! What can be wrong when a program is built, in words.

use crate::diag::{Code, Diagnostic};
use crate::ir::VerifyError;
use crate::lower::LowerError;
use crate::source::Span;

/// The tables of the reductions of outputs and checks have at most this many terms: more would not fit into memory.
pub const TERMS: usize = 1 << 24;

/// A problem found while building a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProgramError {
    /// An index leads outside of the index set of a declaration.
    Outside {
        /// Name of the declaration with the index values that were asked for.
        name: String,
        /// The statement that asks.
        span: Span,
    },
    /// An index expression is not an integer: it divides by zero, or uses what is not an index.
    Index {
        /// The statement.
        span: Span,
    },
    /// Reductions of one statement have too many terms.
    Terms {
        /// The statement.
        span: Span,
    },
    /// `min`, `max` or `mean` of nothing.
    Empty {
        /// The statement.
        span: Span,
    },
    /// `at` or `final` stands in an output.
    Recorded {
        /// The statement.
        span: Span,
    },
    /// Lowering failed: a bug.
    Lower {
        /// What failed.
        error: LowerError,
        /// The statement.
        span: Span,
    },
    /// A kernel is broken: a bug.
    Verify {
        /// What is broken.
        error: VerifyError,
        /// The statement.
        span: Span,
    },
}

impl ProgramError {
    /// The problem in words.
    #[must_use]
    pub fn diagnostic(&self) -> Diagnostic {
        let bug = "this is a bug of the compiler; please report it with the model";
        match self {
            Self::Outside { name, span } => {
                Diagnostic::error(Code(143), *span, format!("there is no `{name}`")).label("an index leads there")
            }
            Self::Index { span } => Diagnostic::error(Code(144), *span, "an index is not an integer"),
            Self::Terms { span } => {
                Diagnostic::error(Code(145), *span, format!("reductions with more than {TERMS} terms"))
            }
            Self::Empty { span } => {
                Diagnostic::error(Code(142), *span, "`min`, `max` and `mean` need at least one term")
            }
            Self::Recorded { span } => {
                Diagnostic::error(Code(146), *span, "`at` and `final` have a meaning in a `check` only")
                    .help("an output is recorded throughout the run; its last value is the final one")
            }
            Self::Lower { error, span } => {
                Diagnostic::error(Code(147), *span, format!("cannot lower this: {error}")).note(bug)
            }
            Self::Verify { error, span } => {
                Diagnostic::error(Code(147), *span, format!("broken kernel: {error}")).note(bug)
            }
        }
    }
}
