"""A hundred functions, step_000 to step_099, of one millisecond each.

--log FILE gets the time (CLOCK_MONOTONIC) at which the first one began. Which
step a profiler saw first tells when it took its first sample.
"""
import argparse
import os
import time

STEP = 0.001  # seconds
STEPS = 100


def make_step(number):
    space = {"monotonic": time.monotonic}
    name = "step_%03d" % number
    exec("def %s(until):\n    while monotonic() < until:\n        pass\n" % name, space)
    return space[name]


def main():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("--log", required=True)
    args = p.parse_args()
    steps = [make_step(number) for number in range(STEPS)]
    began = time.monotonic()
    with open(args.log, "w") as f:
        f.write("%.9f\n" % began)
    for number, step in enumerate(steps):
        step(began + (number + 1) * STEP)
    os._exit(0)  # so that nothing but the start-up lies outside of the steps


if __name__ == "__main__":
    main()
