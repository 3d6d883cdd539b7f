//! Quantities on the command line: `10us`, `5 [N/m]`, `[0, 1, 2] rad/s`, `1e-3`, read by the language itself.

use crate::driver;
use crate::sema::Options;
use crate::source::Sources;
use crate::symbolic::eval::{self, Value};
use crate::units::Dim;

/// A quantity: its scalars in SI units, and its dimension unless it was a bare number.
#[derive(Clone, Debug, PartialEq)]
pub struct Quantity {
    /// One, three or nine numbers (matrices row by row).
    pub values: Vec<f64>,
    /// `None` for bare numbers, which are taken as SI.
    pub dim: Option<Dim>,
}

/// Reads a quantity.
///
/// # Errors
/// What is wrong with it, in words.
pub fn quantity(text: &str) -> Result<Quantity, String> {
    let text = text.trim();
    if text.is_empty() || text.contains([';', '{', '}']) {
        return Err(format!("`{text}` is not a quantity"));
    }
    let value = bracketed(&spaced(text));
    let mut sources = Sources::default();
    // A model of nothing but the quantity: one reader for files and the command line.
    let source = format!("model Quantity {{ param value = {value}; particle p {{ mass = 1 kg; }} }}");
    let file = sources.add("<command line>", source);
    let model = driver::check(&mut sources, file, &Options::default()).map_err(|d| {
        d.first().map_or_else(|| format!("`{text}` is not a quantity"), |d| format!("`{text}`: {}", d.message))
    })?;
    let Some(param) = model.params.first() else { return Err(format!("`{text}` is not a quantity")) };
    let found = eval::eval(&model.pool, &[param.default], &eval::Nothing);
    let values: Vec<f64> = found.iter().copied().flat_map(Value::components).collect();
    if !values.iter().all(|x| x.is_finite()) {
        return Err(format!("`{text}` is not a finite number"));
    }
    let bare = param.dim == Dim::ONE && !text.contains(|c: char| c.is_ascii_alphabetic() && c != 'e' && c != 'E');
    Ok(Quantity { values, dim: (!bare).then_some(param.dim) })
}

/// Reads one number of a dimension.
///
/// # Errors
/// What is wrong with it, in words.
pub fn scalar(text: &str, dim: Dim) -> Result<f64, String> {
    let q = quantity(text)?;
    if let Some(found) = q.dim.filter(|&d| d != dim) {
        return Err(format!("`{text}` is {found}, expected {dim}"));
    }
    match q.values.as_slice() {
        [x] => Ok(*x),
        _ => Err(format!("`{text}` is not a single number")),
    }
}

/// Puts the space between number and unit that shells make people leave out.
fn spaced(text: &str) -> String {
    let digits = text.find(|c: char| !(c.is_ascii_digit() || ".+-".contains(c))).unwrap_or(text.len());
    let (number, rest) = text.split_at(digits);
    if number.is_empty() || rest.is_empty() || rest.starts_with([' ', '[']) {
        return text.to_owned();
    }
    // An exponent belongs to the number.
    if let Some(exponent) = rest.strip_prefix(['e', 'E']) {
        let sign = usize::from(exponent.starts_with(['+', '-']));
        let len = exponent[sign..].find(|c: char| !c.is_ascii_digit()).unwrap_or(exponent.len() - sign);
        if len > 0 {
            let (power, unit) = exponent.split_at(sign + len);
            return format!("{number}e{power} {unit}");
        }
    }
    format!("{number} {rest}")
}

/// `5 N/m` means a compound unit here, where no variables are: puts it in brackets.
fn bracketed(text: &str) -> String {
    let Some(at) = text.rfind([' ', ']']) else { return text.to_owned() };
    let (value, unit) = text.split_at(at + 1);
    let compound = unit.contains(['/', '*', '^']) && unit.starts_with(|c: char| c.is_ascii_alphabetic());
    if compound { format!("{value} [{unit}]") } else { text.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shells_and_people_write_quantities() {
        for (text, value) in
            [("10us", 1e-5), ("10 us", 1e-5), ("1e-3", 1e-3), ("1e-3s", 1e-3), ("0.5 ms", 5e-4), ("2", 2.0)]
        {
            let found = scalar(text, Dim::TIME).expect("a time");
            assert!((found - value).abs() <= 1e-15 * value, "{text}: {found}");
        }
        let q = quantity("[0, 150, -4.5] rad/s").expect("a vector");
        assert_eq!((q.values, q.dim), (vec![0.0, 150.0, -4.5], Some(Dim::RATE)));
        let q = quantity("5 N/m").expect("a stiffness");
        assert_eq!((q.values, q.dim), (vec![5.0], Some(Dim::FORCE.over(Dim::LENGTH))));
    }

    #[test]
    fn nonsense_is_refused() {
        for text in ["", "x", "1 kg", "1;2", "nan", "5 parsec", "[1, 2]", "1/0"] {
            assert!(scalar(text, Dim::TIME).is_err(), "{text}");
        }
    }
}
