//! Outputs of positions and velocities against the state: it belongs to the centre of mass, `pos` to the reference frame.

use mbdsl_runtime::nalgebra::Vector3;
use mbdsl_runtime::state::State;

use crate::bench::Bench;
use crate::case::{Checked, agree};

/// Of products and sums of a few numbers below ten.
const TOLERANCE: f64 = 2e-14;

/// Checks `b.pos`, `b.vel`, `b.com.pos` and `b.com.vel` of all bodies.
pub fn check(bench: &Bench<'_>, (start, s): (&State, &State)) -> Checked {
    let binding = &bench.case.binding;
    let program = bench.case.program();
    for family in &program.bodies {
        let name = &family.setup.family.name;
        for (member, com_factor) in [("pos", 1.0), ("vel", 1.0), ("com", 0.0), ("com_vel", 0.0)] {
            let wanted = format!("{name}_{member}");
            let Some(output) = program.outputs.iter().find(|o| o.probe.family.name == wanted) else { continue };
            let found = bench.bounded(&output.probe.family, &output.probe.value, (s, start), &[], 0.0)?;
            for (k, z) in found.iter().enumerate() {
                let body = family.first + k;
                let com = Vector3::from(binding.com[body]) * com_factor;
                let expected = match member {
                    "pos" | "com" => s.x(body) - s.r(body) * com,
                    _ => s.v(body) - s.r(body) * s.omega(body).cross(&com),
                };
                let found = Vector3::new(z[0].value, z[1].value, z[2].value);
                if !(0..3).all(|c| agree(found[c], expected[c], TOLERANCE)) {
                    return Err(format!("{name}[{k}].{member}: {found} instead of {expected}"));
                }
            }
        }
    }
    Ok(())
}
