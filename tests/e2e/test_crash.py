"""Whatever ends a recording early costs its tail, never the recording."""
import os
import resource
import signal
import subprocess
import time

import pytest

from watch import PATIENCE, PYROMETER, Recording, pyrometer

ONE = pytest.mark.versions("3.12")  # where it does not matter which
AS_ROOT = pytest.mark.skipif(os.getuid() != 0, reason="only root can mount a small disk")
SMALL = 32 << 10  # bytes, for a recording that wants more


def recording_until(path, size, *arguments):
    """A recorder that has written so many bytes."""
    process = subprocess.Popen([PYROMETER, *map(str, arguments)], stdout=subprocess.PIPE)
    until = time.monotonic() + PATIENCE
    while not path.exists() or path.stat().st_size < size:
        assert process.poll() is None and time.monotonic() < until
        time.sleep(0.01)
    time.sleep(0.5)  # the first flush comes early: wait for more of them
    return process


def check_damaged(path, *functions):
    """It opens, has samples, and says what is missing."""
    recording = Recording(path)
    info = recording.info()
    assert not info["complete"] and info["notice"]
    assert recording.samples_with(*functions) > 50
    text = pyrometer("report", path)
    assert text.returncode == 0 and info["notice"] in text.stdout + text.stderr


@ONE
def test_recorder_is_killed(python, start, tmp_path):
    path = tmp_path / "a.pyro"
    program = start(python, "busy.py")
    process = recording_until(path, 200, "attach", "-q", "-o", path, program.pid)
    process.kill()
    process.wait()
    process.stdout.close()
    check_damaged(path, "outer", "middle", "spin")
    assert program.wait() == 0


@ONE
def test_recorder_of_run_is_killed(python, programs, tmp_path):
    path = tmp_path / "run.pyro"
    process = recording_until(path, 200, "run", "-q", "-o", path, "--",
                              *programs.command(python, "busy.py", 2))
    process.kill()
    process.wait()
    assert process.stdout.read() == b"ready\n"  # up to the end of the program
    process.stdout.close()
    check_damaged(path, "outer", "middle", "spin")


@AS_ROOT
@ONE
def test_full_disk(python, start, tmp_path):
    disk = tmp_path / "disk"
    disk.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={SMALL}", "none", disk], check=True)
    try:
        program = start(python, "branches.py", "--seconds", 30)
        done = pyrometer("attach", "-r", "max", "-o", disk / "a.pyro", program.pid)
        assert done.returncode == 9 and done.stderr.count("\n") == 1
        assert "disk" in done.stderr and "a.pyro" in done.stderr
        check_damaged(disk / "a.pyro", "<module>", "main", "fold")
        assert program.process.poll() is None
    finally:
        subprocess.run(["umount", disk], check=True)


def limit_file_size():
    resource.setrlimit(resource.RLIMIT_FSIZE, (SMALL, SMALL))


@ONE
def test_limit_of_the_file_size(python, start, tmp_path):
    program = start(python, "branches.py", "--seconds", 30)
    done = pyrometer("attach", "-r", "max", "-o", tmp_path / "a.pyro", program.pid,
                     preexec_fn=limit_file_size)
    assert done.returncode == 9 and done.stderr.count("\n") == 1
    assert "limit" in done.stderr
    check_damaged(tmp_path / "a.pyro", "<module>", "main", "fold")


@ONE
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSEGV])
def test_program_is_killed(python, start, tmp_path, number):
    path = tmp_path / "a.pyro"
    program = start(python, "busy.py")
    process = recording_until(path, 200, "attach", "-q", "-o", path, program.pid)
    os.kill(program.pid, number)
    assert process.wait(PATIENCE) == 0
    process.stdout.close()
    recording = Recording(path)
    assert recording.info()["complete"] and not recording.info()["notice"]
    assert recording.samples_with("outer", "middle", "spin") > 50
