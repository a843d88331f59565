"""How fast a target works, on a machine whose host has other work.

On a virtual machine a core is half as fast as usual whenever the host lets
another guest run on the same core, or gives none at all: for milliseconds or
for seconds, a tenth to a half of the time. Such bursts take ten times as much
from a program as what is to be measured here, and no mean or median over whole
windows is rid of them. So windows are looked at in slices. The speed at which a
round's best slices ran, of all its windows, is what the machine gave at that
time; slices that are more than a tenth below it are left out as the host's. A
watcher does nothing in them, tick by tick, that is so large; but what one does
seldom and for long would be left out as well. So the share of slices that were
left out, and the speed over all of them, are told, too, and judged is the
latter where a watcher leaves few such slices in most windows.

Tried with a program that keeps the target's core busy for 20 us a thousand
times a second, beside one that only wakes up: 1.9% (1.5%..2.2%) of 2%.
"""
import time
from typing import NamedTuple, Optional

from .process import cpu_time
from .statistics import median

SLICE = 0.02   # seconds: as long as most windows of clocks
BEST = 0.95    # the quantile of a round's slices that tells its level
QUIET = 0.9    # of that level
ENOUGH = 0.25  # of a window's slices must be quiet


class Speed(NamedTuple):
    wall: Optional[float]  # units of work per second of quiet slices, if enough are
    cpu: float    # the same per second of the target's CPU time
    whole: float  # of all slices
    taken: float  # the share of slices that were left out


class Look(NamedTuple):
    units: int
    cpu: float
    time: float

    def until(self, later):
        return Look(later.units - self.units, later.cpu - self.cpu, later.time - self.time)

    def speed(self):
        return self.units / self.time


def look(target):
    return Look(target.units(), cpu_time(target.pid), time.monotonic())


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


def of_window(slices, level):
    quiet = [s for s in slices if s.speed() >= QUIET * level]
    enough = len(quiet) >= ENOUGH * len(slices)
    done, whole = total(quiet if enough else slices), total(slices)
    return Speed(done.speed() if enough else None, done.units / max(done.cpu, 1e-9),
                 whole.speed(), 1 - len(quiet) / len(slices))


def of_round(windows):
    """The Speed of each window of a round."""
    speeds = sorted(s.speed() for slices in windows for s in slices)
    level = speeds[int(BEST * len(speeds))]
    return [of_window(slices, level) for slices in windows]


def quiet_pairs(bases, watched):
    return [(base, speed) for base, speed in zip(bases, watched) if base.wall and speed.wall]


def slowdowns(bases, watched):
    """How much slower the watched windows are than those beside them."""
    pairs = quiet_pairs(bases, watched)
    if len(pairs) < len(watched) / 2:
        return [base.whole / max(speed.whole, 1e-9) - 1 for base, speed in zip(bases, watched)]
    return [base.wall / speed.wall - 1 for base, speed in pairs]


def figures(percent, bases, watched):
    """What stands beside a slowdown."""
    pairs = quiet_pairs(bases, watched) or list(zip(bases, watched))
    by_cpu = [base.cpu / max(speed.cpu, 1e-9) - 1 for base, speed in pairs]
    whole = [base.whole / max(speed.whole, 1e-9) - 1 for base, speed in zip(bases, watched)]
    taken = [100 * sum(s.taken for s in side) / len(side) for side in (watched, bases)]
    return "%s by its CPU time, %s over all slices, %.0f%% of which were left out (%.0f%% " \
        "beside)" % (percent(median(by_cpu)), percent(median(whole)), *taken)
