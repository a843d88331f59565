"""Threads that come one after another, each with a name of its own."""
import sys
import threading
import time

clock = getattr(time, "monotonic", time.time)


def busy(seconds):
    until = clock() + seconds
    while clock() < until:
        pass


def work():
    busy(0.15)


def other():
    busy(0.15)


sys.stdout.write("ready\n")
sys.stdout.flush()
for number in range(3):
    for target, name in ((work, "worker-%d" % number), (other, "other-%d" % number)):
        thread = threading.Thread(target=target, name=name)
        thread.start()
        thread.join()
        time.sleep(0.02)
