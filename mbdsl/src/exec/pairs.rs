//! Forces between pairs of bodies that are found during a run.

use mbdsl_runtime::neighbours::Neighbours;
use mbdsl_runtime::point::Point;

use super::instances::Gauge;
use crate::backend::engine::{Engine, Machine};
use crate::backend::inputs::Inputs;
use crate::backend::interp::TooManyRegisters;
use crate::ir::program::{Pair, Program};

/// The pairs of a declaration.
#[derive(Debug)]
pub struct PairRoutines<'p> {
    points: [Gauge<'p>; 2],
    neighbours: Neighbours,
    list: List<'p>,
    energy: Machine<'p>,
    energy_out: [f64; 1],
    force: Machine<'p>,
    force_out: Vec<f64>,
}

/// What the kernels load of each pair of the neighbours.
#[derive(Debug)]
struct List<'p> {
    sides: [Side; 2],
    params: Vec<f64>,
    uniforms: Vec<f64>,
    admits: Machine<'p>,
    columns: Machine<'p>,
    /// Numbers of a pair: index values, where the kernels load them, and columns.
    widths: [usize; 2],
    /// Of each pair, one after another: bodies, index values, columns.
    slots: Vec<u32>,
    indices: Vec<f64>,
    numbers: Vec<f64>,
    /// Index values of the pair that is looked at.
    tuple: Vec<f64>,
}

/// The bodies of a declaration: the number of the first one among all, and the index values of each.
#[derive(Debug)]
struct Side {
    first: u32,
    width: usize,
    indices: Vec<f64>,
}

impl Side {
    fn tuple(&self, k: u32) -> &[f64] {
        &self.indices[k as usize * self.width..(k as usize + 1) * self.width]
    }
}

impl List<'_> {
    fn admits(&mut self, a: u32, b: u32) -> bool {
        self.look_at(a, b);
        let mut truth = [0.0];
        self.admits.run(&Inputs { params: &self.params, indices: &self.tuple, ..Inputs::NONE }, &mut truth);
        truth[0] != 0.0
    }

    fn look_at(&mut self, a: u32, b: u32) {
        let [p, q] = &self.sides;
        self.tuple.clear();
        self.tuple.extend(p.tuple(a).iter().chain(q.tuple(b)));
    }

    /// Computes the numbers of all pairs, with room for as many as the neighbours have.
    fn fill(&mut self, neighbours: &Neighbours) {
        let (pairs, room) = (neighbours.pairs(), neighbours.capacity());
        let first = self.sides.each_ref().map(|side| side.first);
        let [width, columns] = self.widths;
        self.slots.clear();
        self.slots.reserve(2 * room);
        self.indices.clear();
        self.indices.reserve(width * room);
        self.numbers.clear();
        self.numbers.reserve(columns * room);
        self.numbers.resize(columns * pairs.len(), 0.0);
        for (k, &[a, b]) in pairs.iter().enumerate() {
            self.look_at(a, b);
            self.slots.extend([first[0] + a, first[1] + b]);
            self.indices.extend(&self.tuple[..width]);
            let inputs = Inputs { params: &self.params, indices: &self.tuple, ..Inputs::NONE };
            self.columns.run(&inputs, &mut self.numbers[columns * k..columns * (k + 1)]);
        }
    }

    fn inputs<'a>(&'a self, k: usize, point: &Point<'a>) -> Inputs<'a> {
        let [width, columns] = self.widths;
        Inputs {
            state: point.z,
            slots: &self.slots[2 * k..2 * (k + 1)],
            time: point.t,
            columns: &self.numbers[columns * k..columns * (k + 1)],
            uniforms: &self.uniforms,
            signals: point.signals,
            indices: &self.indices[width * k..width * (k + 1)],
            ..Inputs::NONE
        }
    }
}

impl<'p> PairRoutines<'p> {
    /// Prepares the pairs of a declaration of `program` for given parameters.
    ///
    /// # Errors
    /// If a kernel needs more registers than there are.
    pub fn new(program: &Program, pair: &'p Pair, params: &[f64], engine: &Engine) -> Result<Self, TooManyRegisters> {
        let family = &pair.family;
        let mut uniforms = vec![0.0; family.interface.uniforms];
        engine.machine(&family.uniforms)?.run(&Inputs { params, ..Inputs::NONE }, &mut uniforms);
        let distance = Gauge::new(&pair.distance, params, engine)?.evaluate(0, &Point::NONE)[0];
        let points = [Gauge::new(&pair.points[0], params, engine)?, Gauge::new(&pair.points[1], params, engine)?];
        let counts = [points[0].count(), points[1].count()];
        let sides = pair.bodies.map(|body| {
            let body = &program.bodies[body];
            let family = &body.setup.family;
            let first = u32::try_from(body.first).expect("fewer than 2^32 bodies");
            let indices = family.table.indices.iter().map(|&i| f64::from(i)).collect();
            Side { first, width: family.interface.indices, indices }
        });
        Ok(Self {
            points,
            neighbours: Neighbours::new(counts, distance),
            list: List {
                sides,
                params: params.to_vec(),
                uniforms,
                admits: engine.machine(&pair.admits)?,
                columns: engine.machine(&family.columns)?,
                widths: [if pair.loads_indices() { family.interface.indices } else { 0 }, family.interface.columns],
                slots: Vec::new(),
                indices: Vec::new(),
                numbers: Vec::new(),
                tuple: Vec::with_capacity(family.interface.indices),
            },
            energy: engine.machine(&pair.energy)?,
            energy_out: [0.0],
            force: engine.machine(&pair.force)?,
            force_out: vec![0.0; pair.dim],
        })
    }

    /// Finds the pairs at a point, before their forces and energies there are asked for.
    pub fn find(&mut self, point: &Point<'_>) {
        for (side, points) in self.points.iter_mut().enumerate() {
            for k in 0..points.count() {
                if let &[x, y, z] = points.evaluate(k, point) {
                    self.neighbours.place(side, k, [x, y, z]);
                }
            }
        }
        if self.neighbours.update(|a, b| self.list.admits(a, b)) {
            self.list.fill(&self.neighbours);
        }
    }

    /// The pairs that are near, in order: the bodies and the generalised force on each.
    pub fn forces(&mut self, point: &Point<'_>, mut add: impl FnMut(&[u32], &[f64])) {
        for k in (0..self.neighbours.pairs().len()).filter(|&k| self.neighbours.is_near(k)) {
            let inputs = self.list.inputs(k, point);
            self.force.run(&inputs, &mut self.force_out);
            add(inputs.slots, &self.force_out);
        }
    }

    /// Adds the energies of the pairs that are near, in order.
    pub fn add_energy(&mut self, point: &Point<'_>, sum: &mut f64) {
        for k in (0..self.neighbours.pairs().len()).filter(|&k| self.neighbours.is_near(k)) {
            self.energy.run(&self.list.inputs(k, point), &mut self.energy_out);
            *sum += self.energy_out[0];
        }
    }
}
