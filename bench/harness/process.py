"""Processes: the program that is watched, and the one that watches."""
import mmap
import os
import signal
import struct
import subprocess
import time
from typing import NamedTuple


COUNTS = struct.Struct("@16Q")  # of work, one for each thread; see targets/support.py
LOOK_EVERY = 0.02  # seconds between looks at a program's memory


def cpu_time(pid):
    """Seconds of CPU time of a process, all its threads: of those that run, as the
    kernel's last tick found them."""
    clock = (~pid << 3) | 2  # what clock_getcpuclockid() makes of a PID
    return time.clock_gettime(clock)


class Target:
    """A program of bench/targets that runs until the `with` block ends."""

    LIFE = 600  # seconds; the block ends it long before

    def __init__(self, workspace, interpreter, name, *args, count=False, modules=""):
        self.interpreter = interpreter
        self.modules = modules  # a folder of extensions, as the interpreter sees it
        self.name = name
        self.script = workspace.path("targets/%s.py" % name)
        self.command = interpreter.command(interpreter.inside(self.script),
                                           "--seconds", str(self.LIFE), *args)
        self.progress = None
        if count:
            self._count_in(workspace.new("progress"))

    def _count_in(self, path):
        with open(path, "w+b") as f:
            f.write(bytes(COUNTS.size))
            f.flush()
            self.progress = mmap.mmap(f.fileno(), COUNTS.size, prot=mmap.PROT_READ)
        self.command += ["--progress", self.interpreter.inside(path)]

    def __enter__(self):
        environment = dict(os.environ, PYTHONDONTWRITEBYTECODE="1", PYTHONPATH=self.modules)
        self.process = subprocess.Popen(self.command, stdout=subprocess.PIPE, env=environment)
        if self.process.stdout.readline() != b"ready\n":
            self.__exit__()
            raise RuntimeError("%s did not start" % " ".join(self.command))
        self.pid = self.process.pid
        return self

    def __exit__(self, *exception):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()

    def pause(self):
        os.kill(self.pid, signal.SIGSTOP)

    def resume(self):
        os.kill(self.pid, signal.SIGCONT)

    def units(self):
        return sum(COUNTS.unpack(self.progress))


def exit_code(status):
    return -os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)


class Outcome(NamedTuple):
    """How a program ended and what it used."""
    status: int
    text: str     # stdout and stderr together
    wall: float   # seconds
    cpu: float    # seconds
    rss: int      # bytes, at most
    steady: float  # share of a core used between 40% and 90% of the time, or 0


def memory_peak(pid):
    """The largest resident size so far, in bytes; 0 when it has ended. (That of
    wait4() begins with the size of whoever started the program.)"""
    try:
        with open("/proc/%d/status" % pid) as f:
            return next((int(line.split()[1]) * 1024 for line in f if line.startswith("VmHWM")), 0)
    except OSError:
        return 0


class Program:
    """A program that is run and whose use of the machine is known afterwards."""

    def __init__(self, command, log):
        self.command = command
        self.log = open(log, "w+b")
        self.began = time.monotonic()
        self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL,
                                        stdout=self.log, stderr=subprocess.STDOUT)
        self.pid = self.process.pid

    def said(self, text, seconds):
        """Wait until it has written some text."""
        end = time.monotonic() + seconds
        while time.monotonic() < end and self.alive():
            if text.encode() in os.pread(self.log.fileno(), 1 << 16, 0):
                return True
            time.sleep(0.002)
        return False

    def alive(self):
        # Looks without reaping: wait() is to get the resource usage.
        flags = os.WEXITED | os.WNOHANG | os.WNOWAIT
        return os.waitid(os.P_PID, self.pid, flags) is None

    def signal(self, number):
        os.kill(self.pid, number)

    def load(self, seconds):
        """The share of a core it uses for the next `seconds`."""
        before, began = cpu_time(self.pid), time.monotonic()
        time.sleep(seconds)
        return (cpu_time(self.pid) - before) / (time.monotonic() - began)

    def wait(self, steady=0.0):
        peak = memory_peak(self.pid)
        while self.alive():
            peak = max(peak, memory_peak(self.pid))
            time.sleep(LOOK_EVERY)
        _, status, usage = os.wait4(self.pid, 0)
        wall = time.monotonic() - self.began
        self.process.returncode = exit_code(status)
        self.log.seek(0)
        text = self.log.read().decode("utf-8", "replace")
        self.log.close()
        return Outcome(self.process.returncode, text, wall,
                       usage.ru_utime + usage.ru_stime, peak, steady)
