"""Samples that are lost, known to be damaged, or not known to be and wrong.

Two counts. A tool's own, of the samples that it lost or marked. And ours, of
stacks in its output with a caller and a function that the program does not have
(the CALLERS of a target): what a user would take for true and is not.
"""
import importlib
import os
import sys

from .. import machine, report, stacks
from ..statistics import Spread

HERTZ = 1000
TARGETS = (("recursive fib", "fib"), ("chained generators", "generators"), ("asyncio", "tasks"))
BAR = 0.0005


def known_callers(name):
    folder = os.path.join(machine.BENCH, "targets")
    if folder not in sys.path:
        sys.path.insert(0, folder)
    return importlib.import_module(name).CALLERS


def exactly(value):
    return Spread(value, value, value)


def pair_text(pairs):
    worst = sorted(pairs.items(), key=lambda item: -item[1])[:3]
    return ", ".join("%s > %s %d times" % (a or "nothing", b, n) for (a, b), n in worst)


def notes(recording):
    """What else Pyrometer says of itself."""
    keys = ("missed", "unproven", "retried", "ridden")
    return "".join(", %d %s" % (recording.details[key], key)
                   for key in keys if key in recording.details)


def row_damaged(bench, tool, what, recording, expected):
    bar = report.at_most(BAR) if tool is bench.pyrometer else None
    figures = "%d of %d, %d delivered of %d due%s" % (
        recording.errors, recording.attempts, recording.samples, expected, notes(recording))
    return report.Row("torn or lost, %s" % what, tool.name,
                      exactly(recording.errors / max(1, recording.attempts)),
                      report.percent, bar, figures)


def row_impossible(bench, tool, what, name, recording):
    found = tool.stacks(recording)
    samples, wrong, pairs = stacks.impossible(found, known_callers(name), name + ".py")
    bar = report.at_most(0) if tool is bench.pyrometer else None
    figures = "%d of %d" % (wrong, samples)
    return report.Row("impossible stacks, %s" % what, tool.name,
                      exactly(wrong / max(1, samples)), report.percent, bar,
                      figures + (": " + pair_text(pairs) if pairs else ""))


def rows_of(bench, tool, what, name, watched, seconds):
    recording = bench.record(tool, watched, HERTZ, seconds)
    if not recording:
        return []
    return [row_damaged(bench, tool, what, recording, round(recording.seconds * HERTZ)),
            row_impossible(bench, tool, what, name, recording)]


def measure(bench):
    newest, older = bench.python("3.15") or bench.newest(), bench.python("3.14")
    rows = []
    for what, name in TARGETS:
        with bench.target(newest, name) as watched:
            for tool in bench.usable(bench.pyrometer):
                rows += rows_of(bench, tool, what, name, watched, bench.choose(4, 10))
            for tool in bench.usable(bench.sampling, bench.py_spy):
                rows += rows_of(bench, tool, what, name, watched, bench.choose(2, 3))
        if older and bench.usable(bench.austin):
            with bench.target(older, name) as watched:
                rows += rows_of(bench, bench.austin, what, name, watched, bench.choose(2, 3))
    return rows
