"""Busy in outer > middle > spin for some seconds, or until its input ends."""
import sys
import threading
import time

clock = getattr(time, "monotonic", time.time)
ended = []


def spin(until):
    count = 0
    while clock() < until and not ended:
        count += 1
    return count


def middle(until):
    return spin(until)


def outer(until):
    return middle(until)


def listen():
    sys.stdin.read()
    ended.append(True)


def main():
    if len(sys.argv) == 1:
        listener = threading.Thread(target=listen)
        listener.daemon = True
        listener.start()
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    outer(clock() + (float(sys.argv[1]) if len(sys.argv) > 1 else 60))


main()
