"""What the programs that are watched share: arguments, and a count of work.

Each target runs for --seconds, in units of work of about a tenth of a
millisecond. With --progress FILE it counts the units in that file, eight bytes
for each thread that works, which whoever measures a slowdown reads through a
mapping and adds up: the target makes no system call for it, and no thread
writes over what another has counted. Everything here runs on Python 2.7 too.

A target that knows which function can call which says so in CALLERS: function
name to the names of its possible callers, "" for none. A pair of the program's
functions that is not in there cannot exist.
"""
import argparse
import copy
import mmap
import struct
import sys
import time

clock = getattr(time, "perf_counter", time.time)

COUNT = struct.Struct("@Q")  # native: written at once, not byte by byte


class Work(object):
    """Counts units of work, and says when it is time to end."""

    def __init__(self, seconds, progress=None):
        self.units = 0
        self.place = 0
        self.end = clock() + seconds
        self.memory = None
        if progress:
            with open(progress, "r+b") as f:
                self.memory = mmap.mmap(f.fileno(), 0)

    def of_thread(self, number):
        """The same work, counted apart."""
        share = copy.copy(self)
        share.units = 0
        share.place = number * COUNT.size
        return share

    def goes_on(self):
        """To be called after each unit."""
        self.units += 1
        if self.memory is not None:
            COUNT.pack_into(self.memory, self.place, self.units)
        return clock() < self.end


def parser(about):
    p = argparse.ArgumentParser(description=about)
    p.add_argument("--seconds", type=float, default=3.0)
    p.add_argument("--progress", help="file to count units of work in")
    return p


def ready():
    """Say that the part worth watching begins."""
    sys.stdout.write("ready\n")
    sys.stdout.flush()


def begin(args):
    """The work of a target whose arguments came from parser()."""
    ready()
    return Work(args.seconds, args.progress)
