# -*- coding: utf-8 -*-
"""Threads that sleep in various kinds of code; tells their stacks as Python sees
them, and the values of some variables as repr() writes them."""
import json
import os
import sys
import threading
import time


class Plain(object):
    pass


def nap():
    time.sleep(1000)


class Worker(threading.Thread):
    """A subclass, with attributes of its own and a dict that was asked for."""

    def run(self):
        self.more = 1
        self.__dict__["other"] = 2
        self.work()

    def work(self):
        return [self.step(n) for n in
                range(1)]

    def step(self, n):
        nap()


def generate():
    for n in range(3):
        yield (
            nap())


def in_generator():
    for _ in generate():
        pass


def in_lambda():
    (lambda:
        nap())()


def in_exec():
    code = compile("\n\ndef made():\n    nap()\nmade()", "made of text", "exec")
    eval(code, {"nap": nap})


def variables(first, second=2, *rest, **named):
    none, yes, small, big = None, True, 7, -2 ** 80
    real, text, raw = 0.1, "it's", b"raw"
    items, pair = [1, [2, "b"]], (1, 2.5)
    table, empty = {"key": [None]}, {}
    bad = "\x1b[31mred\x07\n"
    long = "x" * 5000
    many = list(range(5000))
    plain = Plain()
    gone = 1
    del gone
    shared = [first]
    same = (none, yes, small, big, real, text, raw, items, pair, table, empty, bad)
    told["values"] = dict(zip(("none", "yes", "small", "big", "real", "text", "raw", "items",
                               "pair", "table", "empty", "bad"), map(repr, same)))

    def inner():
        shared.append(long)
        nap()

    inner()


def varied():
    variables(1, 3, "more", word="x")


told = {}
TARGETS = {u"in a generator": in_generator, u"in a lambda": in_lambda, u"in exec": in_exec,
           u"variables": varied}
if sys.version_info[0] > 2:
    TARGETS[u"caf\xe9 \u6587"] = nap
    TARGETS[u"n" * 100] = nap


def stack_of(frame):
    stack = []
    while frame:
        code = frame.f_code
        stack.append([getattr(code, "co_qualname", code.co_name), code.co_filename,
                      frame.f_lineno])
        frame = frame.f_back
    return stack


def stacks():
    frames = sys._current_frames()
    return dict((thread.name, stack_of(frames[thread.ident])) for thread in threads)


def await_sleep():
    """Return the stacks when nothing has moved for a while."""
    before = None
    while True:
        time.sleep(0.1)
        now = stacks()
        if now == before and all(stack[0][0] == "nap" for stack in now.values()):
            return now
        before = now


threads = [threading.Thread(target=target, name=name) for name, target in TARGETS.items()]
threads.append(Worker(name="subclass"))
for thread in threads:
    thread.daemon = True
    thread.start()
told["threads"] = await_sleep()
told["idents"] = dict((thread.name, thread.ident) for thread in threads)
sys.stdout.write("ready " + json.dumps(told) + "\n")
sys.stdout.flush()
os.read(0, 1)  # where the main thread waits
