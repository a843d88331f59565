"""Stacks as the tools write them, and which of them cannot exist.

A stack is a list of functions, outermost first, each as (name, file); names
without class or enclosing function, files without folders, since tools differ
in how much of them they give. Lines that are not frames of the program, such
as a mark for a garbage collection or for a torn end, are left out.
"""
import os
import re

SPECIAL = {"<module>", "<lambda>", "<listcomp>", "<genexpr>", "<dictcomp>", "<setcomp>"}


def short(name):
    return name.rsplit(".", 1)[-1]


def is_mark(name):
    return name.startswith("<") and name not in SPECIAL


def frame(name, path):
    return short(name), os.path.basename(path)


PY_SPY = re.compile(r"^(.*) \((.*?)(?::(\d+))?\)$")


def parse_py_spy(line):
    """function (file:line);function (file:line) COUNT; Pyrometer's is the same."""
    text, count = line.rsplit(" ", 1)
    found = []
    for part in text.split(";"):
        match = PY_SPY.match(part)
        if match and not is_mark(short(match.group(1))):
            found.append(frame(match.group(1), match.group(2)))
    return found, int(count)


def parse_sampling(line):
    """tid:NUMBER;file:function:line;... COUNT, as profiling.sampling writes it."""
    text, count = line.rsplit(" ", 1)
    found = []
    for part in text.split(";"):
        pieces = part.rsplit(":", 2)
        if len(pieces) == 3 and not is_mark(short(pieces[1])):
            found.append(frame(pieces[1], pieces[0]))
    return found, int(count)


def read_collapsed(path, parse):
    with open(path, encoding="utf-8", errors="replace") as f:
        for line in f:
            if line.strip():
                yield parse(line.rstrip("\n"))


def impossible_pair(stack, callers, file):
    """The first (caller, function) that the program does not have, or None.

    Known are the functions named in `callers`; of others only that none of
    them lies in `file` or is called from there."""
    caller = ("", "")
    for function in stack:
        name, path = function
        if name in callers:
            wrong = caller[0] not in callers[name]
        else:
            wrong = file in (path, caller[1])
        if wrong:
            return caller[0], name
        caller = function
    return None


def impossible(stacks, callers, file):
    """How many samples, how many of them impossible, and the pairs at fault."""
    callers = dict(callers, **{"<module>": ("",)})
    samples = wrong = 0
    pairs = {}
    for stack, count in stacks:
        if not stack:
            continue
        samples += count
        pair = impossible_pair(stack, callers, file)
        if pair:
            wrong += count
            pairs[pair] = pairs.get(pair, 0) + count
    return samples, wrong, pairs
