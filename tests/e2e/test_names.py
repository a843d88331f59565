"""Names of threads in recordings, and --thread by them."""

NAMES = {f"{kind}-{number}" for kind in ("worker", "other") for number in range(3)}


def test_threads_have_their_names(python, record):
    recording = record(python, "named.py")
    assert {thread["name"] for thread in recording.threads()} == NAMES | {"MainThread"}


def test_recording_some_threads_only(python, record):
    """A thread is older than its name: it is waited for."""
    recording = record(python, "named.py", options=("--thread", "worker-*"))
    assert {thread["name"] for thread in recording.threads()} == {
        name for name in NAMES if name.startswith("worker")}
    assert all("other" not in stack for stack in recording.names())
    assert recording.samples_with("work", "busy") > 0
