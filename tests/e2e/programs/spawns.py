"""Start one program after the other: spawns.py SECONDS."""
import subprocess
import sys
import time


def spawn():
    subprocess.call(["/bin/true"])


def main(seconds):
    end = time.time() + seconds
    while time.time() < end:
        spawn()


main(float(sys.argv[1]))
