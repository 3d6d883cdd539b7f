//! How the names inside of an element's expressions resolve to inputs of its kernels.

use super::error::LowerError;
use crate::symbolic::{BodyRef, ElementRef, ExprId};

/// The places of everything that the expressions of one element kind refer to.
#[derive(Clone, Copy, Debug, Default)]
pub struct Scope<'a> {
    /// Slot k.
    pub bodies: &'a [BodyRef],
    /// Whether slot k is a particle: its `R` is the identity, its `Omega` zero. Slots beyond the list are not.
    pub particles: &'a [bool],
    /// Memory input k.
    pub memories: &'a [(ElementRef, u32)],
    /// Contraction symbols and the row of their first component.
    pub lambda_symbols: &'a [(u32, u32)],
    /// Element and group of multipliers, and the multiplier input of their first component.
    pub multipliers: &'a [(ElementRef, u32, u32)],
    /// First scalar of parameter k.
    pub params_offset: &'a [u32],
    /// First scalar of input k.
    pub signals_offset: &'a [u32],
    /// First scalar of the structural constants, which come after the parameters.
    pub consts_offset: u32,
    /// The index variable that stands at place k of the instance's indices.
    pub indices: &'a [u32],
    /// `Reduce` nodes: reduced input k.
    pub reductions: &'a [ExprId],
    /// `At` and `Final` nodes and the recorded input of their first component.
    pub recorded: &'a [(ExprId, u32)],
}

/// A position as the number of an input.
pub(super) fn number(position: usize) -> u32 {
    u32::try_from(position).expect("fewer than 2^32 inputs")
}

/// Number of the input for a name, or the first one.
impl Scope<'_> {
    /// Slot of a body and whether it is a particle.
    pub(super) fn slot(&self, body: BodyRef) -> Result<(u16, bool), LowerError> {
        let position = self.bodies.iter().position(|&b| b == body).ok_or(LowerError::Body(body))?;
        let is_particle = self.particles.get(position).copied().unwrap_or(false);
        Ok((u16::try_from(position).expect("an element touches fewer than 2^16 bodies"), is_particle))
    }

    pub(super) fn memory(&self, element: ElementRef, site: u32) -> Result<u32, LowerError> {
        let position = self.memories.iter().position(|&m| m == (element, site));
        position.map(number).ok_or(LowerError::Memory(element, site))
    }

    pub(super) fn symbol(&self, k: u32) -> Result<u32, LowerError> {
        self.lambda_symbols.iter().find(|s| s.0 == k).map(|s| s.1).ok_or(LowerError::Symbol(k))
    }

    pub(super) fn multiplier(&self, element: ElementRef, group: u32) -> Result<u32, LowerError> {
        let found = self.multipliers.iter().find(|m| (m.0, m.1) == (element, group));
        found.map(|m| m.2).ok_or(LowerError::Multiplier(element, group))
    }

    pub(super) fn param(&self, k: u32) -> Result<u32, LowerError> {
        self.params_offset.get(k as usize).copied().ok_or(LowerError::Param(k))
    }

    pub(super) fn signal(&self, k: u32) -> Result<u32, LowerError> {
        self.signals_offset.get(k as usize).copied().ok_or(LowerError::Input(k))
    }

    pub(super) fn index(&self, k: u32) -> Result<u32, LowerError> {
        self.indices.iter().position(|&index| index == k).map(number).ok_or(LowerError::Index(k))
    }

    pub(super) fn reduction(&self, e: ExprId) -> Result<u32, LowerError> {
        self.reductions.iter().position(|&r| r == e).map(number).ok_or(LowerError::Reduction(e))
    }

    pub(super) fn recorded(&self, e: ExprId) -> Result<u32, LowerError> {
        self.recorded.iter().find(|r| r.0 == e).map(|r| r.1).ok_or(LowerError::Recorded(e))
    }
}

/// An expression and where it goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Output {
    /// Place of the first component.
    pub offset: usize,
    /// From one row of a matrix to the next; components within a row and of vectors are consecutive.
    pub row_stride: usize,
    /// What is written.
    pub expr: ExprId,
}

impl Output {
    /// A value whose components are consecutive.
    #[must_use]
    pub fn dense(offset: usize, expr: ExprId) -> Self {
        Self { offset, row_stride: 3, expr }
    }
}
