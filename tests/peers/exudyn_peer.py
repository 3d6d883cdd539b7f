"""The tasks by Exudyn: rigid bodies in maximal coordinates, joints as constraints; free bodies by its explicit method of order 4."""

import sys

sys.exudynFast = True  # the build without checks of ranges; must be chosen before the import

import exudyn as exu
import numpy as np
from exudyn.utilities import RigidBodyInertia

from measure import arguments, cannot, show
from problems import STEP, problem

KINDS = exu.OutputVariableType
SOLVERS = exu.DynamicSolverType
LIE = exu.NodeType.RotationRotationVector
EULER = exu.NodeType.RotationEulerParameters

# Title, solver, node, spectral radius.
INDEX_3 = ("generalized-alpha, index 3, Euler parameters", SOLVERS.GeneralizedAlpha, EULER, 0.9)
INDEX_3_LIE = ("generalized-alpha, index 3, rotation vectors", SOLVERS.GeneralizedAlpha, LIE, 0.9)
INDEX_2 = ("trapezoidal, index 2, Euler parameters", SOLVERS.TrapezoidalIndex2, EULER, 1.0)
INDEX_2_LIE = ("trapezoidal, index 2, rotation vectors", SOLVERS.TrapezoidalIndex2, LIE, 1.0)
EXPLICIT = ("explicit RK4, rotation vectors", SOLVERS.RK44, LIE, 1.0)

# Steps for a second with which each method reaches the error.
STEPS = {
    ("top", "1e-6"): [(INDEX_3_LIE, 22_000), (INDEX_2, 59_000)],
    ("top", "1e-9"): [(INDEX_3_LIE, 690_000)],
    ("pendulum", "1e-6"): [(INDEX_3, 68_300), (INDEX_2, 72_300)],
    ("pendulum", "1e-9"): [(INDEX_3, 2_300_000)],
}


def world(problem, node):
    system = exu.SystemContainer().AddSystem()
    ground = system.CreateGround()
    numbers = [
        system.CreateRigidBody(
            referencePosition=body.x,
            initialVelocity=body.v,
            initialAngularVelocity=body.omega,
            gravity=[0, 0, -problem.gravity],
            inertia=RigidBodyInertia(mass=body.mass, inertiaTensor=np.diag(body.moments)),
            nodeType=node,
        )
        for body in problem.bodies
    ]
    for joint in problem.joints:
        # All bodies start with their axes along the inertial ones.
        at = np.add(problem.bodies[joint.child].x, joint.at_child)
        parent = ground if joint.parent is None else numbers[joint.parent]
        system.CreateSphericalJoint(itemNumbers=[parent, numbers[joint.child]], position=at)
    system.Assemble()
    return system, numbers


def settings(steps, end, radius, is_sparse, is_tight):
    new = exu.SimulationSettings()
    new.timeIntegration.numberOfSteps, new.timeIntegration.endTime = steps, end
    new.timeIntegration.automaticStepSize = new.timeIntegration.adaptiveStep = False
    new.timeIntegration.generalizedAlpha.spectralRadius = radius
    if is_tight:
        new.timeIntegration.newton.relativeTolerance = 1e-10
        new.timeIntegration.newton.absoluteTolerance = 1e-12
    if is_sparse:
        new.linearSolverType = exu.LinearSolverType.EigenSparse
    new.solutionSettings.writeSolutionToFile = False
    new.solutionSettings.sensorsWritePeriod = end
    new.displayStatistics = new.displayComputationTime = False
    return new


def numbers(world):
    system, bodies = world
    for body in bodies:
        read = lambda kind: np.ravel(system.GetObjectOutputBody(body, kind, [0, 0, 0]))
        parts = (KINDS.Position, KINDS.RotationMatrix, KINDS.Velocity, KINDS.AngularVelocityLocal)
        yield np.concatenate([read(kind) for kind in parts])


def method(problem, chosen, steps, end):
    title, solver, node, radius = chosen
    # With a few bodies dense matrices are faster, with many sparse ones.
    chosen = settings(steps, end, radius, len(problem.bodies) > 5, not problem.steps)
    solve = lambda world: world[0].SolveDynamic(chosen, solverType=solver)
    try:
        show(title, steps, lambda: world(problem, node), solve, numbers)
    except Exception as failure:
        cannot(str(failure).strip().splitlines()[-1], title)


def main():
    task, size = arguments()
    asked = problem(task, size)
    end = asked.steps * STEP
    if task == "chain":
        for chosen in (INDEX_3_LIE, INDEX_2_LIE):
            method(asked, chosen, asked.steps, end)
    elif task == "bodies":
        method(asked, EXPLICIT, asked.steps, end)
    else:
        for chosen, steps in STEPS[task, size]:
            method(asked, chosen, steps, 1.0)


main()
