//! Continuous angles of the guess: which turn each of them counts from.
//!
//! A hinge that is placed at 30 deg may be meant to be at 390 deg: `angle = fixed(390 deg)`, or a drive that starts
//! there. Each angle takes the turn in which the constraints and conditions are violated least; the nearest to zero
//! where they do not care.

use core::f64::consts::TAU;

use crate::state::State;
use crate::system::{Jacobian, System};

/// Turns that are tried to either side.
const TURNS: i32 = 8;

/// Angles beyond this number are left in their first turn: each costs a few evaluations of all constraints.
const MOST: usize = 256;

/// Counts the turns of a guess.
pub fn wind<S: System + ?Sized>(system: &mut S, guess: &mut State) {
    system.accept(guess);
    let cells = guess.memory.len().min(MOST);
    let topology = system.topology();
    let mut phi = vec![0.0; topology.nc()];
    let set = &topology.position_conditions;
    let mut conditions = Jacobian { phi: vec![0.0; set.rows], phi_t: vec![0.0; set.rows], b: vec![0.0; set.jac_len] };
    if set.rows + phi.len() == 0 {
        return;
    }
    let mut violation = |guess: &State| {
        system.residual(guess, &mut phi);
        system.position_conditions(guess, &mut conditions);
        phi.iter().chain(&conditions.phi).map(|r| r * r).sum::<f64>()
    };
    for cell in 0..cells {
        let first = guess.memory[cell];
        let mut best = (violation(guess), first);
        for turn in (1..=TURNS).flat_map(|k| [k, -k]) {
            guess.memory[cell] = first + f64::from(turn) * TAU;
            let found = violation(guess);
            // A turn must help by more than rounding.
            if found < 0.999 * best.0 {
                best = (found, guess.memory[cell]);
            }
        }
        guess.memory[cell] = best.1;
    }
}
