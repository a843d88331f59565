"""Works in turns at the surface and 300 calls deep, a fifth of the time."""
import sys
import time


def spin(seconds):
    until = time.time() + seconds
    while time.time() < until:
        sum(range(1000))


def shallow():
    spin(0.2)


def deep(n):
    if n:
        deep(n - 1)
    else:
        spin(0.05)


print("ready")
sys.stdout.flush()
until = time.time() + float(sys.argv[1])
while time.time() < until:
    shallow()
    deep(300)
