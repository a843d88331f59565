"""From starting the profiler to its first sample of the program it starts.

Pyrometer's recording tells when its first sample was taken. Whatever a tool
says of itself, there is a bound: the target runs through functions of one
millisecond each and says when the first began; the earliest that was sampled,
or anything before them (the interpreter's own start-up), bounds the time of the
first sample from above.
"""
import json
import re
import subprocess
import time

from .. import report, stacks
from ..bench import FAILURES
from ..statistics import median, spread

BAR = 0.030
STEP = re.compile(r"step_(\d+)$")


def first_step(found):
    """The lowest step seen; 0 when something was seen before all steps."""
    lowest = None
    for stack, _ in found:
        steps = [int(m.group(1)) for m in (STEP.match(name) for name, _ in stack) if m]
        step = min(steps) if steps else 0
        lowest = step if lowest is None else min(lowest, step)
    return lowest


def pyrometer_command(tool, python, output):
    return [tool.path, "run", "-r", "1000", "-q", "-o", output, "--", python.path]


def py_spy_command(tool, python, output):
    return [tool.path, "record", "-r", "1000", "--nonblocking", "-f", "raw", "-o", output,
            "--", python.path]


def collapsed(tool, output):
    if tool.suffix == "pyro":
        path = output + ".collapsed"
        tool.ask("export", "-f", "collapsed", output, "-o", path)
        output = path
    return stacks.read_collapsed(output, stacks.parse_py_spy)


def first_tick(tool, output, began):
    """When Pyrometer took its first sample, by its own account; None for others."""
    if tool.suffix != "pyro":
        return None
    told = json.loads(tool.ask("report", "--json", output))["recording"]
    return told["started"] + told["first_sample"] - began


def launch(bench, tool, command, python):
    """Seconds to the first sample, told and at most, or None when there was none."""
    output, log = bench.workspace.new(tool.suffix), bench.workspace.new("log")
    script = bench.workspace.path("targets/steps.py")
    began, began_wall = time.monotonic(), time.time()
    subprocess.run(command(tool, python, output) + [script, "--log", log],
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        with open(log) as f:
            first = float(f.read())
        step = first_step(collapsed(tool, output))
        told = first_tick(tool, output, began_wall)
    except FAILURES as error:
        bench.fail("%s, launching: %s" % (tool.name, error))
        return None
    return None if step is None else (told, first + step * 0.001 - began)


def own_start(bench, python):
    """Seconds to the program's own code without any profiler."""
    log = bench.workspace.new("log")
    began = time.monotonic()
    subprocess.run([python.path, bench.workspace.path("targets/steps.py"), "--log", log])
    with open(log) as f:
        return float(f.read()) - began


def wall(command):
    began = time.monotonic()
    subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return time.monotonic() - began


def row_first(bench, commands, results, alone):
    ours = [x[0] for x in results.get(bench.pyrometer, []) if x is not None]
    figures = ["%s at most %s" % (tool.name, report.milliseconds(
        median([x[1] for x in results[tool] if x])))
               for tool in commands if any(results.get(tool, []))]
    figures.append("the program's own code begins after " + report.milliseconds(alone))
    return report.Row("launch to first sample", "", spread(ours) if ours else None,
                      report.milliseconds, report.at_most(BAR), ", ".join(figures))


def row_nothing(bench, python):
    """What `run` adds to a program that does nothing."""
    plain = [python.path, "-c", "pass"]
    watched = pyrometer_command(bench.pyrometer, python, bench.workspace.new("pyro")) + plain[1:]
    added = [wall(watched) - wall(plain) for _ in range(bench.choose(5, 11))]
    return report.Row("run adds to an empty program", "", spread(added),
                      report.milliseconds, None, "")


def measure(bench):
    python = bench.newest(host=True)
    commands = {bench.pyrometer: pyrometer_command, bench.py_spy: py_spy_command}
    tools = bench.usable(*commands)
    results = bench.rounds(tools, bench.choose(3, 7),
                           lambda tool: launch(bench, tool, commands[tool], python))
    alone = median([own_start(bench, python) for _ in range(3)])
    rows = [row_first(bench, commands, results, alone)]
    if bench.pyrometer in tools:
        rows.append(row_nothing(bench, python))
    return rows
