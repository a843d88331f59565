"""What this machine offers: Pythons, profilers' homes, and a place to work in.

Pythons of the cached root run by chroot, so a file has two names: the host's
and the root's. A Workspace lies inside that root and knows both.
"""
import os
import shutil
import subprocess
import tempfile
from typing import NamedTuple

BENCH = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SOURCE = os.path.dirname(BENCH)


def cache():
    own = os.environ.get("PYROMETER_CACHE")
    user = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return own or os.path.join(user, "pyrometer")


class Interpreter(NamedTuple):
    version: str  # "3.12", "3.13t"
    path: str     # as the host sees it
    root: str     # "" or the folder it must be started in by chroot

    def inside(self, path):
        """A path of the host, as this interpreter sees it."""
        return path[len(self.root):] if self.root else path

    def command(self, *args):
        start = ["chroot", self.root] if self.root else []
        return start + [self.inside(self.path), *args]

    def number(self):
        major, minor = self.version.rstrip("td").split(".")
        return int(major), int(minor)


def parse_interpreter(line):
    version, path, kind = line.split("\t")
    root = kind[len("chroot:"):] if kind.startswith("chroot:") else ""
    return Interpreter(version, path, root)


def interpreters():
    """All that tools/interpreters knows of, oldest first, one of each version."""
    command = [os.path.join(SOURCE, "tools", "interpreters"), "--list"]
    lines = subprocess.run(command, stdout=subprocess.PIPE, universal_newlines=True).stdout
    found = {}
    for line in lines.splitlines():
        interpreter = parse_interpreter(line)
        found.setdefault(interpreter.version, interpreter)
    return list(found.values())


def find_pyrometer():
    """The program to measure: $PYROMETER, or the one built here, or None."""
    built = os.path.join(SOURCE, "build", "src", "cmd", "pyrometer")
    path = os.environ.get("PYROMETER", built)
    return path if os.access(path, os.X_OK) else None


class Workspace:
    """A folder for one run, with a copy of the targets; removed at the end."""

    def __init__(self, roots):
        above = os.path.join(next(iter(roots), "/"), "tmp")
        self.folder = tempfile.mkdtemp(prefix="pyrometer-bench.", dir=above)
        self.count = 0
        shutil.copytree(os.path.join(BENCH, "targets"), self.path("targets"),
                        ignore=shutil.ignore_patterns("__pycache__"))

    def path(self, name):
        return os.path.join(self.folder, name)

    def new(self, suffix):
        """A path that was not used before."""
        self.count += 1
        return self.path("%d.%s" % (self.count, suffix))

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        shutil.rmtree(self.folder, ignore_errors=True)


def compile_c(source, output):
    """Build a program of bench/ once, or return None without a compiler."""
    if os.path.exists(output):
        return output
    command = ["cc", "-O2", "-o", output, os.path.join(BENCH, source)]
    try:
        subprocess.run(command, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return output
