#!/usr/bin/env python3
"""Check the form of the sources: clang-format, the length of functions and
files, white space at the end of lines."""
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FORMATTER = 14  # other versions of clang-format lay some lines out otherwise
FUNCTION_LINES = 80
FILE_LINES = 800
FOLDERS = ["src", "tests", "tools", "bench", "examples", "python", "docs"]
SKIPPED = {"corpus", "__pycache__", "node_modules"}
TEXTS = {".c", ".h", ".py", ".sh", ".md", ".build", ".txt", ""}


def find(folders, suffixes):
    for folder in folders:
        for path in sorted((ROOT / folder).rglob("*")):
            inside = path.relative_to(ROOT).parts
            if path.suffix in suffixes and path.is_file() \
                    and not SKIPPED.intersection(inside):
                yield path


def find_formatter():
    for name in (f"clang-format-{FORMATTER}", "clang-format"):
        if shutil.which(name):
            version = subprocess.run([name, "--version"], capture_output=True,
                                     text=True).stdout
            if re.search(rf"version {FORMATTER}\.", version):
                return name
    return None


def check_format(files):
    formatter = find_formatter()
    if not formatter:
        print(f"style: no clang-format {FORMATTER} here; its check is left out")
        return
    done = subprocess.run([formatter, "--dry-run", "-Werror", *files],
                          capture_output=True, text=True)
    first = {}
    for name, line in re.findall(r"^(.+?):(\d+):\d+: error", done.stderr, re.M):
        first.setdefault(name, int(line))
    for name, line in first.items():
        yield Path(name), line, "run make format"
    if done.returncode and not first:
        yield ROOT / ".clang-format", None, done.stderr.strip()


def check_lengths(path):
    """A function's body stands between a "{" and a "}" in the first column."""
    lines = path.read_text().splitlines()
    start = None
    for number, line in enumerate(lines, 1):
        if line == "{":
            start = number
        elif line == "}" and start:
            if number - start - 1 > FUNCTION_LINES:
                yield path, start, f"function of {number - start - 1} lines"
            start = None
    if len(lines) > FILE_LINES:
        yield path, None, f"file of {len(lines)} lines"


def check_spaces(path):
    try:
        text = path.read_text()
    except UnicodeDecodeError:
        return  # no text
    for number, line in enumerate(text.split("\n"), 1):
        if line != line.rstrip(" \t\r"):
            yield path, number, "white space at the end of the line"
    if text and not text.endswith("\n"):
        yield path, None, "no newline at the end of the file"


def main():
    sources = list(find(["src", "tests"], {".c", ".h"}))
    problems = list(check_format(sources))
    for path in sources:
        problems += check_lengths(path)
    for path in find(FOLDERS, TEXTS):
        problems += check_spaces(path)
    for path, line, text in problems:
        place = path.relative_to(ROOT).as_posix() + (f":{line}" if line else "")
        print(f"{place}: {text}")
    print(f"style: {len(sources)} sources, {len(problems)} problems")
    return bool(problems)


if __name__ == "__main__":
    sys.exit(main())
