"""dump of core files: of programs that a signal ended and of those that gcore
took one of, against what the program said of itself."""
import json
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import pytest

from interpreters import BUILD
from watch import PATIENCE, Started, pyrometer

MAKE_CORE = BUILD / "tests" / "unit" / "make_core"
GCORE = pytest.mark.skipif(not shutil.which("gcore"), reason="gcore (of gdb) is not here")
with open("/proc/sys/kernel/core_pattern", encoding="utf-8") as pattern:
    PATTERN = pattern.read().strip()
KERNEL = pytest.mark.skipif(not re.match(r"core[\w.%]*$", PATTERN),
                            reason="the kernel's core_pattern is no file in the folder")
SYSTEM = pytest.mark.versions("3.11")


def names_of(thread):
    return [frame["function"].rpartition(".")[2] for frame in thread["frames"]]


def dump(path, *options, status=0):
    done = pyrometer("dump", "--json", *options, path)
    assert done.returncode == status, done.stderr
    return json.loads(done.stdout)["processes"][0]


def by_name(process):
    return {thread["name"]: thread for thread in process["threads"]}


def take_core(pid, folder):
    """What gcore writes of a process, which goes on."""
    done = subprocess.run(["gcore", "-o", f"{folder}/core", str(pid)], check=True,
                          capture_output=True, text=True, timeout=PATIENCE)
    # Where the C library has its guard pages inside of the stacks' mappings.
    if re.search(r"Memory read failed for corefile section, \d{7,} bytes", done.stderr):
        pytest.skip("this gdb leaves out the stacks of threads of a new C library")
    return f"{folder}/core.{pid}"


def await_sleep(pid):
    calm = 0
    while calm < 3:
        time.sleep(0.01)
        with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
            asleep = file.read().rpartition(")")[2].split()[0] == "S"
        calm = calm + 1 if asleep else 0


def kill_for_core(program, folder):
    """What the kernel writes of a process that is aborted from outside."""
    above = os.readlink(f"/proc/{program.pid}/cwd")
    before = set(os.listdir(above))
    resource.prlimit(program.pid, resource.RLIMIT_CORE, (-1, -1))
    program.process.send_signal(signal.SIGABRT)
    program.process.wait(PATIENCE)
    [new] = [name for name in set(os.listdir(above)) - before if name.startswith("core")]
    return shutil.move(f"{above}/{new}", f"{folder}/of-kernel")


@pytest.fixture
def crash(programs):
    """crash(python, how): the core file that the kernel wrote, and the pid."""
    folders = []

    def crasher(python, how):
        folders.append(tempfile.mkdtemp(prefix="pyrometer-core.", dir=python.root + "/tmp"))
        inside = folders[-1][len(python.root):]
        process = subprocess.Popen(programs.command(python, "crash.py", inside, how))
        assert process.wait(PATIENCE) < 0
        [core] = os.listdir(folders[-1])
        return f"{folders[-1]}/{core}", process.pid

    yield crasher
    for folder in folders:
        shutil.rmtree(folder)


@KERNEL
def test_a_program_that_aborted(python, crash):
    core, pid = crash(python, "abort")
    process = dump(core, "--locals", *(["--root", python.root] if python.root else []))
    found = by_name(process)
    assert process["pid"] == pid and "crash.py" in process["command"]
    assert process["command"].endswith(" abort")
    assert process["python"].startswith(python.version.rstrip("td") + ".")
    assert process["core"] == {"path": core, "signal": "SIGABRT", "address": 0, "notes": []}
    assert set(found) == {"MainThread", "waits", "spins"}
    main = found["MainThread"]
    assert main["tid"] == pid and main["main"] and main["culprit"]
    assert names_of(main)[-2:] == ["fatal", "<module>"]
    assert main["gil"] == (None if "t" in python.version else "holds")
    fatal = main["frames"][-2]
    assert [row["value"] for row in fatal["locals"]] == ["'abort'", "42"]
    assert "wait_for" in names_of(found["waits"]) and not found["waits"]["culprit"]
    assert names_of(found["spins"])[0] == "spin"
    assert len({thread["tid"] for thread in process["threads"]}) == 3


@KERNEL
def test_who_holds_the_gil_and_who_waits_for_it(python, crash):
    if "t" in python.version:
        pytest.skip("it has no GIL")
    core, _ = crash(python, "hold")
    process = dump(core, *(["--root", python.root] if python.root else []))
    threads = {thread["name"]: (thread["gil"], thread["call"]) for thread in process["threads"]}
    assert threads == {"MainThread": ("holds", "sleep"), "spins": ("waits", "futex"),
                       "waits": (None, "futex")}


@KERNEL
def test_native_frames(python, crash):
    """Where in C it ended, above the Python that called it."""
    core, _ = crash(python, "abort")
    process = dump(core, "--native", *(["--root", python.root] if python.root else []))
    main = by_name(process)["MainThread"]
    names = names_of(main)
    assert names.index("abort") < names.index("fatal") < names.index("<module>"), names
    frame = main["frames"][names.index("abort")]
    assert "libc" in frame["module"] and main["frames"][names.index("fatal")]["module"] is None
    waits = by_name(process)["waits"]
    assert waits["frames"][0]["function"] == "<waiting: futex>"
    assert [frame["function"] for frame in waits["frames"] if frame["module"] is None] == \
        [frame["function"] for frame in by_name(dump(core, *(
            ["--root", python.root] if python.root else [])))["waits"]["frames"]]


@KERNEL
@SYSTEM
def test_a_fault_tells_its_address(python, crash):
    core, pid = crash(python, "segv")
    process = dump(core)
    assert process["core"]["signal"] == "SIGSEGV" and process["core"]["address"] == 0x666
    text = pyrometer("dump", core).stdout
    assert f"Core file of process {pid}: " in text
    assert "ended by SIGSEGV at address 0x666" in text
    assert re.search(rf'Thread {pid} "MainThread" · got SIGSEGV · holds the GIL', text) \
        or re.search(rf'Thread {pid} "MainThread" · got SIGSEGV', text)


@pytest.mark.parametrize("how", [pytest.param("gcore", marks=GCORE),
                                 pytest.param("abort", marks=KERNEL)])
def test_agrees_with_what_the_program_says(python, start, tmp_path, how):
    program = start(python, "tells.py", cwd=tmp_path)
    told = json.loads(program.said.partition(" ")[2])
    await_sleep(program.pid)
    tids = set(map(int, os.listdir(f"/proc/{program.pid}/task")))
    if how == "gcore":  # which sees files as we do
        process = dump(take_core(program.pid, tmp_path), "--locals", "--all")
    else:
        process = dump(kill_for_core(program, tmp_path), "--locals", "--all",
                       *(["--root", python.root] if python.root else []))
    assert process["pid"] == program.pid and process["core"]["notes"] == []
    found = by_name(process)
    main = found.pop("MainThread")
    assert main["tid"] == program.pid and main["call"] == "read" and names_of(main) == ["<module>"]
    stacks = {name: [[frame["function"], frame["file"], frame["line"]]
                     for frame in thread["frames"]] for name, thread in found.items()}
    assert stacks == {name.encode()[:63].decode(errors="ignore"): stack
                      for name, stack in told["threads"].items()}
    for name, ident in told["idents"].items():
        assert found[name.encode()[:63].decode(errors="ignore")]["ident"] == ident
    assert {thread["tid"] for thread in found.values()} | {program.pid} == tids
    frame = next(frame for frame in found["variables"]["frames"]
                 if frame["function"] == "variables")
    values = {row["name"]: row["value"] for row in frame["locals"]}
    assert {name: values[name] for name in told["values"]} == told["values"]


# ---- files that are missing, replaced, cut off, foreign ----

@pytest.fixture
def copied(tmp_path):
    """A core file of a Python that was copied, and the copy."""
    binary = shutil.copy(os.path.realpath("/usr/bin/python3"), tmp_path / "python3")
    program = Started([binary, "-c", "import sys; print('ready', flush=True); sys.stdin.read()"])
    yield take_core(program.pid, tmp_path), tmp_path / "python3"
    program.close()


def refused(done, status, *words):
    return (done.returncode == status and done.stderr.count("\n") == 1
            and not done.stdout and all(word in done.stderr for word in words))


@GCORE
def test_the_executable_is_missing_or_another_one(copied, tmp_path):
    core, binary = copied
    assert pyrometer("dump", core).returncode == 0
    os.rename(binary, tmp_path / "kept")
    assert refused(pyrometer("dump", core), 11, str(binary), "missing", "--root")
    shutil.copy(os.path.realpath("/bin/sh"), binary)
    assert refused(pyrometer("dump", core), 11, str(binary), "another build")
    root = tmp_path / "root"
    os.makedirs(f"{root}{tmp_path}")
    os.rename(tmp_path / "kept", f"{root}{binary}")
    assert dump(core, "--root", root)["exe"] == str(binary)


@GCORE
def test_what_is_there_of_a_core_file_that_is_cut_off(copied, tmp_path):
    core, _ = copied
    size = os.path.getsize(core)
    shown = 0
    for share in range(1, 20):
        path = tmp_path / "cut"
        shutil.copy(core, path)
        os.truncate(path, size * share // 20)
        done = pyrometer("dump", path)
        assert done.returncode in (8, 7) and done.stderr.count("\n") == 1, done.stderr
        assert "cut off" in done.stderr
        shown += bool(done.stdout)
    os.truncate(path, 100)
    assert refused(pyrometer("dump", path), 8, "cut off")


def test_no_core_files(tmp_path):
    text = tmp_path / "text"
    text.write_text("no core file")
    (tmp_path / "empty").touch()
    os.mkfifo(tmp_path / "fifo")
    for path, status, word in ((text, 8, "no core file"), (tmp_path / "empty", 8, "no core file"),
                               (tmp_path, 8, "no file"), (tmp_path / "fifo", 8, "no file"),
                               (sys.executable, 8, "program"), ("/dev/null", 8, "no file"),
                               (tmp_path / "none", 2, "no process id")):
        assert refused(pyrometer("dump", path), status, str(path), word), path


def test_a_core_file_of_no_python(tmp_path):
    subprocess.run([MAKE_CORE, os.path.realpath("/bin/sh"), tmp_path / "core"], check=True)
    assert refused(pyrometer("dump", tmp_path / "core"), 4, "does not run Python")


def test_hostile_core_files(tmp_path):
    """Every 32 bits of the headers and notes as large as can be."""
    path = tmp_path / "core"
    subprocess.run([MAKE_CORE, os.path.realpath("/bin/sh"), path], check=True)
    good = path.read_bytes()
    end = time.monotonic() + 20
    for at in range(24, 2600, 4):
        path.write_bytes(good[:at] + b"\xff" * 4 + good[at + 4:])
        done = pyrometer("dump", path)
        assert 0 < done.returncode < 13 and done.stderr.count("\n") == 1, (at, done.stderr)
        if time.monotonic() > end:
            break


@GCORE
@SYSTEM
def test_several_at_once(python, start, tmp_path):
    program = start(python, "busy.py")
    core = take_core(program.pid, tmp_path)
    done = pyrometer("dump", "--json", core, program.pid)
    processes = json.loads(done.stdout)["processes"]
    assert [process["pid"] for process in processes] == [program.pid] * 2
    assert processes[0]["core"]["path"] == core and processes[1]["core"] is None
