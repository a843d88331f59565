"""pyrometer run: the program stays itself, and a recording of it is left."""
import fcntl
import os
import pty
import re
import shutil
import signal
import subprocess
import sys
import termios
import time

import pytest

from interpreters import INTERPRETERS
from watch import PATIENCE, PYROMETER, Recording, pyrometer

STACK = ("<module>", "main", "outer", "middle", "spin")
SOME = pytest.mark.versions("3.12")  # what no version of Python changes
OWN_ROOT = [interpreter.version for interpreter in INTERPRETERS if not interpreter.root]


def one_line(text, *words):
    return text.count("\n") == 1 and all(word in text for word in words)


def test_every_python_is_recorded(python, record):
    recording = record(python, "busy.py", 0.3)
    assert recording.samples_with(*STACK) > 100
    info = recording.info()
    assert info["complete"] and not info["notice"]
    assert info["processes"][0]["python"].startswith(python.version.rstrip("td") + ".")


def test_exit_code_and_streams_are_the_programs(python, programs, tmp_path):
    done = pyrometer("run", "-q", "-o", tmp_path / "run.pyro", "--",
                     *programs.command(python, "echo.py", "3", "two words"), input="in\n")
    assert done.returncode == 3
    assert done.stdout == "3 two words\nin\n"
    assert done.stderr == "complaint\n"


@SOME
@pytest.mark.parametrize("form", [
    ["echo.py"], ["-m", "echo"], ["-c", "import sys; exec(open('echo.py').read())"],
    ["--", "PYTHON", "echo.py"], ["PYTHON", "echo.py"]],
    ids=["script", "module", "code", "command", "without dashes"])
def test_forms_of_the_command(python, programs, tmp_path, form):
    words = [python.path if word == "PYTHON" else word for word in form]
    done = pyrometer("run", "-q", "--python", python.path, "-o", tmp_path / "run.pyro",
                     *words, "0", "-q", "--help", input="", cwd=programs.folder(""))
    assert (done.returncode, done.stdout) == (0, "0 -q --help\n")
    assert Recording(tmp_path / "run.pyro").info()["samples"] > 20


@pytest.mark.versions("3.8", "3.12")
def test_python_of_a_virtual_environment(python, programs, tmp_path):
    subprocess.run(python.command("-m", "venv", "--without-pip", tmp_path / "venv"), check=True)
    done = pyrometer("run", "-q", "-o", tmp_path / "run.pyro", tmp_path / "venv/bin/python",
                     programs.folder("") + "/busy.py", "0.2")
    assert done.returncode == 0, done.stderr
    assert Recording(tmp_path / "run.pyro").samples_with(*STACK) > 50


@SOME
def test_shell_script_that_starts_python(python, programs, tmp_path):
    script = tmp_path / "start.sh"
    command = " ".join(programs.command(python, "busy.py", 0.3))
    script.write_text(f"#!/bin/sh\nsleep 0.05\n{command}\n{command}\nexit 9\n")
    script.chmod(0o755)
    done = pyrometer("run", "-q", "-o", tmp_path / "run.pyro", script)
    assert done.returncode == 9, done.stderr
    recording = Recording(tmp_path / "run.pyro")
    assert len(recording.info()["processes"]) == 2
    assert recording.samples_with(*STACK) > 200


def spent(recording):
    """Of the whole recording's time, the part that its samples stand for."""
    report = recording.report("top")
    return report["profile"]["seconds"] / report["recording"]["duration"]


@SOME
def test_time_without_a_python_is_nobodys(python, programs, tmp_path):
    """Before the first one, between two, and after the last."""
    path = tmp_path / "run.pyro"
    script = '"$@"; sleep 0.6; "$@"; sleep 0.6'
    done = pyrometer("run", "-q", "-o", path, "--", "sh", "-c", script, "sh",
                     *programs.command(python, "busy.py", 0.2))
    assert done.returncode == 0, done.stderr
    assert 0.1 < spent(Recording(path)) < 0.5


@SOME
def test_a_program_that_becomes_no_python(python, programs, tmp_path):
    path = tmp_path / "run.pyro"
    code = ("import os, time\nend = time.time() + 0.2\nwhile time.time() < end: pass\n"
            "os.execv('/bin/sleep', ['sleep', '0.6'])")
    done = pyrometer("run", "-q", "-o", path, "--", python.path, "-c", code)
    assert done.returncode == 0, done.stderr
    recording = Recording(path)
    assert 0.1 < spent(recording) < 0.5
    info = recording.info()
    assert info["lost"] < 0.15 * info["samples"]


@SOME
def test_time_in_which_the_recorder_is_stopped(python, programs, tmp_path):
    path, stopped = tmp_path / "run.pyro", 1.4
    with subprocess.Popen([PYROMETER, "run", "-q", "-o", path, "--",
                           *programs.command(python, "busy.py", 2)],
                          stdout=subprocess.DEVNULL) as process:
        time.sleep(0.3)
        process.send_signal(signal.SIGSTOP)
        time.sleep(stopped)
        process.send_signal(signal.SIGCONT)
        assert process.wait(PATIENCE) == 0
    recording = Recording(path)
    assert 0.1 < spent(recording) < 0.6
    info = recording.info()
    assert info["missed"] < 0.5 * stopped / info["period"]


@SOME
def test_names_with_spaces(python, programs, tmp_path):
    folder = tmp_path / "my programs"
    folder.mkdir()
    shutil.copy(programs.folder("") + "/busy.py", folder / "busy one.py")
    done = pyrometer("run", "--python", python.path, folder / "busy one.py", "0.2", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    path, = tmp_path.glob("*.pyro")
    assert re.fullmatch(r"busy_one-\d+\.pyro", path.name)
    assert f"wrote {path.name}" in done.stderr
    assert "\u00b1" in done.stderr  # as report writes it
    assert Recording(path).samples_with(*STACK) > 50


@pytest.mark.parametrize("words, name", [
    (["-m", "json.tool", "--help"], "json.tool"), (["-c", "pass"], "code"),
    (["--", sys.executable, "-c", "pass"], os.path.basename(sys.executable))])
def test_the_recording_is_named_after_the_program(tmp_path, words, name):
    assert pyrometer("run", *words, cwd=tmp_path).returncode == 0
    path, = tmp_path.glob("*.pyro")
    assert re.fullmatch(re.escape(name) + r"-\d+\.pyro", path.name)


# Signals

@SOME
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGSEGV, signal.SIGKILL, signal.SIGINT])
def test_ends_by_the_signal_that_ended_the_program(python, programs, tmp_path, number):
    done = pyrometer("run", "-q", "-o", tmp_path / "run.pyro", "--",
                     *programs.command(python, "signals.py", int(number)), cwd=tmp_path)
    assert done.returncode == -number
    assert Recording(tmp_path / "run.pyro").info()["complete"]


@SOME
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1, signal.SIGINT])
def test_signals_are_passed_on(python, programs, tmp_path, number):
    process = subprocess.Popen([PYROMETER, "run", "-q", "-o", tmp_path / "run.pyro", "--",
                                *programs.command(python, "signals.py")],
                               stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "ready\n"
    process.send_signal(number)
    said, _ = process.communicate(timeout=PATIENCE)
    assert (process.returncode, said) == (number, f"signal {number}\n")
    assert Recording(tmp_path / "run.pyro").info()["complete"]


def test_no_signal_is_lost_while_the_program_begins(tmp_path):
    path = tmp_path / "early.pyro"
    for i in range(40):
        process = subprocess.Popen([PYROMETER, "run", "-q", "-o", path, "--", "sleep", "60"],
                                   stderr=subprocess.DEVNULL)
        time.sleep(i * 1e-4)
        process.terminate()
        assert process.wait(PATIENCE / 4) == -signal.SIGTERM
        assert not path.exists()


@pytest.mark.parametrize("closed", [0, 1, 2])
def test_without_a_standard_file(tmp_path, closed):
    """Nothing else takes its place, and the program has none either."""
    path, code = tmp_path / "closed.pyro", f"import os; os._exit(os.path.exists('/dev/fd/{closed}'))"
    done = pyrometer("run", "-o", path, "--python", sys.executable, "-c", code,
                     preexec_fn=lambda: os.close(closed))
    assert done.returncode == 0, done.stderr
    assert Recording(path).info()["complete"] and not Recording(path).info()["notice"]


def test_no_ignored_signal_is_inherited():
    command = ["grep", "SigIgn", "/proc/self/status"]
    plain = subprocess.run(command, capture_output=True, text=True, check=True)
    assert pyrometer("run", "--", *command).stdout == plain.stdout


class Terminal:
    """A command in a terminal of its own."""

    def __init__(self, command, **options):
        self.master, slave = pty.openpty()
        self.process = subprocess.Popen(
            command, stdin=slave, stdout=slave, stderr=slave, start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0), **options)
        os.close(slave)
        self.text = ""

    def read_until(self, word=None):
        """What was said up to a word, or all of it."""
        while word is None or word not in self.text:
            try:
                some = os.read(self.master, 4096)
            except OSError:  # the terminal is nobody's any more
                some = b""
            if not some:
                break
            self.text += some.decode()
        return self.text

    def end(self):
        self.read_until()
        os.close(self.master)
        return self.process.wait(PATIENCE)


@SOME
def test_status_line_fits_the_terminal(python, programs, tmp_path):
    terminal = Terminal([PYROMETER, "run", "-o", tmp_path / "a.pyro", "--",
                         *programs.command(python, "busy.py", 1)],
                        env={**os.environ, "COLUMNS": "20"})
    assert terminal.end() == 0
    lines = re.findall(r"\x1b\[2m(pyrometer: [^\x1b]*)\x1b\[0m\r", terminal.text)
    assert lines and all(len(line) < 20 for line in lines), lines


@SOME
@pytest.mark.parametrize("name, value, has_line", [("TERM", "dumb", False), ("NO_COLOR", "1", True)])
def test_status_line_suits_the_terminal(python, programs, tmp_path, name, value, has_line):
    terminal = Terminal([PYROMETER, "run", "-o", tmp_path / "a.pyro", "--",
                         *programs.command(python, "busy.py", 1)],
                        env={**os.environ, "TERM": "xterm", name: value})
    assert terminal.end() == 0
    assert ("\r\x1b[Kpyrometer: " in terminal.text) == has_line
    assert not re.search(r"\x1b\[[0-9;]*m", terminal.text)
    assert has_line or "\x1b" not in terminal.text


@SOME
def test_interrupt_from_the_terminal_is_the_programs(python, programs, tmp_path):
    terminal = Terminal([PYROMETER, "run", "-o", tmp_path / "run.pyro", "--",
                         *programs.command(python, "signals.py")])
    terminal.read_until("ready")
    os.write(terminal.master, b"\x03")
    assert terminal.end() == signal.SIGINT
    assert terminal.text.count("signal 2") == 1
    assert Recording(tmp_path / "run.pyro").info()["complete"]


# What is printed and written

@SOME
def test_status_line_on_a_terminal_only(python, programs, tmp_path):
    command = [PYROMETER, "run", "-o", tmp_path / "run.pyro", "--",
               *programs.command(python, "busy.py", 0.8)]
    terminal = Terminal(command)
    assert terminal.end() == 0
    status, _, rest = terminal.text.rpartition("\r\x1b[K")
    assert re.search(r"\r\x1b\[K.*[\d,]+ samples", status)
    assert "spin" in rest and "\x1b[K" not in rest
    terminal = Terminal(command[:2] + ["-q"] + command[2:])
    assert terminal.end() == 0
    assert terminal.text == "ready\r\n"
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE)
    assert done.stdout == "ready\n" and "\r" not in done.stderr and "\x1b" not in done.stderr


@SOME
def test_report_and_formats(python, programs, tmp_path):
    done = pyrometer("run", "-o", "run.pyro", "-f", "flamegraph", "-f", "speedscope", "--",
                     *programs.command(python, "busy.py", 0.3), cwd=tmp_path)
    assert done.returncode == 0 and done.stdout == "ready\n"
    assert re.search(r"\d+\.\d%.* spin ", done.stderr)
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names == ["run.pyro", "run.speedscope.json", "run.svg"]
    for name in names:
        assert f"wrote {name}" in done.stderr


@SOME
def test_duration_ends_the_recording_not_the_program(python, programs, tmp_path):
    done = pyrometer("run", "-q", "-d", "0.3s", "-o", tmp_path / "run.pyro", "--",
                     *programs.command(python, "echo.py", 4), input="to the end\n")
    assert (done.returncode, done.stdout) == (4, "4\nto the end\n")
    done = pyrometer("run", "-q", "-d", "0.2s", "-o", tmp_path / "run.pyro", "--",
                     *programs.command(python, "busy.py", 0.6))
    assert done.returncode == 0
    assert Recording(tmp_path / "run.pyro").info()["ticks"] < 400


@SOME
def test_an_old_recording_is_replaced(python, programs, tmp_path):
    path = tmp_path / "run.pyro"
    path.write_bytes(b"x" * 1000000)
    done = pyrometer("run", "-q", "-o", path, "--", *programs.command(python, "busy.py", 0.2))
    assert done.returncode == 0, done.stderr
    assert path.stat().st_size < 100000
    assert not Recording(path).info()["notice"]


@pytest.mark.parametrize("words, status, said", [
    (["--", "/no/such/program"], 11, "/no/such/program"),
    (["missing.py"], 11, "missing.py"),
    (["--", "/etc/passwd"], 5, "/etc/passwd"),
    ([], 2, "usage"),
    (["-r", "0", "x.py"], 2, "rate"),
    (["-r", "fast", "x.py"], 2, "fast"),
    (["-d", "soon", "x.py"], 2, "soon"),
    (["-f", "jpeg", "x.py"], 2, "jpeg"),
    (["--mode", "dream", "x.py"], 2, "dream"),
    (["-o", "-", "x.py"], 2, "standard output"),
    (["--ride", "a bike", "x.py"], 2, "a bike"),
    (["--frobnicate", "x.py"], 2, "--frobnicate"),
])
def test_what_cannot_be_run_leaves_everything_as_it_was(tmp_path, words, status, said):
    (tmp_path / "x.py").write_text("open('ran', 'w')")
    (tmp_path / "old.pyro").write_text("precious")
    for output in ("old.pyro", "new.pyro"):
        done = pyrometer("run", "-o", output, *words, cwd=tmp_path)
        assert done.returncode == status
        assert one_line(done.stderr, said) and not done.stdout
    assert sorted(path.name for path in tmp_path.iterdir()) == ["old.pyro", "x.py"]
    assert (tmp_path / "old.pyro").read_text() == "precious"


def test_a_program_that_is_no_python_leaves_no_file(tmp_path):
    (tmp_path / "old.pyro").write_text("precious")
    for output in ("old.pyro", "new.pyro"):
        done = pyrometer("run", "-o", output, "--", "sh", "-c", "sleep 0.1; exit 6", cwd=tmp_path)
        assert done.returncode == 6
        assert one_line(done.stderr, "no Python")
    assert [path.name for path in tmp_path.iterdir()] == ["old.pyro"]
    assert (tmp_path / "old.pyro").read_text() == "precious"


@pytest.mark.parametrize("output", ["missing/run.pyro", "folder"])
def test_unwritable_output_is_told_before_the_program_runs(tmp_path, output):
    (tmp_path / "folder").mkdir()
    done = pyrometer("run", "-o", output, "--", "touch", "ran", cwd=tmp_path)
    assert done.returncode == 9 and one_line(done.stderr, output)
    assert [path.name for path in tmp_path.iterdir()] == ["folder"]


@SOME
def test_full_output_does_not_harm_the_program(python, programs):
    done = pyrometer("run", "-q", "-o", "/dev/full", "--",
                     *programs.command(python, "busy.py", 0.3))
    assert done.stdout == "ready\n"
    assert done.returncode == 0
    assert one_line(done.stderr, "/dev/full")
