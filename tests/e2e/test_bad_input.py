"""What attach cannot do, and targets that lie: one clear line, nothing harmed."""
import os
import resource
import subprocess
import textwrap

import pytest

from watch import AS_ROOT, NOBODY, Recording, pyrometer

SOME = pytest.mark.versions("3.8", "3.12", "3.15")


def refused(done, status, *words):
    """One line, the right status, and every word in it."""
    return (done.returncode == status and done.stderr.count("\n") == 1
            and not done.stdout and all(word in done.stderr for word in words))


@pytest.fixture
def precious(tmp_path):
    """An output that is there already and must be so afterwards."""
    path = tmp_path / "old.pyro"
    path.write_text("precious")
    yield path
    assert path.read_text() == "precious"


@pytest.fixture
def sleeping():
    process = subprocess.Popen(["sleep", "60"])
    yield str(process.pid)
    process.kill()
    process.wait()


def test_no_such_process(precious):
    done = subprocess.Popen(["true"])
    done.wait()
    assert refused(pyrometer("attach", "-o", precious, done.pid), 3, str(done.pid))


@pytest.mark.parametrize("pid", ["", "0", "-5", "12x", "99999999999999999999"])
def test_no_process_id(precious, pid):
    assert refused(pyrometer("attach", "-o", precious, "--", pid), 2, f"'{pid}'")


READERS = [("report",), ("report", "--top", "--json"), ("export", "-f", "collapsed", "-o", "-"),
           ("view", "--no-browser"), ("view", "--html", "-")]


@pytest.mark.parametrize("command", READERS, ids=" ".join)
def test_nothing_to_read(command, tmp_path):
    """Files that are empty, without an end, or of which only the beginning is left."""
    path = tmp_path / "a.pyro"
    path.touch()
    assert refused(pyrometer(*command, path), 8, str(path), "empty")
    assert refused(pyrometer(*command, "/dev/zero"), 8, "/dev/zero", "not a Pyrometer recording")
    pyrometer("run", "-q", "-o", path, "-c", "sum(range(1000000))")
    path.write_bytes(path.read_bytes()[:50])
    assert refused(pyrometer(*command, path), 8, str(path), "breaks off", "nothing left")


def test_no_argument():
    assert refused(pyrometer("attach"), 2, "usage")


def test_not_a_python(precious, sleeping):
    assert refused(pyrometer("attach", "-o", precious, sleeping), 4, sleeping, "sleep", "Python")


@SOME
def test_one_wrong_process_among_right_ones(python, start, precious, sleeping):
    program = start(python, "busy.py")
    assert refused(pyrometer("attach", "-o", precious, program.pid, sleeping), 4, sleeping)


def test_kernel_thread(precious):
    assert refused(pyrometer("attach", "-o", precious, 2), 4, "2") or not is_kernel_thread(2)


def is_kernel_thread(pid):
    try:
        return not os.path.exists(f"/proc/{pid}/exe") and os.path.exists(f"/proc/{pid}/stat")
    except OSError:
        return True


@AS_ROOT
@SOME
def test_permission_denied(python, start, public):
    program = start(python, "busy.py")
    done = subprocess.run([*NOBODY, public / "pyrometer", "attach", "-o", public / "new.pyro",
                           str(program.pid)], capture_output=True, text=True)
    assert refused(done, 5, str(program.pid), "pyrometer doctor")
    assert not (public / "new.pyro").exists()


HOLDER = """
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>
int main(int argc, char **argv) {
	mmap(0, 4096, PROT_READ, MAP_PRIVATE, open(argv[1], O_RDONLY), 0);
	unlink(argv[1]);
	puts("ready");
	fflush(stdout);
	pause();
}
"""


@AS_ROOT
def test_python_that_was_replaced_while_it_runs(public):
    """As by an upgrade: its file is there for root only."""
    (public / "libpython3.9.so").write_bytes(b"gone" * 1024)
    subprocess.run(["cc", "-w", "-x", "c", "-", "-o", public / "holder"], input=HOLDER,
                   text=True, check=True)
    with subprocess.Popen([*NOBODY, public / "holder", public / "libpython3.9.so"],
                          stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout.readline() == "ready\n"
        dump, doctor = (subprocess.run([*NOBODY, public / "pyrometer", command, str(holder.pid)],
                                       capture_output=True, text=True)
                        for command in ("dump", "doctor"))
        holder.kill()
    assert refused(dump, 4, str(holder.pid), "libpython3.9.so", "sudo")
    assert doctor.returncode == 4 and "which only root can open now; use sudo" in doctor.stdout


@pytest.mark.parametrize("option", [
    ["-r", "0"], ["-r", "-1"], ["-r", "nan"], ["-r", "inf"], ["-r", "1e300"], ["-r", ""],
    ["-d", "x"], ["-d", "-1s"], ["-d", "nan"], ["-f", "gif"], ["--ride", "x"], ["--mode", "x"],
    ["-x"], ["--nothing"]])
def test_wrong_options(precious, sleeping, option):
    done = pyrometer("attach", "-o", precious, *option, sleeping)
    assert refused(done, 2, option[0].lstrip("-")[0])


@SOME
@pytest.mark.parametrize("output", ["missing/a.pyro", "folder"])
def test_unwritable_output(python, start, tmp_path, output):
    program = start(python, "busy.py")
    (tmp_path / "folder").mkdir()
    done = pyrometer("attach", "-o", output, program.pid, cwd=tmp_path)
    assert refused(done, 9, output)
    assert [path.name for path in tmp_path.iterdir()] == ["folder"]
    assert program.wait() == 0


@SOME
def test_full_output(python, start):
    program = start(python, "busy.py")
    done = pyrometer("attach", "-o", "/dev/full", "-d", "5s", program.pid)
    assert refused(done, 9, "/dev/full", "the disk is full")
    assert program.wait() == 0


# Programs that only look like a Python. Each is a section .PyRuntime of its
# own making; `value` fills every field of _Py_DebugOffsets behind the version.

LIAR = """
#include <stdint.h>
#include <string.h>
#include <unistd.h>
#define WORDS 4096
struct { char cookie[8]; uint64_t words[WORDS]; } runtime
    __attribute__((section(".PyRuntime"), aligned(4096))) = { "xdebugpy", { 1 } };
int main(void)
{
    uint64_t *words = runtime.words;
    words[0] = 0x%sULL;
%s
    write(1, "ready\\n", 6);
    return read(0, words, 1) * 0;
}
"""


@pytest.fixture
def liar(tmp_path):
    """liar(version, statements): the process id of a program that lies."""
    started = []

    def make(version, statements=""):
        source = LIAR % (version, textwrap.indent(statements, "    "))
        (tmp_path / "liar.c").write_text(source)
        subprocess.run(["cc", "-w", "-o", tmp_path / "liar", tmp_path / "liar.c"], check=True)
        started.append(subprocess.Popen([tmp_path / "liar"], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE))
        assert started[-1].stdout.readline() == b"ready\n"
        return str(started[-1].pid)

    yield make
    for process in started:
        assert process.poll() is None  # nobody harmed it
        process.communicate(b"\n")
        assert process.returncode == 0


@pytest.mark.parametrize("version, text", [
    ("036300f0", "3.99"), ("040000f0", "4.0"), ("03100000", "3.16")])
def test_version_never_seen(liar, precious, version, text):
    pid = liar(version)
    assert refused(pyrometer("attach", "-o", precious, pid), 6, f"process {pid}", text)


@pytest.mark.parametrize("version", ["030d00f0", "030e00f0", "030f02f0"])
@pytest.mark.parametrize("fill", ["0", "~0ULL", "0x7fffffffffffffffULL", "7", "0xfff8",
                                  "(uint64_t)&runtime", "i", "1ULL << (i % 64)"])
def test_absurd_offsets(liar, precious, version, fill):
    pid = liar(version, f"for (uint64_t i = 1; i < WORDS; i++)\n    words[i] = {fill};")
    done = pyrometer("attach", "-o", precious, "-d", "0.2s", pid)
    assert refused(done, 8, f"process {pid}")


# Pythons that corrupt their own lists.

LIES = ["frames in a ring", "frames astray", "frames at an odd address", "threads in a ring",
        "threads astray", "interpreters in a ring", "interpreters astray", "no code",
        "code astray", "a long name"]
MEMORY = 256 << 20


def limit_memory():
    if "asan" in os.environ.get("PYROMETER_BUILD", ""):
        return  # the sanitizer reserves all addresses for itself
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


@SOME
def test_lists_that_lie(python, start, tmp_path):
    for lie in LIES:
        path = tmp_path / "a.pyro"
        program = start(python, "liar.py", lie)
        done = pyrometer("attach", "-q", "-d", "0.2s", "-o", path, program.pid,
                         preexec_fn=limit_memory, timeout=10)
        assert done.returncode == 0, (lie, done.stderr)
        assert Recording(path).info()["complete"], lie
        assert program.process.poll() is None, lie
