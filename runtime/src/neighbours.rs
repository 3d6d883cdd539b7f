//! Pairs of points nearer than a cutoff, found in time and memory that grow with the number of points, not of pairs.
//!
//! The list (L. Verlet, Phys. Rev. 159, 98, 1967) holds all pairs nearer than `cutoff + skin`, found by a grid of cells of
//! that width. With `a`, `b` the points of a pair and `a0`, `b0` where they were when the list was made,
//!
//! ```text
//! |a0 - b0| <= |a - b| + |a - a0| + |b - b0|
//! ```
//!
//! so that no pair nearer than the cutoff is missing as long as the largest displacements of both sides together are at most the
//! skin. Whatever moves the points (a step, a step that failed and is repeated, another state) is seen here: the list follows
//! from the points of the last call alone as far as it matters, since pairs beyond the cutoff contribute nothing.

use alloc::vec::Vec;
use core::ops::Range;

/// The skin, in cutoffs. A wider one is renewed less often and holds more pairs. With this one a list is 1.7 times as long as without;
/// in liquid argon ten to twenty steps of 10 fs move an atom by half of it, and renewing takes the time of six steps. A
/// half more or less of it changes the sum of both little.
const SKIN: f64 = 0.2;

/// What distances and displacements are widened by, relatively, so that their round-off, and that of whoever compares
/// again, does not count. Points differ by less than this if their coordinates are below 1e9 cutoffs.
const MARGIN: f64 = 1e-6;

/// Cells further from the origin than this count as one, so that quotients beyond hold no wrong digits of a cell.
const LAST_CELL: f64 = 4_294_967_296.0;

/// Coordinates of a cell.
type Cell = [i64; 3];

/// Where the points of one side of the pairs are, and where they were when the list was made.
#[derive(Clone, Debug)]
struct Side {
    points: Vec<[f64; 3]>,
    listed: Vec<[f64; 3]>,
}

impl Side {
    fn new(count: usize) -> Self {
        Self { points: vec![[0.0; 3]; count], listed: vec![[f64::NAN; 3]; count] }
    }

    /// Square of the largest displacement; NaN if one is not a number.
    fn largest_move(&self) -> f64 {
        let moves = self.points.iter().zip(&self.listed).map(|(a, b)| distance2(a, b));
        // NaN stays.
        moves.fold(0.0, |largest, x| if largest.is_nan() || x <= largest { largest } else { x })
    }
}

/// The neighbours of two lists of points. Memory: two copies of the points, a cell for each, and the pairs of the list.
#[derive(Clone, Debug)]
pub struct Neighbours {
    cutoff: f64,
    sides: [Side; 2],
    grid: Grid,
    /// Neighbours of the point that is looked at.
    near: Vec<u32>,
    pairs: Vec<[u32; 2]>,
}

/// Points by cell, in ascending order, each beside those that share its cell.
#[derive(Clone, Debug, Default)]
struct Grid {
    cells: Vec<(Cell, u32)>,
    points: Vec<[f64; 3]>,
}

impl Grid {
    fn fill(&mut self, points: &[[f64; 3]], width: f64) {
        self.cells.clear();
        for (point, k) in points.iter().zip(0..) {
            self.cells.extend(cell(point, width).map(|cell| (cell, k)));
        }
        self.cells.sort_unstable();
        self.points.clear();
        self.points.extend(self.cells.iter().map(|&(_, k)| points[k as usize]));
    }

    /// Appends the numbers of the points at some places that are within `reach` of a point.
    fn near(&self, places: Range<usize>, point: &[f64; 3], reach2: f64, out: &mut Vec<u32>) {
        let mut len = out.len();
        out.resize(len + places.len(), 0);
        for (other, &(_, k)) in self.points[places.clone()].iter().zip(&self.cells[places]) {
            // Written in any case: which are near is nothing that a processor could foresee.
            out[len] = k;
            len += usize::from(distance2(point, other) <= reach2);
        }
        out.truncate(len);
    }

    /// The places of all points in a cell and those around it: nine columns of three cells, which follow each other.
    fn around(&self, [x, y, z]: Cell) -> [Range<usize>; 9] {
        core::array::from_fn(|k| {
            let (x, y) = (x + k as i64 / 3 - 1, y + k as i64 % 3 - 1);
            let place = |z: i64| self.cells.partition_point(|(cell, _)| *cell < [x, y, z]);
            place(z - 1)..place(z + 2)
        })
    }
}

impl Neighbours {
    /// For so many points of the first and the second side. A cutoff that is not above zero has no pairs.
    #[must_use]
    pub fn new(counts: [usize; 2], cutoff: f64) -> Self {
        let grid = Grid { cells: Vec::with_capacity(counts[1]), points: Vec::with_capacity(counts[1]) };
        Self { cutoff, sides: counts.map(Side::new), grid, near: Vec::new(), pairs: Vec::new() }
    }

    /// Tells where point `k` of a side (0 or 1) is, m.
    pub fn place(&mut self, side: usize, k: usize, point: [f64; 3]) {
        self.sides[side].points[k] = point;
    }

    /// Makes the list anew if points have moved too far since it was made, and says whether it did. `admits` chooses among the
    /// pairs that are near enough.
    ///
    /// A new list is made in `O(n log n)` for `n` points with a bounded number of neighbours. It allocates where the list, or what
    /// surrounds a point, is longer by a half than ever before; other calls do not.
    pub fn update(&mut self, admits: impl FnMut(u32, u32) -> bool) -> bool {
        let moved: f64 = self.sides.iter().map(|side| crate::float::sqrt(side.largest_move())).sum();
        if moved <= SKIN * self.cutoff * (1.0 - MARGIN) {
            return false;
        }
        self.make(admits);
        true
    }

    /// The pairs of the list, of the first and the second side, in ascending order.
    #[must_use]
    pub fn pairs(&self) -> &[[u32; 2]] {
        &self.pairs
    }

    /// Whether a pair of the list can be nearer than the cutoff where the points are now.
    #[inline]
    #[must_use]
    pub fn is_near(&self, pair: usize) -> bool {
        let [a, b] = self.pairs[pair];
        let [p, q] = &self.sides;
        distance2(&p.points[a as usize], &q.points[b as usize]) <= self.cutoff * self.cutoff * (1.0 + MARGIN)
    }

    fn make(&mut self, mut admits: impl FnMut(u32, u32) -> bool) {
        for side in &mut self.sides {
            side.listed.copy_from_slice(&side.points);
        }
        self.pairs.clear();
        if self.cutoff.is_nan() || self.cutoff <= 0.0 {
            return;
        }
        let reach = (1.0 + SKIN) * self.cutoff;
        let (width, reach2) = (reach * (1.0 + MARGIN), reach * reach * (1.0 + MARGIN));
        let [p, q] = &self.sides;
        self.grid.fill(&q.points, width);
        let mut most = 0;
        // Neighbours in number are often neighbours in space.
        let mut known: Option<(Cell, [Range<usize>; 9])> = None;
        for (point, a) in p.points.iter().zip(0..) {
            let Some(own) = cell(point, width) else { continue };
            let around = match known.take() {
                Some((cell, around)) if cell == own => around,
                Some(_) | None => self.grid.around(own),
            };
            self.near.clear();
            for places in &around {
                most = most.max(self.near.len() + places.len());
                self.grid.near(places.clone(), point, reach2, &mut self.near);
            }
            self.near.retain(|&b| admits(a, b));
            self.near.sort_unstable();
            self.pairs.extend(self.near.iter().map(|&b| [a, b]));
            known = Some((own, around));
        }
        leave_room(&mut self.pairs, 0);
        leave_room(&mut self.near, most);
    }

    /// For how many pairs there is room: whoever keeps something for each pair makes as much.
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.pairs.capacity()
    }
}

/// Makes room for half as many entries again as a list has, or had at most.
fn leave_room<T>(list: &mut Vec<T>, most: usize) {
    let most = most.max(list.len());
    if list.capacity() < most + most / 2 {
        list.reserve(2 * most - list.len());
    }
}

/// The cell of a point; `None` if it is nowhere.
fn cell(point: &[f64; 3], width: f64) -> Option<Cell> {
    let is_finite = point.iter().all(|x| x.is_finite());
    #[expect(clippy::cast_possible_truncation, reason = "between the last cells")]
    let number = |x: f64| crate::float::floor(x / width).clamp(-LAST_CELL, LAST_CELL) as i64;
    is_finite.then(|| point.map(number))
}

#[inline]
fn distance2(a: &[f64; 3], b: &[f64; 3]) -> f64 {
    let [x, y, z] = [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
    x * x + y * y + z * z
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A sequence of numbers in 0..1 (Knuth's MMIX generator, upper bits).
    struct Random(u64);

    impl Random {
        fn next(&mut self) -> f64 {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (self.0 >> 11) as f64 / (1_u64 << 53) as f64
        }

        fn point(&mut self, size: f64) -> [f64; 3] {
            [(); 3].map(|()| size * (self.next() - 0.5))
        }
    }

    fn list(points: [&[[f64; 3]]; 2], cutoff: f64) -> Neighbours {
        let mut out = Neighbours::new(points.map(<[_]>::len), cutoff);
        place(&mut out, points);
        out
    }

    fn place(list: &mut Neighbours, points: [&[[f64; 3]]; 2]) {
        for (side, points) in points.iter().enumerate() {
            points.iter().enumerate().for_each(|(k, &point)| list.place(side, k, point));
        }
    }

    /// Every pair below the cutoff is in the list and near; the list is in order, each pair once, and none is out of reach.
    fn check(list: &Neighbours, points: [&[[f64; 3]]; 2], cutoff: f64, reach: f64) {
        let [p, q] = points;
        let mut wanted = Vec::new();
        for (a, b) in (0..p.len()).flat_map(|a| (0..q.len()).map(move |b| (a, b))) {
            if a < b && distance2(&p[a], &q[b]) < cutoff * cutoff {
                wanted.push([a as u32, b as u32]);
            }
        }
        assert!(list.pairs().windows(2).all(|w| w[0] < w[1]));
        let near: Vec<[u32; 2]> =
            list.pairs().iter().enumerate().filter(|&(k, _)| list.is_near(k)).map(|(_, &pair)| pair).collect();
        assert_eq!(near, wanted);
        let far = |&&[a, b]: &&[u32; 2]| distance2(&p[a as usize], &q[b as usize]) > reach * reach;
        assert_eq!(list.pairs().iter().find(far), None);
    }

    fn below(a: u32, b: u32) -> bool {
        a < b
    }

    #[test]
    fn all_near_pairs_are_found_wherever_points_are() {
        let mut random = Random(1);
        let gas: Vec<_> = (0..300).map(|_| random.point(10.0)).collect();
        let cluster: Vec<_> = (0..60).map(|_| random.point(0.5)).collect();
        // On the borders of cells, on both sides of the origin, and where no two cells are the same.
        let lattice: Vec<_> = (0..125).map(|k| [k % 5, k / 5 % 5, k / 25].map(|i| 1.2 * f64::from(i - 2))).collect();
        let mut scattered: Vec<_> = (0..40).map(|k| random.point(libm::exp(f64::from(k) * 17.0))).collect();
        scattered.extend(cluster.iter().map(|x| x.map(|x| x + 1e8)));
        let two_clusters: Vec<_> = cluster.iter().flat_map(|x| [*x, x.map(|x| x - 1e300)]).collect();
        for points in [&gas[..], &cluster, &lattice, &scattered, &two_clusters, &gas[..1], &[]] {
            let mut list = list([points, points], 1.0);
            assert_eq!(list.update(below), !points.is_empty());
            check(&list, [points, points], 1.0, 1.21);
        }
        let mut mixed = list([&gas, &cluster], 1.5);
        mixed.update(below);
        check(&mixed, [&gas, &cluster], 1.5, 1.81);
    }

    #[test]
    fn moving_points_are_followed_and_lists_last() {
        let mut random = Random(2);
        let mut points: Vec<_> = (0..200).map(|_| random.point(6.0)).collect();
        let speeds: Vec<_> = (0..200).map(|_| random.point(0.06)).collect();
        let mut list = list([&points, &points], 1.0);
        let mut renewed = 0;
        for step in 0..300 {
            place(&mut list, [&points, &points]);
            renewed += usize::from(list.update(below));
            check(&list, [&points, &points], 1.0, 1.41);
            // One of them jumps now and then, and comes back in the next step.
            let jump = if step % 50 == 20 {
                3.0
            } else if step % 50 == 21 {
                -3.0
            } else {
                0.0
            };
            points[7][0] += jump;
            points.iter_mut().zip(&speeds).for_each(|(x, v)| (0..3).for_each(|i| x[i] += v[i]));
        }
        // The fastest moves by at most 0.052 in a step, and 0.1 are allowed: every second step, and some jumps.
        assert!((30..=162).contains(&renewed), "{renewed}");
    }

    #[test]
    fn points_that_are_nowhere_have_no_neighbours_until_they_are_back() {
        let points = [[0.0; 3], [0.5, 0.0, 0.0]];
        let mut list = list([&points, &points], 1.0);
        list.place(0, 0, [f64::NAN; 3]);
        list.update(below);
        assert_eq!(list.pairs(), [[0_u32; 2]; 0]);
        list.place(0, 0, points[0]);
        assert!(list.update(below));
        assert_eq!(list.pairs(), [[0, 1]]);
        assert!(!list.update(below), "nothing has moved");
    }

    #[test]
    fn any_cutoff_is_possible() {
        let points = [[0.0; 3], [1e6, 0.0, 0.0]];
        for (cutoff, pairs) in [(f64::INFINITY, 1), (1e7, 1), (1.0, 0), (0.0, 0), (-1.0, 0), (f64::NAN, 0)] {
            let mut list = list([&points, &points], cutoff);
            list.update(below);
            assert_eq!(list.pairs().len(), pairs, "{cutoff}");
        }
    }
}
