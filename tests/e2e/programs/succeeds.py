"""A function that runs for long, and another that takes its place in memory and
runs for a moment."""
import sys
import time

clock = getattr(time, "perf_counter", time.time)
SOURCE = "def %s(until, clock):\n while clock() < until:\n  for _ in range(2000): pass"


def make(name):
    namespace = {}
    exec(SOURCE % name, namespace)
    return namespace.pop(name)


def main():
    make("second")  # what it takes to make one is there from now on
    function = make("first_")
    place = id(function.__code__)
    function(clock() + 0.9, clock)
    del function
    function = make("second")
    same = id(function.__code__) == place
    function(clock() + 0.015, clock)
    sys.stdout.write("same\n" if same else "another\n")
    time.sleep(0.05)


main()
