"""Native names of a recording that broke off: looked up when it is opened, by
network too, with a bar when that takes long, which Ctrl-C ends."""
import functools
import http.server
import os
import pty
import re
import signal
import subprocess
import threading

import pytest

from interpreters import BUILD
from watch import PATIENCE, PYROMETER, pyrometer

MAKE_SITES = BUILD / "tests" / "unit" / "make_sites"
MANY = 6000  # functions with 40 addresses each: longer than a second anywhere

SOURCE = """
__attribute__((noinline)) int forge(int n) { return n * n; }
int main(int argc, char **argv) { return forge(argc); }
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    folder = tmp_path_factory.mktemp("native")
    (folder / "smithy.c").write_text(SOURCE)
    subprocess.run(["cc", "-g", "-O1", "-Wl,--build-id", "-o", "smithy", "smithy.c"],
                   cwd=folder, check=True)
    return folder / "smithy"


def make_sites(program, count, recording):
    subprocess.run([MAKE_SITES, program, str(count), recording], check=True)
    return recording


def test_names_when_opened(program, tmp_path):
    recording = make_sites(program, 40, tmp_path / "broken.pyro")
    told = pyrometer("report", "--top", "--all", recording)
    assert told.returncode == 0
    assert "forge" in told.stdout and "smithy.c" in told.stdout


def test_names_of_another_file(program, tmp_path):
    """Another program is there by now: its names would be lies."""
    copy = tmp_path / "smithy"
    copy.write_bytes(program.read_bytes())
    recording = make_sites(copy, 40, tmp_path / "broken.pyro")
    (tmp_path / "other.c").write_text(SOURCE.replace("forge", "melt"))
    subprocess.run(["cc", "-g", "-O1", "-Wl,--build-id", "-o", copy, tmp_path / "other.c"],
                   check=True)
    told = pyrometer("report", "--top", "--all", recording)
    assert told.returncode == 0
    assert "forge" not in told.stdout and "melt" not in told.stdout
    assert "smithy+0x" in told.stdout


def build_id(program):
    notes = subprocess.run(["readelf", "-n", program], capture_output=True, text=True, check=True)
    return re.search("Build ID: ([0-9a-f]+)", notes.stdout)[1]


@pytest.fixture
def served(tmp_path):
    """A folder that a server on this machine gives away, and the server's URL."""
    folder = tmp_path / "served"
    folder.mkdir()
    handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=folder)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever).start()
        yield folder, f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def test_names_by_network(program, tmp_path, served):
    """A stripped file whose debug file only a debuginfod server has."""
    folder, url = served
    smithy = tmp_path / "smithy"
    smithy.write_bytes(program.read_bytes())
    smithy.chmod(0o755)
    there = folder / "buildid" / build_id(smithy)
    there.mkdir(parents=True)
    recording = make_sites(smithy, 40, tmp_path / "broken.pyro")
    subprocess.run(["objcopy", "--only-keep-debug", smithy, there / "debuginfo"], check=True)
    subprocess.run(["strip", smithy], check=True)

    cache = dict(os.environ, DEBUGINFOD_CACHE_PATH=str(tmp_path / "cache"), no_proxy="127.0.0.1")
    cache.pop("DEBUGINFOD_URLS", None)
    told = pyrometer("report", "--top", "--all", recording, env=cache)
    assert "smithy+0x" in told.stdout and "forge" not in told.stdout
    told = pyrometer("report", "--top", "--all", recording, env=dict(cache, DEBUGINFOD_URLS=url))
    assert told.returncode == 0
    assert "forge" in told.stdout and "smithy.c" in told.stdout


def read_until(descriptor, text):
    """All that comes until the text does, or the end."""
    seen = b""
    while text not in seen:
        try:
            piece = os.read(descriptor, 65536)
        except OSError:  # the other side has closed it
            break
        if not piece:
            break
        seen += piece
    return seen


def test_bar_and_interrupt(tmp_path):
    lines = [f"int f{i}(int n) {{ return n * n + {i} * (n - {i}) + n / 3; }}" for i in range(MANY)]
    (tmp_path / "many.c").write_text("\n".join(lines) + "\nint main(void) { return f1(2); }\n")
    subprocess.run(["cc", "-g", "-O0", "-Wl,--build-id", "-o", "many", "many.c"],
                   cwd=tmp_path, check=True)
    recording = make_sites(tmp_path / "many", 40 * MANY, tmp_path / "broken.pyro")
    master, slave = pty.openpty()
    process = subprocess.Popen([PYROMETER, "report", "--top", recording],
                               stdout=subprocess.PIPE, stderr=slave, text=True)
    os.close(slave)
    seen = read_until(master, b"native names [")
    assert b"native names [" in seen
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=PATIENCE)
    os.close(master)
    assert process.returncode == 0
    assert "flat%" in out
