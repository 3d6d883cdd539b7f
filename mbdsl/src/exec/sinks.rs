//! Sinks of a run: rows of a table on disk, samples for pictures.

use std::path::Path;

use mbdsl_runtime::state::{OMEGA, POS, ROT, STRIDE, State, VEL};
use mbdsl_runtime::system::System as _;

use super::csv_out::CsvOut;
use super::failure::Failure;
use super::record::{BodyMeta, Column, Meta, Sample, Trajectory};
use super::run::{Sink, Snapshot};
use super::session::{Loaded, Session, Setup};
use crate::model::BodyKind;
use crate::units::Dim;

/// Rows of a table when nobody says how many.
const ROWS: f64 = 10_000.0;

/// What the numbers of the samples of a run are.
#[must_use]
pub fn meta(loaded: &Loaded, session: &Session<'_>, setup: &Setup) -> Meta {
    let model = &loaded.compiled.model;
    let bodies = (0..model.body_count())
        .map(|k| {
            let (decl, _) = model.body_instance(k);
            BodyMeta { name: model.body_name(k), is_particle: model.bodies[decl].kind == BodyKind::Particle }
        })
        .collect();
    let system = &session.system;
    let mut rows = Vec::new();
    for (k, element) in system.topology().constraints.elements.iter().enumerate() {
        let name = system.constraint_name(k);
        for row in 0..element.rows {
            let label = system.row_name(k, row);
            let name = if label.is_empty() { name.clone() } else { format!("{name}.{label}") };
            rows.push(Column { name, unit: multiplier_unit(loaded, k, row) });
        }
    }
    let mut units = Vec::new();
    for output in &model.outputs {
        let scalars = output.set.count * model.pool.ty(output.value).len();
        units.extend(std::iter::repeat_n(output.dim.unit(), scalars));
    }
    let names = session.observers.columns();
    let outputs = names.iter().zip(units).map(|(name, unit)| Column { name: name.clone(), unit }).collect();
    Meta { model: model.name.clone(), stepper: setup.method.to_string(), bodies, rows, outputs }
}

/// Unit of a multiplier: energy over the dimension of its row.
fn multiplier_unit(loaded: &Loaded, element: usize, row: usize) -> String {
    let model = &loaded.compiled.model;
    let mut left = element;
    for e in model.elements.iter().filter(|e| !e.equations.is_empty()) {
        if left < e.set.count {
            let mut first = 0;
            for q in &e.equations {
                first += model.pool.ty(q.phi).len();
                if row < first {
                    return Dim::ENERGY.over(q.dim).unit();
                }
            }
        }
        left = left.saturating_sub(e.set.count);
    }
    String::new()
}

/// Reference frames instead of centres of mass: `pos = x - R com`, `vel = v - R (Omega x com)`.
#[derive(Clone, Debug)]
pub struct Frames {
    com: Vec<[f64; 3]>,
    z: Vec<f64>,
}

impl Frames {
    /// For the bodies of a model.
    #[must_use]
    pub fn new(com: &[[f64; 3]]) -> Self {
        Self { com: com.to_vec(), z: vec![0.0; com.len() * STRIDE] }
    }

    /// The bodies of a state, position and velocity of their reference frames.
    pub fn of(&mut self, state: &State) -> &[f64] {
        self.z.copy_from_slice(&state.z);
        for (body, com) in self.z.chunks_exact_mut(STRIDE).zip(&self.com) {
            if *com == [0.0; 3] {
                continue;
            }
            let omega = [body[OMEGA], body[OMEGA + 1], body[OMEGA + 2]];
            let swept = crate::symbolic::special::cross(omega, *com);
            for i in 0..3 {
                let row = [body[ROT + 3 * i], body[ROT + 3 * i + 1], body[ROT + 3 * i + 2]];
                body[POS + i] -= crate::symbolic::special::dot(row, *com);
                body[VEL + i] -= crate::symbolic::special::dot(row, swept);
            }
        }
        &self.z
    }
}

fn sample<'a>(snapshot: &Snapshot<'a>, z: &'a [f64]) -> Sample<'a> {
    let m = snapshot.measures;
    Sample {
        time: snapshot.state.t,
        kinetic: m.kinetic,
        potential: m.potential,
        position_residual: m.position_residual,
        velocity_residual: m.velocity_residual,
        acceleration_residual: m.acceleration_residual,
        orthogonality: m.orthogonality,
        outputs: snapshot.outputs,
        multipliers: snapshot.lambda,
        z,
    }
}

/// Keeps samples for pictures.
#[derive(Debug)]
pub struct Samples {
    /// What was kept.
    pub trajectory: Trajectory,
    frames: Frames,
}

impl Samples {
    /// Nothing kept yet.
    #[must_use]
    pub fn new(meta: Meta, loaded: &Loaded) -> Self {
        Self { trajectory: Trajectory::new(meta), frames: Frames::new(&loaded.binding.com) }
    }
}

impl Sink for Samples {
    fn see(&mut self, snapshot: &Snapshot<'_>) -> Result<(), Failure> {
        self.trajectory.push(&sample(snapshot, self.frames.of(snapshot.state)));
        Ok(())
    }
}

/// Writes rows at equal intervals.
#[derive(Debug)]
pub struct Table {
    writer: CsvOut,
    frames: Frames,
    every: f64,
    written: u64,
    /// Step of the last row.
    last: Option<u64>,
    steps: u64,
    slack: f64,
}

impl Table {
    /// Creates the file.
    ///
    /// # Errors
    /// If it cannot be created.
    pub fn create(path: &Path, meta: &Meta, loaded: &Loaded, setup: &Setup) -> Result<Self, Failure> {
        let writer = CsvOut::create(path, meta).map_err(io)?;
        let every = setup.every.unwrap_or(setup.until / ROWS);
        Ok(Self {
            writer,
            frames: Frames::new(&loaded.binding.com),
            every,
            written: 0,
            last: None,
            steps: setup.plan.steps,
            // Times of steps are rounded once: half a step decides which one is nearest.
            slack: 0.5 * setup.plan.step,
        })
    }

    /// Completes the file.
    ///
    /// # Errors
    /// If the last rows cannot be written.
    pub fn finish(self) -> Result<(), Failure> {
        self.writer.finish().map_err(io)
    }
}

fn io(e: super::csv_out::CsvError) -> Failure {
    Failure::Io { path: e.path, error: e.source.to_string() }
}

impl Sink for Table {
    fn see(&mut self, snapshot: &Snapshot<'_>) -> Result<(), Failure> {
        #[expect(clippy::cast_precision_loss, reason = "fewer rows than 2^53")]
        let due = self.written as f64 * self.every;
        let is_last = snapshot.n == self.steps;
        if snapshot.state.t + self.slack < due && !is_last {
            return Ok(());
        }
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count of intervals")]
        let passed = ((snapshot.state.t + self.slack) / self.every).floor() as u64;
        self.written = passed.saturating_add(1);
        self.last = Some(snapshot.n);
        self.writer.write(&sample(snapshot, self.frames.of(snapshot.state))).map_err(io)
    }

    fn end(&mut self, snapshot: &Snapshot<'_>) -> Result<(), Failure> {
        if self.last == Some(snapshot.n) {
            return Ok(());
        }
        self.writer.write(&sample(snapshot, self.frames.of(snapshot.state))).map_err(io)
    }
}
