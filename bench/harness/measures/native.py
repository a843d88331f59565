"""Native and Python frames in one stack, at 1 kHz: what it costs, how often it
fails, and whether it agrees with perf.

Slowdown: windows in which one tool or none is attached; each tool's window
stands between two without, since a machine drifts (harness/speed.py). Unlike
elsewhere a tool is ended for the windows of the others: a stopped recorder
leaves its perf events on the target, and a stopped py-spy may leave the target
stopped.

Cost: CPU time of the recorder per sample, all of it: waking up, registers, both
stacks, unwinding, merging, writing. Beside it the same without native frames,
each thread read on its own core.

Failures: stacks that Pyrometer itself counts as broken (the walk did not come
to the thread's first frame) or unmerged (native and Python frames do not fit).
perf's beside: stacks that do not end where threads begin.
"""
import json
import math
import shutil
import signal
import time

from .. import native_stacks, profilers, report, speed, stacks
from ..bench import FAILURES
from ..statistics import Spread, bootstrap, median

HERTZ = 1000
WINDOW = 1.0   # seconds
SETTLE = 0.05
ATTACH = 1.0   # seconds until a tool surely samples
SLOWDOWNS = (("2 threads of numpy", "native_numpy", ("--threads", "2"), 0.02),
             ("150 threads, mostly idle", "native_idle", ("--threads", "150"), 0.03))
FAILURE_BAR = 0.005
COST_BAR = 10e-6
PROGRAMS = (("numpy", "native_numpy"), ("C extension", "native_shares"),
            ("Cython", "native_cython"), ("calls back into Python", "native_callback"),
            ("re and json", "native_text"))
SHARES = {"tenth": 0.1, "third": 0.3, "most": 0.6}


# ---- slowdown ----

def settled(target):
    time.sleep(SETTLE)
    return speed.watch(target, WINDOW)


def watched(bench, tool, target):
    program = tool.start(bench.workspace, target, HERTZ)
    time.sleep(ATTACH)
    slices = settled(target)
    if not program.alive():
        slices = []
    program.signal(signal.SIGINT)
    outcome = program.wait()
    if not slices:
        bench.fail("%s on %s: %s" % (tool.name, target.name, profilers.last_line(outcome.text)))
    return slices


def one_round(bench, tool, target):
    """Its Speed without the tool and beside it; None if it was not measured."""
    before, beside, after = settled(target), watched(bench, tool, target), settled(target)
    return speed.of_round([before + after, beside]) if beside else None


def said(bench, tool):
    """What Pyrometer's last recording says, to show that it did sample."""
    if tool is not bench.native:
        return ""
    try:
        info = json.loads(tool.ask("report", "--json", tool.output))
    except FAILURES as error:
        return ", no recording: %s" % error
    profile, recording = info["profile"], info["recording"]
    return ", registers by %s, %.0f ticks/s, %.0f%% with native stacks" % (
        recording["registers"], recording["ticks"] / recording["duration"],
        100 * profile["native"] / max(1, profile["samples"]))


def slowdown_row(bench, what, tool, found, bar):
    pairs = [pair for pair in found if pair]
    bases, beside = zip(*pairs) if pairs else ((), ())
    slowdown = speed.Slowdown(bases, beside)
    figures = slowdown.figures(report.percent) + (said(bench, tool) if pairs else "")
    ours = tool is bench.native
    return report.Row("native slowdown, " + what, "" if ours else tool.name, slowdown.value,
                      report.percent, report.at_most(bar) if ours else None, figures)


class EmptyWake:
    """bench/empty_wake.c in a tool's place: what the machine itself charges."""
    name = "an empty wake-up"

    def __init__(self, bench):
        self.bench = bench

    def missing(self):
        return None if shutil.which("cc") else "no compiler"

    def start(self, _, target, hertz):
        return self.bench.empty_wake(target, hertz)


def slowdowns(bench):
    rows = []
    for what, name, arguments, bar in SLOWDOWNS:
        target = bench.native_target(bench.newest(host=True), name, *arguments, count=True)
        if not target:
            continue
        tools = bench.usable(bench.native, EmptyWake(bench), bench.native_py_spy, bench.perf)
        # What is judged is measured more often than what stands beside it.
        turns = tools + 2 * bench.usable(bench.native)
        with target:
            results = bench.rounds(turns, bench.choose(3, 12),
                                   lambda tool: one_round(bench, tool, target))
            rows += [slowdown_row(bench, what, tool, results[tool], bar) for tool in tools]
    return rows


# ---- cost ----

def cost(bench):
    ridden = profilers.Pyrometer(bench.pyrometer.path, ["--ride", "always"])
    watched = bench.native_target(bench.newest(host=True), "native_callback")
    if not watched or not bench.usable(bench.native):
        return []
    with watched as target:
        results = bench.rounds([bench.native, ridden], bench.choose(2, 5),
                               lambda tool: bench.record(tool, target, HERTZ, 3))
    pairs = [(a.cpu_per_sample, b.cpu_per_sample)
             for a, b in zip(results[bench.native], results[ridden]) if a and b]
    value = bootstrap([a for a, _ in pairs]) if pairs else None
    figures = "%s without native stacks" % report.microseconds(
        median([b for _, b in pairs])) if pairs else ""
    return [report.Row("native: CPU per sample, unwind, merge and all", "", value,
                       report.microseconds, report.at_most(COST_BAR), figures)]


# ---- failures ----

def versions(bench):
    """Every interpreter, or some old, middle and new ones."""
    if bench.every:
        return bench.pythons
    wanted = [bench.python(version) for version in ("2.7", "3.8", "3.12", "3.15")]
    return [p for p in wanted if p] or [bench.newest()]


def exactly(value):
    return Spread(value, value, value)


def failure_row(bench, what, interpreter, target):
    recording = bench.record(bench.native, target, HERTZ, bench.choose(2, 4))
    if not recording:
        return None
    info, n = recording.details, max(1, recording.samples)
    lost = n - info["native"]
    return report.Row("broken or unmerged, %s, %s" % (what, interpreter.version), "",
                      exactly((info["broken"] + info["unmerged"]) / n), report.percent,
                      report.at_most(FAILURE_BAR),
                      "%d broken, %d unmerged, %d without native frames of %d; perf: %s" % (
                          info["broken"], info["unmerged"], lost, n,
                          perf_failures(bench, interpreter, target)))


def perf_failures(bench, interpreter, target):
    if not bench.usable(bench.perf) or not bench.perf.watches(interpreter):
        return "not here"
    recording = bench.record(bench.perf, target, HERTZ - 1, bench.choose(1, 2))
    if not recording or not recording.samples:
        return "-"
    percent = report.percent(recording.errors / recording.samples)
    recording.discard()
    return "%s of %d broken" % (percent, recording.samples)


def failures(bench):
    rows = []
    for interpreter in versions(bench):
        for what, name in PROGRAMS:
            watched = bench.native_target(interpreter, name)
            if not watched:
                continue
            with watched as target:
                time.sleep(0.3)  # what is imported late is no part of it
                row = failure_row(bench, what, interpreter, target)
            rows += [row] if row else []
    return rows


# ---- shares ----

def wilson(share, n):
    """The 95% interval of a share of n samples."""
    z = 1.96
    middle = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    return middle - half, middle + half


def our_intervals(bench, recording):
    top = json.loads(bench.native.ask("report", "--top", "--all", "--json", recording.path))
    return {stacks.short(f["name"]): (f["cum"]["low"], f["cum"]["high"])
            for f in top["functions"]}


def agreement(bench, interpreter):
    """Texts on functions whose intervals here and in perf do not meet, and how
    many were compared."""
    watched = bench.native_target(interpreter, "native_shares")
    if not watched:
        return 0, []
    with watched as target:
        ours = bench.record(bench.native, target, HERTZ, bench.choose(2, 4))
        theirs = bench.record(bench.perf, target, HERTZ - 1, bench.choose(2, 4))
    if not ours or not theirs:
        return 0, []
    found = our_intervals(bench, ours)
    perf = native_stacks.shares(theirs.details["stacks"])
    wrong = []
    for name in SHARES:
        low, high = found.get(name, (0, 0))
        below, above = wilson(perf.get(name, 0), max(1, theirs.samples))
        if high < below or above < low:
            wrong.append("%s %s: %.1f..%.1f%%, perf %.1f..%.1f%%" % (
                interpreter.version, name, 100 * low, 100 * high, 100 * below, 100 * above))
    theirs.discard()
    return len(SHARES), wrong


def shares(bench):
    if len(bench.usable(bench.native, bench.perf)) < 2:
        return []
    compared, wrong, names = 0, [], []
    for interpreter in versions(bench):
        if bench.perf.watches(interpreter):
            n, differing = agreement(bench, interpreter)
            compared, wrong, names = compared + n, wrong + differing, names + [interpreter.version]
    share = 1 - len(wrong) / compared if compared else 0
    return [report.Row("native shares that agree with perf's", "perf",
                       exactly(share) if compared else None, report.percent,
                       report.at_least(0.95), "%d functions on %s" % (compared, " ".join(names))
                       + "".join("; " + text for text in wrong))]


def measure(bench):
    return slowdowns(bench) + cost(bench) + failures(bench) + shares(bench)
