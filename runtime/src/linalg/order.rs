//! Elimination order of a graph of blocks by minimum degree, with the fill that it causes.

use alloc::collections::BTreeSet;
use alloc::vec::Vec;

/// An elimination order with its symbolic factorisation.
#[derive(Clone, Debug, Default)]
pub struct Elimination {
    /// Nodes in the order of their elimination.
    pub order: Vec<usize>,
    /// Per node: its place in `order`.
    pub place: Vec<usize>,
    /// Per node: the neighbours that are eliminated after it, fill included, by place.
    pub later: Vec<Vec<usize>>,
}

/// Orders the nodes of an undirected graph for block elimination.
///
/// `sizes`: rows of each node; `edges`: pairs of nodes (in any direction, repetitions allowed); `after`: pairs
/// `(node, earlier)`, `node` becomes eligible only when `earlier` has been eliminated (no cycles, or the nodes on them
/// are taken last). Among the eligible nodes the one with the fewest rows in its neighbourhood is next, ties in the
/// order of numbers. Cost and memory: `O(sum of squared neighbourhoods)`, the block count of the numeric phase;
/// linear for chains and for trees of bounded degree.
#[must_use]
pub fn minimum_degree(sizes: &[usize], edges: &[(usize, usize)], after: &[(usize, usize)]) -> Elimination {
    let n = sizes.len();
    let mut adjacent: Vec<Vec<usize>> = vec![Vec::new(); n];
    for &(a, b) in edges {
        if a != b {
            adjacent[a].push(b);
            adjacent[b].push(a);
        }
    }
    for list in &mut adjacent {
        list.sort_unstable();
        list.dedup();
    }
    let mut waits = vec![0_usize; n];
    let mut releases: Vec<Vec<usize>> = vec![Vec::new(); n];
    for &(node, earlier) in after {
        waits[node] += 1;
        releases[earlier].push(node);
    }

    // Key: (waiting, rows in the neighbourhood, node). Waiting nodes sort last, so cycles cannot stop the loop.
    let key = |node: usize, waits: &[usize], adjacent: &[Vec<usize>]| {
        let rows: usize = adjacent[node].iter().map(|&m| sizes[m]).sum();
        (waits[node] > 0, rows, node)
    };
    let mut keys: Vec<_> = (0..n).map(|i| key(i, &waits, &adjacent)).collect();
    let mut queue: BTreeSet<_> = keys.iter().copied().collect();
    let mut out = Elimination { order: Vec::with_capacity(n), place: vec![0; n], later: vec![Vec::new(); n] };
    let mut merged = Vec::new();
    while let Some((_, _, node)) = queue.pop_first() {
        out.place[node] = out.order.len();
        out.order.push(node);
        let clique = core::mem::take(&mut adjacent[node]);
        for &m in &clique {
            merge_without(&adjacent[m], &clique, node, m, &mut merged);
            core::mem::swap(&mut adjacent[m], &mut merged);
        }
        for released in core::mem::take(&mut releases[node]) {
            waits[released] -= 1;
            refresh(&mut queue, &mut keys, released, key(released, &waits, &adjacent));
        }
        for &m in &clique {
            refresh(&mut queue, &mut keys, m, key(m, &waits, &adjacent));
        }
        out.later[node] = clique;
    }
    for list in &mut out.later {
        list.sort_unstable_by_key(|&m| out.place[m]);
    }
    out
}

/// Replaces the key of a node that is still in the queue.
fn refresh<K: Ord + Copy>(queue: &mut BTreeSet<K>, keys: &mut [K], node: usize, new: K) {
    if keys[node] != new && queue.remove(&keys[node]) {
        queue.insert(new);
        keys[node] = new;
    }
}

/// Union of two sorted lists without two nodes.
fn merge_without(a: &[usize], b: &[usize], skip: usize, also: usize, out: &mut Vec<usize>) {
    out.clear();
    let (mut i, mut j) = (0, 0);
    while i < a.len() || j < b.len() {
        let next = if j == b.len() || (i < a.len() && a[i] <= b[j]) {
            if j < b.len() && a[i] == b[j] {
                j += 1;
            }
            i += 1;
            a[i - 1]
        } else {
            j += 1;
            b[j - 1]
        };
        if next != skip && next != also {
            out.push(next);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chain_has_bounded_fill_and_waits_for_bodies() {
        // Bodies 0..n, joints n..2n between body i-1 and body i (the first one to ground).
        let n = 20_000;
        let mut edges = Vec::new();
        for i in 0..n {
            edges.push((n + i, i));
            if i > 0 {
                edges.push((n + i, i - 1));
            }
        }
        let out = minimum_degree(&vec![3; 2 * n], &edges, &edges);
        assert_eq!(out.order.len(), 2 * n);
        for &(joint, body) in &edges {
            assert!(out.place[joint] > out.place[body]);
        }
        let fill: usize = out.later.iter().map(Vec::len).sum();
        assert!(fill <= 4 * n, "{fill}");
    }

    #[test]
    fn star_takes_the_leaves_first() {
        let edges: Vec<_> = (1..1000).map(|i| (0, i)).collect();
        let out = minimum_degree(&vec![1; 1000], &edges, &[]);
        assert!(out.place[0] >= 998);
        assert!(out.later.iter().all(|l| l.len() <= 1));
    }
}
