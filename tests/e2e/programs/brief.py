"""Threads that end as soon as they have begun, a few hundred in a second."""
import sys
import threading
import time

clock = getattr(time, "monotonic", time.time)


def brief():
    sum(range(2000))


end = clock() + float(sys.argv[1])
while clock() < end:
    threads = [threading.Thread(target=brief) for _ in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    time.sleep(0.01)
