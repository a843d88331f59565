"""Native stacks as perf has them, and whether they are whole."""
import re
import subprocess

# Where programs and threads begin.
ROOT = re.compile(r"^(_start|_?_?(GI_)?_*clone\d?|start_thread|thread_start)\b")
FRAME = re.compile(r"^\s+[0-9a-f]+ (.*) \((.*)\)$")


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
            found[-1][1].append(frame.group(1))
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
