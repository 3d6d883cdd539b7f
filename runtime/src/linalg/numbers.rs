//! Numbers and graphs for the tests of matrices.

use alloc::vec::Vec;

/// Deterministic numbers in (-1, 1).
pub(super) struct Numbers(pub(super) u64);

impl Numbers {
    pub(super) fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    }

    /// Twice as many edges as nodes, some more than once, some from a node to itself.
    pub(super) fn edges(&mut self, nodes: usize) -> Vec<(usize, usize)> {
        let mut node = || (self.next().abs() * nodes as f64) as usize;
        (0..2 * nodes).map(|_| (node(), node())).collect()
    }
}
