"""The Pythons that are here, and how to start each."""
import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
BUILD = Path(os.environ.get("PYROMETER_BUILD") or ROOT / "build")


class Interpreter:
    """One row of tools/interpreters --list."""

    def __init__(self, row):
        self.version, self.path, kind = row.split("\t")
        self.root = kind.partition("chroot:")[2]  # "" for those of this root
        self.name = f"{self.version}-{kind.partition(':')[0]}"

    def command(self, *arguments):
        start = [self.path]
        if self.root:
            start = ["chroot", self.root, self.path[len(self.root):]]
        return start + list(arguments)


INTERPRETERS = [Interpreter(row) for row in subprocess.run(
    [ROOT / "tools" / "interpreters", "--list"], check=True, capture_output=True,
    text=True).stdout.splitlines()]


def find(version):
    for interpreter in INTERPRETERS:
        if interpreter.version == version:
            return interpreter
    return pytest.skip(f"{version}: not here")
