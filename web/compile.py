"""Compile the engine to WebAssembly.

    compile.py --check                          whether it can be done here
    compile.py OUTPUT DEPFILE ROOT SOURCE...    do it; sources below ROOT
"""
import subprocess
import sys
import tempfile
from pathlib import Path

CLANG = ["clang", "--target=wasm32-wasi", "--sysroot=/usr",
         "-mexec-model=reactor", "-std=gnu17", "-D_GNU_SOURCE", "-O2"]
# Calls nest no deeper than on any thread; the recording is not on the stack.
LINK = ["-flto", "-Wl,--gc-sections,--strip-all,-z,stack-size=1048576"]
WARNINGS = ["-Wall", "-Wextra", "-Wno-unused-parameter",
            "-Wno-missing-field-initializers"]


def check():
    """Try all of it on an empty program."""
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder, "empty.c")
        source.write_text("#include <stdlib.h>\n#include <math.h>\n"
                          "__attribute__((export_name(\"f\"))) double f(double x);\n"
                          "double f(double x) { free(malloc(9)); return sqrt(x); }\n")
        try:
            done = subprocess.run([*CLANG, *LINK, source, "-o", source.with_suffix(".wasm")],
                                  capture_output=True)
        except FileNotFoundError:
            return 1
        return done.returncode


def dependencies(command, sources):
    """What the sources include, for ninja: every name but those of targets."""
    rules = subprocess.run([*command, "-MM", *sources], check=True,
                           capture_output=True, text=True).stdout
    words = rules.replace("\\\n", " ").split()
    return sorted({word for word in words if not word.endswith(":")})


def main(output, depfile, root, *sources):
    paths = [f"{root}/{source}" for source in sources]
    command = [*CLANG, *WARNINGS, f"-I{root}/web/wasm", f"-I{root}/src"]
    subprocess.run([*command, *LINK, "-o", output, *paths], check=True)
    names = dependencies(command, paths)
    Path(depfile).write_text(f"{output}: {' '.join(names)}\n")
    return 0


if __name__ == "__main__":
    sys.exit(check() if sys.argv[1] == "--check" else main(*sys.argv[1:]))
