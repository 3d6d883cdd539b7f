//! Cuts kernels out of the graph: what is needed, in order of first need, with constants loaded from tables.

use rustc_hash::FxHashMap;

use crate::ir::{Bin, Graph, Input, Op, Rate, Reg, Un};

/// Numbered nodes of the graph that other kernels compute.
#[derive(Default)]
pub(super) struct Table {
    pub nodes: Vec<Reg>,
    numbers: FxHashMap<Reg, u32>,
}

impl Table {
    fn number(&mut self, node: Reg) -> u32 {
        let next = u32::try_from(self.nodes.len()).expect("fewer than 2^32 constants");
        *self.numbers.entry(node).or_insert_with(|| {
            self.nodes.push(node);
            next
        })
    }
}

/// Constants that the kernels of an element kind load: the largest sub-expressions of their rate.
#[derive(Default)]
pub(super) struct Tables {
    pub uniforms: Table,
    pub columns: Table,
    pub starts: Table,
}

/// Which constants a kernel loads instead of computing them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Hoist {
    /// All.
    All,
    /// Uniforms and columns: the kernel that computes the values at the start.
    Tables,
    /// None: the kernels that compute uniforms and columns.
    Nothing,
}

/// Instructions and outputs of a kernel.
pub(super) struct Emitted {
    pub ops: Vec<Op>,
    pub outputs: Vec<(u32, Reg)>,
}

struct Emitter<'a> {
    graph: &'a mut Graph,
    tables: &'a mut Tables,
    started: &'a [Reg],
    hoist: Hoist,
    /// How often each node of the graph is used.
    uses: Vec<u32>,
    ops: Vec<Op>,
    /// Register of the kernel for each node of the graph that it has.
    place: Vec<Option<Reg>>,
}

/// Emits the nodes that a kernel writes, given by offset, in order of offsets.
pub(super) fn emit(
    graph: &mut Graph,
    tables: &mut Tables,
    started: &[Reg],
    hoist: Hoist,
    roots: &[(u32, Reg)],
) -> Emitted {
    let uses = vec![0; graph.len()];
    let place = vec![None; graph.len()];
    let mut emitter = Emitter { graph, tables, started, hoist, uses, ops: Vec::new(), place };
    emitter.count_uses(roots);
    let mut outputs = Vec::with_capacity(roots.len());
    for &(offset, node) in roots {
        outputs.push((offset, emitter.value(node)));
    }
    Emitted { ops: emitter.ops, outputs }
}

impl Emitter<'_> {
    /// The node that stands for a value in this kernel: values at the start are computed where they are not loaded.
    fn resolve(&self, mut node: Reg) -> Reg {
        while self.hoist != Hoist::All
            && let Op::Load(Input::Start(k)) = self.graph.op(node)
        {
            node = self.started[k as usize];
        }
        node
    }

    /// Whether a node is loaded from a table.
    fn is_hoisted(&self, node: Reg) -> bool {
        match (self.graph.rate(node), self.hoist) {
            (Rate::Uniform | Rate::Column, Hoist::All | Hoist::Tables) | (Rate::Start, Hoist::All) => true,
            (Rate::Literal | Rate::Running, _) | (_, Hoist::Nothing) | (Rate::Start, Hoist::Tables) => false,
        }
    }

    /// The instruction for a node: a load from a table, or the operation itself.
    fn instruction(&mut self, node: Reg) -> Op {
        if self.is_hoisted(node) {
            return Op::Load(match self.graph.rate(node) {
                Rate::Literal | Rate::Uniform => Input::Uniform(self.tables.uniforms.number(node)),
                Rate::Column => Input::Column(self.tables.columns.number(node)),
                Rate::Start | Rate::Running => Input::Start(self.tables.starts.number(node)),
            });
        }
        self.absorb_sign(self.graph.op(node))
    }

    /// `-(a - b)` as `b - a`, and `-(c a)` as `(-c) a` where `c` is constant or such a difference, if what the sign stands before has
    /// no other use: the sign is free.
    fn absorb_sign(&mut self, op: Op) -> Op {
        let Op::Un(Un::Neg, inner) = op else { return op };
        if !self.is_used_once(inner) {
            return op;
        }
        match self.graph.op(inner) {
            Op::Bin(Bin::Sub, a, b) => Op::Bin(Bin::Sub, b, a),
            Op::Bin(f @ (Bin::Mul | Bin::Div), a, b) if self.has_free_sign(a) => Op::Bin(f, self.graph.neg(a), b),
            Op::Bin(f @ (Bin::Mul | Bin::Div), a, b) if self.has_free_sign(b) => Op::Bin(f, a, self.graph.neg(b)),
            Op::Const(_) | Op::Load(_) | Op::Un(..) | Op::Bin(..) | Op::Select(..) => op,
        }
    }

    /// Whether a node is computed in this kernel, for one use.
    fn is_used_once(&self, node: Reg) -> bool {
        self.uses.get(node.0 as usize) == Some(&1) && !self.is_hoisted(node)
    }

    fn has_free_sign(&self, node: Reg) -> bool {
        let is_difference = matches!(self.graph.op(node), Op::Bin(Bin::Sub, ..));
        self.graph.literal(node).is_some() || self.is_hoisted(node) || (is_difference && self.is_used_once(node))
    }

    fn count_uses(&mut self, roots: &[(u32, Reg)]) {
        let mut stack = Vec::new();
        for &(_, root) in roots {
            self.count_use(root, &mut stack);
        }
        while let Some(node) = stack.pop() {
            if self.is_hoisted(node) {
                continue;
            }
            for operand in self.graph.op(node).operands() {
                self.count_use(operand, &mut stack);
            }
        }
    }

    /// Counts a use of a node; of the first one the node is new.
    fn count_use(&mut self, node: Reg, new: &mut Vec<Reg>) {
        let node = self.resolve(node);
        let uses = &mut self.uses[node.0 as usize];
        *uses += 1;
        if *uses == 1 {
            new.push(node);
        }
    }

    /// Register of a node, if it has been emitted.
    fn placed(&self, node: Reg) -> Option<Reg> {
        // Signs that are absorbed make nodes that were not there at the start.
        self.place.get(node.0 as usize).copied().flatten()
    }

    /// Register of a node, emitting what it needs first.
    fn value(&mut self, root: Reg) -> Reg {
        let root = self.resolve(root);
        // A node is visited twice: first to push its operands, then, with their registers known, to emit it.
        let mut stack = vec![(root, None)];
        while let Some((node, ready)) = stack.pop() {
            if self.placed(node).is_some() {
                continue;
            }
            let Some(op) = ready else {
                let op = self.instruction(node);
                stack.push((node, Some(op)));
                stack.extend(op.operands().rev().map(|r| (self.resolve(r), None)));
                continue;
            };
            let at = |r: Reg| self.placed(self.resolve(r)).expect("operands are emitted first");
            let op = match op {
                Op::Const(_) | Op::Load(_) => op,
                Op::Un(f, a) => Op::Un(f, at(a)),
                Op::Bin(f, a, b) => Op::Bin(f, at(a), at(b)),
                Op::Select(c, a, b) => Op::Select(at(c), at(a), at(b)),
            };
            let r = Reg(u32::try_from(self.ops.len()).expect("fewer than 2^32 instructions"));
            self.ops.push(op);
            if self.place.len() <= node.0 as usize {
                self.place.resize(self.graph.len(), None);
            }
            self.place[node.0 as usize] = Some(r);
        }
        self.placed(root).expect("the root is emitted last")
    }
}
