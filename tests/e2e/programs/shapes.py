"""Busy in one shape of code after the other, a slice of CPU time each.

Coroutines and asynchronous generators are compiled from text, as old versions
cannot parse them. Zipped code comes from a file that is made first."""
import os
import sys
import tempfile
import time
import zipfile

clock = time.process_time if hasattr(time, "process_time") else time.clock
SLICE = 0.08

COROUTINES = """
class Once:
    def __await__(self):
        yield

async def coroutine_leaf(until):
    await Once()
    while clock() < until:
        pass

async def coroutine_root(until):
    await coroutine_leaf(until)

async def asynchronous_generator(until):
    while clock() < until:
        yield

async def asynchronous_root(until):
    async for x in asynchronous_generator(until):
        pass
"""
ZIPPED = """
def zipped(clock, until):
    while clock() < until:
        pass
"""


def generator_leaf(until):
    while clock() < until:
        for i in range(1000):
            pass
        yield


def generator_root(until):
    for x in generator_leaf(until):
        yield x


def in_generators(until):
    for x in generator_root(until):
        pass


def in_comprehension(until):
    return [1 for i in iter(lambda: clock() < until, False)]


def in_expression(until):
    return sum(1 for i in iter(lambda: clock() < until, False))


def in_executed(until):
    space = {"clock": clock, "until": until}
    exec(compile("def executed():\n    while clock() < until: pass\nexecuted()\n",
                 "<made up>", "exec"), space)


def in_zipped(until):
    folder = tempfile.mkdtemp()
    path = os.path.join(folder, "modules.zip")
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("in_zip.py", ZIPPED)
    sys.path.insert(0, path)
    import in_zip
    os.unlink(path)
    os.rmdir(folder)
    in_zip.zipped(clock, until)


def in_method(until):
    class Thing(object):
        def method(self, until):
            while clock() < until:
                pass
    Thing().method(until)


class Made(object):
    def __init__(self):
        for i in range(1000):
            pass


def in_class(until):
    while clock() < until:
        Made()


def in_coroutines(until):
    space = {"clock": clock}
    exec(compile(COROUTINES, "<coroutines>", "exec"), space)
    half = (clock() + until) / 2
    drain(space["coroutine_root"](half))
    drain(space["asynchronous_root"](until))


def drain(coroutine):
    try:
        while True:
            coroutine.send(None)
    except StopIteration:
        pass


def main():
    shapes = [in_generators, in_comprehension, in_expression, in_executed, in_zipped, in_method,
              in_class]
    if sys.version_info >= (3, 6):
        shapes.append(in_coroutines)
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    for shape in shapes:
        shape(clock() + SLICE)


main()
