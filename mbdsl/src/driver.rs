//! The stages in order: text to model, model to program.

use crate::diag::Diagnostic;
use crate::formulate::{self, Equations};
use crate::ir::program::Program;
use crate::library;
use crate::lower;
use crate::model::Model;
use crate::sema::{self, Options};
use crate::source::{FileId, Sources, Span};
use crate::syntax;

/// A model with everything derived from it.
#[derive(Debug)]
pub struct Compiled {
    /// The checked model.
    pub model: Model,
    /// Its equations, per element kind.
    pub equations: Equations,
    /// What back ends execute.
    pub program: Program,
}

/// Text to model: syntax, names, shapes, dimensions, index sets.
///
/// # Errors
/// All problems found, in source order.
pub fn check(sources: &mut Sources, file: FileId, options: &Options) -> Result<Model, Vec<Diagnostic>> {
    let library = library::add(sources);
    let sources = &*sources;
    let document = syntax::parse(sources, file)?;
    let text = &sources.get(file).text;
    let end = u32::try_from(text.len()).unwrap_or(u32::MAX);
    let whole = Span { file, start: 0, end: end.min(1) };
    let check = |library: &[_]| sema::check(sources, library, &document, whole, options);
    // Messages may speak of definitions that the text does not mention.
    check(&library.mentioned(sources, text)).or_else(|_| check(&library.all(sources)))
}

/// Text to program.
///
/// # Errors
/// All problems found, in source order.
pub fn compile(sources: &mut Sources, file: FileId, options: &Options) -> Result<Compiled, Vec<Diagnostic>> {
    let model = check(sources, file, options)?;
    let equations = formulate::formulate(&model)
        .map_err(|errors| errors.iter().map(formulate::FormulateError::diagnostic).collect::<Vec<_>>())?;
    let program = lower::program::lower(&model, &equations).map_err(|e| vec![e.diagnostic()])?;
    Ok(Compiled { model, equations, program })
}
