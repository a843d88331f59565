"""pyrometer report, on recordings whose every sample is known."""
import json
import os
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
BUILD = Path(os.environ.get("PYROMETER_BUILD") or ROOT / "build")
PYROMETER = BUILD / "src" / "cmd" / "pyrometer"
MAKE_STACKS = BUILD / "tests" / "unit" / "make_stacks"
MAKE_RECORDING = BUILD / "tests" / "unit" / "make_recording"

ON_CPU, GIL, GIL_WAIT = 1, 2, 4
RUNNING = ON_CPU | GIL
APP, LIBRARY = "/srv/shop/app.py", "/usr/lib/python3.12/json/decoder.py"


def stack(*frames):
    """Frames are (name, line) of the program, or (name, line, file)."""
    rows = [(name, *(rest or [APP]), line) for name, line, *rest in frames]
    return "\x1e".join("\x1f".join([name, file, "1", str(line)])
                       for name, file, line in rows)


MAIN = ("main", 3)
RUNS = [
    ("MainThread", RUNNING, 600, stack(MAIN, ("parse", 10), ("loads", 5, LIBRARY),
                                       ("scan", 9, LIBRARY))),
    ("MainThread", RUNNING, 250, stack(MAIN, ("walk", 20), ("walk", 21), ("walk", 21))),
    ("MainThread", 0, 150, stack(MAIN, ("fetch", 30))),
    ("worker", GIL_WAIT, 50, stack(("work", 40))),
    ("worker", RUNNING, 50, stack(("work", 41))),
]
TOTAL = sum(run[2] for run in RUNS)


def describe(path, runs):
    text = "".join("\t".join(map(str, run)) + "\n" for run in runs)
    with path.open("wb") as out:
        subprocess.run([MAKE_STACKS, "python3 app.py"], input=text.encode(),
                       stdout=out, check=True)
    return path


@pytest.fixture(scope="module")
def recording(tmp_path_factory):
    return describe(tmp_path_factory.mktemp("report") / "app.pyro", RUNS)


def report(*arguments, status=0, env=()):
    done = subprocess.run([PYROMETER, "report", *map(str, arguments)],
                          capture_output=True, text=True,
                          env={**os.environ, **dict(env)})
    assert done.returncode == status, done.stderr
    return done.stdout if status == 0 else done.stderr


def report_json(*arguments):
    return json.loads(report("--json", *arguments))


def test_tree(recording):
    text = report(recording)
    assert re.search(r"600 ms +60.0% .* loads +json/decoder.py:1 +"
                     r"\[1 frame hidden: json\]", text)
    assert re.search(r"250 ms +25.0% .* walk +app.py:1 +\(recursive\)", text)
    assert text.count("walk") == 1
    assert "worker" in text and "1,100 samples" in text


def test_tree_json_adds_up(recording):
    trees = {tree["name"]: tree for tree in report_json("--all", recording)["trees"]}
    lines = trees["MainThread"]["lines"]
    assert [line["samples"] for line in lines if line["depth"] == 0] == [1000]
    assert sum(line["self"] for line in lines if line["is"] == "call") == 1000
    assert {line.get("name"): line["depth"] for line in lines} == {
        "main": 0, "parse": 1, "loads": 2, "scan": 3, "walk": 1, "fetch": 1}
    assert trees["worker"]["samples"] == 100


def test_top(recording):
    row = (r"^ *([\d.]+ m?s) +([\d.]+)% +([\d.]+)% +([\d.]+ m?s) +([\d.]+)%"
           r" +[\d.]+[ ~] +[\d.]+[ ~]  (\w+) \(")
    rows = re.findall(row, report("--top", recording), re.M)
    assert [row[-1] for row in rows] == ["scan", "walk", "fetch", "work",
                                         "main", "parse", "loads"]
    assert rows[0][:2] == ("600 ms", "54.5")
    sums = [float(row[2]) for row in rows]
    assert sums == sorted(sums) and sums[-1] == 100
    by_cum = report("--top", "--sort", "cum", recording)
    assert by_cum.index(" main (") < by_cum.index(" scan (")


def test_top_json_has_intervals(recording):
    functions = {f["name"]: f for f in report_json("--top", recording)["functions"]}
    assert functions["walk"]["cum"]["samples"] == 250
    for function in functions.values():
        for share in (function["flat"], function["cum"]):
            assert share["again_low"] <= share["low"] <= share["share"]
            assert share["share"] <= share["high"] <= share["again_high"]
    # It ran at one end only: another recording may differ by far more.
    assert functions["scan"]["flat"]["drifts"]


def test_lines_show_source(tmp_path):
    source = tmp_path / "prog.py"
    source.write_text("def hot():\n    return sum(range(9))\n")
    os.utime(source, (1, 1))
    path = describe(tmp_path / "p.pyro", [
        ("MainThread", RUNNING, 90, stack(("hot", 2, str(source)))),
        ("MainThread", RUNNING, 10, stack(("gone", 7, "/no/such/file.py")))])
    text = report("--lines", path)
    assert re.search(r"90.0% +90.0% +[\d.]+[ ~] +2 +return sum", text)
    assert "source not found" in text
    files = {Path(f["file"]).name: f for f in report_json("--lines", path)["files"]}
    assert files["prog.py"]["lines"][0]["text"] == "    return sum(range(9))"
    assert files["file.py"]["source"] == "missing"
    assert files["file.py"]["lines"][0]["text"] is None


def test_threads(recording):
    rows = {row["name"]: row for row in report_json("--threads", recording)["threads"]}
    assert rows["MainThread"]["on_cpu"] == 850
    assert rows["worker"]["gil_wait"] == 50 and rows["worker"]["gil"] == 50
    assert rows["MainThread"]["top"]["name"] == "scan"
    assert re.search(r"worker .*50\.0 +50\.0 +50\.0", report("--threads", recording))


def test_callers(recording):
    function, = report_json("--callers", "loads", recording)["functions"]
    assert function["samples"] == 600 and function["self"] == 0
    assert [line["name"] for line in function["callers"]] == ["parse", "main"]
    assert [line["name"] for line in function["callees"]] == ["scan"]
    text = report("--callers", "loads", recording)
    assert text.index("called by") < text.index("parse") < text.index("calls\n")
    assert "nosuch" in report("--callers", "nosuch", recording, status=11)


@pytest.mark.parametrize("limit", [1, 2, 5, 12])
def test_callers_are_no_more_than_asked_for(tmp_path, limit):
    """A path that only leads on counts, too, and so do its self times."""
    outer = [(f"outer{i}", 1) for i in range(30)]
    inner = [(f"inner{i}", 1) for i in range(30)]
    path = describe(tmp_path / "deep.pyro", [
        ("MainThread", RUNNING, 30, stack(*outer, ("here", 1), *inner[:i + 1]))
        for i in range(30)] + [("MainThread", RUNNING, 30, stack((f"other{i}", 1), ("here", 1)))
                               for i in range(30)])
    function, = report_json("--callers", "here", "-l", limit, path)["functions"]
    for lines in (function["callers"], function["callees"]):
        assert (limit + 1) // 2 <= len(lines) <= limit
    text = report("--callers", "here", "-l", limit, path)
    above, below = re.search(r"called by\n(.*)^calls\n(.*?)^$", text, re.M | re.S).groups()
    assert len(above.splitlines()) <= limit and len(below.splitlines()) <= limit


def test_shares_are_as_sure_as_the_first_tree(tmp_path):
    runs = [("MainThread", RUNNING, 10000, stack(MAIN))]
    path = describe(tmp_path / "alone.pyro", runs)
    assert "shares within ±1.0 points (95%)\n" in report(path)
    path = describe(tmp_path / "beside.pyro", runs + [("brief", RUNNING, 30, stack(MAIN))])
    assert re.search(r"shares within ±1.0 points \(95%\), in\ssmaller threads up to ±1\d",
                     report(path))


def test_threads_say_how_often_they_were_there(tmp_path):
    path = describe(tmp_path / "many.pyro", [
        ("MainThread", RUNNING, 6 if i else 10, stack((f"f{i}", 1))) for i in range(16)])
    text = report("--threads", path)
    assert "most often in" in text and re.search(r"10% f0 \(", text) and "mostly" not in text


@pytest.mark.parametrize("arguments, samples", [
    (["--mode", "cpu"], 900), (["--mode", "gil"], 900),
    (["--thread", "work*"], 100), (["--thread", "4200"], 1000),
    (["--function", "walk"], 250), (["--file", "decoder.py"], 600),
    (["--from", "600ms", "--to", "850ms"], 250), (["--pid", "4200"], TOTAL),
    (["--function", "walk", "--thread", "worker"], 0),
])
def test_filters(recording, arguments, samples):
    counts = report_json("--top", *arguments, recording)["profile"]
    assert counts["samples"] == pytest.approx(samples, abs=1)


def test_views_and_files_in_turn(recording):
    lines = report("--top", "--threads", "--json", recording, recording).splitlines()
    assert [json.loads(line)["view"] for line in lines] == ["top", "threads"] * 2


@pytest.mark.parametrize("width", [40, 80, 200])
def test_width_and_colour(recording, width):
    for view in ("--tree", "--top", "--lines", "--threads"):
        text = report(view, recording, env={"COLUMNS": str(width)})
        assert max(map(len, text.splitlines())) <= width
        assert "\x1b" not in text
        assert "\x1b[" in report(view, "--color", "always", recording)


@pytest.mark.parametrize("view", ["--top", "--lines"])
def test_a_mark_is_explained_where_it_is(recording, view):
    for width in (40, 80, 120):
        text = report(view, recording, env={"COLUMNS": str(width)})
        assert bool(re.search(r"\d~ ", text)) == ("~ changes over time" in text)


def test_names_cannot_move_the_cursor(tmp_path):
    path = describe(tmp_path / "evil.pyro", [
        ("th\x1b[2Jread", RUNNING, 10, stack(("f\x1b[31m\x07", 1, "/e\x1b]0;x\x07.py")))])
    for view in ("--tree", "--top", "--lines", "--threads"):
        assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f]", report(view, path))
        report_json(view, path)


def test_idle_threads_share_a_line(tmp_path):
    wait = stack(("wait", 5, "/usr/lib/python3.12/threading.py"))
    runs = [("MainThread", RUNNING, 100, stack(MAIN))]
    runs += [(f"pool-{i}", 0, 100, wait) for i in range(40)]
    path = describe(tmp_path / "idle.pyro", runs)
    text = report(path)
    assert "40 threads only waited" in text and "40 in wait" in text
    assert len(text.splitlines()) < 12
    assert "40 threads pool-*" in report("--idle", path)


def test_one_thing_is_one(tmp_path):
    path = describe(tmp_path / "one.pyro", [("MainThread", RUNNING, 1, stack(MAIN))])
    text = report(path)
    assert "1 sample of 1 thread" in text and "1 sample in" in text
    runs = [("MainThread", RUNNING, 9, stack((f"f{i}", 1))) for i in range(6)]
    path = describe(tmp_path / "six.pyro", runs)
    assert "1 more function (--all)" in report("--top", "-l", 5, path)
    assert "1 more function matches (--all)" in report("--callers", "f*", path)


@pytest.mark.parametrize("view", ["--tree", "--top", "--lines", "--threads"])
def test_nothing_to_show(recording, tmp_path, view):
    """Says why, without the titles of a table that has no rows."""
    empty = describe(tmp_path / "empty.pyro", [])
    for arguments, why in ((["--thread", "nosuch", recording], "No sample passes the filters."),
                           (["--from", "5s", recording], "There are no samples in this time."),
                           ([empty], "The recording has no samples.")):
        text = report(view, *arguments)
        assert re.search(rf"\n\n{why}\n\n0 samples in ", text)
        assert report_json(view, *arguments)["profile"]["samples"] == 0


@pytest.mark.parametrize("view", ["--tree", "--top", "--threads", "--callers=*long*"])
def test_long_names_leave_room_for_their_place(tmp_path, view):
    name, file = "a_long_name_" * 20, "/srv/" + "deep/" * 20 + "place.py"
    path = describe(tmp_path / "long.pyro", [("MainThread", RUNNING, 9, stack((name, 7, file)))])
    line, = [line for line in report(view, path, env={"COLUMNS": "160"}).splitlines()
             if "a_long" in line and "(--all)" not in line]
    assert "…" in line and "place.py:1" in line and len(line) <= 160


def test_folded_recursion_leaves_nothing_out(tmp_path):
    path = describe(tmp_path / "deep.pyro", [
        ("MainThread", RUNNING, 9, stack(*[(f"f{i % 7}", i) for i in range(5000)]))])
    assert "smaller" not in report(path)


def test_large_recording(tmp_path):
    path = tmp_path / "large.pyro"
    subprocess.run([MAKE_RECORDING, "--ticks", "50000", "--threads", "4",
                    "-o", path], check=True, capture_output=True)
    assert report_json("--top", path)["profile"]["samples"] == 200000


@pytest.mark.parametrize("content", [
    b"", b"not a recording at all, but long enough to be one", None])
def test_bad_files(tmp_path, content):
    path = tmp_path / "bad.pyro"
    if content is not None:
        path.write_bytes(content)
    done = subprocess.run([PYROMETER, "report", path], capture_output=True, text=True)
    assert done.returncode > 0 and not done.stdout
    assert len(done.stderr.splitlines()) == 1 and "bad.pyro" in done.stderr


def test_truncated_file_is_reported_with_a_notice(recording, tmp_path):
    path = tmp_path / "cut.pyro"
    path.write_bytes(recording.read_bytes()[:-40])
    data = report_json("--top", path)
    assert data["recording"]["notice"] and data["recording"]["notice"] in \
        " ".join(report(path).split())


@pytest.mark.parametrize("arguments", [
    [], ["--sort", "size", "x"], ["--limit", "-3", "x"], ["--nonsense", "x"]])
def test_wrong_usage(arguments):
    assert len(report(*arguments, status=2).splitlines()) == 1
