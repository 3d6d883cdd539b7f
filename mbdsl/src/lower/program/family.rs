//! The instances of a declaration: the scope of its kernels, their constants, and the table of what each one touches.

use rustc_hash::FxHashMap;

use crate::formulate::Equations;
use crate::ir::program::{Family, Table};
use crate::ir::{Interface, Kernel, VerifiedKernel, verify};
use crate::lower::{Constants, ElementLowering, Foreign, LowerError, Output, Scope, foreign};
use crate::model::{BodyKind, IndexSet, Model};
use crate::source::Span;
use crate::symbolic::{BodyRef, ElementRef, ExprId, Instance, Ty};

use super::error::ProgramError;
use super::index::{Places, evaluate, shift};

/// What all families of a program share.
pub(super) struct Context<'a> {
    pub(super) model: &'a Model,
    pub(super) equations: &'a Equations,
    /// First scalar of each parameter.
    pub(super) params_offset: Vec<u32>,
    /// First scalar of the structural constants.
    consts_offset: u32,
    /// First scalar of each input.
    pub(super) signals_offset: Vec<u32>,
    bodies: Vec<Places>,
    elements: Vec<Places>,
    /// First row and number of rows of an instance, for each element declaration with equations.
    rows: FxHashMap<u32, (usize, usize)>,
    /// First memory cell of each angle.
    cells: FxHashMap<(u32, u32), usize>,
}

/// A statement with the context.
#[derive(Clone, Copy)]
pub(super) struct Site<'c, 'a> {
    pub(super) context: &'c Context<'a>,
    pub(super) span: Span,
}

impl<'a> Context<'a> {
    pub(super) fn new(model: &'a Model, equations: &'a Equations) -> Self {
        let (params_offset, consts_offset) = offsets(equations.pool.params());
        let (signals_offset, _) = offsets(equations.pool.inputs());
        let mut rows = FxHashMap::default();
        let mut row = 0;
        for c in &equations.constraints {
            rows.insert(number(c.element), (row, c.rows));
            row += c.rows * model.elements[c.element].set.count;
        }
        let mut cells = FxHashMap::default();
        let mut cell = 0;
        for a in &equations.angles {
            cells.insert((number(a.element), a.site), cell);
            cell += model.elements[a.element].set.count;
        }
        Self {
            model,
            equations,
            params_offset,
            consts_offset,
            signals_offset,
            bodies: model.bodies.iter().map(|b| Places::new(&b.set)).collect(),
            elements: model.elements.iter().map(|e| Places::new(&e.set)).collect(),
            rows,
            cells,
        }
    }

    pub(super) fn at(&self, span: Span) -> Site<'_, 'a> {
        Site { context: self, span }
    }

    /// First memory cell of an angle that keeps a memory.
    pub(super) fn first_cell(&self, element: usize, site: u32) -> usize {
        self.cells[&(number(element), site)]
    }
}

/// The first scalar of each value of some types, one after another, and the number of all.
fn offsets(types: &[Ty]) -> (Vec<u32>, u32) {
    let mut next = 0;
    let mut first = Vec::with_capacity(types.len());
    for ty in types {
        first.push(next);
        next += number(ty.len());
    }
    (first, next)
}

/// A number of the program.
pub(super) fn number(k: usize) -> u32 {
    u32::try_from(k).expect("fewer than 2^32 of anything")
}

/// A family under construction: what the names in its expressions stand for.
pub(super) struct Names {
    bodies: Vec<BodyRef>,
    particles: Vec<bool>,
    memories: Vec<(ElementRef, u32)>,
    symbols: Vec<(u32, u32)>,
    multipliers: Vec<(ElementRef, u32, u32)>,
    multiplier_len: usize,
    row_len: usize,
    vars: Vec<u32>,
    pub(super) reductions: Vec<ExprId>,
    pub(super) recorded: Vec<(ExprId, u32)>,
    recorded_len: usize,
}

impl Names {
    fn scope<'s>(&'s self, context: &'s Context<'_>) -> Scope<'s> {
        Scope {
            bodies: &self.bodies,
            particles: &self.particles,
            memories: &self.memories,
            lambda_symbols: &self.symbols,
            multipliers: &self.multipliers,
            params_offset: &context.params_offset,
            consts_offset: context.consts_offset,
            signals_offset: &context.signals_offset,
            indices: &self.vars,
            reductions: &self.reductions,
            recorded: &self.recorded,
        }
    }
}

impl Site<'_, '_> {
    /// What the names of some expressions stand for. `slots` fixes the order of the bodies, `groups` that of the
    /// rows of contraction symbols.
    pub(super) fn names(
        &self,
        set: &IndexSet,
        exprs: &[ExprId],
        slots: Option<&[BodyRef]>,
        groups: &[(u32, Ty)],
    ) -> Names {
        let pool = &self.context.equations.pool;
        let Foreign { bodies, memories, multipliers, symbols: _, reductions, recorded } = foreign(pool, exprs);
        let bodies = slots.map_or(bodies, <[BodyRef]>::to_vec);
        let kind = |b: &BodyRef| self.context.model.bodies[pool.body(*b).decl as usize].kind;
        let particles = bodies.iter().map(|b| kind(b) == BodyKind::Particle).collect();

        let mut row = 0;
        let mut symbols = Vec::new();
        for &(symbol, ty) in groups {
            symbols.push((symbol, number(row)));
            row += ty.len();
        }
        let mut multiplier_len = 0;
        let mut places = Vec::new();
        for (element, group, ty) in multipliers {
            places.push((element, group, number(multiplier_len)));
            multiplier_len += ty.len();
        }
        let mut recorded_len = 0;
        let mut records = Vec::new();
        for e in recorded {
            records.push((e, number(recorded_len)));
            recorded_len += pool.ty(e).len();
        }
        Names {
            bodies,
            particles,
            memories,
            symbols,
            multipliers: places,
            multiplier_len,
            row_len: row,
            vars: set.vars.clone(),
            reductions,
            recorded: records,
            recorded_len,
        }
    }

    /// Lowers the kernels of a family. Each is a name, outputs and a length.
    pub(super) fn family<const N: usize>(
        &self,
        name: &str,
        set: &IndexSet,
        names: &Names,
        kernels: [(&str, &[Output], usize); N],
    ) -> Result<(Family, [VerifiedKernel; N]), ProgramError> {
        let pool = &self.context.equations.pool;
        let mut lowering = ElementLowering::new(pool, names.scope(self.context));
        let mut lowered = Vec::with_capacity(N);
        for (kernel, outputs, size) in kernels {
            lowered.push(lowering.kernel(kernel, outputs, size).map_err(|e| self.lower_error(e))?);
        }
        let Constants { uniforms, columns, starts, interface } = lowering.finish();
        // The lowering does not know how many rows the symbols have.
        let interface = Interface {
            rows: names.row_len,
            multipliers: names.multiplier_len,
            recorded: names.recorded_len,
            ..interface
        };
        let family = Family {
            name: name.to_owned(),
            uniforms: self.verified(uniforms, &interface)?,
            columns: self.verified(columns, &interface)?,
            starts: self.verified(starts, &interface)?,
            table: self.table(set, names)?,
            interface,
        };
        let mut verified = Vec::with_capacity(N);
        for kernel in lowered {
            verified.push(self.verified(kernel, &family.interface)?);
        }
        let verified = verified.try_into().expect("as many kernels as were given");
        Ok((family, verified))
    }

    /// Lowers a condition on the index values of a set as a kernel that takes everything from parameters and indices.
    pub(super) fn condition(
        &self,
        name: &str,
        set: &IndexSet,
        condition: ExprId,
    ) -> Result<VerifiedKernel, ProgramError> {
        let names = self.names(set, &[condition], None, &[]);
        let mut lowering = ElementLowering::new(&self.context.equations.pool, names.scope(self.context));
        let outputs = [Output::dense(0, condition)];
        let kernel = lowering.setup_kernel(name, &outputs, 1).map_err(|e| self.lower_error(e))?;
        self.verified(kernel, &lowering.finish().interface)
    }

    fn verified(&self, kernel: Kernel, interface: &Interface) -> Result<VerifiedKernel, ProgramError> {
        verify(kernel, interface).map_err(|error| ProgramError::Verify { error, span: self.span })
    }

    pub(super) fn lower_error(&self, error: LowerError) -> ProgramError {
        ProgramError::Lower { error, span: self.span }
    }

    /// What each instance touches.
    fn table(&self, set: &IndexSet, names: &Names) -> Result<Table, ProgramError> {
        let Context { model, equations, bodies, elements, rows, cells, .. } = self.context;
        let pool = &equations.pool;
        let mut table = Table { count: set.count, indices: set.tuples.clone(), ..Table::default() };
        let mut indices = Vec::new();
        let width = names.bodies.len();
        table.slots = vec![0; set.count * width];
        for (slot, &b) in names.bodies.iter().enumerate() {
            let body = pool.body(b);
            let decl = &model.bodies[body.decl as usize];
            let places = &bodies[body.decl as usize];
            let column = table.slots.chunks_mut(width).map(|row| &mut row[slot]);
            if let Some(offset) = shift(pool, body, set).and_then(|shift| places.offset(set, shift)) {
                let offset = decl.first as i64 + offset;
                column.zip(&set.tuples).for_each(|(body, &i)| *body = (i64::from(i) + offset) as u32);
                continue;
            }
            for (k, slot) in column.enumerate() {
                let tuple = (set.vars.as_slice(), set.tuple(k));
                *slot = number(decl.first + self.place(body, places, &decl.name, tuple, &mut indices)?);
            }
        }
        if names.memories.is_empty() && names.multipliers.is_empty() {
            return Ok(table);
        }
        for k in 0..set.count {
            let tuple = (set.vars.as_slice(), set.tuple(k));
            let mut element_place = |element: ElementRef| {
                let element = pool.element(element);
                let decl = element.decl as usize;
                self.place(element, &elements[decl], &model.elements[decl].name, tuple, &mut indices)
            };
            for &(element, site) in &names.memories {
                let first = cells[&(pool.element(element).decl, site)];
                table.cells.push(number(first + element_place(element)?));
            }
            for &(element, group, first) in &names.multipliers {
                let decl = pool.element(element).decl;
                let (first_row, count) = rows[&decl];
                let row = first_row + element_place(element)? * count;
                let next = names.multipliers.iter().map(|m| m.2).find(|&m| m > first);
                let len = next.unwrap_or_else(|| number(names.multiplier_len)) - first;
                let group = self.group_row(decl, group);
                table.multipliers.extend((0..len).map(|c| number(row + group) + c));
            }
        }
        Ok(table)
    }

    /// First row of a group of equations in its element.
    fn group_row(&self, decl: u32, group: u32) -> usize {
        let kind = self.context.equations.constraints.iter().find(|c| number(c.element) == decl);
        kind.and_then(|c| c.groups.get(group as usize)).map_or(0, |g| g.row)
    }

    /// Place in its declaration of what an instance refers to; `indices` is room for its subscripts.
    fn place(
        &self,
        what: &Instance,
        places: &Places,
        name: &str,
        (vars, tuple): (&[u32], &[i32]),
        indices: &mut Vec<i64>,
    ) -> Result<usize, ProgramError> {
        indices.clear();
        for &i in &what.indices {
            let i = evaluate(&self.context.equations.pool, i, vars, tuple);
            indices.push(i.ok_or(ProgramError::Index { span: self.span })?);
        }
        places.of(indices).ok_or_else(|| {
            let indices: Vec<_> = indices.iter().map(i64::to_string).collect();
            ProgramError::Outside { name: format!("{name}[{}]", indices.join(",")), span: self.span }
        })
    }
}
