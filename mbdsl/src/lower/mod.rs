//! Lowering: the tensor expressions of an element kind to scalar kernels that share one table of constants.
//!
//! Components are expanded into one graph per element kind (`expand`, `tensor`, `rotation`), in which equal scalars are
//! one. Kernels are cut out of it (`emit`): what depends on parameters only is computed once for the model (uniforms), what
//! depends on the indices too once for each instance (columns), what depends on the assembled start once for each run
//! (starts), always the largest such sub-expressions.

mod emit;
mod error;
mod expand;
mod foreign;
pub mod program;
mod rotation;
mod scope;
mod tensor;
#[cfg(test)]
mod tests;
mod unroll;

pub use error::LowerError;
pub use foreign::{Foreign, foreign};
pub use scope::{Output, Scope};

use crate::ir::{Interface, Kernel, Reg};
use crate::symbolic::{ExprId, ExprPool, Ty};
use emit::{Hoist, Tables, emit};
use expand::{Environment, Expander};

/// Kernels of one element kind, as they are lowered one after the other.
pub struct ElementLowering<'a> {
    expander: Expander<'a>,
    environment: Environment,
    tables: Tables,
}

/// The kernels that fill the tables of constants of an element kind, and what all of its kernels may load.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Constants {
    /// Computes the uniforms; loads parameters.
    pub uniforms: Kernel,
    /// Computes the columns of an instance; loads parameters and indices.
    pub columns: Kernel,
    /// Computes the starts of an instance on the assembled start; loads what running kernels load, and no starts.
    pub starts: Kernel,
    /// Counts of the inputs.
    pub interface: Interface,
}

impl<'a> ElementLowering<'a> {
    /// Begins an element kind.
    #[must_use]
    pub fn new(pool: &'a ExprPool, scope: Scope<'a>) -> Self {
        Self { expander: Expander::new(pool, scope), environment: Environment::default(), tables: Tables::default() }
    }

    /// Lowers a kernel that runs in every step: its constants come from the tables.
    ///
    /// # Errors
    /// If the scope does not resolve a name, or outputs collide.
    pub fn kernel(&mut self, name: &str, outputs: &[Output], size: usize) -> Result<Kernel, LowerError> {
        self.lower(name, outputs, size, Hoist::All)
    }

    /// Lowers a kernel that runs once: it computes everything from parameters, indices and the state that it is given.
    ///
    /// # Errors
    /// If the scope does not resolve a name, or outputs collide.
    pub fn setup_kernel(&mut self, name: &str, outputs: &[Output], size: usize) -> Result<Kernel, LowerError> {
        self.lower(name, outputs, size, Hoist::Nothing)
    }

    fn lower(&mut self, name: &str, outputs: &[Output], size: usize, hoist: Hoist) -> Result<Kernel, LowerError> {
        let roots: Vec<ExprId> = outputs.iter().map(|o| o.expr).collect();
        self.expander.expand_all(&mut self.environment, &roots)?;
        let mut written = vec![None; size];
        for output in outputs {
            for (k, &node) in self.environment.known[&output.expr].iter().enumerate() {
                let offset = output.offset + k / 3 * output.row_stride + k % 3;
                match written.get_mut(offset) {
                    Some(place @ None) => *place = Some(node),
                    Some(Some(_)) | None => return Err(LowerError::Output { offset, size }),
                }
            }
        }
        // What is not written is zero, so that zeros are not written.
        let roots: Vec<(u32, Reg)> = (0..)
            .zip(written)
            .filter_map(|(offset, node)| Some((offset, node?)))
            .filter(|&(_, node)| self.expander.graph.literal(node) != Some(0.0))
            .collect();
        Ok(self.cut(name, &roots, size, hoist))
    }

    fn cut(&mut self, name: &str, roots: &[(u32, Reg)], size: usize, hoist: Hoist) -> Kernel {
        let Expander { graph, started, .. } = &mut self.expander;
        let emitted = emit(graph, &mut self.tables, started, hoist, roots);
        Kernel { name: name.to_owned(), ops: emitted.ops, outputs: emitted.outputs, size }
    }

    fn constants(&mut self, name: &str, nodes: &[Reg], hoist: Hoist) -> Kernel {
        let roots: Vec<(u32, Reg)> = (0..).zip(nodes.iter().copied()).collect();
        self.cut(name, &roots, nodes.len(), hoist)
    }

    /// Ends the element kind: the kernels of its constants.
    #[must_use]
    pub fn finish(mut self) -> Constants {
        // Values at the start load uniforms and columns, so that they come first.
        let starts = std::mem::take(&mut self.tables.starts.nodes);
        let starts = self.constants("starts", &starts, Hoist::Tables);
        let columns = std::mem::take(&mut self.tables.columns.nodes);
        let columns = self.constants("columns", &columns, Hoist::Nothing);
        let uniforms = std::mem::take(&mut self.tables.uniforms.nodes);
        let uniforms = self.constants("uniforms", &uniforms, Hoist::Nothing);
        let Expander { pool, scope, rows, multipliers, .. } = self.expander;
        let end = |first: u32, ty: Ty| first as usize + ty.len();
        let recorded = |&(e, first): &(ExprId, u32)| end(first, pool.ty(e));
        let interface = Interface {
            slots: scope.bodies.len(),
            columns: columns.size,
            uniforms: uniforms.size,
            starts: starts.size,
            memories: scope.memories.len(),
            rows,
            multipliers,
            reduced: scope.reductions.len(),
            recorded: scope.recorded.iter().map(recorded).max().unwrap_or(0),
            params: {
                let params = scope.params_offset.iter().zip(pool.params()).map(|(&o, &ty)| end(o, ty)).max();
                params.unwrap_or(0).max(scope.consts_offset as usize + pool.consts().len())
            },
            signals: {
                let signals = scope.signals_offset.iter().zip(pool.inputs()).map(|(&o, &ty)| end(o, ty)).max();
                signals.unwrap_or(0)
            },
            indices: scope.indices.len(),
            iterates: 0,
        };
        Constants { uniforms, columns, starts, interface }
    }
}
