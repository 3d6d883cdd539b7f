//! A heavy top from a file: where its centre of mass is, every tenth of a second.

use std::error::Error;

use mbdsl_macros::mbd;
use mbdsl_runtime::prelude::*;

mbd!("../../models/heavy_top.mbd");

/// Time, s, and position of the centre of mass, m.
pub fn run() -> Result<Vec<[f64; 4]>, Box<dyn Error>> {
    let mut model = heavy_top::HeavyTop::new(heavy_top::Params::default())?;
    let (mut state, _) = model.assemble()?;
    let mut stepper = model.stepper()?;
    let plan = Plan::new(50e-6, 1.0).ok_or("steps of 50 us for a second")?;
    let mut rows = Vec::new();
    let (_, result) = simulate(&mut model, &mut stepper, &mut state, &plan, |n, model, state, _| {
        if n % 2000 == 0 {
            let [x, y, z] = model.cm(state);
            rows.push([state.t, x, y, z]);
        }
        ControlFlow::Continue(())
    });
    result?;
    Ok(rows)
}

fn main() -> Result<(), Box<dyn Error>> {
    for [t, x, y, z] in run()? {
        println!("{t:.1} s: {x:8.4} {y:8.4} {z:8.4} m");
    }
    Ok(())
}
