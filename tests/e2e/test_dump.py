"""dump against what the program says of itself, on every Python."""
import json
import os
import re
import subprocess
import textwrap
import time

import pytest

from watch import AS_ROOT, NOBODY, pyrometer

WIDE = {name: value for name, value in os.environ.items() if name != "COLUMNS"}
CONTROLS = re.compile(r"[\x00-\x09\x0b-\x1f\x7f\x80-\x9f]")


def dump(pid, *options):
    done = pyrometer("dump", "--json", *options, pid)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)["processes"][0]


def threads_by_name(process):
    return {thread["name"]: thread for thread in process["threads"]}


def stack_of(thread):
    return [[frame["function"], frame["file"], frame["line"]] for frame in thread["frames"]]


def names_of(thread):
    return [frame["function"].rpartition(".")[2] for frame in thread["frames"]]


def is_asleep(pid):
    for task in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{task}/stat", encoding="utf-8") as file:
            if file.read().rpartition(")")[2].split()[0] != "S":
                return False
    return True


@pytest.fixture
def tells(python, start):
    """Has told its stacks, and all of it sleeps."""
    program = start(python, "tells.py")
    program.told = json.loads(program.said.partition(" ")[2])
    calm = 0
    while calm < 3:
        time.sleep(0.01)
        calm = calm + 1 if is_asleep(program.pid) else 0
    return program


def shown_name(name):
    """Names are cut to 63 bytes."""
    return name.encode()[:63].decode(errors="ignore")


def test_stacks_and_names(python, tells):
    process = dump(tells.pid)
    found = threads_by_name(process)
    assert process["pid"] == tells.pid and "tells.py" in process["command"]
    assert process["python"].startswith(python.version.rstrip("td") + ".")
    assert process["free_threaded"] == ("t" in python.version)
    assert len(found) == len(process["threads"])
    main = found.pop("MainThread")
    assert main["main"] and main["tid"] == tells.pid and names_of(main) == ["<module>"]
    assert stack_of(main)[0][2] == line_of("tells.py", "os.read(0, 1)")
    assert {name: stack_of(thread) for name, thread in found.items()} == {
        shown_name(name): stack for name, stack in tells.told["threads"].items()}
    for name, ident in tells.told["idents"].items():
        assert found[shown_name(name)]["ident"] == ident


def line_of(program, text):
    path = os.path.join(os.path.dirname(__file__), "programs", program)
    with open(path, encoding="utf-8") as file:
        return next(i for i, line in enumerate(file, 1) if text in line)


def test_states_of_a_sleeping_program(tells):
    process = dump(tells.pid)
    tids = [thread["tid"] for thread in process["threads"]]
    assert sorted(tids) == sorted(map(int, os.listdir(f"/proc/{tells.pid}/task")))
    for thread in process["threads"]:
        assert thread["state"] == "sleeping" and thread["gil"] is None
        assert not any(thread[key] for key in
                       ("attached", "collecting", "torn", "unreadable", "truncated"))
        assert thread["depth"] == len(thread["frames"]) == thread["cut"]


def test_text(tells):
    text = pyrometer("dump", tells.pid, env=WIDE).stdout
    paragraphs = text.split("\n\n")
    assert paragraphs[0].startswith(f"Process {tells.pid}: ")
    assert "innermost call first" in paragraphs[0]
    shown = {}
    for paragraph in paragraphs[1:]:
        head, *frames = paragraph.strip("\n").split("\n")
        name = re.match(r'Thread \d+ "(.*)" · sleeping$', head).group(1)
        shown[name] = frames
    for name, stack in tells.told["threads"].items():
        assert shown[shown_name(name)] == [f"    {function} ({file}:{line})"
                                           for function, file, line in stack]


def test_locals(tells):
    thread = threads_by_name(dump(tells.pid, "--locals"))["variables"]
    frame = next(frame for frame in thread["frames"] if frame["function"] == "variables")
    found = {row["name"]: row["value"] for row in frame["locals"]}
    arguments = [row["name"] for row in frame["locals"] if row["argument"]]
    assert arguments == ["first", "second", "rest", "named"]
    assert [found[name] for name in arguments] == ["1", "3", "('more',)", "{'word': 'x'}"]
    for name, value in tells.told["values"].items():
        assert found[name] == value, name
    assert found["plain"].startswith("<Plain at 0x")
    assert found["long"].startswith("'xxx") and len(found["long"]) < 400
    assert found["many"].startswith("[0, 1, 2, ") and len(found["many"]) < 400
    assert found["gone"] is None
    assert found["shared"].startswith("[1, 'xxx")  # through its cell
    assert not any(frame["moved"] for frame in thread["frames"])


def test_locals_as_text_cannot_move_the_cursor(tells):
    text = pyrometer("dump", "--locals", tells.pid, env=WIDE).stdout
    assert not CONTROLS.search(text)
    assert "\n      arg first = 1\n" in text and "\n          small = 7\n" in text
    assert "\n          gone is unbound\n" in text
    bad = tells.told["values"]["bad"]
    assert f"\n          bad = {bad}\n" in text


def test_width(tells):
    done = pyrometer("dump", "--locals", "--color=never", tells.pid,
                     env={**os.environ, "COLUMNS": "60"})
    lines = done.stdout.splitlines()
    assert max(map(len, lines)) <= 60 and any("…" in line for line in lines)
    assert not CONTROLS.search(done.stdout)


def test_holder_of_the_gil(python, start):
    """It is in C and keeps the GIL; the others wait, and try every 5 ms."""
    program = start(python, "gil.py")
    if "t" in python.version:
        for thread in dump(program.pid)["threads"]:
            assert thread["gil"] is None
        return
    waiting = set()
    for _ in range(50):
        found = threads_by_name(dump(program.pid))
        assert found["MainThread"]["gil"] == "holds"
        assert found["MainThread"]["attached"]
        assert names_of(found["MainThread"]) == ["keep", "<module>"]
        for name in ("wants-0", "wants-1"):
            assert found[name]["gil"] in ("waits", None)
            waiting.update([name] if found[name]["gil"] == "waits" else [])
        if len(waiting) == 2:
            return
    pytest.fail(f"only {waiting} seen waiting")


def test_collecting_garbage(python, start):
    if python.version in ("2.7", "3.6"):
        pytest.skip(f"{python.version}: keeps to itself whether it collects")
    program = start(python, "collect.py")
    found = [dump(program.pid)["threads"] for _ in range(30)]
    assert any(thread["collecting"] for threads in found for thread in threads)


def test_code_that_never_stands_still(python, start):
    """Whatever is shown is a stack that can be; what is missing is marked."""
    program = start(python, "switches.py")
    whole = ["<module>", "drive", "outer", "middle", "inmost"]
    depths = set()
    for _ in range(25):
        thread = dump(program.pid)["threads"][0]
        names = names_of(thread)[::-1]
        assert names == whole[:len(names)]
        assert len(names) > 1 or thread["torn"]
        depths.add(len(names))
    assert len(depths) > 1


def test_no_frame_of_the_interpreters_own(python, start):
    thread = dump(start(python, "born.py").pid)["threads"][0]
    assert names_of(thread) == ["__init__", "bear", "<module>"] and thread["depth"] == 3


def test_deep_recursion(python, start):
    program = start(python, "sunk.py", 20000)
    thread = max(dump(program.pid)["threads"], key=lambda thread: thread["depth"])
    assert thread["depth"] > 20000 and thread["cut"] == 50 and len(thread["frames"]) == 100
    whole = max(dump(program.pid, "--all")["threads"], key=lambda thread: thread["depth"])
    assert len(whole["frames"]) == whole["depth"] == thread["depth"]
    assert stack_of(whole)[:50] == stack_of(thread)[:50]
    assert stack_of(whole)[-50:] == stack_of(thread)[-50:]
    text = pyrometer("dump", program.pid).stdout
    assert f"... {thread['depth'] - 100:,} calls left out (--all shows them) ..." in text
    assert "left out" not in pyrometer("dump", "--all", program.pid).stdout


def refused(done, status, *words):
    return (done.returncode == status and done.stderr.count("\n") == 1
            and not done.stdout and all(word in done.stderr for word in words))


@pytest.fixture
def sleeping():
    process = subprocess.Popen(["sleep", "60"])
    yield process.pid
    process.kill()
    process.wait()


def test_wrong_process_ids(sleeping):
    ended = subprocess.Popen(["true"])
    ended.wait()
    assert refused(pyrometer("dump", ended.pid), 3, str(ended.pid))
    assert refused(pyrometer("dump", sleeping), 4, str(sleeping), "Python")
    assert refused(pyrometer("dump", "12x"), 2, "'12x'")
    assert refused(pyrometer("dump"), 2, "usage")


@pytest.mark.versions("3.12")
def test_several_processes(python, start, sleeping):
    pids = [start(python, "switches.py").pid for _ in range(2)]
    done = pyrometer("dump", "--json", pids[0], sleeping, pids[1])
    assert done.returncode == 4 and str(sleeping) in done.stderr
    assert [process["pid"] for process in json.loads(done.stdout)["processes"]] == pids


def test_a_version_never_seen(tmp_path):
    source = tmp_path / "future.c"
    source.write_text(textwrap.dedent("""
        #include <unistd.h>
        unsigned long Py_Version = 0x036300f0;
        char _PyRuntime[65536] = { 1 };
        int main(void) { return write(1, "ready\\n", 6) == 6 && pause(); }
    """))
    program = tmp_path / "future"
    subprocess.run(["cc", "-rdynamic", "-o", program, source], check=True)
    process = subprocess.Popen([program], stdout=subprocess.PIPE)
    process.stdout.readline()
    try:
        assert refused(pyrometer("dump", process.pid), 6, "3.99", "does not know")
    finally:
        process.kill()
        process.communicate()


@AS_ROOT
@pytest.mark.versions("3.8", "3.12", "3.15")
def test_permission_denied(python, start, public):
    program = start(python, "switches.py")
    done = subprocess.run([*NOBODY, public / "pyrometer", "dump", str(program.pid)],
                          capture_output=True, text=True)
    assert refused(done, 5, str(program.pid), "permission", "doctor")
    assert program.process.poll() is None


@AS_ROOT
@pytest.mark.versions("3.8", "3.13", "3.15")
def test_another_pid_namespace(python, programs):
    """Thread ids are ours, not those that the process sees."""
    process = subprocess.Popen(
        ["unshare", "--pid", "--fork", "--kill-child", *programs.command(python, "tells.py")],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout.readline().startswith("ready")
        children = f"/proc/{process.pid}/task/{process.pid}/children"
        with open(children, encoding="ascii") as file:
            pid = int(file.read())
        tids = [thread["tid"] for thread in dump(pid)["threads"]]
        assert sorted(tids) == sorted(map(int, os.listdir(f"/proc/{pid}/task")))
        assert {"MainThread", "subclass"} <= set(threads_by_name(dump(pid)))
    finally:
        process.kill()
        process.communicate()
