//! States that a program has changed, put onto the constraints.

use mbdsl_runtime::acceleration::Projector;
use mbdsl_runtime::monitor::Monitor;
use mbdsl_runtime::system::System as _;
use nalgebra::Vector3;

use crate::rig::{assemble, largest, load_library};

/// Bodies are shoved: all three levels are at round-off afterwards, the state has moved by no more than the shove, the least change of kinetic energy keeps what is on the
/// constraints already, and a state that cannot be reached is left alone.
#[test]
fn states_come_onto_all_levels() {
    for model in ["heavy_top", "double_pendulum", "four_bar_free"] {
        let loaded = load_library(model);
        let mut session = assemble(&loaded);
        let topology = session.system.topology().clone();
        let mut projector = Projector::new(&topology);
        let mut state = session.start.clone();
        let shove = Vector3::new(1e-7, -2e-7, 1e-7);
        for body in 0..state.len() {
            let (x, v) = (state.x(body) + shove, state.v(body) + 1e6 * shove);
            state.set_x(body, &x);
            state.set_v(body, &v);
        }
        let shoved = state.clone();
        projector.project(&mut session.system, &mut state).expect("the constraints are near");
        let found = Monitor::new(&topology).measure(&mut session.system, &state, projector.acceleration());
        println!("{model}: {found:?}");
        let scale = largest(projector.acceleration().iter().copied()).max(1.0);
        assert!(found.position_residual < 1e-14 && found.velocity_residual < 1e-13, "{model}: {found:?}");
        assert!(found.acceleration_residual < 1e-13 * scale, "{model}: {found:?}");
        for body in 0..state.len() {
            assert!((state.x(body) - shoved.x(body)).norm() < 4.0 * shove.norm() * state.len() as f64, "{model}");
        }
        let again = state.clone();
        projector.project(&mut session.system, &mut state).expect("it is on the constraints");
        let moved = largest(state.z.iter().zip(&again.z).map(|(a, b)| a - b));
        assert!(moved < 1e-14 * largest(again.z.iter().copied()).max(1.0), "{model}: {moved:e}");

        state.set_x(0, &Vector3::new(f64::NAN, 0.0, 0.0));
        let before = state.clone();
        projector.project(&mut session.system, &mut state).expect_err("not a number");
        assert_eq!(format!("{state:?}"), format!("{before:?}"));
    }
}
