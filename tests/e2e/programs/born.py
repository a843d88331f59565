"""Asleep in the __init__ of a class that was called often before."""
import sys
import time


class Born(object):
    def __init__(self, asleep):
        if asleep:
            sys.stdout.write("ready\n")
            sys.stdout.flush()
            time.sleep(1000)


def bear():
    for i in range(1001):
        Born(i == 1000)


bear()
