"""Make the viewer's page C.

    bundle.py INDEX STYLE MAIN HEADER DEPFILE [ENGINE]

A page that works from a disk has one script: browsers do not let a file import
another. So the modules that MAIN imports, and those that they do, are put one
behind the other, each before who uses it, without their import and export.
That takes that no two have a name of the outermost level in common, which is
checked. Nothing else is done to them.
"""
import base64
import hashlib
import json
import re
import sys
import zlib
from pathlib import Path

IMPORT = re.compile(r"^import\s+(?:[^;]*?\s+from\s+)?\"\./([\w.-]+)\";\n", re.M | re.S)
EXPORT = re.compile(r"^export\s+", re.M)
NAME = re.compile(r"^(?:async\s+)?(?:function\*?|class|const|let)\s+(\w+)", re.M)
SEVERAL = re.compile(r"^(?:const|let)\s.*[\])\d\"'],\s*\w+\s*=\s", re.M)
LINE = 100  # characters of a constant in one line


def modules(path, seen):
    """The module files in order, each after those that it imports."""
    if path in seen:
        return
    seen.append(path)
    for name in IMPORT.findall(path.read_text()):
        yield from modules(path.parent / name, seen)
    yield path


def bundle(main):
    names, parts, files = {}, [], list(modules(main, []))
    for path in files:
        text = EXPORT.sub("", IMPORT.sub("", path.read_text()))
        for name in NAME.findall(text):
            if name in names:
                sys.exit(f"{name} is in {names[name]} and in {path}")
            names[name] = path
        if several := SEVERAL.search(text):
            sys.exit(f"{path}: one name a line, please: {several.group()}")
        parts.append(text)
    script = "\n".join(parts)
    if re.search(r"^\s*(import|export)\b", script, re.M) or "</script" in script:
        sys.exit("the bundle has an import, an export or an end tag left in it")
    return '"use strict";\n' + script, files


def content_hash(text):
    digest = hashlib.sha256(text.encode()).digest()
    return "sha256-" + base64.b64encode(digest).decode()


def constant(name, text):
    pieces = [text[i:i + LINE] for i in range(0, len(text), LINE)] or [""]
    # "??" begins a trigraph.
    body = "\n".join("\t" + json.dumps(piece).replace("??", "?\\?") for piece in pieces)
    return f"static const char {name}[] =\n{body};\n"


def main(index, style, start, header, depfile, engine=None):
    style_text = Path(style).read_text()
    script, files = bundle(Path(start))
    page = Path(index).read_text().replace("/* STYLE */", style_text)
    head, body, tail = re.split(r"<!-- (?:POLICY|DATA) -->\n", page)
    tail = tail.replace("/* SCRIPT */", script)
    packed = zlib.compress(Path(engine).read_bytes(), 9) if engine else b""
    Path(header).write_text("\n".join([
        constant("viewer_head", head),
        constant("viewer_body", body),
        constant("viewer_tail", tail),
        constant("viewer_style_hash", content_hash(style_text)),
        constant("viewer_script_hash", content_hash(script)),
        constant("viewer_engine", base64.b64encode(packed).decode()),
    ]))
    Path(depfile).write_text(f"{header}: {' '.join(map(str, files))}\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
