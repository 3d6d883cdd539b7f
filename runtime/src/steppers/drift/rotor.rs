//! The exact motion of a free rigid body.
//!
//! Spherical and symmetric bodies turn by one and two exponentials. Otherwise the momentum moves by Jacobi's elliptic
//! functions and the attitude by a precession about the constant `Q pi`, an elliptic integral of the third kind
//! (van Zon and Schofield, J. Comput. Phys. 225 (2007) 145; Celledoni, Fasso, Safstrom, Zanna, SIAM J. Sci. Comput. 30
//! (2008) 2084). Let `c` be the axis that the momentum circles, `a` the other extreme one, `b` the middle one, `M = |pi|`:
//!
//! ```text
//! X = pi_a^2 (Ic/Ia - 1) + pi_b^2 (Ic/Ib - 1)        Y = pi_b^2 (1 - Ia/Ib) + pi_c^2 (1 - Ia/Ic)
//! Z = pi_a^2 (1 - Ib/Ia) + pi_c^2 (1 - Ib/Ic)        l^2 = (Ic - Ib) Y/(Ia Ib Ic)
//! m = (Ib - Ia) X/((Ic - Ib) Y)                      1 - m = (Ic - Ia) Z/((Ic - Ib) Y)
//! pi_a = A cn u,  pi_b = +-B sn u,  pi_c = +-C dn u  at  u = l t + u0
//! phi' = M/Ic + M (Ic - Ia)/(Ia Ic) / (1 - n sn^2 u),  n = -Ic (Ib - Ia)/(Ia (Ic - Ib))
//! Q1 = Q0 P(pi0)^T Rz(phi1 - phi0) P(pi1)            rows of P(pi): e_c x pi, pi x (e_c x pi), pi, normed
//! ```
//!
//! Only `Z` is a difference, and it vanishes on the separatrix. Next to that, the middle axis included, and where the
//! difference of integrals would lose digits, small steps of the splitting of order 8 take over, whose error is round-off
//! as well.

use nalgebra::{Matrix3, Vector3};

use super::dlm::{self, Dlm, Variation};
use super::elliptic::{Jacobi, complete_third_kind, jacobi, third_kind_between};
use super::spherical::Exp;
use super::{Drift, Exponential, Rotor, Shape, Spin, TurnsTooFar};
use crate::so3::{exp_increment, polish, skew};
use crate::steppers::composition::{KAHAN_LI6, KAHAN_LI8};

/// The exact flow.
#[derive(Clone, Copy, Debug)]
pub struct Exact;

/// Smallest `1 - m` for which elliptic functions are used; on the separatrix itself there are none. Far above it digits are
/// not lost yet: attitudes `1e-8` beside the middle axis are good to `1e-13`.
const SEPARATRIX: f64 = 1e-20;

/// Largest sum of the angles whose difference is the precession, rad: more than this loses more than two digits.
const LARGEST_ANGLE: f64 = 100.0;

/// Square of the sine of the smallest angle between the momentum and its axis; below it the rotation is permanent to round-off.
const PERMANENT: f64 = 1e-32;

/// Turn of one small step of order 8, rad: its error is about `a^9/100`, below `1e-17`.
const SMALL_TURN: f64 = 0.02;

/// Turn of one step of order 6 in the derivative, rad: its error is below `1e-8`, good enough for Newton's method.
const DERIVATIVE_TURN: f64 = 0.2;

/// Most small steps, some milliseconds of them: fifty turns of a body in one step of the caller. A step that goes beyond is a mistake,
/// or a trial of an iteration gone astray, and must not take for ever.
const MOST: u32 = 1 << 14;

impl Drift for Exact {
    #[inline]
    fn advance(rotor: &Rotor, h: f64, spin: &mut Spin) -> Result<(), TurnsTooFar> {
        match rotor.shape {
            Shape::Spherical => Exp::advance(rotor, h, spin)?,
            Shape::Symmetric { axis: 0 } => Symmetric::<0>::new(rotor, h, spin).advance(spin),
            Shape::Symmetric { .. } => Symmetric::<2>::new(rotor, h, spin).advance(spin),
            Shape::Asymmetric => {
                if elliptic(rotor, h, spin).is_none() {
                    small_steps(rotor, h, spin)?;
                }
            }
        }
        Ok(())
    }

    #[inline]
    fn linearise(rotor: &Rotor, h: f64, spin: &mut Spin) -> Result<Matrix3<f64>, TurnsTooFar> {
        Ok(match rotor.shape {
            Shape::Spherical => Exp::linearise(rotor, h, spin)?,
            Shape::Symmetric { axis: 0 } => Symmetric::<0>::new(rotor, h, spin).linearise(rotor, h, spin),
            Shape::Symmetric { .. } => Symmetric::<2>::new(rotor, h, spin).linearise(rotor, h, spin),
            Shape::Asymmetric => {
                let derivative = derivative(rotor, h, *spin)?;
                Self::advance(rotor, h, spin)?;
                derivative
            }
        })
    }
}

fn unit(axis: usize) -> Vector3<f64> {
    Vector3::ith(axis, 1.0)
}

/// The motion of a body that is symmetric about `AXIS`: `exp(h pi/I1)`, then a turn about its own axis. `I1` is the middle moment, one of
/// two equal ones.
struct Symmetric<const AXIS: usize> {
    about_momentum: Exponential,
    /// Angle about the own axis per momentum along it.
    rate: f64,
    sine: f64,
    versine: f64,
}

impl<const AXIS: usize> Symmetric<AXIS> {
    #[inline(always)]
    fn new(rotor: &Rotor, h: f64, spin: &Spin) -> Self {
        let rate = h * (rotor.inverse[AXIS] - rotor.inverse[1]);
        let (sine, versine) = dlm::sin_versin::<4, f64>(rate * spin.pi[AXIS]);
        Self { about_momentum: Exponential::new(spin.pi * (h * rotor.inverse[1])), rate, sine, versine }
    }

    /// `Q <- Q exp(theta) exp(angle e)`, `pi <- exp(-angle e) pi`.
    #[inline(always)]
    fn advance(&self, spin: &mut Spin) {
        self.about_momentum.turn(&mut spin.q);
        dlm::turn_by::<AXIS, f64>(&mut spin.q.data.0, &mut spin.pi.data.0[0], self.sine, self.versine);
    }

    /// The same with the derivative, `exp(-angle e) T(theta) h/I1 + rate e e^T`.
    #[inline(always)]
    fn linearise(&self, rotor: &Rotor, h: f64, spin: &mut Spin) -> Matrix3<f64> {
        self.advance(spin);
        let mut out = self.about_momentum.tangent() * (h * rotor.inverse[1]);
        let (j, k) = ((AXIS + 1) % 3, (AXIS + 2) % 3);
        for column in &mut out.data.0 {
            let (mut x, mut y) = (column[j], column[k]);
            dlm::turn_pair(&mut x, &mut y, self.sine, self.versine);
            (column[j], column[k]) = (x, y);
        }
        out[(AXIS, AXIS)] += self.rate;
        out
    }
}

/// Number of equal steps that turn by at most `turn` each, whatever axis the momentum goes through.
///
/// # Errors
/// [`TurnsTooFar`] where they are more than [`MOST`].
fn count(rotor: &Rotor, h: f64, spin: &Spin, turn: f64) -> Result<u32, TurnsTooFar> {
    let steps = libm::ceil((spin.pi.norm() * rotor.inverse[0] * h).abs() / turn).max(1.0);
    if steps <= f64::from(MOST) { Ok(steps as u32) } else { Err(TurnsTooFar) }
}

/// The motion by small steps of order 8.
fn small_steps(rotor: &Rotor, h: f64, spin: &mut Spin) -> Result<(), TurnsTooFar> {
    let n = count(rotor, h, spin, SMALL_TURN)?;
    for _ in 0..n {
        for part in KAHAN_LI8 {
            dlm::advance::<Dlm, f64>(rotor, h / f64::from(n) * part, spin);
        }
    }
    Ok(())
}

/// The derivative of the motion by steps of order 6.
fn derivative(rotor: &Rotor, h: f64, mut spin: Spin) -> Result<Matrix3<f64>, TurnsTooFar> {
    let n = count(rotor, h, &spin, DERIVATIVE_TURN)?;
    let mut variation = Variation::new();
    for _ in 0..n {
        for part in KAHAN_LI6 {
            variation.advance::<Dlm>(rotor, h / f64::from(n) * part, &mut spin);
        }
    }
    Ok(variation.of_attitude())
}

/// The motion by elliptic functions; `None`, and the spin as before, where they lose digits.
fn elliptic(rotor: &Rotor, h: f64, spin: &mut Spin) -> Option<()> {
    let (pi, moments) = (&spin.pi, &rotor.moments);
    let square = pi.norm_squared();
    // Permanent rotations.
    for axis in 0..3 {
        let (j, k) = ((axis + 1) % 3, (axis + 2) % 3);
        if pi[j] * pi[j] + pi[k] * pi[k] <= PERMANENT * square {
            let turn = pi.component_mul(&rotor.inverse) * h;
            Exponential::new(turn).turn(&mut spin.q);
            return Some(());
        }
    }
    let b = 1;
    // Differences of moments first: they are exact where they are small.
    let part = |axis: usize| pi[axis] * pi[axis] * ((moments[axis] - moments[b]) / moments[axis]);
    let z = part(0) + part(2);
    let (a, c) = if z >= 0.0 { (0, 2) } else { (2, 0) };
    // Even for (0, 1, 2).
    let parity = if c == 2 { 1.0 } else { -1.0 };
    let (ia, ib, ic) = (moments[a], moments[b], moments[c]);
    let (pa, pb, pc) = (pi[a], pi[b], pi[c]);
    let x = pa * pa * ((ic - ia) / ia) + pb * pb * ((ic - ib) / ib);
    let y = pb * pb * ((ib - ia) / ib) + pc * pc * ((ic - ia) / ic);
    let m = (ib - ia) * x / ((ic - ib) * y);
    let complement = (ic - ia) * z / ((ic - ib) * y);
    if complement.is_nan() || complement < SEPARATRIX {
        return None;
    }
    let amplitude = [libm::sqrt(ia * x / (ic - ia)), libm::sqrt(ib * x / (ic - ib)), libm::sqrt(ic * y / (ic - ia))];
    let rate = libm::sqrt((ic - ib) * y / (ia * ib * ic));
    let sign_c = 1.0_f64.copysign(pc);
    let sign_b = (parity * (ic - ib) * sign_c).signum();
    let from = Jacobi { sn: pb / (sign_b * amplitude[1]), cn: pa / amplitude[0], dn: pc / (sign_c * amplitude[2]) };
    let (change, turns) = jacobi(rate * h, m, complement);
    let to = from.plus(&change, m);

    let magnitude = libm::sqrt(square);
    let n = -ic * (ib - ia) / (ia * (ic - ib));
    let (between, size) = third_kind_between(n, complement, &from, &to);
    let whole = if turns == 0.0 { 0.0 } else { 2.0 * turns * complete_third_kind(n, complement) };
    let factor = magnitude * (ic - ia) / (ia * ic * rate);
    if (factor * (size + whole)).abs() > LARGEST_ANGLE {
        return None;
    }
    let angle = magnitude * h / ic + factor * (between + whole);

    let flip = if turns % 2.0 == 0.0 { 1.0 } else { -1.0 };
    let mut end = Vector3::zeros();
    end[a] = flip * amplitude[0] * to.cn;
    end[b] = flip * sign_b * amplitude[1] * to.sn;
    end[c] = sign_c * amplitude[2] * to.dn;
    end *= magnitude / end.norm();
    let l = spin.q * pi;
    let precession = Matrix3::identity() + exp_increment(&(Vector3::z() * angle));
    let q = polish(&(spin.q * frame(c, pi).transpose() * precession * frame(c, &end)));
    // The momentum in space is that of before to the last bit, which the product of four matrices is not.
    let turn = (q * end).cross(&l) / square;
    spin.q = q + skew(&turn) * q;
    spin.pi = end;
    Some(())
}

/// Rows: the line of nodes `e_c x pi`, the one across, and `pi`, normed.
fn frame(c: usize, pi: &Vector3<f64>) -> Matrix3<f64> {
    let axis = pi.normalize();
    let node = unit(c).cross(&axis).normalize();
    Matrix3::from_rows(&[node.transpose(), axis.cross(&node).transpose(), axis.transpose()])
}

#[cfg(test)]
mod tests {
    use super::super::tests::{check_derivative, rotor};
    use super::*;

    const GOLDEN: Spin = Spin {
        q: Matrix3::new(
            0.886_714_564_044_060_2,
            -0.322_236_132_988_007_7,
            -0.331_513_433_376_518_3,
            -0.459_555_544_826_711,
            -0.536_088_341_801_734_3,
            -0.708_108_742_357_621,
            0.050_457_736_088_503_8,
            0.780_239_171_268_145_1,
            -0.623_442_741_947_984_3,
        ),
        pi: Vector3::new(-0.396_630_306_441_669, -2.070_172_617_611_06, -0.858_527_654_362_608),
    };

    fn golden_start() -> (Rotor, Spin) {
        (rotor([1.0, 2.0, 3.5]), Spin { q: Matrix3::identity(), pi: Vector3::new(0.6, 1.9, -1.1) })
    }

    fn distance(a: &Spin, b: &Spin) -> f64 {
        (a.q - b.q).amax().max((a.pi - b.pi).amax() / b.pi.norm())
    }

    /// Golden values of an independent program with 80-bit numbers: twenty seconds in one step, or in many.
    #[test]
    fn golden_values() {
        for steps in [1, 7, 200] {
            let (body, mut spin) = golden_start();
            for _ in 0..steps {
                Exact::advance(&body, 20.0 / f64::from(steps), &mut spin).expect("exact");
            }
            assert!(distance(&spin, &GOLDEN) < 1e-12, "{steps} steps: {:e}", distance(&spin, &GOLDEN));
        }
    }

    /// The same motion by small steps of the splitting, for many bodies, steps of both signs, and near all axes.
    #[test]
    fn agrees_with_small_steps() {
        let mut elliptic_functions = 0;
        for (k, moments) in [[1.0, 2.0, 2.5], [1.0, 1.1, 2.0], [2.0, 2.9, 3.0], [0.2, 1.0, 1.005]].iter().enumerate() {
            let body = rotor(*moments);
            for direction in 0..60 {
                let angle = f64::from(direction);
                let mut pi = Vector3::new(libm::sin(angle), libm::cos(1.7 * angle + k as f64), libm::sin(2.9 * angle));
                if direction >= 40 {
                    // Near an axis.
                    let near = libm::pow(10.0, -f64::from((direction - 40) / 3) - 2.0);
                    pi = unit(direction as usize % 3) + pi * near;
                }
                let speed = pi.component_mul(&body.inverse).norm();
                for turn in [0.05, -0.9, 8.0] {
                    let h = turn / speed;
                    let start = Spin { q: crate::so3::exp(&Vector3::new(0.1, angle, 1.0)), pi };
                    let (mut a, mut b) = (start, start);
                    elliptic_functions += u32::from(elliptic(&body, h, &mut a).is_some());
                    a = start;
                    Exact::advance(&body, h, &mut a).expect("exact");
                    small_steps(&body, h, &mut b).expect("a turn or two");
                    let error = distance(&a, &b);
                    // The rounding errors of thousands of small steps.
                    assert!(error < 1e-12, "{moments:?} {pi:?} {turn}: {error:e}");
                }
            }
        }
        // The fallback is the exception.
        assert!(elliptic_functions > 600, "{elliptic_functions}");
    }

    #[test]
    fn special_bodies_and_rotations() {
        for moments in [[1.0, 1.0, 2.0], [1.0, 2.0, 2.0], [1.0, 1.0, 1.0]] {
            let body = rotor(moments);
            let start = Spin { q: Matrix3::identity(), pi: Vector3::new(0.3, -0.8, 1.1) };
            let (mut a, mut b) = (start, start);
            Exact::advance(&body, 3.0, &mut a).expect("exact");
            small_steps(&body, 3.0, &mut b).expect("a turn or two");
            assert!(distance(&a, &b) < 1e-13, "{moments:?}: {:e}", distance(&a, &b));
        }
        let body = rotor([1.0, 2.0, 3.0]);
        for axis in 0..3 {
            let mut spin = Spin { q: Matrix3::identity(), pi: unit(axis) };
            Exact::advance(&body, 1.5, &mut spin).expect("exact");
            let expected = crate::so3::exp(&(unit(axis) * (1.5 * body.inverse[axis])));
            assert!((spin.q - expected).amax() < 1e-15 && spin.pi == unit(axis));
        }
        let mut spin = Spin { q: Matrix3::identity(), pi: Vector3::zeros() };
        Exact::advance(&body, 1.0, &mut spin).expect("exact");
        assert_eq!(spin, Spin { q: Matrix3::identity(), pi: Vector3::zeros() });
    }

    #[test]
    fn derivatives() {
        let pi = Vector3::new(0.6, 1.9, -1.1);
        for moments in [[0.8; 3], [1.0, 1.0, 2.0], [1.0, 2.0, 2.0], [1.0, 2.0, 3.0]] {
            check_derivative::<Exact>(&rotor(moments), pi, 0.3);
        }
    }
}
