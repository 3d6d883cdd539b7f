//! Constraints that agree at the start and contradict one another later: a run must not go on as if they held.

use mbdsl::exec::run;
use mbdsl::exec::session::{self, Choices};
use mbdsl::source::Sources;

/// Two drives of one hinge whose laws part after the start.
const TWO_DRIVES: &str = "model M {
    body p { mass = 1 kg; inertia = diag([1, 1, 1] [kg*m^2]); }
    joint j: revolute(ground.origin, p.origin, axis = [0, 0, 1]);
    constraint d1: j.angle == 1 [rad/s] * time;
    constraint d2: j.angle == 1 [rad/s] * time + 0.1 [rad/s^2] * time^2;
    simulate { stepper = dae1l_lse; step = 1 ms; until = 1 s; }
}";

/// Methods that hold positions stop at the step at which the laws differ, and name both.
#[test]
fn drives_that_part_end_the_run() {
    for stepper in ["dae3l_le", "dae2l_lse", "dae1l_lse", "dae3h_le", "dae2h_lse", "dae1h_lse"] {
        let mut sources = Sources::default();
        let file = sources.add("test.mbd", TWO_DRIVES);
        let choices = Choices { stepper: Some(stepper.to_owned()), ..Choices::default() };
        let loaded = session::load(&mut sources, file, &choices).expect("a good model");
        let setup = session::setup(&loaded, &choices).expect("a good setup");
        let mut ready = session::assemble(&loaded).expect("they agree at the start");
        let outcome = run::run(&loaded, &mut ready, &setup, true, &mut []).expect("nothing to write");
        let failed = outcome.failed_step.expect("they part after the start");
        assert!(failed.message.contains("constraints contradict one another"), "{stepper}: {}", failed.message);
        assert!(failed.notes.iter().any(|n| n.contains("`d1") || n.contains("`d2")), "{stepper}: {:?}", failed.notes);
        // 0.1 t^2 passes a millionth of a radian at 3.2 ms; what is delivered before is as good as agreed.
        assert!(outcome.state.t < 5e-3, "{stepper}: {}", outcome.state.t);
    }
}
