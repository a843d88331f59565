"""A recursion as deep as the argument says, and a loop at its end."""
import sys
import threading
import time

clock = getattr(time, "monotonic", time.time)


def bottom():
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    until = clock() + 20
    while clock() < until:
        pass


def descend(calls):
    if calls:
        descend(calls - 1)
    else:
        bottom()


depth = int(sys.argv[1])
sys.setrecursionlimit(depth + 1000)
threading.stack_size(1 << 30)
thread = threading.Thread(target=descend, args=(depth,))
thread.start()
thread.join()
