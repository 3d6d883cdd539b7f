//! The outcome of a run as its summary.

use mbdsl_runtime::state::{OMEGA, POS, ROT, STRIDE, VEL};
use mbdsl_runtime::system::System as _;
use mbdsl_runtime::topology::{BodyKind, Element, Topology};

use super::run::Outcome;
use super::session::{Loaded, Session, Setup};
use super::sinks::Frames;
use super::summary::{Adaptive, BodyEnd, Conserved, End, JointEnd, Summary, relative_error};

/// Summary of a run.
#[must_use]
pub fn summarise(loaded: &Loaded, session: &Session<'_>, setup: &Setup, outcome: &Outcome) -> Summary {
    let model = &loaded.compiled.model;
    let mut frames = Frames::new(&loaded.binding.com);
    let bodies = frames
        .of(&outcome.state)
        .chunks_exact(STRIDE)
        .enumerate()
        .map(|(k, z)| {
            let is_rigid = loaded.binding.bodies[k].kind == BodyKind::Rigid;
            BodyEnd {
                name: model.body_name(k),
                pos: std::array::from_fn(|i| z[POS + i]),
                rot: is_rigid.then(|| std::array::from_fn(|i| z[ROT + i])),
                vel: std::array::from_fn(|i| z[VEL + i]),
                omega: is_rigid.then(|| std::array::from_fn(|i| z[OMEGA + i])),
            }
        })
        .collect();
    let constraints = &session.system.topology().constraints;
    let multipliers = constraints
        .elements
        .iter()
        .enumerate()
        .map(|(k, e)| JointEnd {
            name: session.system.constraint_name(k),
            values: outcome.lambda[e.row..e.row + e.rows].to_vec(),
        })
        .collect();
    let worst = &outcome.extremes;
    Summary {
        model: model.name.clone(),
        stepper: outcome.gave_way.map_or(setup.method, |(_, stepper)| stepper),
        choice: choice(setup, outcome),
        backend: loaded.backend.name().to_owned(),
        step: setup.tolerance.is_none().then_some(setup.plan.step),
        until: setup.until,
        steps: outcome.statistics.map_or(outcome.steps, |s| s.steps),
        wall_s: outcome.wall,
        newton_iterations: outcome.iterations,
        energy_start: outcome.energy_start,
        max_energy_error: worst.energy,
        max_energy_error_relative: relative_error(worst.energy, outcome.energy_start, worst.scale),
        max_position_residual: worst.position,
        max_velocity_residual: worst.velocity,
        max_acceleration_residual: worst.acceleration,
        max_orthogonality_error: worst.orthogonality,
        max_linear_momentum_error: worst.momentum,
        max_angular_momentum_error: worst.angular_momentum,
        max_casimir_error: worst.casimir,
        adaptive: setup.tolerance.zip(outcome.statistics).map(|(tolerance, s)| Adaptive {
            tolerance: tolerance.get(),
            rejected_steps: s.rejected,
            shortest_step: s.shortest.is_finite().then_some(s.shortest),
            longest_step: (s.longest > 0.0).then_some(s.longest),
            evaluations: s.evaluations,
        }),
        energy_drift: (outcome.steps == setup.plan.steps).then_some(worst.drift),
        failure: outcome.failed_step.as_ref().map(|failed| failed.message.clone()),
        conserved: conserved(session.system.topology()),
        end: End { time: outcome.state.t, bodies, multipliers },
    }
}

/// Which stepper was chosen and why, and which one went on where the model turned out to be stiff.
fn choice(setup: &Setup, outcome: &Outcome) -> Option<String> {
    let reason = setup.reason()?;
    Some(match outcome.gave_way {
        None => reason.to_string(),
        Some((t, stepper)) => format!("{reason}; {stepper} from {t:.4} s on, where it is stiff"),
    })
}

/// What acts on one body alone acts from outside; what acts between bodies turns them.
fn conserved(topology: &Topology) -> Conserved {
    let Topology { bodies, constraints, forces, has_pairs, .. } = topology;
    let is_inner = |e: &Element| e.slots > 1;
    Conserved {
        momenta: constraints.elements.iter().chain(&forces.elements).all(is_inner),
        casimirs: constraints.elements.is_empty()
            && !forces.elements.iter().any(is_inner)
            && !has_pairs
            && bodies.iter().any(|body| body.kind == BodyKind::Rigid),
    }
}
