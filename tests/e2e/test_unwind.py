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

# How many stacks may be wrong, and which share may be broken, which is said then.
# A long jump ends with a few instructions in which no stack is the right one.
TABLES = (0, 0.002)
# One instruction in the beginning of a realigned frame.
NO_TABLES = (2, 0.002)
# Its sigsetjmp keeps its return address apart for a while.
MUSL = (40, 0.01)

VARIANTS = {
    "gcc -O0": TABLES,
    "gcc -O2 -fomit-frame-pointer": TABLES,
    "gcc -O2 -no-pie -Wl,-z,lazy": TABLES,
    "gcc -O3 -mavx2 -fstack-clash-protection": TABLES,
    "gcc -O2 -static": TABLES,
    "clang -O0": TABLES,
    "clang -O2": TABLES,
    "clang -O1 -fuse-ld=lld": TABLES,
    "gcc -O2 -fno-asynchronous-unwind-tables": NO_TABLES,
    "gcc -O2 -fno-asynchronous-unwind-tables -fno-omit-frame-pointer": NO_TABLES,
    "gcc -O2 -g -fno-asynchronous-unwind-tables": TABLES,  # .debug_frame
    "musl-gcc -O2": MUSL,
    "musl-gcc -O2 -static": MUSL,
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
    wrong, broken = VARIANTS[variant]
    assert found["wrong"] <= wrong, done.stdout
    assert found["broken"] <= broken * found["steps"], done.stdout


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


def compare(command, times=60):
    """The counts of compare_stacks on a program that says when it is ready, and
    what it has to say on differences."""
    tool = TOOLS / "compare_stacks"
    if not tool.exists():
        pytest.skip("no libdw here")
    target = subprocess.Popen(command, stdout=subprocess.PIPE)
    try:
        assert target.stdout.readline() == b"ready\n"
        time.sleep(0.2)
        done = subprocess.run([tool, str(target.pid), str(times)], capture_output=True,
                              text=True, env={"SHOW": "1"})
    finally:
        target.kill()
        target.wait()
    return counts(done.stdout), done.stderr


def test_interpreters(python):
    found, differences = compare(python.command("-c", PROGRAM))
    print(f"{python.name}: {100 * found['whole'] / found['threads']:.1f}% whole, "
          f"{100 * found['same'] / max(found['theirs'], 1):.1f}% as libdw's, "
          f"{100 * found['bare'] / found['threads']:.1f}% the same from pc and sp alone")
    assert found["threads"] >= 200
    assert found["whole"] >= 0.995 * found["threads"], differences
    assert found["same"] >= 0.995 * found["theirs"], differences
    assert found["bare"] >= 0.75 * found["threads"], differences  # those asleep


CALL_BACK = """
import ctypes
compare = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ctypes.c_int),
                           ctypes.POINTER(ctypes.c_int))(lambda a, b: a[0] - b[0])
sort = ctypes.CDLL(None).qsort
print("ready", flush=True)
while True:
    sort((ctypes.c_int * 50)(*range(50, 0, -1)), 50, 4, compare)
"""


@pytest.mark.versions("3.12", "3.13")
def test_code_made_at_run_time(python):
    """A trampoline for each Python function, and those of libffi."""
    found, differences = compare(python.command("-X", "perf", "-c", CALL_BACK))
    assert found["whole"] == found["threads"] >= 60, differences


THREADS = """
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
static sem_t never;
static void *wait_for(void *p) { sem_wait(&never); return p; }
static void *nap(void *p) { for (;;) usleep(100); return p; }
static void *work(void *p) { for (;;) free(malloc(rand() % 1000)); return p; }
int main(void)
{
    void *(*bodies[])(void *) = { wait_for, nap, work };
    pthread_t thread;
    sem_init(&never, 0, 0);
    for (int i = 0; i < 3; i++)
        pthread_create(&thread, 0, bodies[i], 0);
    puts("ready");
    fflush(stdout);
    return pthread_join(thread, 0);
}
"""


def test_threads_of_musl(tmp_path):
    """No tables, no frame pointers, and functions that never return."""
    program = tmp_path / "threads"
    if not shutil.which("musl-gcc"):
        pytest.skip("no musl-gcc here")
    subprocess.run(["musl-gcc", "-O2", "-x", "c", "-o", program, "-"], input=THREADS,
                   text=True, check=True)
    found, differences = compare([program])
    print(found)
    assert found["threads"] >= 200
    assert found["whole"] >= 0.995 * found["threads"], differences
