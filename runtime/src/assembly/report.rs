//! What assembly found out, and what it failed at.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use super::stacked::Stacked;
use crate::error::ResidualRow;
use crate::inertia::Inertia;
use crate::so3::log;
use crate::state::State;
use crate::system::System;
use crate::topology::BodyKind;

/// Part of the model's length (or rad) above which a body counts as moved.
const MOVED: f64 = 1e-9;

/// A row that follows from others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DependentRow {
    /// Constraint element of the row.
    pub element: usize,
    /// Row within the element.
    pub row: usize,
    /// Name of the element.
    pub element_name: String,
    /// Name of the row.
    pub row_name: String,
    /// Names of the elements whose rows it follows from; its own among them if its rows overlap one another.
    pub overlaps: Vec<String>,
}

/// A body that assembly has moved away from its guess.
#[derive(Clone, Debug, PartialEq)]
pub struct Moved {
    /// Number of the body.
    pub body: usize,
    /// Name of the body.
    pub name: String,
    /// How far its mass centre moved, m.
    pub distance: f64,
    /// How far it turned, rad.
    pub angle: f64,
    /// The constraint or condition that moved it most.
    pub cause: String,
}

/// The result of an assembly besides the state.
#[derive(Clone, Debug, PartialEq)]
pub struct AssemblyReport {
    /// Number of constraint rows.
    pub rows: usize,
    /// Number of independent ones.
    pub rank: usize,
    /// Degrees of freedom, `nv - rank`.
    pub degrees_of_freedom: usize,
    /// Rows that follow from others.
    pub dependent: Vec<DependentRow>,
    /// Bodies that were moved, in their order.
    pub moved: Vec<Moved>,
}

/// Why there is no consistent state.
#[derive(Clone, Debug, PartialEq)]
pub enum AssemblyError {
    /// Constraints or fixed position conditions stay open.
    Open {
        /// The open rows, the most open one first.
        rows: Vec<ResidualRow>,
    },
    /// Constraints and fixed velocity conditions contradict one another.
    ContradictoryVelocities {
        /// The rows that cannot be fulfilled together with others.
        conflicts: Vec<Conflict>,
    },
    /// A constraint or condition is not a finite number.
    NonFinite {
        /// Names of the elements, where they are known.
        places: Vec<String>,
    },
}

/// A row that contradicts others.
#[derive(Clone, Debug, PartialEq)]
pub struct Conflict {
    /// The row and by how much it is violated.
    pub row: ResidualRow,
    /// Names of the constraints and conditions that determine its value already.
    pub with: Vec<String>,
}

impl fmt::Display for AssemblyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Open { rows } => {
                write!(f, "the model cannot be assembled, these stay open: ")?;
                list(f, rows.iter().take(6))?;
                if rows.len() > 6 {
                    write!(f, " and {} more", rows.len() - 6)?;
                }
                f.write_str("; check lengths and fixed values, or start from a better guess")
            }
            Self::ContradictoryVelocities { conflicts } => {
                write!(f, "velocities contradict one another: ")?;
                for (i, conflict) in conflicts.iter().take(6).enumerate() {
                    write!(f, "{}{}", if i == 0 { "" } else { "; " }, conflict.row)?;
                    if !conflict.with.is_empty() {
                        f.write_str(" against ")?;
                        list(f, conflict.with.iter())?;
                    }
                }
                f.write_str("; fix fewer of them, or make one a guess")
            }
            Self::NonFinite { places } if places.is_empty() => {
                f.write_str("a value of the initial state is not a finite number")
            }
            Self::NonFinite { places } => {
                write!(f, "not a finite number while assembling: ")?;
                list(f, places.iter())
            }
        }
    }
}

fn list<T: fmt::Display>(f: &mut fmt::Formatter<'_>, items: impl Iterator<Item = T>) -> fmt::Result {
    for (i, item) in items.enumerate() {
        write!(f, "{}{item}", if i == 0 { "" } else { ", " })?;
    }
    Ok(())
}

impl core::error::Error for AssemblyError {}

/// How strongly, and by which element, a body was moved most.
#[derive(Clone, Debug, Default)]
pub(super) struct Pull {
    pub(super) strength: f64,
    pub(super) name: String,
}

/// Rank, overlaps and movements; `rows` holds the constraints at `s`.
pub(super) fn describe<S: System + ?Sized>(
    sys: &S,
    inertia: &Inertia,
    rows: &mut Stacked,
    guess: &State,
    s: &State,
    pulls: &[Pull],
) -> Result<AssemblyReport, AssemblyError> {
    let rank = rows
        .gram
        .factor_ranked(inertia, &rows.b)
        .map_err(|block| AssemblyError::NonFinite { places: vec![rows.name(sys, block.node)] })?;
    let mut dependent = Vec::new();
    for row in 0..rows.set.rows {
        if rows.gram.independent[row] {
            continue;
        }
        let element = rows.element_of(row);
        let mut overlaps: Vec<usize> =
            rows.gram.combination(inertia, row, &rows.b).iter().map(|&(j, _)| rows.element_of(j)).collect();
        overlaps.dedup();
        let residual = rows.residual(sys, row);
        dependent.push(DependentRow {
            element,
            row: row - rows.set.elements[element].row,
            element_name: residual.element,
            row_name: residual.row,
            overlaps: overlaps.iter().map(|&e| rows.name(sys, e)).collect(),
        });
    }
    let length = rows.length(s);
    let mut moved = Vec::new();
    for (body, pull) in pulls.iter().enumerate() {
        let distance = (s.x(body) - guess.x(body)).norm();
        let angle = match rows.topology.bodies[body].kind {
            BodyKind::Rigid => log(&(guess.r(body).transpose() * s.r(body))).norm(),
            BodyKind::Particle => 0.0,
        };
        if distance > MOVED * length || angle > MOVED {
            moved.push(Moved { body, name: sys.body_name(body), distance, angle, cause: pull.name.clone() });
        }
    }
    Ok(AssemblyReport { rows: rows.set.rows, rank, degrees_of_freedom: rows.topology.nv() - rank, dependent, moved })
}
