//! What kernels are given, whatever executes them.

use crate::ir::Input;

/// Scalars of the state of a body: x, R row-major, v, Omega.
pub(super) const BODY: usize = 18;

/// Where a kernel finds its inputs. Only the parts that it loads need to be there.
#[derive(Clone, Copy, Debug)]
pub struct Inputs<'a> {
    /// State of all bodies, 18 scalars each.
    pub state: &'a [f64],
    /// Number of the body in each slot.
    pub slots: &'a [u32],
    /// Time (s).
    pub time: f64,
    /// Constants of the instance.
    pub columns: &'a [f64],
    /// Constants of the kind.
    pub uniforms: &'a [f64],
    /// Constants fixed at the start.
    pub starts: &'a [f64],
    /// All continuous angles of the model.
    pub memory: &'a [f64],
    /// Cell of `memory` for each memory input.
    pub cells: &'a [u32],
    /// Multipliers of the rows of the element.
    pub lambda: &'a [f64],
    /// Multipliers that outputs and checks read.
    pub multipliers: &'a [f64],
    /// Energies and momenta of the model.
    pub globals: &'a [f64; 9],
    /// Results of reductions.
    pub reduced: &'a [f64],
    /// Recorded values.
    pub recorded: &'a [f64],
    /// Scalars of the parameters.
    pub params: &'a [f64],
    /// Scalars of the inputs of the model.
    pub signals: &'a [f64],
    /// Index variables.
    pub indices: &'a [f64],
    /// Size and unknowns of a step.
    pub iterate: &'a [f64],
}

impl<'a> Inputs<'a> {
    /// No inputs at all: the rest of a literal that names some.
    pub const NONE: Inputs<'static> = Inputs {
        state: &[],
        slots: &[],
        time: 0.0,
        columns: &[],
        uniforms: &[],
        starts: &[],
        memory: &[],
        cells: &[],
        lambda: &[],
        multipliers: &[],
        globals: &[0.0; 9],
        reduced: &[],
        recorded: &[],
        params: &[],
        signals: &[],
        indices: &[],
        iterate: &[],
    };

    /// A slice of those that are read by plain offsets.
    #[inline]
    pub(super) const fn slice(&self, source: Source) -> &'a [f64] {
        match source {
            Source::Columns => self.columns,
            Source::Uniforms => self.uniforms,
            Source::Starts => self.starts,
            Source::Lambda => self.lambda,
            Source::Multipliers => self.multipliers,
            Source::Globals => self.globals,
            Source::Reduced => self.reduced,
            Source::Recorded => self.recorded,
            Source::Params => self.params,
            Source::Signals => self.signals,
            Source::Indices => self.indices,
            Source::Iterate => self.iterate,
        }
    }
}

/// Slices of [`Inputs`] that are read by plain offsets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Source {
    Columns,
    Uniforms,
    Starts,
    Lambda,
    Multipliers,
    Globals,
    Reduced,
    Recorded,
    Params,
    Signals,
    Indices,
    Iterate,
}

/// Where an input of a kernel is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// A component of the body in a slot.
    State { slot: u16, component: u8 },
    /// The time.
    Time,
    /// The memory that a cell points to.
    Memory(u32),
    /// Offset within a slice.
    Slice(Source, u32),
}

impl Place {
    pub(super) fn of(input: Input) -> Self {
        match input {
            Input::State { slot, component } => Self::State { slot, component },
            Input::Time => Self::Time,
            Input::Memory(n) => Self::Memory(n),
            Input::Column(n) => Self::Slice(Source::Columns, n),
            Input::Uniform(n) => Self::Slice(Source::Uniforms, n),
            Input::Start(n) => Self::Slice(Source::Starts, n),
            Input::Lambda(n) => Self::Slice(Source::Lambda, n),
            Input::Multiplier(n) => Self::Slice(Source::Multipliers, n),
            Input::Global(n) => Self::Slice(Source::Globals, u32::from(n)),
            Input::Reduced(n) => Self::Slice(Source::Reduced, n),
            Input::Recorded(n) => Self::Slice(Source::Recorded, n),
            Input::Param(n) => Self::Slice(Source::Params, n),
            Input::Signal(n) => Self::Slice(Source::Signals, n),
            Input::Index(n) => Self::Slice(Source::Indices, n),
            Input::Iterate(n) => Self::Slice(Source::Iterate, n),
        }
    }
}

/// All sources, in the order of their numbers.
#[cfg(feature = "cli")]
pub(super) const SOURCES: [Source; 12] = [
    Source::Columns,
    Source::Uniforms,
    Source::Starts,
    Source::Lambda,
    Source::Multipliers,
    Source::Globals,
    Source::Reduced,
    Source::Recorded,
    Source::Params,
    Source::Signals,
    Source::Indices,
    Source::Iterate,
];
