"""Native stacks as perf has them, and whether they are whole."""
import functools
import re
import subprocess

# Where programs and threads begin.
ROOT = re.compile(r"^(_start|_?_?(GI_)?_*clone\d?|start_thread|thread_start)\b")
FRAME = re.compile(r"^\s+([0-9a-f]+) (.*) \((.*)\)$")
# What follows the call of a thread's first function: mov $60, %eax; syscall.
THREAD_END = b"\xb8\x3c\0\0\0\x0f\x05"


@functools.lru_cache(None)
def begins_thread(path, address):
    """Whether threads begin there; a stripped C library does not say so. Its code
    has the addresses that it has in the file."""
    try:
        with open(path, "rb") as f:
            f.seek(int(address, 16))
            return THREAD_END in f.read(16)
    except OSError:
        return False


def name_of(address, name, path):
    return "clone" if name == "[unknown]" and begins_thread(path, address) else name


def read_perf(path):
    """[(tid, [function, ... leaf first])] of a file of perf record."""
    done = subprocess.run(["perf", "script", "-i", path, "--no-inline", "-F", "tid,ip,sym,dso"],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if done.returncode:
        raise RuntimeError("perf script: " + done.stderr.decode("utf-8", "replace").strip())
    found = []
    for line in done.stdout.decode("utf-8", "replace").splitlines():
        frame = FRAME.match(line)
        if frame and found:
            found[-1][1].append(name_of(*frame.groups()))
        elif line.strip().isdigit():
            found.append((int(line), []))
    return found


def has_root(stack):
    return bool(stack) and bool(ROOT.match(stack[-1]))


def shares(stacks):
    """{function: share of the stacks that it is in}"""
    counts = {}
    for _, stack in stacks:
        for name in set(stack):
            counts[name] = counts.get(name, 0) + 1
    return {name: count / max(1, len(stacks)) for name, count in counts.items()}
