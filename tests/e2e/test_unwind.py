"""Native stacks against the truth: at every instruction of a program whose calls
are counted along, and at random moments of every interpreter against libdw."""
import re
import shutil
import subprocess
import time

import pytest

from interpreters import BUILD, ROOT

TOOLS = BUILD / "tests" / "unit"
SUPPORT = ROOT / "tests" / "support"

# A long jump ends with a few instructions in which no stack is the right one.
FEW = 0.002
# musl has no tables, and its sigsetjmp keeps its return address apart for a while.
MORE = 0.01

VARIANTS = {
    "gcc -O0": FEW,
    "gcc -O2 -fomit-frame-pointer": FEW,
    "gcc -O2 -no-pie -Wl,-z,lazy": FEW,
    "gcc -O3 -mavx2 -fstack-clash-protection": FEW,
    "gcc -O2 -static": FEW,
    "clang -O0": FEW,
    "clang -O2": FEW,
    "clang -O1 -fuse-ld=lld": FEW,
    "gcc -O2 -fno-asynchronous-unwind-tables": FEW,
    "gcc -O2 -fno-asynchronous-unwind-tables -fno-omit-frame-pointer": FEW,
    "gcc -O2 -g -fno-asynchronous-unwind-tables": FEW,  # .debug_frame
    "musl-gcc -O2": MORE,
    "musl-gcc -O2 -static": MORE,
}


def counts(text):
    """The last line: words and numbers in turn."""
    return {name: int(n) for name, n in re.findall(r"(\w+) (\d+)", text.splitlines()[-1])}


@pytest.mark.parametrize("variant", VARIANTS)
def test_every_instruction(variant, tmp_path):
    compiler, *flags = variant.split()
    program = tmp_path / "stacks"
    if not shutil.which(compiler):
        pytest.skip(f"no {compiler} here")
    built = subprocess.run([compiler, *flags, "-w", "-o", program, SUPPORT / "stacks.c"],
                           capture_output=True, text=True)
    if built.returncode and "-fuse-ld" in variant:
        pytest.skip("no lld here")
    assert built.returncode == 0, built.stderr
    done = subprocess.run([TOOLS / "step_process", "-main", program],
                          capture_output=True, text=True)
    if done.returncode == 77:
        pytest.skip("x86-64 only")
    found = counts(done.stdout)
    print(variant, found)
    assert found["steps"] > 3000, done.stdout
    assert found["wrong"] <= (0 if VARIANTS[variant] == FEW else 40), done.stdout
    assert found["broken"] <= VARIANTS[variant] * found["steps"], done.stdout


def test_from_the_first_instruction(tmp_path):
    """The dynamic linker, its resolver, and what comes before main and after."""
    program = tmp_path / "small"
    source = '#include <stdio.h>\nint main(void) { return printf("%d\\n", 5) != 2; }\n'
    subprocess.run(["gcc", "-O2", "-Wl,-z,lazy", "-x", "c", "-o", program, "-"],
                   input=source, text=True, check=True)
    done = subprocess.run([TOOLS / "step_process", program], capture_output=True, text=True)
    if done.returncode == 77:
        pytest.skip("x86-64 only")
    found = counts(done.stdout)
    assert found["steps"] > 20000
    assert found["wrong"] == found["broken"] == 0, done.stdout


PROGRAM = """
import json, re, threading, time
def nap():
    while True:
        time.sleep(0.001)
for target in (nap, nap, lambda: time.sleep(1000)):
    thread = threading.Thread(target=target)
    thread.daemon = True
    thread.start()
print("ready")
import sys
sys.stdout.flush()
while True:
    json.loads(json.dumps(list(range(300))))
    re.sub("a+", "b", "aaab" * 100)
    sorted(range(100), key=lambda x: -x)
"""


def test_interpreters(python):
    tool = TOOLS / "compare_stacks"
    if not tool.exists():
        pytest.skip("no libdw here")
    target = subprocess.Popen(python.command("-c", PROGRAM), stdout=subprocess.PIPE)
    try:
        assert target.stdout.readline() == b"ready\n"
        time.sleep(0.2)
        done = subprocess.run([tool, str(target.pid), "60"], capture_output=True, text=True,
                              env={"SHOW": "1"})
    finally:
        target.kill()
        target.wait()
    found = counts(done.stdout)
    print(f"{python.name}: {100 * found['whole'] / found['threads']:.1f}% whole, "
          f"{100 * found['same'] / max(found['theirs'], 1):.1f}% as libdw's, "
          f"{100 * found['bare'] / found['threads']:.1f}% the same from pc and sp alone")
    assert found["threads"] >= 200
    assert found["whole"] >= 0.995 * found["threads"], done.stderr
    assert found["same"] >= 0.995 * found["theirs"], done.stderr
    assert found["bare"] >= 0.75 * found["threads"], done.stderr  # those asleep
