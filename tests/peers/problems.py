"""What is to be moved, as numbers: bodies, joints, starts, and ends that are known.

A body is at its centre of mass `x`; `R` turns its coordinates to inertial ones and `omega` is in its own. SI units throughout.
"""

import math
from dataclasses import dataclass, field

GRAVITY = 9.81  # along -z
STEP = 1e-3  # of chains and free bodies


@dataclass
class Body:
    mass: float
    moments: list  # about the centre of mass, along the axes of the body
    x: list
    v: list
    omega: list


@dataclass
class Joint:
    """A spherical joint; body None is the ground, and points are in coordinates of their bodies."""

    parent: int | None
    at_parent: list
    child: int
    at_child: list


@dataclass
class Problem:
    title: str
    bodies: list
    joints: list = field(default_factory=list)
    gravity: float = GRAVITY
    end: dict = field(default_factory=dict)  # centre of mass by number of the body, where it is known
    scale: float | None = None  # of energy errors, J; the energy of the start if not given
    steps: int = 0  # of STEP; 0 where an error is asked for


def cross(a, b):
    return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]


def top():
    omega = [0.0, 150.0, -4.61538]
    arm = [0.0, 1.0, 0.0]
    body = Body(15.0, [0.234375, 0.46875, 0.234375], arm, cross(omega, arm), omega)
    return Problem(
        "heavy top",
        [body],
        [Joint(None, [0.0] * 3, 0, [0.0, -1.0, 0.0])],
        end={0: [0.17334396409838604, 0.6400885920705688, -0.7484907911335813]},
    )


def pendulum():
    radius, half = 0.1, 0.5
    across = 5.0 * (3 * radius**2 + 1) / 12
    moments = [across, across, 5.0 * radius**2 / 2]
    rates = [[10 * math.pi, 0.0, 0.0], [10 * math.pi, 10 * math.pi, 20 * math.pi]]
    arm = [0.0, 0.0, half]
    first, second = cross(rates[0], arm), cross(rates[1], arm)
    return Problem(
        "double pendulum",
        [
            Body(5.0, moments, arm, first, rates[0]),
            Body(5.0, moments, [0.0, 0.0, 3 * half], [2 * a + b for a, b in zip(first, second)], rates[1]),
        ],
        [Joint(None, [0.0] * 3, 0, [0.0, 0.0, -half]), Joint(0, arm, 1, [0.0, 0.0, -half])],
        end={
            0: [0.09711561640731797, -0.3921227091888218, -0.29463254740141215],
            1: [0.396099548293922, -1.194689013233167, -0.7912186504725142],
        },
    )


# Step counts: the chain of ten swings for 1 s, and longer ones as long as can be waited for.
CHAIN_STEPS = {10: 1000, 100: 500, 1000: 50}


def chain(links):
    bodies = [Body(1.0, [1 / 120, 1 / 12, 1 / 12], [k + 0.5, 0.0, 0.0], [0.0] * 3, [0.0] * 3) for k in range(links)]
    joint = lambda k: Joint(k - 1 if k else None, [0.5 if k else 0.0, 0.0, 0.0], k, [-0.5, 0.0, 0.0])
    return Problem(
        f"chain of {links} rods",
        bodies,
        [joint(k) for k in range(links)],
        # By the Runge-Kutta methods of Drake (order 5) and MuJoCo (order 4), which agree to 2e-13 m.
        end={9: [7.0272294261668, 0.0, -4.9056215340929]} if links == 10 else {},
        scale=links * GRAVITY,
        steps=CHAIN_STEPS[links],
    )


def bodies(number):
    omega = lambda k: [0.3, 0.5 + 0.1 * math.sin(k), -0.7]
    free = [Body(1.0, [0.4, 0.7, 0.9], [float(k), 0.0, 0.0], [1.0, 0.0, 0.0], omega(k)) for k in range(number)]
    return Problem(f"{number} free bodies", free, gravity=0.0, steps=1000)


def problem(task, size):
    """The problem of a task: `top` and `pendulum`, whose size is an error, or `chain` and `bodies`, whose size is a number."""
    match task:
        case "top":
            return top()
        case "pendulum":
            return pendulum()
        case "chain":
            return chain(int(size))
        case "bodies":
            return bodies(int(size))
    raise ValueError(f"there is no task {task}")


TASKS = [
    ("top", "1e-6"),
    ("top", "1e-9"),
    ("pendulum", "1e-6"),
    ("pendulum", "1e-9"),
    ("chain", "10"),
    ("chain", "100"),
    ("chain", "1000"),
    ("bodies", "1000"),
]
