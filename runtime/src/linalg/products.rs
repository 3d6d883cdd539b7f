//! Sums of products of the blocks of two Jacobians body by body, `C G B^T`, into a matrix of blocks over the graph of elements that share a body.

use alloc::vec::Vec;

use crate::topology::{ElementSet, Topology};

/// Sizes of the blocks of a matrix over the elements of a set, and which of them are there.
pub(super) struct Graph {
    pub(super) sizes: Vec<usize>,
    /// Pairs of elements that share a body.
    pub(super) edges: Vec<(usize, usize)>,
    /// Per body the elements on it, each with the first of its columns there.
    by_body: Vec<Vec<(usize, usize)>>,
}

impl Graph {
    pub(super) fn new(topology: &Topology, set: &ElementSet) -> Self {
        let mut by_body: Vec<Vec<(usize, usize)>> = vec![Vec::new(); topology.bodies.len()];
        for (number, e) in set.elements.iter().enumerate() {
            let mut at = e.jac;
            for &body in set.bodies(e) {
                by_body[body as usize].push((number, at));
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
    /// Rows that count, of each element from its first one on, by their numbers in the element; and how many they are.
    rows: Vec<u32>,
    counts: Vec<u32>,
    /// `C G`, laid out like `B`, where it is not `B G B^T` that is asked for.
    pub(super) weighted: Vec<f64>,
    /// The blocks of the right-hand factors one after another, transposed: their rows are added to rows of the matrix.
    transposed: Vec<f64>,
}

/// `target += left right` for the blocks of two elements on the same body, with 3 or 6 velocities; the right one is transposed.
#[derive(Clone, Copy, Debug)]
struct Product {
    left: u32,
    right: u32,
    /// Number of the block of the matrix, and where it starts.
    block: u32,
    target: u32,
}

/// The columns of a body in the rows of an element, and where they are transposed.
#[derive(Clone, Copy, Debug)]
struct Part {
    element: u32,
    /// First row of the element, and how many it has, whether they count or not.
    row: u32,
    height: u32,
    at: u32,
    stride: u32,
    transposed: u32,
    body: u32,
    dim: u32,
}

/// Offsets in tables of less than 2^32 numbers, 32 GB.
fn narrow(at: usize) -> u32 {
    u32::try_from(at).expect("tables of a model have less than 2^32 entries")
}

impl Products {
    /// For a matrix whose block of two elements has the number `block(left, right)`; blocks that are the transposes of others may have none.
    pub(super) fn new(
        topology: &Topology,
        set: &ElementSet,
        graph: &Graph,
        block: impl Fn(usize, usize) -> Option<usize>,
    ) -> Self {
        let (mut list, mut parts) = (Vec::new(), Vec::new());
        for (body, slots) in graph.by_body.iter().enumerate() {
            let dim = narrow(topology.bodies[body].kind.dim());
            let first = narrow(parts.len());
            for &(number, at) in slots {
                let e = &set.elements[number];
                let (element, row, height, stride) = (narrow(number), narrow(e.row), narrow(e.rows), narrow(e.dim));
                parts.push(Part {
                    element,
                    row,
                    height,
                    at: narrow(at),
                    stride,
                    transposed: 0,
                    body: narrow(body),
                    dim,
                });
            }
            for (left, &(a, _)) in (first..).zip(slots) {
                let product = |(right, &(b, _)): (u32, &(usize, usize))| {
                    Some(Product { left, right, block: narrow(block(a, b)?), target: 0 })
                };
                list.extend((first..).zip(slots).filter_map(product));
            }
        }
        let rows = set.elements.iter().flat_map(|e| 0..narrow(e.rows)).collect();
        let counts = set.elements.iter().map(|e| narrow(e.rows)).collect();
        let length = parts.iter().map(|part| part.dim as usize * set.elements[part.element as usize].rows).sum();
        Self { list, parts, rows, counts, weighted: Vec::new(), transposed: vec![0.0; length] }
    }

    /// Chooses the rows that count; `at` tells where the blocks of a matrix of these rows start, by their numbers.
    pub(super) fn choose(&mut self, set: &ElementSet, counts: impl Fn(usize) -> bool, at: impl Fn(usize) -> usize) {
        for (e, count) in set.elements.iter().zip(&mut self.counts) {
            *count = 0;
            for k in (0..e.rows).filter(|k| counts(e.row + k)) {
                self.rows[e.row + *count as usize] = narrow(k);
                *count += 1;
            }
        }
        let mut length = 0;
        for part in &mut self.parts {
            part.transposed = length;
            length += part.dim * self.counts[part.element as usize];
        }
        for product in &mut self.list {
            product.target = narrow(at(product.block as usize));
        }
    }

    /// Where the rows that count of a part are in the blocks of `B`.
    #[inline(always)]
    fn starts(&self, part: &Part) -> impl ExactSizeIterator<Item = usize> + '_ {
        let (at, stride) = (part.at as usize, part.stride as usize);
        let rows = &self.rows[part.row as usize..][..self.counts[part.element as usize] as usize];
        rows.iter().map(move |&k| at + k as usize * stride)
    }

    /// Fills `C G` of all rows: `multiply` replaces the part of a row of `C` that belongs to a body by its product with the block of that body.
    pub(super) fn weigh(&mut self, c: &[f64], mut multiply: impl FnMut(usize, &mut [f64])) {
        self.weighted.clear();
        self.weighted.extend_from_slice(c);
        for part in &self.parts {
            let (body, dim) = (part.body as usize, part.dim as usize);
            for k in 0..part.height {
                let row = &mut self.weighted[(part.at + k * part.stride) as usize..][..dim];
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

    /// Adds `B G B^T` for a symmetric `G`: `multiply` replaces the part of a row of `B` that belongs to a body by its product with the block of
    /// that body.
    pub(super) fn add_symmetric(&mut self, b: &[f64], mut multiply: impl FnMut(usize, &mut [f64]), values: &mut [f64]) {
        let mut transposed = core::mem::take(&mut self.transposed);
        for part in &self.parts {
            // The compiler then knows what is left to do in each case.
            match part.dim {
                3 => self.weigh_transposed::<3>(part, b, &mut multiply, &mut transposed),
                _ => self.weigh_transposed::<6>(part, b, &mut multiply, &mut transposed),
            }
        }
        self.transposed = transposed;
        self.add_products(b, values);
    }

    /// The transposed block of a body with `N` velocities, times the block of that body.
    #[inline(always)]
    fn weigh_transposed<const N: usize>(
        &self,
        part: &Part,
        b: &[f64],
        multiply: &mut impl FnMut(usize, &mut [f64]),
        transposed: &mut [f64],
    ) {
        let starts = self.starts(part);
        let rows = starts.len();
        let out = &mut transposed[part.transposed as usize..][..rows * N];
        for (k, start) in starts.enumerate() {
            let mut row: [f64; N] = *b[start..].first_chunk().expect("a column for each velocity");
            multiply(part.body as usize, &mut row);
            for (out, x) in out[k..].iter_mut().step_by(rows).zip(row) {
                *out = x;
            }
        }
    }

    /// Copies the blocks of a factor.
    fn transpose(&mut self, b: &[f64]) {
        let mut transposed = core::mem::take(&mut self.transposed);
        for part in &self.parts {
            let (starts, dim) = (self.starts(part), part.dim as usize);
            let rows = starts.len();
            let out = &mut transposed[part.transposed as usize..][..rows * dim];
            for (k, start) in starts.enumerate() {
                for (out, x) in out[k..].iter_mut().step_by(rows).zip(&b[start..start + dim]) {
                    *out = *x;
                }
            }
        }
        self.transposed = transposed;
    }

    fn add_products(&self, left: &[f64], values: &mut [f64]) {
        for p in &self.list {
            // Rows of constant length are multiplied without a loop.
            match self.parts[p.left as usize].dim {
                3 => self.add_product::<3>(p, left, values),
                _ => self.add_product::<6>(p, left, values),
            }
        }
    }

    /// Adds the product of the blocks of a body with `N` velocities.
    #[inline]
    fn add_product<const N: usize>(&self, p: &Product, left: &[f64], values: &mut [f64]) {
        let (to, part) = (&self.parts[p.left as usize], &self.parts[p.right as usize]);
        let cols = self.counts[part.element as usize] as usize;
        let (right, values) = (&self.transposed[part.transposed as usize..], &mut values[p.target as usize..]);
        match cols {
            0 => {}
            1 => self.add_rows::<N, 1>(to, left, right, values),
            2 => self.add_rows::<N, 2>(to, left, right, values),
            3 => self.add_rows::<N, 3>(to, left, right, values),
            4 => self.add_rows::<N, 4>(to, left, right, values),
            5 => self.add_rows::<N, 5>(to, left, right, values),
            6 => self.add_rows::<N, 6>(to, left, right, values),
            cols => {
                for (out, start) in values.chunks_exact_mut(cols).zip(self.starts(to)) {
                    for (l, right) in left[start..start + N].iter().zip(right.chunks_exact(cols)) {
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
    fn add_rows<const N: usize, const COLS: usize>(&self, to: &Part, left: &[f64], right: &[f64], values: &mut [f64]) {
        let right = right.as_chunks::<COLS>().0.first_chunk::<N>().expect("a row for each velocity");
        for (out, start) in values.as_chunks_mut::<COLS>().0.iter_mut().zip(self.starts(to)) {
            let left: &[f64; N] = left[start..].first_chunk().expect("a column for each velocity");
            let mut sum = *out;
            for (l, right) in left.iter().zip(right) {
                for (sum, r) in sum.iter_mut().zip(right) {
                    *sum += l * r;
                }
            }
            *out = sum;
        }
    }
}
