"""Computes in the main thread, and every 0.2 seconds for some time in another."""
import sys
import threading
import time


def computes(seconds):
    until = time.time() + seconds
    while time.time() < until:
        sum(range(2000))


def main(seconds):
    print("ready")
    sys.stdout.flush()
    until = time.time() + seconds
    while time.time() < until:
        computes(0.2)
        newcomer = threading.Thread(target=computes, name="newcomer", args=(0.1,))
        newcomer.daemon = True
        newcomer.start()


main(float(sys.argv[1]))
