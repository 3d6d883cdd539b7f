//! What can be wrong with a valid model when its equations are derived, in words.

use crate::diag::{Code, Diagnostic};
use crate::source::Span;

/// A reduction in equations of motion is written out term by term up to this length; longer ones would make the size
/// of the code depend on the size of the model.
pub const UNROLLED: i64 = 64;

/// A problem found while deriving equations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FormulateError {
    /// A reduction in equations of motion has more terms than are written out.
    LongReduction {
        /// Number of its terms.
        terms: i64,
        /// The statement.
        span: Span,
    },
    /// The range of a reduction in equations of motion depends on the instance.
    OpenReduction {
        /// The statement.
        span: Span,
    },
    /// A smallest, largest or mean value of nothing.
    EmptyReduction {
        /// The statement.
        span: Span,
    },
}

impl FormulateError {
    /// The problem in words.
    #[must_use]
    pub fn diagnostic(&self) -> Diagnostic {
        match *self {
            Self::LongReduction { terms, span } => Diagnostic::error(
                Code(140),
                span,
                format!("a reduction over {terms} terms cannot stand in equations of motion"),
            )
            .note(format!("at most {UNROLLED} terms are written out, so that the code does not grow with the model"))
            .help("give the statement an index set instead: `potential e[i in 0..N]: ...;`"),
            Self::OpenReduction { span } => Diagnostic::error(
                Code(141),
                span,
                "the range of a reduction in equations of motion must not depend on an index",
            )
            .help("give the statement an index set instead: `potential e[i in 0..N, j in 0..N where j < i]: ...;`"),
            Self::EmptyReduction { span } => {
                Diagnostic::error(Code(142), span, "`min`, `max` and `mean` need at least one term")
            }
        }
    }
}
