"""What every measure gets: the tools, the Pythons, a workspace, and patience."""
import random
import subprocess

from . import extension, machine, profilers
from .process import Program, Target


# What a tool that is broken or in a bad mood makes of a measurement.
FAILURES = (RuntimeError, OSError, ValueError, KeyError, subprocess.SubprocessError)


class Bench:
    def __init__(self, workspace, pythons, quick=False, every=False):
        self.workspace = workspace
        self.pythons = pythons
        self.quick = quick
        self.every = every  # all interpreters, where a measure is about them
        self.rng = random.Random()
        self.failures = []
        root = next((p.root for p in pythons if p.root), "")
        self.pyrometer = profilers.Pyrometer(machine.find_pyrometer())
        self.sampling = profilers.Sampling(self.python("3.15"))
        self.austin = profilers.Austin(root)
        self.py_spy = profilers.PySpy()
        self.native = profilers.Pyrometer(machine.find_pyrometer(), ["-n"])
        self.native_py_spy = profilers.NativePySpy()
        self.perf = profilers.Perf()

    def python(self, version):
        return next((p for p in self.pythons if p.version == version), None)

    def newest(self, host=False):
        """The newest ordinary build, maybe only of those that need no chroot."""
        ordinary = [p for p in self.pythons
                    if not p.version[-1].isalpha() and not (host and p.root)]
        return max(ordinary, key=lambda p: p.number())

    def choose(self, quick, full):
        return quick if self.quick else full

    def target(self, interpreter, name, *args, count=False):
        return Target(self.workspace, interpreter, name, *args, count=count)

    def native_target(self, interpreter, name, *args, count=False):
        """A target with the extension it needs, or None with the reason kept."""
        try:
            modules = extension.provide(interpreter, self.workspace.path("targets"), name)
        except extension.Missing as error:
            self.fail("%s on %s left out: %s" % (name, interpreter.version, error))
            return None
        return Target(self.workspace, interpreter, name, *args, count=count, modules=modules)

    def empty_wake(self, target, hertz):
        """bench/empty_wake.c on a target, or None without a compiler."""
        path = machine.compile_c("empty_wake.c", self.workspace.path("empty_wake"))
        command = [path, str(target.pid), str(hertz)]
        return Program(command, self.workspace.new("log")) if path else None

    def usable(self, *tools):
        """Those of the tools that are here; the others are named, once."""
        for tool in tools:
            if tool.missing():
                self.fail("%s left out: %s" % (tool.name, tool.missing()))
        return [tool for tool in tools if not tool.missing()]

    def fail(self, text):
        if text not in self.failures:
            self.failures.append(text)

    def record(self, tool, target, rate, seconds, threads=False):
        """A recording, or None with the reason kept."""
        try:
            return tool.record(self.workspace, target, rate, seconds, threads)
        except FAILURES as error:
            self.fail("%s on %s: %s" % (tool.name, target.name, error))
            return None

    def rounds(self, tools, rounds, run):
        """{tool: [result of each round]}, in another order in each round."""
        results = {tool: [] for tool in tools}
        for _ in range(rounds):
            for tool in self.rng.sample(tools, len(tools)):
                results[tool].append(run(tool))
        return results
