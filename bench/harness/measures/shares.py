"""Whether the shares that Pyrometer prints hold the true ones.

bench/targets/shares.py takes 10, 30 and 60% of the time in three functions,
plain, in generators and in coroutines. Each printed interval must hold its
share; 95% intervals may miss one time in twenty.
"""
import json

from .. import report, stacks
from ..statistics import Spread

HERTZ = 1000
SHARES = {"tenth": 0.1, "third": 0.3, "most": 0.6}
KINDS = ("plain", "generator", "coroutine")
BAR = 0.95


def intervals(bench, recording):
    """{function: (low, high)} of cumulative shares, as the report has them."""
    top = json.loads(bench.pyrometer.ask("report", "--top", "--all", "--json", recording.path))
    return {stacks.short(f["name"]): (f["cum"]["low"], f["cum"]["high"])
            for f in top["functions"]}


def check(bench, interpreter, kind):
    """The shares that lie outside of their interval, as texts, or None."""
    with bench.target(interpreter, "shares_" + kind) as watched:
        recording = bench.record(bench.pyrometer, watched, HERTZ, 2)
    if not recording:
        return None
    found = intervals(bench, recording)
    outside = []
    for name, share in SHARES.items():
        low, high = found.get(name, (0, 0))
        if not low <= share <= high:
            outside.append("%s %s %.0f%% not in %.1f..%.1f%%" % (
                interpreter.version, kind, share * 100, low * 100, high * 100))
    return outside


def chosen(bench):
    """Every interpreter, or the oldest, a middle one and the newest."""
    if bench.every:
        return bench.pythons
    ordinary = [p for p in bench.pythons if not p.version[-1].isalpha()]
    return [ordinary[0], ordinary[len(ordinary) // 2], ordinary[-1]]


def measure(bench):
    if not bench.usable(bench.pyrometer):
        return []
    checked, outside, versions = 0, [], []
    for interpreter in chosen(bench):
        versions.append(interpreter.version)
        for kind in KINDS:
            if kind == "coroutine" and interpreter.number() < (3, 5):
                continue
            wrong = check(bench, interpreter, kind)
            if wrong is not None:
                checked += len(SHARES)
                outside += wrong
    share = 1 - len(outside) / checked if checked else 0
    return [report.Row("true shares inside their intervals", "",
                       Spread(share, share, share) if checked else None, report.percent,
                       report.at_least(BAR),
                       "%d checks on %s" % (checked, " ".join(versions))
                       + "".join("; " + text for text in outside))]
