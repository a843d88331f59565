"""Bytes on disk per sample, and memory while recording."""
from .. import report
from ..statistics import Spread, median, ratios, spread

RATES = (1000, 10000)
# What, which program, and the bar for memory: the one at rest has next to
# nothing to intern, what the other takes beyond it are its stacks.
TARGETS = (("a stack at rest", ("steady", "--depth", "100"), report.at_most(20e6)),
           ("branching", ("branches",), None))


def bytes_per_sample(recordings):
    return [r.size / r.samples if r and r.samples else None for r in recordings]


def size_row(measure, bench, results):
    tools = (bench.pyrometer, bench.sampling)
    sizes = [bytes_per_sample(results.get(tool, [])) for tool in tools]
    found = ratios(*sizes)
    figures = " : ".join("%.2f" % median(s) if s and None not in s else "-" for s in sizes)
    return report.Row(measure, bench.sampling.name, spread(found) if found else None,
                      report.times, report.at_most(1), figures + " bytes")


def memory_row(bench, what, results, bar):
    """The largest recorder seen, beside the largest of the peer."""
    peaks = [[r.outcome.rss for r in results.get(tool, []) if r]
             for tool in (bench.pyrometer, bench.sampling)]
    figures = " : ".join(report.megabytes(max(p)) if p else "-" for p in peaks)
    value = Spread(max(peaks[0]), min(peaks[0]), max(peaks[0])) if peaks[0] else None
    return report.Row("recorder memory, %s, 10 kHz" % what, "", value, report.megabytes, bar,
                      figures)


def measure(bench):
    newest = bench.python("3.15") or bench.newest()
    tools = bench.usable(bench.pyrometer, bench.sampling)
    sizes, memory = [], []
    for what, target, bar in TARGETS:
        with bench.target(newest, *target) as watched:
            for rate in RATES:
                results = bench.rounds(tools, bench.choose(1, 3), lambda tool: bench.record(
                    tool, watched, rate, 3))
                sizes.append(size_row("bytes per sample, %s, %d kHz" % (what, rate // 1000),
                                      bench, results))
        memory.append(memory_row(bench, what, results, bar))
    return sizes + memory
