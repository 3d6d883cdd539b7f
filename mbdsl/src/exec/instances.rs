//! The constants of a family's instances for given parameters, and the evaluation of probes over them.

use mbdsl_runtime::checks;
use mbdsl_runtime::point::Point;

use crate::backend::engine::{Engine, Machine};
use crate::backend::inputs::Inputs;
use crate::backend::interp::TooManyRegisters;
use crate::ir::program::{Family, Fold, Probe, Reduction};
use crate::ir::{Bin, semantics};

/// A family with the constants of its instances.
#[derive(Debug)]
pub struct Instances<'p> {
    /// The family.
    pub family: &'p Family,
    numbers: Numbers,
    starts: Vec<f64>,
    /// Computes `starts`, where there are any.
    start: Option<Machine<'p>>,
}

/// Numbers of the instances that parameters and indices determine.
#[derive(Debug)]
struct Numbers {
    uniforms: Vec<f64>,
    columns: Vec<f64>,
    indices: Vec<f64>,
    /// Those of one instance.
    multipliers: Vec<f64>,
}

impl Numbers {
    #[inline]
    fn inputs<'a>(&'a self, family: &'a Family, k: usize, starts: &'a [f64], point: &Point<'a>) -> Inputs<'a> {
        Inputs {
            state: point.z,
            slots: family.slots(k),
            time: point.t,
            columns: part(&self.columns, k, family.interface.columns),
            uniforms: &self.uniforms,
            starts,
            memory: point.memory,
            cells: family.cells(k),
            multipliers: &self.multipliers,
            globals: point.globals,
            signals: point.signals,
            indices: part(&self.indices, k, family.interface.indices),
            ..Inputs::NONE
        }
    }
}

impl<'p> Instances<'p> {
    /// Computes the constants; those fixed at the start are zero until [`Instances::set_start`].
    ///
    /// # Errors
    /// If a kernel needs more registers than there are.
    pub fn new(family: &'p Family, params: &[f64], engine: &Engine) -> Result<Self, TooManyRegisters> {
        let i = &family.interface;
        let count = family.table.count;
        let mut uniforms = vec![0.0; i.uniforms];
        if i.uniforms > 0 {
            engine.machine(&family.uniforms)?.run(&Inputs { params, ..Inputs::NONE }, &mut uniforms);
        }
        let indices: Vec<f64> = family.table.indices.iter().map(|&i| f64::from(i)).collect();
        let mut columns = vec![0.0; count * i.columns];
        if i.columns > 0 {
            let mut machine = engine.machine(&family.columns)?;
            for (k, column) in columns.chunks_exact_mut(i.columns).enumerate() {
                machine.run(&Inputs { params, indices: part(&indices, k, i.indices), ..Inputs::NONE }, column);
            }
        }
        Ok(Self {
            family,
            numbers: Numbers { uniforms, columns, indices, multipliers: vec![0.0; i.multipliers] },
            starts: vec![0.0; count * i.starts],
            start: if i.starts > 0 { Some(engine.machine(&family.starts)?) } else { None },
        })
    }

    /// Number of instances.
    #[must_use]
    pub fn count(&self) -> usize {
        self.family.table.count
    }

    /// Computes what is fixed at the start.
    pub fn set_start(&mut self, point: &Point<'_>) {
        let Some(machine) = &mut self.start else { return };
        for (k, starts) in self.starts.chunks_exact_mut(self.family.interface.starts).enumerate() {
            machine.run(&self.numbers.inputs(self.family, k, &[], point), starts);
        }
    }

    /// Takes the multipliers of an instance from those of all rows, for its next inputs.
    pub fn gather_multipliers(&mut self, k: usize, point: &Point<'_>) {
        for (value, &row) in self.numbers.multipliers.iter_mut().zip(self.family.multipliers(k)) {
            *value = point.lambda.get(row as usize).copied().unwrap_or(f64::NAN);
        }
    }

    /// The inputs of an instance, without lambda, reductions and recorded values.
    #[inline]
    #[must_use]
    pub fn inputs<'a>(&'a self, k: usize, point: &Point<'a>) -> Inputs<'a> {
        let starts = part(&self.starts, k, self.family.interface.starts);
        self.numbers.inputs(self.family, k, starts, point)
    }
}

#[inline]
fn part(list: &[f64], k: usize, len: usize) -> &[f64] {
    &list[k * len..(k + 1) * len]
}

/// A probe that can be evaluated.
#[derive(Debug)]
pub struct Gauge<'p> {
    instances: Instances<'p>,
    value: Machine<'p>,
    out: Vec<f64>,
    reductions: Vec<Folding<'p>>,
    reduced: Vec<f64>,
    recordings: Vec<Recorder<'p>>,
    /// Recorded values of all instances.
    recorded: Vec<f64>,
}

/// A reduction that can be evaluated.
#[derive(Debug)]
struct Folding<'p> {
    reduction: &'p Reduction,
    terms: Gauge<'p>,
    /// One value for each instance of the probe, or one for all.
    values: Vec<f64>,
}

impl Folding<'_> {
    /// The terms for an instance of the probe.
    fn range(&self, k: usize) -> std::ops::Range<usize> {
        let k = if self.reduction.is_shared() { 0 } else { k };
        self.reduction.starts[k]..self.reduction.starts[k + 1]
    }
}

/// Values to be recorded at given times.
#[derive(Debug)]
struct Recorder<'p> {
    offset: usize,
    len: usize,
    gauge: Gauge<'p>,
    taken: checks::Recorder,
}

impl<'p> Gauge<'p> {
    /// Prepares a probe for given parameters.
    ///
    /// # Errors
    /// If a kernel needs more registers than there are.
    pub fn new(probe: &'p Probe, params: &[f64], engine: &Engine) -> Result<Self, TooManyRegisters> {
        let instances = Instances::new(&probe.family, params, engine)?;
        let count = instances.count();
        let mut reductions = Vec::with_capacity(probe.reductions.len());
        for reduction in &probe.reductions {
            let terms = Self::new(&reduction.terms, params, engine)?;
            reductions.push(Folding { reduction, terms, values: vec![0.0; reduction.starts.len() - 1] });
        }
        let mut recordings = Vec::with_capacity(probe.recordings.len());
        for r in &probe.recordings {
            let gauge = Self::new(&r.value, params, engine)?;
            recordings.push(Recorder { offset: r.offset, len: r.len, gauge, taken: checks::Recorder::new(count) });
        }
        Ok(Self {
            value: engine.machine(&probe.value)?,
            out: vec![0.0; probe.value.get().size],
            reduced: vec![0.0; reductions.len()],
            // What has not been reached yet is unknown.
            recorded: vec![f64::NAN; count * probe.family.interface.recorded],
            instances,
            reductions,
            recordings,
        })
    }

    /// Number of instances.
    #[must_use]
    pub fn count(&self) -> usize {
        self.instances.count()
    }

    /// Name of an instance.
    #[must_use]
    pub fn name(&self, k: usize) -> String {
        self.instances.family.instance_name(k)
    }

    /// Computes what is fixed at the start.
    pub fn set_start(&mut self, point: &Point<'_>) {
        self.instances.set_start(point);
        self.reductions.iter_mut().for_each(|r| r.terms.set_start(point));
        self.recordings.iter_mut().for_each(|r| r.gauge.set_start(point));
    }

    /// Computes the reductions at a point; to be called before [`Gauge::evaluate`] at that point.
    pub fn reduce(&mut self, point: &Point<'_>) {
        for folding in &mut self.reductions {
            let Folding { reduction, terms, values } = folding;
            terms.reduce(point);
            for (value, range) in values.iter_mut().zip(reduction.starts.windows(2)) {
                let mut total = None;
                for k in range[0]..range[1] {
                    let term = terms.evaluate(k, point)[0];
                    total = Some(total.map_or(term, |total: f64| match reduction.fold {
                        Fold::Sum | Fold::Mean => total + term,
                        Fold::Min => semantics::bin(Bin::Min, total, term),
                        Fold::Max => semantics::bin(Bin::Max, total, term),
                    }));
                }
                let total = total.unwrap_or(0.0);
                *value = match reduction.fold {
                    Fold::Mean => total / (range[1] - range[0]) as f64,
                    Fold::Sum | Fold::Min | Fold::Max => total,
                };
            }
        }
    }

    /// Values of an instance at a point whose reductions have been computed.
    pub fn evaluate(&mut self, k: usize, point: &Point<'_>) -> &[f64] {
        self.instances.gather_multipliers(k, point);
        for (value, folding) in self.reduced.iter_mut().zip(&self.reductions) {
            *value = folding.values[if folding.reduction.is_shared() { 0 } else { k }];
        }
        let recorded = part(&self.recorded, k, self.instances.family.interface.recorded);
        let inputs = Inputs { reduced: &self.reduced, recorded, ..self.instances.inputs(k, point) };
        self.value.run(&inputs, &mut self.out);
        &self.out
    }

    /// Records what is due: values at times that are nearer to this point than to any other step of length `step`.
    pub fn record(&mut self, point: &Point<'_>, step: f64) {
        let stride = self.instances.family.interface.recorded;
        self.reductions.iter_mut().for_each(|r| r.terms.record(point, step));
        for recorder in &mut self.recordings {
            let Recorder { offset, len, gauge, taken } = recorder;
            gauge.record(point, step);
            let mut reduced = false;
            for k in 0..gauge.count() {
                let time = gauge.evaluate(k, point)[0];
                if !taken.takes(k, time, point.t, step) {
                    continue;
                }
                if !std::mem::replace(&mut reduced, true) {
                    gauge.reduce(point);
                }
                let values = gauge.evaluate(k, point);
                self.recorded[k * stride + *offset..][..*len].copy_from_slice(&values[1..]);
            }
        }
    }

    /// Whether all values that an instance needs have been recorded.
    #[must_use]
    pub fn is_complete(&self, k: usize) -> bool {
        self.recordings.iter().all(|r| r.taken.is_complete(k))
            && self.reductions.iter().all(|r| r.range(k).all(|term| r.terms.is_complete(term)))
    }
}
