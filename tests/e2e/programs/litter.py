"""Forks many children that are busy from their first moment, one by one."""
import os
import time

print("ready")
for _ in range(40):
    if os.fork() == 0:
        end = time.time() + 0.03
        while time.time() < end:
            sum(range(1000))
        os._exit(0)
    os.wait()
