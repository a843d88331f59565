"""A second try for tests that watch running programs.

Whether a sampler meets a function a hundred times in a second depends on what
else the machine does. A test of that kind that fails is run once more, by
itself; failing twice is a failure. What needed it is named at the end, so that
a test that often does is noticed. What is wrong, and not late, fails twice.
"""
from _pytest.runner import runtestprotocol

needed = []


def pytest_runtest_protocol(item, nextitem):
    if not {"record", "attach", "start", "python"} & set(item.fixturenames):
        return None
    item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
    reports = runtestprotocol(item, nextitem=nextitem, log=False)
    if any(report.failed for report in reports):
        needed.append(item.nodeid)
        item._initrequest()
        reports = runtestprotocol(item, nextitem=nextitem, log=False)
    for report in reports:
        item.ihook.pytest_runtest_logreport(report=report)
    item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
    return True


def pytest_terminal_summary(terminalreporter):
    if needed:
        terminalreporter.write_line("tried twice: " + ", ".join(needed))
