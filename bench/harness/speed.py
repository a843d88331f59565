"""How fast a target works, on a machine whose host has other work.

On a virtual machine a core is half as fast as usual whenever the host lets
another guest run on the same core, or gives none at all: for milliseconds or
for seconds, a tenth to a half of the time. Such bursts take ten times as much
from a program as what is to be measured here, and no mean or median over whole
windows is rid of them. So windows are looked at in slices. Those that are more
than a tenth slower than a window's best are left out as the host's, and so is a
window whose best ones are that much slower than those of its round. Best is
what one side of a comparison reached itself, so that a watcher which slows all
slices down a little does not have more of them left out.

A watcher might do seldom and for long what would then be left out as well. So
the slowdown over all slices is told, too, and if it is surely larger than that
over the quiet ones (their 95% intervals do not meet), it is the one that
counts.
"""
import time
from typing import NamedTuple, Optional

from .statistics import bootstrap

SLICE = 0.02   # seconds: as long as most windows of clocks
BEST = 0.95    # the quantile of slices that tells what the machine gave
QUIET = 0.9    # of that
ENOUGH = 0.25  # of a window's slices must be quiet


class Speed(NamedTuple):
    quiet: Optional[float]  # units of work per second in quiet slices, if enough are
    whole: float  # in all slices
    taken: float  # the share of slices that were left out


class Look(NamedTuple):
    units: int
    time: float

    def until(self, later):
        return Look(later.units - self.units, later.time - self.time)

    def speed(self):
        return self.units / self.time


def look(target):
    return Look(target.units(), time.monotonic())


def watch(target, seconds):
    """The slices of a window that begins now."""
    looks = [look(target)]
    end = looks[0].time + seconds
    while looks[-1].time < end - SLICE / 2:
        time.sleep(SLICE)
        looks.append(look(target))
    return [a.until(b) for a, b in zip(looks, looks[1:])]


def total(slices):
    return Look(*(sum(column) for column in zip(*slices)))


def best(slices):
    speeds = sorted(s.speed() for s in slices)
    return speeds[int(BEST * len(speeds))]


def of_window(slices, best_of_round):
    level = best(slices)
    quiet = [s for s in slices if s.speed() >= QUIET * level]
    if level < QUIET * best_of_round:
        quiet = []
    enough = len(quiet) >= ENOUGH * len(slices)
    return Speed(total(quiet).speed() if enough else None, total(slices).speed(),
                 1 - len(quiet) / len(slices))


def of_round(windows):
    """The Speed of each side of a round."""
    level = best([s for slices in windows for s in slices])
    return [of_window(slices, level) for slices in windows]


class Slowdown:
    """By how much the watched windows are slower than those beside them."""

    def __init__(self, bases, watched):
        self.pairs = [(a, b) for a, b in zip(bases, watched) if a.whole and b.whole]
        quiet = [a.quiet / b.quiet - 1 for a, b in self.pairs if a.quiet and b.quiet]
        self.rounds = len(quiet)
        self.whole = self.value = None
        if self.pairs:
            self.whole = bootstrap([a.whole / b.whole - 1 for a, b in self.pairs])
            self.value = bootstrap(quiet) if self.rounds >= len(self.pairs) / 2 else self.whole
            if self.whole.low > self.value.high:
                self.value = self.whole

    def figures(self, percent):
        """What stands beside it."""
        if not self.pairs:
            return ""
        without, beside = (100 * sum(s.taken for s in side) / len(side)
                           for side in zip(*self.pairs))
        return "%s (%s..%s) over all slices; left out: %.0f%% of them, without it %.0f%%; " \
            "%d of %d rounds" % (*map(percent, (self.whole.middle, self.whole.low,
                                                self.whole.high)),
                                 beside, without, self.rounds, len(self.pairs))
