"""Interpreter functions that call Python: a map that is made a list, for some
seconds."""
import sys
import time


def called(x):
    y = 0
    for _ in range(100):
        y += x
    return y


def maps():
    return list(map(called, range(100)))


sys.stdout.write("ready\n")
sys.stdout.flush()
until = time.time() + float(sys.argv[1])
while time.time() < until:
    maps()
