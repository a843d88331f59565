"""Asleep in doze > nap until its input ends."""
import sys
import time


def nap():
    time.sleep(60)


def doze():
    nap()


sys.stdout.write("ready\n")
sys.stdout.flush()
doze()
