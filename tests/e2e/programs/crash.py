"""Ends by a signal, with a core file in the folder that it is told, while one
thread waits for an event and one runs or waits for the GIL.

    crash.py FOLDER abort|segv|hold

"hold" is ended from outside while it holds the GIL."""
import ctypes
import os
import resource
import signal
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
    if how == "hold":
        ctypes.PyDLL(None).sleep(60)  # without letting go of the GIL
    if how == "segv":
        ctypes.string_at(0x666)
    os.abort()
    return answer


os.chdir(sys.argv[1])
resource.setrlimit(resource.RLIMIT_CORE, (resource.RLIM_INFINITY,) * 2)
if sys.argv[2] == "hold" and not os.fork():
    time.sleep(1.5)
    os.kill(os.getppid(), signal.SIGABRT)
    os._exit(0)
for name, target, arguments in (("waits", wait_for, (threading.Event(),)), ("spins", spin, ())):
    thread = threading.Thread(target=target, name=name, args=arguments)
    thread.daemon = True
    thread.start()
time.sleep(0.3)
fatal(sys.argv[2])
