"""pyrometer attach: a running program is recorded and not disturbed."""
import os
import signal
import subprocess
import time

import pytest

from watch import PATIENCE, PYROMETER, Recording, pyrometer

STACK = ("<module>", "main", "outer", "middle", "spin")
SOME = pytest.mark.versions("3.8", "3.12", "3.15")
ONE = pytest.mark.versions("3.12")  # where it does not matter which


def attaching(path, *arguments, **options):
    """attach in the background, as soon as it has begun to write."""
    process = subprocess.Popen([PYROMETER, "attach", "-q", "-o", path, *map(str, arguments)],
                               stderr=subprocess.PIPE, text=True, **options)
    until = time.monotonic() + PATIENCE
    while not (path.exists() and path.stat().st_size) and time.monotonic() < until:
        assert process.poll() is None, process.stderr.read()
        time.sleep(0.01)
    return process


def state_of(pid):
    with open(f"/proc/{pid}/stat") as stat:
        return stat.read().rpartition(") ")[2][0]


def test_every_python_can_be_attached_to(python, start, attach):
    program = start(python, "busy.py")
    recording = attach("-d", "0.4s", program.pid)
    info = recording.info()
    assert info["complete"] and info["ticks"] > 100
    # One thread works in this stack at every tick; the other one listens.
    assert recording.samples_with(*STACK) > 0.98 * info["ticks"]
    assert program.wait() == 0


@SOME
def test_several_processes(python, start, attach):
    first, second = start(python, "busy.py"), start(python, "sleeper.py")
    recording = attach("-d", "0.4s", first.pid, second.pid)
    assert [pid for pid, _, _ in recording.processes()] == [first.pid, second.pid]
    assert recording.samples_with(*STACK) > 50
    assert recording.samples_with("<module>", "doze", "nap") > 50
    tops = {thread["pid"]: thread["top"]["name"] for thread in recording.threads()
            if thread["main"]}
    assert tops == {first.pid: "spin", second.pid: "nap"}


@ONE
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_signal_ends_the_recording_not_the_program(python, start, tmp_path, number):
    program = start(python, "busy.py")
    process = attaching(tmp_path / "a.pyro", program.pid)
    time.sleep(0.2)
    process.send_signal(number)
    _, said = process.communicate(timeout=PATIENCE)
    assert (process.returncode, said) == (0, "")
    recording = Recording(tmp_path / "a.pyro")
    assert recording.info()["complete"] and recording.samples_with(*STACK) > 50
    assert program.wait() == 0


@SOME
def test_program_that_ends(python, start, tmp_path):
    program = start(python, "busy.py")
    process = attaching(tmp_path / "a.pyro", program.pid)
    time.sleep(0.2)
    assert program.wait() == 0
    assert process.wait(PATIENCE) == 0
    recording = Recording(tmp_path / "a.pyro")
    assert recording.info()["complete"] and recording.samples_with(*STACK) > 50


@SOME
def test_program_that_is_killed(python, start, tmp_path):
    program = start(python, "busy.py")
    process = attaching(tmp_path / "a.pyro", program.pid)
    time.sleep(0.2)
    program.process.kill()  # and is a zombie until the test waits for it
    assert process.wait(PATIENCE) == 0
    assert Recording(tmp_path / "a.pyro").info()["complete"]


def test_stopped_program(python, start, attach):
    program = start(python, "busy.py")
    time.sleep(0.1)  # from "ready" to spin()
    os.kill(program.pid, signal.SIGSTOP)
    while state_of(program.pid) != "T":
        time.sleep(0.01)
    recording = attach("-d", "0.3s", program.pid)
    assert state_of(program.pid) == "T"
    assert recording.samples_with(*STACK) > 50
    assert sum(thread["on_cpu"] for thread in recording.threads()) == 0
    os.kill(program.pid, signal.SIGCONT)
    assert program.wait() == 0


@SOME
def test_program_that_stops_and_goes_on(python, start, tmp_path):
    program = start(python, "busy.py")
    process = attaching(tmp_path / "a.pyro", program.pid)
    time.sleep(0.3)
    os.kill(program.pid, signal.SIGSTOP)
    time.sleep(0.3)
    os.kill(program.pid, signal.SIGCONT)
    time.sleep(0.3)
    assert program.wait() == 0
    assert process.wait(PATIENCE) == 0
    thread = next(t for t in Recording(tmp_path / "a.pyro").threads() if t["main"])
    assert 0.2 < 1 - thread["on_cpu"] / thread["samples"] < 0.6


@SOME
def test_exec_of_another_python(python, start, attach, programs):
    then = programs.command(python, "busy.py", 0.5)[-3:]
    program = start(python, "becomes.py", *then)
    recording = attach(program.pid)
    assert recording.samples_with("<module>", "before") > 100
    assert recording.samples_with(*STACK) > 100
    assert [pid for pid, _, _ in recording.processes()] == [program.pid] * 2
    for names, count in recording.names().items():
        assert not {"before", "spin"} <= set(names), (names, count)


@SOME
def test_exec_of_another_program(python, start, attach):
    program = start(python, "becomes.py", "/bin/sleep", "0.3")
    recording = attach(program.pid)
    assert recording.samples_with("<module>", "before") > 100
    # It is in the module itself when it calls exec.
    assert set(recording.names()) <= {("<module>", "before"), ("<module>",)}
    assert program.wait() == 0


@ONE
def test_to_a_pipe(python, start, tmp_path):
    program = start(python, "busy.py")
    done = pyrometer("attach", "-o", "-", "-d", "0.3s", program.pid, text=False)
    assert done.returncode == 0 and not done.stderr
    (tmp_path / "piped.pyro").write_bytes(done.stdout)
    recording = Recording(tmp_path / "piped.pyro")
    assert recording.info()["complete"] and recording.samples_with(*STACK) > 50


@ONE
def test_reader_of_the_pipe_goes_away(python, start):
    program = start(python, "busy.py")
    process = subprocess.Popen([PYROMETER, "attach", "-r", "max", "-o", "-", str(program.pid)],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    process.stdout.close()
    said = process.stderr.read()
    assert process.wait(PATIENCE) == 9 and said.count("\n") == 1
    assert program.wait() == 0


@ONE
def test_default_name(python, start, tmp_path):
    program = start(python, "busy.py")
    done = pyrometer("attach", "-d", "0.2s", program.pid, cwd=tmp_path)
    assert done.returncode == 0
    assert [path.name for path in tmp_path.iterdir()] == [f"python-{program.pid}.pyro"]
    assert f"wrote python-{program.pid}.pyro" in done.stderr and "spin" in done.stderr


@ONE
@pytest.mark.parametrize("mode, kept", [("cpu", "spin"), ("gil", "spin"), ("wall", "listen")])
def test_modes_make_the_recording_smaller(python, start, attach, mode, kept):
    program = start(python, "busy.py")
    recording = attach("-d", "0.3s", "--mode", mode, program.pid)
    assert {names[-1] for names in recording.names() if "spin" in names} == {"spin"}
    assert (recording.samples_with("listen") > 0) == (kept == "listen")


@ONE
@pytest.mark.parametrize("ride", ["always", "wake", "never"])
def test_riding_is_a_choice(python, start, attach, ride):
    program = start(python, "fib.py", "--seconds", 20)
    info = attach("-d", "0.4s", "--ride", ride, program.pid).info()
    assert (info["ridden"] > info["samples"] / 2) == (ride != "never")


@SOME
def test_the_end_does_not_wait_for_the_next_sample(python, programs, start, attach, tmp_path):
    """At a sample in a hundred seconds, that would be longer than these wait."""
    done = pyrometer("run", "-q", "-r", "0.01", "-o", tmp_path / "a.pyro", "--",
                     *programs.command(python, "busy.py", 0.2))
    assert done.returncode == 0 and Recording(tmp_path / "a.pyro").info()["complete"]
    assert attach("-r", "0.01", "-d", "0.2s", start(python, "busy.py").pid).info()["complete"]


@ONE
@pytest.mark.parametrize("rate, hertz", [("100", 100), ("2khz", 2000)])
def test_rate(python, start, attach, rate, hertz):
    program = start(python, "busy.py")
    info = attach("-d", "0.5s", "-r", rate, program.pid).info()
    assert info["period"] == 1 / hertz
    assert info["ticks"] + info["missed"] == pytest.approx(0.5 * hertz, rel=0.1)
