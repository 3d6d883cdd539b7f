//! The eight members of the constraint-stabilised Euler family, and their names.

use alloc::borrow::ToOwned;
use alloc::string::String;
use core::fmt;
use core::str::FromStr;

/// Which constraint equations a step fulfils to round-off.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Level {
    /// `Phi = 0`.
    Index3,
    /// `B V + Phi_t = 0`.
    Index2,
    /// Both.
    Index2Stabilised,
    /// Both, and `B A + gamma = 0` for the acceleration that the step delivers.
    Index1,
}

/// Metric in which the correction `W mu` of the positions is orthogonal to the constraint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Metric {
    /// `W = B^T`.
    Lagrangian,
    /// `W = M^-1 B^T`.
    Hamiltonian,
}

/// One method.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Method {
    /// Constraint level.
    pub level: Level,
    /// Metric of the correction; without effect for [`Level::Index3`] and [`Level::Index2`].
    pub metric: Metric,
}

impl Method {
    /// All eight, in the order of the source's tables.
    pub const ALL: [Self; 8] = {
        const fn row(metric: Metric) -> [Method; 4] {
            [
                Method { level: Level::Index3, metric },
                Method { level: Level::Index2, metric },
                Method { level: Level::Index2Stabilised, metric },
                Method { level: Level::Index1, metric },
            ]
        }
        let [a, b, c, d] = row(Metric::Lagrangian);
        let [e, f, g, h] = row(Metric::Hamiltonian);
        [a, b, c, d, e, f, g, h]
    };

    /// Name as in model files and on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match (self.level, self.metric) {
            (Level::Index3, Metric::Lagrangian) => "dae3l_le",
            (Level::Index2, Metric::Lagrangian) => "dae2l_le",
            (Level::Index2Stabilised, Metric::Lagrangian) => "dae2l_lse",
            (Level::Index1, Metric::Lagrangian) => "dae1l_lse",
            (Level::Index3, Metric::Hamiltonian) => "dae3h_le",
            (Level::Index2, Metric::Hamiltonian) => "dae2h_le",
            (Level::Index2Stabilised, Metric::Hamiltonian) => "dae2h_lse",
            (Level::Index1, Metric::Hamiltonian) => "dae1h_lse",
        }
    }
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A name that none of the methods has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownMethod {
    /// The name given.
    pub name: String,
}

impl fmt::Display for UnknownMethod {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "no stepper is called `{}`; there are ", self.name)?;
        for (i, method) in Method::ALL.iter().enumerate() {
            write!(f, "{}{method}", if i == 0 { "" } else { ", " })?;
        }
        Ok(())
    }
}

impl core::error::Error for UnknownMethod {}

impl FromStr for Method {
    type Err = UnknownMethod;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        let found = Self::ALL.into_iter().find(|method| method.name() == name);
        found.ok_or_else(|| UnknownMethod { name: name.to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_methods_correspond() {
        for method in Method::ALL {
            assert_eq!(method.name().parse(), Ok(method));
        }
        assert!("dae4".parse::<Method>().is_err());
    }
}
