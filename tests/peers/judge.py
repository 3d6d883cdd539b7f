"""What is wrong with an end that a program reports: one judge for all of them."""

import math
from dataclasses import dataclass

from problems import cross


@dataclass
class Findings:
    """None where there is nothing to compare with or no joint."""

    error: float | None  # distance of the centres of mass from where they should be, m
    gap: float | None  # largest component of a joint's opening, m
    slip: float | None  # and of its rate, m/s
    energy: float  # change since the start, as a part of it or of the problem's scale


def dot(a, b):
    return sum(x * y for x, y in zip(a, b))


def energy(problem, states):
    total = 0.0
    for body, (x, _, v, omega) in zip(problem.bodies, states):
        spin = dot(omega, [moment * rate for moment, rate in zip(body.moments, omega)])
        total += 0.5 * body.mass * dot(v, v) + 0.5 * spin + body.mass * problem.gravity * x[2]
    return total


def point(states, body, at):
    """Place and velocity of a point of a body."""
    if body is None:
        return at, [0.0] * 3
    x, rotation, v, omega = states[body]
    turned = lambda a: [dot(row, a) for row in rotation]
    return [a + b for a, b in zip(x, turned(at))], [a + b for a, b in zip(v, turned(cross(omega, at)))]


def largest(values):
    """NaN if one of them is; None of none."""
    return math.nan if any(math.isnan(value) for value in values) else max(values, default=None)


def judge(problem, bodies):
    """`bodies` has position, rotation by rows, velocity, angular velocity in body axes: 18 numbers for each body."""
    states = [(b[:3], [b[3:6], b[6:9], b[9:12]], b[12:15], b[15:18]) for b in bodies]
    identity = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    start = energy(problem, [(body.x, identity, body.v, body.omega) for body in problem.bodies])
    gaps, slips = [], []
    for joint in problem.joints:
        (x, v), (y, w) = point(states, joint.parent, joint.at_parent), point(states, joint.child, joint.at_child)
        gaps += [abs(a - b) for a, b in zip(x, y)]
        slips += [abs(a - b) for a, b in zip(v, w)]
    ends = [math.dist(states[number][0], x) for number, x in problem.end.items()]
    return Findings(
        error=math.hypot(*ends) if ends else None,
        gap=largest(gaps),
        slip=largest(slips),
        energy=abs(energy(problem, states) - start) / (problem.scale or abs(start)),
    )
