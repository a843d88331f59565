"""Fixtures: every Python that is here, its programs, and recordings of them."""
import shutil
import signal
import tempfile
from pathlib import Path

import pytest

from interpreters import INTERPRETERS, find
from watch import PYROMETER, Programs, Recording, Started, pyrometer

pytest_plugins = ["second_try"]

# A job in the background is started with some signals ignored, and what it
# starts inherits that: the programs here must not.
for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP):
    if signal.getsignal(number) == signal.SIG_IGN:
        signal.signal(number, signal.SIG_DFL)


def pytest_configure(config):
    config.addinivalue_line("markers", "versions(*names): only these Pythons")


def pytest_generate_tests(metafunc):
    """A test that takes `python` runs on every Python, or on those of its mark
    `versions`."""
    if "python" not in metafunc.fixturenames:
        return
    mark = metafunc.definition.get_closest_marker("versions")
    chosen = mark.args if mark else INTERPRETERS
    names = mark.args if mark else [interpreter.name for interpreter in INTERPRETERS]
    metafunc.parametrize("python", chosen, ids=names, indirect=True)


@pytest.fixture
def python(request):
    chosen = request.param
    return find(chosen) if isinstance(chosen, str) else chosen


@pytest.fixture(scope="session")
def programs():
    copies = Programs()
    yield copies
    copies.remove()


@pytest.fixture
def public():
    """A folder with the program that everybody may use. It is not one of
    pytest's: each that starts takes the folder above all of those away from
    everybody again."""
    with tempfile.TemporaryDirectory(prefix="pyrometer-public.") as name:
        folder = Path(name)
        shutil.copy(PYROMETER, folder / "pyrometer")
        folder.chmod(0o777)
        yield folder


@pytest.fixture
def start(programs):
    """start(python, program, arguments...): it runs until the test ends."""
    started = []

    def starter(python, program, *arguments, **options):
        started.append(Started(programs.command(python, program, *arguments), **options))
        return started[-1]

    yield starter
    for program in started:
        program.close()


@pytest.fixture
def attach(tmp_path):
    """attach(options and PIDs...): the recording, which must succeed."""
    def attacher(*arguments):
        path = tmp_path / "attached.pyro"
        done = pyrometer("attach", "-q", "-o", path, *arguments)
        assert done.returncode == 0, done.stderr
        return Recording(path)
    return attacher


@pytest.fixture
def record(programs, tmp_path):
    """record(python, program, arguments...): the recording of a whole run."""
    def recorder(python, program, *arguments, options=()):
        path = tmp_path / "run.pyro"
        done = pyrometer("run", "-q", "-o", path, *options, "--",
                         *programs.command(python, program, *arguments))
        assert done.returncode == 0, done.stderr
        return Recording(path, done.stdout)
    return recorder
