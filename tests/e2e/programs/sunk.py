"""Asleep at the bottom of a recursion as deep as the argument says."""
import sys
import threading
import time


def bottom():
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    time.sleep(1000)


def sink(calls):
    if calls:
        sink(calls - 1)
    else:
        bottom()


depth = int(sys.argv[1])
sys.setrecursionlimit(depth + 1000)
threading.stack_size(1 << 30)
thread = threading.Thread(target=sink, args=(depth,))
thread.daemon = True
thread.start()
time.sleep(1000)
