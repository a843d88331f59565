"""Python calls Rust: rust.py LIBRARY SECONDS, the library made of rust.rs."""
import ctypes
import sys
import time

library = ctypes.CDLL(sys.argv[1])
for function in (library.rust_spend, library.rust_start):
    function.argtypes = [ctypes.c_double]
    function.restype = None


def main(seconds):
    library.rust_start(seconds)
    print("ready")
    sys.stdout.flush()
    end = time.time() + seconds
    while time.time() < end:
        library.rust_spend(0.2)


main(float(sys.argv[2]))
