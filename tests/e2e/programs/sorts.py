"""Sorts for the seconds it is told, by a key function that takes most of them."""
import sys
import time


def key(number):
    total = 0
    for i in range(20):
        total += i * number
    return -total


def sorts(seconds):
    until = time.time() + seconds
    while time.time() < until:
        sorted(range(2000), key=key)


print("ready")
sys.stdout.flush()
sorts(float(sys.argv[1]))
