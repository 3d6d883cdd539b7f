//! A double pendulum whose motor follows a controller: the upper arm is lifted to the horizontal and held there.

use std::error::Error;

use mbdsl_macros::mbd;
use mbdsl_runtime::prelude::*;

mbd! {
    /// Two arms on hinges. A motor turns the upper one; the lower one hangs from it.
    model Arms {
        param m = 1 kg;
        param length = 0.5 m;
        /// Torque of the motor on the upper arm, positive downwards.
        input motor = 0 [N*m];

        gravity = [0, 0, -9.81] [m/s^2];

        define body Arm(m, length) {
            mass = m;
            inertia = cylinder(radius = 10 mm, length = length, axis = [1, 0, 0]);
            point a = [-length / 2, 0, 0];
            point b = [ length / 2, 0, 0];
            rot = about([0, 1, 0], 90 deg);
        }
        body upper: Arm(m, length) { pos = [0, 0, -length / 2]; }
        body lower: Arm(m, length) { pos = [0, 0, -1.5 * length]; }

        joint shoulder: revolute(ground.origin, upper.a, axis = [0, 1, 0]) { angle = fixed(90 deg); }
        joint elbow:    revolute(upper.b, lower.a, axis = [0, 1, 0]);
        torque drive on upper, ground: [0, motor, 0];
        dissipation friction: 0.5 * 0.2 [N*m*s] * elbow.rate^2;

        /// Of the upper arm below the horizontal.
        output angle = shoulder.angle;
        output rate  = shoulder.rate;
        simulate { stepper = dae1l_lse; step = 1 ms; until = 15 s; }
    }
}

/// Angle of the upper arm and torque of the motor at the end.
pub fn run() -> Result<(f64, f64), Box<dyn Error>> {
    let mut model = arms::Arms::new(arms::Params::default())?;
    let (mut state, _) = model.assemble()?;
    let mut stepper = model.stepper()?;
    let plan = model.plan().ok_or("steps of the model")?;
    // Proportional, integral and derivative part of the torque.
    let (p, i, d) = (60.0, 60.0, 12.0);
    let mut sum = 0.0;
    let control = |model: &mut arms::Arms, state: &State| {
        let (angle, rate) = (model.angle(state), model.rate(state));
        sum += angle * plan.step;
        model.inputs_mut().motor = -(p * angle + i * sum + d * rate);
    };
    let (_, result) = simulate_controlled(&mut model, &mut stepper, &mut state, &plan, control, |_, _, _, _| {
        ControlFlow::Continue(())
    });
    result?;
    Ok((model.angle(&state), model.inputs().motor))
}

fn main() -> Result<(), Box<dyn Error>> {
    let (angle, torque) = run()?;
    println!("the upper arm is {:.4} deg below the horizontal, held by {:.4} N m", angle.to_degrees(), -torque);
    Ok(())
}
