"""Generators that run for some seconds, and a thread that sleeps meanwhile."""
import sys
import threading
import time


def numbers():
    number = 0
    while True:
        yield number
        number += 1


def squares(those):
    for number in those:
        yield number * number


def waits(until):
    word = "a variable"
    while time.monotonic() < until:
        time.sleep(0.2)
    return word


def works(until):
    those = squares(numbers())
    while time.monotonic() < until:
        for _ in range(1000):
            next(those)


end = time.monotonic() + float(sys.argv[1])
sleeper = threading.Thread(target=waits, args=(end,), name="sleeper")
sleeper.start()
works(end)
sleeper.join()
