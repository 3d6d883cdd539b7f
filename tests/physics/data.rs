//! The tables in `data/`: rows of numbers under named columns.

use std::collections::BTreeMap;

use crate::rig::root;

/// A table. Cells that are no numbers are read as NaN.
pub struct Table {
    columns: BTreeMap<String, usize>,
    /// The rows.
    pub rows: Vec<Vec<f64>>,
    /// First cell of each row as text.
    pub labels: Vec<String>,
}

/// Reads `data/<name>.csv`.
pub fn table(name: &str) -> Table {
    let path = root().join("tests/physics/data").join(format!("{name}.csv"));
    let mut reader = csv::Reader::from_path(path).expect("the data are part of the repository");
    let header = reader.headers().expect("a header").clone();
    let columns = header.iter().enumerate().map(|(k, name)| (name.to_owned(), k)).collect();
    let records: Vec<csv::StringRecord> = reader.records().map(|r| r.expect("a row")).collect();
    let rows = records.iter().map(|r| r.iter().map(|cell| cell.parse().unwrap_or(f64::NAN)).collect()).collect();
    let labels = records.iter().map(|r| r.get(0).unwrap_or_default().to_owned()).collect();
    Table { columns, rows, labels }
}

impl Table {
    /// Numbers of the row at a time, by the names of their columns.
    pub fn at<const N: usize>(&self, t: f64, names: [&str; N]) -> [f64; N] {
        let time = self.columns["t"];
        // The times are decimal numbers of at most three digits.
        let row = self.rows.iter().find(|r| (r[time] - t).abs() < 1e-9).expect("the time is in the table");
        names.map(|name| row[self.columns[name]])
    }
}
