"""Ends by a signal with a core file: in the current folder's place that it is
told, while one thread waits for an event and one for the GIL.

    crash.py FOLDER abort|segv"""
import ctypes
import itertools
import os
import resource
import sys
import threading
import time


def wait_for(event):
    word = "waiting"
    event.wait()
    return word


def spin():
    while True:
        pass


def fatal(how):
    answer = 42
    if how == "segv":
        sum(range(20000000))  # holds the GIL for longer than the others' patience
        ctypes.string_at(0x666)
    # All in one call: behind it the GIL would be given to who waits for it.
    sum(itertools.chain(range(20000000), itertools.starmap(os.abort, [()])))
    return answer


os.chdir(sys.argv[1])
resource.setrlimit(resource.RLIMIT_CORE, (-1, -1))
for name, target, arguments in (("waits", wait_for, (threading.Event(),)), ("spins", spin, ())):
    thread = threading.Thread(target=target, name=name, args=arguments)
    thread.daemon = True
    thread.start()
time.sleep(0.3)
fatal(sys.argv[2])
