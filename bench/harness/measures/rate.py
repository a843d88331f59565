"""How many samples a second, as fast as each tool can."""
from .. import report
from ..profilers import MAX
from ..statistics import median, ratios, spread

SECONDS = 1
DEPTHS = (5, 20, 100)
BARS = {
    "profiling.sampling": {5: 5, 20: 5, 100: 5},
    "austin": {5: 3, 20: 3, 100: 4},
    "py-spy": {5: 20, 20: 20, 100: 20},
}
THREADS = 50
THREADS_BAR = 5


def rate(bench, tool, target, threads):
    """Samples a second, or None."""
    recording = bench.record(tool, target, MAX, SECONDS, threads)
    if not recording:
        return None
    recording.discard()
    return recording.rate


def compare(measure, ours, tool, theirs, bar):
    """A row: our samples a second against theirs, round by round."""
    found = ratios(ours, theirs)
    known = [[x for x in side if x] for side in (ours, theirs)]
    figures = " : ".join(report.rate(median(side)) if side else "-" for side in known)
    return report.Row(measure, tool.name, spread(found) if found else None,
                      report.times, report.at_least(bar), figures)


def against(bench, interpreter, peers, target, measure, bars, threads=False):
    """Rows for the peers on one interpreter, each beside our own in each round."""
    tools = bench.usable(bench.pyrometer, *peers)
    with bench.target(interpreter, *target) as watched:
        results = bench.rounds(tools, bench.choose(2, 3), lambda tool: rate(
            bench, tool, watched, threads))
    ours = results.get(bench.pyrometer, [])
    return [compare(measure, ours, tool, results[tool], bars[tool.name])
            for tool in peers if tool in results]


def by_depth(bench):
    """Against each peer on the newest interpreter it knows."""
    newest, older = bench.python("3.15"), bench.python("3.14")
    rows = []
    for depth in DEPTHS:
        bars = {name: bar[depth] for name, bar in BARS.items()}
        target = ("steady", "--depth", str(depth))
        measure = "samples/s, depth %d" % depth
        peers = [bench.sampling, bench.py_spy] if newest else [bench.py_spy]
        rows += against(bench, newest or bench.newest(), peers, target, measure, bars)
        if older:
            rows += against(bench, older, [bench.austin], target, measure, bars)
    return rows


def by_threads(bench):
    newest = bench.python("3.15")
    if not newest:
        return []
    bars = {"profiling.sampling": THREADS_BAR}
    rows = []
    for what, option in (("one at work", []), ("all at work", ["--busy"])):
        target = ("threads", "--threads", str(THREADS), *option)
        measure = "samples/s, %d threads, %s" % (THREADS, what)
        rows += against(bench, newest, [bench.sampling], target, measure, bars, threads=True)
    return rows
