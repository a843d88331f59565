"""A parent with two busy children; more are born while it is watched."""
import os
import sys
import time

clock = getattr(time, "monotonic", time.time)


def early():
    until = clock() + 5
    while clock() < until and os.getppid() == parent:
        pass


def late():
    until = clock() + 0.2
    while clock() < until:
        pass


def bear(function):
    child = os.fork()
    if not child:
        function()
        os._exit(0)
    return child


parent = os.getpid()
children = [bear(early), bear(early)]
sys.stdout.write("ready %d %d\n" % tuple(children))
sys.stdout.flush()
end = clock() + 5
while clock() < end:
    os.waitpid(bear(late), 0)
