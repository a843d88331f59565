"""Works in turns at the surface and as many calls deep as the argument says, for
equal times."""
import sys
import threading
import time

clock = getattr(time, "monotonic", time.time)
TURN = 0.25  # seconds


def surface(until):
    while clock() < until:
        pass


def bottom(until):
    while clock() < until:
        pass


def descend(calls, until):
    if calls:
        descend(calls - 1, until)
    else:
        bottom(until)


def main():
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    end = clock() + 20
    while clock() < end:
        surface(clock() + TURN)
        descend(depth, clock() + TURN)


depth = int(sys.argv[1])
sys.setrecursionlimit(depth + 1000)
threading.stack_size(1 << 30)
thread = threading.Thread(target=main)
thread.start()
thread.join()
