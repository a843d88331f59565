"""Sorts inside the key functions of sorts, so that C calls Python calls C, as
deep as it is told; there it works for the seconds it is told."""
import sys
import time


def descend(depth):
    if depth:
        sorted([depth - 1], key=descend)
    else:
        work(float(sys.argv[2]))
    return depth


def work(seconds):
    until = time.time() + seconds
    while time.time() < until:
        sum(i * i for i in range(100))


print("ready")
sys.stdout.flush()
sys.setrecursionlimit(10000)
descend(int(sys.argv[1]))
