"""Exports, checked by the programs that they are for.

Recordings are described run by run, so that every total is known. A reader that
is not on this machine skips its tests and is named."""
import gzip
import json
import os
import re
import resource
import shutil
import signal
import subprocess
import time
from collections import Counter
from pathlib import Path

import pytest

from interpreters import BUILD, INTERPRETERS

HERE = Path(__file__).resolve().parent
CACHE = Path(os.environ.get("PYROMETER_CACHE") or Path(
    os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache", "pyrometer"))
PYROMETER = BUILD / "src" / "cmd" / "pyrometer"
MAKE_STACKS = BUILD / "tests" / "unit" / "make_stacks"
MAKE_RECORDING = BUILD / "tests" / "unit" / "make_recording"
NPM = CACHE / "npm" / "node_modules"

ON_CPU, GIL, GIL_WAIT, GC, TORN = 1, 2, 4, 8, 16
RUNNING = ON_CPU | GIL
NO_STACK = "<no Python stack>"

OUTPUTS = {
    "collapsed": "app.folded", "speedscope": "app.speedscope.json",
    "pprof": "app.pb.gz", "firefox": "app.firefox.json",
    "chrome": "app.trace.json", "callgrind": "callgrind.out.app",
    "pstats": "app.pstats", "flamegraph": "app.svg",
}


def frame(name, line=0, file="/srv/shop/app.py", first=1):
    return "\x1f".join([name, file, str(first), str(line)])


def stack(*frames):
    return "\x1e".join(frames)


MAIN, LOAD, PARSE = frame("main", 3), frame("load", 11, first=10), frame("parse", 21, first=20)
PARSE_LATER = frame("parse", 25, first=20)
DECODE = frame("decode", 355, "/usr/lib/python3.12/json/decoder.py", 340)
EVEN, ODD = frame("even", 31, first=30), frame("odd", 41, first=40)
WAIT = frame("Condition.wait", 359, "/usr/lib/python3.12/threading.py", 288)

# thread, state, ticks, stack
RUNS = [
    ("MainThread", RUNNING, 100, stack(MAIN, LOAD, PARSE)),
    ("MainThread", RUNNING, 50, stack(MAIN, LOAD, PARSE_LATER)),
    ("MainThread", RUNNING, 30, stack(MAIN, LOAD, PARSE_LATER, DECODE)),
    ("worker", 0, 200, stack(WAIT)),
    ("MainThread", ON_CPU, 20, stack(MAIN, LOAD)),
    ("MainThread", GIL_WAIT, 40, stack(MAIN)),
    ("MainThread", RUNNING | GC, 10, stack(MAIN, LOAD)),
    ("MainThread", RUNNING, 60, stack(MAIN, EVEN, ODD, EVEN, ODD)),
    ("MainThread", RUNNING | TORN, 5, stack(MAIN)),
    ("worker", ON_CPU, 7, ""),
]
TOTAL = sum(run[2] for run in RUNS)
TICK = .001 / 16  # seconds: to what the time of a tick is stored
ON_CPU_TOTAL = sum(run[2] for run in RUNS if run[1] & ON_CPU)

# function: (self, total), in samples; what recurs counts once
FUNCTIONS = {
    "main": (45, 315), "load": (30, 210), "parse": (150, 180), "decode": (30, 30),
    "even": (0, 60), "odd": (60, 60), "Condition.wait": (200, 200), NO_STACK: (7, 7),
}

HOSTILE = [
    "<script>window.attacked = 1</script>", "a;b 7", "]]><script>attacked=1</script>",
    "quo\"te'back\\slash", "tab\there"[:3] + "\x01\x1b[31mred", "&lt;&amp;&#60;",
    "\u202egnp.exe", "\u540d\u524d \U0001f525", "</title><image href='x' onerror='attacked=1'/>",
    "{marker.data.text}", "%s%n%d", "fn=(1) calls=1 1", "x" * 3000, "<listcomp>",
]


def record(path, runs, command="python app.py --fast", markers=()):
    lines = ["\t".join(map(str, run)) for run in runs]
    lines += ["\t".join(["marker", *map(str, marker)]) for marker in markers]
    text = "\n".join(lines) + "\n"
    done = subprocess.run([MAKE_STACKS, command], input=text.encode("utf-8", "surrogateescape"),
                          capture_output=True, check=True)
    path.write_bytes(done.stdout)
    return path


def export(recording, *arguments, **options):
    return subprocess.run([PYROMETER, "export", recording, *arguments],
                          capture_output=True, **options)


def exported(recording, name, *arguments):
    """The path of the export, which must succeed."""
    done = export(recording, "-f", name, *arguments)
    assert done.returncode == 0, done.stderr.decode()
    return recording.parent / OUTPUTS[name].replace("app", recording.stem)


@pytest.fixture(scope="module")
def app(tmp_path_factory):
    return record(tmp_path_factory.mktemp("export") / "app.pyro", RUNS, markers=[
        ("request", "GET /", 10, 40), ("beep", "now", 50, 50)])


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    runs = [("MainThread", RUNNING, len(HOSTILE) - i, stack(MAIN, frame(name, 5, name + ".py")))
            for i, name in enumerate(HOSTILE)]
    runs.append((HOSTILE[0], RUNNING, 9, stack(frame("bad \udcff\udcfe utf-8", 1))))
    return record(tmp_path_factory.mktemp("hostile") / "app.pyro", runs,
                  command="python " + HOSTILE[0], markers=[(HOSTILE[0], HOSTILE[2], 1, 2)])


HOSTILE_TOTAL = sum(range(1, len(HOSTILE) + 1)) + 9


@pytest.fixture(scope="module")
def big(tmp_path_factory):
    """A program with tens of thousands of distinct stacks."""
    path = tmp_path_factory.mktemp("big") / "app.pyro"
    subprocess.run([MAKE_RECORDING, "-o", path, "--ticks", "20000", "--threads", "4", "--depth",
                    "30", "--branching", "4", "--extras"], check=True, capture_output=True)
    return path


def reader(name, *places):
    """The path of a program or package that reads a format, or skip."""
    for place in places:
        found = shutil.which(place) if isinstance(place, str) else place.exists() and place
        if found:
            return str(found)
    pytest.skip(f"no {name} on this machine (tools/setup test installs it)")


def browse(script, *arguments):
    node = reader("node", "node")
    chromium = reader("chromium", "chromium", "chromium-browser", "google-chrome")
    playwright = reader("playwright-core", NPM / "playwright-core")
    done = subprocess.run([node, HERE / "readers" / script, *arguments], capture_output=True,
                          text=True, timeout=120,
                          env={**os.environ, "PLAYWRIGHT": playwright, "CHROMIUM": chromium})
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


# The command itself

@pytest.mark.parametrize("name", OUTPUTS)
def test_default_name_stands_beside_the_recording(app, name):
    path = exported(app, name)
    assert path.stat().st_size > 100
    leftovers = [other for other in path.parent.iterdir() if other.name.startswith(path.name + ".")]
    assert not leftovers


@pytest.mark.parametrize("name", OUTPUTS)
def test_format_is_guessed_from_the_output(app, tmp_path, name):
    guessed, said = tmp_path / OUTPUTS[name], tmp_path / "said"
    assert export(app, "-o", guessed).returncode == 0
    assert export(app, "-f", name, "-o", said).returncode == 0
    assert guessed.read_bytes() == said.read_bytes()


@pytest.mark.parametrize("name", OUTPUTS)
def test_dash_is_standard_output(app, tmp_path, name):
    done = export(app, "-f", name, "-o", "-")
    assert done.returncode == 0 and not done.stderr
    assert done.stdout == exported(app, name).read_bytes()


def test_help_names_every_format():
    text = subprocess.run([PYROMETER, "export", "--help"], capture_output=True, text=True).stdout
    for name in OUTPUTS:
        assert re.search(rf"\b{name}\b", text)


@pytest.mark.parametrize("arguments, word", [
    (["-f", "jpeg"], "jpeg"), ([], "-f"), (["-o", "x.bin"], "x.bin"),
    (["-f", "pprof", "--pid", "1"], "4200"), (["-f", "pprof", "--pid", "me"], "me"),
    (["-f", "pprof", "--from", "2s", "--to", "1s"], "--from"),
    (["-f", "pprof", "--thread", "nobody"], "filter"),
])
def test_wrong_usage_is_one_clear_line(app, arguments, word):
    done = export(app, *arguments, text=True)
    assert done.returncode != 0 and not done.stdout
    assert done.stderr.count("\n") == 1 and word in done.stderr


@pytest.mark.parametrize("output", ["missing/app.svg", "folder", "/dev/full"])
def test_unwritable_output_is_one_clear_line(app, tmp_path, output):
    (tmp_path / "folder").mkdir()
    done = export(app, "-f", "flamegraph", "-o", output, text=True, cwd=tmp_path)
    assert done.returncode == 9
    assert done.stderr.count("\n") == 1 and output in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["folder"]


def limit_files():
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (20000, 20000))


@pytest.mark.parametrize("name", OUTPUTS)
def test_a_failed_export_leaves_the_old_file(big, tmp_path, name):
    old = tmp_path / OUTPUTS[name]
    old.write_text("precious")
    done = export(big, "-o", old, text=True, preexec_fn=limit_files)
    assert done.returncode == 9 and done.stderr.count("\n") == 1
    assert old.read_text() == "precious"
    assert list(tmp_path.iterdir()) == [old]


def test_a_broken_recording_is_refused(tmp_path):
    foreign = tmp_path / "app.pyro"
    foreign.write_bytes(b"GIF89a" * 100)
    done = export(foreign, "-f", "pstats", text=True)
    assert done.returncode != 0 and done.stderr.count("\n") == 1
    assert list(tmp_path.iterdir()) == [foreign]


def test_a_link_is_followed(app, tmp_path):
    (tmp_path / "real.svg").write_text("old")
    (tmp_path / "link.svg").symlink_to("real.svg")
    assert export(app, "-o", tmp_path / "link.svg").returncode == 0
    assert (tmp_path / "link.svg").is_symlink()
    assert (tmp_path / "real.svg").read_text().startswith("<?xml")


# collapsed

def collapsed(recording, *arguments):
    lines = Counter()
    for line in exported(recording, "collapsed", *arguments).read_text().splitlines():
        path, _, count = line.rpartition(" ")
        lines[path] += int(count)
    return lines


def test_collapsed_is_as_py_spy_writes_it(app):
    lines = collapsed(app)
    assert sum(lines.values()) == TOTAL
    assert lines["main (app.py:3);load (app.py:11);parse (app.py:21)"] == 100
    assert lines["main (app.py:3);load (app.py:11);parse (app.py:25);"
                 "decode (json/decoder.py:355)"] == 30
    assert lines[NO_STACK] == 7


def test_collapsed_with_threads(app):
    lines = collapsed(app, "--threads")
    assert sum(lines.values()) == TOTAL
    root = 'process 4200:"python app.py --fast";thread (4201): worker;'
    assert lines[root + "Condition.wait (threading.py:359)"] == 200


def test_collapsed_keeps_hostile_names_apart(hostile):
    lines = collapsed(hostile)
    assert sum(lines.values()) == HOSTILE_TOTAL and len(lines) == len(HOSTILE) + 1
    assert all(path.count(";") < 2 for path in lines)


@pytest.mark.parametrize("arguments, total", [
    (["--mode", "cpu"], ON_CPU_TOTAL),
    (["--mode", "gil"], sum(run[2] for run in RUNS if run[1] & GIL)),
    (["--thread", "worker"], 207), (["--function", "parse"], 180),
    (["--file", "*decoder.py"], 30), (["--pid", "4200"], TOTAL),
    (["--from", "100ms", "--to", "150ms"], 50),
])
def test_filters_reach_the_export(app, arguments, total):
    assert sum(collapsed(app, *arguments).values()) == total


# pprof

def pprof(path, *arguments):
    program = reader("pprof", CACHE / "bin" / "pprof")
    return subprocess.run([program, *arguments, path], capture_output=True, text=True, check=True,
                          env={**os.environ, "PPROF_TMPDIR": str(path.parent)}).stdout


def pprof_top(path, sample_type):
    """function: (flat, cum) in the unit's own numbers"""
    text = pprof(path, "-top", "-nodecount=0", "-nodefraction=0", "-unit=ms",
                 f"-sample_index={sample_type}")
    rows = re.findall(r"^\s*([\d.]+)(?:ms)?\s+\S+%\s+\S+%\s+([\d.]+)(?:ms)?\s+\S+%\s+(.*)$",
                      text, re.M)
    return {name: (float(flat), float(cum)) for flat, cum, name in rows}


def test_pprof_agrees(app):
    path = exported(app, "pprof")
    assert pprof_top(path, "samples") == FUNCTIONS
    assert pprof_top(path, "wall") == FUNCTIONS  # a sample is a millisecond
    assert sum(flat for flat, _ in pprof_top(path, "cpu").values()) == ON_CPU_TOTAL


def test_pprof_default_type_period_and_labels(app):
    path = exported(app, "pprof")
    raw = pprof(path, "-raw")
    assert "wall/nanoseconds[dflt]" in raw and "Period: 1000000\n" in raw
    assert "Duration: 522m" in raw and "python app.py --fast" in raw
    tags = pprof(path, "-tags", "-unit=ms")
    for value, ms in [("worker", 207), ("MainThread", 315), ("idle", 200), ("torn", 5),
                      ("waiting for the GIL", 40), ("collecting garbage", 10),
                      ("running without the GIL", 27)]:
        assert re.search(rf"{ms}\.?0*ms .*: {value}\n", tags), value


def test_pprof_keeps_lines(app):
    top = pprof(exported(app, "pprof"), "-top", "-lines", "-sample_index=samples",
                "-nodefraction=0")
    assert re.search(r"100 .*parse /srv/shop/app.py:21", top)
    assert re.search(r"50 .*parse /srv/shop/app.py:25", top)


def test_pprof_takes_hostile_names(hostile):
    path = exported(hostile, "pprof")
    top = pprof_top(path, "samples")
    assert sum(flat for flat, _ in top.values()) == HOSTILE_TOTAL
    assert top["a;b 7"][0] == 13


def test_pprof_of_a_big_recording(big):
    raw = pprof(exported(big, "pprof"), "-raw")
    counts = re.findall(r"^\s+(\d+)\s+\d+\s+\d+: ", raw, re.M)
    assert sum(map(int, counts)) == sum(collapsed(big).values())


# speedscope

def seconds(text):
    number, unit = re.match(r"([\d.]+)(ns|\u00b5s|ms|s)", text).groups()
    return float(number) * {"ns": 1e-9, "\u00b5s": 1e-6, "ms": 1e-3, "s": 1}[unit]


def speedscope(path):
    folder = reader("speedscope", NPM / "speedscope" / "dist" / "release")
    seen = browse("speedscope.js", folder, path)
    chatter = re.compile("console (log|info|timeEnd|warning): ")  # of its own and of WebGL
    assert not [problem for problem in seen["problems"] if not chatter.match(problem)]
    return seen


def test_speedscope_agrees(app):
    seen = speedscope(exported(app, "speedscope"))
    assert seen["title"].startswith("python app.py --fast")
    threads = {name: seconds(total) for _, name, total in seen["threads"]}
    assert threads == {"MainThread (4200)": pytest.approx(.315, abs=.01),
                       "worker (4201)": pytest.approx(.207, abs=.01)}
    rows = {name: (seconds(own), seconds(total)) for total, own, name in seen["functions"]}
    for name, (own, total) in FUNCTIONS.items():
        if name not in ("Condition.wait", NO_STACK):  # of the other thread
            assert rows[name] == (pytest.approx(own / 1000), pytest.approx(total / 1000)), name


def test_speedscope_profiles_are_sound(app):
    content = json.loads(exported(app, "speedscope").read_text())
    total = 0
    for profile in content["profiles"]:
        assert len(profile["samples"]) == len(profile["weights"])
        span = profile["endValue"] - profile["startValue"]
        assert sum(profile["weights"]) == pytest.approx(span)
        total += span
        for path in profile["samples"]:
            assert all(0 <= index < len(content["shared"]["frames"]) for index in path)
    assert total == pytest.approx(TOTAL / 1000)
    assert content["profiles"][1]["startValue"] == pytest.approx(.180, abs=TICK)
    # Lines of one function are one stretch, and so is what follows on it.
    assert len(content["profiles"][0]["samples"]) == 7


def test_speedscope_takes_hostile_names(hostile):
    seen = speedscope(exported(hostile, "speedscope"))
    names = [name for _, _, name in seen["functions"]]
    assert HOSTILE[0] in names and HOSTILE[2] in names


# pstats

def read_pstats(path, interpreter):
    """What readers/pstats_reader.py prints; in another root it needs copies."""
    files = [HERE / "readers" / "pstats_reader.py", path]
    copies = []
    if interpreter.root:
        copies = [Path(interpreter.root, "tmp", f"{os.getpid()}-{file.name}") for file in files]
        for file, copy in zip(files, copies):
            shutil.copy(file, copy)
        files = ["/tmp/" + copy.name for copy in copies]
    try:
        return subprocess.run(interpreter.command(*files), capture_output=True,
                              check=True).stdout.decode()
    finally:
        for copy in copies:
            copy.unlink()


def parse_pstats(text):
    total, *lines = text.split("\n")
    rows = {}
    for line in lines:
        name, file, number, nc, own, cumulative, callers = line.split("\t")
        rows[name] = (file, int(number), int(nc), float(own), float(cumulative), callers)
    return float(total), rows


@pytest.mark.parametrize("interpreter", INTERPRETERS, ids=lambda interpreter: interpreter.name)
def test_pstats_agrees_in_every_python(app, interpreter):
    total, rows = parse_pstats(read_pstats(exported(app, "pstats"), interpreter))
    assert total == pytest.approx(TOTAL / 1000)
    assert {name: (round(row[3] * 1000), row[2]) for name, row in rows.items()} == FUNCTIONS
    assert all(row[4] == pytest.approx(row[2] / 1000) for row in rows.values())
    assert rows["parse"][:2] == ("/srv/shop/app.py", 20) and rows["parse"][5] == "load:180"
    assert rows["even"][5] == "main:60,odd:60"


def test_pstats_takes_hostile_names(hostile):
    total, rows = parse_pstats(read_pstats(exported(hostile, "pstats"), INTERPRETERS[-1]))
    assert total == pytest.approx(HOSTILE_TOTAL / 1000) and len(rows) == len(HOSTILE) + 2


# callgrind

def annotate(path, *arguments):
    """function: nanoseconds as callgrind_annotate prints them"""
    program = reader("callgrind_annotate", "callgrind_annotate")
    text = subprocess.run([program, "--threshold=100", "--auto=no", "--show-percs=no", *arguments,
                           path], capture_output=True, text=True, check=True).stdout
    costs = {}
    for ns, samples, name in re.findall(r"^\s*([\d,]+)\s+([\d,]+)\s+(\S.*)$", text, re.M):
        costs[name.split(":")[-1]] = (int(ns.replace(",", "")), int(samples.replace(",", "")))
    return costs


def test_callgrind_agrees(app):
    path = exported(app, "callgrind")
    costs = annotate(path)
    assert costs.pop("PROGRAM TOTALS".split(":")[-1]) == (TOTAL * 1000000, TOTAL)
    own = {name: samples for name, (_, samples) in costs.items()}
    assert own == {name: own for name, (own, _) in FUNCTIONS.items() if own}


def test_callgrind_inclusive_agrees(app):
    costs = annotate(exported(app, "callgrind"), "--inclusive=yes")
    for name in ("main", "load", "parse", "decode", "Condition.wait"):
        assert costs[name][1] == FUNCTIONS[name][1], name


def test_callgrind_counts_direct_recursion_once(tmp_path):
    fib = [frame("fib", 2)] * 9
    path = record(tmp_path / "app.pyro", [("MainThread", RUNNING, 10, stack(MAIN, *fib)),
                                          ("MainThread", RUNNING, 10, stack(MAIN, *fib[:3]))])
    costs = annotate(exported(path, "callgrind"), "--inclusive=yes")
    assert costs["fib"] == (20000000, 20) and costs["main"] == (20000000, 20)


def test_callgrind_takes_hostile_names(hostile):
    costs = annotate(exported(hostile, "callgrind"))
    assert costs["PROGRAM TOTALS"][1] == HOSTILE_TOTAL


def test_callgrind_of_a_function_without_a_name(tmp_path):
    path = record(tmp_path / "app.pyro", [("MainThread", RUNNING, 10, stack(MAIN, frame("", 2))),
                                          ("MainThread", RUNNING, 5, stack(MAIN))])
    costs = annotate(exported(path, "callgrind"))
    assert costs["?"][1] == 10 and costs["main"][1] == 5


# chrome

def check_nesting(events):
    """Complete events of a thread lie within each other or apart, callers first."""
    open_until = []
    previous = 0
    for event in events:
        start, end = event["ts"], event["ts"] + event["dur"]
        assert start >= previous and event["dur"] > 0
        previous = start
        while open_until and open_until[-1] <= start + 1e-6:
            open_until.pop()
        assert not open_until or end <= open_until[-1] + 1e-6
        open_until.append(end)


def chrome_threads(path):
    events = json.loads(path.read_text())["traceEvents"]
    threads = {}
    for event in events:
        if event["ph"] == "X":
            threads.setdefault((event["pid"], event["tid"]), []).append(event)
    return events, threads


def outermost(events):
    total, until = 0, -1
    for event in events:
        if event["ts"] >= until - 1e-6:
            total += event["dur"]
            until = event["ts"] + event["dur"]
    return total


@pytest.mark.parametrize("recording", ["app", "hostile", "big"])
def test_chrome_events_nest(recording, request):
    _, threads = chrome_threads(exported(request.getfixturevalue(recording), "chrome"))
    assert threads
    for events in threads.values():
        check_nesting(events)


def test_chrome_agrees(app):
    events, threads = chrome_threads(exported(app, "chrome"))
    assert sum(map(outermost, threads.values())) == pytest.approx(TOTAL * 1000, rel=1e-4)
    times = Counter()
    for event in threads[4200, 4200]:
        times[event["name"]] += event["dur"]
    assert times["parse"] == pytest.approx(180000, rel=1e-3)
    assert times["decode"] == pytest.approx(30000, abs=TICK * 1e6)
    names = {event["args"]["name"] for event in events if event["ph"] == "M"}
    assert names == {"python app.py --fast", "MainThread", "worker"}


def test_chrome_markers_and_states(app):
    events, _ = chrome_threads(exported(app, "chrome"))
    instant, = [event for event in events if event["ph"] == "i"]
    assert instant["name"] == "beep" and instant["ts"] == 50000
    span = [event["ts"] for event in events if event["ph"] in "be"]
    assert span == [10000, 40000]
    counts = {event["ts"]: event["args"] for event in events if event["ph"] == "C"}
    assert counts[0]["running Python"] == 1
    assert max(count["waiting for the GIL"] for count in counts.values()) == 1
    assert all(sum(count.values()) <= 2 for count in counts.values())


@pytest.mark.parametrize("arguments", [["--from", "200ms"], ["--thread", "worker"]])
def test_chrome_filters_reach_markers_and_names(app, arguments):
    events, _ = chrome_threads(exported(app, "chrome", *arguments))
    assert not [event for event in events if event["ph"] in "ibe"]
    names = {event["args"]["name"] for event in events if event["name"] == "thread_name"}
    assert "worker" in names and ("MainThread" in names) == (arguments[0] == "--from")


# firefox

class FirefoxProfiler:
    """The Firefox Profiler's own command line, with its daemon on one profile."""

    def __init__(self, profile, folder):
        program = reader("@firefox-devtools/profiler-cli", NPM / ".bin" / "profiler-cli")
        self.command = [reader("node", "node"), program]
        self.environment = {**os.environ, "PROFILER_CLI_SESSION_DIR": str(folder)}
        self.socket = folder / "test.sock"
        self.daemon = subprocess.Popen(
            [*self.command, "--daemon", profile, "--session", "test"], env=self.environment,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def __enter__(self):
        # To ask before it listens would make the client forget the session.
        self.wait_for(self.socket.exists)
        self.wait_for(lambda: self.run("status").returncode == 0)
        return self

    def __exit__(self, *_):
        self.daemon.terminate()
        self.daemon.wait()

    def wait_for(self, condition):
        deadline = time.monotonic() + 60
        while not condition():
            assert self.daemon.poll() is None, "the profiler's daemon has ended"
            assert time.monotonic() < deadline, "the profiler's daemon is not ready"
            time.sleep(.05)

    def run(self, *arguments):
        return subprocess.run([*self.command, *arguments, "--session", "test"], timeout=60,
                              capture_output=True, text=True, env=self.environment)

    def ask(self, *arguments):
        done = self.run(*arguments)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout


def test_firefox_profiler_agrees(app, tmp_path):
    with FirefoxProfiler(exported(app, "firefox"), tmp_path) as profiler:
        info = profiler.ask("profile", "info", "--all")
        text = profiler.ask("thread", "samples", "--thread", "t-0", "--include-idle")
        markers = profiler.ask("thread", "markers", "--thread", "t-0")
    assert "2 threads across 1 process" in info and "python app.py --fast" in info
    for name, total in [("main", 315), ("load", 210), ("parse", 180), ("even", 60)]:
        assert re.search(rf"\. {name} - total: {total} ", text), name
    for name, own in [("main", 45), ("parse", 150), ("odd", 60)]:
        assert re.search(rf"\. {name} - self: {own} ", text), name
    for name, samples in [("Python", 245), ("Waiting for the GIL", 40), ("Collecting garbage", 10),
                          ("Running without the GIL", 20)]:
        assert re.search(rf"^  {name} .*\b{samples} ", text, re.M), name
    assert "beep" in markers and "request" in markers


def test_firefox_profiler_takes_hostile_names(hostile, tmp_path):
    with FirefoxProfiler(exported(hostile, "firefox"), tmp_path) as profiler:
        assert "a;b 7 - self: 13 " in profiler.ask("thread", "samples", "--thread", "t-0")


def columns_of(table):
    return {name: column for name, column in table.items() if isinstance(column, list)}


def check_tables(content):
    shared = content["shared"]
    for name in ("stackTable", "frameTable", "funcTable", "sources", "resourceTable"):
        for column, values in columns_of(shared[name]).items():
            assert len(values) == shared[name]["length"], (name, column)
    for index, prefix in enumerate(shared["stackTable"]["prefix"]):
        assert prefix is None or prefix < index
    limits = [("stackTable", "frame", "frameTable"), ("frameTable", "func", "funcTable"),
              ("funcTable", "source", "sources")]
    for table, column, other in limits:
        assert all(value is None or 0 <= value < shared[other]["length"]
                   for value in shared[table][column])
    assert all(name < len(shared["stringArray"]) for name in shared["funcTable"]["name"])


@pytest.mark.parametrize("recording", ["app", "hostile", "big"])
def test_firefox_tables_are_sound(recording, request):
    path = request.getfixturevalue(recording)
    content = json.loads(exported(path, "firefox").read_text())
    check_tables(content)
    assert content["meta"]["preprocessedProfileVersion"] == 60
    total = 0
    for thread in content["threads"]:
        samples = thread["samples"]
        for column in columns_of(samples).values():
            assert len(column) == samples["length"]
        assert samples["time"] == sorted(samples["time"])
        assert max(samples["stack"]) < content["shared"]["stackTable"]["length"]
        total += sum(samples["weight"])
    assert total == sum(collapsed(path).values())


# flamegraph

def test_flamegraph_is_used_in_a_browser(app):
    path = exported(app, "flamegraph")
    seen = browse("flamegraph.js", path, "parse", "decode|^even")
    assert not seen["problems"] and not seen["attacked"]
    assert len(seen["all"]) == 11  # all, 6 of MainThread's main and below, 2 + 2
    assert seen["tip"][0] == "parse" and seen["tip"][1] == "app.py:20"
    assert "180 ms" in seen["tip"][2] and "34.48%" in seen["tip"][2]
    zoomed = [frame for frame in seen["zoomed"] if "above" not in frame["className"]]
    assert [frame["width"] for frame in zoomed] == [100, pytest.approx(100 * 30 / 180)]
    assert seen["back"] == seen["all"]
    assert seen["search"]["matched"].startswith(f"{(30 + 60) / TOTAL * 100:.2f}%")
    assert seen["search"]["hits"] == 3 and not seen["search"]["wrong"]
    assert seen["cleared"]["hits"] == 0 and seen["wrong"]["wrong"] == 1
    assert seen["focus"] == "search"


def test_flamegraph_widths_agree(app):
    text = exported(app, "flamegraph").read_text()
    boxes = re.findall(r'x="([\d.e-]+)%" y="(\d+)" width="([\d.e-]+)%".*?<title>(.*?)\n.*?\n(.*?)<',
                       text, re.S)
    assert sum(float(width) for _, y, width, *_ in boxes if int(y) == 96) == pytest.approx(100)
    for name, (_, total) in FUNCTIONS.items():
        if name in ("even", "odd", NO_STACK):
            continue
        width, = [float(box[2]) for box in boxes if box[3] == name]
        assert width == pytest.approx(total / TOTAL * 100)


def test_flamegraph_with_threads(app):
    text = exported(app, "flamegraph", "--threads").read_text()
    assert "thread (4201): worker" in text and "process 4200" in text


def test_flamegraph_hostile_names_are_only_text(hostile):
    path = exported(hostile, "flamegraph")
    seen = browse("flamegraph.js", path, "<script>", "script")
    assert not seen["problems"] and not seen["attacked"]
    assert set(seen["elements"]) <= {"svg", "title", "style", "rect", "g", "text", "script",
                                     "foreignObject", "div", "output", "input", "button"}
    assert any(label.startswith("<script>") for label in seen["labels"])


def test_flamegraph_of_a_big_recording_stays_small(big):
    path = exported(big, "flamegraph")
    text = path.read_text()
    assert text.count("<rect class=") <= 20010
    assert "left out" in text
    seen = browse("flamegraph.js", path, "Condition.wait", "parse")
    assert not seen["problems"]


def test_flamegraph_of_deep_recursion(tmp_path):
    deep = stack(MAIN, *[frame("fib", 2)] * 15000)
    path = record(tmp_path / "app.pyro", [("MainThread", RUNNING, 5, deep)])
    text = exported(path, "flamegraph").read_text()
    assert 1000 < text.count("<rect class=") < 3000 and "left out" in text
    assert gzip.decompress(exported(path, "pprof").read_bytes())
    for name in ("collapsed", "speedscope", "chrome", "firefox", "callgrind", "pstats"):
        assert exported(path, name).stat().st_size > 0
