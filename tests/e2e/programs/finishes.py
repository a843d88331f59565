"""Threads that end in the function that they have been in all along, one after
the other."""
import sys
import threading
import time

clock = getattr(time, "perf_counter", time.time)


def work(seconds):
    until = clock() + seconds
    while clock() < until:
        for _ in range(2000):
            pass


for _ in range(int(sys.argv[1])):
    thread = threading.Thread(target=work, args=(float(sys.argv[2]),))
    thread.start()
    thread.join()
