"""What a recorder takes for itself, at 1 kHz."""
import signal
import time

from .. import report
from ..statistics import median, ratios, spread

HERTZ = 1000
BAR = 1 / 5
TARGETS = (("a stack at rest", "steady"), ("many small calls", "calls"))


def per_sample(recordings):
    return [r.cpu_per_sample if r else None for r in recordings]


def empty_cost(bench, target):
    """CPU seconds of a wake-up that does nothing: no sampler can be below it."""
    program = bench.empty_wake(target, HERTZ)
    if not program:
        return "-"
    time.sleep(0.2)
    load = program.load(1.0)
    program.signal(signal.SIGTERM)
    program.wait()
    return report.microseconds(load / HERTZ)


def row(bench, what, results, empty):
    costs = [per_sample(results.get(tool, [])) for tool in (bench.pyrometer, bench.sampling)]
    found = ratios(*costs)
    figures = " : ".join(report.microseconds(median(c)) if c and None not in c else "-"
                         for c in costs)
    return report.Row("CPU per sample at 1 kHz, " + what, bench.sampling.name,
                      spread(found) if found else None, report.times, report.at_most(BAR),
                      figures + ", an empty wake-up " + empty)


def cpu(bench):
    newest = bench.python("3.15")
    if not newest:
        return []
    tools = bench.usable(bench.pyrometer, bench.sampling)
    rows = []
    for what, name in TARGETS:
        with bench.target(newest, name) as watched:
            results = bench.rounds(tools, bench.choose(2, 3), lambda tool: bench.record(
                tool, watched, HERTZ, 2))
            rows.append(row(bench, what, results, empty_cost(bench, watched)))
    return rows
