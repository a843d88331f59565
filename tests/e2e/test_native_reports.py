"""Reports and exports of recordings with native code, every sample of which is
known, read by the programs that the formats are for."""
import json
import re
import subprocess
import xml.etree.ElementTree as xml

import pytest

from interpreters import INTERPRETERS
from test_export import (HOSTILE, MAKE_RECORDING, OUTPUTS, FirefoxProfiler, annotate, check_tables, collapsed,
                         exported, frame, parse_pstats, pprof, pprof_top, read_pstats, record,
                         seconds, speedscope, stack)
from test_report import report

ON_CPU, GIL, NATIVE, BROKEN, UNMERGED = 1, 2, 1 << 9, 1 << 10, 1 << 11
RUNNING = ON_CPU | GIL | NATIVE
FAST, LIBC = "/srv/shop/fast.so", "/usr/lib/x86_64-linux-gnu/libc.so.6"
SOURCE, BUILD_ID = "/srv/shop/native/fast.c", "0123456789abcdef0123456789abcdef01234567"
DEBUG_ID = "67452301AB89EFCD0123456789ABCDEF0"
BIAS = 0x7f0000000000  # where make_stacks puts object files


def native(name, line, address, file=SOURCE, first=1, module=FAST, build_id=BUILD_ID):
    kind = "2" if module == "[kernel]" else "1"
    return "\x1f".join([name, file, str(first), str(line), kind, module, f"{address:x}", build_id])


def inlined(name, line, file=SOURCE, first=1):
    return "\x1f".join([name, file, str(first), str(line), "1", "^"])


MAIN = frame("main", 3)
SCORE = native("score", 14, 0x1200, first=10)
SQUARE = [native("score", 16, 0x1280, first=10), inlined("weigh", 8, first=7),
          inlined("square", 5, first=3)]
SQUARE_LATER = [native("score", 16, 0x1290, first=10), inlined("weigh", 8, first=7),
                inlined("square", 5, first=3)]
CALLBACK = native("apply", 23, 0x1400, first=20)
BACK = frame("back", 9, first=8)
MEMCPY = native("memcpy", 0, 0x9000, file="", first=0, module=LIBC, build_id="")
UNKNOWN = native("", 0, 0xabc, module=LIBC, build_id="")
KERNEL = native("vfs_read", 0, 0xffff, file="", first=0, module="[kernel]", build_id="")

RUNS = [
    ("MainThread", RUNNING, 100, stack(MAIN, SCORE)),
    ("MainThread", RUNNING, 40, stack(MAIN, *SQUARE)),
    ("MainThread", RUNNING, 20, stack(MAIN, *SQUARE_LATER)),
    ("MainThread", RUNNING, 30, stack(MAIN, CALLBACK, BACK, SCORE, MEMCPY)),
    ("MainThread", ON_CPU | NATIVE, 10, stack(MAIN, MEMCPY, KERNEL)),
    ("MainThread", RUNNING | BROKEN, 4, stack(UNKNOWN)),
    ("MainThread", RUNNING | UNMERGED, 6, stack(MAIN)),
]
TOTAL = sum(run[2] for run in RUNS)
# function: (self, total)
FUNCTIONS = {
    "main": (6, 206), "score": (100, 190), "weigh": (0, 60), "square": (60, 60),
    "apply": (0, 30), "back": (0, 30), "memcpy": (30, 40), "vfs_read": (10, 10),
    "libc.so.6+0xabc": (4, 4),
}
TEXT = ["", "", "static double square(double x)", "{", "\treturn x * x;", "}",
        "static double weigh(double x)", "{ return square(x) / 2; }"]


@pytest.fixture(scope="module")
def app(tmp_path_factory):
    runs = RUNS + [("source", SOURCE, "\x1e".join(TEXT))]
    return record(tmp_path_factory.mktemp("native") / "app.pyro", runs)


@pytest.fixture(scope="module")
def big(tmp_path_factory):
    path = tmp_path_factory.mktemp("big") / "app.pyro"
    subprocess.run([MAKE_RECORDING, "-o", path, "--ticks", "5000", "--threads", "4", "--depth",
                    "30", "--native", "--unnamed", "10", "--extras"], check=True,
                   capture_output=True)
    return path


# reports

def test_top_counts_native_functions(app):
    rows = json.loads(report("--top", "--json", "--all", app))["functions"]
    assert {row["name"]: (row["flat"]["samples"], row["cum"]["samples"])
            for row in rows} == FUNCTIONS
    by_name = {row["name"]: row for row in rows}
    assert by_name["square"]["kind"] == "native" and by_name["square"]["module"] == FAST
    assert not by_name["square"]["library"] and by_name["memcpy"]["library"]
    assert by_name["vfs_read"]["kind"] == "kernel" and "module" not in by_name["main"]


def test_top_by_library(app):
    told = json.loads(report("--top", "--by", "library", "--json", app))
    rows = {row["name"]: row for row in told["libraries"]}
    assert {name: (row["flat"]["samples"], row["cum"]["samples"])
            for name, row in rows.items()} == {
        "fast.so": (160, 190), "libc.so.6": (34, 44), "[kernel]": (10, 10), "app.py": (6, 206)}
    assert rows["fast.so"]["path"] == FAST and not rows["fast.so"]["library"]
    text = report("--top", "--by", "library", app)
    assert re.search(r"160 ms  76.2%.* fast.so$", text, re.M)
    assert report("--by", "library", app) == text


def test_order_of_a_table_asks_for_the_table(app):
    assert report("--sort", "cum", app) == report("--top", "--sort", "cum", app)


def test_labels_are_the_place_or_the_library(app):
    text = report("--top", app)
    assert "square (native/fast.c:3)" in text and "memcpy (libc.so.6)" in text
    assert re.search(r" libc.so.6\+0xabc$", text, re.M)


def test_heading_and_footing_tell_about_native_stacks(app):
    text = report("--tree", app)
    assert "native stacks in 100.0% of samples" in text
    assert "registers from a clock of each thread" in text
    assert "4 native stacks broken (1.9%)" in text and "6 native stacks unmerged (2.9%)" in text
    told = json.loads(report("--json", app))
    assert told["recording"]["registers"] == "clock"
    assert [told["profile"][key] for key in ("native", "broken", "unmerged")] == [TOTAL, 4, 6]


def test_nothing_is_said_where_there_is_nothing_native(tmp_path):
    path = record(tmp_path / "app.pyro", [("MainThread", ON_CPU | GIL, 10, stack(MAIN))])
    assert "native" not in report(path)


def test_lines_annotate_c_source(app):
    text = report("--lines", app)
    assert re.search(r"28\.6% +28\.6% .* 5 +return x \* x;", text)
    assert re.search(r"^ +28\.6% .* 8  \{ return square\(x\) / 2; \}", text, re.M)
    files = {file["file"]: file for file in json.loads(
        report("--lines", "--json", "--all", app))["files"]}
    assert files[SOURCE]["source"] == "recording" and not files[SOURCE]["library"]
    assert {row["line"]: row["flat"]["samples"] for row in files[SOURCE]["lines"]} == {
        5: 60, 8: 0, 14: 100, 16: 0, 23: 0}


def test_lines_find_c_source_on_disk(tmp_path):
    source = tmp_path / "fast.c"
    source.write_text("int one;\nint two;\n")
    path = record(tmp_path / "app.pyro", [
        ("MainThread", RUNNING, 10, stack(MAIN, native("f", 2, 16, file=str(source))))])
    assert re.search(r"100.0% .* 2  int two;", report("--lines", path))


@pytest.mark.parametrize("pattern, samples", [("*/libc.so.6", 44), ("*fast.c", 190)])
def test_files_are_source_or_object_files(app, pattern, samples):
    told = json.loads(report("--file", pattern, "--json", app))
    assert told["profile"]["samples"] == samples


def test_inlined_calls_are_called(app):
    lines = json.loads(report("--callers", "square", "--json", app))["functions"][0]["callers"]
    assert [line["name"] for line in lines if line["is"] == "call"] == ["weigh", "score", "main"]


def test_own_native_code_is_not_folded(app):
    text = report("--tree", app)
    assert re.search(r"square  native/fast.c:3$", text, re.M)
    assert re.search(r"memcpy  libc.so.6  \[1 frame hidden: kernel\]$", text, re.M)


def test_a_recording_that_broke_off_shows_addresses(tmp_path):
    path = tmp_path / "app.pyro"
    subprocess.run([MAKE_RECORDING, "-o", path, "--ticks", "3000", "--native", "--broken-off"],
                   check=True, capture_output=True)
    names = [row["name"] for row in json.loads(
        report("--top", "--all", "--json", path))["functions"]]
    assert "libc.so.6+0x18e000" in names and "square" not in names


# report --asm, on a library that is built here

C_SOURCE = """\
static double square(double x)
{
	return x * x / 3;
}
double score(const double *v, long n)
{
	double sum = 0;
	for (long i = 0; i < n; i++)
		sum += square(v[i]);
	return sum;
}
void helper(double);
void twice(const double *v)
{
	helper(score(v, 10));
	helper(2);
}
"""


class Library:
    """An object file with two functions, and recordings of their code."""

    def __init__(self, folder, optimisation="-O2"):
        self.folder, self.path, self.source = folder, folder / "libfast.so", folder / "fast.c"
        self.source.write_text(C_SOURCE)
        subprocess.run(["cc", "-g", optimisation, "-fno-inline-functions-called-once", "-shared",
                        "-fPIC", "-Wl,--build-id=sha1", "-o", self.path, self.source], check=True)
        notes = subprocess.run(["readelf", "-n", self.path], capture_output=True, text=True)
        self.build_id = re.search(r"Build ID: (\w+)", notes.stdout).group(1)
        names = subprocess.run(["nm", self.path], capture_output=True, text=True).stdout
        self.functions = {name: int(address, 16) for address, name in
                          re.findall(r"^(\w+) T (\w+)$", names, re.M)}

    def record(self, runs):
        """Runs are (ticks, function, address)."""
        rows = [("MainThread", RUNNING, ticks, stack(MAIN, native(
            name, 6, address, file=str(self.source), first=5, module=str(self.path),
            build_id=self.build_id))) for ticks, name, address in runs]
        return record(self.folder / "app.pyro", rows)

    def code(self, name):
        """All instructions of a function: (address, text), and where the last ends."""
        path = self.record([(10, name, self.functions[name])])
        function, = json.loads(report("--asm", name, "--all", "--json", path))["functions"]
        if "built without" in (function["notice"] or ""):
            pytest.skip(function["notice"])
        assert function["notice"] is None and function["build_id"] == self.build_id
        return [(row["address"], row["text"]) for row in function["instructions"]]


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    return Library(tmp_path_factory.mktemp("library"))


def test_asm_shows_instructions_under_their_source(library):
    code = library.code("score")
    divide, = [address for address, text in code if "div" in text]
    path = library.record([(75, "score", divide), (25, "score", code[0][0])])
    text = report("--asm", "score", path)
    assert re.search(r"square fast.c:3 +return x \* x / 3;\n(.*\n)?"
                     rf" +75.0% +75.0% .* {divide:x}  \S*div", text)
    assert re.search(rf"25.0% +25.0% .* {code[0][0]:x}  ", text)
    rows = json.loads(report("--asm", "score", "--json", path))["functions"][0]["instructions"]
    hot, = [row for row in rows if row["flat"]["samples"] == 75]
    assert (hot["address"], hot["function"], hot["line"]) == (divide, "square", 3)


def test_asm_charges_a_caller_to_its_call(library):
    code = library.code("twice")
    at = next(i for i, (_, text) in enumerate(code) if re.match("call|bl ", text))
    path = library.record([(10, "twice", code[at + 1][0] - 1)])
    rows = json.loads(report("--asm", "twice", "--json", path))["functions"][0]["instructions"]
    assert [row["address"] for row in rows if row["cum"]["samples"]] == [code[at][0]]


def test_asm_leaves_out_what_is_cold(library):
    code = library.code("score")
    path = library.record([(10, "score", code[0][0])])
    few = json.loads(report("--asm", "score", "--json", path))["functions"][0]["instructions"]
    assert [row["address"] for row in few] == [address for address, _ in code[:4]]


def test_asm_does_not_believe_another_file(tmp_path):
    library = Library(tmp_path)
    path = library.record([(10, "score", library.functions["score"])])
    Library(tmp_path, "-O0")
    text = report("--asm", "score", path)
    assert "another file" in text
    assert re.search(rf"100.0% .* {library.functions['score']:x} *$", text, re.M)
    library.path.unlink()
    assert "is not there" in report("--asm", "score", path)


def test_asm_of_what_is_not_native(app):
    assert "no native function" in report("--asm", "main", app, status=11)


# exports

def test_collapsed_has_places_or_libraries(app):
    lines = collapsed(app)
    assert sum(lines.values()) == TOTAL
    assert lines["main (app.py:3);score (native/fast.c:16);weigh (native/fast.c:8);"
                 "square (native/fast.c:5)"] == 60
    assert lines["main (app.py:3);memcpy (libc.so.6);vfs_read ([kernel])"] == 10


@pytest.mark.parametrize("arguments", [[], ["--threads"]])
def test_collapsed_has_each_stack_once(big, arguments):
    lines = exported(big, "collapsed", *arguments).read_text().splitlines()
    paths = [line.rpartition(" ")[0] for line in lines]
    assert len(set(paths)) == len(paths)
    assert sum(int(line.rpartition(" ")[2]) for line in lines) == json.loads(
        report("--json", big))["profile"]["samples"]


def test_pprof_agrees(app):
    top = pprof_top(exported(app, "pprof"), "samples")
    # It says what is inlined.
    assert top["square (inline)"] == (60, 60)
    assert {name.replace(" (inline)", ""): counts for name, counts in top.items()} == FUNCTIONS


def test_pprof_has_mappings_and_addresses(app):
    raw = pprof(exported(app, "pprof"), "-raw")
    mappings = raw[raw.index("\nMappings"):]
    assert re.search(rf"{BIAS:#x}/{BIAS + 0x100000:#x}/0x0 {FAST} {BUILD_ID} \[FN\]", mappings)
    assert mappings.count(FAST) == 1 and "/usr/bin/python3.12" in mappings
    # One location with three lines, innermost first.
    assert re.search(rf"{BIAS + 0x1280:#x} M=\d+ square {SOURCE}:5.*\n\s+weigh {SOURCE}:8.*\n"
                     rf"\s+score {SOURCE}:16", raw)


def test_pprof_labels_flaws(app):
    tags = pprof(exported(app, "pprof"), "-tags", "-unit=ms")
    assert re.search(r"4\.?0*ms .*: broken\n", tags) and re.search(r"6\.?0*ms .*: unmerged\n", tags)


def test_pprof_of_a_big_recording(big):
    raw = pprof(exported(big, "pprof"), "-raw")
    counts = re.findall(r"^\s+(\d+)\s+\d+\s+\d+: ", raw, re.M)
    assert sum(map(int, counts)) == sum(collapsed(big).values())


def test_speedscope_agrees(app):
    seen = speedscope(exported(app, "speedscope"))
    rows = {name: (seconds(own), seconds(total)) for total, own, name in seen["functions"]}
    for name, (own, total) in FUNCTIONS.items():
        assert rows[name] == (pytest.approx(own / 1000), pytest.approx(total / 1000)), name


def test_pstats_agrees(app):
    total, rows = parse_pstats(read_pstats(exported(app, "pstats"), INTERPRETERS[-1]))
    assert total == pytest.approx(TOTAL / 1000)
    assert {name: (round(row[3] * 1000), row[2]) for name, row in rows.items()} == FUNCTIONS
    assert rows["square"][:2] == (SOURCE, 3) and rows["memcpy"][0] == LIBC


def test_callgrind_agrees(app):
    costs = annotate(exported(app, "callgrind"))
    assert costs.pop("PROGRAM TOTALS") == (TOTAL * 1000000, TOTAL)
    own = {name: samples for name, (_, samples) in costs.items()}
    objects = {"main": "/usr/bin/python3.12", "score": FAST, "square": FAST, "memcpy": LIBC,
               "vfs_read": "[kernel]", "libc.so.6+0xabc": LIBC}
    assert own == {f"{name} [{objects[name]}]": own
                   for name, (own, _) in FUNCTIONS.items() if own}


def test_chrome_tells_kinds_apart(app):
    events = json.loads(exported(app, "chrome").read_text())["traceEvents"]
    found = {event["name"]: event for event in events if event["ph"] == "X"}
    assert found["main"]["cat"] == "python" and found["vfs_read"]["cat"] == "kernel"
    assert found["memcpy"]["cat"] == "native" and found["memcpy"]["args"]["library"] == LIBC


def test_firefox_profiler_agrees(app, tmp_path):
    with FirefoxProfiler(exported(app, "firefox"), tmp_path) as profiler:
        text = profiler.ask("thread", "samples", "--thread", "t-0", "--include-idle")
    for name in ("score", "square", "memcpy"):
        own, total = FUNCTIONS[name]
        label = rf"(?:[\w.]+!)?{name}"
        assert re.search(rf"\. {label} - total: {total} ", text), name
        assert re.search(rf"\. {label} - self: {own} ", text), name
    for name, samples in [("Python", 6), ("Native code", 194), ("Kernel", 10)]:
        assert re.search(rf"^  {name} .*\b{samples} ", text, re.M), name


@pytest.mark.parametrize("recording", ["app", "big"])
def test_firefox_tables_are_sound(recording, request):
    content = json.loads(exported(request.getfixturevalue(recording), "firefox").read_text())
    check_tables(content)
    shared = content["shared"]
    for table, column, limit in [("frameTable", "nativeSymbol", shared["nativeSymbols"]["length"]),
                                 ("nativeSymbols", "libIndex", len(content["libs"])),
                                 ("nativeSymbols", "name", len(shared["stringArray"])),
                                 ("resourceTable", "lib", len(content["libs"])),
                                 ("resourceTable", "name", len(shared["stringArray"]))]:
        assert all(value is None or 0 <= value < limit for value in shared[table][column]), column
    assert all(-1 <= value < shared["resourceTable"]["length"]
               for value in shared["funcTable"]["resource"])


def test_firefox_names_libraries_and_symbols(app):
    content = json.loads(exported(app, "firefox").read_text())
    libs = {lib["path"]: lib for lib in content["libs"]}
    assert libs[FAST]["codeId"] == BUILD_ID and libs[FAST]["breakpadId"] == DEBUG_ID
    shared = content["shared"]
    frames = [i for i, address in enumerate(shared["frameTable"]["address"]) if address == 0x1280]
    symbol = shared["frameTable"]["nativeSymbol"][frames[0]]
    # The symbol of inlined code is the function that it is in.
    assert shared["stringArray"][shared["nativeSymbols"]["name"][symbol]] == "score"
    assert shared["nativeSymbols"]["address"][symbol] == 0x1200
    assert shared["frameTable"]["inlineDepth"][frames[0]] == 2


def test_flamegraph_colours_by_kind(app):
    text = exported(app, "flamegraph").read_text()
    boxes = re.findall(r'<rect class="([a-z]+)\d*(?: thin)?"[^>]*><title>([^\n<]+)\n', text)
    classes = {name: kind for kind, name in boxes}
    assert classes["main"] == "own" and classes["square"] == "fast"
    assert classes["memcpy"] == "native" and classes["vfs_read"] == "kernel"


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    runs = [("MainThread", RUNNING, i + 1, stack(MAIN, native(
        name, 5, 16 * i, file=name + ".c", module="/lib/" + name, build_id=name),
        inlined(name + "!", 6, file=name))) for i, name in enumerate(HOSTILE)]
    runs.append(("MainThread", RUNNING, 9, stack(native("", 0, 7, module="/bad \udcff\udcfe"))))
    return record(tmp_path_factory.mktemp("hostile") / "app.pyro", runs)


HOSTILE_TOTAL = sum(range(1, len(HOSTILE) + 1)) + 9


@pytest.mark.parametrize("name", OUTPUTS)
def test_hostile_names_are_only_text(hostile, name):
    path = exported(hostile, name)
    if name == "flamegraph":
        assert not [element for element in xml.parse(path).iter() if element.tag.endswith("image")]
    elif path.suffix == ".json":
        json.loads(path.read_text())
    elif name == "collapsed":
        assert sum(collapsed(hostile).values()) == HOSTILE_TOTAL
    elif name == "callgrind":
        assert annotate(path)["PROGRAM TOTALS"][1] == HOSTILE_TOTAL
    elif name == "pprof":
        assert sum(flat for flat, _ in pprof_top(path, "samples").values()) == HOSTILE_TOTAL
    else:
        assert parse_pstats(read_pstats(path, INTERPRETERS[-1]))[0] == pytest.approx(
            HOSTILE_TOTAL / 1000)


@pytest.mark.parametrize("view", ["--tree", "--top", "--lines", "--threads", "--asm=*"])
def test_hostile_names_in_reports(hostile, view):
    text = report(view, "--all", hostile)
    assert "\x1b" not in text and "\u202e" not in text
    json.loads(report(view, "--all", "--json", hostile))
    assert "\x1b" not in report("--top", "--by", "library", hostile)
