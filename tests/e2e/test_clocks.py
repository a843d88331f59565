"""Threads that run on and are left to the timers of their cores, with native
stacks and without: they sleep, end, come and go between two looks, and what is
written is true."""
import signal
import subprocess
import time

import pytest

from interpreters import INTERPRETERS
from watch import PATIENCE, PYROMETER, VISITS, Recording, pyrometer

ONE = pytest.mark.versions("3.12")
SOME = pytest.mark.versions("2.7", "3.8", "3.12", "3.15")
EVERY_VERSION = pytest.mark.versions(*dict.fromkeys(one.version for one in INTERPRETERS))
NATIVE = [["-n"]] if "--native" in pyrometer("attach", "--help").stdout else []
STACKS = pytest.mark.parametrize("stacks", [*NATIVE, []], ids=lambda options: "-".join(
    ["with", *options]))


@EVERY_VERSION
@pytest.mark.parametrize("target", ["steady", "fib"])
def test_threads_left_to_their_clocks(python, start, attach, target):
    """Much of the time, whether they could be read from elsewhere or not, with
    glances in between; and next to nothing is lost by it."""
    recording = attach("-d", "1s", start(python, target + ".py", "--seconds", 30).pid)
    info = recording.info()
    assert 0.3 * info["samples"] < info["clocked"] < 0.9 * info["samples"] or not VISITS
    assert info["visited"] >= info["clocked"] and info["lost"] < 0.005 * info["samples"]
    assert info["ticks"] + info["missed"] > 0.9 * info["duration"] / info["period"]
    assert not recording.report("top")["profile"]["torn"]


def state_of(process):
    with open(f"/proc/{process.pid}/stat") as stat:
        return stat.read().rpartition(")")[2].split()[0]


def stop_and_go_on(recorder):
    """Ctrl-Z, three times, and Ctrl-C."""
    for _ in range(3):
        recorder.send_signal(signal.SIGTSTP)
        until = time.monotonic() + PATIENCE
        while state_of(recorder) != "T" and time.monotonic() < until:
            time.sleep(0.01)
        assert state_of(recorder) == "T"
        recorder.send_signal(signal.SIGCONT)
        time.sleep(0.2)
    recorder.send_signal(signal.SIGINT)
    assert recorder.wait(PATIENCE) == 0


@ONE
@STACKS
def test_a_recorder_that_is_stopped(python, start, tmp_path, stacks):
    """It stops, and goes on."""
    output = tmp_path / "stopped.pyro"
    recorder = subprocess.Popen([PYROMETER, "attach", "-q", *stacks, "-o", output,
                                 str(start(python, "busy.py").pid)])
    time.sleep(0.5)
    stop_and_go_on(recorder)
    info = Recording(output).info()
    assert info["complete"] and info["samples"] > 500
    assert info["clocked"] or not VISITS


@ONE
@STACKS
def test_a_recorder_that_is_stopped_without_clocks(python, start, tmp_path, stacks):
    """They are given up when there are many processes, and not stopped again."""
    output = tmp_path / "stopped.pyro"
    program = start(python, "company.py", 1, 5)
    recorder = subprocess.Popen([PYROMETER, "attach", "-q", "-s", *stacks, "-o", output,
                                 str(program.pid)])
    assert program.process.stdout.readline() == "all are here\n"
    time.sleep(0.5)  # and are found
    stop_and_go_on(recorder)
    recording = Recording(output)
    assert len(recording.processes()) == 6 and recording.info()["complete"]
    assert recording.info()["clocked"] or not VISITS


@SOME
@STACKS
@pytest.mark.parametrize("work, rest, near", [(0.3, 0.3, 0.06), (0.1, 0.005, 0.025)])
def test_sleeps_between_clocks(python, start, attach, work, rest, near, stacks):
    """Long sleeps are taken whole. Short ones are lost where a clock was waited
    for, which must not go on. Ticks that the machine let us miss may have been
    of either."""
    recording = attach(*stacks, "-d", "2.4s", start(python, "rests.py", work, rest).pid)
    found, info = recording.shares(), recording.info()
    unknown = info["missed"] / (info["samples"] + info["missed"])
    assert abs(found["sleeps"]["share"] - rest / (work + rest)) < near + unknown
    assert found["computes"]["share"] + found["sleeps"]["share"] > 0.97
    assert info["lost"] < 0.02 * (info["samples"] + info["lost"])
    assert 2.39 < info["duration"] < 2.6
    if VISITS and rest > 0.1:
        assert info["clocked"]


@ONE
@STACKS
@pytest.mark.parametrize("rate", [1000, 300])
def test_sleeps_shorter_than_ticks(python, start, attach, stacks, rate):
    """They take longer than they should, so their share is compared with what
    is found tick by tick."""
    program = start(python, "rests.py", 0.02, 0.0015)
    found = {}
    for ride in "wake", "auto":
        recording = attach(*stacks, "-r", rate, "--ride", ride, "-d", "2.4s", program.pid)
        found[ride] = recording.shares()["sleeps"]["share"]
        info = recording.info()
        assert info["lost"] < 0.03 * (info["samples"] + info["lost"])
    # With native stacks it is known what they were spent in, so they keep
    # nobody from being left to its clock.
    assert info["clocked"] > 0.2 * info["samples"] or not (stacks and VISITS)
    assert abs(found["auto"] - found["wake"]) < 0.03 and found["wake"] > 0.05, found


@ONE
@STACKS
def test_threads_that_nobody_asked_for(python, start, attach, stacks):
    """They are not sampled, and keep no other from being left to its clock."""
    program = start(python, "settles.py", 30)
    recording = attach(*stacks, "--thread", "MainThread", "-d", "2s", program.pid)
    assert [thread["name"] for thread in recording.threads()] == ["MainThread"]
    info = recording.info()
    assert info["lost"] < 0.02 * info["samples"]
    assert info["clocked"] or not VISITS


@SOME
@STACKS
def test_threads_that_come_between_clocks(python, start, attach, stacks):
    """A thread that is born while others are left to their clocks is found."""
    recording = attach(*stacks, "-d", "1.5s", start(python, "newcomers.py", 30).pid)
    names = [thread["name"] for thread in recording.threads()]
    assert names.count("newcomer") > 3, names
    info, profile = recording.info(), recording.report("top")["profile"]
    assert info["lost"] < 0.05 * info["samples"]
    assert profile["broken"] + profile["unmerged"] < 0.005 * profile["samples"]
    assert profile["native"] > 0.95 * profile["samples"] or not stacks


@SOME
@STACKS
def test_ends_between_clocks(python, programs, tmp_path, stacks):
    """What a thread did last, and a process, is neither lost nor drawn out."""
    output = tmp_path / "ends.pyro"
    done = pyrometer("run", *stacks, "-q", "-o", output, "--",
                     *programs.command(python, "tails.py"))
    assert done.returncode == 0, done.stderr
    recording = Recording(output)
    seconds = recording.report("top")["profile"]["seconds"]
    found = {name: cum["share"] * seconds for name, cum in recording.shares().items()}
    for name in ("thread_ends", "process_ends"):
        assert 0.07 < found[name] < 0.13, found
    assert 1.2 < found["work"] < 1.6, found


@SOME
@STACKS
def test_threads_that_end_with_their_clocks(python, programs, tmp_path, stacks):
    """What a clock took of them before is kept."""
    output = tmp_path / "finishes.pyro"
    done = pyrometer("run", *stacks, "-q", "-o", output, "--",
                     *programs.command(python, "finishes.py", 5, 0.4))
    assert done.returncode == 0, done.stderr
    recording = Recording(output)
    seconds = recording.report("top")["profile"]["seconds"]
    lost = recording.info()["lost"] * recording.info()["period"]
    assert 1.95 - lost < recording.shares()["work"]["share"] * seconds < 2.1


@pytest.mark.versions("3.8", "3.12", "3.13")
def test_a_function_in_the_place_of_another(python, programs, tmp_path):
    """It is not shown under the other's name, though nobody counts code that is
    freed."""
    output = tmp_path / "succeeds.pyro"
    done = pyrometer("run", "-q", "-o", output, "--", *programs.command(python, "succeeds.py"))
    assert done.stdout == "same\n"
    found, recording = Recording(output).names(), Recording(output)
    second = sum(count for names, count in found.items() if "second" in names)
    assert second + recording.info()["lost"] >= 8, found


@ONE
@STACKS
def test_a_thread_that_falls_asleep_is_not_on_cpu(python, start, attach, stacks):
    program = start(python, "settles.py", 30)
    recording = attach(*stacks, "--mode", "cpu", "-d", "2s", program.pid)
    samples = {thread["name"]: thread["samples"] for thread in recording.threads()}
    assert samples["MainThread"] > 1000 and samples.get("settles", 0) < 700, samples


@ONE
@STACKS
def test_stacks_that_clocks_cannot_take(python, start, attach, stacks):
    """They are lost or taken otherwise, but others do not take their place."""
    recording = attach(*stacks, "-d", "3s", start(python, "depths.py", 30).pid)
    found, info = recording.shares(), recording.info()
    lost = info["lost"] / (info["samples"] + info["lost"])
    assert lost < 0.1
    assert abs(found["deep"]["share"] - 0.2) < 0.05 + lost


@ONE
@STACKS
def test_one_works_and_one_sleeps(python, start, attach, stacks):
    """Two processes, of which only one has a clock."""
    works, sleeps = start(python, "busy.py"), start(python, "rests.py", 0, 1000)
    recording = attach(*stacks, "-d", "1s", works.pid, sleeps.pid)
    info = recording.info()
    assert info["clocked"] or not VISITS
    assert len(recording.processes()) == 2 and "sleeps" in recording.shares()


@ONE
@STACKS
def test_exec_between_clocks(python, programs, tmp_path, stacks):
    """A program that works on becomes another that is no Python."""
    code = ("import os, time\nuntil = time.time() + 0.7\nwhile time.time() < until: pass\n"
            "os.execvp('sleep', ['sleep', '0.3'])")
    for _ in range(3):
        done = pyrometer("run", *stacks, "-q", "-o", tmp_path / "exec.pyro", "--",
                         *python.command("-c", code))
        assert done.returncode == 0, done.stderr
