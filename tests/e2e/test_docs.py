"""What README, --help and the man page say, held to the program: every command
line of the README is run, every option that help lists is in the man page."""
import os
import re
import shutil
import signal
import subprocess
import sys

import pytest

from interpreters import ROOT
from watch import PATIENCE, PYROMETER, pyrometer

README = (ROOT / "README.md").read_text()
BLOCKS = re.findall(r"^```\n(.*?)^```", README, re.M | re.S)
COMMAND_LINES = [line for block in BLOCKS for line in block.splitlines()
                 if line.startswith("pyrometer ") and "COMMAND" not in line]

# Stands for every program in the README: takes any arguments, ends soon.
PROGRAM = """#!%s
import time

def parse(text):
    return [part for part in text.split(",") for _ in part]

def application():
    end = time.monotonic() + 0.3
    while time.monotonic() < end:
        parse("a,b,c" * 100)

application()
""" % sys.executable
SERVICE = "import time\nprint('ready', flush=True)\ntime.sleep(600)\n"


def commands():
    listed = re.findall(r"^  (\w+) +[A-Z]", pyrometer("--help").stdout, re.M)
    assert len(listed) >= 6
    return listed


def help_options(command):
    """The options that --help lists, each by its longest name."""
    text = pyrometer(command, "--help").stdout
    return re.findall(r"^  (?:-\w, |    )(--[\w-]+)", text, re.M)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A place where the README's files are, with a recording to ask."""
    path = tmp_path_factory.mktemp("readme")
    for name in ("app.py", "gunicorn", "test_app.py"):
        (path / name).write_text(PROGRAM)
        (path / name).chmod(0o755)
    done = pyrometer("run", "-q", "-o", "app.pyro", "app.py", cwd=path)
    assert done.returncode == 0, done.stderr
    for name in ("service", "web", "tests"):
        shutil.copy(path / "app.pyro", path / f"{name}.pyro")
    return path


@pytest.fixture(scope="module")
def service():
    process = subprocess.Popen([sys.executable, "-c", SERVICE],
                               stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "ready\n"
    yield process.pid
    process.kill()
    process.communicate()


def run_line(line, folder, pid):
    """As a shell would; recordings are short, and the process is ours."""
    line = re.sub(r"-d \S+", "-d 0.2s", line)
    line = re.sub(r"\bPID\b", str(pid), line)
    line = re.sub(r"--(from|to) \S+", "", line)
    path = os.pathsep.join([os.path.dirname(PYROMETER), str(folder), os.environ["PATH"]])
    return subprocess.run(["sh", "-c", line], cwd=folder, env={**os.environ, "PATH": path},
                          capture_output=True, timeout=PATIENCE)


def serve(line, folder):
    """A command that serves until it is interrupted; what it said first."""
    command = [PYROMETER, *line.split()[1:], "--no-browser"]
    process = subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT, text=True)
    said = process.stdout.readline()
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=PATIENCE)
    return said, process.returncode


def test_readme_has_recipes():
    assert len(COMMAND_LINES) >= 15


def take_core(pid, folder):
    if not shutil.which("gcore"):
        pytest.skip("gcore (of gdb) is not here")
    subprocess.run(["gcore", "-o", folder / "service", str(pid)], check=True, capture_output=True,
                   timeout=PATIENCE)
    os.rename(folder / f"service.{pid}", folder / "core")


@pytest.mark.parametrize("line", COMMAND_LINES)
def test_readme_command(line, folder, service):
    if line.endswith(" core"):
        take_core(service, folder)
    if line.startswith("pyrometer view") and "--html" not in line:
        said, status = serve(line, folder)
        assert "http://" in said and status == 0
        return
    if "--pid" in line:  # of a recording that has another process
        line = re.sub(r"--pid PID", "", line)
    done = run_line(line, folder, service)
    assert done.returncode == 0, done.stderr.decode()


@pytest.mark.parametrize("target", re.findall(r"^make (\w+)", "\n".join(BLOCKS), re.M))
def test_readme_make_target(target):
    done = subprocess.run(["make", "-n", target], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_readme_links():
    """Files that the documents point at are there."""
    for document in (ROOT / "README.md", ROOT / "ARCHITECTURE.md", ROOT / "CONTRIBUTING.md"):
        for link in re.findall(r"\]\(([^)#:]+)\)", document.read_text()):
            assert (document.parent / link).exists(), f"{document.name}: {link}"


def test_every_command_is_in_the_readme():
    shown = {line.split()[1] for line in COMMAND_LINES}
    assert shown == set(commands())


def test_every_option_is_in_the_man_page():
    page = pyrometer("--man").stdout
    for command in commands():
        section = page.partition(f"\n.SH pyrometer {command}\n")[2].partition("\n.SH ")[0]
        options = help_options(command)
        assert options
        for option in options:
            assert option.replace("-", "\\-") in section, f"{command} {option}"


def test_man_page_is_sound():
    if not shutil.which("man"):
        pytest.skip("man: not here")
    done = subprocess.run(["man", "--warnings", "-l", "-"], input=pyrometer("--man").stdout,
                          capture_output=True, text=True,
                          env={**os.environ, "LC_ALL": "C.UTF-8", "MANWIDTH": "80"})
    assert done.returncode == 0 and not done.stderr, done.stderr
    assert "attach" in done.stdout


def complete(words):
    """What bash would offer for the last of these words."""
    script = pyrometer("--completion").stdout + """
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
_pyrometer
printf '%s\\n' "${COMPREPLY[@]}"
"""
    done = subprocess.run(["bash", "-c", script, "bash", *words], capture_output=True, text=True)
    assert done.returncode == 0 and not done.stderr, done.stderr
    return done.stdout.split()


def test_completion():
    assert complete(["pyrometer", ""]) == commands()
    assert complete(["pyrometer", "ex"]) == ["export"]
    assert complete(["pyrometer", "report", "--thr"]) == ["--threads", "--thread"]
    assert complete(["pyrometer", "report", "--mode", "g"]) == ["gil"]
    assert "speedscope" in complete(["pyrometer", "export", "-f", ""])
    for command in commands():
        assert set(help_options(command)) <= set(complete(["pyrometer", command, "-"]))
