"""Every kind of Python that there is, and what it can be doing."""
import json
import os
import re
import resource
import shutil
import subprocess
import time
from pathlib import Path

import pytest

from watch import PATIENCE, PYROMETER, VISITS, Recording, Started, pyrometer

STACK = ("<module>", "main", "outer", "middle", "spin")
FEW = pytest.mark.versions("2.7", "3.8", "3.11", "3.12", "3.13", "3.13t", "3.14", "3.15")
DEEP = 20000
AS_ROOT = pytest.mark.skipif(os.getuid() != 0, reason="only root can make a pid namespace")


def number(python):
    return tuple(int(part) for part in re.match(r"(\d+)\.(\d+)", python.version).groups())


# Builds

ABOUT = """
import json, sys, sysconfig
v = sysconfig.get_config_vars()
print(json.dumps([sys.prefix, sysconfig.get_paths()["include"], v["LIBDIR"], v.get("LIBPL"),
                  v["LDLIBRARY"], v.get("LIBRARY"), v["LIBS"] + " " + v["SYSLIBS"]]))
"""


class Build:
    """How a Python was built, and other programs made of its parts."""

    def __init__(self, python, folder):
        told = subprocess.run(python.command("-c", ABOUT), check=True, capture_output=True)
        (self.prefix, self.include, libraries, static, shared, archive,
         self.needs) = json.loads(told.stdout)
        self.python, self.folder = python, folder
        self.shared = Path(libraries, shared)
        self.archive = Path(static or "", archive or "")

    def environment(self, **more):
        return {**os.environ, "PYTHONHOME": self.prefix, **more}

    def embedded(self, *flags):
        """Our own program, linked as the flags say."""
        program = self.folder / "server"
        source = Path(__file__).parent / "programs" / "embed.c"
        subprocess.run(["cc", "-w", "-I", self.include, source, "-o", program, "-rdynamic",
                        *flags, "-lpthread", "-ldl", "-lutil", "-lm", *self.needs.split()],
                       check=True)
        return [program], self.environment()

    def embedded_shared(self):
        if self.shared.suffix == ".a":
            pytest.skip(f"{self.python.version}: has no libpython.so")
        return self.embedded(self.shared, f"-Wl,-rpath,{self.shared.parent}")

    def embedded_static(self, *flags):
        if not self.archive.is_file():
            pytest.skip(f"{self.python.version}: has no {self.archive.name}")
        return self.embedded(self.archive, *flags)

    def embedded_no_pie(self):
        return self.embedded_static("-no-pie")

    def embedded_stripped(self):
        return self.embedded_static("-s")

    def stripped(self):
        """The interpreter itself and its library, without symbols."""
        command, environment = self.folder / Path(self.python.path).name, self.environment()
        self.strip(self.python.path, command)
        if self.shared.suffix != ".a":
            library = self.folder / os.path.basename(os.path.realpath(self.shared))
            self.strip(self.shared, library)
            environment["LD_PRELOAD"] = str(library)
        return [command], environment

    def strip(self, source, target):
        shutil.copy(os.path.realpath(source), target)
        os.chmod(target, 0o755)
        subprocess.run(["strip", target], check=True)


def check_build(python, programs, tmp_path, kind):
    command, environment = getattr(Build(python, tmp_path), kind)()
    program = Started([*command, programs.folder("") + "/busy.py"], env=environment)
    try:
        path = tmp_path / "a.pyro"
        done = pyrometer("attach", "-q", "-d", "0.4s", "-o", path, program.pid)
        assert done.returncode == 0, done.stderr
        recording = Recording(path)
        assert recording.samples_with(*STACK) > 0.95 * recording.info()["ticks"]
        holds = sum(thread["gil"] for thread in recording.threads())
        assert holds > 0.8 * recording.info()["ticks"]
        said = recording.info()["processes"][0]["python"]
        assert said.startswith(python.version.rstrip("td") + ".")
    finally:
        program.close()


def test_stripped_interpreter(python, programs, tmp_path):
    if python.root:
        pytest.skip("Debian's are stripped already")
    check_build(python, programs, tmp_path, "stripped")


@pytest.mark.versions("2.7", "3.6", "3.8", "3.10", "3.12", "3.13")
@pytest.mark.parametrize("kind", ["embedded_shared", "embedded_static", "embedded_no_pie",
                                  "embedded_stripped"])
def test_embedded_interpreter(python, programs, tmp_path, kind):
    check_build(python, programs, tmp_path, kind)


# Places

def children_of(pid):
    return Path(f"/proc/{pid}/task/{pid}/children").read_text().split()


@AS_ROOT
@FEW
@pytest.mark.alone
def test_another_pid_namespace(python, programs, attach):
    program = Started(["unshare", "-pf", "--mount-proc", *programs.command(python, "busy.py")])
    try:
        pid, = children_of(program.pid)
        recording = attach("-d", "0.3s", pid)
        assert recording.samples_with(*STACK) > 0.95 * recording.info()["ticks"]
        main = next(thread for thread in recording.threads() if thread["top"]["name"] == "spin")
        assert main["tid"] == int(pid) and main["on_cpu"] > 0.9 * main["samples"]
        info = attach("-d", "0.3s", "--ride", "always", pid).info()
        assert info["ridden"] >= info["visited"] and (info["visited"] or not VISITS)
    finally:
        program.process.stdin.close()
        program.process.wait(PATIENCE)
        program.process.stdout.close()


@AS_ROOT
@FEW
def test_run_into_another_pid_namespace(python, programs, tmp_path):
    path = tmp_path / "run.pyro"
    done = pyrometer("run", "-q", "-o", path, "--", "unshare", "-pf", "--mount-proc",
                     *programs.command(python, "busy.py", 0.4))
    assert done.returncode == 0, done.stderr
    assert Recording(path).samples_with(*STACK) > 100


@AS_ROOT
@pytest.mark.versions("3.12")
def test_the_proc_of_another_pid_namespace(python, programs, tmp_path):
    """There, /proc tells of strangers that have the pids of our processes."""
    path = tmp_path / "run.pyro"
    for command in (["run", "-o", path, "--", *programs.command(python, "busy.py", 0.1)],
                    ["attach", "-o", path, 1], ["dump", 1]):
        done = subprocess.run(["unshare", "-pf", PYROMETER, *map(str, command)],
                              capture_output=True, text=True, timeout=PATIENCE)
        assert done.returncode == 6 and "another pid namespace" in done.stderr
        assert not path.exists()


# States

def test_asleep_is_off_cpu(python, start, attach):
    recording = attach("-d", "0.3s", start(python, "sleeper.py").pid)
    ticks = recording.info()["ticks"]
    assert ticks > 50 and recording.samples_with("<module>", "doze", "nap") > 0.9 * ticks
    thread, = recording.threads()
    # It may still have to fall asleep.
    assert thread["on_cpu"] + thread["gil"] < 0.1 * thread["samples"]


def test_busy_is_on_cpu(python, start, attach):
    program = start(python, "busy.py")
    threads = attach("-d", "0.3s", program.pid).threads()
    main = next(thread for thread in threads if thread["main"])
    other = next(thread for thread in threads if not thread["main"])
    assert main["on_cpu"] > 0.95 * main["samples"] and main["gil"] > 0.9 * main["samples"]
    assert main["gc"] == other["gc"] == 0
    # The other one may have begun to listen only after "ready".
    assert other["samples"] == main["samples"]
    assert other["on_cpu"] + other["gil"] < 0.1 * other["samples"]


def test_one_of_four_busy_threads_holds_the_gil(python, start, attach):
    program = start(python, "threads.py", "--busy", "--threads", 4, "--seconds", 30)
    recording = attach("-d", "0.7s", program.pid)
    threads, ticks = recording.threads(), recording.info()["ticks"]
    assert len(threads) == 4
    if python.version.endswith("t"):
        assert all(thread["gil_wait"] == 0 for thread in threads)
        assert all(thread["gil"] > 0.8 * thread["samples"] for thread in threads)
        return
    assert 0.5 * ticks < sum(thread["gil"] for thread in threads) <= 1.02 * ticks
    assert all(0 < thread["gil"] < 0.9 * thread["samples"] for thread in threads)
    # The GIL of 2.7 is passed on a thousand times a second, and wakes them all.
    waits = sum(thread["gil_wait"] for thread in threads)
    assert waits > (0 if number(python) < (3, 2) else 0.4 * 3 * ticks)


def test_collecting_garbage(python, start, attach):
    recording = attach("-d", "0.3s", start(python, "collect.py").pid)
    thread, = recording.threads()
    assert thread["gc"] > 0.7 * thread["samples"]


# Shapes of code

def test_shapes_of_code(python, record):
    recording = record(python, "shapes.py")
    expected = [
        ("in_generators", "generator_root", "generator_leaf"),
        ("in_expression", "<genexpr>", "<lambda>"),
        ("in_executed", "<module>", "executed"),
        ("in_zipped", "zipped"),
        ("in_method", "method"),
        ("in_class", "__init__"),
        # 2.7 and 3.12 put list comprehensions into the function they stand in.
        ("in_comprehension", "<listcomp>", "<lambda>")
        if (3, 0) < number(python) < (3, 12) else ("in_comprehension", "<lambda>"),
    ]
    if number(python) >= (3, 6):
        expected += [("in_coroutines", "drain", "coroutine_root", "coroutine_leaf"),
                     ("in_coroutines", "drain", "asynchronous_root", "asynchronous_generator")]
    for functions in expected:
        assert recording.samples_with("main", *functions) > 5, functions
    # 3.13 has a frame of its own between a class and its __init__.
    assert recording.samples_with("in_class", "__init__", "__init__") == 0
    files = {function["name"].rpartition(".")[2]: function["file"]
             for function in recording.report("top", "--all")["functions"]}
    assert files["executed"] == "<made up>"
    assert files["zipped"].endswith("modules.zip/in_zip.py")
    assert files["in_method"].endswith("/shapes.py")


def test_lines(python, start, attach):
    recording = attach("-d", "0.3s", start(python, "busy.py").pid)
    source = (Path(__file__).parent / "programs" / "busy.py").read_text().splitlines()
    spots = {"middle": "return spin(until)", "outer": "return middle(until)"}
    for stack in recording.stacks():
        for name, _, line in stack:
            if name in spots:
                assert source[int(line) - 1].strip() == spots[name]
            if name == "spin":
                assert source[int(line) - 1].strip() in ("while clock() < until and not ended:",
                                                         "count += 1")


@FEW
def test_deep_recursion(python, start, attach):
    recording = attach("-d", "1s", start(python, "deep.py", DEEP).pid)
    whole = sum(count for names, count in recording.names().items()
                if names.count("descend") == DEEP + 1 and names[-1] == "bottom")
    ticks = recording.info()["ticks"]
    assert ticks > 5 and whole > 0.9 * ticks


@FEW
def test_stacks_that_take_longer_than_a_tick(python, start, attach):
    """They are not counted less than others."""
    recording = attach("-d", "3s", start(python, "plunges.py", DEEP // 4).pid)
    found, info = recording.shares(), recording.info()
    assert 0.4 < found["bottom"]["share"] / (
        found["bottom"]["share"] + found["surface"]["share"]) < 0.6
    assert info["drawn"] or info["missed"] < 0.1 * info["ticks"]


# Threads and interpreters

@pytest.mark.versions("3.8", "3.12", "3.15")
@pytest.mark.parametrize("ride", ["auto", "never"])
def test_more_threads_than_cores(python, start, attach, ride):
    """Three of them on one core use that one, whatever samples say."""
    if len(os.sched_getaffinity(0)) < 2:
        pytest.skip("one core: the recorder is on it, too")
    program = start(python, "crowded.py", 30)
    recording = attach("-d", "2s", "--ride", ride, program.pid)
    crowd = [t for t in recording.threads() if t["name"].startswith("crowd")]
    running = sum(t["on_cpu"] - t["ready"] for t in crowd)
    assert len(crowd) == 3 and 0.5 < running / max(t["samples"] for t in crowd) < 1.15
    if sum(t["ready"] for t in crowd):
        text = " ".join(pyrometer("report", recording.path).stdout.split())
        assert "of the on-CPU samples were ready but waiting for a core" in text


@FEW
def test_two_hundred_threads(python, start, attach):
    program = start(python, "threads.py", "--threads", 200, "--seconds", 30)
    recording = attach("-d", "0.5s", program.pid)
    threads, ticks = recording.threads(), recording.info()["ticks"]
    assert len(threads) == 200 and len({thread["tid"] for thread in threads}) == 200
    assert all(thread["samples"] >= ticks - 1 for thread in threads)
    main, = [thread for thread in threads if thread["main"]]
    others = [thread for thread in threads if not thread["main"]]
    assert main["on_cpu"] > 0.9 * ticks
    assert sum(thread["on_cpu"] for thread in others) < 0.02 * ticks * len(others)
    assert recording.samples_with(*["sleep"] * 11) > 0.95 * ticks * len(others)


@pytest.mark.versions("3.12")
@pytest.mark.parametrize("hard, known", [(1000, 150), (150, 30)])
def test_more_threads_than_open_files(python, start, tmp_path, hard, known):
    """A soft limit is raised; at a hard one the recording goes on without them."""
    program = start(python, "threads.py", "--threads", 150, "--seconds", 30)
    path = tmp_path / "many.pyro"
    done = pyrometer("attach", "-q", "-d", "1s", "-o", path, program.pid, preexec_fn=lambda:
                     resource.setrlimit(resource.RLIMIT_NOFILE, (150, hard)))
    assert done.returncode == 0, done.stderr
    recording = Recording(path)
    info = recording.info()
    assert info["duration"] >= 1 and ("open files" in (info["note"] or "")) == (hard < 500)
    threads = recording.threads()
    assert len(threads) == 150 and sum(1 for thread in threads if thread["tid"]) >= known


@pytest.mark.versions("3.12")
def test_the_program_keeps_its_limit_of_open_files(python, tmp_path):
    code = "import resource; print(resource.getrlimit(resource.RLIMIT_NOFILE))"
    done = pyrometer("run", "-q", "-o", tmp_path / "limit.pyro", "--", *python.command("-c", code),
                     preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (200, 300)))
    assert done.stdout == "(200, 300)\n"


@FEW
def test_threads_that_come_and_go(python, record):
    recording = record(python, "come_and_go.py", 0.8)
    assert recording.samples_with("even", "even_work") > 50
    assert recording.samples_with("odd", "odd_work") > 50
    for names in recording.names():
        assert not {"even", "odd_work"} <= set(names) and not {"odd", "even_work"} <= set(names)
        assert len(set(names) & {"even", "odd", "main"}) <= 1, names
    tids = [thread["tid"] for thread in recording.threads()]
    assert len(tids) > 20


@FEW
def test_code_whose_address_is_used_again(python, record):
    recording = record(python, "reused.py", 1)
    took = [int(milliseconds) for milliseconds in recording.printed.split()[1:]]
    seen = set()
    for function in recording.report("top", "--all")["functions"]:
        match = re.fullmatch(r"work_(\d+)", function["name"])
        if match:
            this = int(match.group(1))
            seen.add(this)
            assert function["file"].endswith(f"made_{this}.py"), function
            assert function["line"] == this % 50 + 1, function
            assert function["cum"]["samples"] < 2 * took[this] + 20, (function, took[this])
    assert len(seen) > 50
    for names, count in recording.names().items():
        if names and names[-1].startswith("work_"):
            caller = "oddly" if int(names[-1][5:]) % 2 else "evenly"
            assert names[-2] == caller, (names, count)


def test_modules_in_each_others_place(python, record):
    """A frame at the same place, of another module: its names belong together.
    A code object that is gone before it was read may have its successor's."""
    right = wrong = 0
    for stack, count in record(python, "modules.py", 1.5).stacks().items():
        modules = set(re.findall(r"\b(?:f|g|made)_(\d+)", " ".join(map(str, stack))))
        right += count if len(modules) == 1 else 0
        wrong += count if len(modules) > 1 else 0
    assert right > 200 and wrong < 0.15 * right, (right, wrong)


@pytest.mark.versions("3.12", "3.13", "3.13t", "3.14", "3.15")
def test_subinterpreters(python, start, attach):
    recording = attach("-d", "0.6s", start(python, "interpreters.py").pid)
    for number in range(2):
        assert recording.samples_with("sub_main", f"sub_work_{number}") > 50
    assert recording.samples_with("<module>", "main_work") > 50
    for names in recording.names():
        assert len([name for name in names if "_work" in name]) <= 1, names
