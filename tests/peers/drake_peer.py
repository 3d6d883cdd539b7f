"""The tasks by Drake: a MultibodyPlant in continuous time, whose only ball joint has roll, pitch and yaw as coordinates."""

import numpy as np
from pydrake.all import (
    BallRpyJoint,
    FixedOffsetFrame,
    MultibodyPlant,
    ResetIntegratorFromFlags,
    RigidTransform,
    RollPitchYaw,
    RotationMatrix,
    Simulator,
    SpatialInertia,
    UnitInertia,
)

from measure import arguments, cannot, show
from problems import STEP, problem

# Integrator and steps for a second with which the error is reached.
STEPS = {
    ("top", "1e-6"): ("runge_kutta5", 132),
    ("top", "1e-9"): ("runge_kutta5", 400),
    ("pendulum", "1e-6"): ("runge_kutta5", 575),
    ("pendulum", "1e-9"): ("runge_kutta5", 2_080),
}

# The top's body axes are taken in the order y, x, -z, so that it spins by its roll, and the base of its joint is tilted to an axis
# that its motion stays 46 degrees away from: with the world's axes it stops at a singular attitude.
TOP_AXES = np.array([[0.0, 1, 0], [1, 0, 0], [0, 0, -1]])
TOP_NORMAL = np.array([-0.21892168, 0.68905508, 0.69085194])


def base(normal):
    z = normal / np.linalg.norm(normal)
    x = np.cross([0, 0, 1], z)
    x /= np.linalg.norm(x)
    return np.column_stack([x, np.cross(z, x), z])


def inertia(body, centre, axes):
    about_joint = np.diag(body.moments) + body.mass * (centre @ centre * np.eye(3) - np.outer(centre, centre))
    unit = axes.T @ about_joint @ axes / body.mass
    return SpatialInertia(
        body.mass, axes.T @ centre, UnitInertia(unit[0, 0], unit[1, 1], unit[2, 2], unit[0, 1], unit[0, 2], unit[1, 2])
    )


class World:
    """A plant with a simulator; `axes` are those of all bodies in their usual ones, `tilt` those of the joint on the ground."""

    def __init__(self, problem, integrator, step, axes=np.eye(3), tilt=np.eye(3)):
        self.problem, self.axes = problem, axes
        self.plant = plant = MultibodyPlant(0.0)
        plant.mutable_gravity_field().set_gravity_vector([0, 0, -problem.gravity])
        parents = {joint.child: joint for joint in problem.joints}
        self.bodies, joints = [], []
        self.centres = [-np.array(parents[k].at_child) if k in parents else np.zeros(3) for k in range(len(problem.bodies))]
        for number, body in enumerate(problem.bodies):
            new = plant.AddRigidBody(f"body{number}", inertia(body, self.centres[number], axes))
            joint = parents.get(number)
            if joint is not None:
                if joint.parent is None:
                    place = RigidTransform(RotationMatrix(tilt), joint.at_parent)
                    parent = plant.world_frame()
                else:
                    place = RigidTransform(axes.T @ (self.centres[joint.parent] + joint.at_parent))
                    parent = self.bodies[joint.parent].body_frame()
                frame = plant.AddFrame(FixedOffsetFrame(f"frame{number}", parent, place))
                joints.append(plant.AddJoint(BallRpyJoint(f"joint{number}", frame, new.body_frame())))
            self.bodies.append(new)
        plant.Finalize()
        self.simulator = Simulator(plant)
        self.context = context = self.simulator.get_mutable_context()
        for joint, connected in zip(problem.joints, joints):
            # Rates relative to the parent in the axes of the joint; all bodies start along the inertial axes.
            before = np.zeros(3) if joint.parent is None else np.array(problem.bodies[joint.parent].omega)
            turn = tilt.T @ axes if joint.parent is None else np.eye(3)
            frame = tilt if joint.parent is None else axes
            connected.set_angles(context, RollPitchYaw(RotationMatrix(turn)).vector())
            connected.set_angular_velocity(context, frame.T @ (np.array(problem.bodies[joint.child].omega) - before))
        if not problem.joints:
            rates = plant.GetVelocities(context)
            places = plant.GetPositions(context)
            for body, new in zip(problem.bodies, self.bodies):
                at = new.floating_positions_start()
                places[at : at + 7] = [1, 0, 0, 0] + body.x
                at = new.floating_velocities_start_in_v()
                rates[at : at + 6] = body.omega + body.v
            plant.SetPositions(context, places)
            plant.SetVelocities(context, rates)
        ResetIntegratorFromFlags(self.simulator, integrator, step)
        chosen = self.simulator.get_mutable_integrator()
        if integrator != "explicit_euler":
            chosen.set_fixed_step_mode(True)
        self.simulator.Initialize()

    def run(self, end):
        self.simulator.AdvanceTo(end)

    def numbers(self):
        for body, centre in zip(self.bodies, self.centres):
            pose = self.plant.EvalBodyPoseInWorld(self.context, body)
            motion = self.plant.EvalBodySpatialVelocityInWorld(self.context, body)
            rotation = pose.rotation().matrix() @ self.axes.T
            omega = motion.rotational()
            x = pose.translation() + rotation @ centre
            v = motion.translational() + np.cross(omega, rotation @ centre)
            yield np.concatenate([x, rotation.ravel(), v, rotation.T @ omega])


def method(problem, integrator, steps, step, *frames):
    title = f"{integrator}, fixed step"
    try:
        show(
            title,
            steps,
            lambda: World(problem, integrator, step, *frames),
            lambda world: world.run(steps * step),
            lambda world: world.numbers(),
        )
    except RuntimeError as failure:
        cannot(str(failure).split(". ")[0], title)


def main():
    task, size = arguments()
    asked = problem(task, size)
    if task == "top":
        integrator, steps = STEPS[task, size]
        method(asked, integrator, steps, 1.0 / steps, TOP_AXES, base(TOP_NORMAL))
    elif task == "pendulum":
        integrator, steps = STEPS[task, size]
        method(asked, integrator, steps, 1.0 / steps)
    else:
        # The long chain is taken for a few steps only.
        steps = 5 if (task, size) == ("chain", "1000") else asked.steps
        for integrator in ("explicit_euler", "runge_kutta3"):
            method(asked, integrator, steps, STEP)


main()
