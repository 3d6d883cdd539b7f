"""What programs in Python share: they are called with a task and its size, and print a line of JSON for each method."""

import json
import statistics
import sys
import time

TIME = 0.3  # CPU time that runs are repeated for, s


def arguments():
    task, size = sys.argv[1:3]
    return task, size


def show(method, steps, prepare, run, bodies):
    """Median CPU time of `run(prepare())`, and the end of the last run as `bodies(world)`.

    `bodies` gives position, rotation by rows, velocity, angular velocity in body axes: 18 numbers for each body.
    """
    times = []
    while sum(times) < TIME:
        world = prepare()
        begin = time.process_time()
        run(world)
        times.append(time.process_time() - begin)
    end = [[float(x) for x in body] for body in bodies(world)]
    line = {"method": method, "steps": steps, "seconds": statistics.median(times), "bodies": end}
    print(json.dumps(line), flush=True)


def cannot(reason, method=""):
    print(json.dumps({"cannot": " ".join(str(reason).split()), "method": method}), flush=True)
