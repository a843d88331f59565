"""Computes and sleeps in turns of so many seconds each."""
import sys
import time


def computes(seconds):
    until = time.time() + seconds
    while time.time() < until:
        sum(range(2000))


def sleeps(seconds):
    time.sleep(seconds)


def main(work, rest):
    print("ready")
    sys.stdout.flush()
    while True:
        computes(work)
        sleeps(rest)


main(float(sys.argv[1]), float(sys.argv[2]))
