"""Native frames among Python's, on every Python: names, lines, shares, threads
that run no Python, where threads wait; and what is said and done where perf
events or ptrace are forbidden."""
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter

import pytest

from interpreters import INTERPRETERS, ROOT
from watch import (AS_ROOT, NOBODY, PATIENCE, PYROMETER, VISITS, Recording, Started,
                   pyrometer)

sys.path[:0] = [str(ROOT / "bench")]
from harness import extension  # noqa: E402

SOURCE = (ROOT / "bench" / "targets" / "known.c").read_text().splitlines()
FORTRAN = (ROOT / "tests" / "e2e" / "programs" / "fortran.f90").read_text().splitlines()
RUST = (ROOT / "tests" / "e2e" / "programs" / "rust.rs").read_text().splitlines()
SHARES = {"tenth": 0.1, "third": 0.3, "most": 0.6}
RUST_SHARES = {"rust::work::tenth": 0.1, "rust::work::third": 0.3,
               "<rust::work::Most as rust::work::Spender>::spend": 0.6}
WIDER, TRIES = 1.5, 3  # see test_accuracy.py
MOST_BROKEN = 0.005    # of the samples
MACHINERY = {"cfunction_call", "_PyObject_Call", "PyObject_Call", "PyObject_Vectorcall",
             "_PyObject_VectorcallTstate", "_PyObject_Vectorcall", "_PyObject_FastCall",
             "_PyObject_CallFunctionVa", "PyObject_CallFunction",
             "_PyObject_CallFunctionVa.constprop.0", "_PyFunction_Vectorcall",
             "_PyObject_MakeTpCall", "_Py_VectorCallInstrumentation_StackRefSteal"}
SETTLE = 0.3  # seconds; what is true of a program that has started
ONE = pytest.mark.versions("3.12")
SOME_VERSIONS = ("2.7", "3.8", "3.12", "3.15")
SOME = pytest.mark.versions(*SOME_VERSIONS)
EVERY_VERSION = pytest.mark.versions(*dict.fromkeys(one.version for one in INTERPRETERS))
HERE = "--native" in pyrometer("attach", "--help").stdout

pytestmark = pytest.mark.skipif(not HERE, reason="this pyrometer has no native stacks")


def line_of(tag, source=SOURCE):
    return next(i for i, line in enumerate(source, 1) if f" line: {tag}" in line)


@pytest.fixture
def native(programs):
    """native(python, target, arguments...): a target that runs, with its
    extension built."""
    started = []

    def starter(python, target, *arguments, before=()):
        folder = programs.folder(python.root)
        try:
            path = extension.provide(python, folder, target)
        except extension.Missing as error:
            pytest.skip(f"{python.version}: {error}")
        command = programs.command(python, target + ".py", "--seconds", 60, *arguments)
        started.append(Started([*before, *command],
                               env={**os.environ, "PYTHONPATH": path,
                                    "PYTHONDONTWRITEBYTECODE": "1"}))
        time.sleep(SETTLE)
        return started[-1]

    yield starter
    for program in started:
        program.close()


def rates(recording):
    """Shares of the samples with native stacks, broken and unmerged ones."""
    profile = recording.report("top")["profile"]
    assert profile["samples"] > 100, profile
    return [profile[key] / profile["samples"] for key in ("native", "broken", "unmerged")]


def check_rates(recording):
    taken, broken, unmerged = rates(recording)
    assert taken > 0.95
    assert broken + unmerged < MOST_BROKEN, (broken, unmerged)


def interval(cum):
    """Its printed interval, widened."""
    return (cum["share"] - WIDER * (cum["share"] - cum["low"]),
            cum["share"] + WIDER * (cum["high"] - cum["share"]))


# ---- the extension itself ----

@EVERY_VERSION
def test_the_extension_builds(python, programs):
    """Every Python that has headers; those without are named."""
    try:
        path = extension.provide(python, programs.folder(python.root), "native_shares")
    except extension.Missing as error:
        pytest.skip(str(error))
    code = "import known, time; t = time.time(); known.spend(0.2); print(time.time() - t)"
    done = subprocess.run(python.command("-c", code), env={**os.environ, "PYTHONPATH": path},
                          capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == 0 and float(done.stdout) >= 0.19, done.stderr


# ---- names, lines, shares ----

def outside(recording):
    found = {name.rpartition("::")[2]: cum for name, cum in recording.shares().items()}
    wrong = {}
    for name, share in SHARES.items():
        low, high = interval(found[name]) if name in found else (1, 0)
        if not low <= share <= high:
            wrong[name] = (share, low, high)
    return wrong


@EVERY_VERSION
def test_known_shares(python, native, attach):
    program = native(python, "native_shares")
    for _ in range(TRIES):
        recording = attach("-n", "-d", "1s", program.pid)
        wrong = outside(recording)
        if not wrong:
            break
    assert not wrong, "true share, interval"
    assert_names_and_lines(recording)
    check_rates(recording)


def without(names, between):
    """The names less those of the interpreter's own calls: stripped ones do not
    tell which these are."""
    return [name for name in names if name not in between]


def assert_names_and_lines(recording):
    """Python, then C in the order of its calls, each on its line."""
    leaves, inlined = Counter(), Counter()
    for stack, count in recording.stacks().items():
        names = without([name for name, _, _ in stack], MACHINERY)
        if "work_off" not in names:
            continue
        assert names[:6] == ["<module>", "main", "spend", "known_spend", "spend_rounds",
                             "work_off"], names
        leaf, path, line = stack[-1]
        if leaf in ("tenth", "third", "churn") and path.endswith("known.c"):
            leaves[leaf, int(line)] += count
        if "most" in names:
            inlined[names[names.index("most") + 1:names.index("most") + 2] == ["churn"]] += count
    for name in ("tenth", "third", "churn"):
        # Some samples are at the loop's head, on the line before.
        right = leaves[name, line_of(name)] + leaves[name, line_of(name) - 1]
        everywhere = sum(count for (leaf, _), count in leaves.items() if leaf == name)
        assert right >= 0.95 * everywhere > 0, leaves
    assert inlined[True] >= 0.9 * sum(inlined.values()) > 0, inlined


def check_turns(recording, bare=0):
    """Python and C take turns five times, and nothing is out of place. So many
    samples may have Python's frames alone."""
    check_rates(recording)
    turn = ["known_call", "re_enter", "inner"]
    whole = ["<module>", "main", "outer"] + turn * 6 + ["known_burn", "burn_here"]
    samples, good, wrong = 0, 0, Counter()
    for stack, count in recording.names().items():
        if "outer" not in stack:
            continue
        if bare and "inner" in stack and set(stack) <= {"<module>", "main", "outer", "inner"}:
            passed = min(bare, count)
            bare, count = bare - passed, count - passed
        known = [name for name in stack if name in whole]
        samples += count
        wrong[stack] += count * (known != whole[:len(known)])
        good += count * (without(stack, MACHINERY)[:len(whole)] == whole)
    assert samples > 100 and good > 0.7 * samples
    assert sum(wrong.values()) < MOST_BROKEN * samples + 1, wrong.most_common(2)


@EVERY_VERSION
def test_python_that_c_calls(python, native, attach):
    recording = attach("-n", "-d", "1s", native(python, "native_callback").pid)
    check_turns(recording)
    info = recording.info()
    assert info["ridden"] >= info["visited"] and (info["visited"] or not VISITS)


@SOME
@pytest.mark.parametrize("how", ["wake", "clock"])
def test_python_that_c_calls_by_waking_up(python, native, attach, how):
    options = ["--registers", "clock"] if how == "clock" else ["--ride", "wake"]
    recording = attach("-n", "-d", "1s", *options, native(python, "native_callback").pid)
    profile = recording.report("top")["profile"]
    # A clock's interrupt may come too late for the moment that is read; then
    # the sample says that it has no native stack.
    check_turns(recording, profile["samples"] - profile["native"] if how == "clock" else 0)
    assert not recording.info()["visited"]


@EVERY_VERSION
def test_threads_left_to_their_clocks(python, native, attach):
    """A thread that runs on is taken by its own clock, most of the time."""
    recording = attach("-n", "-d", "1s", native(python, "native_callback").pid)
    check_turns(recording)
    info = recording.info()
    assert info["clocked"] > 0.5 * info["samples"] or not VISITS
    assert info["visited"] >= info["clocked"]
    assert info["ticks"] + info["missed"] > 0.9 * info["duration"] / info["period"]


@pytest.mark.versions("3.8", "3.12", "3.15")
def test_code_that_is_used_again_between_clocks(python, start, attach):
    names = attach("-n", "-d", "2s", start(python, "remade.py", 30).pid).names()
    samples = wrong = 0
    for stack, count in names.items():
        work = [int(name[5:]) for name in stack if name.startswith("work_")]
        if work:
            samples += count
            below = " ".join(stack)
            wrong += count * ("unicode_count" in below if work[0] % 2 else "list_sort" in below)
    assert samples > 1000 and wrong < 0.005 * samples, (wrong, samples)


@pytest.mark.versions("3.8", "3.12", "3.15")
def test_threads_that_wait_for_a_cpu(python, start, attach):
    """The switches tell one that is ready to run from one that runs."""
    if len(os.sched_getaffinity(0)) < 2:
        pytest.skip("one core: the recorder is on it, too")
    program = start(python, "crowded.py", 30)
    used, began = cpu_of(program.pid), time.monotonic()
    recording = attach("-n", "-d", "2s", program.pid)
    true = (cpu_of(program.pid) - used) / (time.monotonic() - began) / 3
    crowd = [t for t in recording.threads() if t["name"].startswith("crowd")]
    assert all(t["top"]["name"] == "<waiting: CPU>" for t in crowd)
    samples = sum(t["samples"] for t in crowd)
    assert len(crowd) == 3 and samples > 3000 and true < 0.4
    for share in (sum(t["on_cpu"] for t in crowd) / samples,
                  1 - sum(t["top"]["samples"] for t in crowd) / samples):
        assert abs(share - true) < 0.06, (share, true)


@SOME
def test_stacks_that_are_copied_in_part(python, start, attach):
    """More of a C stack than is copied at once: a sort takes 4 KB of it."""
    recording = attach("-n", "-d", "1s", start(python, "nested.py", 100, 30).pid)
    taken, broken, unmerged = rates(recording)
    assert taken > 0.95 and broken + unmerged < MOST_BROKEN, (broken, unmerged)
    assert all(stack.count("descend") == 101 for stack in recording.names() if "work" in stack)


@pytest.mark.versions("3.8", "3.12")
def test_builtin_that_calls_back(python, start, attach):
    """The interpreter's own functions stand between the Python frames too; not
    so in stripped ones, which do not tell them from machinery."""
    recording = attach("-n", "-d", "1s", start(python, "sorts.py", 30).pid)
    below = Counter()
    for stack, count in recording.names().items():
        if "key" in stack:
            below[stack[stack.index("sorts"):stack.index("key")]] += count
    (usual, count), = below.most_common(1)
    assert count > 0.9 * sum(below.values()) > 100
    assert usual[:2] == ("sorts", "builtin_sorted") and "list_sort_impl" in usual, usual
    assert not any(name.startswith(("_PyEval", "_PyObject_Call")) for name in usual), usual


@pytest.mark.versions("3.8", "3.12", "3.13")
def test_machinery_that_was_inlined(python, start, attach):
    """A builtin that the compiler put the interpreter's way to call into."""
    program, seen = start(python, "maps.py", 30), {}
    for options in ((), ("--internals",)):
        seen[options] = Counter()
        for stack, count in attach("-n", "-d", "0.5s", *options, program.pid).names().items():
            if "called" in stack:
                seen[options][stack[stack.index("maps"):stack.index("called")]] += count
    (folded, _), = seen[()].most_common(1)
    (shown, _), = seen["--internals",].most_common(1)
    assert folded[0] == "maps" and folded[1].startswith("list_") and folded[-1] == "map_next"
    assert {"_PyObject_Vectorcall", "_PyObject_VectorcallTstate"} & set(
        shown[shown.index("map_next"):]), shown
    assert not {name for stack in seen[()] for name in stack} & MACHINERY, seen[()]
    thread, = json.loads(pyrometer("dump", "-n", "--json",
                                   program.pid).stdout)["processes"][0]["threads"]
    names = {frame["function"] for frame in thread["frames"]}
    assert "map_next" in names and not names & MACHINERY, names


def check_standard_library(names):
    found = {name for stack in names for name in stack}
    for caller, parts in (("search", ("sre", "SRE", "pattern_findall", "_sre")),
                          ("decode", ("scan", "Scan", "_json"))):
        assert caller in found
        below = {name for stack in names if caller in stack
                 for name in stack[stack.index(caller) + 1:]}
        assert any(part in name for name in below for part in parts), (caller, below)


@EVERY_VERSION
def test_the_c_of_the_standard_library(python, native, attach):
    recording = attach("-n", "-d", "1s", native(python, "native_text").pid)
    check_rates(recording)
    if python.version in SOME_VERSIONS:  # others may be stripped, and have no names
        check_standard_library(recording.names())


@pytest.mark.versions("3.8", "3.12")
@pytest.mark.parametrize("target", ["native_cython", "native_numpy"])
def test_broken_and_unmerged_in_packages(python, native, attach, target):
    """On every version they are in bench/: they take minutes to install."""
    check_rates(attach("-n", "-d", "1s", native(python, target).pid))


@SOME
def test_python_only_without_the_option(python, native, attach):
    recording = attach("-d", "0.5s", native(python, "native_shares").pid)
    assert all(stack[-1] in ("spend", "goes_on", "main", "<module>")
               for stack in recording.names())


@SOME
def test_run(python, programs, tmp_path):
    """`run -n` of a program, from its beginning to its end."""
    try:
        path = extension.provide(python, programs.folder(python.root), "native_shares")
    except extension.Missing as error:
        pytest.skip(str(error))
    output = tmp_path / "run.pyro"
    done = pyrometer("run", "-n", "-q", "-o", output, "--",
                     *programs.command(python, "native_shares.py", "--seconds", 1.5),
                     env={**os.environ, "PYTHONPATH": path})
    assert done.returncode == 0, done.stderr
    found = Recording(output).shares()
    assert found["spend_rounds"]["share"] > 0.5 and "most" in found


@pytest.fixture(scope="module")
def library(programs):
    """library(python, source, compiler, options...): it is built, once for each
    root; its path as that Python sees it."""
    def provide(python, source, compiler, *options):
        if not shutil.which(compiler):
            pytest.skip(f"no {compiler} here")
        folder = programs.folder(python.root)
        path = f"{folder}/{os.path.splitext(source)[0]}.so"
        if not os.path.exists(path):
            subprocess.run([compiler, *options, f"{folder}/{source}", "-o", path], check=True,
                           cwd=folder)
        return path[len(python.root):]
    return provide


@pytest.fixture(scope="module")
def fortran(programs, library):
    """fortran(python): the command of fortran.py, its library built."""
    def command(python, *arguments):
        # Of its library it needs nothing, and a root may not have it.
        path = library(python, "fortran.f90", "gfortran", "-shared", "-fPIC", "-O1", "-g",
                       "-static-libgfortran", "-fomit-frame-pointer")
        return programs.command(python, "fortran.py", path, *arguments)
    return command


@SOME
def test_fortran(python, fortran, tmp_path):
    """A module's procedure, one that was inlined into it, one inside of another
    and one outside of modules, by the names that people gave them."""
    output = tmp_path / "run.pyro"
    done = pyrometer("run", "-n", "-q", "-o", output, "--", *fortran(python, 1))
    assert done.returncode == 0, done.stderr
    calls, back, wrong = Counter(), 0, Counter()
    for stack, count in Recording(output).stacks().items():
        names = [name for name, _, _ in stack]
        inside = [i for i, (_, path, _) in enumerate(stack) if path.endswith("fortran.f90")]
        if not inside:
            wrong[stack] += count * ("called" in names)
            continue
        calls[tuple((stack[i][0], int(stack[i][2])) for i in inside)] += count
        wrong[stack] += count * (names[:2] != ["<module>", "main"])
        if "called" in names:
            back += count
            wrong[stack] += count * ([names[i] for i in inside] != ["known_spend", "around"]
                                     or names.index("called") < inside[-1])
    assert sum(wrong.values()) < MOST_BROKEN * sum(calls.values()) + 1, wrong.most_common(2)
    heavy, inlined, step, plain = [line_of(tag, FORTRAN)
                                   for tag in ("heavy", "inlined", "step", "plain")]
    assert calls[("known_spend", heavy), ("known::heavy", inlined), ("step", step)] > 50, calls
    assert sum(count for path, count in calls.items()
               if len(path) == 3 and path[1] == ("around", plain) and path[2][0] == "plain") > 50
    assert back > 20


@SOME
def test_rust(python, library, attach, start):
    """Functions by their paths, a method by its trait, inlined calls on their
    lines, with their shares of the time."""
    path = library(python, "rust.rs", "rustc", "--crate-type", "cdylib", "-O", "-g")
    program = start(python, "rust.py", path, 60)
    time.sleep(SETTLE)
    for _ in range(TRIES):
        recording = attach("-n", "-d", "1s", program.pid)
        wrong, count = outside_rust(recording)
        if not wrong:
            break
    assert not wrong and count > 500, "true share, seen"
    check_rates(recording)


def outside_rust(recording):
    """What of the shares of the thread that calls Rust is wrong, and how many
    samples there were."""
    calls, total, paths = Counter(), 0, Counter()
    for stack, count in recording.stacks("--thread", "MainThread").items():
        names = [name for name, _, _ in stack]
        spender = next((name for name in names if name in RUST_SHARES), None)
        if not spender:
            continue
        total += count
        calls[spender] += count
        inside = [(name, int(line)) for name, path, line in stack if path.endswith("rust.rs")]
        paths[tuple(inside[-2:])] += count
    turn, churn = ("rust::work::turn", line_of("turn", RUST)), line_of("churn", RUST)
    assert sum(count for path, count in paths.items()
               if path[0] == turn and path[1][0] == "rust::work::churn"
               and abs(path[1][1] - churn) <= 1) > 0.8 * total > 0, paths
    return {name: (share, calls[name] / total) for name, share in RUST_SHARES.items()
            if abs(calls[name] / total - share) > 0.05}, total


@SOME
def test_a_thread_of_rust(python, library, attach, start):
    path = library(python, "rust.rs", "rustc", "--crate-type", "cdylib", "-O", "-g")
    program = start(python, "rust.py", path, 60)
    recording = attach("-n", "-d", "1s", program.pid)
    stacks = recording.stacks("--thread", "rust-pool-0")
    total = sum(stacks.values())
    right = sum(count for stack, count in stacks.items()
                if "rust::work::alone" in [name for name, _, _ in stack])
    assert total > 500 and right > 0.95 * total, stacks
    assert not any(name == "<module>" for stack in stacks for name, _, _ in stack)


@SOME
def test_libraries_that_are_loaded_and_run_at_once(python, library, programs, tmp_path):
    """As importing does it: each is known when the first sample meets it."""
    path = library(python, "loads.c", "cc", "-shared", "-fPIC", "-O2", "-fomit-frame-pointer")
    output = tmp_path / "run.pyro"
    done = pyrometer("run", "-n", "-q", "-o", output, "--",
                     *programs.command(python, "loads.py", path, 100))
    assert done.returncode == 0, done.stderr
    recording = Recording(output)
    check_rates(recording)
    spins = {stack: count for stack, count in recording.names().items() if "spin" in stack}
    assert sum(spins.values()) > 100 and all("<module>" in stack for stack in spins)


@pytest.mark.versions("3.8", "3.11", "3.12", "3.15")
def test_threads_that_wait_for_their_child_to_begin(python, programs, tmp_path):
    """vfork keeps its return address in a register, and lends the child its
    stack."""
    output = tmp_path / "run.pyro"
    done = pyrometer("run", "-n", "-q", "-o", output, "--",
                     *programs.command(python, "spawns.py", 1))
    assert done.returncode == 0, done.stderr
    check_rates(Recording(output))


@ONE
def test_internals(python, native, attach):
    program = native(python, "native_callback")
    folded = {name for stack in attach("-n", "-d", "0.5s", program.pid).names() for name in stack}
    shown = {name for stack in attach("-n", "--internals", "-d", "0.5s", program.pid).names()
             for name in stack}
    assert not any(name.startswith("_PyEval_EvalFrame") for name in folded)
    assert any(name.startswith("_PyEval_EvalFrame") for name in shown)


# ---- threads ----

@EVERY_VERSION
def test_threads_without_python_and_where_threads_wait(python, native, attach):
    recording = attach("-n", "-d", "1s", native(python, "native_threads").pid)
    threads = {thread["name"]: thread for thread in recording.threads()}
    assert {"MainThread", "reads", "polls", "sleeps", "burner"} <= set(threads)
    for name, function, call in (("burner", "burn_alone", None), ("reads", "in_read", "read"),
                                 ("polls", "in_poll", "poll"), ("sleeps", "in_futex", "futex")):
        stacks = recording.names("--thread", name)
        total = sum(stacks.values())
        there = sum(count for stack, count in stacks.items() if function in stack)
        assert total > 50 and there > 0.9 * total, (name, stacks)
        if call:
            text = recording.ask("export", "-f", "collapsed", "-o", "-", "--thread", name)
            assert f"<waiting: {call}>" in text
            assert all("wait_for" in stack for stack in stacks)
        else:
            assert not any("<module>" in stack for stack in stacks)
    _, broken, unmerged = rates(recording)
    assert broken + unmerged < MOST_BROKEN, (broken, unmerged)


@pytest.mark.versions("3.8", "3.12", "3.13", "3.15")
def test_threads_that_are_in_another_interpreter(python, start, attach):
    """They have a thread state in each, and one C stack, which runs through
    both: what made them enter the other is below what they do there."""
    recording = attach("-n", "-d", "0.6s", start(python, "interpreters.py").pid)
    check_rates(recording)
    stacks = {stack: count for stack, count in recording.names().items()
              if any(name.startswith("sub_work_") for name in stack)}
    whole = sum(count for stack, count in stacks.items()
                if "run" in stack and stack.index("run") < stack.index("sub_main"))
    assert whole > 0.9 * sum(stacks.values()) > 100, stacks


# ---- what is forbidden ----

@pytest.fixture(scope="module")
def deny(tmp_path_factory):
    """deny(words...): the beginning of a command without these permissions."""
    path = tmp_path_factory.mktemp("deny")
    os.chmod(path, 0o755)
    subprocess.run(["cc", "-o", path / "deny", ROOT / "tests/e2e/programs/deny.c"], check=True)
    return lambda *words: [str(path / "deny"), *words, "--"]


def record_as(command, folder, *arguments):
    done = subprocess.run([*map(str, command), "attach", "-n", "-d", "1s", "-o",
                           f"{folder}/out.pyro", *map(str, arguments)],
                          capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == 0, done.stderr
    return Recording(f"{folder}/out.pyro"), done.stderr


def registers(recording):
    return recording.info()["registers"]


@AS_ROOT
def test_nobody_with_perf_events_of_his_own(native, public):
    """perf_event_paranoid 2, as most systems have it, or less."""
    python = next((one for one in INTERPRETERS if one.path.startswith("/usr/")), None)
    if not python:
        pytest.skip("no Python here that everybody may run")
    with open("/proc/sys/kernel/perf_event_paranoid", encoding="utf-8") as file:
        level = int(file.read())
    if level > 2:
        pytest.skip(f"perf_event_paranoid is {level} here")
    program = native(python, "native_shares", before=NOBODY)
    recording, _ = record_as([*NOBODY, public / "pyrometer"], public, program.pid)
    assert registers(recording) == ("clock" if level == 2 else "switch")
    assert "most" in recording.shares()
    taken, broken, unmerged = rates(recording)
    assert taken > 0.9 and broken + unmerged < 0.02


@ONE
@pytest.mark.parametrize("option", [["--kernel"], ["--internals"], ["--registers", "stop"]])
def test_options_of_native_stacks_ask_for_them(python, native, tmp_path, option):
    program = native(python, "native_shares")
    out = tmp_path / "out.pyro"
    pyrometer("attach", "-q", "-d", "1s", *option, "-o", out, program.pid)
    recording = Recording(out)
    assert registers(recording) and "most" in recording.shares()


@SOME
def test_without_perf_events_one_thread_is_stopped(python, native, deny, tmp_path):
    program = native(python, "native_shares")
    recording, _ = record_as([*deny("perf"), PYROMETER], tmp_path, program.pid)
    assert registers(recording) == "stop" and "most" in recording.shares()
    taken, broken, unmerged = rates(recording)
    assert taken > 0.9 and broken + unmerged < 0.02
    assert is_untraced(program.pid)


@ONE
def test_nothing_is_permitted(python, native, deny, tmp_path):
    """Python alone, said plainly, with what to change."""
    program = native(python, "native_shares")
    recording, said = record_as([*deny("perf", "ptrace"), PYROMETER], tmp_path, program.pid)
    assert "native" in said and "doctor" in said
    found = recording.shares()
    assert "spend" in found and "most" not in found
    assert recording.report("top")["profile"]["native"] == 0


def status_of(pid):
    with open(f"/proc/{pid}/status", encoding="utf-8") as file:
        return dict(row.rstrip("\n").split(":\t", 1) for row in file if ":\t" in row)


def is_untraced(pid):
    return all(status_of(f"{pid}/task/{task}")["TracerPid"] == "0"
               and status_of(f"{pid}/task/{task}")["State"][0] not in "Tt"
               for task in os.listdir(f"/proc/{pid}/task"))


def cpu_of(pid):
    return time.clock_gettime((~pid << 3) | 2)


@ONE
@pytest.mark.parametrize("how", ["switch", "clock", "stop"])
def test_the_recorder_is_killed(python, native, tmp_path, how):
    """Again and again, at any moment: the program runs on, and nobody traces it."""
    program = native(python, "native_shares")
    for i in range(8):
        recorder = subprocess.Popen([PYROMETER, "attach", "-n", "-q", "-r", "2k", "--registers",
                                     how, "-o", tmp_path / f"{i}.pyro", str(program.pid)],
                                    stderr=subprocess.DEVNULL)
        time.sleep(0.15 + 0.013 * i)
        recorder.send_signal(signal.SIGKILL)
        recorder.wait(PATIENCE)
        end = time.monotonic() + PATIENCE
        while not is_untraced(program.pid) and time.monotonic() < end:
            time.sleep(0.01)
        assert is_untraced(program.pid)
        before = cpu_of(program.pid)
        end = time.monotonic() + PATIENCE
        while cpu_of(program.pid) - before < 0.02 and time.monotonic() < end:
            time.sleep(0.01)
        assert cpu_of(program.pid) - before >= 0.02 and program.process.poll() is None


@ONE
@pytest.mark.parametrize("how", ["switch", "clock", "stop"])
def test_threads_that_end_at_once(python, programs, tmp_path, how):
    """What has ended is no longer sampled, and is no thread that was refused."""
    output = tmp_path / "brief.pyro"
    done = pyrometer("run", "-n", "-q", "--registers", how, "-o", output, "--",
                     *programs.command(python, "brief.py", 2))
    assert done.returncode == 0, done.stderr
    recording = Recording(output)
    assert recording.info()["note"] is None
    brief = [thread["samples"] for thread in recording.threads() if not thread["main"]]
    assert sum(brief) <= 6 * len(brief), brief  # a list is made every 20 ms, at 1 kHz


@ONE
def test_stops_while_children_are_ignored(python, native, tmp_path):
    """Who starts us may ignore SIGCHLD, by which the kernel tells of stops."""
    program = native(python, "native_shares")
    before = signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    try:
        recorder = subprocess.Popen([PYROMETER, "attach", "-n", "-q", "--registers", "stop", "-o",
                                     tmp_path / "out.pyro", str(program.pid)])
    finally:
        signal.signal(signal.SIGCHLD, before)
    time.sleep(SETTLE)
    ignored = int(status_of(recorder.pid)["SigIgn"], 16)
    recorder.send_signal(signal.SIGINT)
    assert recorder.wait(PATIENCE) == 0
    assert not ignored >> (signal.SIGCHLD - 1) & 1
    assert is_untraced(program.pid)


# ---- the same stacks, now, and in a core file ----

@SOME
def test_dump(python, native):
    if "--native" not in pyrometer("dump", "--help").stdout:
        pytest.skip("dump has no native stacks")
    program = native(python, "native_threads")
    done = pyrometer("dump", "-n", "--json", program.pid)
    assert done.returncode == 0, done.stderr
    threads = {thread["name"]: [frame["function"] for frame in thread["frames"]]
               for thread in json.loads(done.stdout)["processes"][0]["threads"]}
    for name, function in (("burner", "burn_alone"), ("reads", "in_read"), ("polls", "in_poll"),
                           ("sleeps", "in_futex")):
        assert function in threads[name], threads
        if name != "burner":
            assert threads[name].index(function) < threads[name].index("wait_for")


@SOME
def test_core_file(python, native, tmp_path):
    if python.root or not shutil.which("gcore"):
        pytest.skip("gcore (of gdb) does not read this")
    program = native(python, "native_threads")
    subprocess.run(["gcore", "-o", tmp_path / "core", str(program.pid)], check=True,
                   capture_output=True, timeout=PATIENCE)
    done = pyrometer("dump", "-n", "--json", tmp_path / f"core.{program.pid}")
    assert done.returncode == 0, done.stderr
    threads = json.loads(done.stdout)["processes"][0]["threads"]
    stacks = [[frame["function"] for frame in thread["frames"]] for thread in threads]
    for function, mark in (("in_read", "<waiting: read>"), ("in_poll", "<waiting: poll>"),
                           ("in_futex", "<waiting: futex>")):
        [found] = [stack for stack in stacks if function in stack]
        assert found[0] == mark and found.index(function) < found.index("wait_for")
    [alone] = [stack for stack in stacks if "burn_alone" in stack]
    assert "main" not in alone
    for thread in threads:
        lines = [(frame["function"], frame["line"]) for frame in thread["frames"]]
        if ("burn_alone" in dict(lines)):
            assert dict(lines)["churn"] in (line_of("churn"), line_of("churn") - 1)
