"""-s: children of every kind are in the recording, below their parents."""
import pytest

from watch import Recording, pyrometer

FEW = pytest.mark.versions("2.7", "3.8", "3.12", "3.15")
WAYS = ["fork", "grandchild", "start", "shell", "execute", "multiprocessing fork",
        "multiprocessing spawn", "multiprocessing forkserver", "pool"]


def pids_of(recording, function):
    return {thread["pid"] for thread in recording.threads()
            if thread["top"] and thread["top"]["name"] == function}


def ancestors(processes, pid):
    """The pids above the last process with this pid."""
    found = []
    index = max(i for i, row in enumerate(processes) if row[0] == pid)
    while processes[index][1] >= 0:
        index = processes[index][1]
        found.append(processes[index][0])
    return found


@FEW
@pytest.mark.parametrize("way", WAYS)
def test_children_are_recorded(python, record, way):
    if python.version == "2.7" and way in WAYS[6:8]:
        pytest.skip("2.7 can only fork")
    recording = record(python, "family.py", way, options=["-s"])
    processes = recording.processes()
    root = processes[0][0]
    assert processes[0][1] == -1
    workers = pids_of(recording, "busy_child") - {root}
    # A worker of a pool may be so early that it takes the work of another.
    assert len(workers) in ((2, 3) if way == "pool" else (1,)), processes
    for pid in workers:
        assert root in ancestors(processes, pid), processes
    assert recording.samples_with("busy_child") > 50 * len(workers)
    assert recording.samples_with("busy_parent") > 50
    assert recording.info()["complete"]


MANY = """
import subprocess, sys
for i in range(100):
    subprocess.call([sys.executable, "-S", "-E", "-c", "pass"])
"""


@pytest.mark.versions("3.11")
def test_a_child_between_fork_and_exec_is_taken_for_one_of_them(python, tmp_path):
    """Before it is a copy of its parent, after it another program; never both."""
    path = tmp_path / "execs.pyro"
    pyrometer("run", "-q", "-s", "-o", path, "--", *python.command("-c", MANY))
    processes = Recording(path).info()["processes"]
    after = [process["pid"] for process in processes if process["command"].endswith(" pass")]
    assert len(after) > 50 and len(after) == len(set(after))
    assert len({process["python"] for process in processes}) == 1


@FEW
def test_children_are_left_alone_without_the_option(python, record):
    recording = record(python, "family.py", "fork")
    assert len(recording.processes()) == 1
    assert recording.samples_with("busy_child") == 0


@FEW
def test_the_end_of_the_program_is_the_end(python, record):
    recording = record(python, "family.py", "daemon", options=["-s"])
    assert recording.samples_with("busy_parent") > 50
    assert recording.samples_with("busy_child") > 0
    # The daemon would be four times as busy.
    assert recording.samples_with("busy_child") < 2 * recording.samples_with("busy_parent")


@FEW
def test_attach_takes_the_children_that_are_there(python, start, attach):
    program = start(python, "nursery.py")
    children = {int(pid) for pid in program.said.split()[1:]}
    recording = attach("-s", "-d", "0.6s", program.pid)
    assert children <= {pid for pid, _, _ in recording.processes()}
    assert recording.samples_with("early") > 50
    assert recording.samples_with("late") > 20


@pytest.mark.versions("3.8", "3.11", "3.15")
def test_forked_children_are_known_by_their_own_threads(python, record):
    """Right after a fork, a child's memory holds its parent's thread ids."""
    threads = record(python, "litter.py", options=["-s"]).report("threads", "--all")["threads"]
    assert len(threads) > 30
    assert all(thread["tid"] == thread["pid"] for thread in threads)
