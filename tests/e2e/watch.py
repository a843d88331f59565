"""What the end-to-end tests share: start a program, record it, ask the file.

A program of tests/e2e/programs or bench/targets says "ready" when the part
worth watching begins. A Python of another root sees only what lies in that
root, so each root gets a copy of the programs."""
import json
import os
import re
import shutil
import subprocess
import tempfile
from collections import Counter
from pathlib import Path

import pytest

from interpreters import BUILD, ROOT

PYROMETER = os.environ.get("PYROMETER") or str(BUILD / "src" / "cmd" / "pyrometer")
DUMP = BUILD / "tests" / "unit" / "dump_recording"
SOURCES = (ROOT / "tests" / "e2e" / "programs", ROOT / "bench" / "targets")
NOBODY = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
AS_ROOT = pytest.mark.skipif(os.getuid() != 0, reason="only root can be somebody else")
PATIENCE = 60  # seconds; what takes longer hangs
FRAME = re.compile(r"^(.*) \((.*?)(?::(\d+))?\)$")


def pyrometer(*arguments, **options):
    options = {"capture_output": True, "text": True, "timeout": PATIENCE, **options}
    return subprocess.run([PYROMETER, *map(str, arguments)], **options)


# Whether the kernel reads threads on their cores for us: from another one.
VISITS = len(os.sched_getaffinity(0)) > 1 and any(
    row["what"] == "BPF programs" and row["verdict"] == "fine"
    for row in json.loads(pyrometer("doctor", "--json").stdout)["machine"])


class Programs:
    """Copies of the programs, one per root; removed at the end."""

    def __init__(self):
        self.folders = {}

    def folder(self, root):
        if root not in self.folders:
            above = (root or "") + "/tmp"
            self.folders[root] = tempfile.mkdtemp(prefix="pyrometer-e2e.", dir=above)
            for source in SOURCES:
                shutil.copytree(source, self.folders[root], dirs_exist_ok=True,
                                ignore=shutil.ignore_patterns("__pycache__"))
            os.chmod(self.folders[root], 0o755)
        return self.folders[root]

    def command(self, interpreter, program, *arguments):
        path = self.folder(interpreter.root) + "/" + program
        return interpreter.command(path[len(interpreter.root):], *map(str, arguments))

    def remove(self):
        for folder in self.folders.values():
            shutil.rmtree(folder)


class Started:
    """A program that runs and has said that it is ready."""

    def __init__(self, command, **options):
        options = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True, **options}
        self.process = subprocess.Popen(command, **options)
        self.pid = self.process.pid
        self.said = self.process.stdout.readline()
        assert self.said.startswith("ready"), f"{command} said {self.said!r}"

    def wait(self):
        """Its exit status, after its standard input has ended."""
        self.process.communicate(timeout=PATIENCE)
        return self.process.returncode

    def close(self):
        self.process.kill()
        self.process.communicate(timeout=PATIENCE)


class Recording:
    """A file that pyrometer wrote, and questions to it."""

    def __init__(self, path, printed=None):
        self.path = Path(path)
        self.printed = printed  # by the program, where that was kept

    def ask(self, command, *arguments):
        done = pyrometer(command, *arguments, self.path)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def report(self, view, *arguments):
        return json.loads(self.ask("report", "--" + view, "--json", *arguments))

    def info(self):
        return self.report("top")["recording"]

    def shares(self):
        """{function: its cumulative share, with its interval}"""
        functions = self.report("top", "--all")["functions"]
        return {function["name"]: function["cum"] for function in functions}

    def threads(self):
        return self.report("threads", "--all")["threads"]

    def stacks(self, *arguments):
        """{((function, file, line), ... outermost first): samples}"""
        stacks = Counter()
        for row in self.ask("export", "-f", "collapsed", "-o", "-", *arguments).splitlines():
            text, _, count = row.rpartition(" ")
            frames = [FRAME.match(part) for part in text.split(";")]
            stacks[tuple(frame.groups() for frame in frames if frame)] += int(count)
        return stacks

    def names(self, *arguments):
        """{(function, ... outermost first): samples}"""
        names = Counter()
        for stack, count in self.stacks(*arguments).items():
            names[tuple(name.rpartition(".")[2] for name, _, _ in stack)] += count
        return names

    def samples_with(self, *functions):
        """How many samples have these functions directly below each other."""
        wanted = ";" + ";".join(functions) + ";"
        return sum(count for names, count in self.names().items()
                   if wanted in ";" + ";".join(names) + ";")

    def processes(self):
        """[(pid, index of its parent or -1, command)]"""
        dump = subprocess.run([DUMP, self.path], check=True, capture_output=True, text=True)
        rows = [row.split(" ", 6) for row in dump.stdout.splitlines() if row.startswith("process ")]
        return [(int(row[1]), int(row[2]), row[6].split("|")[0]) for row in rows]
