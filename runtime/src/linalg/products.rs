//! Sums of products of the blocks of two Jacobians body by body, `C G B^T`, into a matrix of blocks over the graph of elements that share a body.

use alloc::vec::Vec;

use crate::topology::{ElementSet, Topology};

/// Sizes of the blocks of a matrix over the elements of a set, and which of them are there.
pub(super) struct Graph {
    pub(super) sizes: Vec<usize>,
    /// Pairs of elements that share a body.
    pub(super) edges: Vec<(usize, usize)>,
    /// Per body the elements on it, with their blocks.
    by_body: Vec<Vec<(usize, Slot)>>,
}

impl Graph {
    pub(super) fn new(topology: &Topology, set: &ElementSet) -> Self {
        let mut by_body: Vec<Vec<(usize, Slot)>> = vec![Vec::new(); topology.bodies.len()];
        for (number, e) in set.elements.iter().enumerate() {
            let mut at = e.jac;
            for &body in set.bodies(e) {
                let slot = Slot { at: narrow(at), stride: narrow(e.dim), rows: narrow(e.rows) };
                by_body[body as usize].push((number, slot));
                at += topology.bodies[body as usize].kind.dim();
            }
        }
        let mut edges = Vec::new();
        for slots in &by_body {
            for (i, (a, _)) in slots.iter().enumerate() {
                edges.extend(slots[..i].iter().map(|(b, _)| (*a, *b)));
            }
        }
        Self { sizes: set.elements.iter().map(|e| e.rows).collect(), edges, by_body }
    }
}

/// The products of one matrix.
#[derive(Clone, Debug)]
pub(super) struct Products {
    list: Vec<Product>,
    parts: Vec<Part>,
    /// `C G`, laid out like `B`.
    pub(super) weighted: Vec<f64>,
    /// The blocks of the right-hand factors one after another, transposed: their rows are added to rows of the matrix.
    transposed: Vec<f64>,
}

/// `target += left right` for the blocks of two elements on the same body, with 3 or 6 velocities; the right one is transposed.
#[derive(Clone, Copy, Debug)]
struct Product {
    left: Slot,
    right: u32,
    cols: u32,
    dim: u32,
    target: u32,
}

/// Columns of one slot in the block of its element.
#[derive(Clone, Copy, Debug)]
struct Slot {
    at: u32,
    stride: u32,
    rows: u32,
}

/// The columns of a body in the rows of an element, and where they are transposed.
#[derive(Clone, Copy, Debug)]
struct Part {
    slot: Slot,
    transposed: u32,
    body: u32,
    dim: u32,
}

/// Offsets in tables of less than 2^32 numbers, 32 GB.
fn narrow(at: usize) -> u32 {
    u32::try_from(at).expect("tables of a model have less than 2^32 entries")
}

impl Product {
    /// Adds the product of the blocks of a body with `N` velocities.
    #[inline]
    fn add<const N: usize>(&self, left: &[f64], right: &[f64], values: &mut [f64]) {
        match self.cols {
            1 => self.add_rows::<N, 1>(left, right, values),
            3 => self.add_rows::<N, 3>(left, right, values),
            5 => self.add_rows::<N, 5>(left, right, values),
            cols => {
                let right = &right[self.right as usize..][..N * cols as usize];
                let out = values[self.target as usize..].chunks_exact_mut(cols as usize);
                for (i, out) in out.take(self.left.rows as usize).enumerate() {
                    for (l, right) in self.left.row::<N>(left, i).iter().zip(right.chunks_exact(cols as usize)) {
                        for (out, r) in out.iter_mut().zip(right) {
                            *out += l * r;
                        }
                    }
                }
            }
        }
    }

    /// The same where rows of the product have `COLS` numbers.
    #[inline(always)]
    fn add_rows<const N: usize, const COLS: usize>(&self, left: &[f64], right: &[f64], values: &mut [f64]) {
        let (right, _) = right[self.right as usize..].as_chunks::<COLS>();
        let right = right.first_chunk::<N>().expect("a row for each velocity");
        let (out, _) = values[self.target as usize..].as_chunks_mut::<COLS>();
        for (i, out) in out[..self.left.rows as usize].iter_mut().enumerate() {
            let mut sum = *out;
            for (l, right) in self.left.row::<N>(left, i).iter().zip(right) {
                for (sum, r) in sum.iter_mut().zip(right) {
                    *sum += l * r;
                }
            }
            *out = sum;
        }
    }
}

impl Slot {
    /// A row of the columns of the slot, `N` of them.
    #[inline(always)]
    fn row<'a, const N: usize>(&self, all: &'a [f64], k: usize) -> &'a [f64; N] {
        let at = self.at as usize + k * self.stride as usize;
        all[at..].first_chunk().expect("a slot has as many columns as its body velocities")
    }
}

impl Products {
    /// For a matrix that stores its blocks where `block(left, right)` says; blocks that are the transposes of others may have no place.
    pub(super) fn new(
        topology: &Topology,
        set: &ElementSet,
        graph: &Graph,
        block: impl Fn(usize, usize) -> Option<usize>,
    ) -> Self {
        let (mut list, mut parts) = (Vec::new(), Vec::new());
        let mut length = 0;
        for (body, slots) in graph.by_body.iter().enumerate() {
            let dim = narrow(topology.bodies[body].kind.dim());
            let first = parts.len();
            for &(_, slot) in slots {
                parts.push(Part { slot, transposed: narrow(length), body: narrow(body), dim });
                length += (slot.rows * dim) as usize;
            }
            for &(a, left) in slots {
                let product = |(&(b, slot), part): (&(usize, Slot), &Part)| {
                    let target = narrow(block(a, b)?);
                    Some(Product { left, right: part.transposed, cols: slot.rows, dim, target })
                };
                list.extend(slots.iter().zip(&parts[first..]).filter_map(product));
            }
        }
        Self { list, parts, weighted: vec![0.0; set.jac_len], transposed: vec![0.0; length] }
    }

    /// Fills `C G`: `multiply` replaces the part of a row of `C` that belongs to a body by its product with the block of that body.
    pub(super) fn weigh(&mut self, c: &[f64], mut multiply: impl FnMut(usize, &mut [f64])) {
        self.weighted.copy_from_slice(c);
        for part in &self.parts {
            let (body, dim) = (part.body as usize, part.dim as usize);
            for k in 0..part.slot.rows {
                let row = &mut self.weighted[(part.slot.at + k * part.slot.stride) as usize..][..dim];
                // The compiler then knows what is left to do in each case.
                match row.first_chunk_mut::<6>() {
                    Some(row) => multiply(body, row),
                    None => multiply(body, row),
                }
            }
        }
    }

    /// Adds `C G B^T` to the blocks of a matrix.
    pub(super) fn add(&mut self, b: &[f64], values: &mut [f64]) {
        self.transpose(b);
        self.add_products(&self.weighted, values);
    }

    /// Adds `B G B^T`, where `C` is `B` and `G` symmetric.
    pub(super) fn add_symmetric(&mut self, b: &[f64], values: &mut [f64]) {
        let weighted = core::mem::take(&mut self.weighted);
        self.transpose(&weighted);
        self.weighted = weighted;
        self.add_products(b, values);
    }

    /// Copies the blocks of a factor.
    fn transpose(&mut self, b: &[f64]) {
        for part in &self.parts {
            let (rows, dim) = (part.slot.rows as usize, part.dim as usize);
            let out = &mut self.transposed[part.transposed as usize..][..rows * dim];
            for k in 0..rows {
                let row = &b[part.slot.at as usize + k * part.slot.stride as usize..][..dim];
                for (out, x) in out[k..].iter_mut().step_by(rows).zip(row) {
                    *out = *x;
                }
            }
        }
    }

    fn add_products(&self, left: &[f64], values: &mut [f64]) {
        for p in &self.list {
            // Rows of constant length are multiplied without a loop.
            match p.dim {
                3 => p.add::<3>(left, &self.transposed, values),
                _ => p.add::<6>(left, &self.transposed, values),
            }
        }
    }
}
