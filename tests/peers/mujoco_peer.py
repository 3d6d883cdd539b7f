"""The tasks by MuJoCo: ball joints in reduced coordinates, and for one row joints as its soft constraints."""

import mujoco
import numpy as np

from measure import arguments, show
from problems import STEP, problem

# Steps for a second with which the classical Runge-Kutta method reaches the error: in a tree, and with constraints made as stiff
# as they may be.
STEPS = {
    ("top", "1e-6"): (3_560, 3_560),
    ("top", "1e-9"): (20_300, None),
    ("pendulum", "1e-6"): (1_640, 21_000),
    ("pendulum", "1e-9"): (9_800, None),
}

INTEGRATORS = {"Euler": mujoco.mjtIntegrator.mjINT_EULER, "RK4": mujoco.mjtIntegrator.mjINT_RK4}


def compile_model(problem, integrator, step, is_tree):
    spec = mujoco.MjSpec()  # nested XML has a limited depth, a model made by calls has not
    spec.option.integrator = INTEGRATORS[integrator]
    spec.option.timestep = step
    spec.option.gravity = [0, 0, -problem.gravity]
    spec.option.disableflags = mujoco.mjtDisableBit.mjDSBL_CONTACT
    spec.memory = 1 << 31
    parents = {joint.child: joint for joint in problem.joints}
    made = []
    for number, body in enumerate(problem.bodies):
        joint = parents.get(number)
        # The frame of a body with a joint is at the joint, that of a free one at its centre of mass.
        centre = [0.0] * 3 if joint is None else [-x for x in joint.at_child]
        origin = np.subtract(body.x, centre)
        parent = spec.worldbody
        if is_tree and joint is not None and joint.parent is not None:
            parent = made[joint.parent]
            before = parents[joint.parent]
            origin = np.subtract(joint.at_parent, before.at_child)
        new = parent.add_body(
            name=f"body{number}", pos=origin, mass=body.mass, ipos=centre, inertia=body.moments, explicitinertial=True
        )
        if is_tree and joint is not None:
            new.add_joint(type=mujoco.mjtJoint.mjJNT_BALL)
        else:
            new.add_freejoint()
        made.append(new)
    if not is_tree:
        for joint in problem.joints:
            connect = spec.add_equality(type=mujoco.mjtEq.mjEQ_CONNECT, objtype=mujoco.mjtObj.mjOBJ_BODY)
            connect.name1 = f"body{joint.child}"
            connect.name2 = "world" if joint.parent is None else f"body{joint.parent}"
            connect.data[:3] = [0.0] * 3
            connect.solref = [2 * step, 1]
            connect.solimp = [0.9999, 0.9999, 0.001, 0.5, 2]
    return spec.compile()


def start(model, problem, is_tree):
    data = mujoco.MjData(model)
    rates = []
    for number, body in enumerate(problem.bodies):
        joint = next((j for j in problem.joints if j.child == number), None)
        if joint is None:
            rates += body.v + body.omega
        elif is_tree:
            # Relative to the parent; all bodies start with their axes along the inertial ones.
            before = [0.0] * 3 if joint.parent is None else problem.bodies[joint.parent].omega
            rates += list(np.subtract(body.omega, before))
        else:
            rates += list(np.add(body.v, np.cross(body.omega, joint.at_child))) + body.omega
    data.qvel[:] = rates
    return data


def numbers(model, data):
    mujoco.mj_kinematics(model, data)
    mujoco.mj_comPos(model, data)
    mujoco.mj_comVel(model, data)
    velocity = np.zeros(6)
    for body in range(1, model.nbody):
        # Angular before linear, in inertial axes, at the origin of the body's frame of inertia.
        mujoco.mj_objectVelocity(model, data, mujoco.mjtObj.mjOBJ_BODY, body, velocity, 0)
        rotation = data.ximat[body].reshape(3, 3)
        omega, v = velocity[:3], velocity[3:]
        yield np.concatenate([data.xipos[body], rotation.ravel(), v, rotation.T @ omega])


def method(problem, integrator, steps, step, is_tree=True):
    model = compile_model(problem, integrator, step, is_tree)
    title = f"{integrator}, " + (("ball joints" if is_tree else "`connect`, `solref` = 2 h") if problem.joints else "free joints")
    show(
        title,
        steps,
        lambda: start(model, problem, is_tree),
        lambda data: mujoco.mj_step(model, data, steps),
        lambda data: numbers(model, data),
    )


def main():
    task, size = arguments()
    asked = problem(task, size)
    if task in ("top", "pendulum"):
        tree, connected = STEPS[task, size]
        method(asked, "RK4", tree, 1.0 / tree)
        if connected:
            method(asked, "RK4", connected, 1.0 / connected, False)
    elif len(asked.bodies) == 1000 and asked.joints:
        method(asked, "Euler", 3, STEP)
    else:
        for integrator in INTEGRATORS:
            method(asked, integrator, asked.steps, STEP)


main()
