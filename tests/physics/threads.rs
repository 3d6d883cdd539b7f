//! Any number of threads gives the same bits.

use mbdsl_runtime::state::State;
use mbdsl_runtime::steppers::name::StepperName;

use crate::rig::{Steps, load, run};

/// Bodies enough for several threads, some of them particles, so that velocities are not all in sixes.
const CROWD: &str = "
model Crowd {
    body b[i in 0..5000] {
        mass    = 1 kg + 0.01 kg * (i % 7);
        inertia = diag([0.4, 0.7, 0.9 - 0.1 * sin(i)] [kg*m^2]);
        pos     = [i, 0, 0] m;
        vel     = [cos(i), 0, 1] [m/s];
        omega   = [0.3, 0.5 + 0.1 * sin(i), -0.7] [rad/s];
    }
    particle p[i in 0..1001] { mass = 2 kg; pos = [i, 1, 0] m; vel = [0, sin(i), 0] [m/s]; }
    potential well[q in b]: 1 [N/m] * norm2(q.pos) / 2;
    simulate { step = 10 ms; until = 200 ms; }
}
";

#[test]
fn bits_do_not_depend_on_threads() {
    let loaded = load(CROWD, &[]);
    let end = |threads: usize| -> State {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool of threads");
        let method: StepperName = "splitting_dlm+suzuki4".parse().expect("a stepper");
        pool.install(|| run(&loaded, Steps { method, h: 10e-3, until: 0.2 }).state)
    };
    let one = end(1);
    assert!(one.x(1)[0] != 1.0, "bodies move");
    for threads in [2, 3] {
        let more = end(threads);
        let differs = one.z.iter().zip(&more.z).filter(|(a, b)| a.to_bits() != b.to_bits()).count();
        assert_eq!(differs, 0, "{threads} threads");
    }
}
