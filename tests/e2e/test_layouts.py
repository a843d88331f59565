"""The layout tables against the headers of every interpreter that has them:
what tools/offsets prints must be what Pyrometer uses."""
import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from interpreters import BUILD, INTERPRETERS, ROOT, find

PROBE = BUILD / "tests" / "unit" / "probe"
CROSS = "aarch64-linux-gnu-gcc"

# An interpreter's size ends with parts that only its own build knows of; the
# flag "debug" is known from elsewhere.
UNCHECKED = {"interpreter.size", "debug"}

CHECKER = """
#include <stdio.h>
#include <string.h>
#include "python/layouts/%s.c"
#define CHECK(field, value) \\
    if ((long)l.field != (long)(value)) \\
        printf("%%s: %%ld, by the headers %%ld\\n", #field, (long)l.field, (long)(value));
int main(int argc, char **argv)
{
    struct layout l = layout_%s;
    for (size_t i = 0; argc > 1 && i < sizeof(l); i++)
        sscanf(argv[1] + 2 * i, "%%2hhx", (unsigned char *)&l + i);
%s}
"""

HELLO = """
import ctypes, os, sys
try:
    runtime = ctypes.addressof(ctypes.c_char.in_dll(ctypes.pythonapi, "_PyRuntime"))
except ValueError:
    runtime = 0
sys.stdout.write("%d %#x %#x\\n" % (os.getpid(), sys.hexversion, runtime))
sys.stdout.flush()
sys.stdin.readline()
"""


def headers_of(interpreter):
    ask = "import sysconfig; print(sysconfig.get_paths()['include'])"
    folder = subprocess.run(interpreter.command("-c", ask), check=True,
                            capture_output=True, text=True).stdout.strip()
    folder = Path(interpreter.root + folder)
    if not (folder / "Python.h").exists():
        pytest.skip(f"{interpreter.version}: no headers at {folder}")
    return folder


def rows_of(headers, *flags, compiler="cc"):
    done = subprocess.run([ROOT / "tools" / "offsets", "--flat", headers, *flags],
                          capture_output=True, text=True,
                          env={**os.environ, "CC": compiler})
    assert done.returncode == 0, done.stderr
    rows = dict(re.findall(r"^\.(\S+) = (\w+),$", done.stdout, re.M))
    assert len(rows) > 100
    return {field: value for field, value in rows.items() if field not in UNCHECKED}


def differences(tmp_path, file, table, rows, *arguments, flags=()):
    checks = "".join(f"    CHECK({field}, {value})\n" for field, value in rows.items())
    (tmp_path / "check.c").write_text(CHECKER % (file, table, checks))
    program = tmp_path / "check"
    subprocess.run(["cc", "-w", "-I", ROOT / "src", *flags, tmp_path / "check.c",
                    "-o", program], check=True)
    return subprocess.run([program, *arguments], check=True, capture_output=True,
                          text=True).stdout


def name_of(version):
    """The table's file and name: 3.13t is layout_3_13t in py313.c."""
    digits = re.match(r"[\d.]+", version).group()
    return "py" + digits.replace(".", ""), digits.replace(".", "_")


def live_layout(interpreter):
    target = subprocess.Popen(interpreter.command("-c", HELLO), text=True,
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        hello = target.stdout.readline().split()
        answer = subprocess.run([PROBE, *hello], input="layout\n", check=True,
                                capture_output=True, text=True).stdout
        return json.loads(answer)["layout"]
    finally:
        target.kill()
        target.wait()


each_interpreter = pytest.mark.parametrize(
    "interpreter", INTERPRETERS, ids=lambda interpreter: interpreter.name)


@each_interpreter
def test_the_layout_of_a_live_interpreter(interpreter, tmp_path):
    rows = rows_of(headers_of(interpreter))
    file, table = name_of(interpreter.version)
    assert differences(tmp_path, file, table, rows, live_layout(interpreter)) == ""


@each_interpreter
def test_the_table(interpreter, tmp_path):
    rows = rows_of(headers_of(interpreter))
    file, table = name_of(interpreter.version)
    if "t" in interpreter.version:
        table += "t"
    assert differences(tmp_path, file, table, rows) == ""


@pytest.mark.parametrize("version", ["3.13", "3.14", "3.15"])
def test_the_table_of_a_free_threaded_build(version, tmp_path):
    rows = rows_of(headers_of(find(version)), "-DPy_GIL_DISABLED=1")
    file, table = name_of(version)
    assert differences(tmp_path, file, table + "t", rows) == ""


@pytest.mark.parametrize("version", ["2.7", "3.6", "3.7"])
def test_the_table_of_a_debug_build(version, tmp_path):
    rows = rows_of(headers_of(find(version)), "-DPy_DEBUG=1")
    file, table = name_of(version)
    assert differences(tmp_path, file, table + "d", rows) == ""


@pytest.mark.parametrize("version", ["3.8", "3.9", "3.10", "3.11", "3.12", "3.15"])
def test_that_a_debug_build_since_3_8_is_laid_out_as_others(version, tmp_path):
    rows = rows_of(headers_of(find(version)), "-DPy_DEBUG=1")
    assert differences(tmp_path, *name_of(version), rows) == ""


@pytest.mark.parametrize("version", ["2.7", "3.6", "3.7", "3.8", "3.9", "3.10", "3.11",
                                     "3.12", "3.13"])
def test_the_table_on_aarch64(version, tmp_path):
    if not shutil.which(CROSS):
        pytest.skip(f"{version} on aarch64: no {CROSS}")
    rows = rows_of(headers_of(find(version)), compiler=CROSS)
    assert differences(tmp_path, *name_of(version), rows, flags=["-D__aarch64__"]) == ""


def test_the_first_releases_of_3_7(tmp_path):
    """Up to 3.7.3 the heads of the collector's lists were aligned to a double."""
    headers = tmp_path / "headers"
    shutil.copytree(headers_of(find("3.7")), headers)
    changed = headers / "objimpl.h"
    text = changed.read_text()
    assert "long double dummy" in text
    changed.write_text(text.replace("long double dummy", "double dummy"))
    rows = rows_of(headers)
    assert rows["runtime.current"] == "1392"
    assert differences(tmp_path, "py37", "3_7_0", rows) == ""
