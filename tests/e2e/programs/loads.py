"""Load one library after the other, and be at work in each at once: loads.py
LIBRARY COUNT, the library made of loads.c. Copies of it are made beside it."""
import ctypes
import os
import shutil
import sys
import time


def work(library):
    library.work()


def main(path, count):
    for i in range(count):
        copy = "%s.%d.%d" % (path, os.getpid(), i)
        shutil.copy(path, copy)
        work(ctypes.CDLL(copy))
    time.sleep(0.2)  # what is new at the very end cannot be looked for


main(sys.argv[1], int(sys.argv[2]))
