"""How much slower the watched program becomes, at 1 kHz.

The target counts its work in shared memory. Watchers are attached once and
stopped; then short windows alternate, in random order, in which none or one of
them runs, and each round gives one ratio of the same process within two
seconds, so that what else the machine does falls out (harness/speed.py). What is
judged is work per second of wall time: work per second of the target's own CPU
time is blind to the time for which a core was taken away. One of the watchers is bench/empty_wake.c, which wakes on the
target's core as often and does nothing: beside a sampler that rides that core
it tells the machine's price from ours.
"""
import signal
import time

from .. import report, speed
from ..bench import FAILURES

HERTZ = 1000
WINDOW = 0.4   # seconds
SETTLE = 0.03  # seconds after a switch that are not looked at
ATTACH = 1.5   # seconds until a watcher surely samples
BAR = 0.01
TARGETS = (("CPU-bound", "loop", False), ("call-heavy", "calls", False),
           ("asyncio", "tasks", True))  # the last: ridden, judged above empty


class Watcher:
    """A program that can be let run for a window at a time. Pyrometer is asked
    to stop (SIGTSTP), so that it takes its clocks off the target first."""

    def __init__(self, program, stop=signal.SIGSTOP):
        self.program = program
        self.stop = stop
        self.windows = 0

    def let(self):
        self.windows += 1
        self.program.signal(signal.SIGCONT)

    def hold(self):
        self.program.signal(self.stop)

    def end(self):
        self.program.signal(signal.SIGCONT)
        self.program.signal(signal.SIGINT)
        return self.program.wait()


class Nobody:
    def let(self):
        pass

    hold = end = let


def watch(target, watcher):
    watcher.let()
    time.sleep(SETTLE)
    slices = speed.watch(target, WINDOW)
    watcher.hold()
    return slices


def start(bench, target):
    """The watchers by name, attached and stopped."""
    watchers = {"nobody": Nobody()}
    empty = bench.empty_wake(target, HERTZ)
    if empty:
        watchers["empty"] = Watcher(empty)
    for tool in bench.usable(bench.pyrometer):
        watchers[tool.name] = Watcher(tool.start(bench.workspace, target, HERTZ),
                                      signal.SIGTSTP)
    time.sleep(ATTACH)
    for watcher in watchers.values():
        watcher.hold()
    return watchers


def alternate(bench, target, watchers):
    """{name: [Speed in each round]}"""
    windows = bench.rounds(list(watchers), bench.choose(15, 80),
                           lambda name: watch(target, watchers[name]))
    speeds = zip(*map(speed.of_round, zip(*windows.values())))
    return dict(zip(windows, map(list, speeds)))


def finish(bench, watchers):
    """End them; what Pyrometer's recording says, to show that it did sample."""
    ends = {name: watcher.end() for name, watcher in watchers.items()}
    ours = ends.get(bench.pyrometer.name)
    if not ours:
        return "not measured"
    try:
        samples, _, _, _, info = bench.pyrometer.figures(bench.pyrometer.output, ours)
    except FAILURES as error:
        return "no recording: %s" % error
    on = watchers[bench.pyrometer.name].windows * (WINDOW + SETTLE) + ATTACH
    return "%.0f samples/s, %.0f%% ridden" % (
        samples / on, 100 * info.get("ridden", 0) / max(1, samples))


def row(what, against, speeds, name, base="nobody", bar=None, said=""):
    slowdown = speed.Slowdown(speeds[base], speeds[name])
    figures = [said] if said else []
    return report.Row("slowdown, " + what, against, slowdown.value, report.percent, bar,
                      ", ".join(figures + [slowdown.figures(report.percent)]))


def rows_of(bench, what, speeds, ridden, said):
    rows = []
    ours, bar = bench.pyrometer.name, report.at_most(BAR)
    if "empty" in speeds:
        rows.append(row(what + ", an empty wake-up", "", speeds, "empty"))
    if ours in speeds:
        rows.append(row(what, "", speeds, ours, bar=None if ridden else bar, said=said))
    if ours in speeds and ridden and "empty" in speeds:
        rows.append(row(what, "an empty wake-up", speeds, ours, "empty", bar))
    return rows


def measure(bench):
    interpreter = bench.python("3.15") or bench.newest()
    rows = []
    for what, name, ridden in TARGETS:
        with bench.target(interpreter, name, count=True) as target:
            watchers = start(bench, target)
            try:
                speeds = alternate(bench, target, watchers)
            finally:
                said = finish(bench, watchers)
        rows += rows_of(bench, what, speeds, ridden, said)
    return rows
