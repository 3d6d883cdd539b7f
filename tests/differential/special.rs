//! At the identity and at half turns every kernel gives numbers.

use mbdsl_runtime::state::State;
use mbdsl_runtime::system::{ConstraintDerivatives, ForceDerivatives, Jacobian, System};

use crate::bench::Bench;
use crate::case::Checked;
use crate::differences::convective_derivatives;
use crate::tape::Noise;

/// Checks that all quantities are finite.
pub fn check(bench: &mut Bench<'_>, (start, s): (&State, &State), noise: &mut Noise) -> Checked {
    bench.system.set_start(start);
    let (nv, nc) = (bench.topology.nv(), bench.topology.nc());
    let lam = noise.list(nc);
    let (mut jac, mut of_constraints) = (Jacobian::default(), ConstraintDerivatives::default());
    bench.system.constraint_newton(s, &lam, &mut jac, &mut of_constraints);
    let (mut q, mut of_forces) = (vec![0.0; nv], ForceDerivatives::default());
    bench.system.force_newton(s, &mut q, &mut of_forces);
    let (gamma_q, gamma_v) = convective_derivatives(bench, (s, start))?;
    let (mut position, mut velocity) = (Jacobian::default(), Jacobian::default());
    bench.system.position_conditions(s, &mut position);
    bench.system.velocity_conditions(s, &mut velocity);
    for (what, list) in [
        ("Phi", &jac.phi),
        ("Phi_t", &jac.phi_t),
        ("B", &jac.b),
        ("d(B V + Phi_t)/dq", &of_constraints.bv_q),
        ("d(B^T lambda)/dq", &of_constraints.k_lam),
        ("gamma", &bench.gamma(s)),
        ("d gamma/dq", &gamma_q),
        ("d gamma/dV", &gamma_v),
        ("Q", &q),
        ("dQ/dq", &of_forces.q_q),
        ("dQ/dV", &of_forces.q_v),
        ("position conditions", &position.b),
        ("velocity conditions", &velocity.b),
        ("potential", &vec![bench.system.potential(s)]),
    ] {
        if let Some(k) = list.iter().position(|x| !x.is_finite()) {
            return Err(format!("{what}, number {k} is {}", list[k]));
        }
    }
    Ok(())
}
