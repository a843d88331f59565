"""One thread sleeps and keeps the GIL, the others want it."""
import ctypes
import sys
import threading
import time

libc = ctypes.PyDLL(None)  # its functions do not let go of the GIL


def want():
    while True:
        time.sleep(0)


def keep():
    libc.sleep(1000)


for number in range(2):
    thread = threading.Thread(target=want, name="wants-%d" % number)
    thread.daemon = True
    thread.start()
time.sleep(0.2)
sys.stdout.write("ready\n")
sys.stdout.flush()
keep()
