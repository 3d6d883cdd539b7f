//! A sweep over a parameter on all cores: the period of a pendulum for several lengths.

use std::error::Error;

use mbdsl_macros::mbd;
use mbdsl_runtime::prelude::*;
use rayon::prelude::*;

mbd!(<simple_pendulum>);

/// Period of a pendulum of some length that starts at rest in the horizontal, s: twice the time between two passages
/// of the lowest point.
fn period(length: f64) -> Result<f64, String> {
    let params = simple_pendulum::Params::default().with_l(length);
    let mut model = simple_pendulum::SimplePendulum::new(params).map_err(|e| e.to_string())?;
    let (mut state, _) = model.assemble().map_err(|e| e.to_string())?;
    let mut stepper = model.stepper().map_err(|e| e.to_string())?;
    let plan = Plan::new(1e-4, 10.0).ok_or("steps of 0.1 ms")?;
    let (mut before, mut passages) = (model.at(&state)[0], Vec::new());
    let (_, result) = simulate(&mut model, &mut stepper, &mut state, &plan, |_, model, state, _| {
        let x = model.at(state)[0];
        if (x > 0.0) != (before > 0.0) {
            // Where the straight line between the two steps meets zero.
            passages.push(state.t - plan.step * x / (x - before));
        }
        before = x;
        if passages.len() == 2 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    result.map_err(|e| e.to_string())?;
    match passages[..] {
        [first, second] => Ok(2.0 * (second - first)),
        _ => Err(format!("a pendulum of {length} m takes more than 10 s")),
    }
}

/// Lengths in m and periods in s.
pub fn run() -> Result<Vec<(f64, f64)>, Box<dyn Error>> {
    let lengths: Vec<f64> = (1..=16).map(|k| 0.25 * f64::from(k)).collect();
    let periods: Vec<f64> = lengths.par_iter().map(|&length| period(length)).collect::<Result<_, _>>()?;
    Ok(lengths.into_iter().zip(periods).collect())
}

fn main() -> Result<(), Box<dyn Error>> {
    for (length, period) in run()? {
        println!("{length:.2} m: {period:.4} s");
    }
    Ok(())
}
