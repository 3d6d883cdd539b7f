//! `C G B^T` for two Jacobians of the same rows and a weight that need not be symmetric: the matrix of impulses that act at one place
//! and close constraints at another.

use alloc::vec::Vec;

use super::block_lu::{BlockLu, SingularBlock};
use super::products::{Graph, Products};
use crate::topology::{ElementSet, Topology};

/// `C G B^T` over the graph of elements that share a body, with its factors.
///
/// Cost: linear for chains, quadratic in the number of elements on one body. Only the constructor allocates.
#[derive(Clone, Debug)]
pub(crate) struct Between {
    lu: BlockLu,
    products: Products,
    /// First row and number of rows of each element.
    rows: Vec<(usize, usize)>,
    /// Which rows are kept.
    pub(crate) independent: Vec<bool>,
}

impl Between {
    /// Symbolic phase for the rows of `set` on the bodies of `topology`.
    pub(crate) fn new(topology: &Topology, set: &ElementSet) -> Self {
        let graph = Graph::new(topology, set);
        let lu = BlockLu::new(&graph.sizes, &graph.edges, &[]);
        let mut products = Products::new(topology, set, &graph, |a, b| lu.block(a, b));
        products.choose(set, |_| true, |block| block);
        products.weighted.reserve_exact(set.jac_len);
        Self {
            products,
            rows: set.elements.iter().map(|e| (e.row, e.rows)).collect(),
            independent: vec![true; set.rows],
            lu,
        }
    }

    /// Factors `C G B^T` on the rows that `independent` names, for any block-diagonal `G`:
    /// `multiply` replaces the part of a row of `C` that belongs to a body by its product with the block of that body.
    ///
    /// # Errors
    /// [`SingularBlock`] if these rows are dependent or not finite.
    pub(crate) fn factor(
        &mut self,
        c: &[f64],
        b: &[f64],
        multiply: impl FnMut(usize, &mut [f64]),
    ) -> Result<(), SingularBlock> {
        let Self { lu, products, rows, independent } = self;
        products.weigh(c, multiply);
        lu.clear();
        products.add(b, lu.values_mut());
        if independent.iter().all(|&kept| kept) {
            return lu.factor();
        }
        lu.eliminate(|node, blocks| {
            let (first, count) = rows[node];
            blocks.drop_rows(&independent[first..first + count]);
        })
    }

    /// `C G` of the last [`Between::factor`], laid out like `B`.
    pub(crate) fn weighted(&self) -> &[f64] {
        &self.products.weighted
    }

    /// Smallest absolute pivot of an element in the last factorisation.
    pub(crate) fn smallest_pivot(&self, element: usize) -> f64 {
        self.lu.smallest_pivot(element)
    }

    /// Solves `C G B^T y = r` on the kept rows; the other entries of the result are zero. In place.
    pub(crate) fn solve(&self, r: &mut [f64]) {
        for (r, &kept) in r.iter_mut().zip(&self.independent) {
            if !kept {
                *r = 0.0;
            }
        }
        self.lu.solve(r);
    }
}
