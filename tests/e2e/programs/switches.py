"""Generators in generators that do nothing but call each other."""
import sys


def inmost():
    while True:
        yield 1


def middle():
    for value in inmost():
        yield value


def outer():
    for value in middle():
        yield value


def drive():
    for value in outer():
        pass


sys.stdout.write("ready\n")
sys.stdout.flush()
drive()
