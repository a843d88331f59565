"""Python calls Fortran, which calls Python: fortran.py LIBRARY SECONDS, the
library made of fortran.f90."""
import ctypes
import sys
import time

library = ctypes.CDLL(sys.argv[1])
library.known_spend.argtypes = [ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
library.known_spend.restype = None
total = ctypes.c_double(1)


def called():
    for _ in range(2000):
        pass


back = ctypes.CFUNCTYPE(None)(called)


def main(seconds):
    end = time.time() + seconds
    while time.time() < end:
        library.known_spend(30000, ctypes.cast(back, ctypes.c_void_p), ctypes.byref(total))


main(float(sys.argv[2]))
