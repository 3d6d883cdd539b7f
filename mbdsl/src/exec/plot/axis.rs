//! Chooses the range, the ticks and the unit of an axis.

/// Larger numbers are not drawn: their differences overflow.
const HUGEST: f64 = 1e150;
/// A range narrower than this part of its values is noise of the last bits and counts as constant.
const NOISE: f64 = 32.0 * f64::EPSILON;
/// A range narrower than this is constant whatever its values: its ticks would be subnormal.
const TINIEST: f64 = 1e-290;
/// Decades of a logarithmic axis at most; smaller numbers are drawn as zero.
const MOST_DECADES: i32 = 24;
/// Digits of a tick label from which a common offset is taken out.
const MOST_DIGITS: i32 = 5;
/// Decimals of a tick label at most where the unit has no prefix.
const MOST_DECIMALS: i32 = 4;

/// A tick that is outside by less than this part of the distance of ticks is at the end: `0.3 / 0.1` is not 3.
const SLACK: f64 = 1e-6;

/// Units whose thousandth has a name.
const PREFIXABLE: [&str; 8] = ["s", "m", "N", "J", "W", "m/s", "N*m", "m/s^2"];

/// Products of base units that have a name; one for energy and torque that is right for both.
const NAMED: [(&str, &str); 3] = [("kg*m/s^2", "N"), ("kg*m^2/s^2", "N*m"), ("kg*m^2/s^3", "W")];

/// Whether a number can be drawn.
#[must_use]
pub fn is_drawable(v: f64) -> bool {
    v.abs() < HUGEST
}

/// Smallest and largest of the numbers that can be drawn; `None` if there are none.
#[must_use]
pub fn extent<'a>(values: impl IntoIterator<Item = &'a f64>) -> Option<(f64, f64)> {
    values.into_iter().filter(|v| is_drawable(**v)).fold(None, |range, &v| match range {
        None => Some((v, v)),
        Some((lo, hi)) => Some((lo.min(v), hi.max(v))),
    })
}

/// A range that is wide enough to be divided: that of a constant reaches to both sides of it.
#[must_use]
pub fn widened((lo, hi): (f64, f64)) -> (f64, f64) {
    let size = lo.abs().max(hi.abs());
    if hi - lo > (NOISE * size).max(TINIEST) {
        return (lo, hi);
    }
    let reach = if size > TINIEST { 0.1 * size } else { 1.0 };
    (lo - reach, hi + reach)
}

/// A range with a margin of the given part at both ends.
#[must_use]
pub fn padded((lo, hi): (f64, f64), part: f64) -> (f64, f64) {
    let margin = part * (hi - lo);
    (lo - margin, hi + margin)
}

/// A place on an axis with its label; no label where they would be too close.
#[derive(Clone, Debug, PartialEq)]
pub struct Tick {
    /// Position along the axis, 0 to 1.
    pub at: f64,
    /// Text beside it.
    pub label: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Scale {
    Linear,
    Log,
}

/// A range of numbers with ticks.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    lo: f64,
    hi: f64,
    scale: Scale,
    /// Ticks in ascending order.
    pub ticks: Vec<Tick>,
    /// Unit of the labels: `mm`, `10⁻⁶ kg·m²/s`; empty for plain numbers.
    pub unit: String,
    /// What is to be added to the labels, with unit; empty for nothing.
    pub offset: String,
}

impl Axis {
    /// An axis over a range (see [`widened`]) of numbers in a unit as the language writes it, with about `count` ticks.
    #[must_use]
    pub fn linear(range: (f64, f64), unit: &str, count: usize) -> Self {
        let unit = named(unit);
        let (lo, hi) = widened(range);
        let (digit, power) = tick_step((hi - lo) / count as f64);
        let step = digit * pow10(power);
        let (first, last) = ((lo / step - SLACK).ceil(), (hi / step + SLACK).floor());

        // Take out what all labels share, so that few digits are left.
        let digits = (lo.abs().max(hi.abs()) / step).log10().ceil() as i32;
        let mut base = 0.0;
        let mut offset = String::new();
        if digits > MOST_DIGITS {
            let coarse = (hi - lo).log10().ceil() as i32;
            let ratio = (pow10(coarse) / step).round();
            base = (0.5 * (first + last) / ratio).round() * ratio;
            offset = with_unit(&decimal(base * step, (-coarse).max(0) as usize), &written(unit));
        }

        let reach = ((first - base) * step).abs().max(((last - base) * step).abs());
        let is_plain = (1e-2..1e5).contains(&reach) && power >= -MOST_DECIMALS;
        let exponent = if is_plain { 0 } else { 3 * (reach.log10() / 3.0).floor() as i32 };
        let decimals = (exponent - power).max(0) as usize;
        let ticks = (0..=(last - first) as usize).map(|k| {
            let n = first + k as f64;
            Tick {
                at: ((n * step - lo) / (hi - lo)).clamp(0.0, 1.0),
                label: decimal((n - base) * step / pow10(exponent), decimals),
            }
        });
        Self { lo, hi, scale: Scale::Linear, ticks: ticks.collect(), unit: scaled_unit(unit, exponent), offset }
    }

    /// A logarithmic axis for numbers that are not negative. If there are zeros, or numbers smaller than the axis can
    /// show, its lower end stands for zero.
    #[must_use]
    pub fn log<'a>(values: impl Iterator<Item = &'a f64> + Clone, unit: &str, count: usize) -> Self {
        let positive = extent(values.clone().filter(|v| **v > TINIEST));
        let (lowest, highest) = positive.map_or((-16, -14), |(lo, hi)| {
            let highest = hi.log10().ceil() as i32;
            (lo.log10().floor() as i32, highest)
        });
        let lowest = lowest.max(highest - MOST_DECADES).min(highest - 2);
        let has_zero = values.clone().any(|v| is_drawable(*v) && *v < pow10(lowest));
        let bottom = if has_zero { lowest - 1 } else { lowest };
        let every = (highest - lowest + 1 + count as i32 - 1) / count as i32;
        let mut ticks = Vec::new();
        for decade in bottom..=highest {
            let label = match decade {
                d if d < lowest => "0".to_owned(),
                d if d.rem_euclid(every) == 0 => power_label(d),
                _ => String::new(),
            };
            ticks.push(Tick { at: f64::from(decade - bottom) / f64::from(highest - bottom), label });
        }
        Self {
            lo: f64::from(bottom),
            hi: f64::from(highest),
            scale: Scale::Log,
            ticks,
            unit: written(named(unit)),
            offset: String::new(),
        }
    }

    /// Where a number is on the axis, from 0 to 1; `None` if it cannot be drawn.
    #[must_use]
    pub fn place(&self, v: f64) -> Option<f64> {
        if !is_drawable(v) {
            return None;
        }
        let v = match self.scale {
            Scale::Linear => v,
            Scale::Log if v > 0.0 => v.log10(),
            Scale::Log => self.lo,
        };
        Some(((v - self.lo) / (self.hi - self.lo)).clamp(0.0, 1.0))
    }

    /// Whether a number is drawn as zero at the lower end of a logarithmic axis.
    #[must_use]
    pub fn is_floor(&self, v: f64) -> bool {
        match self.scale {
            Scale::Linear => false,
            Scale::Log => v < 10f64.powf(self.lo),
        }
    }

    /// Name of a quantity with what the labels need to be understood: `x − 1 m (nm)`.
    #[must_use]
    pub fn name(&self, symbol: &str) -> String {
        let symbol = match (self.offset.is_empty(), self.offset.strip_prefix('−')) {
            (true, _) => symbol.to_owned(),
            (_, Some(positive)) => format!("{symbol} + {positive}"),
            (_, None) => format!("{symbol} − {}", self.offset),
        };
        match (self.unit.is_empty(), symbol.is_empty()) {
            (true, _) => symbol,
            (false, true) => format!("({})", self.unit),
            (false, false) => format!("{symbol} ({})", self.unit),
        }
    }
}

/// The smallest of 1, 2, 5 times a power of ten that is not below `least`, as digit and power.
fn tick_step(least: f64) -> (f64, i32) {
    let power = least.log10().floor() as i32;
    // The quotient may come out just above a digit by rounding.
    let part = least / pow10(power) * (1.0 - 1e-9);
    match part {
        p if p <= 1.0 => (1.0, power),
        p if p <= 2.0 => (2.0, power),
        p if p <= 5.0 => (5.0, power),
        _ => (1.0, power + 1),
    }
}

fn pow10(power: i32) -> f64 {
    10f64.powi(power)
}

fn with_unit(number: &str, unit: &str) -> String {
    if unit.is_empty() { number.to_owned() } else { format!("{number} {unit}") }
}

/// A number with a true minus sign and no negative zero.
fn decimal(v: f64, decimals: usize) -> String {
    let text = format!("{v:.decimals$}");
    match text.strip_prefix('-') {
        Some(rest) if rest.chars().all(|c| matches!(c, '0' | '.')) => rest.to_owned(),
        Some(rest) => format!("−{rest}"),
        None => text,
    }
}

/// A power of ten: `0.1`, `1`, `10`, `10⁻⁶`.
fn power_label(power: i32) -> String {
    match power {
        -1 => "0.1".to_owned(),
        0 => "1".to_owned(),
        1 => "10".to_owned(),
        _ => format!("10{}", superscript(&power.to_string())),
    }
}

fn superscript(digits: &str) -> String {
    let raise = |c: char| match c {
        '-' => '⁻',
        '1' => '¹',
        '2' => '²',
        '3' => '³',
        '0' | '4'..='9' => char::from_u32('⁰' as u32 + c as u32 - '0' as u32).unwrap_or(c),
        c => c,
    };
    digits.chars().map(raise).collect()
}

/// The name of a unit, if it has one.
fn named(unit: &str) -> &str {
    NAMED.iter().find(|(product, _)| *product == unit).map_or(unit, |(_, name)| name)
}

/// A unit of the language as print has it: `kg*m^2/s` -> `kg·m²/s`; nothing for plain numbers.
#[must_use]
pub fn written(unit: &str) -> String {
    if unit == "1" {
        return String::new();
    }
    let mut out = String::new();
    let mut rest = unit;
    while let Some(at) = rest.find(['*', '^']) {
        let (before, after) = (&rest[..at], &rest[at + 1..]);
        out.push_str(before);
        let len = after.find(|c: char| !c.is_ascii_digit()).unwrap_or(after.len());
        let is_whole = len > 0 && !after[len..].starts_with('.');
        match (rest.as_bytes()[at], is_whole) {
            (b'*', _) => {
                out.push('·');
                rest = after;
            }
            (_, true) => {
                out.push_str(&superscript(&after[..len]));
                rest = &after[len..];
            }
            (_, false) => {
                out.push('^');
                rest = after;
            }
        }
    }
    out.push_str(rest);
    out
}

/// A power of ten times a unit, with a prefix where the unit takes one.
fn scaled_unit(unit: &str, exponent: i32) -> String {
    let prefix = match exponent {
        0 => return written(unit),
        -15 => "f",
        -12 => "p",
        -9 => "n",
        -6 => "µ",
        -3 => "m",
        3 => "k",
        6 => "M",
        9 => "G",
        12 => "T",
        _ => "",
    };
    let is_slow = unit == "s" && exponent > 0;
    if PREFIXABLE.contains(&unit) && !prefix.is_empty() && !is_slow {
        return format!("{prefix}{}", written(unit));
    }
    with_unit(&format!("10{}", superscript(&exponent.to_string())), &written(unit))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(axis: &Axis) -> Vec<&str> {
        axis.ticks.iter().map(|t| t.label.as_str()).collect()
    }

    #[test]
    fn ordinary_ranges() {
        let axis = Axis::linear((-0.2, 1.03), "m", 5);
        assert_eq!((labels(&axis), axis.name("x")), (vec!["0.0", "0.5", "1.0"], "x (m)".to_owned()));
        let axis = Axis::linear((0.0, 10.0), "s", 5);
        assert_eq!(labels(&axis), ["0", "2", "4", "6", "8", "10"]);
        assert_eq!((axis.ticks[1].at, axis.place(2.0)), (0.2, Some(0.2)));
        let axis = Axis::linear((0.0, 2.0 - 2.0 * f64::EPSILON), "s", 4);
        assert_eq!((labels(&axis), axis.ticks[4].at), (vec!["0.0", "0.5", "1.0", "1.5", "2.0"], 1.0));
    }

    #[test]
    fn tiny_and_huge_ranges_take_a_unit_that_fits() {
        let axis = Axis::linear((-3e-16, 4e-16), "m", 4);
        assert_eq!((labels(&axis), axis.name("x")), (vec!["−200", "0", "200", "400"], "x (10⁻¹⁸ m)".to_owned()));
        let axis = Axis::linear((0.0, 3e9), "J", 4);
        assert_eq!((labels(&axis), axis.name("H")), (vec!["0", "1", "2", "3"], "H (GJ)".to_owned()));
        let axis = Axis::linear((0.0, 3e-5), "kg*m^2/s", 4);
        assert_eq!((labels(&axis), axis.name("L")), (vec!["0", "10", "20", "30"], "L (10⁻⁶ kg·m²/s)".to_owned()));
        assert_eq!(Axis::linear((0.0, 5e6), "s", 4).unit, "10⁶ s");
    }

    #[test]
    fn a_narrow_range_far_from_zero_is_shown_from_an_offset() {
        let axis = Axis::linear((1.0 - 1e-9, 1.0 + 1e-9), "m", 4);
        assert_eq!((labels(&axis), axis.name("x")), (vec!["−1", "0", "1"], "x − 1.00000000 m (nm)".to_owned()));
        let axis = Axis::linear((-5_436.530_312, -5_436.530_310), "J", 2);
        assert_eq!(axis.name("H"), "H + 5436.53031 J (µJ)");
    }

    #[test]
    fn constants_and_noise_get_a_range() {
        for (v, spread) in
            [(0.0, 0.0), (1.0, 0.0), (1e-16, 0.0), (-1e9, 0.0), (1.0, 1e-16), (5e-324, 0.0), (1e149, 0.0)]
        {
            let axis = Axis::linear((v - spread, v + spread), "1", 4);
            assert!((3..=9).contains(&axis.ticks.len()), "{v}: {axis:?}");
            assert!(axis.ticks.iter().all(|t| (-1e-9..=1.0 + 1e-9).contains(&t.at) && t.label.len() < 12), "{axis:?}");
            assert!(axis.place(v).is_some_and(|p| (p - 0.5).abs() < 1e-6));
        }
    }

    #[test]
    fn every_range_has_sensible_ticks() {
        // All magnitudes of widths and of centres that floating point can tell apart.
        for width in -30..30 {
            for centre in -30..30 {
                for sign in [-1.0, 0.0, 1.0] {
                    let (c, w) = (sign * 1.234 * pow10(centre), 0.77 * pow10(width));
                    let axis = Axis::linear((c - w, c + w), "J", 5);
                    assert!((3..=11).contains(&axis.ticks.len()), "{c} {w}: {axis:?}");
                    assert!(axis.ticks.iter().all(|t| t.label.chars().count() < 9), "{c} {w}: {axis:?}");
                    assert!(axis.ticks.windows(2).all(|t| t[0].label != t[1].label), "{c} {w}: {axis:?}");
                }
            }
        }
    }

    #[test]
    fn logarithmic_axes() {
        let axis = Axis::log([3e-16, 2e-14].iter(), "1", 6);
        assert_eq!(labels(&axis), ["10⁻¹⁶", "10⁻¹⁵", "10⁻¹⁴", "10⁻¹³"]);
        let axis = Axis::log([0.0, 1e-16, 3.0, f64::NAN].iter(), "1", 6);
        assert_eq!((labels(&axis)[0], axis.place(0.0), axis.place(f64::NAN)), ("0", Some(0.0), None));
        assert!(axis.is_floor(0.0) && !axis.is_floor(1e-16) && !axis.is_floor(f64::NAN));
        assert!(labels(&axis).iter().filter(|l| !l.is_empty()).count() <= 8);
        assert_eq!(labels(&Axis::log([0.0].iter(), "1", 6)), ["0", "10⁻¹⁶", "10⁻¹⁵", "10⁻¹⁴"]);
        let axis = Axis::log([1e-300, 1e9].iter(), "1", 6);
        assert!(axis.ticks.len() <= 27 && axis.place(1e-300) == Some(0.0));
        assert_eq!(Axis::log([].iter(), "1", 6).ticks.len(), 3);
    }

    #[test]
    fn units_in_print() {
        assert_eq!(written("kg*m^2/s^2"), "kg·m²/s²");
        assert_eq!(Axis::linear((0.0, 2e6), "kg*m/s^2", 4).unit, "MN");
        assert_eq!(Axis::linear((0.0, 2.0), "kg*m^2/s^2", 4).unit, "N·m");
        assert_eq!(written("m^0.5*s"), "m^0.5·s");
        assert_eq!(written("1"), "");
        assert_eq!(written("1/s"), "1/s");
    }
}
