"""Pyrometer and its peers, each with its command line and its own figures.

A sample is one stack of one thread, delivered. Tools count differently:
profiling.sampling reports rounds over all threads, of which a failed one has
lost the stacks of all; py-spy, Austin and Pyrometer report stacks.
"""
import json
import os
import re
import shutil
import signal
import subprocess
import time
from typing import NamedTuple

from . import machine, mojo, native_stacks, stacks
from .process import Outcome, Program

MAX = 0  # the rate that means "as fast as can be"


class Recording(NamedTuple):
    """What one run of a profiler brought."""
    samples: int     # stacks delivered
    attempts: int    # stacks (profiling.sampling: rounds) that were tried
    errors: int      # of these, lost or known to be damaged, as the tool says
    seconds: float   # for which it sampled, as the tool says
    path: str        # the file it wrote
    outcome: Outcome
    details: dict    # other figures of the tool

    @property
    def rate(self):
        return self.samples / self.seconds

    @property
    def size(self):
        return os.path.getsize(self.path)

    def discard(self):
        """Remove the file; Austin's takes 50 MB a second."""
        os.unlink(self.path)

    @property
    def cpu_per_sample(self):
        """Seconds, while it was under way: neither start nor end."""
        return self.outcome.steady / self.rate


class Profiler:
    """One tool. Subclasses say how to call it and how to read what it says."""
    name = ""
    suffix = "out"
    begins = None      # text that says that sampling begins, for tools...
    interrupted = False  # ...whose duration is ended by a SIGINT

    def missing(self):
        """Why it cannot be used here, or None."""
        raise NotImplementedError

    def watches(self, interpreter):
        raise NotImplementedError

    def command(self, target, rate, seconds, output, threads):
        raise NotImplementedError

    def figures(self, output, outcome):
        """samples, attempts, errors, seconds or None, details"""
        raise NotImplementedError

    def stacks(self, recording):
        """Every stack with its count, as harness.stacks has them."""
        raise NotImplementedError

    def start(self, workspace, target, rate, seconds=None, threads=False):
        """Start it; without `seconds` it goes on until interrupted."""
        self.output = workspace.new(self.suffix)
        return Program(self.command(target, rate, seconds, self.output, threads),
                       workspace.new("log"))

    def record(self, workspace, target, rate, seconds, threads=False):
        program = self.start(workspace, target, rate, seconds, threads)
        if self.begins:
            program.said(self.begins, 5)
        began = time.monotonic()
        time.sleep(seconds * 0.4)
        steady = program.load(seconds * 0.5) if program.alive() else 0.0
        if self.interrupted:
            time.sleep(seconds * 0.1)
            program.signal(signal.SIGINT)
        sampled = time.monotonic() - began
        outcome = program.wait(steady)
        # Not by its status, which Austin sets in good cases too: a tool has
        # failed when it does not tell its figures.
        samples, attempts, errors, reported, details = self.figures(self.output, outcome)
        return Recording(samples, attempts, errors, reported or sampled, self.output,
                         outcome, details)


def number(pattern, text):
    found = re.search(pattern, text)
    if not found:
        raise ValueError("no %r in what it says: %s" % (pattern, last_line(text)))
    return float(found.group(1))


def last_line(text):
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else "nothing"


class Pyrometer(Profiler):
    name = "pyrometer"
    suffix = "pyro"

    def __init__(self, path, options=()):
        self.path = path
        self.options = list(options)

    def missing(self):
        return None if self.path else "not built"

    def watches(self, interpreter):
        return True

    def command(self, target, rate, seconds, output, threads):
        until = ["-d", "%gs" % seconds] if seconds else []
        return [self.path, "attach", str(target.pid), "-r", str(rate or "max"), *until,
                "-o", output, "-q", *self.options]

    def ask(self, *args):
        done = subprocess.run([self.path, *args], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE)
        if done.returncode:
            raise RuntimeError(last_line(done.stderr.decode("utf-8", "replace")))
        return done.stdout.decode("utf-8", "replace")

    def figures(self, output, outcome):
        if outcome.status:
            raise RuntimeError(last_line(outcome.text))
        report = json.loads(self.ask("report", "--json", output))
        info = dict(report["profile"], **report["recording"])
        errors = info["torn"] + info["unreadable"] + info["lost"]
        return (info["samples"], info["samples"] + info["lost"], errors,
                info["duration"], info)

    def stacks(self, recording):
        collapsed = recording.path + ".collapsed"
        self.ask("export", "-f", "collapsed", recording.path, "-o", collapsed)
        return stacks.read_collapsed(collapsed, stacks.parse_py_spy)


class Sampling(Profiler):
    """The standard library's sampler, Python 3.15's; reads only its own version."""
    name = "profiling.sampling"
    suffix = "bin"

    def __init__(self, interpreter):
        self.interpreter = interpreter

    def missing(self):
        return None if self.interpreter else "no Python 3.15 here"

    def watches(self, interpreter):
        return interpreter == self.interpreter

    def command(self, target, rate, seconds, output, threads):
        until = ["-d", "%g" % seconds] if seconds else []
        return self.interpreter.command(
            "-m", "profiling.sampling", "attach", "--binary", "--compression", "zstd",
            "-r", str(rate or 1000000), *until, *(["-a"] if threads else []),
            "-o", self.interpreter.inside(output), str(target.pid))

    def figures(self, output, outcome):
        rounds = int(number(r"Captured (\d+) samples? in", outcome.text))
        seconds = number(r"Captured .* in ([\d.]+) seconds", outcome.text)
        failed = number(r"Error rate: ([\d.]+)", outcome.text) / 100
        samples = int(number(r"written to .* \((\d+) samples\)", outcome.text))
        return samples, rounds, round(rounds * failed), seconds, {}

    def stacks(self, recording):
        collapsed = recording.path + ".collapsed"
        inside = self.interpreter.inside
        subprocess.run(self.interpreter.command(
            "-m", "profiling.sampling", "replay", "--collapsed",
            "-o", inside(collapsed), inside(recording.path)),
            check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        return stacks.read_collapsed(collapsed, stacks.parse_sampling)


class Austin(Profiler):
    """Austin 4, in the root that also holds the newer Pythons; knows 3.14, not 3.15."""
    name = "austin"
    suffix = "mojo"

    def __init__(self, root):
        self.root = root

    def missing(self):
        path = os.path.join(self.root or "/", "opt/peers/austin")
        return None if self.root and os.access(path, os.X_OK) else "bench/peers has not brought it"

    def watches(self, interpreter):
        return interpreter.root == self.root and interpreter.number() <= (3, 14)

    def command(self, target, rate, seconds, output, threads):
        period = 1000000 // rate if rate else 1
        until = ["-x", str(max(1, round(seconds)))] if seconds else []
        return ["chroot", self.root, "/opt/peers/austin", "-i", "%dus" % period, *until,
                "-o", output[len(self.root):], "-p", str(target.pid)]

    def figures(self, output, outcome):
        with open(output, "rb") as f:
            f.seek(max(0, os.path.getsize(output) - 400))
            end = f.read().decode("latin-1")
        count = int(number("count\0(\\d+)\0", end))
        errors = int(number("errors\0(\\d+)/", end))
        seconds = number("duration\0(\\d+)\0", end) / 1e6
        return count - errors, count, errors, seconds, {}

    def stacks(self, recording):
        with open(recording.path, "rb") as f:
            reader = mojo.Reader(f.read())
        for stack in reader.stacks():
            yield [stacks.frame(*frame) for frame in stack
                   if frame == mojo.UNKNOWN or not stacks.is_mark(frame[0])], 1


class PySpy(Profiler):
    """py-spy without stopping the target; its -d counts samples, so it is interrupted."""
    name = "py-spy"
    suffix = "raw"
    begins = "Sampling process"
    interrupted = True

    def __init__(self):
        self.path = os.path.join(machine.cache(), "peers", "venv", "bin", "py-spy")

    def missing(self):
        return None if os.access(self.path, os.X_OK) else "bench/peers has not brought it"

    def watches(self, interpreter):
        return interpreter.number() >= (3, 3)

    def command(self, target, rate, seconds, output, threads):
        return [self.path, "record", "--nonblocking", "-r", str(rate or 1000000),
                "-d", "100000", "-f", "raw", "-o", output, "-p", str(target.pid),
                *(["-i"] if threads else [])]

    def figures(self, output, outcome):
        samples = int(number(r"Samples: (\d+)", outcome.text))
        errors = int(number(r"Errors: (\d+)", outcome.text))
        return samples, samples + errors, errors, None, {}

    def stacks(self, recording):
        return stacks.read_collapsed(recording.path, stacks.parse_py_spy)


class NativePySpy(PySpy):
    """py-spy with native frames, for which it stops the target at each sample."""
    name = "py-spy --native"

    def command(self, target, rate, seconds, output, threads):
        return [self.path, "record", "--native", "-r", str(rate), "-d", "100000", "-f", "raw",
                "-o", output, "-p", str(target.pid), *(["-i"] if threads else [])]


class Perf(Profiler):
    """perf with stacks that it copies, to unwind them afterwards. What a program
    in another root has mapped when perf comes, it finds by our paths; what that
    maps later it does not."""
    name = "perf"
    suffix = "data"
    STACK = 16384  # bytes copied for each sample

    def missing(self):
        return None if shutil.which("perf") else "not installed (linux-perf)"

    def watches(self, interpreter):
        return True

    def command(self, target, rate, seconds, output, threads):
        until = ["--", "sleep", "%g" % seconds] if seconds else []
        return ["perf", "record", "-F", str(rate), "-e", "cpu-clock", "--call-graph",
                "dwarf,%d" % self.STACK, "-p", str(target.pid), "-o", output, *until]

    def figures(self, output, outcome):
        found = native_stacks.read_perf(output)
        broken = sum(not native_stacks.has_root(stack) for _, stack in found)
        return len(found), len(found), broken, None, {"stacks": found}
