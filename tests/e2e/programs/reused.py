"""Code objects that are made, run for some milliseconds and freed, so that each
takes the address of one before. evenly() runs only even ones, oddly() odd ones,
and name, file and first line of each are made of the same number."""
import sys
import time

clock = getattr(time, "monotonic", time.time)
BODY = "%sdef work_%d(clock, until):\n    while clock() < until:\n        pass\n"


def make(number):
    space = {}
    # The number of lines in front is the number, within reason.
    lines = "\n" * (number % 50)
    exec(compile(BODY % (lines, number), "made_%d.py" % number, "exec"), space)
    return space["work_%d" % number]


def evenly(number, until):
    make(number)(clock, until)


def oddly(number, until):
    make(number)(clock, until)


def main():
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    end = clock() + float(sys.argv[1])
    number = 0
    while clock() < end:
        (oddly if number % 2 else evenly)(number, clock() + 0.003)
        number += 1


main()
