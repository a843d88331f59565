"""Code objects that are made, run for some milliseconds and freed, so that each
takes the address of one before. evenly() runs only even ones, oddly() odd ones,
and name, file and first line of each are made of the same number. At the end it
prints how many milliseconds each took, which a busy machine may draw out."""
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
    took = []
    while clock() < end:
        begin = clock()
        (oddly if number % 2 else evenly)(number, begin + 0.003)
        took.append("%d" % ((clock() - begin) * 1000))
        number += 1
    sys.stdout.write(" ".join(took) + "\n")


main()
