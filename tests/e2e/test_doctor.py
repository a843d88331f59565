"""doctor says what is so: as root, as nobody, in a sandbox, and of a process."""
import ctypes
import json
import os
import platform
import struct
import subprocess

import pytest

from watch import AS_ROOT, NOBODY, PYROMETER, pyrometer

VERDICTS = {"fine", "lacking", "fatal"}


def examine(*arguments, command=(PYROMETER,), **options):
    done = subprocess.run([*command, "doctor", "--json", *map(str, arguments)],
                          capture_output=True, text=True, timeout=60, **options)
    assert not done.stderr
    return done.returncode, json.loads(done.stdout)


def by_name(findings):
    return {finding["what"]: finding for finding in findings}


def test_this_machine():
    status, told = examine()
    machine = by_name(told["machine"])
    assert told["processes"] == []
    assert {finding["verdict"] for finding in told["machine"]} <= VERDICTS
    assert status == (5 if "fatal" in {row["verdict"] for row in told["machine"]} else 0)
    assert machine["reading a child's memory"]["verdict"] == "fine"
    assert platform.release() in machine["kernel"]["fact"]
    paranoid = open("/proc/sys/kernel/perf_event_paranoid", encoding="ascii").read().strip()
    assert f"perf_event_paranoid is {paranoid}" in machine["perf events"]["fact"]
    assert f"of {os.sysconf('SC_NPROCESSORS_ONLN')} cores" in machine["choosing the core"]["fact"]


def test_text_tells_the_same():
    _, told = examine()
    text = pyrometer("doctor").stdout
    for finding in told["machine"]:
        assert finding["what"] in text and finding["fact"] in text
        assert finding["remedy"] in text


@pytest.mark.parametrize("width", [40, 60, 80])
def test_nothing_is_cut_on_a_narrow_screen(width):
    """It goes on in the next line, below its beginning."""
    text = pyrometer("doctor", env={**os.environ, "COLUMNS": str(width)}).stdout
    words = " ".join(text.split())
    for finding in examine()[1]["machine"]:
        assert " ".join(finding["what"].split()) in words
        if finding["purpose"]:
            assert f"(for {finding['purpose']})" in words
    lines = [line for line in text.splitlines()[1:] if "to permit it" not in line]
    assert all(len(line) <= width and line.startswith("  ") for line in lines)


@AS_ROOT
def test_root_lacks_nothing_that_is_needed():
    status, told = examine()
    assert status == 0
    assert by_name(told["machine"])["attaching to those of others"]["verdict"] == "fine"


@AS_ROOT
def test_nobody(public):
    status, told = examine(command=[*NOBODY, public / "pyrometer"])
    others = by_name(told["machine"])["attaching to those of others"]
    assert status == 0 or "ptrace_scope" in json.dumps(told)
    assert others["verdict"] == "lacking"
    assert "nobody" in others["fact"] and "CAP_SYS_PTRACE" in others["fact"]
    assert "ptrace" in others["remedy"].lower()


def findings_of(told):
    return by_name(told["processes"][0]["findings"])


def test_a_process(python, start):
    program = start(python, "sleeper.py")
    status, told = examine(program.pid)
    assert status == 0 and told["processes"][0]["works"]
    found = findings_of(told)
    assert str(program.pid) in found["process"]["fact"]
    assert "sleeper.py" in found["process"]["fact"]
    fact = found["Python"]["fact"]
    assert fact.startswith(python.version.rstrip("td") + ".")
    assert ("free-threading" in fact) == ("t" in python.version)
    with open(f"/proc/{program.pid}/maps", encoding="utf-8") as maps:
        shared = "/libpython" in maps.read()
    assert ("a shared library" if shared else "the executable") in fact
    assert f"root {python.root or '/'};" in found["surroundings"]["fact"]
    assert "1 of 1 threads read and proven" in found["stacks"]["fact"]
    assert found["native stacks"]["verdict"] in ("fine", "lacking")


@AS_ROOT
@pytest.mark.versions("3.8", "3.12", "3.15")
def test_a_process_of_another_user(python, start, public):
    program = start(python, "sleeper.py")
    status, told = examine(program.pid, command=[*NOBODY, public / "pyrometer"])
    found = findings_of(told)
    assert status == 5 and not told["processes"][0]["works"]
    assert found["Python"]["verdict"] == "fatal"
    assert "root" in found["Python"]["fact"] and "nobody" in found["Python"]["fact"]
    assert found["Python"]["remedy"] and "stacks" not in found


@AS_ROOT
def test_a_process_of_ones_own(public):
    process = subprocess.Popen(NOBODY + ["/usr/bin/python3", "-c", "print(1, flush=True); input()"],
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    process.stdout.readline()
    try:
        status, told = examine(process.pid, command=[*NOBODY, public / "pyrometer"])
        assert status == 0 or "ptrace_scope" in findings_of(told)["Python"]["fact"]
    finally:
        process.communicate()


@AS_ROOT
def test_a_process_that_protects_itself(public):
    """One of the same user, whose memory is closed all the same."""
    code = "import ctypes; ctypes.CDLL(None).prctl(4, 0); print(1, flush=True); input()"
    process = subprocess.Popen(NOBODY + ["/usr/bin/python3", "-c", code],
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    process.stdout.readline()
    try:
        status, told = examine(process.pid, command=[*NOBODY, public / "pyrometer"])
        assert status == 5
        assert "protected" in findings_of(told)["Python"]["fact"] or \
            "ptrace_scope" in findings_of(told)["Python"]["fact"]
    finally:
        process.communicate()


def test_processes_that_cannot_be_watched():
    ended = subprocess.Popen(["true"])
    ended.wait()
    status, told = examine(ended.pid)
    assert status == 3 and f"no process {ended.pid}" in findings_of(told)["process"]["fact"]
    asleep = subprocess.Popen(["sleep", "60"])
    try:
        status, told = examine(asleep.pid)
        assert status == 4 and "does not run Python" in findings_of(told)["Python"]["fact"]
    finally:
        asleep.kill()
        asleep.wait()
    assert pyrometer("doctor", "12x").returncode == 2


@AS_ROOT
@pytest.mark.versions("3.13")
def test_another_pid_namespace(python, programs):
    process = subprocess.Popen(
        ["unshare", "--pid", "--fork", "--kill-child", *programs.command(python, "sleeper.py")],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout.readline().startswith("ready")
        with open(f"/proc/{process.pid}/task/{process.pid}/children", encoding="ascii") as file:
            pid = int(file.read())
        status, told = examine(pid)
        assert status == 0
        assert "in a namespace where its id is 1" in findings_of(told)["surroundings"]["fact"]
    finally:
        process.kill()
        process.communicate()


@AS_ROOT
def test_hidden_processes():
    script = f"mount -t proc -o hidepid=2 proc /proc && exec {PYROMETER} doctor --json"
    done = subprocess.run(["unshare", "--mount", "sh", "-c", script], capture_output=True, text=True)
    seeing = by_name(json.loads(done.stdout)["machine"])["seeing all processes"]
    assert seeing["verdict"] == "lacking" and "hidepid" in seeing["fact"]
    assert seeing["remedy"] == "sudo mount -o remount,hidepid=0 /proc"


def forbid(number):
    """A seccomp filter that answers EPERM to one system call."""
    load, equal, answer = 0x20, 0x15, 0x06
    rules = [(load, 0, 0, 0), (equal, 0, 1, number),
             (answer, 0, 0, 0x00050000 | 1), (answer, 0, 0, 0x7fff0000)]
    code = b"".join(struct.pack("HBBI", *rule) for rule in rules)
    buffer = ctypes.create_string_buffer(code)
    program = struct.pack("HxxxxxxQ", len(rules), ctypes.addressof(buffer))
    libc = ctypes.CDLL(None, use_errno=True)
    no_new_privileges, set_seccomp, with_filter = 38, 22, 2
    assert libc.prctl(no_new_privileges, 1, 0, 0, 0) == 0
    assert libc.prctl(set_seccomp, with_filter, program, 0, 0) == 0


@pytest.mark.skipif(platform.machine() != "x86_64", reason="numbers of system calls are x86-64's")
@pytest.mark.versions("3.12")
def test_seccomp_filter(python, start):
    """Without process_vm_readv things work through /proc/PID/mem."""
    process_vm_readv, perf_event_open = 310, 298
    program = start(python, "sleeper.py")

    def sandbox():
        forbid(process_vm_readv)
        forbid(perf_event_open)

    status, told = examine(program.pid, preexec_fn=sandbox)
    machine = by_name(told["machine"])
    assert status == 0 and told["processes"][0]["works"]
    assert machine["vectored reads"]["verdict"] == "lacking"
    assert machine["perf events"]["verdict"] == "lacking"
    reading = machine["reading a child's memory"]
    assert reading["verdict"] == "fine"
    assert "/proc/PID/mem: works" in reading["fact"] and "seccomp" in reading["fact"]
    dumped = pyrometer("dump", program.pid, preexec_fn=sandbox)
    assert dumped.returncode == 0 and "nap" in dumped.stdout


@pytest.mark.skipif(platform.machine() != "x86_64", reason="numbers of system calls are x86-64's")
@pytest.mark.versions("3.12")
def test_ways_to_native_stacks(python, start):
    """The best that is permitted, by what is really tried."""
    perf_event_open, ptrace = 298, 101
    program = start(python, "sleeper.py")
    denied = {"nothing": (), "perf": (perf_event_open,), "both": (perf_event_open, ptrace)}
    native, machine = {}, {}
    for name, numbers in denied.items():
        _, told = examine(program.pid,
                          preexec_fn=lambda numbers=numbers: [forbid(n) for n in numbers])
        machine[name] = by_name(told["machine"])
        native[name] = findings_of(told)["native stacks"]
    assert machine["perf"]["perf events at switches"]["verdict"] == "lacking"
    assert "seccomp" in machine["perf"]["perf events"]["fact"]
    assert machine["perf"]["perf events"]["remedy"]
    assert machine["perf"]["stopping one thread"]["verdict"] == "fine"
    assert native["perf"]["verdict"] == "fine" and "stopping" in native["perf"]["fact"]
    assert machine["both"]["stopping one thread"]["verdict"] == "lacking"
    assert native["both"]["verdict"] == "lacking" and "Python alone" in native["both"]["fact"]
    if os.getuid() == 0 and machine["nothing"]["perf events at switches"]["verdict"] == "fine":
        assert native["nothing"]["fact"] == "registers at context switches"


@AS_ROOT
def test_nobody_and_perf_events(public):
    _, told = examine(command=[*NOBODY, public / "pyrometer"])
    machine = by_name(told["machine"])
    with open("/proc/sys/kernel/perf_event_paranoid", encoding="ascii") as file:
        level = int(file.read())
    switches = machine["perf events at switches"]
    assert (switches["verdict"] == "fine") == (level <= 1)
    assert (machine["perf events"]["verdict"] == "fine") == (level <= 2)
    if level > 1:
        assert "perf" in switches["remedy"].lower()
    programs = machine["BPF programs"]
    assert programs["verdict"] == "lacking" and "bpf" in programs["remedy"].lower()
