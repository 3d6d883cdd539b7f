//! The exact Newton matrix of one implicit step, as blocks of bodies and constraint elements.
//!
//! Unknowns per body `u = d/h` (increment of the position by the step) and `V`; per constraint element the impulse
//! `lam = h lambda` and `m = mu/h`. With `H = blockdiag(I, T(d_theta))`, `K(lam) = d(B^T lam)/dq`, `G = I` or `M^-1`:
//!
//! ```text
//! V rows:  du - dV + G B^T dm                                       = -r_d/h
//! u rows:  h (K(lam) - h_v Q_q) H du + (M - h_v Q_V) dV + B^T dlam  = -r_V
//! e rows:  B H du                                                   = -r_Phi/h
//!          (h (BV)_q - B) H du + B dV                               = -r_B + r_Phi/h
//! ```
//!
//! Of Euler's method `h_v = h`; [`linearised`] has equations of other methods with blocks of the same form. What the change of `G B^T` does with `mu` is left out: `m` is of the order of `h` times an acceleration, and so it is of the
//! order of `h^2`.
//! Without `mu`, `u = V` and one block row per body, one per element remain. All entries stay of the size of `M` and
//! `B` as `h` falls. Elimination takes `V` (pivot `-I`), then `u` (pivot near `M`) of a body, and a constraint when
//! its bodies are done; the Schur complement is then that of a smaller mechanism and regular with its rows.

//!
//! Where no force and no multiplier couples bodies, or positions with attitudes, bodies are eliminated once and for all: what is left are
//! constraints alone ([`condensed`]). Otherwise the matrix is taken as a whole ([`whole`]).

use alloc::boxed::Box;

use nalgebra::{Matrix3, Vector3};

mod condensed;
pub(crate) mod linearised;
pub(crate) mod whole;

use crate::inertia::Inertia;
use crate::linalg::block_lu::SingularBlock;
use crate::linalg::rows;
use crate::system::{ConstraintDerivatives, ForceDerivatives, Jacobian};
use crate::topology::{ElementSet, Topology};
use condensed::Condensed;
use whole::Whole;

/// What the step solves for besides `Phi = 0` or `B V = 0` alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// `Phi(q1) = 0`.
    Position,
    /// `B(q1) V1 + Phi_t = 0`.
    Velocity,
    /// Both, with `mu`.
    Both,
}

/// Everything evaluated at the current iterate that the matrix is made of.
pub(crate) struct Point<'a> {
    /// By how much a change of velocities moves positions, s.
    pub(crate) h: f64,
    /// By how much a change of accelerations changes velocities, s: the same for Euler's method.
    pub(crate) h_v: f64,
    pub(crate) inertia: &'a Inertia,
    /// `G = M^-1` instead of `G = I`.
    pub(crate) hamiltonian: bool,
    /// `T(d_theta)` per body.
    pub(crate) tangents: &'a [Matrix3<f64>],
    pub(crate) v: &'a [f64],
    pub(crate) jac: &'a Jacobian,
    pub(crate) constraint: &'a ConstraintDerivatives,
    pub(crate) force: &'a ForceDerivatives,
    pub(crate) active: &'a [bool],
}

/// The matrix of a form other than [`Form::Both`].
#[derive(Clone, Debug)]
pub(crate) enum NewtonMatrix {
    Whole(Box<Whole>),
    Condensed(Box<Condensed>),
}

impl NewtonMatrix {
    pub(crate) fn new(topology: &Topology, form: Form) -> Self {
        match Condensed::new(topology, form) {
            Some(condensed) => Self::Condensed(Box::new(condensed)),
            None => Self::Whole(Box::new(Whole::new(topology, form))),
        }
    }

    /// Smallest pivot of a constraint element in the last factorisation.
    pub(crate) fn smallest_pivot(&self, element: usize) -> f64 {
        match self {
            Self::Whole(matrix) => matrix.smallest_pivot(element),
            Self::Condensed(matrix) => matrix.smallest_pivot(element),
        }
    }

    /// Fills and factors the matrix.
    pub(crate) fn factor(&mut self, topology: &Topology, p: &Point<'_>) -> Result<(), SingularBlock> {
        match self {
            Self::Whole(matrix) => matrix.factor(topology, p),
            Self::Condensed(matrix) => matrix.factor(topology, p),
        }
    }

    /// Solves in place: `V` and `lam`, one after the other, for `jac` and `active` of the point of the factors.
    pub(crate) fn solve(&mut self, topology: &Topology, jac: &Jacobian, x: &mut [f64]) {
        match self {
            Self::Whole(matrix) => matrix.solve(x),
            Self::Condensed(matrix) => matrix.solve(topology, jac, x),
        }
    }
}

/// Body or constraint element that a node belongs to. Bodies come first, then elements, then bodies with their `V`.
pub(crate) fn owner(topology: &Topology, node: usize) -> Owner {
    let (nb, ne) = (topology.bodies.len(), topology.constraints.elements.len());
    if node < nb {
        Owner::Body(node)
    } else if node < nb + ne {
        Owner::Element(node - nb)
    } else {
        Owner::Body(node - nb - ne)
    }
}

/// What a node of the matrix stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Owner {
    Body(usize),
    Element(usize),
}

/// Bodies that stored parts of square blocks couple, row and column.
fn coupled<'a>(topology: &'a Topology, set: &'a ElementSet) -> impl Iterator<Item = (usize, usize)> + 'a {
    set.elements.iter().flat_map(|e| {
        set.parts(e).map(|(coupling, _)| {
            let [a, b] = coupling.map(|number| rows::vector(set, &topology.dof, e, number).0);
            (a, b)
        })
    })
}

/// `factor row H` for one slot, in the first entries of the result.
fn times_tangent(row: &[f64], tangent: Option<&Matrix3<f64>>, factor: f64) -> [f64; 6] {
    let mut out = [0.0; 6];
    for (out, x) in out.iter_mut().zip(row) {
        *out = factor * x;
    }
    if let (Some(t), 6) = (tangent, row.len()) {
        let (a, b, c) = (out[3], out[4], out[5]);
        for j in 0..3 {
            out[3 + j] = a * t[(0, j)] + b * t[(1, j)] + c * t[(2, j)];
        }
    }
    out
}

/// `J - h_v d(-Omega x J Omega)/dOmega`: the attitude's block of a body without constraints and forces, whose velocities begin at `dof`.
fn attitude_block(p: &Point<'_>, body: usize, dof: usize) -> Matrix3<f64> {
    let (_, inertia) = p.inertia.mass(body);
    let omega = Vector3::from_column_slice(&p.v[dof + 3..][..3]);
    inertia - p.inertia.gyroscopic_derivative(body, &omega) * p.h_v
}

#[inline(always)]
fn add(to: &mut [f64], from: &[f64]) {
    for (to, from) in to.iter_mut().zip(from) {
        *to += from;
    }
}
