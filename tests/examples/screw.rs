//! A joint of one's own: a nut that gravity turns down a screw.

use std::error::Error;

use mbdsl_macros::mbd;
use mbdsl_runtime::prelude::*;

mbd! {
    /// A cylindrical joint that advances by a pitch each turn.
    define joint screw(p, q, axis, pitch) {
        use cylindrical(p, q, axis = axis);
        constraint thread: displacement == pitch * angle / (2 * pi);
        check coarse: pitch > 0 m;
    }

    /// A nut on a spindle without friction.
    model Nut {
        param m = 0.1 kg;
        param J = 4e-6 [kg*m^2];   // about the spindle
        param pitch = 20 mm;
        gravity = [0, 0, -9.81] [m/s^2];
        body nut { mass = m; inertia = diag([0.6, 0.6, 1]) * J; }
        joint thread: screw(ground.origin, nut.origin, axis = [0, 0, 1], pitch = pitch);
        output turned = thread.angle;
        output height = thread.displacement;
        check follows: norm(thread.residual_pos) < 1e-12 m;
        simulate { stepper = dae1l_lse; step = 1 ms; until = 1 s; }
    }
}

/// Turns and height of the nut after a second, and what its checks complain of.
pub fn run() -> Result<(f64, f64, Vec<FailedCheck>), Box<dyn Error>> {
    let mut model = nut::Nut::new(nut::Params::default())?;
    let (mut state, _) = model.assemble()?;
    let mut stepper = model.stepper()?;
    let plan = model.plan().ok_or("steps of the model")?;
    let mut checks = Checks::new(&mut model, &state, &plan);
    let (_, result) = simulate(&mut model, &mut stepper, &mut state, &plan, |_, model, state, stepper| {
        checks.see(model, state, stepper);
        ControlFlow::Continue(())
    });
    result?;
    Ok((model.turned(&state) / std::f64::consts::TAU, model.height(&state), checks.finish(&model, &state)))
}

fn main() -> Result<(), Box<dyn Error>> {
    let (turns, height, failed) = run()?;
    println!("{turns:.3} turns, {:.2} mm", 1e3 * height);
    for check in failed {
        println!("{check}");
    }
    Ok(())
}
