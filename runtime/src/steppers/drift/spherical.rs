//! Drifts of bodies with three equal moments `J`: turns about the constant momentum.
//!
//! Any turn by an angle that grows with `a = h |pi|/J` is symplectic, and comes from a discrete Lagrangian: here the exact
//! flow ([`Exp`], angle `a`), and the Cayley one ([`Cayley`], `2 atan(a/2)`, Lagrangian `(2 J/h) ln(1 + |xi|^2/4)`).

use nalgebra::Matrix3;

use super::{Drift, Exponential, Rotor, Spin, TurnsTooFar, cayley_tangent, turn_by_cayley};
use crate::lanes::{F64x8, Real};

/// `Q <- Q exp(h pi/J)`: exact.
#[derive(Clone, Copy, Debug)]
pub struct Exp;

/// `Q <- Q cay(h pi/J)`.
#[derive(Clone, Copy, Debug)]
pub struct Cayley;

fn exp<F: Real>(rotor: &Rotor<F>, h: f64, spin: &mut Spin<F>) {
    Exponential::new(spin.pi * (F::splat(h) * rotor.inverse[0])).turn(&mut spin.q);
}

fn cayley<F: Real>(rotor: &Rotor<F>, h: f64, spin: &mut Spin<F>) {
    turn_by_cayley(&mut spin.q, &(spin.pi * (F::splat(h) * rotor.inverse[0])));
}

impl Drift for Exp {
    fn advance(rotor: &Rotor, h: f64, spin: &mut Spin) -> Result<(), TurnsTooFar> {
        exp(rotor, h, spin);
        Ok(())
    }

    #[inline(always)]
    fn advance_eight(rotor: &Rotor<F64x8>, h: f64, spin: &mut Spin<F64x8>) -> Result<(), TurnsTooFar> {
        exp(rotor, h, spin);
        Ok(())
    }

    fn linearise(rotor: &Rotor, h: f64, spin: &mut Spin) -> Result<Matrix3<f64>, TurnsTooFar> {
        let scale = h * rotor.inverse[0];
        let turn = Exponential::new(spin.pi * scale);
        turn.turn(&mut spin.q);
        Ok(turn.tangent() * scale)
    }
}

impl Drift for Cayley {
    fn advance(rotor: &Rotor, h: f64, spin: &mut Spin) -> Result<(), TurnsTooFar> {
        cayley(rotor, h, spin);
        Ok(())
    }

    #[inline(always)]
    fn advance_eight(rotor: &Rotor<F64x8>, h: f64, spin: &mut Spin<F64x8>) -> Result<(), TurnsTooFar> {
        cayley(rotor, h, spin);
        Ok(())
    }

    fn linearise(rotor: &Rotor, h: f64, spin: &mut Spin) -> Result<Matrix3<f64>, TurnsTooFar> {
        let scale = h * rotor.inverse[0];
        Self::advance(rotor, h, spin)?;
        Ok(cayley_tangent(&(spin.pi * scale)) * scale)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{check_derivative, rotor};
    use super::*;
    use nalgebra::Vector3;

    #[test]
    fn derivatives() {
        let pi = Vector3::new(0.6, 1.9, -1.1);
        check_derivative::<Exp>(&rotor([0.8; 3]), pi, 0.3);
        check_derivative::<Cayley>(&rotor([0.8; 3]), pi, 0.3);
    }
}
