"""Taking turns, and a second try for tests that watch running programs.

Whether a sampler meets a function a hundred times in a second depends on what
else the machine does. Two runs of tests may share it (tests/run names a file
for them in PYROMETER_TURNS): most samples are waited for, not worked for. A test
marked `alone` gets the machine for itself.

A test of this kind that fails is run once more, alone; failing twice is a
failure. What needed it is named at the end, so that a test that often does is
noticed. What is wrong, and not late, fails twice.
"""
import contextlib
import fcntl
import os

from _pytest.runner import runtestprotocol

TURNS = os.environ.get("PYROMETER_TURNS")
needed = []


@contextlib.contextmanager
def turn(alone):
    """Beside one test of the other run, or alone. Who waits to be alone keeps the
    gate shut, or the others would never let him in."""
    if not TURNS:
        yield
        return
    with open(TURNS, "a") as machine, open(TURNS + ".gate", "a") as gate:
        fcntl.flock(gate, fcntl.LOCK_EX)
        fcntl.flock(machine, fcntl.LOCK_EX if alone else fcntl.LOCK_SH)
        fcntl.flock(gate, fcntl.LOCK_UN)
        yield


def pytest_configure(config):
    config.addinivalue_line("markers", "alone: no other test may run beside it")


def pytest_runtest_protocol(item, nextitem):
    watches = {"record", "attach", "start", "python"} & set(item.fixturenames)
    item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
    with turn(item.get_closest_marker("alone") is not None):
        reports = runtestprotocol(item, nextitem=nextitem, log=False)
    if watches and any(report.failed for report in reports):
        needed.append(item.nodeid)
        item._initrequest()
        with turn(True):
            reports = runtestprotocol(item, nextitem=nextitem, log=False)
    for report in reports:
        item.ihook.pytest_runtest_logreport(report=report)
    item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
    return True


def pytest_terminal_summary(terminalreporter):
    if needed:
        terminalreporter.write_line("tried twice: " + ", ".join(needed))
