//! What a run keeps for pictures: the samples of a run thinned to a bounded number of rows.

use mbdsl_runtime::state::{OMEGA, POS, ROT, STRIDE, VEL};

/// Kept samples at most: a few per pixel of a wide picture.
const MOST_SAMPLES: usize = 4000;
/// Kept samples at least, however wide a row is: enough for a curve.
const FEWEST_SAMPLES: usize = 256;
/// Kept numbers at most (128 MiB): a chain of a thousand bodies keeps about 750 samples.
const MOST_NUMBERS: usize = 1 << 24;

/// A body of the recorded model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BodyMeta {
    /// Name as in the model: `top`, `link[3]`.
    pub name: String,
    /// Particles have neither rotation nor angular velocity.
    pub is_particle: bool,
}

/// A scalar of a sample that is not part of the state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    /// Name with component: `cm.x`; of a constraint row `pivot.x`.
    pub name: String,
    /// SI unit as the language writes it (`kg*m/s^2`); of a constraint row the unit of its multiplier. Empty where it is
    /// unknown, `1` for a plain number.
    pub unit: String,
}

/// What the numbers of a sample are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Meta {
    /// Name of the model.
    pub model: String,
    /// Name of the stepper.
    pub stepper: String,
    /// Bodies in the order of [`Sample::z`].
    pub bodies: Vec<BodyMeta>,
    /// Constraint rows in the order of [`Sample::multipliers`].
    pub rows: Vec<Column>,
    /// Scalars in the order of [`Sample::outputs`].
    pub outputs: Vec<Column>,
}

/// The model at one time, SI units. A number that is not known (a multiplier before the first step) is NaN.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample<'a> {
    /// Time, s.
    pub time: f64,
    /// Kinetic energy, J.
    pub kinetic: f64,
    /// Potential energy, J.
    pub potential: f64,
    /// Largest component of `Phi`.
    pub position_residual: f64,
    /// Largest component of `d/dt Phi`.
    pub velocity_residual: f64,
    /// Largest component of `d^2/dt^2 Phi`.
    pub acceleration_residual: f64,
    /// Largest component of `R^T R - I` of any body.
    pub orthogonality: f64,
    /// Outputs of the model, one number per column.
    pub outputs: &'a [f64],
    /// Multipliers as forces, one number per constraint row.
    pub multipliers: &'a [f64],
    /// Bodies one after another, laid out as in [`mbdsl_runtime::state::State::z`], but position and velocity are those
    /// of the reference frame that the model names, not of the centre of mass.
    pub z: &'a [f64],
}

/// Numbers of a row before the outputs.
const SCALARS: usize = 7;

impl<'a> Sample<'a> {
    /// Total energy, J.
    #[must_use]
    pub fn energy(&self) -> f64 {
        self.kinetic + self.potential
    }

    fn part(&self, body: usize, at: usize, len: usize) -> &'a [f64] {
        &self.z[body * STRIDE + at..][..len]
    }

    /// Position of a body, m (3).
    #[must_use]
    pub fn pos(&self, body: usize) -> &'a [f64] {
        self.part(body, POS, 3)
    }

    /// Rotation of a body, row-major (9).
    #[must_use]
    pub fn rot(&self, body: usize) -> &'a [f64] {
        self.part(body, ROT, 9)
    }

    /// Velocity of a body, m/s (3).
    #[must_use]
    pub fn vel(&self, body: usize) -> &'a [f64] {
        self.part(body, VEL, 3)
    }

    /// Angular velocity of a body in its own axes, rad/s (3).
    #[must_use]
    pub fn omega(&self, body: usize) -> &'a [f64] {
        self.part(body, OMEGA, 3)
    }
}

/// Every k-th sample of a run, and always the first and the last. `k` starts at 1 and doubles whenever the memory is
/// full, so the kept samples are equidistant (but for the last) and never more than about 4000. What happens
/// between kept samples is not seen: largest errors must be followed by the run itself.
#[derive(Clone, Debug)]
pub struct Trajectory {
    meta: Meta,
    /// Numbers per row.
    width: usize,
    /// Rows at most, even.
    capacity: usize,
    /// Distance of kept samples.
    every: u64,
    /// Samples seen.
    seen: u64,
    /// Kept rows: samples 0, k, 2k, ...
    rows: Vec<f64>,
    /// The last sample seen, kept or not.
    last: Vec<f64>,
}

impl Trajectory {
    /// Nothing recorded yet.
    #[must_use]
    pub fn new(meta: Meta) -> Self {
        let width = SCALARS + meta.outputs.len() + meta.rows.len() + meta.bodies.len() * STRIDE;
        let capacity = (MOST_NUMBERS / width).clamp(FEWEST_SAMPLES, MOST_SAMPLES) / 2 * 2;
        Self { meta, width, capacity, every: 1, seen: 0, rows: Vec::new(), last: Vec::with_capacity(width) }
    }

    /// What was recorded.
    #[must_use]
    pub fn meta(&self) -> &Meta {
        &self.meta
    }

    /// Shows the next sample; times ascend. Its slices have the lengths that the [`Meta`] tells.
    pub fn push(&mut self, sample: &Sample<'_>) {
        self.last.clear();
        self.last.extend([
            sample.time,
            sample.kinetic,
            sample.potential,
            sample.position_residual,
            sample.velocity_residual,
            sample.acceleration_residual,
            sample.orthogonality,
        ]);
        for part in [sample.outputs, sample.multipliers, sample.z] {
            self.last.extend_from_slice(part);
        }
        assert_eq!(self.last.len(), self.width, "a sample has the lengths that its trajectory was made for");
        if self.seen.is_multiple_of(self.every) && self.kept() == self.capacity {
            self.thin();
        }
        if self.seen.is_multiple_of(self.every) {
            self.rows.extend_from_slice(&self.last);
        }
        self.seen += 1;
    }

    /// Drops every second row.
    fn thin(&mut self) {
        let rows = self.kept().div_ceil(2);
        for row in 1..rows {
            let from = 2 * row * self.width;
            self.rows.copy_within(from..from + self.width, row * self.width);
        }
        self.rows.truncate(rows * self.width);
        self.every *= 2;
    }

    fn kept(&self) -> usize {
        self.rows.len() / self.width
    }

    /// Whether the last sample is not among the kept rows.
    fn has_tail(&self) -> bool {
        self.seen > 0 && !(self.seen - 1).is_multiple_of(self.every)
    }

    /// Number of samples that can be read.
    #[must_use]
    pub fn len(&self) -> usize {
        self.kept() + usize::from(self.has_tail())
    }

    /// Whether no sample was shown.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.seen == 0
    }

    /// A kept sample, `i < len()`.
    #[must_use]
    pub fn sample(&self, i: usize) -> Sample<'_> {
        let row = if i < self.kept() { &self.rows[i * self.width..][..self.width] } else { &self.last[..] };
        let (scalars, rest) = row.split_at(SCALARS);
        let (outputs, rest) = rest.split_at(self.meta.outputs.len());
        let (multipliers, z) = rest.split_at(self.meta.rows.len());
        Sample {
            time: scalars[0],
            kinetic: scalars[1],
            potential: scalars[2],
            position_residual: scalars[3],
            velocity_residual: scalars[4],
            acceleration_residual: scalars[5],
            orthogonality: scalars[6],
            outputs,
            multipliers,
            z,
        }
    }

    /// One number of every kept sample.
    #[must_use]
    pub fn series(&self, number: impl Fn(&Sample<'_>) -> f64) -> Vec<f64> {
        (0..self.len()).map(|i| number(&self.sample(i))).collect()
    }

    /// Times of the kept samples, s.
    #[must_use]
    pub fn times(&self) -> Vec<f64> {
        self.series(|s| s.time)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(steps: u64, bodies: usize) -> Trajectory {
        let bodies = (0..bodies).map(|k| BodyMeta { name: format!("b[{k}]"), is_particle: false }).collect();
        let column = |name: &str| Column { name: name.into(), unit: "N".into() };
        let meta =
            Meta { bodies, rows: vec![column("j.x"), column("j.y")], outputs: vec![column("o")], ..Meta::default() };
        let z = vec![4.0; meta.bodies.len() * STRIDE];
        let mut out = Trajectory::new(meta);
        for n in 0..=steps {
            let time = n as f64;
            out.push(&Sample {
                time,
                kinetic: 1.0,
                potential: 2.0,
                position_residual: 0.0,
                velocity_residual: 0.0,
                acceleration_residual: 0.0,
                orthogonality: 0.0,
                outputs: &[-time],
                multipliers: &[time, 7.0],
                z: &z,
            });
        }
        out
    }

    #[test]
    fn keeps_everything_while_it_fits() {
        let out = record(3999, 1);
        assert_eq!(out.len(), 4000);
        assert_eq!(out.times(), (0..4000).map(f64::from).collect::<Vec<_>>());
    }

    #[test]
    fn thins_to_equidistant_samples_with_both_ends() {
        for steps in [0, 1, 4000, 4001, 8000, 12_345, 100_003] {
            let out = record(steps, 1);
            let times = out.times();
            assert!(times.len() <= MOST_SAMPLES + 1 && times.len() as u64 >= (steps + 1).min(2000));
            assert_eq!((times[0], times[times.len() - 1]), (0.0, steps as f64));
            let gaps: Vec<f64> = times.windows(2).map(|w| w[1] - w[0]).collect();
            if let Some((last, others)) = gaps.split_last() {
                assert!(others.iter().all(|g| *g == gaps[0]) && *last <= gaps[0] && *last > 0.0);
            }
        }
    }

    #[test]
    fn reads_back_what_was_pushed() {
        let out = record(9000, 2);
        let s = out.sample(out.len() - 1);
        assert_eq!((s.energy(), s.outputs, s.multipliers), (3.0, &[-9000.0][..], &[9000.0, 7.0][..]));
        assert_eq!((s.pos(1).len(), s.rot(1).len(), s.vel(1).len(), s.omega(1).len()), (3, 9, 3, 3));
    }

    #[test]
    fn a_long_chain_keeps_fewer_samples() {
        let out = record(2000, 1000);
        assert!(out.rows.capacity() * 8 <= 512 << 20 && out.len() >= FEWEST_SAMPLES && out.len() < 1000);
    }
}
