"""Objects of live interpreters, read from outside, against what each of the
interpreters says about them itself: every version that is here."""
import json
import subprocess

import pytest

from interpreters import BUILD, INTERPRETERS, ROOT

PROBE = BUILD / "tests" / "unit" / "probe"
PROGRAM = (ROOT / "tests" / "support" / "live_objects.py").read_text()


class Live:
    """An interpreter that tells about itself, and a probe that looks at it."""

    def __init__(self, interpreter, what):
        self.target = subprocess.Popen(
            interpreter.command("-c", PROGRAM, what), bufsize=0,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.lines = self.target.stdout
        hello = self.listen()
        self.probe = subprocess.Popen(
            [PROBE, str(hello["pid"]), hex(hello["version"]), hex(hello["runtime"])],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1)

    def listen(self):
        line = self.lines.readline()
        assert line, "the interpreter ended"
        return json.loads(line)

    def listen_all(self):
        return iter(self.listen, None)

    def go_on(self):
        self.target.stdin.write(b"\n")

    def ask(self, question, address):
        self.probe.stdin.write(f"{question} {address}\n")
        return json.loads(self.probe.stdout.readline())

    def close(self):
        for process in (self.probe, self.target):
            process.kill()
            process.wait()


@pytest.fixture(params=INTERPRETERS, ids=lambda interpreter: interpreter.name)
def start(request):
    opened = []

    def opener(what):
        opened.append(Live(request.param, what))
        return opened[-1]

    opener.version = request.param.version
    yield opener
    for live in opened:
        live.close()


def test_code_objects(start):
    live = start("codes")
    count = 0
    for told in live.listen_all():
        found = live.ask("code", told.pop("address"))
        assert found == told
        count += 1
    assert count > 300


def compare_stack(live, stack):
    for told in stack:
        found = live.ask("line", told["frame"])
        assert found == {"name": told["name"], "line": told["line"]}, stack


def test_lines_of_a_sleeping_thread(start):
    live = start("sleep")
    stack = live.listen()
    names = [frame["name"].rpartition(".")[2] for frame in stack]
    assert names[:2] == ["inner", "outer"]
    compare_stack(live, stack)


def test_lines_of_a_running_thread(start):
    """The other thread holds the GIL meanwhile, so nothing moves."""
    if "t" in start.version:
        pytest.skip(f"{start.version}: no GIL to hold a running thread by")
    live = start("frames")
    steady, leaves = 0, set()
    for _ in range(40):
        stack = live.listen()
        found = [live.ask("line", told["frame"]) for told in stack]
        live.go_on()
        if live.listen():
            steady += 1
            leaves.add((stack[0]["name"], stack[0]["line"]))
            assert found == [{"name": told["name"], "line": told["line"]}
                             for told in stack]
    assert steady > 10 and len(leaves) > 1


def locals_of(live, frame):
    answer = live.ask("locals", frame["frame"])
    assert answer["count"] >= 0
    return [(row["name"], row["argument"], row["value"]) for row in answer["locals"]]


def test_locals(start):
    live = start("sleep")
    inner, outer = live.listen()[:2]
    assert locals_of(live, inner) == [
        ("count", True, "3"), ("seen", False, inner_seen(start.version)),
        ("first", False, "1"), ("named", False, "{'sleep': True}")]
    found = {name: (argument, value) for name, argument, value in locals_of(live, outer)}
    inner_value = found.pop("inner")[1]
    assert inner_value.startswith("<function at 0x")
    assert found == {"first": (True, "1"), "second": (True, "2"),
                     "rest": (True, "('rest',)"), "named": (True, "{'sleep': True}"),
                     "before": (False, "[1, 2]"), "unbound": (False, None)}


def inner_seen(version):
    """2.7 does not keep the order of a dict."""
    if version == "2.7":
        return "{'count': 3, 'first': 1}"
    return "{'first': 1, 'count': 3}"


def test_locals_of_a_module(start):
    live = start("sleep")
    module = live.listen()[-1]
    assert module["name"] == "<module>"
    found = {name: value for name, _, value in locals_of(live, module)}
    assert found["json"].startswith("<module at 0x")
    assert found["FILES"].startswith("['argparse.py', 'inspect.py', ")
    assert "__name__" not in found


def test_values(start):
    live = start("values")
    counts = {"same": 0, "cut": 0}
    for told in live.listen_all():
        text = live.ask("value", told["address"])["value"]
        counts[told["kind"]] += 1
        if told["kind"] == "same":
            assert text == told["text"]
        else:
            assert text.startswith(told["text"]) and len(text) < 2000
            assert "..." in text or "about" in text
    assert counts["same"] > 60 and counts["cut"] == 8
