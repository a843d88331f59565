"""Collect garbage in a loop, among enough objects that it takes a while."""
import gc
import sys
import time

clock = getattr(time, "monotonic", time.time)
kept = [[i, [i]] for i in range(200000)]


def collector(until):
    while clock() < until:
        gc.collect()


sys.stdout.write("ready\n")
sys.stdout.flush()
collector(clock() + 20)
