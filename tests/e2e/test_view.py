"""The viewer: what is shown, both ways of opening it, and what it refuses."""
import base64
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import urllib.error
import urllib.request
import zlib
from pathlib import Path
from urllib.parse import urlsplit

import pytest

HERE = Path(__file__).resolve().parent
BUILD = Path(os.environ.get("PYROMETER_BUILD") or HERE.parent.parent / "build")
PYROMETER = BUILD / "src" / "cmd" / "pyrometer"
MAKE_STACKS = BUILD / "tests" / "unit" / "make_stacks"
CACHE = Path(os.environ.get("PYROMETER_CACHE") or Path(
    os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache", "pyrometer"))


def scenarios_of(name):
    return re.findall(r'^scenario\("(.+?)"', (HERE / "viewer" / f"{name}.mjs").read_text(), re.M)


ON_CPU, GIL, GIL_WAIT, GC = 1, 2, 4, 8
RUNNING = ON_CPU | GIL


def stack(*frames):
    """Each a name, a file, its first line and a line; of native code also its kind and library."""
    return "\x1e".join("\x1f".join(map(str, frame)) for frame in frames)


APP = "/srv/shop/app.py"
MAIN, LOAD = ("main", APP, 1, 3), ("load", APP, 10, 11)
PARSE, PARSE_LATER = ("parse", APP, 20, 21), ("parse", APP, 20, 25)
DECODE = ("decode", "/usr/lib/python3.12/json/decoder.py", 340, 355)
EVEN, ODD = ("even", APP, 30, 31), ("odd", APP, 40, 41)
WAIT = ("Condition.wait", "/usr/lib/python3.12/threading.py", 288, 359)
SOURCE = "\x1e".join(["import json"] + [""] * 18 + ["def parse(orders):", "    return <b>order</b>", "", "",
                                                    "    for order in orders:", "        json"])


def runs(parse, later):
    """300 ticks of the main thread; the worker waits beside it for 200 of them,
    in the last 60 for the GIL."""
    return [
        ("MainThread", RUNNING, parse, stack(MAIN, LOAD, PARSE)),
        ("&worker", 0, 0, stack(WAIT)),
        ("MainThread", RUNNING, later, stack(MAIN, LOAD, PARSE_LATER)),
        ("MainThread", ON_CPU, 20, stack(MAIN, LOAD)),
        ("MainThread", 0, 40, stack(MAIN)),
        ("&worker", 0, 0, stack(WAIT)),
        ("MainThread", RUNNING | GC, 30, stack(MAIN, LOAD, PARSE, DECODE)),
        ("MainThread", RUNNING, 60, stack(MAIN, EVEN, ODD, EVEN, ODD)),
        ("&worker", GIL_WAIT, 0, stack(WAIT)),
    ]


def record(path, lines, command="python app.py"):
    text = "\n".join("\t".join(map(str, line)) for line in lines) + "\n"
    done = subprocess.run([MAKE_STACKS, command], input=text.encode("utf-8", "surrogateescape"),
                          capture_output=True, check=True)
    path.write_bytes(done.stdout)
    return path


NATIVE, KERNEL = 1, 2
C_FILE = "/build/numpy/multiarray/module.c"


def native_runs():
    main, train, load = ("main", APP, 1, 3), ("train", APP, 10, 11), ("load", APP, 20, 21)
    dot = ("dot", "/srv/shop/venv/lib/python3.12/site-packages/numpy/linalg.py", 700, 731)
    product = ("matrix_product", C_FILE, 930, 4, NATIVE,
               "/srv/shop/venv/lib/python3.12/site-packages/numpy/_umath.cpython-312.so")
    gemm = ("cblas_dgemm", "", 0, 0, NATIVE, "/usr/lib/libblas.so.3")
    read = ("os_read", "/build/python/Modules/posix.c", 9000, 9044, NATIVE, "/usr/lib/libpython3.12.so.1.0")
    kernel = ("ksys_read", "", 0, 0, KERNEL, "[kernel]")
    return [
        ("MainThread", RUNNING, 200, stack(main, train, dot, product, gemm)),
        ("MainThread", RUNNING, 50, stack(main, train, dot, product)),
        ("MainThread", 0, 110, stack(main, load, read, kernel)),
        ("MainThread", RUNNING, 40, stack(main)),
        ("source", C_FILE, "\x1e".join(["#include <x.h>", "", "{", "\treturn <script>gemm()</script>;", "}"])),
    ]


@pytest.fixture(scope="module")
def recordings(tmp_path_factory):
    """Two: in the second, half of what parse took has gone to waiting."""
    folder = tmp_path_factory.mktemp("view")
    source = [("source", APP, SOURCE), ("marker", "request", "GET /<b>cart</b>", 100, 200)]
    slower = [(name, state, 115 if state == 0 and name == "MainThread" else ticks, frames)
              for name, state, ticks, frames in runs(100, 50)]
    slower[0] = ("MainThread", RUNNING, 25, slower[0][3])
    return [record(folder / "app.pyro", runs(100, 50) + source),
            record(folder / "later.pyro", slower + source)]


def write_page(*files, out):
    done = subprocess.run([PYROMETER, "view", "--html", out, *files], capture_output=True, text=True)
    if done.returncode and "WebAssembly" in done.stderr:
        pytest.skip("this build has no WebAssembly engine (tools/setup build installs its compiler)")
    assert done.returncode == 0, done.stderr
    return out


class Server:
    def __init__(self, *files):
        self.process = subprocess.Popen([PYROMETER, "view", "--no-browser", *files], stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, text=True)
        self.address = self.process.stdout.readline().strip()

    def ask(self, path="", method="GET", base=None, **headers):
        request = urllib.request.Request((base or self.address) + path, method=method, headers=headers)
        try:
            with urllib.request.urlopen(request, timeout=20) as reply:
                return reply.status, reply.headers, reply.read()
        except urllib.error.HTTPError as error:
            return error.code, error.headers, error.read()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.returncode is None:
            self.process.kill()
            self.process.communicate()

    def stop(self):
        self.process.send_signal(signal.SIGINT)
        _, errors = self.process.communicate(timeout=20)
        return self.process.returncode, errors


@pytest.fixture(scope="module")
def server(recordings):
    with Server(*recordings) as server:
        yield server
        assert server.stop() == (0, "")


@pytest.fixture(scope="module")
def page(recordings, tmp_path_factory):
    return write_page(*recordings, out=tmp_path_factory.mktemp("page") / "app.html")


def found(name, *places):
    for place in places:
        path = shutil.which(place) if isinstance(place, str) else place.exists() and place
        if path:
            return str(path)
    return pytest.skip(f"no {name} on this machine (tools/setup test installs it)")


def browse(script, *arguments):
    """What the script prints, which drives Chromium."""
    node = found("node", "node")
    env = {**os.environ, "CHROMIUM": found("chromium", "chromium", "chromium-browser", "google-chrome"),
           "PLAYWRIGHT": found("playwright-core", CACHE / "npm" / "node_modules" / "playwright-core")}
    done = subprocess.run([node, HERE / "viewer" / script, *arguments], capture_output=True,
                          text=True, timeout=400, env=env)
    assert done.returncode == 0, done.stderr
    return done.stdout


def drive(address, name, *scenarios):
    """What became of each scenario of a file: None, or what went wrong."""
    return json.loads(browse("drive.mjs", address, name, *scenarios))


class Results:
    """Of all scenarios of a file on a page, played when the first is asked for."""

    def __init__(self, address):
        self.address = address
        self.played = {}

    def check(self, name, scenario):
        if name not in self.played:
            self.played[name] = drive(self.address, name)
        assert self.played[name][scenario] is None, self.played[name][scenario]


@pytest.fixture(scope="module")
def page_results(page):
    return Results(page.as_uri())


@pytest.fixture(scope="module")
def server_results(server):
    return Results(server.address)


@pytest.mark.parametrize("scenario", scenarios_of("scenarios"))
def test_self_contained_page(page_results, scenario):
    page_results.check("scenarios", scenario)


@pytest.mark.parametrize("scenario", scenarios_of("scenarios"))
def test_server(server_results, scenario):
    server_results.check("scenarios", scenario)


def test_keys(page_results):
    """Every key of the help."""
    results = drive(page_results.address, "keys")
    assert len(results) > 40
    assert {name: why for name, why in results.items() if why} == {}


@pytest.fixture(scope="module")
def native_results(tmp_path_factory):
    folder = tmp_path_factory.mktemp("native")
    recording = record(folder / "native.pyro", native_runs())
    return Results(write_page(recording, out=folder / "native.html").as_uri())


@pytest.mark.parametrize("scenario", scenarios_of("native"))
def test_native_code(native_results, scenario):
    native_results.check("native", scenario)


def steady_runs(parse, render):
    main, idle = ("main", APP, 1, 3), ("idle", APP, 50, 51)
    return 100 * [("MainThread", RUNNING, parse, stack(main, ("parse", APP, 20, 21))),
                  ("MainThread", RUNNING, render, stack(main, ("render", APP, 30, 31))),
                  ("MainThread", RUNNING, 5, stack(main, idle))]


@pytest.fixture(scope="module")
def steady_results(tmp_path_factory):
    folder = tmp_path_factory.mktemp("steady")
    files = [record(folder / "base.pyro", steady_runs(8, 7)), record(folder / "new.pyro", steady_runs(4, 11))]
    return Results(write_page(*files, out=folder / "steady.html").as_uri() + "#view=compare")


@pytest.mark.parametrize("scenario", scenarios_of("steady"))
def test_comparison(steady_results, scenario):
    steady_results.check("steady", scenario)


# Nothing to show, and why

RECORDING = re.compile(r'(class="recording" data-name=")[^"]*("[^>]*>)[^<]*')
ENGINE = re.compile(r'<script type="application/octet-stream" id="engine">[^<]*</script>')


def broken_page(scenario, page, recordings, folder):
    """The page that a scenario of states.mjs is about."""
    text, path = page.read_text(), folder / "state.html"
    junk = base64.b64encode(zlib.compress(b"this is no recording at all")).decode()
    changed = {
        "corrupt": RECORDING.sub(rf"\1broken.pyro\2{junk}", text),
        "without engine": ENGINE.sub("", text),
        "without recording": re.sub(r'<script[^>]*class="recording"[^<]*</script>', "", text),
    }
    made = {
        "empty": lambda: record(folder / "empty.pyro", []),
        "broken off": lambda: cut(recordings[0], folder / "cut.pyro"),
        "without source": lambda: record(folder / "bare.pyro", runs(100, 50)),
    }
    if scenario in made:
        return write_page(made[scenario](), out=path)
    path.write_text(changed.get(scenario, text))
    return path


def cut(recording, path):
    path.write_bytes(recording.read_bytes()[:-60])
    return path


@pytest.mark.parametrize("scenario", scenarios_of("states"))
def test_states(page, recordings, tmp_path, scenario):
    address = broken_page(scenario, page, recordings, tmp_path).as_uri()
    assert drive(address, "states", scenario) == {scenario: None}


# The server's door

def test_token_is_needed(server):
    root = "http://" + urlsplit(server.address).netloc
    token = urlsplit(server.address).path.strip("/")
    assert re.fullmatch("[0-9a-f]{32}", token)
    for path in ["/", "/q?view=info", "/" + "0" * 32 + "/", f"/{token[:-1]}/", f"/{token[:-1]}x/q?view=info"]:
        status, _, body = server.ask(path, base=root)
        assert status == 403 and b"recordings" not in body, path
    assert server.ask()[0] == 200
    assert server.ask("nothing")[0] == 404
    assert server.ask("../../etc/passwd")[0] in (403, 404)


def test_foreign_host_and_origin_are_refused(server):
    port = urlsplit(server.address).port
    assert server.ask(Host="evil.example")[0] == 403
    assert server.ask(Host=f"evil.example:{port}")[0] == 403
    assert server.ask(Host=f"localhost:{port}")[0] == 200
    assert server.ask("q?view=info", Origin="http://evil.example")[0] == 403
    assert server.ask("q?view=info", Origin="null")[0] == 403
    assert server.ask("q?view=info", Origin=f"http://127.0.0.1:{port}")[0] == 200
    assert server.ask("q?view=info", **{"Sec-Fetch-Site": "cross-site"})[0] == 403
    assert server.ask(method="POST")[0] == 405


def test_a_request_without_host_is_refused(server):
    address = urlsplit(server.address)
    with socket.create_connection((address.hostname, address.port), 5) as connection:
        connection.sendall(f"GET {address.path} HTTP/1.0\r\n\r\n".encode())
        reply = connection.recv(1000)
    assert reply.split()[1] in (b"400", b"403")


def test_answers_may_not_be_framed_or_guessed(server):
    for path in ["", "q?view=info"]:
        headers = server.ask(path)[1]
        policy = headers["Content-Security-Policy"]
        assert "default-src 'none'" in policy and "unsafe-inline" not in policy
        assert headers["X-Content-Type-Options"] == "nosniff"
        assert headers["Cache-Control"] == "no-store"
        assert "Access-Control-Allow-Origin" not in headers


def test_listens_on_loopback_only(server):
    port = urlsplit(server.address).port
    listening = [line.split()[1] for name in ("tcp", "tcp6")
                 for line in Path("/proc/net", name).read_text().splitlines()[1:] if line.split()[3] == "0A"]
    own = [address for address in listening if int(address.rpartition(":")[2], 16) == port]
    assert own == [f"0100007F:{port:04X}"]


def test_junk_does_not_end_the_server(server):
    address = urlsplit(server.address)
    for junk in [b"\x00\xff\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n", b"GET " + b"a" * 200000 + b" HTTP/1.1\r\n\r\n"]:
        with socket.create_connection((address.hostname, address.port), 5) as connection:
            try:
                connection.sendall(junk)
                connection.recv(1000)
            except OSError:
                pass
    assert b"there is no view" in server.ask("q?view=%00%ff")[2]
    assert json.loads(server.ask("q?view=info")[2])["recordings"][0]["name"] == "app.pyro"


# The page

def test_page_forbids_requests(page):
    text = page.read_text()
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', text).group(1)
    assert "default-src 'none'" in policy and "connect-src 'none'" in policy
    assert "unsafe-inline" not in policy and "unsafe-eval" not in policy.replace("wasm-unsafe-eval", "")
    assert not re.search(r"""(src|href)=["']?(https?:)?//""", text)


def test_empty_page_weighs_little(page):
    text = re.sub(r'(class="recording"[^>]*>)[^<]*', r"\1", page.read_text())
    assert len(text) <= 400_000


HOSTILE = ["<script>window.attacked = 1</script>", "</script><script>window.attacked=1</script>",
           "<img src=x onerror='window.attacked=1'>", "\"><svg onload=window.attacked=1>", "{{7*7}}",
           "__proto__", "javascript:window.attacked=1", "\u202eevil\u0007\u0001"]


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    """Markup in every text that a recording has."""
    folder = tmp_path_factory.mktemp("hostile")
    file = {name: "/srv/" + name.replace("/", "_") for name in HOSTILE}
    lines = [(name, RUNNING, 10, stack((name, file[name], 1, 2), (name, "", 0, 0, NATIVE, "/lib/" + name)))
             for name in HOSTILE]
    lines += [("source", file[HOSTILE[2]], "\x1e".join(HOSTILE)), ("marker", HOSTILE[2], HOSTILE[0], 0, 50)]
    return record(folder / "<img src=x onerror=attacked=1>.pyro", lines, command=HOSTILE[0])


@pytest.mark.parametrize("way", ["page", "server"])
def test_hostile_names_stay_text(hostile, tmp_path, way):
    with Server(hostile) as server:
        page = write_page(hostile, out=tmp_path / "hostile.html")
        assert HOSTILE[0] not in page.read_text()
        shown = browse("show.mjs", page.as_uri() if way == "page" else server.address)
    assert shown.count("attacked: false") == 8, shown
    assert "made of names: 0" in shown
    for name in HOSTILE[:-1]:
        assert name in shown, name


def test_script_is_type_checked():
    tsc = found("typescript", CACHE / "npm" / "node_modules" / "typescript" / "bin" / "tsc")
    done = subprocess.run([found("node", "node"), tsc, "-p", HERE.parent.parent / "web"], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


# The command

@pytest.mark.parametrize("arguments, said", [
    ((), "view takes one to 16 recordings"),
    (("gone.pyro",), "cannot open gone.pyro"),
    (("--port", "70000", "app.pyro"), "there is no port 70000"),
])
def test_usage(recordings, arguments, said):
    done = subprocess.run([PYROMETER, "view", *arguments], capture_output=True, text=True,
                          cwd=recordings[0].parent)
    assert done.returncode != 0 and said in done.stderr


def test_corrupt_file_is_refused(tmp_path):
    path = tmp_path / "junk.pyro"
    path.write_bytes(b"not a recording at all")
    done = subprocess.run([PYROMETER, "view", path], capture_output=True, text=True, timeout=20)
    assert done.returncode == 8 and "junk.pyro" in done.stderr


def test_cut_file_is_shown_with_a_notice(recordings, tmp_path):
    path = cut(recordings[0], tmp_path / "cut.pyro")
    page = write_page(path, out=tmp_path / "cut.html")
    with Server(path) as server:
        assert "breaks off" in json.loads(server.ask("q?view=info")[2])["recordings"][0]["notice"]
        answer = json.loads(server.ask("q?view=top")[2])
    assert answer["samples"] == 500 and answer["second"] == pytest.approx(0.001)
    assert page.stat().st_size > 100_000


def test_page_goes_to_standard_output(recordings):
    done = subprocess.run([PYROMETER, "view", "--html", "-", recordings[0]], capture_output=True)
    if done.returncode == 0:
        assert done.stdout.startswith(b"<!doctype html>") and done.stdout.endswith(b"</html>\n")
    else:
        assert b"WebAssembly" in done.stderr


# What a recording carries

PROGRAM = "import time\nend = time.time() + 0.3\nwhile time.time() < end:\n    sum(range(1000))\n"


@pytest.mark.parametrize("options, carried", [((), True), (("--no-source",), False)])
def test_recording_carries_own_source(tmp_path, options, carried):
    script = tmp_path / "program.py"
    script.write_text(PROGRAM)
    done = subprocess.run([PYROMETER, "run", "-q", *options, "-o", tmp_path / "a.pyro", script],
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    with Server(tmp_path / "a.pyro") as server:
        answer = json.loads(server.ask(f"q?view=source&path={script}")[2])
    assert answer["text"] == (PROGRAM if carried else None)
    assert answer["lines"]


def test_run_writes_a_page(tmp_path):
    done = subprocess.run([PYROMETER, "run", "-q", "-o", tmp_path / "a.pyro", "--html", tmp_path / "a.html", "-c",
                           PROGRAM], capture_output=True, text=True)
    if "WebAssembly" in done.stderr:
        pytest.skip("this build has no WebAssembly engine (tools/setup build installs its compiler)")
    assert done.returncode == 0, done.stderr
    assert 'data-name="a.pyro"' in (tmp_path / "a.html").read_text()
