"""Ratios of interleaved rounds, and how sure they are."""
import random
from typing import NamedTuple


def median(values):
    ordered = sorted(values)
    middle = len(ordered) // 2
    if len(ordered) % 2:
        return ordered[middle]
    return (ordered[middle - 1] + ordered[middle]) / 2


class Spread(NamedTuple):
    """A middle with its bounds: of the rounds, or of its 95% interval."""
    middle: float
    low: float
    high: float


def spread(values):
    """The median, and the smallest and the largest round."""
    return Spread(median(values), min(values), max(values))


def bootstrap(values, repeats=2000):
    """The median, and its 95% interval by resampling the rounds."""
    rng = random.Random(1)
    medians = sorted(median(rng.choices(values, k=len(values))) for _ in range(repeats))
    return Spread(median(values), medians[int(repeats * 0.025)], medians[int(repeats * 0.975)])


def ratios(ours, theirs):
    """One ratio per round in which both sides have a value."""
    return [a / b for a, b in zip(ours, theirs) if a is not None and b]
