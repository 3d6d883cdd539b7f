//! A verified kernel as a Rust function: a `let` for what is used more than once, expressions for the rest.
//!
//! The operations and their order of roundings are those of the kernel. What no destination asks for is left out. A
//! function of too many statements is cut into several, since the time that rustc takes grows faster than they do.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use proc_macro2::{Delimiter, Group, Ident, Literal, TokenStream, TokenTree};
use quote::{format_ident, quote};

use super::expr::{self, Expr, sign};
use super::names::{Names, ident};
use crate::ir::{Input, Kernel, Op, OperationCount, Reg, VerifiedKernel, count};

/// Operands in an expression that is not worth a name.
const INLINE: usize = 6;

/// Blocks of so many numbers, at least half of them zero, are written as zeros and entries.
const SPARSE: usize = 12;

/// Names that functions use for themselves.
const RESERVED: [&str; 26] = [
    "self", "k", "at", "t", "own", "shared", "start", "lambda", "lam", "mu", "jac", "out", "index", "params",
    "reduced", "recorded", "live", "rt", "q", "phi", "gamma", "block", "core", "f64", "u32", "z",
];

/// How a function of the module of a family gets at the inputs of an instance.
#[derive(Clone, Debug, Default)]
pub(super) struct Access {
    /// Names of the slots.
    pub slots: Vec<String>,
    /// The body in each slot: an expression of its number.
    pub bodies: Vec<TokenStream>,
    /// Expression of `&[f64; _]` for columns, uniforms, starts, multipliers of the rows, recorded values.
    pub own: TokenStream,
    pub shared: TokenStream,
    pub start: TokenStream,
    pub lambda: TokenStream,
    pub recorded: TokenStream,
    /// Index values.
    pub index: TokenStream,
    /// Memory cell of each continuous angle.
    pub cells: Vec<TokenStream>,
    /// Row of each multiplier.
    pub multipliers: Vec<TokenStream>,
}

/// What becomes of some outputs.
#[derive(Clone, Debug)]
pub(super) enum Destination {
    /// Stored in a list from an offset on.
    Store { list: TokenStream, at: TokenStream, range: Range<usize> },
    /// Added to a list from an offset on.
    Add { list: TokenStream, at: TokenStream, range: Range<usize> },
    /// Returned as an array.
    Array(Range<usize>),
    /// Returned as a number.
    Number(usize),
}

impl Destination {
    fn range(&self) -> Range<usize> {
        match self {
            Self::Store { range, .. } | Self::Add { range, .. } | Self::Array(range) => range.clone(),
            Self::Number(k) => *k..k + 1,
        }
    }
}

/// The head of a function.
#[derive(Clone, Debug, Default)]
pub(super) struct Head {
    /// Its name.
    pub name: String,
    /// What it computes.
    pub docs: String,
    /// Receiver, where there is one.
    pub has_self: bool,
    /// Parameters that are read: names and types.
    pub inputs: Vec<(Ident, TokenStream)>,
    /// Parameters that are written: names and types.
    pub outputs: Vec<(Ident, TokenStream)>,
    /// Type of the result.
    pub result: Option<TokenStream>,
}

/// A kernel as a function.
#[derive(Debug, Default)]
pub(super) struct Function {
    /// The function, and those that it was cut into.
    pub code: TokenStream,
    /// What it says beside expressions: types of its parameters, where it takes inputs from and puts results.
    pub frame: TokenStream,
}

/// Emits a kernel as a function, or several if it has more statements than `limit`.
pub(super) fn function(
    head: &Head,
    kernel: &VerifiedKernel,
    access: &Access,
    destinations: &[Destination],
    limit: usize,
) -> Function {
    let writer = Writer::new(kernel.get(), access, destinations);
    writer.write(head, destinations, limit.max(1))
}

struct Writer<'a> {
    kernel: &'a Kernel,
    access: &'a Access,
    /// Value of each output that is not zero.
    outputs: BTreeMap<u32, Reg>,
    /// Whether a value is needed.
    alive: Vec<bool>,
    /// Name of each value that has one.
    named: Vec<Option<Ident>>,
    slots: Vec<Ident>,
}

/// What a piece of code loads, as expressions.
#[derive(Default)]
struct Loads(BTreeMap<Input, Expr>);

impl Loads {
    fn any(&self, wanted: impl Fn(&Input) -> bool) -> bool {
        self.0.keys().any(wanted)
    }
}

impl<'a> Writer<'a> {
    fn new(kernel: &'a Kernel, access: &'a Access, destinations: &[Destination]) -> Self {
        let wanted = |offset: u32| destinations.iter().any(|d| d.range().contains(&(offset as usize)));
        let outputs: BTreeMap<u32, Reg> = kernel.outputs.iter().copied().filter(|&(o, _)| wanted(o)).collect();
        let mut uses = vec![0_usize; kernel.ops.len()];
        outputs.values().for_each(|r| uses[r.0 as usize] += 1);
        for (k, &op) in kernel.ops.iter().enumerate().rev() {
            if uses[k] > 0 {
                op.operands().for_each(|r| uses[r.0 as usize] += 1);
            }
        }
        let mut names = Names::reserving(&RESERVED);
        let slots: Vec<Ident> = access.slots.iter().map(|name| names.take_snake(name)).collect();
        let mut weight = vec![1_usize; kernel.ops.len()];
        let mut named = vec![None; kernel.ops.len()];
        let mut number = 0;
        for (k, &op) in kernel.ops.iter().enumerate() {
            if uses[k] == 0 || matches!(op, Op::Const(_) | Op::Load(_)) {
                continue;
            }
            let own: usize = op.operands().map(|r| weight[r.0 as usize]).sum();
            if uses[k] == 1 && own <= INLINE && !matches!(op, Op::Select(..)) {
                weight[k] = own;
            } else {
                named[k] = Some(temporary(number, &slots));
                number += 1;
            }
        }
        let alive = uses.iter().map(|&n| n > 0).collect();
        Self { kernel, access, outputs, alive, named, slots }
    }

    fn op(&self, r: Reg) -> Op {
        self.kernel.ops[r.0 as usize]
    }

    /// The operations that are executed.
    fn cost(&self) -> OperationCount {
        let ops = self.kernel.ops.iter().zip(&self.alive).filter(|(_, alive)| **alive).map(|(&op, _)| op).collect();
        count(&Kernel { name: String::new(), ops, outputs: Vec::new(), size: 0 })
    }

    fn write(&self, head: &Head, destinations: &[Destination], limit: usize) -> Function {
        let statements: Vec<Reg> =
            (0..self.kernel.ops.len() as u32).map(Reg).filter(|r| self.named[r.0 as usize].is_some()).collect();
        let parts: Vec<&[Reg]> = if statements.is_empty() { vec![&[]] } else { statements.chunks(limit).collect() };
        let live = self.live(&parts);
        let docs = format!(" {}: {}.", head.docs, self.cost());
        let mut out = Function::default();
        let mut calls = TokenStream::new();
        let count = Literal::usize_unsuffixed(live.len());
        for (number, part) in parts.iter().enumerate() {
            let is_last = number + 1 == parts.len();
            let mut loads = Loads::default();
            let mut frame = TokenStream::new();
            let mut body = self.statements(part, &parts[..number], &live, &mut loads);
            if is_last {
                for destination in destinations {
                    body.extend(self.deliver(destination, &parts[..number], &live, &mut loads, &mut frame));
                }
            } else {
                for (r, place) in live.iter().filter(|(r, _)| part.contains(r)) {
                    let name = &self.named[r.0 as usize];
                    let place = Literal::usize_unsuffixed(*place);
                    body.extend(quote!(live[#place] = #name;));
                }
            }
            let bindings = self.bindings(&loads, &mut frame);
            let name = if is_last { ident(&head.name) } else { format_ident!("{}_part{number}", head.name) };
            let declared = if is_last && !live.is_empty() {
                quote!(let live = &mut [0.0; #count]; #calls)
            } else {
                TokenStream::new()
            };
            frame.extend(declared.clone());
            let mut block = declared;
            block.extend(bindings);
            block.extend(body);
            let block = Group::new(Delimiter::Brace, block);
            let receiver = head.has_self.then(|| quote!(&self,));
            let names: Vec<String> =
                head.inputs.iter().chain(&head.outputs).map(|(name, _)| name.to_string()).collect();
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            let bound = mentioned(&frame, &names);
            let parameter = |(name, ty): &(Ident, TokenStream)| {
                let is_used = bound.iter().any(|bound| name == bound) || loads.any(|&input| name == source(input));
                let name = if is_used { name.clone() } else { format_ident!("_{name}") };
                quote!(#name: #ty,)
            };
            let inputs: TokenStream = head.inputs.iter().map(parameter).collect();
            if is_last {
                let outputs: TokenStream = head.outputs.iter().map(parameter).collect();
                let result = head.result.as_ref().map(|ty| quote!(-> #ty));
                out.code.extend(quote!(#[doc = #docs] pub(super) fn #name(#receiver #inputs #outputs) #result));
                frame.extend([inputs, outputs]);
            } else {
                let docs = format!(" Part {number} of `{}`.", head.name);
                let arguments = head.inputs.iter().map(|(name, _)| name);
                let callee = if head.has_self { quote!(self.#name) } else { quote!(Self::#name) };
                calls.extend(quote!(#callee(#(#arguments,)* live);));
                out.code.extend(quote!(#[doc = #docs] fn #name(#receiver #inputs live: &mut [f64; #count])));
            }
            out.code.extend([TokenTree::from(block)]);
            out.frame.extend(frame);
        }
        out
    }

    /// Places of the values that a later part needs.
    fn live(&self, parts: &[&[Reg]]) -> BTreeMap<Reg, usize> {
        let mut live = BTreeMap::new();
        if parts.len() == 1 {
            return live;
        }
        for (number, part) in parts.iter().enumerate() {
            let mut found = BTreeSet::new();
            for &r in *part {
                self.op(r).operands().for_each(|operand| self.collect(operand, &mut found));
            }
            if number + 1 == parts.len() {
                self.outputs.values().for_each(|&r| self.collect(r, &mut found));
            }
            for r in found {
                if parts[..number].iter().any(|earlier| earlier.contains(&r)) {
                    let place = live.len();
                    live.entry(r).or_insert(place);
                }
            }
        }
        live
    }

    /// The named values that an expression is made of.
    fn collect(&self, r: Reg, found: &mut BTreeSet<Reg>) {
        if self.named[r.0 as usize].is_some() {
            found.insert(r);
        } else {
            self.op(r).operands().for_each(|operand| self.collect(operand, found));
        }
    }

    fn statements(
        &self,
        part: &[Reg],
        earlier: &[&[Reg]],
        live: &BTreeMap<Reg, usize>,
        loads: &mut Loads,
    ) -> TokenStream {
        let mut out = Vec::new();
        for &r in part {
            let Some(name) = &self.named[r.0 as usize] else { continue };
            out.extend([ident("let").into(), name.clone().into(), sign('=')]);
            out.extend(self.operation(r, earlier, live, loads).into_tokens());
            out.push(sign(';'));
        }
        out.into_iter().collect()
    }

    /// A value where it is used: a name, a number, an input, or the expression itself.
    fn value(&self, r: Reg, earlier: &[&[Reg]], live: &BTreeMap<Reg, usize>, loads: &mut Loads) -> Expr {
        if let Some(name) = &self.named[r.0 as usize] {
            return match live.get(&r) {
                Some(&place) if earlier.iter().any(|part| part.contains(&r)) => {
                    let place = Literal::usize_unsuffixed(place);
                    Expr::atom(quote!(live[#place]))
                }
                _ => Expr::name(name.clone()),
            };
        }
        self.operation(r, earlier, live, loads)
    }

    fn operation(&self, r: Reg, earlier: &[&[Reg]], live: &BTreeMap<Reg, usize>, loads: &mut Loads) -> Expr {
        let mut value = |r: Reg| self.value(r, earlier, live, loads);
        match self.op(r) {
            Op::Const(bits) => Expr::number(f64::from_bits(bits)),
            Op::Load(input) => loads.0.entry(input).or_insert_with(|| self.load(input)).clone(),
            Op::Un(op, a) => expr::un(op, value(a)),
            Op::Bin(op, a, b) => expr::bin(op, value(a), value(b)),
            Op::Select(c, a, b) => expr::select(value(c), value(a), value(b)),
        }
    }

    fn load(&self, input: Input) -> Expr {
        let list = ident(source(input));
        let element = |k: u32| {
            let k = Literal::u32_unsuffixed(k);
            Expr::atom(quote!(#list[#k]))
        };
        match input {
            Input::State { slot, component } => Expr::name(self.component(slot, component)),
            Input::Time => Expr::atom(quote!(t)),
            Input::Column(k)
            | Input::Uniform(k)
            | Input::Start(k)
            | Input::Lambda(k)
            | Input::Reduced(k)
            | Input::Recorded(k)
            | Input::Param(k)
            | Input::Index(k)
            | Input::Iterate(k) => element(k),
            Input::Signal(k) => {
                let k = Literal::u32_unsuffixed(k);
                Expr::atom(quote!(at.signals[#k]))
            }
            Input::Memory(k) => Expr::name(format_ident!("angle{k}")),
            Input::Multiplier(k) => Expr::name(format_ident!("multiplier{k}")),
            Input::Global(k) => {
                let k = Literal::u8_unsuffixed(k);
                Expr::atom(quote!(at.globals[#k]))
            }
        }
    }

    /// Name of a number of a body: `top_r12`.
    fn component(&self, slot: u16, component: u8) -> Ident {
        let slot = &self.slots[usize::from(slot)];
        match component {
            0..3 => format_ident!("{slot}_x{component}"),
            3..12 => format_ident!("{slot}_r{}{}", (component - 3) / 3, (component - 3) % 3),
            12..15 => format_ident!("{slot}_v{}", component - 12),
            15.. => format_ident!("{slot}_w{}", component - 15),
        }
    }

    /// The statements that give the inputs their names. Where they take them from is added to the frame.
    fn bindings(&self, loads: &Loads, frame: &mut TokenStream) -> TokenStream {
        let access = self.access;
        let mut out = TokenStream::new();
        let lists = [
            ("shared", &access.shared),
            ("own", &access.own),
            ("start", &access.start),
            ("lambda", &access.lambda),
            ("recorded", &access.recorded),
            ("index", &access.index),
        ];
        for (name, value) in lists {
            // An empty expression stands for a parameter of that name.
            if !value.is_empty() && loads.any(|&input| source(input) == name) {
                let name = ident(name);
                out.extend(quote!(let #name = #value;));
                frame.extend(value.clone());
            }
        }
        let mut last = None;
        for (&input, value) in &loads.0 {
            match input {
                Input::State { slot, component } => {
                    let body = &self.slots[usize::from(slot)];
                    if last.replace(slot) != Some(slot) {
                        let number = &access.bodies[usize::from(slot)];
                        out.extend(quote!(let #body = at.body(#number);));
                        frame.extend(number.clone());
                    }
                    let component = Literal::u8_unsuffixed(component);
                    out.extend(quote!(let #value = #body[#component];));
                }
                Input::Time => out.extend(quote!(let t = at.t;)),
                Input::Memory(k) => {
                    let cell = &access.cells[k as usize];
                    out.extend(quote!(let #value = at.angle(#cell);));
                    frame.extend(cell.clone());
                }
                Input::Multiplier(k) => {
                    let row = &access.multipliers[k as usize];
                    out.extend(quote!(let #value = at.multiplier(#row);));
                    frame.extend(row.clone());
                }
                Input::Column(_)
                | Input::Uniform(_)
                | Input::Start(_)
                | Input::Lambda(_)
                | Input::Global(_)
                | Input::Reduced(_)
                | Input::Recorded(_)
                | Input::Param(_)
                | Input::Signal(_)
                | Input::Index(_)
                | Input::Iterate(_) => {}
            }
        }
        out
    }

    /// The code that delivers outputs. Where they go is added to the frame.
    fn deliver(
        &self,
        destination: &Destination,
        earlier: &[&[Reg]],
        live: &BTreeMap<Reg, usize>,
        loads: &mut Loads,
        frame: &mut TokenStream,
    ) -> TokenStream {
        let range = destination.range();
        let full = range.clone().filter(|k| self.outputs.contains_key(&(*k as u32))).count();
        let len = Literal::usize_unsuffixed(range.len());
        let mut value = |k: usize| match self.outputs.get(&(k as u32)) {
            Some(&r) => self.value(r, earlier, live, loads).into_tokens(),
            None => vec![Literal::f64_unsuffixed(0.0).into()],
        };
        if let Destination::Number(k) = destination {
            return value(*k).into_iter().collect();
        }
        let is_zero = full == 0;
        match destination {
            Destination::Store { .. } | Destination::Add { .. } if range.is_empty() => return TokenStream::new(),
            Destination::Add { .. } if is_zero => return TokenStream::new(),
            Destination::Store { list, at, .. } | Destination::Add { list, at, .. } => {
                frame.extend([list.clone(), at.clone()]);
            }
            Destination::Array(_) | Destination::Number(_) => {}
        }
        if let Destination::Store { list, at, .. } = destination
            && !is_zero
            && range.len() >= SPARSE
            && 2 * full <= range.len()
        {
            let mut out = quote!(let block = rt::block_mut::<#len>(#list, #at); *block = [0.0; #len];);
            for (place, k) in range.enumerate().filter(|(_, k)| self.outputs.contains_key(&(*k as u32))) {
                let place = Literal::usize_unsuffixed(place);
                out.extend(quote!(block[#place] =));
                out.extend(value(k));
                out.extend([sign(';')]);
            }
            return out;
        }
        let values = if is_zero { quote!([0.0; #len]) } else { array(range.map(value)) };
        match destination {
            Destination::Store { list, at, .. } => quote!(*rt::block_mut(#list, #at) = #values;),
            Destination::Add { list, at, .. } => quote!(rt::add(#list, #at, #values);),
            Destination::Array(_) | Destination::Number(_) => values,
        }
    }
}

/// The list or parameter that an input is read from.
fn source(input: Input) -> &'static str {
    match input {
        Input::Column(_) => "own",
        Input::Uniform(_) => "shared",
        Input::Start(_) => "start",
        Input::Lambda(_) => "lambda",
        Input::Reduced(_) => "reduced",
        Input::Recorded(_) => "recorded",
        Input::Param(_) => "params",
        Input::Index(_) => "index",
        Input::Iterate(_) => "y",
        Input::Signal(_)
        | Input::Global(_)
        | Input::State { .. }
        | Input::Time
        | Input::Memory(_)
        | Input::Multiplier(_) => "at",
    }
}

/// Values in brackets, with commas between them.
fn array(values: impl Iterator<Item = Vec<TokenTree>>) -> TokenStream {
    let mut list = Vec::new();
    for value in values {
        if !list.is_empty() {
            list.push(sign(','));
        }
        list.extend(value);
    }
    TokenTree::from(Group::new(Delimiter::Bracket, list.into_iter().collect())).into()
}

/// The name of a value, which no body has.
fn temporary(number: usize, slots: &[Ident]) -> Ident {
    let mut name = format!("t{number}");
    while slots.iter().any(|slot| *slot == name) {
        name.push('_');
    }
    ident(&name)
}

/// Whether a name occurs in some code.
pub(super) fn mentions(code: &TokenStream, name: &Ident) -> bool {
    !mentioned(code, &[name.to_string().as_str()]).is_empty()
}

/// Those of some names that occur in some code, found in one pass.
pub(super) fn mentioned<'n>(code: &TokenStream, names: &[&'n str]) -> Vec<&'n str> {
    fn collect<'n>(code: TokenStream, names: &[&'n str], found: &mut Vec<&'n str>) {
        for tree in code {
            match tree {
                TokenTree::Ident(word) => {
                    if let Some(name) = names.iter().find(|name| word == **name)
                        && !found.contains(name)
                    {
                        found.push(name);
                    }
                }
                TokenTree::Group(group) => collect(group.stream(), names, found),
                TokenTree::Punct(_) | TokenTree::Literal(_) => {}
            }
            if found.len() == names.len() {
                return;
            }
        }
    }
    let mut found = Vec::new();
    collect(code.clone(), names, &mut found);
    found
}
