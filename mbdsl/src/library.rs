//! The standard joints and forces, written in the language itself and always in scope.

use crate::diag::Diagnostic;
use crate::source::Sources;
use crate::syntax::{self, ast::Document};

/// Names and texts of the files of the library.
pub const FILES: [(&str, &str); 2] = [
    ("<std/joints.mbd>", include_str!("../models/std/joints.mbd")),
    ("<std/forces.mbd>", include_str!("../models/std/forces.mbd")),
];

/// Parses the library.
///
/// # Errors
/// Never with the files as shipped; what they would be wrong about otherwise.
pub fn parse(sources: &mut Sources) -> Result<Vec<Document>, Vec<Diagnostic>> {
    FILES
        .iter()
        .map(|(name, text)| {
            let file = sources.add(*name, *text);
            syntax::parse(sources, file)
        })
        .collect()
}
