"""Three threads at work without the GIL, on one core: two of them wait for it
at any moment."""
import hashlib
import os
import sys
import threading
import time

os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
DATA = bytes(1 << 20)
until = time.time() + float(sys.argv[1])


def crowd():
    while time.time() < until:
        hashlib.sha256(DATA)


threads = [threading.Thread(target=crowd, name="crowd %d" % i) for i in range(3)]
for thread in threads:
    thread.start()
print("ready")
sys.stdout.flush()
for thread in threads:
    thread.join()
