//! The tasks by rapier in double precision, joints as impulses: `rapier-peer TASK SIZE` prints a line of JSON with the CPU time of a run and
//! the bodies at its end.

use cpu_time::ProcessTime;
use rapier3d_f64::prelude::*;
use serde_json::json;

/// CPU time that runs are repeated for, s; the median counts.
const TIME: f64 = 0.3;

/// Step of chains and free bodies, s.
const STEP: f64 = 1e-3;

/// Most steps for a second: no error of a millionth is within reach of a method of order 1.
const MOST: usize = 100_000;

/// All that a step needs.
struct World {
    gravity: Vector,
    parameters: IntegrationParameters,
    pipeline: PhysicsPipeline,
    islands: IslandManager,
    broad: DefaultBroadPhase,
    narrow: NarrowPhase,
    bodies: RigidBodySet,
    colliders: ColliderSet,
    impulse_joints: ImpulseJointSet,
    multibody_joints: MultibodyJointSet,
    soft_bodies: SoftBodySet,
    ccd: CCDSolver,
    handles: Vec<RigidBodyHandle>,
}

impl World {
    fn new(gravity: f64, step: f64) -> Self {
        Self {
            gravity: Vector::new(0.0, 0.0, -gravity),
            parameters: IntegrationParameters { dt: step, ..Default::default() },
            pipeline: PhysicsPipeline::new(),
            islands: IslandManager::new(),
            broad: DefaultBroadPhase::new(),
            narrow: NarrowPhase::new(),
            bodies: RigidBodySet::new(),
            colliders: ColliderSet::new(),
            impulse_joints: ImpulseJointSet::new(),
            multibody_joints: MultibodyJointSet::new(),
            soft_bodies: SoftBodySet::new(),
            ccd: CCDSolver::new(),
            handles: Vec::new(),
        }
    }

    fn step(&mut self) {
        self.pipeline.step(
            self.gravity,
            &self.parameters,
            &mut self.islands,
            &mut self.broad,
            &mut self.narrow,
            &mut self.bodies,
            &mut self.colliders,
            &mut self.impulse_joints,
            &mut self.multibody_joints,
            &mut self.soft_bodies,
            &mut self.ccd,
            &(),
            &(),
        );
    }

    /// A body without a shape; all bodies start with their axes along the inertial ones.
    fn body(&mut self, mass: f64, moments: [f64; 3], x: [f64; 3], v: [f64; 3], omega: [f64; 3]) {
        let properties = MassProperties::new(Vector::ZERO, mass, vector(moments));
        let body = RigidBodyBuilder::dynamic()
            .translation(vector(x))
            .linvel(vector(v))
            .angvel(vector(omega))
            .can_sleep(false)
            .gyroscopic_forces_enabled(true)
            .additional_mass_properties(properties);
        self.handles.push(self.bodies.insert(body));
    }

    /// Joins the last body to the one before it, the first to the ground.
    fn join(&mut self, at_parent: [f64; 3], at_child: [f64; 3]) {
        let number = self.handles.len();
        let parent = if number > 1 { self.handles[number - 2] } else { self.bodies.insert(RigidBodyBuilder::fixed()) };
        let joint = SphericalJointBuilder::new().local_anchor1(vector(at_parent)).local_anchor2(vector(at_child));
        self.impulse_joints.insert(parent, self.handles[number - 1], joint, true);
    }

    /// Position, rotation by rows, velocity, angular velocity in body axes, of each body.
    fn numbers(&self) -> Vec<Vec<f64>> {
        let each = |handle: &RigidBodyHandle| {
            let body = &self.bodies[*handle];
            let (x, turn, v) = (body.translation(), *body.rotation(), body.linvel());
            let omega = turn.inverse() * body.angvel();
            let axes = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]].map(|axis| turn * vector(axis));
            let rows = [axes.map(|a| a.x), axes.map(|a| a.y), axes.map(|a| a.z)].concat();
            [vec![x.x, x.y, x.z], rows, vec![v.x, v.y, v.z, omega.x, omega.y, omega.z]].concat()
        };
        self.handles.iter().map(each).collect()
    }
}

fn vector([x, y, z]: [f64; 3]) -> Vector {
    Vector::new(x, y, z)
}

fn cross(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

fn top(step: f64) -> World {
    let mut world = World::new(9.81, step);
    let omega = [0.0, 150.0, -4.61538];
    let arm = [0.0, 1.0, 0.0];
    world.body(15.0, [0.234375, 0.46875, 0.234375], arm, cross(omega, arm), omega);
    world.join([0.0; 3], [0.0, -1.0, 0.0]);
    world
}

fn pendulum(step: f64) -> World {
    let mut world = World::new(9.81, step);
    let across = 5.0 * (3.0 * 0.1 * 0.1 + 1.0) / 12.0;
    let moments = [across, across, 5.0 * 0.1 * 0.1 / 2.0];
    let turn = 10.0 * std::f64::consts::PI;
    let omega = [[turn, 0.0, 0.0], [turn, turn, 2.0 * turn]];
    let arm = [0.0, 0.0, 0.5];
    let (first, second) = (cross(omega[0], arm), cross(omega[1], arm));
    world.body(5.0, moments, arm, first, omega[0]);
    world.join([0.0; 3], [0.0, 0.0, -0.5]);
    let v = [0, 1, 2].map(|k| 2.0 * first[k] + second[k]);
    world.body(5.0, moments, [0.0, 0.0, 1.5], v, omega[1]);
    world.join(arm, [0.0, 0.0, -0.5]);
    world
}

fn chain(links: usize) -> World {
    let mut world = World::new(9.81, STEP);
    for k in 0..links {
        world.body(1.0, [1.0 / 120.0, 1.0 / 12.0, 1.0 / 12.0], [k as f64 + 0.5, 0.0, 0.0], [0.0; 3], [0.0; 3]);
        world.join([if k == 0 { 0.0 } else { 0.5 }, 0.0, 0.0], [-0.5, 0.0, 0.0]);
    }
    world
}

fn free(number: usize) -> World {
    let mut world = World::new(0.0, STEP);
    for k in 0..number {
        let omega = [0.3, 0.5 + 0.1 * (k as f64).sin(), -0.7];
        world.body(1.0, [0.4, 0.7, 0.9], [k as f64, 0.0, 0.0], [1.0, 0.0, 0.0], omega);
    }
    world
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [task, size] = arguments.as_slice() else { panic!("usage: rapier-peer TASK SIZE") };
    match (task.as_str(), size.as_str()) {
        ("top", _) => show(|| top(1.0 / MOST as f64), MOST),
        ("pendulum", _) => show(|| pendulum(1.0 / MOST as f64), MOST),
        ("chain", "10") => show(|| chain(10), 1000),
        ("chain", "100") => show(|| chain(100), 500),
        ("chain", "1000") => show(|| chain(1000), 50),
        ("bodies", "1000") => show(|| free(1000), 1000),
        _ => panic!("there is no task {task} {size}"),
    }
}

fn show(world: impl Fn() -> World, steps: usize) {
    let (mut times, mut bodies) = (Vec::new(), Vec::new());
    while times.iter().sum::<f64>() < TIME {
        let mut world = world();
        let begin = ProcessTime::now();
        for _ in 0..steps {
            world.step();
        }
        times.push(begin.elapsed().as_secs_f64());
        bodies = world.numbers();
    }
    times.sort_by(f64::total_cmp);
    let seconds = times[times.len() / 2];
    println!("{}", json!({"method": "impulse joints", "steps": steps, "seconds": seconds, "bodies": bodies}));
}
