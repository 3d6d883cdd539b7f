//! Writes the samples of a run to a CSV file while the run goes on.

use std::fmt;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde::{Serialize, Serializer};

use super::record::{Meta, Sample};

/// Longest text of a number (`-2.2250738585072014e-308`) and its separator, bytes.
const FIELD: usize = 25;
/// Text gathered before it is written, bytes (at least one row): large enough that the system call costs nothing.
const BLOCK: usize = 1 << 17;
/// Longest time between two writes: what a person who watches the file does not notice.
const PATIENCE: Duration = Duration::from_millis(200);

/// A file of results cannot be written.
#[derive(Debug)]
pub struct CsvError {
    /// The file.
    pub path: PathBuf,
    /// What the system says.
    pub source: io::Error,
}

impl fmt::Display for CsvError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cannot write `{}`: {}", self.path.display(), self.source)
    }
}

impl std::error::Error for CsvError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.source)
    }
}

/// A CSV file that grows with the run. It is always whole rows that are written: those gathered so far with the first
/// one that comes 200 ms or more after the last write, and all on [`CsvOut::finish`] or when the value is dropped.
#[derive(Debug)]
pub struct CsvOut {
    path: PathBuf,
    writer: csv::Writer<File>,
    is_particle: Vec<bool>,
    rows_per_block: usize,
    unwritten: usize,
    written: Instant,
}

impl CsvOut {
    /// Creates the file, or empties it, and writes the header.
    ///
    /// # Errors
    /// If the file cannot be created or written.
    pub fn create(path: &Path, meta: &Meta) -> Result<Self, CsvError> {
        let failed = |source| CsvError { path: path.to_owned(), source };
        let columns = header(meta);
        // The buffer holds a whole block, so that only whole rows are ever handed to the system.
        let rows_per_block = (BLOCK / (columns.len() * FIELD)).max(1);
        let names = columns.iter().map(|c| 2 * c.len() + 3).sum::<usize>();
        let capacity = (rows_per_block * columns.len() * FIELD).max(names);
        let file = File::create(path).map_err(failed)?;
        let mut writer = csv::WriterBuilder::new().has_headers(false).buffer_capacity(capacity).from_writer(file);
        writer.write_record(&columns).map_err(|e| failed(e.into()))?;
        writer.flush().map_err(failed)?;
        let is_particle = meta.bodies.iter().map(|b| b.is_particle).collect();
        Ok(Self { path: path.to_owned(), writer, is_particle, rows_per_block, unwritten: 0, written: Instant::now() })
    }

    /// Appends a row. Numbers are the shortest text that reads back as the same `f64`.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn write(&mut self, sample: &Sample<'_>) -> Result<(), CsvError> {
        let row = Row { sample, is_particle: &self.is_particle };
        if let Err(e) = self.writer.serialize(row) {
            return Err(self.failed(e.into()));
        }
        self.unwritten += 1;
        if self.unwritten >= self.rows_per_block || self.written.elapsed() >= PATIENCE {
            self.flush()?;
        }
        Ok(())
    }

    /// Hands all rows to the system.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn flush(&mut self) -> Result<(), CsvError> {
        self.unwritten = 0;
        self.written = Instant::now();
        self.writer.flush().map_err(|e| self.failed(e))
    }

    /// Ends the file; to be called also when the run failed, to learn whether its rows were written.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn finish(mut self) -> Result<(), CsvError> {
        self.flush()
    }

    fn failed(&self, source: io::Error) -> CsvError {
        CsvError { path: self.path.clone(), source }
    }
}

/// Names of the columns.
fn header(meta: &Meta) -> Vec<String> {
    const ROT: [&str; 9] = ["r11", "r12", "r13", "r21", "r22", "r23", "r31", "r32", "r33"];
    let mut out = vec!["time".to_owned()];
    for body in &meta.bodies {
        let mut add = |names: &[&str]| out.extend(names.iter().map(|n| format!("{}.{n}", body.name)));
        add(&["x", "y", "z"]);
        if !body.is_particle {
            add(&ROT);
        }
        add(&["vx", "vy", "vz"]);
        if !body.is_particle {
            add(&["ox", "oy", "oz"]);
        }
    }
    out.extend(meta.outputs.iter().map(|c| c.name.clone()));
    out.extend(meta.rows.iter().map(|c| multiplier_name(&c.name)));
    out.extend(["energy.kinetic", "energy.potential", "energy.total"].map(str::to_owned));
    out.extend(["residual.position", "residual.velocity", "residual.acceleration"].map(str::to_owned));
    out
}

/// `pivot.x` -> `pivot.lambda.x`.
fn multiplier_name(row: &str) -> String {
    match row.rsplit_once('.') {
        Some((joint, component)) => format!("{joint}.lambda.{component}"),
        None => format!("{row}.lambda"),
    }
}

/// A sample as the sequence of numbers that [`header`] names.
struct Row<'a> {
    sample: &'a Sample<'a>,
    is_particle: &'a [bool],
}

impl Serialize for Row<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let s = self.sample;
        let bodies = self.is_particle.iter().enumerate().flat_map(|(b, is_particle)| {
            let (rot, omega) = if *is_particle { (&[][..], &[][..]) } else { (s.rot(b), s.omega(b)) };
            [s.pos(b), rot, s.vel(b), omega].into_iter().flatten()
        });
        let energies = [s.kinetic, s.potential, s.energy()];
        let residuals = [s.position_residual, s.velocity_residual, s.acceleration_residual];
        let numbers = std::iter::once(&s.time).chain(bodies).chain(s.outputs).chain(s.multipliers);
        serializer.collect_seq(numbers.chain(&energies).chain(&residuals))
    }
}

#[cfg(test)]
mod tests {
    use mbdsl_runtime::state::State;

    use super::super::record::{BodyMeta, Column};
    use super::*;

    fn temporary(name: &str) -> PathBuf {
        std::env::temp_dir().join(format!("mbd-csv-{}-{name}.csv", std::process::id()))
    }

    fn meta(bodies: usize) -> Meta {
        let column = |name: &str| Column { name: name.into(), unit: String::new() };
        let body = |k: usize| BodyMeta { name: format!("b[{k}]"), is_particle: k == 1 };
        Meta {
            bodies: (0..bodies).map(body).collect(),
            rows: vec![column("pivot.x"), column("rod")],
            outputs: vec![column("cm.x")],
            ..Meta::default()
        }
    }

    fn sample<'a>(time: f64, z: &'a [f64]) -> Sample<'a> {
        Sample {
            time,
            kinetic: 0.1,
            potential: 0.2,
            position_residual: 1e-300,
            velocity_residual: -0.0,
            acceleration_residual: f64::MAX,
            orthogonality: 0.0,
            outputs: &[1.0 / 3.0],
            multipliers: &[-1e-7, f64::NAN],
            z,
        }
    }

    #[test]
    fn names_and_numbers_of_rigid_bodies_and_particles() {
        let path = temporary("names");
        let mut out = CsvOut::create(&path, &meta(2)).expect("writable");
        let state = State::new(2, 0);
        out.write(&sample(0.1 + 0.2, &state.z)).expect("writable");
        out.finish().expect("writable");
        let text = std::fs::read_to_string(&path).expect("readable");
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(
            lines[0],
            "time,b[0].x,b[0].y,b[0].z,b[0].r11,b[0].r12,b[0].r13,b[0].r21,b[0].r22,b[0].r23,b[0].r31,b[0].r32,\
             b[0].r33,b[0].vx,b[0].vy,b[0].vz,b[0].ox,b[0].oy,b[0].oz,b[1].x,b[1].y,b[1].z,b[1].vx,b[1].vy,b[1].vz,\
             cm.x,pivot.lambda.x,rod.lambda,energy.kinetic,energy.potential,energy.total,residual.position,\
             residual.velocity,residual.acceleration"
        );
        let fields: Vec<&str> = lines[1].split(',').collect();
        assert_eq!(fields.len(), lines[0].split(',').count());
        assert_eq!(fields[0], "0.30000000000000004");
        let last: Vec<f64> = fields[fields.len() - 9..].iter().map(|f| f.parse().expect("number")).collect();
        assert_eq!(last[..2], [1.0 / 3.0, -1e-7]);
        assert!(last[2].is_nan());
        assert_eq!(last[3..], [0.1, 0.2, 0.1 + 0.2, 1e-300, -0.0, f64::MAX]);
        std::fs::remove_file(path).expect("removable");
    }

    #[test]
    fn a_thousand_bodies_and_whole_rows_on_disk_before_the_end() {
        let path = temporary("chain");
        let mut out = CsvOut::create(&path, &meta(1000)).expect("writable");
        let state = State::new(1000, 0);
        let columns = header(&meta(1000)).len();
        for n in 0..20 {
            out.write(&sample(f64::from(n), &state.z)).expect("writable");
            // A row is longer than a block here, so each is on disk at once.
            let text = std::fs::read_to_string(&path).expect("readable");
            assert!(text.ends_with('\n') && text.lines().count() == n as usize + 2);
            assert!(text.lines().all(|l| l.split(',').count() == columns));
        }
        drop(out);
        std::fs::remove_file(path).expect("removable");
    }

    #[test]
    fn only_whole_rows_while_running_and_all_of_them_after_a_drop() {
        let path = temporary("drop");
        let mut out = CsvOut::create(&path, &meta(3)).expect("writable");
        let state = State::new(3, 0);
        for n in 0..2000 {
            out.write(&sample(f64::from(n) / 3.0, &state.z)).expect("writable");
            if n % 97 == 0 {
                assert!(std::fs::read_to_string(&path).expect("readable").ends_with('\n'));
            }
        }
        drop(out);
        assert_eq!(std::fs::read_to_string(&path).expect("readable").lines().count(), 2001);
        std::fs::remove_file(path).expect("removable");
    }

    #[test]
    fn errors_name_the_file() {
        let path = Path::new("/nonexistent/folder/out.csv");
        let error = CsvOut::create(path, &meta(1)).expect_err("no such folder");
        assert!(error.to_string().starts_with("cannot write `/nonexistent/folder/out.csv`: "));
    }
}
