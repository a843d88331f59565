#!/usr/bin/env python3
"""Check that includes point only up the list of layers, and that only the last
layer prints or exits."""
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LAYERS = ["base", "os", "elf", "python", "record", "sample", "agent",
          "analyze", "format", "view", "cmd"]
PRINTS_OR_EXITS = re.compile(
    r"\b(stdout|stderr)\b"
    r"|(?<![\w.>])(printf|vprintf|puts|putchar|perror|exit|errx?|warnx?)\s*\(")
# Without memory there is nobody left to hand an error to.
EXCEPTIONS = {("src/base/alloc.c", "stderr")}

COMMENT_OR_STRING = re.compile(
    r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])+'", re.S)


def blank(match):
    return re.sub(r"[^\n]", " ", match.group())


def check_includes(path, layer, line):
    match = re.match(r'\s*#\s*include\s+"([^"]+)"', line)
    if not match:
        return None
    included = match.group(1)
    other = included.split("/")[0]
    if "/" not in included:
        return None if (path.parent / included).exists() else \
            f'"{included}" is not beside this file; name its layer'
    if other not in LAYERS:
        return f'"{included}" is in no layer'
    if LAYERS.index(other) > LAYERS.index(layer):
        return f'{layer} may not include "{included}": {other} is below it'
    return None


def check_calls(name, layer, line):
    match = PRINTS_OR_EXITS.search(line)
    if not match or layer == "cmd":
        return None
    word = match.group(1) or match.group(2)
    if (name, word) in EXCEPTIONS:
        return None
    return f"{word}: only cmd prints or exits"


def check_file(path):
    name = path.relative_to(ROOT).as_posix()
    layer = name.split("/")[1]
    if layer not in LAYERS:
        yield f"{name}: {layer} is no layer"
        return
    text = path.read_text()
    code = COMMENT_OR_STRING.sub(blank, text)
    lines = zip(text.splitlines(), code.splitlines())
    for number, (line, bare) in enumerate(lines, 1):
        for problem in (check_includes(path, layer, line),
                        check_calls(name, layer, bare)):
            if problem:
                yield f"{name}:{number}: {problem}"


def main():
    files = sorted(p for p in (ROOT / "src").rglob("*") if p.suffix in (".c", ".h", ".inc"))
    problems = [problem for path in files for problem in check_file(path)]
    print(*problems, sep="\n", end="\n" if problems else "")
    print(f"layers: {len(files)} files, {len(problems)} problems")
    return bool(problems)


if __name__ == "__main__":
    sys.exit(main())
