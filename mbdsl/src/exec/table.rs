//! Writes rows of cells as tables for people and for programs.

use std::fmt::Write as _;

use serde::Serialize;

/// How a table is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TableFormat {
    /// Aligned columns.
    Text,
    /// A Markdown table, aligned too.
    Markdown,
    /// Comma-separated, numbers in full; empty where there is none.
    Csv,
    /// JSON.
    Json,
}

/// Aligned columns below their names, which are the first row.
#[must_use]
pub fn text(cells: &[Vec<String>]) -> String {
    let widths = widths(cells);
    let mut out = String::new();
    for (k, row) in cells.iter().enumerate() {
        put_row(&mut out, row, &widths, "  ");
        out.push('\n');
        if k == 0 {
            let rules: Vec<String> = widths.iter().map(|w| "-".repeat(*w)).collect();
            put_row(&mut out, &rules, &widths, "  ");
            out.push('\n');
        }
    }
    out
}

/// The same as a Markdown table.
#[must_use]
pub fn markdown(cells: &[Vec<String>]) -> String {
    let widths = widths(cells);
    let mut out = String::new();
    for (k, row) in cells.iter().enumerate() {
        out.push_str("| ");
        put_row(&mut out, row, &widths, " | ");
        out.push_str(" |\n");
        if k == 0 {
            for (column, width) in widths.iter().enumerate() {
                let rule = "-".repeat(width + 1);
                match column {
                    0 => put(&mut out, format_args!("|:{rule}")),
                    _ => put(&mut out, format_args!("|{rule}:")),
                }
            }
            out.push_str("|\n");
        }
    }
    out
}

/// Rows with the names of their fields above them.
#[must_use]
pub fn csv<T: Serialize>(rows: impl Iterator<Item = T>) -> String {
    let mut writer = csv::Writer::from_writer(Vec::new());
    for row in rows {
        writer.serialize(row).expect("a row of numbers fits a csv file in memory");
    }
    let bytes = writer.into_inner().expect("writing to memory cannot fail");
    String::from_utf8(bytes).expect("names and numbers are text")
}

/// A value with a line break at its end.
#[must_use]
pub fn json<T: Serialize + ?Sized>(value: &T) -> String {
    let mut text = serde_json::to_string_pretty(value).expect("text and numbers can be written as json");
    text.push('\n');
    text
}

/// Width of each column in characters.
pub(super) fn widths(rows: &[Vec<String>]) -> Vec<usize> {
    let columns = rows.first().map_or(0, Vec::len);
    (0..columns).map(|c| rows.iter().map(|r| r[c].chars().count()).max().unwrap_or(0)).collect()
}

/// The first column to the left, numbers to the right.
pub(super) fn put_row(out: &mut String, row: &[String], widths: &[usize], between: &str) {
    for (c, (cell, width)) in row.iter().zip(widths).enumerate() {
        match c {
            0 => put(out, format_args!("{cell:width$}")),
            _ => put(out, format_args!("{between}{cell:>width$}")),
        }
    }
}

fn put(out: &mut String, text: std::fmt::Arguments<'_>) {
    out.write_fmt(text).expect("writing to a string cannot fail");
}
