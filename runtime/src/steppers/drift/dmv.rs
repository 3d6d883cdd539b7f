//! The discrete rigid body of Moser and Veselov, the same as the Lie-group variational integrator of Lee, Leok, McClamroch.
//!
//! ```text
//! h pi0 (1 + |xi|^2/4) = I xi + xi x I xi/2,     Q1 = Q0 cay(xi),     pi1 = cay(xi)^T pi0
//! ```
//!
//! It keeps the kinetic energy of a free body to round-off besides `|pi|` and `Q pi`. There is a solution up to a turn of
//! about 1 rad a step, for spherical bodies `h |pi| <= J`.

use nalgebra::{Matrix3, Vector3};

use super::{Drift, Rotor, Spin, TurnsTooFar, cayley_factor, cayley_increment, cayley_tangent, turn_by_cayley};
use crate::so3::skew;

/// The drift.
#[derive(Clone, Copy, Debug)]
pub struct Dmv;

/// Iterations before giving up: ten are needed where the solution is about to vanish.
const LIMIT: usize = 30;

/// `xi`, and the matrix `A` of `A dxi = (1 + |xi|^2/4) h dpi0`.
fn solve(rotor: &Rotor, h: f64, pi: &Vector3<f64>) -> Result<(Vector3<f64>, Matrix3<f64>), TurnsTooFar> {
    let inertia = Matrix3::from_diagonal(&rotor.moments);
    let b = pi * h;
    let mut x = b.component_mul(&rotor.inverse);
    let mut last = f64::INFINITY;
    for _ in 0..LIMIT {
        let y = rotor.moments.component_mul(&x);
        let residual = y + x.cross(&y) * 0.5 - b * (1.0 + 0.25 * x.norm_squared());
        let matrix = inertia + (skew(&x) * inertia - skew(&y)) * 0.5 - b * x.transpose() * 0.5;
        let update = matrix.try_inverse().ok_or(TurnsTooFar)? * residual;
        x -= update;
        let size = update.norm();
        // Quadratic convergence: small updates that do not fall any more are round-off.
        if size <= 2e-16 * x.norm() || (size <= 1e-13 * x.norm() && size >= 0.5 * last) {
            // Half a turn and more belong to another branch.
            return if x.norm() < 2.0 { Ok((x, matrix)) } else { Err(TurnsTooFar) };
        }
        last = size;
    }
    Err(TurnsTooFar)
}

impl Drift for Dmv {
    fn advance(rotor: &Rotor, h: f64, spin: &mut Spin) -> Result<(), TurnsTooFar> {
        let (xi, _) = solve(rotor, h, &spin.pi)?;
        turn_by_cayley(&mut spin.q, &xi);
        spin.pi += cayley_increment(&spin.pi, &xi, cayley_factor(&xi));
        Ok(())
    }

    fn linearise(rotor: &Rotor, h: f64, spin: &mut Spin) -> Result<Matrix3<f64>, TurnsTooFar> {
        let (xi, matrix) = solve(rotor, h, &spin.pi)?;
        let inverse = matrix.try_inverse().ok_or(TurnsTooFar)?;
        turn_by_cayley(&mut spin.q, &xi);
        spin.pi += cayley_increment(&spin.pi, &xi, cayley_factor(&xi));
        Ok(cayley_tangent(&xi) * inverse * (h * (1.0 + 0.25 * xi.norm_squared())))
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{check_derivative, rotor};
    use super::*;

    #[test]
    fn derivatives() {
        for moments in [[0.8; 3], [1.0, 2.0, 2.0], [1.0, 2.0, 3.0]] {
            check_derivative::<Dmv>(&rotor(moments), Vector3::new(0.3, 0.9, -0.6), 0.3);
        }
    }

    #[test]
    fn there_is_no_solution_beyond_a_radian() {
        let body = rotor([1.0, 1.0, 1.0]);
        for (a, is_possible) in [(0.99, true), (1.01, false), (3.0, false)] {
            let mut spin = Spin { q: Matrix3::identity(), pi: Vector3::new(0.0, 0.6 * a, 0.8 * a) };
            assert_eq!(Dmv::advance(&body, 1.0, &mut spin).is_ok(), is_possible, "{a}");
        }
    }
}
