"""One module per group of measures; each gives rows.

NAMES is the order in which bench/run takes them."""
from . import cost, launch, native, rate, shares, size, slowdown, torn

NAMES = {
    "rate": rate.by_depth,
    "threads": rate.by_threads,
    "cpu": cost.cpu,
    "slowdown": slowdown.measure,
    "torn": torn.measure,
    "size": size.measure,
    "launch": launch.measure,
    "shares": shares.measure,
    "native": native.measure,
}
