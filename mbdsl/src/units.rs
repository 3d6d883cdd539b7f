//! Physical dimensions and unit words: what a quantity is measured in, and how many SI units a word stands for.

use std::fmt;

/// Exponents are stored in sixtieths, so that halves, thirds, quarters, fifths and sixths are exact.
const PARTS: i32 = 60;

/// Base quantities in the order in which they are stored and shown.
const BASE: [&str; 5] = ["kg", "m", "s", "A", "K"];

/// A dimension: a product of rational powers of kg, m, s, A and K. Angles and amounts are plain numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Dim([i32; 5]);

impl Dim {
    /// A plain number.
    pub const ONE: Self = Self([0; 5]);
    /// Mass.
    pub const MASS: Self = Self::of(1, 0, 0);
    /// Length.
    pub const LENGTH: Self = Self::of(0, 1, 0);
    /// Time.
    pub const TIME: Self = Self::of(0, 0, 1);
    /// Velocity.
    pub const VELOCITY: Self = Self::of(0, 1, -1);
    /// Acceleration.
    pub const ACCELERATION: Self = Self::of(0, 1, -2);
    /// Angular velocity.
    pub const RATE: Self = Self::of(0, 0, -1);
    /// Force.
    pub const FORCE: Self = Self::of(1, 1, -2);
    /// Energy and torque.
    pub const ENERGY: Self = Self::of(1, 2, -2);
    /// Power.
    pub const POWER: Self = Self::of(1, 2, -3);
    /// Inertia.
    pub const INERTIA: Self = Self::of(1, 2, 0);
    /// Linear momentum.
    pub const MOMENTUM: Self = Self::of(1, 1, -1);
    /// Angular momentum.
    pub const ANGULAR_MOMENTUM: Self = Self::of(1, 2, -1);
    /// Mass density.
    pub const DENSITY: Self = Self::of(1, -3, 0);

    const fn of(kg: i32, m: i32, s: i32) -> Self {
        Self([kg * PARTS, m * PARTS, s * PARTS, 0, 0])
    }

    /// Dimension of a product.
    #[must_use]
    pub fn times(self, other: Self) -> Self {
        Self(std::array::from_fn(|k| self.0[k].saturating_add(other.0[k])))
    }

    /// Dimension of a quotient.
    #[must_use]
    pub fn over(self, other: Self) -> Self {
        Self(std::array::from_fn(|k| self.0[k].saturating_sub(other.0[k])))
    }

    /// Dimension of a power `num / den`; `None` where an exponent would not be a multiple of one sixtieth.
    #[must_use]
    pub fn pow(self, num: i32, den: i32) -> Option<Self> {
        let mut out = [0; 5];
        for (o, &e) in out.iter_mut().zip(&self.0) {
            let p = e.checked_mul(num)?;
            if den == 0 || p % den != 0 {
                return None;
            }
            *o = p / den;
        }
        Some(Self(out))
    }

    /// Name of the physical quantity, for the common ones.
    #[must_use]
    pub fn quantity(self) -> Option<&'static str> {
        const NAMES: [(Dim, &str); 14] = [
            (Dim::ONE, "a plain number"),
            (Dim::MASS, "mass"),
            (Dim::LENGTH, "length"),
            (Dim::TIME, "time"),
            (Dim::VELOCITY, "velocity"),
            (Dim::ACCELERATION, "acceleration"),
            (Dim::RATE, "angular velocity"),
            (Dim::FORCE, "force"),
            (Dim::ENERGY, "energy or torque"),
            (Dim::POWER, "power"),
            (Dim::INERTIA, "inertia"),
            (Dim::MOMENTUM, "momentum"),
            (Dim::ANGULAR_MOMENTUM, "angular momentum"),
            (Dim::DENSITY, "density"),
        ];
        NAMES.iter().find(|(d, _)| *d == self).map(|(_, n)| *n)
    }

    /// SI unit as the language writes it: `kg*m/s^2`, `1` for a plain number.
    #[must_use]
    pub fn unit(self) -> String {
        let mut top = Vec::new();
        let mut bottom = Vec::new();
        for (&name, &e) in BASE.iter().zip(&self.0) {
            let list = if e > 0 { &mut top } else { &mut bottom };
            let e = e.abs();
            if e == PARTS {
                list.push(name.to_owned());
            } else if e != 0 {
                list.push(format!("{name}^{}", f64::from(e) / f64::from(PARTS)));
            }
        }
        let mut text = if top.is_empty() { "1".to_owned() } else { top.join("*") };
        for factor in bottom {
            text.push('/');
            text.push_str(&factor);
        }
        text
    }
}

impl fmt::Display for Dim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.quantity() {
            Some(name) if *self == Self::ONE => write!(f, "{name}"),
            Some(name) => write!(f, "{name} [{}]", self.unit()),
            None => write!(f, "[{}]", self.unit()),
        }
    }
}

/// Units that take SI prefixes.
const PREFIXED: [(&str, f64, Dim); 11] = [
    ("m", 1.0, Dim::LENGTH),
    ("s", 1.0, Dim::TIME),
    ("A", 1.0, Dim([0, 0, 0, PARTS, 0])),
    ("K", 1.0, Dim([0, 0, 0, 0, PARTS])),
    ("N", 1.0, Dim::FORCE),
    ("J", 1.0, Dim::ENERGY),
    ("W", 1.0, Dim::POWER),
    ("Pa", 1.0, Dim::of(1, -1, -2)),
    ("Hz", 1.0, Dim::RATE),
    ("V", 1.0, Dim([PARTS, 2 * PARTS, -3 * PARTS, -PARTS, 0])),
    ("C", 1.0, Dim([0, 0, PARTS, PARTS, 0])),
];

/// Prefixes as quotients of exact numbers: `10 us` is 10 / 1e6, which rounds once and gives the nearest number to 1e-5.
const PREFIXES: [(&str, f64, f64); 10] = [
    ("f", 1.0, 1e15),
    ("p", 1.0, 1e12),
    ("n", 1.0, 1e9),
    ("u", 1.0, 1e6),
    ("m", 1.0, 1e3),
    ("c", 1.0, 1e2),
    ("d", 1.0, 1e1),
    ("k", 1e3, 1.0),
    ("M", 1e6, 1.0),
    ("G", 1e9, 1.0),
];

/// Elementary charge, C (exact by definition of the SI).
const CHARGE: f64 = 1.602_176_634e-19;
/// Avogadro's number (exact by definition of the SI).
const AVOGADRO: f64 = 6.022_140_76e23;
/// Atomic mass constant, kg (CODATA 2018).
const AMU: f64 = 1.660_539_066_60e-27;

/// Units without prefixes.
const PLAIN: [(&str, f64, Dim); 28] = [
    ("kg", 1.0, Dim::MASS),
    ("gram", 1e-3, Dim::MASS),
    ("mg", 1e-6, Dim::MASS),
    ("tonne", 1e3, Dim::MASS),
    ("lb", 0.453_592_37, Dim::MASS),
    ("minute", 60.0, Dim::TIME),
    ("hour", 3600.0, Dim::TIME),
    ("rad", 1.0, Dim::ONE),
    ("mrad", 1e-3, Dim::ONE),
    ("deg", std::f64::consts::PI / 180.0, Dim::ONE),
    ("rev", 2.0 * std::f64::consts::PI, Dim::ONE),
    ("rpm", 2.0 * std::f64::consts::PI / 60.0, Dim::RATE),
    ("inch", 0.0254, Dim::LENGTH),
    ("ft", 0.3048, Dim::LENGTH),
    ("lbf", 4.448_221_615_260_5, Dim::FORCE),
    ("bar", 1e5, Dim::of(1, -1, -2)),
    ("atm", 101_325.0, Dim::of(1, -1, -2)),
    ("L", 1e-3, Dim::of(0, 3, 0)),
    ("percent", 0.01, Dim::ONE),
    ("angstrom", 1e-10, Dim::LENGTH),
    ("amu", AMU, Dim::MASS),
    ("e", CHARGE, Dim([0, 0, PARTS, PARTS, 0])),
    ("eV", CHARGE, Dim::ENERGY),
    ("meV", 1e-3 * CHARGE, Dim::ENERGY),
    ("keV", 1e3 * CHARGE, Dim::ENERGY),
    ("cal", 4.184, Dim::ENERGY),
    ("kcal", 4184.0, Dim::ENERGY),
    ("mol", AVOGADRO, Dim::ONE),
];

/// A unit in SI: a number of it is `x times / over`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scale {
    /// Factor.
    pub times: f64,
    /// Divisor.
    pub over: f64,
    /// Dimension.
    pub dim: Dim,
}

/// What a unit word stands for.
#[must_use]
pub fn unit(word: &str) -> Option<Scale> {
    let whole = |&(_, times, dim): &(&str, f64, Dim)| Scale { times, over: 1.0, dim };
    let plain = PLAIN.iter().chain(&PREFIXED).find(|(name, ..)| *name == word).map(whole);
    plain.or_else(|| {
        PREFIXES.iter().find_map(|&(prefix, times, over)| {
            let rest = word.strip_prefix(prefix)?;
            let unit = PREFIXED.iter().find(|(name, ..)| *name == rest).map(whole)?;
            Some(Scale { times: times * unit.times, over, dim: unit.dim })
        })
    })
}

/// What to say of words that people write for units but that the language leaves free for names.
#[must_use]
pub fn spelled_out(word: &str) -> Option<&'static str> {
    match word {
        "g" => Some("gram"),
        "t" => Some("tonne"),
        "h" => Some("hour"),
        "min" => Some("minute"),
        "d" => Some("24 hour"),
        _ => None,
    }
}

/// All unit words without prefixes, for suggestions.
pub fn words() -> impl Iterator<Item = &'static str> {
    PLAIN.iter().chain(&PREFIXED).map(|(name, ..)| *name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_have_their_values() {
        let scale = |times, over, dim| Some(Scale { times, over, dim });
        assert_eq!(unit("mm"), scale(1.0, 1e3, Dim::LENGTH));
        assert_eq!(unit("kg"), scale(1.0, 1.0, Dim::MASS));
        assert_eq!(unit("us"), scale(1.0, 1e6, Dim::TIME));
        assert_eq!(unit("kJ"), scale(1e3, 1.0, Dim::ENERGY));
        for word in ["g", "t", "h", "min", "d"] {
            assert_eq!(unit(word), None, "{word} stays free for names");
        }
    }

    #[test]
    fn dimensions_multiply_and_show() {
        assert_eq!(Dim::MASS.times(Dim::ACCELERATION), Dim::FORCE);
        assert_eq!(Dim::LENGTH.pow(3, 2).and_then(|d| d.pow(2, 3)), Some(Dim::LENGTH));
        assert_eq!(Dim::LENGTH.pow(1, 7), None);
        assert_eq!(Dim::FORCE.unit(), "kg*m/s^2");
        assert_eq!(Dim::FORCE.over(Dim::LENGTH.pow(3, 2).expect("halves are exact")).unit(), "kg/m^0.5/s^2");
        assert_eq!(Dim::ONE.to_string(), "a plain number");
    }
}
